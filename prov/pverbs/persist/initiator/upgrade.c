/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Earlier writes that were not to be durable become it because an operation behind them
 * is fenced (fi_cq(3)): by a read or a FLUSH of their own, or by a request.
 */
#include "persist/control/control.h"
#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "xfer/xfer.h"
#include "batch.h"
#include "internal.h"

/* How a range that was written becomes durable without writing it again. */
int pvb_upgrade_plan(struct pvb_ep *ep, const struct pvb_dirty_range *range,
		     struct pvb_plan *plan)
{
	struct pvb_plan_query query;

	crn_lock_assert_held(&ep->qp.tx_lock);
	pvb_commit_query(ep, &range->key_attr, &query);
	query.op = PVB_PLAN_UPGRADE;
	query.addr = range->from;
	query.len = range->to - range->from;
	return pvb_plan(&query, plan);
}

/* Where visible is durable, the flush of an operation behind it on such memory serves
 * both; where what arrived is durable, the operation itself does: requests arrive in the
 * order of posting. */
static bool pvb_upgrade_spared(const struct pvb_plan_query *query,
			       const struct pvb_dirty_range *range, uint32_t attr_bits)
{
	const enum crn_persistence domain = range->key_attr.domain;

	return (domain == CRN_WSP || (domain == CRN_MHP && !query->weak)) &&
	       range->attr_bits == attr_bits && !query->force_message;
}

/* What goes on the send queue: what flushes, or what the request needs. */
static int pvb_upgrade_entry(struct pvb_batch *batch, const struct pvb_dirty_range *range,
			     uint8_t act)
{
	switch (act) {
	case PVB_ACT_SEQ:
		return pvb_batch_seq(batch);
	case PVB_ACT_FLUSH:
		return pvb_batch_flush(batch, range->rkey, range->from, range->to);
	default:
		return pvb_batch_read(batch, range->rkey, range->from, range->to);
	}
}

/* The request will not be sent. */
static void pvb_upgrade_cancel(struct pvb_control_qp *cqp,
			       const struct pvb_wire_message *message)
{
	pvb_control_qp_cancel(cqp, message->number);
	pvb_control_request_cancel(cqp, PVB_REQUEST_CONTROL);
}

/* An internal operation: its failure ends the connection, with all that is posted behind
 * it. */
int pvb_upgrade_range(struct pvb_ep *ep, const struct pvb_dirty_range *range,
		      const struct pvb_plan *plan, unsigned int end_state)
{
	static const struct pvb_op nobody = {.inject = true};
	struct pvb_qp *qp = &ep->qp;
	struct pvb_wire_message message = {
		.ranges = 1,
		.range = {{range->from, range->to - range->from, range->rkey}},
	};
	const bool needs_request = pvb_plan_needs_request(plan);
	/* What is behind it has to wait, as for anything that nothing is ordered behind.
	 */
	const bool later = pvb_plan_has(plan, PVB_ACT_WAIT);
	struct pvb_batch batch;
	int ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (!crn_ring_space(&qp->sq.ring))
		return (int)pvb_tx_refuse(ep);
	if (needs_request && atomic_load(&qp->control_qp->lost))
		return -FI_ECONNABORTED;
	ret = needs_request ? pvb_control_request_allowed(qp, PVB_REQUEST_CONTROL) : 0;
	if (ret)
		return ret;
	if (needs_request)
		pvb_control_request_begin(qp->control_qp, &message);
	if (later && !pvb_control_qp_later(qp->control_qp, &message)) {
		pvb_control_request_cancel(qp->control_qp, PVB_REQUEST_CONTROL);
		return -FI_ENOMEM;
	}
	pvb_batch_init(&batch, ep, &nobody);
	pvb_batch_last(&batch, end_state | (needs_request ? PVB_SLOT_REQUEST : 0));
	ret = pvb_batch_finish(&batch, pvb_upgrade_entry(&batch, range, plan->act[0]));
	if (ret && needs_request)
		pvb_upgrade_cancel(qp->control_qp, &message);
	if (ret)
		return ret < 0 ? ret : -FI_EIO;
	if (needs_request && !later)
		pvb_control_request_send(qp->control_qp, &message);
	qp->commit->counts[PVB_COMMIT_UPGRADES]++;
	pvb_commit_note(qp, pvb_plan_pending(plan), range->attr_bits);
	return 0;
}

