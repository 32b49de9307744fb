/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "persist/control/control.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "qp/qp.h"
#include "wire/wire.h"
#include "xfer/xfer.h"
#include "initiator.h"
#include "batch.h"
#include "internal.h"

int pvb_commit_open(struct pvb_qp *qp)
{
	if (qp->commit)
		return 0;
	/*
	 * A queue pair with a pvb_commit has its slots: code that counts slots relies
	 * on that.
	 */
	if (pvb_wq_make(&qp->sq))
		return -FI_ENOMEM;
	qp->commit = calloc(1, sizeof(*qp->commit));
	if (!qp->commit)
		return -FI_ENOMEM;
	qp->commit->defer.qp = qp;
	if (qp->tracked)
		return 0;
	/* Operations posted until now were not tracked. */
	if (qp->sq.ring.head != (uint32_t)qp->keepalives)
		qp->commit->never = -FI_EOPNOTSUPP;
	qp->tracked = 1;
	return 0;
}

void pvb_commit_close(struct pvb_qp *qp)
{
	if (qp->commit)
		pvb_dirty_fini(&qp->commit->dirty);
	free(qp->commit);
	qp->commit = NULL;
	qp->tracked = 0;
}

/* The bytes of a small operation, in one piece. */
static void pvb_op_gather(const struct pvb_op *op, uint8_t *to)
{
	int i;

	for (i = 0; i < op->num_sge; i++) {
		if (op->sge[i].length) /* an empty piece may have no address */
			memcpy(to, (const void *)(uintptr_t)op->sge[i].addr,
			       op->sge[i].length);
		to += op->sge[i].length;
	}
}

static int pvb_commit_entry(struct pvb_batch *batch, const struct pvb_op *op)
{
	struct pvb_qp *qp = &batch->ep->qp;
	struct pvb_wire_entry entry = {
		.message = qp->commit->messages + 1,
		.number = qp->control_qp->requests[PVB_REQUEST_ENTRY].posted,
	};

	if (!pvb_op_sends(op))
		entry.range =
			(struct pvb_wire_range){op->addr, op->len, (uint32_t)op->key};
	return pvb_batch_entry(batch, &entry);
}

/* One act on the send queue. */
static int pvb_commit_act(struct pvb_batch *batch, struct pvb_op *op, enum pvb_act act)
{
	const uint32_t rkey = (uint32_t)op->key;
	const uint64_t to = op->addr + op->len;
	struct pvb_control_qp *cqp = batch->ep->qp.control_qp;
	uint8_t value[sizeof(uint64_t)];

	switch (act) {
	case PVB_ACT_DATA:
	case PVB_ACT_DATA_FENCED:
		return pvb_batch_data(batch, op, act == PVB_ACT_DATA_FENCED);
	case PVB_ACT_ATOMIC_WRITE:
		pvb_op_gather(op, value);
		return pvb_batch_atomic_write(batch, rkey, op->addr, value);
	case PVB_ACT_SLOT:
		return pvb_commit_entry(batch, op);
	case PVB_ACT_READ:
		/* Of a message, any byte of the region that it goes to. */
		if (pvb_op_sends(op))
			return pvb_batch_read(batch, (uint32_t)cqp->replay.key,
					      cqp->replay.addr, cqp->replay.addr + 1);
		return pvb_batch_read(batch, rkey, op->addr, to);
	case PVB_ACT_FLUSH:
		return pvb_batch_flush(batch, rkey, op->addr, to);
	case PVB_ACT_SEQ:
		return pvb_batch_seq(batch);
	default:
		return -FI_EINVAL;
	}
}

static bool pvb_act_posts(uint8_t act)
{
	return act != PVB_ACT_MESSAGE && act != PVB_ACT_MESSAGE_DATA &&
	       act != PVB_ACT_WAIT;
}

/* The request that goes with the plan. */
static void pvb_commit_request(const struct pvb_plan *plan, const struct pvb_op *op,
			       uint8_t *bytes, struct pvb_wire_message *message)
{
	const struct pvb_wire_range range = {op->addr, op->len, (uint32_t)op->key};

	*message = (struct pvb_wire_message){0};
	if (!pvb_plan_has(plan, PVB_ACT_MESSAGE_DATA)) {
		message->ranges = 1;
		message->range[0] = range;
		return;
	}
	pvb_op_gather(op, bytes);
	message->to = range;
	message->copy = (uint16_t)op->len;
	message->bytes = bytes;
}

