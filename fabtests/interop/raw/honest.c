/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs as others are, over route: a server that sends back what comes, and clients.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "raw.h"

#define SERVER_RECEIVES 8u
#define SERVER_ROOM (256u << 10)

static struct fi_info *find(const char *node, const char *port, uint64_t flags)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	hints->fabric_attr->prov_name = strdup("route");
	if (fi_getinfo(FI_VERSION(1, 14), node, port, flags, hints, &info))
		info = NULL;
	fi_freeinfo(hints);
	return info;
}

/* --- The server --- */

struct server {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_pep *pep;
	struct fid_mr *mr;
	uint8_t *region;
	unsigned int conns;
	uint64_t key; /* of the next guest */
};

struct guest {
	struct fid_ep *ep;
	struct fid_mr *mr;
	uint8_t *room;
	struct slot {
		struct fi_context2 context;
		struct guest *guest;
		uint8_t *buf;
		bool sending;
	} slot[SERVER_RECEIVES];
};

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static int open_server(struct server *server, const char *node, const char *port)
{
	struct fi_eq_attr eq = {.size = 256, .wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 16384};
	int ret;

	server->info = find(node, port, FI_SOURCE);
	if (!server->info)
		return -FI_ENODATA;
	server->region = calloc(1, RAW_REGION);
	ret = fi_fabric(server->info->fabric_attr, &server->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(server->fabric, &eq, &server->eq, NULL);
	if (!ret)
		ret = fi_passive_ep(server->fabric, server->info, &server->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(server->pep, &server->eq->fid, 0);
	if (!ret)
		ret = fi_listen(server->pep);
	if (!ret)
		ret = fi_domain(server->fabric, server->info, &server->domain, NULL);
	if (!ret)
		ret = fi_cq_open(server->domain, &cq, &server->cq, NULL);
	if (!ret)
		ret = fi_mr_reg(server->domain, server->region, RAW_REGION,
				FI_REMOTE_READ | FI_REMOTE_WRITE, 0, RAW_KEY, 0,
				&server->mr, NULL);
	return ret;
}

/* Each with an entry of its own: in one that was filled, the provider's memory would be
 * taken for the caller's (fi_cq(3), err_data_size). */
static ssize_t error_passed_over(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = {0};

	return fi_cq_readerr(cq, &err, 0);
}

static void guest_free(struct server *server, struct guest *guest)
{
	struct fi_cq_msg_entry entry;
	ssize_t ret;

	fi_close(&guest->ep->fid);
	/* What it still had; others' are lost with it only if they are over, too. */
	while ((ret = error_passed_over(server->cq)) == 1 ||
	       (ret = fi_cq_read(server->cq, &entry, 0)) == -FI_EAVAIL)
		;
	if (guest->mr)
		fi_close(&guest->mr->fid);
	free(guest->room);
	free(guest);
	server->conns--;
}

static void guest_receive(struct slot *slot)
{
	slot->sending = false;
	fi_recv(slot->guest->ep, slot->buf, SERVER_ROOM, fi_mr_desc(slot->guest->mr), 0,
		&slot->context);
}

static int guest_open(struct server *server, struct fi_info *info, struct guest *guest)
{
	unsigned int i;
	int ret = fi_endpoint(server->domain, info, &guest->ep, guest);

	if (ret)
		return ret;
	fi_ep_bind(guest->ep, &server->eq->fid, 0);
	fi_ep_bind(guest->ep, &server->cq->fid, FI_TRANSMIT | FI_RECV);
	ret = fi_enable(guest->ep);
	guest->room = calloc(SERVER_RECEIVES, SERVER_ROOM);
	if (!ret)
		ret = fi_mr_reg(server->domain, guest->room,
				SERVER_RECEIVES * SERVER_ROOM, FI_SEND | FI_RECV, 0,
				++server->key, 0, &guest->mr, NULL);
	for (i = 0; i < SERVER_RECEIVES && !ret; i++) {
		guest->slot[i].guest = guest;
		guest->slot[i].buf = guest->room + (size_t)i * SERVER_ROOM;
		guest_receive(&guest->slot[i]);
	}
	return ret ? ret : fi_accept(guest->ep, NULL, 0);
}

static void guest_asks(struct server *server, struct fi_info *info)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	const int ret = guest_open(server, info, guest);

	fi_freeinfo(info);
	server->conns++;
	if (!ret)
		return;
	printf("a connection is not accepted: %s\n", fi_strerror(-ret));
	if (guest->ep)
		guest_free(server, guest);
}

static void server_completions(struct server *server)
{
	struct fi_cq_msg_entry entry;
	struct slot *slot;
	ssize_t ret;

	while ((ret = fi_cq_read(server->cq, &entry, 1)) == 1 || ret == -FI_EAVAIL) {
		if (ret == -FI_EAVAIL) {
			if (error_passed_over(server->cq) < 0)
				return;
			continue;
		}
		slot = entry.op_context;
		if (slot->sending) {
			guest_receive(slot);
			continue;
		}
		slot->sending = true;
		fi_send(slot->guest->ep, slot->buf, entry.len,
			fi_mr_desc(slot->guest->mr), 0, &slot->context);
	}
}

static void server_events(struct server *server)
{
	struct {
		struct fi_eq_cm_entry cm;
		uint8_t more[1024];
	} entry;
	struct fi_eq_err_entry err = {0};
	uint32_t event;
	ssize_t ret = fi_eq_read(server->eq, &event, &entry, sizeof(entry), 0);

	if (ret == -FI_EAVAIL) {
		if (fi_eq_readerr(server->eq, &err, 0) > 0 && err.fid &&
		    err.fid->fclass == FI_CLASS_EP) {
			server_completions(server);
			guest_free(server, err.fid->context);
		}
	} else if (ret > 0 && event == FI_CONNREQ) {
		guest_asks(server, entry.cm.info);
	} else if (ret > 0 && event == FI_SHUTDOWN) {
		server_completions(server);
		guest_free(server, entry.cm.fid->context);
	}
}

int honest_serve(const char *node, const char *port)
{
	struct server server = {.key = RAW_KEY};
	int ret = open_server(&server, node, port);
	uint64_t end = 0;

	if (ret) {
		fprintf(stderr, "cannot serve: %s\n", fi_strerror(-ret));
		return 1;
	}
	signal(SIGTERM, on_term);
	puts("serves");
	fflush(stdout);
	/* Those who have just ended are heard of. */
	while (!stop || (server.conns && raw_now() < end)) {
		if (!stop)
			end = raw_now() + 10000;
		server_completions(&server);
		server_events(&server);
	}
	printf("ends with %u connections\n", server.conns);
	/* Whoever had to go and is still there. */
	if (server.conns)
		return 1;
	fi_close(&server.mr->fid);
	fi_close(&server.cq->fid);
	fi_close(&server.domain->fid);
	fi_close(&server.pep->fid);
	fi_close(&server.eq->fid);
	fi_close(&server.fabric->fid);
	fi_freeinfo(server.info);
	free(server.region);
	return 0;
}

/* --- A client --- */

struct honest {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	uint8_t *room; /* to send, then to receive */
};

#define HALF (512u << 10)
#define WRITES 6u /* at once */

static int await_event(struct honest *honest, uint32_t wanted, int ms)
{
	struct fi_eq_cm_entry entry;
	struct fi_eq_err_entry err = {0};
	const uint64_t end = raw_now() + (uint64_t)ms;
	struct fi_cq_msg_entry none;
	uint32_t event;
	ssize_t ret;

	do {
		fi_cq_read(honest->cq, &none, 0);
		ret = fi_eq_read(honest->eq, &event, &entry, sizeof(entry), 0);
		if (ret == -FI_EAVAIL)
			return fi_eq_readerr(honest->eq, &err, 0) > 0 ? -err.err
								      : -FI_EIO;
		if (ret > 0)
			return event == wanted ? 0 : -FI_ECONNABORTED;
	} while (raw_now() < end);
	return -FI_ETIMEDOUT;
}

static int open_client(struct honest *honest, const char *node, const char *port)
{
	struct fi_eq_attr eq = {.size = 16, .wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 256};
	int ret;

	honest->info = find(node, port, 0);
	if (!honest->info)
		return -FI_ENODATA;
	honest->room = calloc(2, HALF);
	ret = fi_fabric(honest->info->fabric_attr, &honest->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(honest->fabric, &eq, &honest->eq, NULL);
	if (!ret)
		ret = fi_domain(honest->fabric, honest->info, &honest->domain, NULL);
	if (!ret)
		ret = fi_cq_open(honest->domain, &cq, &honest->cq, NULL);
	if (!ret)
		ret = fi_mr_reg(honest->domain, honest->room, 2 * HALF,
				FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0, 1, 0,
				&honest->mr, NULL);
	if (!ret)
		ret = fi_endpoint(honest->domain, honest->info, &honest->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(honest->ep, &honest->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(honest->ep, &honest->cq->fid, FI_TRANSMIT | FI_RECV);
	return ret ? ret : fi_enable(honest->ep);
}

static struct honest *connect_once(const char *node, const char *port, int ms, int *why)
{
	struct honest *honest = calloc(1, sizeof(*honest));
	int ret = open_client(honest, node, port);

	if (!ret)
		ret = fi_connect(honest->ep, honest->info->dest_addr, NULL, 0);
	if (!ret)
		ret = await_event(honest, FI_CONNECTED, ms);
	*why = ret;
	if (!ret)
		return honest;
	honest_close(honest);
	return NULL;
}

/* Who is told that there is no room now comes again. */
struct honest *honest_connect(const char *node, const char *port, int ms, int *why)
{
	const uint64_t end = raw_now() + (uint64_t)ms;
	struct honest *honest;

	for (;;) {
		honest = connect_once(node, port, ms, why);
		if (honest || *why != -FI_ENOBUFS || raw_now() > end)
			return honest;
		usleep(50000);
	}
}

static int await_completions(struct honest *honest, int count, int ms)
{
	const uint64_t end = raw_now() + (uint64_t)ms;
	struct fi_cq_msg_entry entry;
	struct fi_cq_err_entry err = {0};
	ssize_t ret;

	while (count) {
		ret = fi_cq_read(honest->cq, &entry, 1);
		if (ret == -FI_EAVAIL)
			return fi_cq_readerr(honest->cq, &err, 0) > 0 ? -err.err
								      : -FI_EIO;
		count -= ret == 1;
		if (raw_now() > end)
			return -FI_ETIMEDOUT;
	}
	return 0;
}

static void fill(struct honest *honest, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		honest->room[i] = (uint8_t)raw_random();
	memset(honest->room + HALF, 0, len);
}

static int compare(const struct honest *honest, size_t len)
{
	return memcmp(honest->room, honest->room + HALF, len) ? -FI_EIO : 0;
}

int honest_echo(struct honest *honest, size_t len, int ms)
{
	void *desc = fi_mr_desc(honest->mr);
	int ret;

	fill(honest, len);
	ret = (int)fi_recv(honest->ep, honest->room + HALF, HALF, desc, 0, NULL);
	if (!ret)
		ret = (int)fi_send(honest->ep, honest->room, len, desc, 0, NULL);
	if (!ret)
		ret = await_completions(honest, 2, ms);
	return ret ? ret : compare(honest, len);
}

int honest_rma(struct honest *honest, size_t len, int ms)
{
	void *desc = fi_mr_desc(honest->mr);
	int ret;

	fill(honest, len);
	ret = (int)fi_write(honest->ep, honest->room, len, desc, 0, 0, RAW_KEY, NULL);
	if (!ret)
		ret = await_completions(honest, 1, ms);
	if (!ret)
		ret = (int)fi_read(honest->ep, honest->room + HALF, len, desc, 0, 0,
				   RAW_KEY, NULL);
	if (!ret)
		ret = await_completions(honest, 1, ms);
	return ret ? ret : compare(honest, len);
}

static int post_write(struct honest *honest, size_t len)
{
	return (int)fi_write(honest->ep, honest->room, len, fi_mr_desc(honest->mr), 0, 0,
			     RAW_KEY, NULL);
}

int honest_writes(struct honest *honest, unsigned int count, size_t len, int ms)
{
	unsigned int i;
	int ret = 0;

	while (count-- && !ret) {
		for (i = 0; i < WRITES && !ret; i++)
			ret = post_write(honest, len);
		if (!ret)
			ret = await_completions(honest, WRITES, ms);
	}
	return ret;
}

static void close_one(void *object)
{
	if (object && fi_close(object))
		fprintf(stderr, "an object is busy\n");
}

void honest_close(struct honest *honest)
{
	close_one(honest->ep ? &honest->ep->fid : NULL);
	close_one(honest->mr ? &honest->mr->fid : NULL);
	close_one(honest->cq ? &honest->cq->fid : NULL);
	close_one(honest->domain ? &honest->domain->fid : NULL);
	close_one(honest->eq ? &honest->eq->fid : NULL);
	close_one(honest->fabric ? &honest->fabric->fid : NULL);
	fi_freeinfo(honest->info);
	free(honest->room);
	free(honest);
}
