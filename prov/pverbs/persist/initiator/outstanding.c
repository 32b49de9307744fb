/* SPDX-License-Identifier: BSD-2-Clause */
/* What durable operations left outstanding, and what must not overtake them. */
#include "persist/plan/plan.h"
#include "xfer/xfer.h"
#include "internal.h"

bool pvb_outstanding(struct pvb_qp *qp, uint32_t end)
{
	crn_lock_assert_held(&qp->tx_lock);
	return (int32_t)(end - atomic_load_explicit(&qp->sq.ring.tail,
						    memory_order_acquire)) > 0;
}

/* PVB_PENDING_* of everything that has not ended, for an operation on memory like
 * attr_bits.
 */
unsigned int pvb_commit_pending(struct pvb_qp *qp, uint32_t attr_bits)
{
	struct pvb_commit *commit = qp->commit;
	unsigned int left;

	crn_lock_assert_held(&qp->tx_lock);
	for (left = commit->kinds; left; left &= left - 1) {
		if (!pvb_outstanding(qp, commit->end[__builtin_ctz(left)]))
			commit->kinds &= ~(left & -left);
	}
	/* What the others would mean to memory like facts is not known then. */
	if ((commit->kinds & PVB_PENDING_UNKNOWN) ||
	    (commit->kinds && commit->attr_bits != attr_bits))
		return PVB_PENDING_UNKNOWN;
	return commit->kinds;
}

void pvb_commit_note(struct pvb_qp *qp, unsigned int pending, uint32_t attr_bits)
{
	const unsigned int kinds =
		pending | (pvb_commit_pending(qp, attr_bits) & PVB_PENDING_UNKNOWN);
	struct pvb_commit *commit = qp->commit;
	unsigned int left;

	crn_lock_assert_held(&qp->tx_lock);
	for (left = kinds; left; left &= left - 1)
		commit->end[__builtin_ctz(left)] = qp->sq.ring.head;
	commit->kinds |= kinds;
	commit->newest = qp->sq.ring.head;
	commit->attr_bits = attr_bits;
}

uint32_t pvb_key_attr_bits(uint64_t key)
{
	return (uint32_t)(key >> 32) & 0xffffff;
}

bool pvb_op_sends(const struct pvb_op *op)
{
	return op->opcode == IBV_WR_SEND || op->opcode == IBV_WR_SEND_WITH_IMM;
}

uint32_t pvb_op_attr_bits(const struct pvb_op *op)
{
	return pvb_op_sends(op) ? 0 : pvb_key_attr_bits(op->key);
}

/* Does it cause a completion at the target? */
bool pvb_op_announces(const struct pvb_op *op)
{
	return pvb_op_sends(op) || op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/*
 * An operation that the target's processor carries out, or that later ones may pass, must
 * not be overtaken by what overlaps it, what announces it, or what is ordered behind it.
 */
bool pvb_commit_overtakes(struct pvb_ep *ep, const struct pvb_op *op)
{
	/* A fenced durable one is ordered by its plan. */
	const bool planned = (op->flags & FI_COMMIT_COMPLETE) && (op->flags & FI_FENCE);
	const bool ordered = ep->attr.writes_ordered;
	struct pvb_commit *commit = ep->qp.commit;
	const struct pvb_hazard *hazard;
	uint32_t i = 0;

	crn_lock_assert_held(&ep->qp.tx_lock);
	/* Before positions have gone round, however long nothing durable is posted. */
	if (commit->kinds && !pvb_outstanding(&ep->qp, commit->newest))
		commit->kinds = 0;
	while (i < commit->hazard_count) {
		hazard = &commit->hazards[i];
		if (!pvb_outstanding(&ep->qp, hazard->end)) {
			commit->hazards[i] = commit->hazards[--commit->hazard_count];
			continue;
		}
		if (!planned && pvb_op_announces(op))
			return true;
		if (!planned && ordered && op->opcode != IBV_WR_RDMA_READ)
			return true;
		if (!pvb_op_sends(op) && op->addr < hazard->to &&
		    hazard->from < op->addr + op->len)
			return true;
		i++;
	}
	return false;
}
