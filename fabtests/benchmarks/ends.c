/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "ends.h"

#define PATIENCE_MS 20000

void bench_ends_need(const struct ends *e, ssize_t ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", e->wish.program, what, fi_strerror((int)-ret));
	exit(1);
}

static struct fi_info *hints(const struct ends *e)
{
	struct fi_info *info = fi_allocinfo();

	bench_ends_need(e, info ? 0 : -FI_ENOMEM, "fi_allocinfo");
	info->caps = FI_MSG | (e->wish.protocol ? 0 : FI_RMA) | e->wish.caps;
	info->ep_attr->type = FI_EP_MSG;
	info->ep_attr->protocol = e->wish.protocol;
	info->domain_attr->threading = e->wish.threading;
	info->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	info->tx_attr->size = info->rx_attr->size = e->wish.depth;
	info->fabric_attr->prov_name = strdup(e->wish.provider);
	return info;
}

static void listener(struct ends *e, struct fi_info *wish)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
	size_t len = sizeof(struct sockaddr_storage);
	struct fi_info *local;

	bench_ends_need(e,
			fi_getinfo(fi_version(), e->wish.address, NULL, FI_SOURCE, wish,
				   &local),
			"fi_getinfo");
	bench_ends_need(e, fi_fabric(local->fabric_attr, &e->fabric, NULL), "fi_fabric");
	bench_ends_need(e, fi_eq_open(e->fabric, &eq_attr, &e->eq, NULL), "fi_eq_open");
	bench_ends_need(e, fi_passive_ep(e->fabric, local, &e->pep, NULL),
			"fi_passive_ep");
	bench_ends_need(e, fi_pep_bind(e->pep, &e->eq->fid, 0), "fi_pep_bind");
	bench_ends_need(e, fi_listen(e->pep), "fi_listen");
	wish->dest_addr = calloc(1, len);
	bench_ends_need(e, wish->dest_addr ? 0 : -FI_ENOMEM, "memory");
	bench_ends_need(e, fi_getname(&e->pep->fid, wish->dest_addr, &len), "fi_getname");
	wish->dest_addrlen = len;
	wish->addr_format = local->addr_format;
	fi_freeinfo(local);
}

void bench_ends_open(struct ends *e, const struct ends_wish *wish)
{
	struct fi_info *asked;

	memset(e, 0, sizeof(*e));
	e->wish = *wish;
	asked = hints(e);
	listener(e, asked);
	bench_ends_need(e, fi_getinfo(fi_version(), NULL, NULL, 0, asked, &e->info),
			"fi_getinfo");
	fi_freeinfo(asked);
	bench_ends_need(e, fi_domain(e->fabric, e->info, &e->domain, NULL), "fi_domain");
}

void bench_ends_close(struct ends *e)
{
	bench_ends_need(e, fi_close(&e->pep->fid), "fi_close");
	bench_ends_need(e, fi_close(&e->domain->fid), "fi_close");
	bench_ends_need(e, fi_close(&e->eq->fid), "fi_close");
	bench_ends_need(e, fi_close(&e->fabric->fid), "fi_close");
	fi_freeinfo(e->info);
}

struct fid_cq *bench_ends_cq(struct ends *e, size_t size)
{
	struct fi_cq_attr attr = {.size = size, .format = FI_CQ_FORMAT_CONTEXT};
	struct fid_cq *cq;

	bench_ends_need(e, fi_cq_open(e->domain, &attr, &cq, NULL), "fi_cq_open");
	return cq;
}

struct fid_ep *bench_ends_ep(struct ends *e, struct fi_info *info, struct fid_cq *cq,
			     uint64_t flags)
{
	struct fid_ep *ep;

	bench_ends_need(e, fi_endpoint(e->domain, info, &ep, NULL), "fi_endpoint");
	bench_ends_need(e, fi_ep_bind(ep, &e->eq->fid, 0), "fi_ep_bind");
	bench_ends_need(e, fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | flags),
			"fi_ep_bind");
	bench_ends_need(e, fi_enable(ep), "fi_enable");
	return ep;
}

uint32_t bench_ends_event(struct ends *e, struct fi_info **info)
{
	struct fi_eq_cm_entry entry = {.info = NULL};
	struct fi_eq_err_entry err = {.err = 0};
	uint32_t event = 0;
	ssize_t ret;

	ret = fi_eq_sread(e->eq, &event, &entry, sizeof(entry), PATIENCE_MS, 0);
	if (ret == -FI_EAVAIL && fi_eq_readerr(e->eq, &err, 0) > 0)
		bench_ends_need(e, -err.err, "an event");
	bench_ends_need(e, ret, "fi_eq_sread");
	*info = entry.info;
	return event;
}

void bench_ends_pair(struct ends *e, struct fid_cq *const cq[2], uint64_t flags,
		     struct fid_ep *ep[2])
{
	struct fi_info *info;
	int connected = 0;

	ep[0] = bench_ends_ep(e, e->info, cq[0], flags);
	bench_ends_need(e, fi_connect(ep[0], e->info->dest_addr, NULL, 0), "fi_connect");
	while (connected < 2) {
		switch (bench_ends_event(e, &info)) {
		case FI_CONNREQ:
			ep[1] = bench_ends_ep(e, info, cq[1], flags);
			bench_ends_need(e, fi_accept(ep[1], NULL, 0), "fi_accept");
			fi_freeinfo(info);
			break;
		case FI_CONNECTED:
			connected++;
			break;
		default:
			bench_ends_need(e, -FI_EOTHER, "the next event");
		}
	}
}

long bench_ends_number(const char *program, const char *text, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, "%s: %s is no number from 1 to %ld\n", program, text,
			most);
		exit(2);
	}
	return value;
}

enum fi_threading bench_ends_threading(const char *program, const char *text)
{
	if (!strcmp(text, "domain"))
		return FI_THREAD_DOMAIN;
	if (!strcmp(text, "safe"))
		return FI_THREAD_SAFE;
	fprintf(stderr, "%s: threading is domain or safe\n", program);
	exit(2);
}

double bench_ends_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}
