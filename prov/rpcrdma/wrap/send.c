/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3) of wrap mode. */
#include "call/call.h"
#include "recv.h"
#include "wrap.h"

#define SEND_FLAGS                                                               \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA | FI_MORE)

/* A send as the functions of the interface come down to it. */
struct message {
	const struct iovec *iov;
	size_t count;
	size_t len; /* bytes */
	uint64_t data;
	uint64_t flags;
	void *context;
	bool silent; /* fi_inject: there is no completion */
};

size_t rpr_wrap_iov_len(const struct iovec *iov, size_t count)
{
	size_t i, len = 0;

	for (i = 0; i < count; i++)
		len += iov[i].iov_len;
	return len;
}

void rpr_wrap_pack_iov(struct crn_pack *pack, const struct iovec *iov, size_t count,
		       size_t len)
{
	size_t i;

	crn_pack_be32(pack, (uint32_t)len);
	for (i = 0; i < count; i++)
		crn_pack_bytes(pack, iov[i].iov_base, iov[i].iov_len);
	crn_pack_zero(pack, -len & 3);
}

struct rpr_call *rpr_wrap_call_take(struct rpr_ep *ep)
{
	while (rpr_call_find(ep, ep->next_xid))
		ep->next_xid++;
	return rpr_call_take(ep, ep->next_xid++);
}

/* Half of the credits may be unanswered at the peer's before it answers by itself. */
bool rpr_wrap_urgent(const struct rpr_ep *ep)
{
	return 2 * (ep->outstanding + 1) >= rpr_call_limit(ep);
}

static uint32_t message_proc(const struct rpr_ep *ep, const struct message *message,
			     bool waits)
{
	uint32_t proc = message->flags & FI_REMOTE_CQ_DATA ? WRAP_SEND_DATA : WRAP_SEND;

	return waits || rpr_wrap_urgent(ep) ? proc | WRAP_URGENT : proc;
}

static void message_pack_begin(struct crn_pack *pack, const struct message *message,
			       uint32_t xid, uint32_t proc)
{
	rpr_wrap_pack_call(pack, xid, proc);
	if (message->flags & FI_REMOTE_CQ_DATA)
		crn_pack_be64(pack, message->data);
}

static bool message_is_short(const struct rpr_ep *ep, const struct message *message)
{
	const size_t data = message->flags & FI_REMOTE_CQ_DATA ? 8 : 0;

	return RPR_HEADER_MIN + WRAP_CALL_LEN + data + 4 + message->len + 3 <=
	       ep->send_inline;
}

static int message_pack_short(struct rpr_call *call, const struct message *message)
{
	struct rpr_ep *ep = call->send.ep;
	uint8_t *buf = call->send.buf;
	struct crn_pack pack;

	rpr_header_pack_short(buf, call->xid, ep->calls_max);
	crn_pack_init(&pack, buf + RPR_HEADER_MIN, call->buf->size - RPR_HEADER_MIN);
	message_pack_begin(&pack, message, call->xid,
			   message_proc(ep, message, call->at_reply));
	rpr_wrap_pack_iov(&pack, message->iov, message->count, message->len);
	call->send.len = RPR_HEADER_MIN + (size_t)crn_pack_len(&pack);
	return 0;
}

/* The program's memory, a segment for each part of it that has bytes. */
static int message_expose(struct rpr_call *call, const struct message *message,
			  struct rpr_header *header, uint32_t position)
{
	struct rpr_domain *domain = call->send.ep->domain;
	struct rpr_mem *mem;
	size_t i;
	int ret;

	for (i = 0; i < message->count; i++) {
		if (!message->iov[i].iov_len)
			continue;
		mem = &call->read[call->read_count];
		ret = rpr_mem_expose(domain, message->iov[i].iov_base,
				     message->iov[i].iov_len, FI_REMOTE_READ, mem);
		if (ret)
			return ret;
		header->read[call->read_count].position = position;
		header->read[call->read_count].seg = mem->seg;
		header->read_count = ++call->read_count;
	}
	return 0;
}

static int message_pack_long(struct rpr_call *call, const struct message *message)
{
	const uint32_t data = message->flags & FI_REMOTE_CQ_DATA ? 8 : 0;
	struct rpr_ep *ep = call->send.ep;
	struct rpr_header header;
	struct crn_pack pack;
	ssize_t used;
	int ret;

	header.xid = call->xid;
	header.vers = RPR_VERSION;
	header.credit = ep->calls_max;
	header.proc = RPR_MSG;
	header.write_count = 0;
	header.has_reply = false;
	ret = message_expose(call, message, &header, WRAP_CALL_LEN + data + 4);
	if (ret)
		return ret;
	used = rpr_header_pack(&header, call->send.buf, ep->send_inline);
	if (used < 0)
		return (int)used;
	crn_pack_init(&pack, (uint8_t *)call->send.buf + used,
		      ep->send_inline - (size_t)used);
	message_pack_begin(&pack, message, call->xid, message_proc(ep, message, true));
	crn_pack_be32(&pack, (uint32_t)message->len);
	call->send.len = (size_t)used + (size_t)crn_pack_len(&pack);
	return 0;
}

static void message_pending(const struct rpr_ep *ep, const struct message *message,
			    bool *pending, bool *report, uint64_t *flags, void **context)
{
	*pending = !message->silent;
	*report = crn_ep_reports(&ep->ep, CRN_EP_TX, message->flags);
	*flags = FI_SEND | FI_MSG;
	*context = message->context;
}

