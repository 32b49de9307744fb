/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <poll.h>
#include <sys/random.h>
#include <infiniband/umad.h>
#include <rdma/fi_errno.h>
#include "sa_umad.h"

#define SA_QP 1
#define SA_QKEY 0x80010000u
#define PORT_ACTIVE 4
#define PKEY_PARTITION 0x7fff
#define PKEY_FULL 0x8000
/* Datagrams that are taken before somebody else has his turn. */
#define RECEIVE_MAX 64

__attribute__((format(printf, 3, 4))) static int fail(struct pvb_umad *umad, int err,
						      const char *format, ...)
{
	char why[PVB_UMAD_ERROR_LEN / 2];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(umad->error, sizeof(umad->error), "%s port %d: %s",
		 umad->port.ca[0]  ? umad->port.ca
		 : umad->config.ca ? umad->config.ca
				   : "any device",
		 umad->port.number ? umad->port.number : umad->config.port, why);
	return err;
}

uint64_t pvb_umad_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int pvb_umad_fd(const struct pvb_umad *umad)
{
	return umad_get_fd(umad->portid);
}

static int take_port(struct pvb_umad_port *port, const umad_port_t *info)
{
	uint16_t *pkey = calloc(info->pkeys_size ? info->pkeys_size : 1, sizeof(*pkey));

	if (!pkey)
		return -FI_ENOMEM;
	memcpy(pkey, info->pkeys, info->pkeys_size * sizeof(*pkey));
	free(port->pkey);
	*port = (struct pvb_umad_port){.number = info->portnum,
				       .active = info->state == PORT_ACTIVE,
				       .lid = (uint16_t)info->base_lid,
				       .sm_lid = (uint16_t)info->sm_lid,
				       .sm_sl = (uint8_t)info->sm_sl,
				       .pkey = pkey,
				       .pkeys = info->pkeys_size};
	snprintf(port->ca, sizeof(port->ca), "%s", info->ca_name);
	memcpy(port->gid, &info->gid_prefix, sizeof(info->gid_prefix));
	memcpy(port->gid + 8, &info->port_guid, sizeof(info->port_guid));
	return 0;
}

/* For want of that something that is there cannot be opened now. */
static bool is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM;
}

static int look_at_port(struct pvb_umad *umad, const char *ca, int number)
{
	umad_port_t info;
	int ret;

	errno = 0;
	if (umad_get_port(ca, number, &info)) {
		if (is_shortage(errno))
			return fail(umad, -errno, "%s", strerror(errno));
		return fail(umad, -FI_ENODEV, "there is no such InfiniBand port");
	}
	ret = strcmp(info.link_layer, "Ethernet")
		      ? take_port(&umad->port, &info)
		      : fail(umad, -FI_ENODEV,
			     "is Ethernet, which has no subnet administration");
	umad_release_port(&info);
	return ret;
}

static int read_port(struct pvb_umad *umad)
{
	umad->stale = false;
	return look_at_port(umad, umad->port.ca, umad->port.number);
}

int pvb_umad_refresh(struct pvb_umad *umad)
{
	const uint16_t before = umad->port.sm_lid;
	const int ret = read_port(umad);

	if (umad->port.sm_lid && umad->port.sm_lid != before)
		pvb_sa_restarted(&umad->watch, pvb_umad_now());
	return ret;
}

uint16_t pvb_umad_pkey(const struct pvb_umad *umad, uint16_t pkey)
{
	uint16_t found = 0;
	unsigned int i;

	for (i = 0; i < umad->port.pkeys && !(found & PKEY_FULL); i++)
		if (umad->port.pkey[i] & PKEY_PARTITION &&
		    !((umad->port.pkey[i] ^ pkey) & PKEY_PARTITION))
			found = umad->port.pkey[i];
	return found;
}