/* What of the send queue a plan ends with. */
static unsigned int pvb_plan_end_state(const struct pvb_plan *plan)
{
	if (plan->end != PVB_END_ANSWER)
		return 0;
	return pvb_plan_needs_request(plan) ? PVB_SLOT_REQUEST : PVB_SLOT_ENTRY;
}

static int pvb_commit_acts(struct pvb_batch *batch, struct pvb_op *op,
			   const struct pvb_plan *plan)
{
	const unsigned int no_comp = op->no_comp ? PVB_SLOT_NO_COMP : 0;
	uint32_t left = pvb_plan_entries(plan);
	int i, ret = op->fenced ? pvb_upgrade_ahead(batch) : 0;

	if (!left && !ret) {
		/* A plan of a request alone has an entry of the send queue too, so that
		 * it completes in order: the update of the sequence word, behind
		 * earlier operations. */
		pvb_batch_last(batch, pvb_plan_end_state(plan) | no_comp);
		return pvb_commit_act(batch, op, PVB_ACT_SEQ);
	}
	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i] && !ret; i++) {
		if (!pvb_act_posts(plan->act[i]))
			continue;
		if (--left == 0)
			pvb_batch_last(batch, pvb_plan_end_state(plan) | no_comp);
		ret = pvb_commit_act(batch, op, plan->act[i]);
	}
	return ret;
}

void pvb_commit_add_hazard(struct pvb_qp *qp, const struct pvb_op *op)
{
	struct pvb_commit *commit = qp->commit;

	crn_lock_assert_held(&qp->tx_lock);
	commit->hazards[commit->hazard_count++] = (struct pvb_hazard){
		.from = op->addr,
		.to = op->addr + op->len,
		.end = qp->sq.ring.head,
	};
}

/* What the operation leaves behind once it is posted; sent: its data, not only what goes
 * ahead of it. */
static void pvb_commit_noted(struct pvb_qp *qp, const struct pvb_op *op,
			     const struct pvb_plan *plan, bool sent)
{
	struct pvb_commit *commit = qp->commit;

	commit->counts[pvb_plan_count(plan)]++;
	if (sent && pvb_op_announces(op))
		commit->messages++;
	if (pvb_op_reads(op))
		qp->reads_end = qp->sq.ring.head;
	if (op->fenced)
		pvb_upgrade_noted(qp);
	pvb_commit_note(qp, pvb_plan_pending(plan), pvb_op_attr_bits(op));
	if (plan->no_overtake)
		pvb_commit_add_hazard(qp, op);
}

/*
 * A fenced operation was posted: it also makes durable what pvb_commit_upgrade left to
 * it.
 */
static void pvb_commit_fenced(struct pvb_qp *qp, const struct pvb_op *op)
{
	if (!op->fenced)
		return;
	qp->commit->dirty.count = 0;
	qp->commit->requested = false;
}

/*
 * The peer's ring has an entry for the next message, which the device refused: another
 * one that says nothing takes its place before a message that has none. 0 or a negative
 * code.
 */
static int pvb_commit_unhalf(struct pvb_ep *ep)
{
	static const struct pvb_op nobody = {.inject = true};
	struct pvb_qp *qp = &ep->qp;
	struct pvb_wire_entry nothing = {.message = qp->commit->messages};
	struct pvb_batch batch;
	int ret;

	/* Without a control queue pair there are no entries. */
	if (!qp->commit->half)
		return 0;
	nothing.number =
		atomic_load(&qp->control_qp->requests[PVB_REQUEST_ENTRY].posted) + 1;
	if (!crn_ring_space(&qp->sq.ring))
		return (int)pvb_tx_refuse(ep);
	pvb_batch_init(&batch, ep, &nobody);
	pvb_batch_last(&batch, 0);
	ret = pvb_batch_finish(&batch, pvb_batch_entry(&batch, &nothing));
	qp->commit->half = ret;
	return ret > 0 ? -FI_EIO : ret;
}

