/* SPDX-License-Identifier: BSD-2-Clause */
/* A Call of the program: inline, or in chunks (RFC 8166 sections 3.4 and 3.5). */
#include <string.h>
#include "call/call.h"
#include "rpc.h"

/* Up to the end of a Call's credentials, of 400 bytes at most (RFC 5531 section 8.2). */
#define CREDENTIALS_END 432

/* RFC 8166 section 8.2.2.3: what GSS protects is not taken apart. */
static bool call_may_reduce(const struct rpr_ep *ep, const struct rpc_message *message)
{
	uint8_t begin[CREDENTIALS_END];
	size_t i, part, len = 0;

	if (!message->ddp || ep->chunks == FI_CAIRN_RPC_CHUNKS_NONE ||
	    message->flags & FI_INJECT)
		return false;
	for (i = 0; i < message->count && len < sizeof(begin); i++) {
		part = CRN_MIN(message->iov[i].iov_len, sizeof(begin) - len);
		memcpy(begin + len, message->iov[i].iov_base, part);
		len += part;
	}
	return rpr_message_reducible(begin, len);
}

/* Which entries leave the message. */
static uint64_t call_reduced(const struct rpr_ep *ep, const struct rpc_message *message)
{
	uint64_t mask = 0;
	size_t i;

	if (!call_may_reduce(ep, message))
		return 0;
	for (i = 0; i < message->count; i++) {
		if (!(message->ddp & (1ULL << i)) || !message->iov[i].iov_len)
			continue;
		mask |= 1ULL << i;
		if (ep->chunks == FI_CAIRN_RPC_CHUNKS_LINUX)
			break;
	}
	return mask;
}

static int call_expose(struct rpr_call *call, struct rpr_header *header, void *buf,
		       size_t len, uint32_t position)
{
	const uint32_t i = call->read_count;
	int ret;

	if (i == RPR_IOV_LIMIT)
		return -FI_EMSGSIZE;
	ret = rpr_mem_expose(call->send.ep->domain, buf, len, FI_REMOTE_READ,
			     &call->read[i]);
	if (ret)
		return ret;
	header->read[i].position = position;
	header->read[i].seg = call->read[i].seg;
	header->read_count = ++call->read_count;
	return 0;
}

/* A Read chunk for each entry of the mask. */
static int call_read_chunks(struct rpr_call *call, const struct rpc_message *message,
			    uint64_t mask, struct rpr_header *header)
{
	size_t i, position = 0;
	int ret = 0;

	for (i = 0; !ret && i < message->count; i++) {
		if (mask & (1ULL << i)) {
			/* XDR: every item begins at a multiple of four. */
			if (position % 4 || position > UINT32_MAX)
				return -FI_EINVAL;
			ret = call_expose(call, header, message->iov[i].iov_base,
					  message->iov[i].iov_len, (uint32_t)position);
		}
		position += rpc_padded(message, i);
	}
	return ret;
}

/* The message as the chunk at position zero, copied. */
static int call_copied(struct rpr_call *call, const struct rpc_message *message,
		       uint64_t mask, size_t len, struct rpr_header *header)
{
	int ret =
		rpr_mem_alloc(call->send.ep->domain, len, FI_REMOTE_READ, &call->read[0]);

	if (ret)
		return ret;
	rpc_body_copy(message, mask, call->read[0].owned);
	header->read[0].position = 0;
	header->read[0].seg = call->read[0].seg;
	header->read_count = ++call->read_count;
	return 0;
}

/* The message as the chunk at position zero, where it is. */
static int call_in_place(struct rpr_call *call, const struct rpc_message *message,
			 uint64_t mask, struct rpr_header *header)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < message->count; i++) {
		if (!(mask & (1ULL << i)) || !message->iov[i].iov_len)
			continue;
		/* Its round-up is nowhere. */
		if (rpc_padded(message, i) != message->iov[i].iov_len)
			return -FI_EMSGSIZE;
		ret = call_expose(call, header, message->iov[i].iov_base,
				  message->iov[i].iov_len, 0);
	}
	return ret;
}

/* RFC 8166 section 3.5.3. Before chunks of a position of their own. */
static int call_long(struct rpr_call *call, const struct rpc_message *message,
		     uint64_t mask, struct rpr_header *header)
{
	const size_t len = rpc_body_len(message, mask);
	const struct rpr_ep *ep = call->send.ep;

	header->proc = RPR_NOMSG;
	if (ep->chunks == FI_CAIRN_RPC_CHUNKS_NONE)
		return -FI_EMSGSIZE;
	if (len <= ep->copy)
		return call_copied(call, message, mask, len, header);
	return message->flags & FI_DELIVERY_COMPLETE
		       ? call_in_place(call, message, mask, header)
		       : -FI_EMSGSIZE;
}

static void call_write_chunks(struct rpr_call *call, struct rpr_header *header)
{
	uint32_t i;

	header->write_count = call->result_count;
	for (i = 0; i < call->result_count; i++) {
		header->write[i].count = 1;
		header->write[i].seg[0] = call->result[i].mem.seg;
	}
}

/* RFC 8166 section 4.3.3: may the Reply be too long to be inline? */
static bool call_offers(const struct rpr_ep *ep)
{
	return ep->reply_size > ep->recv_inline - RPR_HEADER_MIN &&
	       ep->chunks != FI_CAIRN_RPC_CHUNKS_NONE;
}