/* The administrator is in the default partition (specification 13.5.1). */
static int default_pkey_index(const struct pvb_umad_port *port)
{
	unsigned int i;

	for (i = 0; i < port->pkeys; i++)
		if ((port->pkey[i] & PKEY_PARTITION) == PKEY_PARTITION)
			return (int)i;
	return 0;
}

/*
 * The kernel drops an answer unless it waits for one, and refuses a request that repeats
 * one for which it waits: it stops shortly before the client asks again.
 */
static int kernel_wait(uint32_t wait_ms)
{
	if (wait_ms < 2)
		return (int)wait_ms;
	return (int)(wait_ms - wait_ms / 8 - 1);
}

static int send_mad(void *arg, const uint8_t *mad, uint32_t wait_ms)
{
	struct pvb_umad *const umad = arg;
	const struct pvb_umad_port *const port = &umad->port;
	int ret = -FI_ENETDOWN;

	if (port->sm_lid) {
		memcpy(umad_get_mad(umad->out), mad, PVB_MAD_SIZE);
		umad_set_addr(umad->out, port->sm_lid, SA_QP, port->sm_sl, (int)SA_QKEY);
		umad_set_pkey(umad->out, default_pkey_index(port));
		ret = umad_send(umad->portid, umad->agent, umad->out, PVB_MAD_SIZE,
				kernel_wait(wait_ms), 0)
			      ? -FI_EIO
			      : 0;
	}
	if (ret)
		umad->unsent++;
	/* Nothing that is sent comes back: it is the port that tells of a new one. */
	umad->stale = umad->stale || !port->sm_lid;
	return ret;
}

static void notice(void *arg, const struct pvb_notice *what)
{
	const struct pvb_umad *const umad = arg;

	if (umad->config.notice)
		umad->config.notice(umad->config.arg, what);
}

static const struct pvb_sa_ops umad_ops = {.send = send_mad, .notice = notice};

static int open_device(struct pvb_umad *umad)
{
	const struct pvb_umad_port *const port = &umad->port;

	errno = 0;
	umad->portid = umad_open_port(port->ca, port->number);
	if (umad->portid >= 0)
		return 0;
	if (is_shortage(errno))
		return fail(umad, -errno, "%s", strerror(errno));
	if (errno == EACCES || errno == EPERM)
		return fail(umad, -FI_EACCES,
			    "no permission to open its /dev/infiniband/umad*: it needs "
			    "read and write access");
	return fail(umad, -FI_ENODEV,
		    "has no /dev/infiniband/umad*: load the module ib_umad");
}

/* The kernel has reports for one agent of the port: another program may be that. Who has
 * no use for them leaves them to others. */
static int register_agent(struct pvb_umad *umad)
{
	long methods[16 / sizeof(long)] = {1l << PVB_SA_REPORT};

	if (umad->config.notice)
		umad->agent = umad_register(umad->portid, PVB_SA_CLASS,
					    PVB_SA_CLASS_VERSION, 0, methods);
	umad->reports = umad->config.notice && umad->agent >= 0;
	if (!umad->reports)
		umad->agent = umad_register(umad->portid, PVB_SA_CLASS,
					    PVB_SA_CLASS_VERSION, 0, NULL);
	return umad->agent < 0 ? fail(umad, -FI_EIO,
				      "cannot be used for management "
				      "datagrams of its class")
			       : 0;
}

static int open_client(struct pvb_umad *umad)
{
	uint32_t tid = (uint32_t)pvb_umad_now();
	int ret;

	if (getrandom(&tid, sizeof(tid), GRND_NONBLOCK) < 0)
		tid ^= (uint32_t)(uintptr_t)umad;
	umad->in = umad_alloc(1, umad_size() + PVB_MAD_SIZE);
	umad->out = umad_alloc(1, umad_size() + PVB_MAD_SIZE);
	ret = umad->in && umad->out ? register_agent(umad) : -FI_ENOMEM;
	if (!ret)
		pvb_sa_open(&umad->client, &umad_ops, umad, tid);
	return ret;
}

