/* SPDX-License-Identifier: BSD-2-Clause */
/* A Reply of the program: results into Write chunks, the rest inline or into the Reply
 * chunk (RFC 8166 sections 3.4.6, 3.5.3 and 4.3). */
#include <stdlib.h>
#include "call/call.h"
#include "rpc.h"

/* What is to be written before the Reply: parts of the sources. */
struct plan {
	struct rpr_serve *serve;
	struct rpr_header header;
	uint64_t reduced; /* entries in Write chunks */
	size_t len;	  /* bytes of the others */
	uint32_t writes;
};

static size_t chunk_room(const struct rpr_chunk *chunk)
{
	size_t room = 0;
	uint32_t i;

	for (i = 0; i < chunk->count; i++)
		room += chunk->seg[i].length;
	return room;
}

/* Fills the chunk in order; the echo has the bytes that are in each segment. */
static uint32_t chunk_fill(struct rpr_chunk *echo, size_t len)
{
	uint32_t i, used = 0;

	for (i = 0; i < echo->count; i++) {
		echo->seg[i].length = (uint32_t)CRN_MIN(len, (size_t)echo->seg[i].length);
		len -= echo->seg[i].length;
		used += echo->seg[i].length > 0;
	}
	return used;
}

/* Each eligible entry takes the next chunk that is not empty; an empty one says "inline"
 * (RFC 8166 section 4.3.2.3). */
static int plan_results(struct plan *plan, const struct rpc_message *message)
{
	const struct rpr_serve *serve = plan->serve;
	struct rpr_header *header = &plan->header;
	uint32_t chunk = 0;
	size_t i;

	header->write_count = serve->write_count;
	for (i = 0; i < serve->write_count; i++)
		header->write[i] = serve->write[i];
	for (i = 0; i < message->count && chunk < serve->write_count; i++) {
		if (!serve->reducible || !(message->ddp & (1ULL << i)))
			continue;
		if (serve->write[chunk].count) {
			if (message->iov[i].iov_len > chunk_room(&serve->write[chunk]))
				return -FI_EMSGSIZE;
			plan->writes += chunk_fill(&header->write[chunk],
						   message->iov[i].iov_len);
			plan->reduced |= 1ULL << i;
		}
		chunk++;
	}
	for (; chunk < serve->write_count; chunk++)
		chunk_fill(&header->write[chunk], 0);
	return 0;
}

static int plan_reply(struct plan *plan, const struct rpc_message *message,
		      const struct rpr_ep *ep)
{
	const struct rpr_serve *serve = plan->serve;
	struct rpr_header *header = &plan->header;

	header->xid = message->xid;
	header->vers = RPR_VERSION;
	header->credit = ep->grant;
	header->proc = RPR_MSG;
	header->read_count = 0;
	/* RFC 8166 section 4.3.3: there, with no bytes in it, also if it is not used. */
	header->has_reply = serve->has_reply;
	if (serve->has_reply) {
		header->reply = serve->reply;
		chunk_fill(&header->reply, 0);
	}
	plan->len = rpc_body_len(message, rpc_all(message) & ~plan->reduced);
	if (rpr_header_len(header) + plan->len <= ep->send_inline)
		return 0;
	if (!serve->has_reply || plan->len > chunk_room(&serve->reply))
		return -FI_EMSGSIZE;
	header->proc = RPR_NOMSG;
	header->reply = serve->reply;
	plan->writes += chunk_fill(&header->reply, plan->len);
	return rpr_header_len(header) > ep->send_inline ? -FI_EMSGSIZE : 0;
}

/* Items that write len bytes at from into the chunk. */
static struct rpr_item *write_chunk(struct rpr_item *item, const struct rpr_chunk *echo,
				    uint8_t *from, void *desc)
{
	uint32_t i;

	for (i = 0; i < echo->count; i++) {
		if (!echo->seg[i].length)
			continue;
		item->buf = from;
		item->len = echo->seg[i].length;
		item->desc = desc;
		item->addr = echo->seg[i].offset;
		item->key = echo->seg[i].handle;
		from += item->len;
		item++;
	}
	return item;
}

static int write_source(struct rpr_ep *ep, const struct rpc_message *message, size_t i,
			struct rpr_mem *mem, uint8_t **from)
{
	const struct iovec *iov = &message->iov[i];
	int ret;

	*from = iov->iov_base;
	if (!(message->flags & FI_INJECT))
		return rpr_mem_local(ep->domain, iov->iov_base, iov->iov_len,
				     message->desc ? message->desc[i] : NULL, FI_WRITE,
				     mem);
	ret = rpr_mem_copy(ep->domain, iov->iov_len, mem);
	if (ret)
		return ret;
	rpc_body_copy(&(struct rpc_message){.iov = iov, .count = 1}, 1, mem->owned);
	*from = mem->owned;
	return 0;
}