static int call_reply_chunk(struct rpr_call *call, struct rpr_header *header)
{
	struct rpr_ep *ep = call->send.ep;
	int ret;

	header->has_reply = call->reply_recv;
	if (!call->reply_recv && call_offers(ep)) {
		ret = rpr_mem_alloc(ep->domain, ep->reply_size, FI_REMOTE_WRITE,
				    &call->reply);
		if (ret)
			return ret;
		call->reply_at = call->reply.owned;
		header->has_reply = true;
	}
	if (header->has_reply) {
		header->reply.count = 1;
		header->reply.seg[0] = call->reply.seg;
	}
	return 0;
}

/* The header, and what of the message is inline behind it. */
static int call_pack(struct rpr_call *call, const struct rpc_message *message,
		     uint64_t mask, const struct rpr_header *header)
{
	struct rpr_ep *ep = call->send.ep;
	uint8_t *buf = call->send.buf;
	ssize_t used = rpr_header_pack(header, buf, ep->send_inline);

	if (used < 0)
		return -FI_EMSGSIZE;
	call->send.len = (size_t)used;
	if (header->proc == RPR_NOMSG)
		return 0;
	rpc_body_copy(message, mask, buf + used);
	call->send.len += rpc_body_len(message, mask);
	return 0;
}

/* Most Calls have no chunk. False: this one may take some. */
static bool call_short(struct rpr_call *call, const struct rpc_message *message)
{
	const uint64_t all = rpc_all(message);
	const size_t len = rpc_body_len(message, all);
	struct rpr_ep *ep = call->send.ep;
	uint8_t *buf = call->send.buf;

	if (message->ddp || call->result_count || call->reply_recv || call_offers(ep) ||
	    len > ep->max_msg || RPR_HEADER_MIN + len > ep->send_inline)
		return false;
	rpr_header_pack_short(buf, message->xid, ep->calls_max);
	rpc_body_copy(message, all, buf + RPR_HEADER_MIN);
	call->send.len = RPR_HEADER_MIN + len;
	return true;
}

static int call_build(struct rpr_call *call, const struct rpc_message *message)
{
	struct rpr_ep *ep = call->send.ep;
	const uint64_t all = rpc_all(message);
	uint64_t reduced = call_reduced(ep, message);
	struct rpr_header header;
	int ret;

	if (crn_likely(call_short(call, message)))
		return 0;
	if (rpc_body_len(message, all) > ep->max_msg)
		return -FI_EMSGSIZE;
	header.xid = message->xid;
	header.vers = RPR_VERSION;
	header.credit = ep->calls_max;
	header.proc = RPR_MSG;
	header.read_count = (uint32_t)__builtin_popcountll(reduced);
	call_write_chunks(call, &header);
	ret = call_reply_chunk(call, &header);
	if (!ret && rpr_header_len(&header) + rpc_body_len(message, all & ~reduced) >
			    ep->send_inline) {
		/* Linux' server overlooks an item's chunk beside a Long Call. */
		if (ep->chunks == FI_CAIRN_RPC_CHUNKS_LINUX)
			reduced = 0;
		header.read_count = 0;
		ret = call_long(call, message, all & ~reduced, &header);
	}
	if (!ret)
		ret = call_read_chunks(call, message, reduced, &header);
	return ret ? ret : call_pack(call, message, all & ~reduced, &header);
}

/* What was prepared for this XID, or a slot; NULL: *ret says why not. */
static struct rpr_call *call_slot(struct rpr_ep *ep, uint32_t xid, int *ret)
{
	struct rpr_call *call = rpr_call_find(ep, xid);

	*ret = -FI_EALREADY;
	if (call)
		return call->state == RPR_CALL_PREPARED ? call : NULL;
	*ret = -FI_EAGAIN;
	return rpr_call_take(ep, xid);
}

static void call_unbuild(struct rpr_call *call)
{
	uint32_t i;

	for (i = 0; i < call->read_count; i++)
		rpr_mem_close(&call->read[i]);
	call->read_count = 0;
	if (!call->reply_recv)
		rpr_mem_close(&call->reply);
	if (!call->result_count && !call->reply_recv)
		rpr_call_put(call);
}

int rpc_send_call(struct rpr_ep *ep, const struct rpc_message *message)
{
	struct rpr_call *call;
	int ret;

	/* RFC 8167 section 6. */
	if (!ep->ready)
		return -FI_EOPNOTSUPP;
	call = call_slot(ep, message->xid, &ret);
	if (!call)
		return ret;
	/* Not even the first waits: the program knows what to send next. */
	ret = rpr_call_may_go(ep) ? call_build(call, message) : -FI_EAGAIN;
	if (ret) {
		ep->stats.credit_stalls += ret == -FI_EAGAIN;
		call_unbuild(call);
		return ret == -FI_ENOMEM ? -FI_EAGAIN : ret;
	}
	/* The peer reads the program's buffer until then. */
	call->at_reply = (message->flags & FI_DELIVERY_COMPLETE) ||
			 (call->read_count && !call->read[0].owned) ||
			 call->read_count > 1;
	call->pending = !message->silent;
	call->report = crn_ep_reports(&ep->ep, CRN_EP_TX, message->flags);
	call->flags = FI_SEND | FI_MSG;
	call->context = message->context;
	rpr_call_start(call);
	return 0;
}