/* What of it is done: posted by itself, or nothing was to be done. */
static int pvb_upgrade_now(struct pvb_ep *ep, size_t at, const struct pvb_plan *plan)
{
	struct pvb_dirty *dirty = &ep->qp.commit->dirty;
	struct pvb_dirty_range part = dirty->range[at];
	int ret;

	if (pvb_plan_needs_request(plan))
		part.to = CRN_MIN(part.to, part.from + PVB_FLUSH_LIMIT);
	ret = plan->act[0] ? pvb_upgrade_range(ep, &part, plan, 0) : 0;
	if (!ret)
		pvb_dirty_cut(dirty, at, part.to);
	return ret;
}

static unsigned int pvb_upgrade_pending(uint8_t ahead)
{
	return ahead == PVB_ACT_FLUSH ? PVB_PENDING_FLUSH : PVB_PENDING_READ;
}

/* May one more go with the operation, with room for whatever plan that gets? Not if
 * others have to be posted by themselves meanwhile: pvb_commit_room looks again. */
static bool pvb_upgrade_joins(struct pvb_qp *qp, const struct pvb_plan *plan,
			      uint32_t entries)
{
	return plan->act[0] && !plan->act[1] && plan->end == PVB_END_COMPLETION &&
	       crn_ring_space(&qp->sq.ring) > entries + PVB_PLAN_ACTS;
}

/*
 * What was written before query's operation becomes durable ahead of it. What goes with
 * the operation or what that serves stays dirty until it is posted: pvb_commit_fenced.
 */
int pvb_commit_upgrade(struct pvb_ep *ep, const struct pvb_plan_query *query,
		       uint32_t attr_bits, bool join, unsigned int *before)
{
	struct pvb_dirty *dirty = &ep->qp.commit->dirty;
	struct pvb_dirty_range *range;
	struct pvb_plan plan;
	uint32_t entries = 0;
	size_t at = 0;
	int ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	*before = 0;
	while (at < dirty->count) {
		range = &dirty->range[at];
		range->ahead = PVB_ACT_END;
		if (pvb_upgrade_spared(query, range, attr_bits)) {
			*before |= PVB_PENDING_PLACED;
			at++;
			continue;
		}
		ret = pvb_upgrade_plan(ep, range, &plan);
		if (ret)
			return ret;
		if (join && pvb_upgrade_joins(&ep->qp, &plan, entries)) {
			range->ahead = plan.act[0];
			*before |= range->attr_bits == attr_bits
					   ? pvb_upgrade_pending(range->ahead)
					   : PVB_PENDING_UNKNOWN;
			entries++;
			at++;
			continue;
		}
		ret = pvb_upgrade_now(ep, at, &plan);
		if (ret)
			return ret;
	}
	*before |= pvb_commit_pending(&ep->qp, attr_bits);
	return 0;
}

uint32_t pvb_upgrade_count(const struct pvb_qp *qp)
{
	const struct pvb_dirty *dirty = &qp->commit->dirty;
	uint32_t count = 0;
	size_t i;

	crn_lock_assert_held(&qp->tx_lock);
	for (i = 0; i < dirty->count; i++)
		count += dirty->range[i].ahead != PVB_ACT_END;
	return count;
}

int pvb_upgrade_ahead(struct pvb_batch *batch)
{
	const struct pvb_dirty *dirty = &batch->ep->qp.commit->dirty;
	const struct pvb_dirty_range *range;
	int ret = 0;

	crn_lock_assert_held(&batch->ep->qp.tx_lock);
	for (range = dirty->range; range < dirty->range + dirty->count && !ret; range++) {
		if (range->ahead)
			ret = pvb_upgrade_entry(batch, range, range->ahead);
	}
	return ret;
}

void pvb_upgrade_noted(struct pvb_qp *qp)
{
	const struct pvb_dirty *dirty = &qp->commit->dirty;
	const struct pvb_dirty_range *range;

	crn_lock_assert_held(&qp->tx_lock);
	for (range = dirty->range; range < dirty->range + dirty->count; range++) {
		if (!range->ahead)
			continue;
		qp->commit->counts[PVB_COMMIT_UPGRADES]++;
		pvb_commit_note(qp, pvb_upgrade_pending(range->ahead), range->attr_bits);
	}
}
