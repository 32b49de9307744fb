/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of any kind before a fenced durable one (fi_cq(3), FI_FENCE): upgrade.c sees
 * to what was written to persistent memory; here are messages, of which only the target
 * knows where they went, and what was written elsewhere, which is never durable.
 */
#include "cq/cq.h"
#include "persist/control/control.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "xfer/xfer.h"
#include "initiator.h"
#include "batch.h"
#include "internal.h"

void pvb_sends_note(struct pvb_qp *qp, const struct pvb_op *op, int ret)
{
	struct pvb_commit *commit = qp->commit;

	crn_lock_assert_held(&qp->tx_lock);
	if (!op->len || op->opcode == IBV_WR_RDMA_READ)
		return;
	if (pvb_op_sends(op))
		commit->sends = true;
	else if (ret)
		commit->never = ret;
	else
		return;
	/* No fenced operation goes the short way before it was looked after. */
	commit->plan_cache.behind = 0;
}

/* Where all messages are in one region, and a read there is enough, it is as if that had
 * been written to. */
static int pvb_sends_replayed(struct pvb_qp *qp)
{
	const uint64_t key = qp->control_qp->replay.key, at = qp->control_qp->replay.addr;
	int ret;

	ret = pvb_dirty_add(&qp->commit->dirty,
			    (struct pvb_dirty_range){
				    .from = at,
				    .to = at + 1,
				    .rkey = (uint32_t)key,
				    .attr_bits = pvb_key_attr_bits(key),
				    .key_attr = qp->control_qp->replay.key_attr,
			    });
	if (!ret)
		qp->commit->sends = false;
	return ret;
}

/* Any read behind them keeps the place of the request on the send queue, and ends in its
 * turn. */
static int pvb_sends_place(struct pvb_ep *ep)
{
	static const struct pvb_op nobody = {.inject = true};
	const struct pvb_cm_word *word = &ep->conn.peer.word;
	struct pvb_batch batch;
	int ret;

	pvb_batch_init(&batch, ep, &nobody);
	pvb_batch_last(&batch, PVB_SLOT_REQUEST);
	ret = pvb_batch_finish(&batch, pvb_batch_read(&batch, word->rkey, word->addr,
						      word->addr + 1));
	return ret > 0 ? -FI_EIO : ret;
}

/* The target is asked; later: when all before it has ended, as other requests are asked
 * where no sequence word says that. They come to the target in the order of their
 * numbers. */
static int pvb_sends_request(struct pvb_ep *ep, uint32_t attr_bits, bool later)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_control_qp *cqp = qp->control_qp;
	struct pvb_wire_message message;
	int ret;

	if (ep->conn.peer.version < 2)
		return -FI_EOPNOTSUPP;
	if (atomic_load(&cqp->lost))
		return -FI_ECONNABORTED;
	if (!crn_ring_space(&qp->sq.ring))
		return (int)pvb_tx_refuse(ep);
	ret = pvb_control_request_allowed(qp, PVB_REQUEST_CONTROL);
	if (ret)
		return ret;
	message = (struct pvb_wire_message){.messages = qp->commit->messages};
	pvb_control_request_begin(cqp, &message);
	message.kind = PVB_WIRE_MESSAGES;
	cqp->requests[PVB_REQUEST_CONTROL]
		.of[message.number % PVB_CONTROL_CREDITS]
		.messages = true;
	ret = later && !pvb_control_qp_later(cqp, &message) ? -FI_ENOMEM
							    : pvb_sends_place(ep);
	if (ret) {
		pvb_control_qp_cancel(cqp, message.number);
		pvb_control_request_cancel(cqp, PVB_REQUEST_CONTROL);
		return ret;
	}
	if (!later && !pvb_control_qp_send(cqp, &message))
		pvb_control_qp_lose(cqp, "a request cannot be sent");
	qp->commit->sends = false;
	qp->commit->requested = true;
	qp->commit->counts[PVB_COMMIT_UPGRADES]++;
	pvb_commit_note(qp, PVB_PENDING_MESSAGE, attr_bits);
	return 0;
}

int pvb_sends_upgrade(struct pvb_ep *ep, uint32_t attr_bits)
{
	static const struct pvb_op message = {.opcode = IBV_WR_SEND};
	struct pvb_qp *qp = &ep->qp;
	struct pvb_plan_query query;
	struct pvb_plan plan;
	struct pvb_key_attr attr;
	int ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (!qp->commit->sends)
		return 0;
	pvb_commit_key_attr(qp, &message, &attr);
	pvb_commit_query(ep, &attr, &query);
	query.op = PVB_PLAN_SEND;
	query.rq_pm = pvb_commit_replays(qp);
	ret = pvb_plan(&query, &plan);
	if (ret)
		return ret;
	return plan.end == PVB_END_COMPLETION
		       ? pvb_sends_replayed(qp)
		       : pvb_sends_request(ep, attr_bits, !query.seq_word);
}

bool pvb_sends_failed(const struct pvb_qp *qp)
{
	crn_lock_assert_held(&qp->tx_lock);
	return qp->commit->never || atomic_load(&qp->commit->defer.undurable);
}

/* The completion of the fenced operation reports the target's error. */
ssize_t pvb_sends_fail(struct pvb_qp *qp, const struct pvb_op *op)
{
	const struct pvb_slot slot = {.context = op->context, .flags = op->comp_flags};
	const int err = atomic_load(&qp->commit->defer.undurable);
	struct pvb_commit *commit = qp->commit;

	crn_lock_assert_held(&qp->tx_lock);
	if (commit->never)
		return commit->never;
	if (err != FI_EOPNOTSUPP && err != FI_EKEYREJECTED)
		return -FI_ECONNABORTED;
	if (!commit->requested || op->inject)
		return -err;
	commit->requested = false;
	pvb_cq_fail_begun(&qp->sq, 0, &slot, err, -err);
	return 0;
}