static int message_call(struct rpr_ep *ep, const struct message *message)
{
	const bool is_short = message_is_short(ep, message);
	struct rpr_call *call;
	int ret;

	if (!is_short && ep->chunks == FI_CAIRN_RPC_CHUNKS_NONE)
		return -FI_EMSGSIZE;
	call = rpr_wrap_call_take(ep);
	if (!call)
		return -FI_EAGAIN;
	/* The peer reads the program's buffer until then. */
	call->at_reply = !is_short || (message->flags & FI_DELIVERY_COMPLETE);
	ret = is_short ? message_pack_short(call, message)
		       : message_pack_long(call, message);
	if (ret) {
		rpr_call_put(call);
		return ret == -FI_ENOMEM ? -FI_EAGAIN : ret;
	}
	message_pending(ep, message, &call->pending, &call->report, &call->flags,
			&call->context);
	rpr_call_start(call);
	return 0;
}

static int message_send(struct rpr_ep *ep, const struct message *message)
{
	struct rpr_serve *serve;

	if (message->flags & (FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE) ||
	    !rpr_wrap_reply_takes(ep, message->len))
		return message_call(ep, message);
	serve = rpr_wrap_reply_due(ep);
	message_pending(ep, message, &serve->pending, &serve->report, &serve->flags,
			&serve->context);
	rpr_wrap_reply_with(serve, message->iov, message->count, message->len);
	return 0;
}

static int message_post(struct rpr_ep *ep, const struct message *message)
{
	int ret;

	if (ep->state != RPR_EP_UP)
		return -FI_ENOTCONN;
	if (!message->silent && !crn_ep_begin(&ep->ep, CRN_EP_TX))
		return -FI_EAGAIN;
	ret = message_send(ep, message);
	if (ret && !message->silent)
		crn_ep_abandon(&ep->ep, CRN_EP_TX);
	if (!ret && message->silent)
		crn_ep_count(&ep->ep, FI_SEND | FI_MSG, false);
	return ret;
}

static ssize_t message_locked(struct rpr_ep *ep, const struct message *message)
{
	int ret;

	if (message->len > ep->max_msg ||
	    (message->flags & FI_INJECT && message->len > RPR_INJECT_SIZE))
		return -FI_EMSGSIZE;
	crn_lock(rpr_lock_of(ep));
	ret = message_post(ep, message);
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

static ssize_t wrap_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	struct message message = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.data = msg->data,
		.flags = flags,
		.context = msg->context,
	};

	if (flags & ~SEND_FLAGS)
		return -FI_EBADFLAGS;
	if (msg->iov_count > ep->tx_iov_limit)
		return -FI_EINVAL;
	message.len = rpr_wrap_iov_len(msg->msg_iov, msg->iov_count);
	return message_locked(ep, &message);
}

static ssize_t wrap_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.iov_count = count,
		.context = context,
	};

	return wrap_sendmsg(ep, &msg, rpr_ep_of(ep)->ep.queues[CRN_EP_TX].op_flags);
}

/* One part, with the endpoint's flags and those of the call. */
static ssize_t wrap_one(struct fid_ep *fid, const void *buf, size_t len, uint64_t flags,
			uint64_t data, void *context, bool silent)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	const struct message message = {
		.iov = &iov,
		.count = 1,
		.len = len,
		.data = data,
		.flags = flags | (silent ? 0 : ep->ep.queues[CRN_EP_TX].op_flags),
		.context = context,
		.silent = silent,
	};

	return message_locked(ep, &message);
}

static ssize_t wrap_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, void *context)
{
	return wrap_one(ep, buf, len, 0, 0, context, false);
}

static ssize_t wrap_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, void *context)
{
	return wrap_one(ep, buf, len, FI_REMOTE_CQ_DATA, data, context, false);
}

static ssize_t wrap_inject(struct fid_ep *ep, const void *buf, size_t len,
			   fi_addr_t dest_addr)
{
	return wrap_one(ep, buf, len, FI_INJECT, 0, NULL, true);
}

static ssize_t wrap_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			       uint64_t data, fi_addr_t dest_addr)
{
	return wrap_one(ep, buf, len, FI_INJECT | FI_REMOTE_CQ_DATA, data, NULL, true);
}

struct fi_ops_msg rpr_wrap_msg = {
	.size = sizeof(struct fi_ops_msg),
	.recv = rpr_recv,
	.recvv = rpr_recvv,
	.recvmsg = rpr_recvmsg,
	.send = wrap_send,
	.sendv = wrap_sendv,
	.sendmsg = wrap_sendmsg,
	.inject = wrap_inject,
	.senddata = wrap_senddata,
	.injectdata = wrap_injectdata,
};

static bool wrap_call(struct rpr_ep *ep, struct rpr_serve *serve)
{
	return rpr_wrap_parse_call(serve);
}

static enum rpr_taken wrap_reply(struct rpr_ep *ep, struct rpr_call *call)
{
	return rpr_wrap_parse_reply(&call->arrival);
}

/* Messages are in order and none is missing, or there are no more. */
static void wrap_lost(struct rpr_ep *ep, struct rpr_call *call, int err, int prov_errno)
{
	if (err == FI_EREMOTEIO)
		rpr_kill(ep, "refused a message of wrap mode");
}

const struct rpr_mode_ops rpr_wrap_mode = {
	.call = wrap_call,
	.reply = wrap_reply,
	.delivered = rpr_wrap_delivered,
	.lost = wrap_lost,
	.told = rpr_wrap_rma_told,
	.idle = rpr_wrap_reply_all,
};