/* Posts a plan that needs no request, or an entry of the message ring. */
static ssize_t pvb_commit_post(struct pvb_ep *ep, struct pvb_op *op,
			       const struct pvb_plan *plan)
{
	const bool entry = plan->end == PVB_END_ANSWER;
	struct pvb_qp *qp = &ep->qp;
	struct pvb_batch batch;
	int ret;

	if (entry)
		pvb_control_request_next(qp->control_qp, PVB_REQUEST_ENTRY);
	pvb_batch_init(&batch, ep, op);
	ret = pvb_batch_finish(&batch, pvb_commit_acts(&batch, op, plan));
	if (ret && entry)
		pvb_control_request_cancel(qp->control_qp, PVB_REQUEST_ENTRY);
	if (ret < 0)
		return ret;
	if (entry)
		qp->commit->half = ret;
	pvb_commit_noted(qp, op, plan, batch.started > batch.data_at);
	if (!ret)
		pvb_commit_fenced(qp, op);
	return 0;
}

/* Posts a plan with a request, which is sent at once or after what it has to wait for. */
static ssize_t pvb_commit_post_request(struct pvb_ep *ep, struct pvb_op *op,
				       const struct pvb_plan *plan, bool fenced)
{
	const bool later = pvb_plan_has(plan, PVB_ACT_WAIT);
	struct pvb_qp *qp = &ep->qp;
	struct pvb_wire_message message;
	uint8_t bytes[PVB_WIRE_INLINE];
	struct pvb_batch batch;
	int ret;

	pvb_commit_request(plan, op, bytes, &message);
	pvb_control_request_begin(qp->control_qp, &message);
	if (fenced)
		message.fence =
			atomic_load(&qp->commit->defer.ended[PVB_REQUEST_CONTROL]);
	if (later && !pvb_control_qp_later(qp->control_qp, &message)) {
		pvb_control_request_cancel(qp->control_qp, PVB_REQUEST_CONTROL);
		return -FI_ENOMEM;
	}
	pvb_batch_init(&batch, ep, op);
	ret = pvb_batch_finish(&batch, pvb_commit_acts(&batch, op, plan));
	if (ret) {
		if (later)
			pvb_control_qp_cancel(qp->control_qp, message.number);
		pvb_control_request_cancel(qp->control_qp, PVB_REQUEST_CONTROL);
		return ret < 0 ? ret : 0;
	}
	pvb_commit_noted(qp, op, plan, true);
	pvb_commit_fenced(qp, op);
	if (!later)
		pvb_control_request_send(qp->control_qp, &message);
	return 0;
}

/* Is there room for len bytes now? 0 or -FI_EAGAIN; or why there never will be. */
static ssize_t pvb_commit_room(struct pvb_ep *ep, const struct pvb_plan *plan, size_t len,
			       uint32_t ahead)
{
	struct pvb_qp *qp = &ep->qp;
	const enum pvb_request_kind kind =
		pvb_plan_needs_request(plan) ? PVB_REQUEST_CONTROL : PVB_REQUEST_ENTRY;

	if (crn_ring_space(&qp->sq.ring) < ahead + CRN_MAX(pvb_plan_entries(plan), 1u))
		return pvb_tx_refuse(ep);
	if (plan->no_overtake && qp->commit->hazard_count == PVB_COMMIT_HAZARDS)
		return -FI_EAGAIN;
	if (plan->end != PVB_END_ANSWER)
		return 0;
	/* The target refuses longer requests. */
	if (len > PVB_FLUSH_LIMIT)
		return -FI_EMSGSIZE;
	if (atomic_load(&qp->control_qp->lost))
		return -FI_ECONNABORTED;
	return pvb_control_request_allowed(qp, kind);
}

/* Nothing to be flushed: a barrier, if it is fenced. */
static const struct pvb_plan pvb_plan_empty = {
	.act = {PVB_ACT_DATA},
	.end = PVB_END_COMPLETION,
};

static int pvb_commit_plan(struct pvb_ep *ep, const struct pvb_op *op,
			   const struct pvb_key_attr *attr, struct pvb_plan *plan)
{
	/* A write of nothing has no flush that serves others, whatever it goes to. */
	const uint32_t attr_bits = op->len ? pvb_op_attr_bits(op) : 0;
	struct pvb_plan_query query;
	bool waits;
	int ret = 0;

	pvb_commit_query(ep, attr, &query);
	query.op = pvb_plan_op_of(op);
	query.addr = op->addr;
	query.len = op->len;
	query.rq_pm = pvb_op_sends(op) && pvb_commit_replays(&ep->qp);
	if (op->flags & FI_FENCE)
		ret = pvb_sends_upgrade(ep, attr_bits);
	if (!ret && (op->flags & FI_FENCE))
		ret = pvb_commit_upgrade(ep, &query, attr_bits, true, &query.before);
	if (ret)
		return ret;
	if (!op->len && op->opcode == IBV_WR_RDMA_WRITE) {
		*plan = pvb_plan_empty;
		return 0;
	}
	ret = pvb_plan(&query, plan);
	if (ret)
		return ret;
	pvb_plan_cache_learn(&ep->qp, op, &query, plan);
	/* Also where the device's own fences are not to be used: xfer/fence.c. */
	waits = plan->after ||
		(ep->fence_waits && pvb_plan_has(plan, PVB_ACT_DATA_FENCED));
	if (!waits || !query.before)
		return 0;
	/* Upgrades are not part of its batch: it waits for them. */
	ret = pvb_commit_upgrade(ep, &query, attr_bits, false, &query.before);
	return ret ? ret : -FI_EAGAIN;
}

