/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3) of rpc mode. */
#include <string.h>
#include <cairn/bytes.h>
#include "call/call.h"
#include "recv.h"
#include "rpc.h"

#define SEND_FLAGS                                                               \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_MORE | FI_CAIRN_RPC_DDP)

/* The words that say which message it is. */
#define BEGIN_LEN 8

/* One buffer, as most messages are, and the mask has it; there is no pad. */
static bool message_is_one(const struct rpc_message *message, uint64_t mask)
{
	return message->count == 1 && mask == 1 && !message->ddp && message->iov->iov_len;
}

size_t rpc_body_len(const struct rpc_message *message, uint64_t mask)
{
	size_t i, len = 0;

	if (crn_likely(message_is_one(message, mask)))
		return message->iov->iov_len;
	for (i = 0; i < message->count; i++)
		len += mask & (1ULL << i) ? rpc_padded(message, i) : 0;
	return len;
}

void rpc_body_copy(const struct rpc_message *message, uint64_t mask, uint8_t *to)
{
	size_t i, len;

	if (crn_likely(message_is_one(message, mask))) {
		memcpy(to, message->iov->iov_base, message->iov->iov_len);
		return;
	}
	for (i = 0; i < message->count; i++) {
		if (!(mask & (1ULL << i)))
			continue;
		len = message->iov[i].iov_len;
		if (len)
			memcpy(to, message->iov[i].iov_base, len);
		memset(to + len, 0, rpc_padded(message, i) - len);
		to += rpc_padded(message, i);
	}
}

static bool message_begin(struct rpc_message *message)
{
	uint8_t begin[BEGIN_LEN];
	size_t i, part, len = 0;

	if (crn_likely(message->count && message->iov->iov_len >= sizeof(begin)))
		return rpr_message_parse(message->iov->iov_base, sizeof(begin),
					 &message->xid, &message->direction);
	for (i = 0; i < message->count && len < sizeof(begin); i++) {
		part = CRN_MIN(message->iov[i].iov_len, sizeof(begin) - len);
		if (part)
			memcpy(begin + len, message->iov[i].iov_base, part);
		len += part;
	}
	return rpr_message_parse(begin, len, &message->xid, &message->direction);
}

static int message_post(struct rpr_ep *ep, const struct rpc_message *message)
{
	int ret;

	if (ep->state != RPR_EP_UP)
		return -FI_ENOTCONN;
	if (!message->silent && !crn_ep_begin(&ep->ep, CRN_EP_TX))
		return -FI_EAGAIN;
	ret = message->direction == RPR_CALL ? rpc_send_call(ep, message)
					     : rpc_send_reply(ep, message);
	if (ret && !message->silent)
		crn_ep_abandon(&ep->ep, CRN_EP_TX);
	if (!ret && message->silent)
		crn_ep_count(&ep->ep, FI_SEND | FI_MSG, false);
	return ret;
}

static ssize_t message_send(struct rpr_ep *ep, struct rpc_message *message)
{
	int ret;

	if (message->flags & ~SEND_FLAGS)
		return -FI_EBADFLAGS;
	if (message->count > ep->tx_iov_limit || message->ddp & ~rpc_all(message) ||
	    !message_begin(message))
		return -FI_EINVAL;
	if (message->flags & FI_INJECT &&
	    rpc_body_len(message, rpc_all(message)) > RPR_INJECT_SIZE)
		return -FI_EMSGSIZE;
	crn_lock(rpr_lock_of(ep));
	ret = message_post(ep, message);
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

static ssize_t rpc_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct rpc_message message = {
		.iov = msg->msg_iov,
		.desc = msg->desc,
		.count = msg->iov_count,
		.ddp = flags & FI_CAIRN_RPC_DDP ? msg->data : 0,
		.flags = flags,
		.context = msg->context,
	};

	return message_send(rpr_ep_of(ep), &message);
}

