/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies of wrap mode: with a message of the program's if there is one in time. */
#include "call/call.h"
#include "wrap.h"

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

bool rpr_wrap_reply_takes(const struct rpr_ep *ep, size_t len)
{
	return ep->held_count && crn_list_empty(&ep->calls_waiting) &&
	       RPR_HEADER_MIN + WRAP_REPLY_LEN + 4 + padded(len) <= ep->send_inline;
}

struct rpr_serve *rpr_wrap_reply_due(struct rpr_ep *ep)
{
	return crn_container_of(ep->held.next, struct rpr_serve, entry);
}

static void reply_pack(struct rpr_ep *ep, struct rpr_serve *serve, struct crn_pack *pack)
{
	uint8_t *buf = serve->buf->data;

	rpr_header_pack_short(buf, serve->xid, ep->grant);
	crn_pack_init(pack, buf + RPR_HEADER_MIN, serve->buf->size - RPR_HEADER_MIN);
	rpr_wrap_pack_reply(pack, serve->xid);
}

static void reply_send(struct rpr_ep *ep, struct rpr_serve *serve,
		       const struct crn_pack *pack)
{
	serve->send.len = RPR_HEADER_MIN + (size_t)crn_pack_len(pack);
	rpr_serve_reply(serve);
	if (!ep->held_count)
		crn_list_del(&ep->deferred);
}

void rpr_wrap_reply_with(struct rpr_serve *serve, const struct iovec *iov, size_t count,
			 size_t len)
{
	struct rpr_ep *ep = serve->arrival.ep;
	struct crn_pack pack;

	reply_pack(ep, serve, &pack);
	rpr_wrap_pack_iov(&pack, iov, count, len);
	reply_send(ep, serve, &pack);
}

void rpr_wrap_reply_all(struct rpr_ep *ep)
{
	struct rpr_serve *serve;
	struct crn_pack pack;

	while (ep->held_count && ep->state == RPR_EP_UP) {
		serve = rpr_wrap_reply_due(ep);
		reply_pack(ep, serve, &pack);
		reply_send(ep, serve, &pack);
	}
	crn_list_del(&ep->deferred);
}

void rpr_wrap_delivered(struct rpr_ep *ep, struct rpr_serve *serve)
{
	if (serve->urgent)
		rpr_wrap_reply_all(ep);
	else if (crn_list_empty(&ep->deferred))
		crn_list_add_tail(&ep->domain->deferred, &ep->deferred);
}
