/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message of the peer is: a Call, a Reply, an error, or nothing that it may send
 * (RFC 8166 section 4.5, RFC 8167 sections 4.1 and 5).
 *
 * A malformed message does not say its direction. If its XID is that of a Call of this
 * end it can only be a bad Reply, and is dropped; otherwise it is a bad Call, and is
 * answered.
 */
#include "call.h"

/* A Call of this end that waits for a Reply. */
static struct rpr_call *inbound_call_of(struct rpr_ep *ep, uint32_t xid)
{
	struct rpr_call *call = rpr_call_find(ep, xid);

	return call && call->state == RPR_CALL_SENT ? call : NULL;
}

static void inbound_drop(struct rpr_rx *rx, uint64_t *counter)
{
	++*counter;
	rpr_rx_put(rx);
}

/* Of this connection's other direction; serve is NULL when nobody can be answered. */
static void inbound_answer(struct rpr_ep *ep, struct rpr_rx *rx, uint32_t xid,
			   enum rpr_errcode err, uint32_t vers)
{
	struct rpr_serve *serve = rpr_serve_take(ep, rx, xid);

	if (!serve)
		return;
	rpr_rx_put(rx);
	rpr_serve_error(serve, err, vers);
}

static void inbound_bad(struct rpr_ep *ep, struct rpr_rx *rx,
			const struct rpr_header *header, enum rpr_errcode err)
{
	if (inbound_call_of(ep, header->xid)) {
		inbound_drop(rx, &ep->stats.drop_reply);
		rpr_call_late(ep);
	} else {
		inbound_answer(ep, rx, header->xid, err, header->vers);
	}
}

static void inbound_bad_proc(struct rpr_ep *ep, struct rpr_rx *rx,
			     const struct rpr_header *header)
{
	/* RDMA_DONE is no Call: nothing answers it (RFC 8166 section 4.6.2). */
	if (header->proc == RPR_DONE || inbound_call_of(ep, header->xid))
		inbound_drop(rx, &ep->stats.drop_proc);
	else
		inbound_answer(ep, rx, header->xid, RPR_ERR_CHUNK, header->vers);
}

static void inbound_late(struct rpr_ep *ep, struct rpr_rx *rx)
{
	inbound_drop(rx, &ep->stats.drop_xid);
	rpr_call_late(ep);
}

/* A malformed one: it may be that of a cancelled Call all the same. */
static void inbound_bad_reply(struct rpr_ep *ep, struct rpr_rx *rx)
{
	inbound_drop(rx, &ep->stats.drop_reply);
	rpr_call_late(ep);
}

/* RFC 8167 section 4.1: with no direction, the credit value means nothing. */
static void inbound_error(struct rpr_ep *ep, struct rpr_rx *rx,
			  const struct rpr_header *header)
{
	struct rpr_call *call = inbound_call_of(ep, header->xid);

	if (!call) {
		inbound_late(ep, rx);
		return;
	}
	ep->stats.err_received++;
	rpr_rx_put(rx);
	rpr_call_lost(call, FI_EREMOTEIO, (int)header->err);
}

static void inbound_reply(struct rpr_ep *ep, struct rpr_rx *rx,
			  const struct rpr_header *header, const uint8_t *bytes,
			  size_t len)
{
	struct rpr_call *call = inbound_call_of(ep, header->xid);

	if (!call)
		inbound_late(ep, rx);
	else if (header->read_count) /* RFC 8166 section 4.3.1: of Calls alone */
		inbound_bad_reply(ep, rx);
	else
		rpr_call_reply(call, header, rx, bytes, len);
}

static void inbound_call(struct rpr_ep *ep, struct rpr_rx *rx,
			 const struct rpr_header *header, const uint8_t *bytes,
			 size_t len)
{
	struct rpr_serve *serve = rpr_serve_take(ep, rx, header->xid);

	if (serve)
		rpr_serve_call(serve, header, rx, bytes, len);
}

static void inbound_msg(struct rpr_ep *ep, struct rpr_rx *rx,
			const struct rpr_header *header, const uint8_t *bytes, size_t len)
{
	enum rpr_direction direction;
	uint32_t xid;

	if (!rpr_message_parse(bytes, len, &xid, &direction)) {
		inbound_bad(ep, rx, header, RPR_ERR_CHUNK);
		return;
	}
	if (direction == RPR_CALL) {
		if (xid == header->xid)
			inbound_call(ep, rx, header, bytes, len);
		else
			inbound_answer(ep, rx, header->xid, RPR_ERR_CHUNK, header->vers);
		return;
	}
	if (xid == header->xid)
		inbound_reply(ep, rx, header, bytes, len);
	else
		inbound_bad_reply(ep, rx);
}

/* The message is in a chunk, and with it what it is: only a Call has Read chunks, and
 * only a Reply that was offered a Reply chunk comes without: of a Call that was
 * cancelled, if there is none with its XID. */
static void inbound_nomsg(struct rpr_ep *ep, struct rpr_rx *rx,
			  const struct rpr_header *header)
{
	struct rpr_call *call = inbound_call_of(ep, header->xid);

	if (header->read_count)
		inbound_call(ep, rx, header, NULL, 0);
	else if (call && header->has_reply && call->reply.seg.length)
		rpr_call_reply(call, header, rx, NULL, 0);
	else if (!call && ep->abandoned)
		inbound_late(ep, rx);
	else
		inbound_bad(ep, rx, header, RPR_ERR_CHUNK);
}

static void inbound_header(struct rpr_ep *ep, struct rpr_rx *rx)
{
	const uint8_t *bytes = rx->buf->data;
	struct rpr_header header;
	size_t used;

	switch (rpr_header_parse(&header, bytes, rx->len, &used)) {
	case RPR_BAD_SHORT:
		inbound_drop(rx, &ep->stats.drop_short);
		return;
	case RPR_BAD_VERS:
		/* An error is no Call, whatever its version. */
		if (header.proc == RPR_ERROR)
			inbound_drop(rx, &ep->stats.drop_proc);
		else
			inbound_bad(ep, rx, &header, RPR_ERR_VERS);
		return;
	case RPR_BAD_PROC:
		inbound_bad_proc(ep, rx, &header);
		return;
	case RPR_BAD_CHUNK:
		inbound_bad(ep, rx, &header, RPR_ERR_CHUNK);
		return;
	case RPR_OK:
		break;
	}
	if (header.proc == RPR_ERROR)
		inbound_error(ep, rx, &header);
	else if (header.proc == RPR_MSG)
		inbound_msg(ep, rx, &header, bytes + used, rx->len - used);
	else
		inbound_nomsg(ep, rx, &header);
}

void rpr_inbound(struct rpr_ep *ep, struct rpr_rx *rx)
{
	const uint8_t *bytes = rx->buf->data;
	struct rpr_header header;

	if (crn_unlikely(!crn_list_empty(&ep->stalled)) && !ep->resuming) {
		crn_list_add_tail(&ep->stalled, &rx->entry);
		return;
	}
	if (!rpr_header_is_short(bytes, rx->len, &header.xid, &header.credit)) {
		inbound_header(ep, rx);
		return;
	}
	header.vers = RPR_VERSION;
	header.proc = RPR_MSG;
	header.read_count = 0;
	header.write_count = 0;
	header.has_reply = false;
	inbound_msg(ep, rx, &header, bytes + RPR_HEADER_MIN, rx->len - RPR_HEADER_MIN);
}
