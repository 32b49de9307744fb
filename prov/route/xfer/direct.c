/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bypass, of the end that reads and writes. Where the peer is the other end, a key
 * that is used again and again is asked for, and from then on reads and writes of its
 * region are the lower provider's own, from the program's memory to the other program's.
 * They share its endpoint with the messages, whose order is thereby theirs too: one goes
 * straight only when no message before it can still wait at the target. All else, and
 * whatever the target has to refuse, is a message as through routers.
 *
 * The target recalls a key when its region closes. It is answered when nothing of the
 * bypass is outstanding, so that the region is not touched behind the answer.
 */
#include "direct.h"

static bool op_fits(const struct rte_vc *vc, const struct rte_vc_op *op)
{
	return !op->has_data && !op->begun && op->level != RTE_VC_DURABLE &&
	       rte_vc_lower_takes(vc->peer->port, op->type, op->length, op->iov_count,
				  op->copy, op->desc[0]);
}

/*
 * What was sent before has to have left the target's receives. Writes and reads leave
 * them by themselves, and are worth waiting for: a program that always has some
 * outstanding would have messages for ever.
 */
static enum rte_vc_way target_way(struct rte_vc *vc)
{
	if (vc->framed <= vc->reached)
		return RTE_VC_STRAIGHT;
	if (rte_peer_idle(vc->peer)) {
		vc->framed = vc->received = 0;
		return RTE_VC_STRAIGHT;
	}
	return vc->received <= vc->reached ? RTE_VC_LATER : RTE_VC_FRAMED;
}

static void straight_done(struct rte_tx *tx, int err)
{
	struct rte_vc *vc = tx->user;
	struct rte_vc_op *op = rte_vc_op(vc, tx->number);

	vc->lower--;
	vc->straight--;
	op->lower--;
	if (crn_unlikely(err))
		op->lost = true;
	rte_vc_settle(vc);
}

bool rte_vc_straight(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
		     const struct rte_key *key, struct fi_msg_rma *msg)
{
	const struct fi_rma_iov range = {
		.addr = key->base + op->addr,
		.len = (size_t)op->length,
		.key = key->lower,
	};
	struct rte_tx *tx = rte_tx_direct(vc->peer);

	if (!tx)
		return false;
	tx->user = vc;
	tx->number = seq;
	tx->done = straight_done;
	tx->data_len = op->copy ? 0 : (size_t)op->length;
	msg->rma_iov = &range;
	msg->rma_iov_count = 1;
	if (rte_tx_rma(tx, msg, op->type == RTE_READ_REQ,
		       (op->copy ? FI_INJECT : 0) |
			       (op->deliver ? FI_DELIVERY_COMPLETE : 0)))
		return false;
	vc->wrote |= op->type == RTE_WRITE;
	op->level = RTE_VC_SENT;
	op->begun = true;
	op->lower++;
	vc->lower++;
	vc->straight++;
	vc->next++;
	return true;
}

enum rte_vc_way rte_vc_direct(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq)
{
	struct fi_msg_rma msg = {
		.msg_iov = op->iov,
		.desc = op->desc,
		.iov_count = op->iov_count,
	};
	const struct rte_key *key;
	enum rte_vc_way way;

	if (seq < vc->plain || !op_fits(vc, op))
		return RTE_VC_FRAMED;
	key = rte_vc_key_known(vc, op->key);
	if (!key || !rte_vc_key_allows(key, op->type, op->addr, op->length))
		return RTE_VC_FRAMED;
	way = target_way(vc);
	if (way != RTE_VC_STRAIGHT)
		return way;
	return rte_vc_straight(vc, op, seq, key, &msg) ? RTE_VC_STRAIGHT : RTE_VC_FRAMED;
}

/* --- What the target says of its keys --- */

const char *rte_vc_informed(struct rte_vc *vc, const struct rte_mr_info *info)
{
	return rte_key_informed(&vc->keys, info) ? NULL
						 : "MR_INFO of what was not asked for";
}

/* Nothing more of the bypass is posted until it is answered. */
const char *rte_vc_recalled(struct rte_vc *vc, const struct rte_mr_inval *inval)
{
	return rte_key_recalled(&vc->keys, inval) ? NULL
						  : "MR_INVAL of what is not known";
}

void rte_vc_return(struct rte_vc *vc)
{
	if (!vc->straight)
		rte_keys_return(&vc->keys, vc->peer);
}
