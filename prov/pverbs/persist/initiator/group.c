/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable writes that share what makes them durable: those posted with FI_MORE and the
 * one behind them, where a read or a FLUSH serves all of a region. Each write starts when
 * it is posted; one read or FLUSH for each region follows the last, and all are reported
 * when that has completed (defer.c).
 */
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "xfer/xfer.h"
#include "initiator.h"
#include "batch.h"
#include "defer.h"
#include "internal.h"

/* The first range that is a group's from at on, or the count of all. */
static size_t pvb_group_next(const struct pvb_dirty *dirty, size_t at)
{
	while (at < dirty->count && !dirty->range[at].grouped)
		at++;
	return at;
}

bool pvb_group_open(const struct pvb_qp *qp)
{
	const struct pvb_dirty *dirty = &qp->commit->dirty;

	crn_lock_assert_held(&qp->tx_lock);
	return pvb_group_next(dirty, 0) < dirty->count;
}

bool pvb_group_takes(const struct pvb_ep *ep, const struct pvb_op *op,
		     const struct pvb_plan *plan)
{
	const struct pvb_qp *qp = &ep->qp;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (!qp->control_qp || op->opcode != IBV_WR_RDMA_WRITE ||
	    (op->flags & FI_FENCE) || plan->end != PVB_END_COMPLETION ||
	    plan->no_overtake || pvb_plan_entries(plan) != 2)
		return false;
	if (!(op->flags & FI_MORE) && !pvb_group_open(qp))
		return false;
	/* With this one the group may need a flush more. */
	return qp->commit->dirty.count < PVB_DIRTY_APART &&
	       qp->sq.depth >= 4 * PVB_GROUP_RESERVE;
}

/*
 * Entries for the end of the group are kept, whoever else posts: nothing of the group is
 * reported before, so the queue would never have room again. A queue pair that is in
 * error meanwhile stays closed.
 */
static void pvb_group_reserve(struct pvb_qp *qp, bool on)
{
	uint32_t size = on ? qp->sq.depth : qp->sq.depth - PVB_GROUP_RESERVE;

	atomic_compare_exchange_strong(&qp->sq.ring.size, &size,
				       on ? qp->sq.depth - PVB_GROUP_RESERVE
					  : qp->sq.depth);
}

/* Does a flush of range serve that one too? A read waits for everything before it, and
 * pushes what went to its region. */
static bool pvb_group_served(const struct pvb_dirty_range *range,
			     const struct pvb_dirty_range *other,
			     const struct pvb_plan *plan)
{
	return other->rkey == range->rkey &&
	       (pvb_plan_has(plan, PVB_ACT_READ) || other->from == range->from);
}

/* One flush, and all that it serves is done; *last: nothing is left. */
static int pvb_group_flush(struct pvb_ep *ep, bool *last)
{
	struct pvb_dirty *dirty = &ep->qp.commit->dirty;
	const struct pvb_dirty_range range = dirty->range[pvb_group_next(dirty, 0)];
	struct pvb_plan plan;
	size_t i;
	int ret;

	ret = pvb_upgrade_plan(ep, &range, &plan);
	if (ret)
		return ret;
	*last = true;
	for (i = 0; i < dirty->count; i++)
		*last &= !dirty->range[i].grouped ||
			 pvb_group_served(&range, &dirty->range[i], &plan);
	ret = pvb_upgrade_range(ep, &range, &plan, *last ? PVB_SLOT_GROUP_END : 0);
	if (ret)
		return ret;
	for (i = 0; i < dirty->count;) {
		if (dirty->range[i].grouped &&
		    pvb_group_served(&range, &dirty->range[i], &plan))
			pvb_dirty_remove(dirty, i);
		else
			i++;
	}
	return 0;
}

/* What it wrote is dirty as other writes are. */
static void pvb_group_abandon(struct pvb_qp *qp, int err)
{
	struct pvb_dirty *dirty = &qp->commit->dirty;
	size_t i;

	for (i = 0; i < dirty->count; i++)
		dirty->range[i].grouped = false;
	pvb_defer_abandon(qp, err);
}

int pvb_group_close(struct pvb_ep *ep)
{
	struct pvb_commit *commit = ep->qp.commit;
	bool last = false;
	int ret = 0;

	crn_lock_assert_held(&ep->qp.tx_lock);
	/* Its own flushes found no room: xfer/tx.c asks for it then. */
	if (commit->closing)
		return -FI_EAGAIN;
	commit->closing = true;
	pvb_group_reserve(&ep->qp, false);
	while (!last && !ret)
		ret = pvb_group_flush(ep, &last);
	commit->closing = false;
	/* Otherwise the refused caller retries, which posts the end again. */
	if (ret && ret != -FI_EAGAIN)
		pvb_group_abandon(&ep->qp, -ret);
	return ret;
}

ssize_t pvb_group_join(struct pvb_ep *ep, struct pvb_op *op, const struct pvb_plan *plan,
		       const struct pvb_dirty_range *range)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_dirty_range own = *range;
	struct pvb_batch batch;
	int ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	own.grouped = true;
	/* A group that fills the queue ends here: nothing of it would complete. */
	if (crn_ring_space(&qp->sq.ring) <= (pvb_group_open(qp) ? 0 : PVB_GROUP_RESERVE))
		return pvb_tx_refuse(ep);
	ret = pvb_dirty_reserve(&qp->commit->dirty);
	if (ret)
		return ret;
	/* Whatever completes from now on is looked at by defer.c. */
	atomic_fetch_add(&qp->commit->defer.grouped, 1);
	pvb_batch_init(&batch, ep, op);
	pvb_batch_last(&batch, PVB_SLOT_GROUP | (op->no_comp ? PVB_SLOT_NO_COMP : 0));
	batch.silent = true;
	ret = pvb_batch_finish(&batch, pvb_batch_data(&batch, op, false));
	if (ret)
		atomic_fetch_sub(&qp->commit->defer.grouped, 1);
	if (ret < 0)
		return ret;
	if (!pvb_group_open(qp))
		pvb_group_reserve(qp, true);
	pvb_dirty_add(&qp->commit->dirty, own);
	qp->commit->counts[pvb_plan_count(plan)]++;
	/* No later call would retry it. */
	if (!(op->flags & FI_MORE) && pvb_group_close(ep) == -FI_EAGAIN)
		pvb_group_abandon(qp, FI_EIO);
	return 0;
}