static ssize_t rpc_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, void *context)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	struct rpc_message message = {
		.iov = iov,
		.count = count,
		.flags = ep->ep.queues[CRN_EP_TX].op_flags,
		.context = context,
	};

	return message_send(ep, &message);
}

static ssize_t rpc_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};

	return rpc_sendv(ep, &iov, NULL, 1, dest_addr, context);
}

static ssize_t rpc_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	struct rpc_message message = {
		.iov = &iov,
		.count = 1,
		.flags = FI_INJECT,
		.silent = true,
	};

	return message_send(rpr_ep_of(ep), &message);
}

/* A message has its data in it: domain_attr.cq_data_size is 0. */
static ssize_t rpc_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t rpc_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr)
{
	return -FI_EOPNOTSUPP;
}

struct fi_ops_msg rpr_rpc_msg = {
	.size = sizeof(struct fi_ops_msg),
	.recv = rpr_recv,
	.recvv = rpr_recvv,
	.recvmsg = rpc_recvmsg,
	.send = rpc_send,
	.sendv = rpc_sendv,
	.sendmsg = rpc_sendmsg,
	.inject = rpc_inject,
	.senddata = rpc_senddata,
	.injectdata = rpc_injectdata,
};

/* ---- what a message is to the program ---- */

/* A Call with its message in chunks is looked at when it has been read. */
static bool rpc_call(struct rpr_ep *ep, struct rpr_serve *serve)
{
	serve->arrival.hidden = !serve->arrival.bytes;
	return serve->arrival.len <= ep->max_msg;
}

static enum rpr_taken rpc_reply(struct rpr_ep *ep, struct rpr_call *call)
{
	return RPR_TAKEN;
}

static void rpc_delivered(struct rpr_ep *ep, struct rpr_serve *serve)
{
	/* The Reply is the program's to send. */
}

static void rpc_idle(struct rpr_ep *ep)
{
}

/* RFC 5531 section 9: what a server says that cannot do it. */
#define RPC_SYSTEM_ERR 5
#define RPC_SYSTEM_ERR_LEN 24

static void lost_system_err(struct rpr_ep *ep, struct rpr_recv *recv, uint32_t xid)
{
	uint8_t text[RPC_SYSTEM_ERR_LEN];
	const struct iovec iov = {.iov_base = text, .iov_len = sizeof(text)};
	struct crn_pack pack;

	crn_pack_init(&pack, text, sizeof(text));
	crn_pack_be32(&pack, xid);
	crn_pack_be32(&pack, RPR_REPLY);
	crn_pack_zero(&pack, 12); /* accepted, AUTH_NONE */
	crn_pack_be32(&pack, RPC_SYSTEM_ERR);
	rpr_recv_give(ep, recv, &iov);
}

static void lost_event(struct rpr_ep *ep, uint32_t xid, int err, int prov_errno)
{
	const struct fi_eq_err_entry entry = {
		.fid = &ep->fid.fid,
		.context = ep->fid.fid.context,
		.data = xid,
		.err = err,
		.prov_errno = prov_errno ? prov_errno : err,
	};

	if (ep->obj.eq)
		crn_eq_insert_err(&ep->obj.eq->eq, &entry);
}

static void rpc_lost(struct rpr_ep *ep, struct rpr_call *call, int err, int prov_errno)
{
	struct rpr_recv *recv = call->reply_recv;

	call->reply_recv = NULL;
	if (!recv && call->sent)
		recv = rpr_recv_take(&ep->rxq, RPR_REPLY);
	if (recv && ep->system_err && err == FI_EREMOTEIO)
		lost_system_err(ep, recv, call->xid);
	else if (recv)
		rpr_recv_failed(ep, recv, err, prov_errno, 0, 0, call->xid);
	else if (call->sent)
		lost_event(ep, call->xid, err, prov_errno);
}

const struct rpr_mode_ops rpr_rpc_mode = {
	.call = rpc_call,
	.reply = rpc_reply,
	.delivered = rpc_delivered,
	.lost = rpc_lost,
	.idle = rpc_idle,
};
