/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives for a Call that is not sent yet: its results, its Reply. */
#include <string.h>
#include "call/call.h"
#include "recv.h"
#include "rpc.h"

#define RECV_FLAGS (FI_COMPLETION | FI_MORE)
#define CALL_FLAGS (FI_CAIRN_RPC_RESULT | FI_CAIRN_RPC_REPLY)

/* The Call with that XID that is not sent yet; NULL: *ret says why there is none. */
static struct rpr_call *prepare_call(struct rpr_ep *ep, uint64_t xid, int *ret)
{
	struct rpr_call *call;

	*ret = -FI_EINVAL;
	if (xid > UINT32_MAX)
		return NULL;
	call = rpr_call_find(ep, (uint32_t)xid);
	*ret = -FI_EALREADY;
	if (call)
		return call->state == RPR_CALL_PREPARED ? call : NULL;
	*ret = -FI_EAGAIN;
	return rpr_call_take(ep, (uint32_t)xid);
}

static int prepare_result(struct rpr_ep *ep, struct rpr_call *call,
			  const struct fi_msg *msg, uint64_t flags)
{
	const uint32_t most =
		ep->chunks == FI_CAIRN_RPC_CHUNKS_LINUX ? 1 : RPR_WRITE_CHUNKS;
	struct rpr_result *result = &call->result[call->result_count];
	int ret;

	if (call->result_count >= most)
		return -FI_EOPNOTSUPP;
	ret = rpr_mem_expose(ep->domain, msg->msg_iov->iov_base, msg->msg_iov->iov_len,
			     FI_REMOTE_WRITE, &result->mem);
	if (ret)
		return ret;
	result->context = msg->context;
	result->report = crn_ep_reports(&ep->ep, CRN_EP_RX, flags);
	call->result_count++;
	return 0;
}

static int prepare_reply(struct rpr_ep *ep, struct rpr_call *call,
			 const struct fi_msg *msg, uint64_t flags)
{
	struct crn_list *entry;
	struct rpr_recv *recv;
	int ret;

	if (call->reply_recv)
		return -FI_EALREADY;
	entry = crn_list_pop(&ep->rxq.free);
	if (!entry)
		return -FI_EAGAIN;
	ret = rpr_mem_expose(ep->domain, msg->msg_iov->iov_base, msg->msg_iov->iov_len,
			     FI_REMOTE_WRITE, &call->reply);
	if (ret) {
		crn_list_add_tail(&ep->rxq.free, entry);
		return ret;
	}
	recv = crn_container_of(entry, struct rpr_recv, entry);
	recv->context = msg->context;
	recv->iov[0] = *msg->msg_iov;
	recv->iov_count = 1;
	recv->len = msg->msg_iov->iov_len;
	recv->flags = flags;
	call->reply_recv = recv;
	call->reply_at = msg->msg_iov->iov_base;
	return 0;
}

static int prepare(struct rpr_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct rpr_call *call;
	int ret;

	if (ep->state != RPR_EP_UP)
		return -FI_ENOTCONN;
	if (ep->chunks == FI_CAIRN_RPC_CHUNKS_NONE)
		return -FI_EOPNOTSUPP;
	call = prepare_call(ep, msg->data, &ret);
	if (!call)
		return ret;
	ret = -FI_EAGAIN;
	if (crn_ep_begin(&ep->ep, CRN_EP_RX)) {
		ret = flags & FI_CAIRN_RPC_RESULT ? prepare_result(ep, call, msg, flags)
						  : prepare_reply(ep, call, msg, flags);
		if (ret)
			crn_ep_abandon(&ep->ep, CRN_EP_RX);
	}
	if (ret && !call->result_count && !call->reply_recv)
		rpr_call_put(call);
	return ret == -FI_ENOMEM ? -FI_EAGAIN : ret;
}

ssize_t rpc_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	int ret;

	if (!(flags & CALL_FLAGS))
		return rpr_recvmsg(fid, msg, flags);
	if ((flags & ~(CALL_FLAGS | RECV_FLAGS)) || (flags & CALL_FLAGS) == CALL_FLAGS)
		return -FI_EBADFLAGS;
	/* Linux takes one segment of a size for a chunk, and none that is empty. */
	if (msg->iov_count != 1 || !msg->msg_iov->iov_len)
		return -FI_EINVAL;
	crn_lock(rpr_lock_of(ep));
	ret = prepare(ep, msg, flags);
	crn_unlock(rpr_lock_of(ep));
	return ret;
}
