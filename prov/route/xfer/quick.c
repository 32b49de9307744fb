/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short way of what programs do most, on a connection where nothing waits: a read or
 * write of one part that the bypass takes, with a key that is known and all messages
 * before it acknowledged; and a message of one part that fits into a Send. Flags say no
 * more than when it is over. It leaves the same operation in the ring as the long way
 * (post.c, tx.c, direct.c, send.c), but for the local buffer, which has gone already. All
 * else is left to that: several parts, FI_INJECT, FI_FENCE, FI_REMOTE_CQ_DATA,
 * FI_COMMIT_COMPLETE, what has to wait, and whatever is refused.
 */
#include "direct.h"
#include "op.h"

#define QUICK_FLAGS                                                            \
	(FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_MORE | \
	 FI_DELIVERY_COMPLETE)

/* Nothing waits that would have to go before it, nothing was refused, and there is a peer
 * to go to. */
static bool is_next(const struct rte_vc *vc)
{
	return vc->state == RTE_VC_UP && vc->next == vc->tail && !vc->refused;
}

static bool may_bypass(const struct rte_vc *vc)
{
	return vc->path.bypass && vc->framed <= vc->reached;
}

static bool is_plain(const struct fi_msg_rma *msg, uint64_t flags)
{
	return !(flags & ~QUICK_FLAGS) && msg->iov_count == 1 &&
	       msg->rma_iov_count == 1 && msg->rma_iov->len == msg->msg_iov->iov_len;
}

static bool fits(const struct rte_vc *vc, uint8_t type, const struct fi_msg_rma *msg)
{
	const size_t length = msg->msg_iov->iov_len;

	return length <= vc->attr.max_msg_size &&
	       rte_vc_lower_takes(vc->peer->port, type, length, 1, false,
				  msg->desc ? msg->desc[0] : NULL);
}

bool rte_vc_quick_rma(struct rte_vc *vc, bool reads, const struct fi_msg_rma *msg,
		      uint64_t flags)
{
	const uint8_t type = reads ? RTE_READ_REQ : RTE_WRITE;
	const struct rte_key *key;
	struct fi_msg_rma own;
	struct rte_vc_op *op;
	void *no_desc = NULL;

	if (!is_next(vc) || !may_bypass(vc) || !is_plain(msg, flags) ||
	    !fits(vc, type, msg))
		return false;
	key = rte_vc_key_known(vc, msg->rma_iov->key);
	if (!key || !rte_vc_key_allows(key, type, msg->rma_iov->addr, msg->rma_iov->len))
		return false;
	if (rte_vc_op_take(vc, false, &op))
		return false;
	rte_vc_op_fill(vc, op, type, FI_RMA | (reads ? FI_READ : FI_WRITE),
		       msg->rma_iov->len, msg->context, flags);
	op->addr = msg->rma_iov->addr;
	op->key = msg->rma_iov->key;
	own.msg_iov = msg->msg_iov;
	own.desc = msg->desc ? msg->desc : &no_desc;
	own.iov_count = 1;
	own.addr = 0;
	own.data = 0;
	if (!rte_vc_straight(vc, op, vc->tail, key, &own)) {
		crn_ep_abandon(vc->attr.ep, CRN_EP_TX);
		return false;
	}
	vc->tail++;
	return true;
}

/* rte_tx_may: a message that has to wait is counted once, by the long way. */
bool rte_vc_quick_send(struct rte_vc *vc, const struct fi_msg *msg, uint64_t flags)
{
	struct rte_vc_op *op;
	bool sent;

	if (!is_next(vc) || vc->ack_due || (flags & ~QUICK_FLAGS) ||
	    msg->iov_count != 1 ||
	    msg->msg_iov->iov_len > CRN_MIN(vc->path.eager, vc->attr.max_msg_size) ||
	    !rte_tx_may(vc->peer, RTE_REQUESTS) || rte_vc_op_take(vc, false, &op))
		return false;
	rte_vc_op_fill(vc, op, RTE_MSG, FI_SEND | FI_MSG, msg->msg_iov->iov_len,
		       msg->context, flags);
	vc->messages |= op->length != 0;
	vc->tail++;
	sent = rte_vc_whole_send(vc, op, vc->tail - 1, msg->msg_iov->iov_base);
	if (crn_unlikely(!sent)) {
		vc->tail--;
		crn_ep_abandon(vc->attr.ep, CRN_EP_TX);
	} else if (op->level == RTE_VC_HANDED) {
		rte_vc_settle(vc);
	}
	return sent;
}