bool pvb_commit_no_comp(const struct pvb_ep *ep, const struct pvb_op *op)
{
	crn_lock_assert_held(&ep->qp.tx_lock);
	return (op->no_comp || op->inject) && !ep->qp.sq.counted &&
	       !(op->flags & FI_FENCE) && !pvb_op_announces(op);
}

static struct pvb_dirty_range pvb_op_range(const struct pvb_op *op,
					   const struct pvb_key_attr *attr, bool owed)
{
	return (struct pvb_dirty_range){
		.from = op->addr,
		.to = op->addr + op->len,
		.rkey = (uint32_t)op->key,
		.attr_bits = pvb_op_attr_bits(op),
		.key_attr = *attr,
		.owed = owed,
	};
}

static ssize_t pvb_commit_post_no_comp(struct pvb_ep *ep, struct pvb_op *op,
				       const struct pvb_key_attr *attr)
{
	struct pvb_commit *commit = ep->qp.commit;
	ssize_t ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	ret = pvb_dirty_reserve(&commit->dirty);
	if (!ret)
		ret = pvb_tx_locked(ep, op);
	if (ret)
		return ret;
	pvb_dirty_add(&commit->dirty, pvb_op_range(op, attr, true));
	commit->counts[PVB_COMMIT_LATER]++;
	return 0;
}

static ssize_t pvb_commit_locked(struct pvb_ep *ep, struct pvb_op *op,
				 const struct pvb_key_attr *attr)
{
	struct pvb_dirty_range range;
	bool fenced, no_comp;
	struct pvb_plan plan;
	ssize_t ret;

	crn_lock_assert_held(&ep->qp.tx_lock);
	/* A fenced operation flushes what the group would have: the group ends. */
	ret = (op->flags & FI_FENCE) && pvb_group_open(&ep->qp) ? pvb_group_close(ep) : 0;
	if (!ret)
		ret = pvb_commit_plan(ep, op, attr, &plan);
	if (!ret)
		ret = pvb_commit_room(ep, &plan, op->len,
				      op->flags & FI_FENCE ? pvb_upgrade_count(&ep->qp)
							   : 0);
	if (!ret && pvb_op_announces(op) && !pvb_plan_has(&plan, PVB_ACT_SLOT))
		ret = pvb_commit_unhalf(ep);
	if (ret)
		return ret;
	no_comp = pvb_commit_no_comp(ep, op);
	if (!no_comp && pvb_group_takes(ep, op, &plan)) {
		range = pvb_op_range(op, attr, false);
		return pvb_group_join(ep, op, &plan, &range);
	}
	/* A group ends before what is not of it. */
	if (pvb_group_open(&ep->qp) && !(op->flags & FI_MORE))
		ret = pvb_group_close(ep);
	if (ret)
		return ret;
	if (no_comp)
		return pvb_commit_post_no_comp(ep, op, attr);
	fenced = op->flags & FI_FENCE;
	op->fenced = fenced;
	/* The plan keeps the order, except for reads, which it does not know. */
	if (!pvb_fence_reads(&ep->qp))
		op->flags &= ~(uint64_t)FI_FENCE;
	return pvb_plan_needs_request(&plan)
		       ? pvb_commit_post_request(ep, op, &plan, fenced)
		       : pvb_commit_post(ep, op, &plan);
}