static void release(struct pvb_umad *umad)
{
	if (umad->portid >= 0)
		umad_close_port(umad->portid);
	free(umad->in);
	free(umad->out);
	free(umad->port.pkey);
	umad->portid = -1;
	umad->in = umad->out = umad->port.pkey = NULL;
}

int pvb_umad_open(struct pvb_umad *umad, const struct pvb_umad_config *config)
{
	int ret;

	*umad = (struct pvb_umad){.config = *config, .portid = -1};
	if (umad_init())
		return fail(umad, -FI_ENODEV, "this machine has no InfiniBand");
	ret = look_at_port(umad, config->ca, config->port);
	if (!ret && !umad->port.sm_lid)
		ret = fail(umad, -FI_ENETDOWN,
			   "no subnet manager has configured it (SM LID 0)");
	if (!ret)
		ret = open_device(umad);
	if (!ret)
		ret = open_client(umad);
	if (ret)
		release(umad);
	return ret == -FI_ENOMEM ? fail(umad, ret, "%s", strerror(ENOMEM)) : ret;
}

void pvb_umad_close(struct pvb_umad *umad)
{
	pvb_sa_watch_stop(&umad->watch, pvb_umad_now());
	pvb_sa_close(&umad->client);
	release(umad);
}

/* What the kernel gives back has a request's bytes, and a reason instead of an answer:
 * the manager may be somewhere else now. */
static void given_back(struct pvb_umad *umad)
{
	umad->unanswered++;
	umad->stale = true;
}

/* 1: one was received; 0: there is none. */
static int receive(struct pvb_umad *umad)
{
	struct pollfd wait = {.fd = pvb_umad_fd(umad), .events = POLLIN};
	int len = PVB_MAD_SIZE;

	if (poll(&wait, 1, 0) <= 0)
		return 0;
	errno = 0;
	if (umad_recv(umad->portid, umad->in, &len, 0) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -FI_EIO;
	if (umad_status(umad->in))
		given_back(umad);
	else if (len > 0)
		pvb_sa_arrived(&umad->client, umad_get_mad(umad->in),
			       len < PVB_MAD_SIZE ? (size_t)len : PVB_MAD_SIZE,
			       pvb_umad_now());
	return 1;
}

int pvb_umad_progress(struct pvb_umad *umad)
{
	int ret = umad->gone ? -FI_EIO : 1, i;

	for (i = 0; i < RECEIVE_MAX && ret > 0; i++)
		ret = receive(umad);
	if (ret < 0) {
		umad->gone = true;
		pvb_sa_close(&umad->client);
		pvb_sa_watch_stop(&umad->watch, pvb_umad_now());
		return ret;
	}
	/* Before anything is sent again. */
	if (umad->stale)
		pvb_umad_refresh(umad);
	pvb_sa_progress(&umad->client, pvb_umad_now());
	pvb_sa_watch_progress(&umad->watch, pvb_umad_now());
	return 0;
}

int pvb_umad_timeout(const struct pvb_umad *umad)
{
	const uint64_t now_ms = pvb_umad_now();
	const int client = pvb_sa_timeout(&umad->client, now_ms);
	const int watch = pvb_sa_watch_timeout(&umad->watch, now_ms);

	if (client < 0 || watch < 0)
		return client < 0 ? watch : client;
	return client < watch ? client : watch;
}

int pvb_umad_watch(struct pvb_umad *umad, const struct pvb_sa_watch_config *config)
{
	struct pvb_sa_watch_config possible = *config;

	possible.subscribe = config->subscribe && umad->reports;
	pvb_sa_watch_start(&umad->watch, &umad->client, &possible, pvb_umad_now());
	return possible.subscribe == config->subscribe ? 0 : -FI_EBUSY;
}

void pvb_umad_restarted(struct pvb_umad *umad)
{
	read_port(umad);
	pvb_sa_restarted(&umad->watch, pvb_umad_now());
}