/* Each source with its items; sources are the serve's from the first on. */
static int plan_items(struct plan *plan, const struct rpc_message *message)
{
	struct rpr_serve *serve = plan->serve;
	struct rpr_ep *ep = serve->arrival.ep;
	struct rpr_item *item = serve->items;
	uint32_t chunk = 0;
	uint8_t *from;
	size_t i;
	int ret;

	for (i = 0; i < message->count; i++) {
		if (!(plan->reduced & (1ULL << i)))
			continue;
		while (!serve->write[chunk].count)
			chunk++;
		ret = write_source(ep, message, i, &serve->source[i], &from);
		if (ret)
			return ret;
		item = write_chunk(item, &plan->header.write[chunk++], from,
				   rpr_mem_desc(&serve->source[i]));
	}
	if (plan->header.proc != RPR_NOMSG)
		return 0;
	ret = rpr_mem_copy(ep->domain, plan->len, &serve->body);
	if (ret)
		return ret;
	rpc_body_copy(message, rpc_all(message) & ~plan->reduced, serve->body.owned);
	write_chunk(item, &plan->header.reply, serve->body.owned,
		    rpr_mem_desc(&serve->body));
	return 0;
}

static int plan_writes(struct plan *plan, const struct rpc_message *message)
{
	struct rpr_serve *serve = plan->serve;
	size_t i;
	int ret = -FI_ENOMEM;

	if (!plan->writes)
		return 0;
	serve->items = calloc(plan->writes, sizeof(*serve->items));
	if (serve->items)
		ret = plan_items(plan, message);
	if (!ret)
		return 0;
	for (i = 0; i < RPR_IOV_LIMIT; i++)
		rpr_mem_close(&serve->source[i]);
	rpr_mem_close(&serve->body);
	free(serve->items);
	serve->items = NULL;
	return ret;
}

static void plan_send(struct plan *plan, const struct rpc_message *message)
{
	struct rpr_serve *serve = plan->serve;
	uint8_t *buf = serve->buf->data;
	ssize_t used = rpr_header_pack(&plan->header, buf, serve->buf->size);
	uint32_t i;

	serve->send.len = (size_t)used;
	if (plan->header.proc == RPR_MSG) {
		rpc_body_copy(message, rpc_all(message) & ~plan->reduced, buf + used);
		serve->send.len += plan->len;
	}
	/* RFC 8166 section 3.4.6: what is written is there before the Reply. */
	for (i = 0; i < plan->writes; i++)
		rpr_serve_write(serve, &serve->items[i]);
	rpr_serve_reply(serve);
}

static void reply_pending(struct rpr_serve *serve, const struct rpc_message *message)
{
	struct rpr_ep *ep = serve->arrival.ep;

	serve->pending = !message->silent;
	serve->report = crn_ep_reports(&ep->ep, CRN_EP_TX, message->flags);
	serve->flags = FI_SEND | FI_MSG;
	serve->context = message->context;
}

/* Most Calls offer no chunk. -FI_EMSGSIZE: there is nowhere for what is not inline. */
static int reply_short(struct rpr_serve *serve, const struct rpc_message *message)
{
	struct rpr_ep *ep = serve->arrival.ep;
	const uint64_t all = rpc_all(message);
	const size_t len = rpc_body_len(message, all);
	uint8_t *buf = serve->buf->data;

	if (RPR_HEADER_MIN + len > ep->send_inline)
		return -FI_EMSGSIZE;
	rpr_header_pack_short(buf, message->xid, ep->grant);
	rpc_body_copy(message, all, buf + RPR_HEADER_MIN);
	serve->send.len = RPR_HEADER_MIN + len;
	reply_pending(serve, message);
	rpr_serve_reply(serve);
	return 0;
}

static int reply_planned(struct rpr_serve *serve, const struct rpc_message *message)
{
	struct plan plan;
	int ret;

	plan.serve = serve;
	plan.reduced = 0;
	plan.writes = 0;
	ret = plan_results(&plan, message);
	if (!ret)
		ret = plan_reply(&plan, message, serve->arrival.ep);
	if (!ret)
		ret = plan_writes(&plan, message);
	if (ret)
		return ret == -FI_ENOMEM ? -FI_EAGAIN : ret;
	reply_pending(serve, message);
	plan_send(&plan, message);
	return 0;
}

int rpc_send_reply(struct rpr_ep *ep, const struct rpc_message *message)
{
	struct rpr_serve *serve = rpr_serve_find(ep, message->xid);

	if (!serve)
		return -FI_ENOENT;
	/* Version 1 has no acknowledgement of a Reply. */
	if (message->flags & FI_DELIVERY_COMPLETE)
		return -FI_EOPNOTSUPP;
	if (crn_likely(!serve->write_count && !serve->has_reply))
		return reply_short(serve, message);
	return reply_planned(serve, message);
}