/* Makes a plan, and posts it. */
static ssize_t pvb_commit_any(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_key_attr attr;
	ssize_t ret;

	ret = atomic_load(&qp->sq.ring.size) ? 0 : pvb_tx_first(ep);
	if (!ret)
		ret = pvb_commit_key_attr(qp, op, &attr);
	if (!ret)
		ret = pvb_commit_open(qp);
	/* What a fenced one had to see to did not become durable. */
	if (!ret && atomic_load(&qp->commit->defer.failed))
		ret = -FI_ECONNABORTED;
	if (!ret && (op->flags & FI_FENCE) && pvb_sends_failed(qp))
		return pvb_sends_fail(qp, op);
	if (!ret && pvb_commit_overtakes(ep, op))
		ret = -FI_EAGAIN;
	return ret ? ret : pvb_commit_locked(ep, op, &attr);
}

ssize_t pvb_tx_committed(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	ssize_t ret;

	op->fenced = false;
	crn_lock(&qp->tx_lock);
	switch (pvb_plan_cache_hit(ep, op)) {
	case PVB_PLAN_CACHE_WRITE:
		ret = pvb_plan_cache_write(ep, op);
		break;
	case PVB_PLAN_CACHE_NO_COMP:
		ret = pvb_commit_post_no_comp(ep, op, &qp->commit->plan_cache.key_attr);
		break;
	case PVB_PLAN_CACHE_WORD:
		ret = pvb_plan_cache_fenced(ep, op);
		break;
	default:
		ret = pvb_commit_any(ep, op);
		break;
	}
	if (ret)
		pvb_tx_end_more(ep);
	crn_unlock(&qp->tx_lock);
	if (ret == -FI_EAGAIN && qp->control_qp)
		pvb_control_progress(qp->control_qp->control);
	return ret;
}

/* Operations without the flag. */

static bool pvb_op_writes_to(const struct pvb_op *op)
{
	return !pvb_op_sends(op) && op->opcode != IBV_WR_RDMA_READ;
}

/* What a fenced one has to wait for; the device waits for reads and atomics. */
static ssize_t pvb_tracked_fence(struct pvb_ep *ep)
{
	const unsigned int waits =
		PVB_PENDING_MESSAGE | PVB_PENDING_FLUSH | PVB_PENDING_UNKNOWN;
	struct pvb_qp *qp = &ep->qp;
	struct pvb_plan_query query;
	unsigned int before;
	int ret = 0;

	if (pvb_dirty_owed(&qp->commit->dirty)) {
		pvb_commit_query(ep, &pvb_key_attr_message, &query);
		ret = pvb_commit_upgrade(ep, &query, 0, false, &before);
	}
	if (!ret && (pvb_commit_pending(qp, qp->commit->attr_bits) & waits))
		ret = -FI_EAGAIN;
	return ret;
}

static ssize_t pvb_tracked_locked(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_commit *commit = ep->qp.commit;
	struct pvb_key_attr attr;
	ssize_t ret = 0;
	bool dirties;
	int known;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (pvb_commit_overtakes(ep, op))
		return -FI_EAGAIN;
	/* Ends the group: what a fence waits for must not depend on later calls. */
	if (pvb_group_open(&ep->qp) && (!(op->flags & FI_MORE) || (op->flags & FI_FENCE)))
		ret = pvb_group_close(ep);
	if (!ret && (op->flags & FI_FENCE))
		ret = pvb_tracked_fence(ep);
	/* Only durable operations fail on damaged attributes. */
	known = pvb_op_writes_to(op) ? pvb_key_parse(op->key, &attr) : 0;
	dirties = pvb_op_writes_to(op) && !known;
	if (!ret && dirties)
		ret = pvb_dirty_reserve(&commit->dirty);
	if (!ret && pvb_op_announces(op))
		ret = pvb_commit_unhalf(ep);
	if (ret)
		return ret;
	ret = op->flags & FI_DELIVERY_COMPLETE ? pvb_tx_delivered(ep, op)
					       : pvb_tx_locked(ep, op);
	if (ret)
		return ret;
	/* A failed call leaves nothing dirty. */
	if (dirties)
		pvb_dirty_add(&commit->dirty, pvb_op_range(op, &attr, false));
	if (pvb_op_announces(op))
		commit->messages++;
	pvb_sends_note(&ep->qp, op, known);
	return 0;
}

ssize_t pvb_tx_tracked(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	ssize_t ret;

	crn_lock(&qp->tx_lock);
	ret = pvb_commit_open(qp);
	if (!ret)
		ret = pvb_tracked_locked(ep, op);
	if (ret)
		pvb_tx_end_more(ep);
	crn_unlock(&qp->tx_lock);
	return ret;
}
