/* SPDX-License-Identifier: BSD-2-Clause */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rdma/fi_errno.h>

#include "dgrams.h"

#define PATIENCE_NS 20e9
#define PATIENCE_MS 20000
#define SPINS (1u << 16) /* turns without a completion between two looks at the clock */
#define BATCH 16u
#define ALIGN 64u

void dgrams_need(ssize_t ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		fi_strerror((int)-ret));
	exit(1);
}

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

double dgrams_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

double dgrams_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The stock provider wants to be told that a prefix is no trouble. */
static void find(struct dgrams_end *e)
{
	struct fi_info *hints = fi_allocinfo();

	dgrams_need(hints ? 0 : -FI_ENOMEM, "fi_allocinfo");
	hints->caps = FI_MSG | (e->wish.group ? FI_MULTICAST : 0);
	hints->mode = FI_MSG_PREFIX | FI_CONTEXT | FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->threading = e->wish.threading;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->tx_attr->size = DGRAMS_TX_DEPTH;
	hints->rx_attr->size = e->wish.receives;
	hints->fabric_attr->prov_name = strdup(e->wish.provider);
	dgrams_need(fi_getinfo(fi_version(), e->wish.address, "0", FI_SOURCE, hints,
			       &e->info),
		    "fi_getinfo");
	fi_freeinfo(hints);
}

static void make_memory(struct dgrams_end *e)
{
	size_t prefix =
		e->info->mode & FI_MSG_PREFIX ? e->info->ep_attr->msg_prefix_size : 0;
	size_t len;

	e->stride = (prefix + e->wish.room + ALIGN - 1) / ALIGN * ALIGN;
	len = (e->wish.receives + 1) * e->stride;
	e->memory = aligned_alloc(ALIGN, len);
	dgrams_need(e->memory ? 0 : -FI_ENOMEM, "memory");
	memset(e->memory, 1, len);
	dgrams_need(fi_mr_reg(e->domain, e->memory, len, FI_SEND | FI_RECV, 0, 1, 0,
			      &e->mr, NULL),
		    "fi_mr_reg");
	e->desc = fi_mr_desc(e->mr);
}

void dgrams_open(struct dgrams_end *e, const struct dgrams_wish *wish)
{
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_UNSPEC};
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT};
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	size_t len = sizeof(e->name);

	memset(e, 0, sizeof(*e));
	e->wish = *wish;
	find(e);
	dgrams_need(fi_fabric(e->info->fabric_attr, &e->fabric, NULL), "fi_fabric");
	dgrams_need(fi_domain(e->fabric, e->info, &e->domain, NULL), "fi_domain");
	dgrams_need(fi_av_open(e->domain, &av, &e->av, NULL), "fi_av_open");
	cq.size = DGRAMS_TX_DEPTH;
	dgrams_need(fi_cq_open(e->domain, &cq, &e->txcq, NULL), "fi_cq_open");
	cq.size = wish->receives;
	dgrams_need(fi_cq_open(e->domain, &cq, &e->rxcq, NULL), "fi_cq_open");
	dgrams_need(fi_endpoint(e->domain, e->info, &e->ep, NULL), "fi_endpoint");
	dgrams_need(fi_ep_bind(e->ep, &e->av->fid, 0), "fi_ep_bind");
	if (wish->group) {
		dgrams_need(fi_eq_open(e->fabric, &eq, &e->eq, NULL), "fi_eq_open");
		dgrams_need(fi_ep_bind(e->ep, &e->eq->fid, 0), "fi_ep_bind");
	}
	dgrams_need(fi_ep_bind(e->ep, &e->txcq->fid, FI_TRANSMIT | wish->tx_flags),
		    "fi_ep_bind");
	dgrams_need(fi_ep_bind(e->ep, &e->rxcq->fid, FI_RECV), "fi_ep_bind");
	dgrams_need(fi_enable(e->ep), "fi_enable");
	dgrams_need(fi_getname(&e->ep->fid, e->name, &len), "fi_getname");
	make_memory(e);
}

void dgrams_join(struct dgrams_end *e, uint64_t direction)
{
	struct addrinfo *ai, hints = {.ai_flags = AI_NUMERICHOST};
	struct fi_eq_entry entry;
	uint32_t event = 0;

	dgrams_need(getaddrinfo(e->wish.group, NULL, &hints, &ai) ? -FI_EINVAL : 0,
		    e->wish.group);
	dgrams_need(fi_join(e->ep, ai->ai_addr, direction, &e->mc, NULL), "fi_join");
	freeaddrinfo(ai);
	dgrams_need(fi_eq_sread(e->eq, &event, &entry, sizeof(entry), PATIENCE_MS, 0),
		    "the group");
	dgrams_need(event == FI_JOIN_COMPLETE ? 0 : -FI_EOTHER, "the group");
}

void dgrams_close(struct dgrams_end *e)
{
	if (e->mc)
		dgrams_need(fi_close(&e->mc->fid), "fi_close");
	dgrams_need(fi_close(&e->ep->fid), "fi_close");
	dgrams_need(fi_close(&e->txcq->fid), "fi_close");
	dgrams_need(fi_close(&e->rxcq->fid), "fi_close");
	dgrams_need(fi_close(&e->mr->fid), "fi_close");
	dgrams_need(fi_close(&e->av->fid), "fi_close");
	if (e->eq)
		dgrams_need(fi_close(&e->eq->fid), "fi_close");
	dgrams_need(fi_close(&e->domain->fid), "fi_close");
	dgrams_need(fi_close(&e->fabric->fid), "fi_close");
	fi_freeinfo(e->info);
	free(e->memory);
}

fi_addr_t dgrams_peer(struct dgrams_end *e, const uint8_t *name)
{
	fi_addr_t peer;

	dgrams_need(fi_av_insert(e->av, name, 1, &peer, 0, NULL) == 1 ? 0 : -FI_EINVAL,
		    "fi_av_insert");
	return peer;
}

void dgrams_post(struct dgrams_end *e)
{
	char *slot = e->memory + (1 + e->posted % e->wish.receives) * e->stride;

	dgrams_need(fi_recv(e->ep, slot, e->stride, e->desc, FI_ADDR_UNSPEC, e),
		    "fi_recv");
	e->posted++;
}

size_t dgrams_reap(struct fid_cq *cq, size_t most)
{
	struct fi_cq_err_entry err = {.err = 0};
	struct fi_cq_entry entries[BATCH];
	ssize_t ret = fi_cq_read(cq, entries, most < BATCH ? most : BATCH);

	if (ret == -FI_EAGAIN)
		return 0;
	if (ret == -FI_EAVAIL && fi_cq_readerr(cq, &err, 0) == 1)
		ret = -err.err;
	dgrams_need(ret, "a completion");
	return (size_t)ret;
}

void dgrams_await(struct fid_cq *cq)
{
	unsigned int turns = 0;
	double start = 0;

	while (!dgrams_reap(cq, 1)) {
		if (++turns % SPINS)
			continue;
		if (turns == SPINS)
			start = dgrams_now_ns();
		else if (dgrams_now_ns() - start > PATIENCE_NS)
			dgrams_need(-FI_ETIMEDOUT, "waiting for a datagram");
	}
}
