/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connection needs: slots, and a buffer of the inline size for each receive, each
 * Reply, and each Call that is outstanding at a time. Buffers of Calls come a few at a
 * time when they are first needed; the others are made when the endpoint is enabled. So
 * no small Call allocates or registers, once there were as many outstanding before.
 */
#include <stdlib.h>
#include "call/call.h"
#include "ep.h"

/* Buffers allocated and registered at a time. */
#define CONN_CHUNK 16

static int conn_reg(void *arg, const void *addr, size_t len, struct fid_mr **mr)
{
	struct rpr_domain *domain = arg;
	struct rpr_mem mem;
	int ret = rpr_mem_local(domain, (void *)addr, len, NULL, FI_SEND | FI_RECV, &mem);

	*mr = mem.mr;
	return ret;
}

static int conn_slab(struct rpr_ep *ep)
{
	const size_t count = ep->rx_count + ep->call_slots + ep->serve_slots;
	const struct crn_slab_attr attr = {
		.size = rpr_params.inline_size,
		.chunk = CONN_CHUNK,
		.limit = count,
	};

	return crn_slab_init(&ep->slab, &rpr_prov, &attr, 1,
			     ep->domain->mr_local ? conn_reg : NULL, ep->domain);
}

static int conn_receives(struct rpr_ep *ep)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ep->rx_count; i++) {
		ep->rxs[i].ep = ep;
		crn_list_init(&ep->rxs[i].entry);
		ret = crn_slab_get(&ep->slab, rpr_params.inline_size, &ep->rxs[i].buf);
	}
	return ret;
}

static void conn_calls(struct rpr_ep *ep)
{
	size_t i;

	for (i = 0; i <= ep->xid_mask; i++)
		crn_list_init(&ep->xids[i]);
	for (i = 0; i < ep->call_slots; i++) {
		ep->calls[i].send.ep = ep;
		crn_list_init(&ep->calls[i].wait);
		crn_list_add_tail(&ep->calls_free, &ep->calls[i].entry);
	}
}

static int conn_serves(struct rpr_ep *ep)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ep->serve_slots; i++) {
		crn_list_add_tail(&ep->serves_free, &ep->serves[i].entry);
		ret = crn_slab_get(&ep->slab, rpr_params.inline_size, &ep->serves[i].buf);
		if (!ret)
			rpr_serve_init(ep, &ep->serves[i]);
	}
	return ret;
}

static void conn_rmas(struct rpr_ep *ep)
{
	size_t i;

	for (i = 0; ep->rmas && i < ep->ep.queues[CRN_EP_TX].depth; i++) {
		ep->rmas[i].ep = ep;
		crn_list_add_tail(&ep->rmas_free, &ep->rmas[i].entry);
	}
}

static uint32_t conn_buckets(size_t slots)
{
	uint32_t count = 1;

	while (count < slots)
		count *= 2;
	return count;
}

static bool conn_alloc(struct rpr_ep *ep)
{
	const uint32_t buckets = conn_buckets(ep->call_slots);
	const size_t depth = ep->ep.queues[CRN_EP_TX].depth;

	ep->xid_mask = buckets - 1;
	ep->rxs = calloc(ep->rx_count, sizeof(*ep->rxs));
	ep->calls = calloc(ep->call_slots, sizeof(*ep->calls));
	ep->serves = calloc(ep->serve_slots + 1, sizeof(*ep->serves));
	ep->xids = calloc(buckets, sizeof(*ep->xids));
	if (ep->mode == RPR_MODE_WRAP)
		ep->rmas = calloc(depth, sizeof(*ep->rmas));
	return ep->rxs && ep->calls && ep->serves && ep->xids &&
	       (ep->rmas || ep->mode != RPR_MODE_WRAP);
}

int rpr_conn_make(struct rpr_ep *ep)
{
	int ret;

	/* Slots more than credits: of one whose Send is not over yet; in wrap mode, for
	 * what waits for a credit. */
	ep->call_slots = CRN_MAX(2 * (size_t)ep->calls_max,
				 (size_t)ep->ep.queues[CRN_EP_TX].depth);
	ep->serve_slots = 2 * ep->grant;
	/* Two more than may come, for what a peer sends that it should not. */
	ep->rx_count = ep->calls_max + ep->grant + 2;
	ret = conn_slab(ep);
	if (ret)
		return ret;
	ret = conn_alloc(ep) ? conn_receives(ep) : -FI_ENOMEM;
	if (!ret)
		ret = conn_serves(ep);
	if (ret) {
		rpr_conn_free(ep);
		return ret;
	}
	conn_calls(ep);
	conn_rmas(ep);
	return 0;
}

static void conn_put(struct crn_buf *buf)
{
	if (buf)
		crn_slab_put(buf);
}

static void conn_close_serve(struct rpr_serve *serve)
{
	int i;

	for (i = 0; i < RPR_IOV_LIMIT; i++)
		rpr_mem_close(&serve->source[i]);
	rpr_mem_close(&serve->body);
	free(serve->items);
	for (i = 0; i < (int)serve->arrival.sinks; i++)
		rpr_mem_close(&serve->arrival.sink[i]);
	free(serve->arrival.items);
	free(serve->arrival.layout);
	conn_put(serve->buf);
}

static void conn_close_call(struct rpr_call *call)
{
	uint32_t i;

	for (i = 0; i < call->read_count; i++)
		rpr_mem_close(&call->read[i]);
	for (i = 0; i < call->result_count; i++)
		rpr_mem_close(&call->result[i].mem);
	rpr_mem_close(&call->reply);
	conn_put(call->buf);
}

void rpr_conn_free(struct rpr_ep *ep)
{
	size_t i;

	for (i = 0; ep->rxs && i < ep->rx_count; i++)
		conn_put(ep->rxs[i].buf);
	for (i = 0; ep->calls && i < ep->call_slots; i++)
		conn_close_call(&ep->calls[i]);
	for (i = 0; ep->serves && i < ep->serve_slots; i++)
		conn_close_serve(&ep->serves[i]);
	free(ep->rxs);
	free(ep->calls);
	free(ep->serves);
	free(ep->xids);
	free(ep->rmas);
	ep->rxs = NULL;
	ep->calls = NULL;
	ep->serves = NULL;
	ep->xids = NULL;
	ep->rmas = NULL;
	ep->rx_count = 0;
	ep->call_slots = 0;
	ep->serve_slots = 0;
	/* It may be made again. */
	crn_list_init(&ep->calls_free);
	crn_list_init(&ep->serves_free);
	crn_list_init(&ep->rmas_free);
	crn_slab_fini(&ep->slab);
}
