/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frequent cases cost little: a durable write to the region of the one before; the same
 * without a completion; and behind either a fenced word. Their plans are the same again,
 * because they depend on constants of the connection.
 */
#include "device/device.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "xfer/xfer.h"
#include "initiator.h"
#include "batch.h"
#include "internal.h"

/* What a word and its FLUSH leave outstanding. */
#define PVB_PLAN_CACHE_PENDING (PVB_PENDING_FLUSH | PVB_PENDING_ATOMIC)

/* W alone, or with one entry behind it. */
static void pvb_plan_cache_learn_write(struct pvb_plan_cache *cache,
				       const struct pvb_op *op,
				       const struct pvb_plan_query *query,
				       const struct pvb_plan *plan)
{
	const unsigned int kind = (unsigned int)__builtin_ctz(plan->pending | 1u << 31);

	if (plan->end != PVB_END_COMPLETION || plan->no_overtake || plan->after ||
	    plan->act[0] != PVB_ACT_DATA || (plan->act[1] && plan->act[2]) ||
	    plan->pending != 1u << kind)
		return;
	*cache = (struct pvb_plan_cache){
		.key = op->key,
		.key_attr = query->target,
		.attr_bits = pvb_op_attr_bits(op),
		.then = plan->act[1],
		.kind = (uint8_t)kind,
		.count = (uint8_t)pvb_plan_count(plan),
	};
}

/* AW and FLUSH, which stay the right plan when less is outstanding. */
static void pvb_plan_cache_learn_word(struct pvb_plan_cache *cache,
				      const struct pvb_plan_query *query,
				      const struct pvb_plan *plan)
{
	if (cache->then != PVB_ACT_FLUSH || plan->end != PVB_END_COMPLETION ||
	    plan->act[0] != PVB_ACT_ATOMIC_WRITE || plan->act[1] != PVB_ACT_FLUSH ||
	    plan->act[2] || plan->pending != PVB_PLAN_CACHE_PENDING)
		return;
	if (!(cache->behind & ~query->before))
		cache->behind = (uint8_t)query->before;
}

void pvb_plan_cache_learn(struct pvb_qp *qp, const struct pvb_op *op,
			  const struct pvb_plan_query *query, const struct pvb_plan *plan)
{
	struct pvb_plan_cache *cache = &qp->commit->plan_cache;

	crn_lock_assert_held(&qp->tx_lock);
	if (op->opcode != IBV_WR_RDMA_WRITE || !op->len)
		return;
	if (!(op->flags & FI_FENCE))
		pvb_plan_cache_learn_write(cache, op, query, plan);
	else if (op->key == cache->key)
		pvb_plan_cache_learn_word(cache, query, plan);
}

/* A write with a completion: nothing before it affects its plan. */
static bool pvb_plan_cache_reported(struct pvb_qp *qp)
{
	const struct pvb_commit *commit = qp->commit;

	return !commit->dirty.count && !(commit->kinds & PVB_PENDING_UNKNOWN) &&
	       commit->attr_bits == commit->plan_cache.attr_bits &&
	       crn_ring_space(&qp->sq.ring) >= 2;
}

/* A word: before it are writes to its region, at most one of them to be flushed. */
static bool pvb_plan_cache_word(struct pvb_qp *qp, const struct pvb_op *op)
{
	const struct pvb_commit *commit = qp->commit;
	const struct pvb_plan_cache *cache = &commit->plan_cache;
	const struct pvb_dirty *dirty = &commit->dirty;

	if (op->len != sizeof(uint64_t) || op->addr % sizeof(uint64_t) ||
	    op->num_sge != 1 || !(cache->behind & PVB_PENDING_FLUSH))
		return false;
	if (dirty->count > 1 ||
	    (dirty->count &&
	     (dirty->range->rkey != (uint32_t)op->key || dirty->range->grouped ||
	      dirty->range->attr_bits != cache->attr_bits)))
		return false;
	return !(pvb_commit_pending(qp, cache->attr_bits) & ~cache->behind) &&
	       commit->hazard_count < PVB_COMMIT_HAZARDS &&
	       crn_ring_space(&qp->sq.ring) >= 3 && !pvb_fence_reads(qp);
}

enum pvb_plan_cache_hit pvb_plan_cache_hit(struct pvb_ep *ep, const struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	const struct pvb_commit *commit = qp->commit;
	const bool no_comp = op->no_comp || op->inject;

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (!commit || !op->key || op->key != commit->plan_cache.key ||
	    op->opcode != IBV_WR_RDMA_WRITE || !op->len ||
	    atomic_load(&commit->defer.failed))
		return PVB_PLAN_CACHE_MISS;
	/* An operation without a completion moves no position: this call drops positions
	 * of retired operations, which would look newer once the numbers have wrapped. */
	if ((commit->hazard_count || (no_comp && commit->kinds)) &&
	    pvb_commit_overtakes(ep, op))
		return PVB_PLAN_CACHE_MISS;
	if (no_comp && pvb_commit_no_comp(ep, op))
		return pvb_group_open(qp) ? PVB_PLAN_CACHE_MISS : PVB_PLAN_CACHE_NO_COMP;
	if (no_comp || (op->flags & FI_MORE))
		return PVB_PLAN_CACHE_MISS;
	if (op->flags & FI_FENCE)
		return pvb_plan_cache_word(qp, op) ? PVB_PLAN_CACHE_WORD
						   : PVB_PLAN_CACHE_MISS;
	return pvb_plan_cache_reported(qp) ? PVB_PLAN_CACHE_WRITE : PVB_PLAN_CACHE_MISS;
}

static struct pvb_slot *pvb_plan_cache_slot(struct pvb_qp *qp, uint32_t ahead,
					    const struct pvb_op *op, unsigned int state)
{
	struct pvb_slot *slot = pvb_wq_slot(&qp->sq, ahead);

	slot->context = op->context;
	slot->flags = op->comp_flags;
	slot->state = (uint16_t)state;
	return slot;
}

/* The FLUSH that an operation ends with. */
static void pvb_plan_cache_end(struct pvb_qp *qp, uint32_t ahead, const struct pvb_op *op,
			       unsigned int state)
{
	struct ibv_qp_ex *ex = qp->ibv_ex;

	ex->wr_id = (uintptr_t)pvb_plan_cache_slot(qp, ahead, op, PVB_SLOT_TAIL | state);
	ex->wr_flags = IBV_SEND_SIGNALED;
	pvb_native_flush(ex, (uint32_t)op->key, op->addr, op->len);
}

/* A write and its FLUSH need nothing of a batch: the device takes both or none. */
static bool pvb_plan_cache_native(const struct pvb_ep *ep, const struct pvb_op *op)
{
	return ep->qp.commit->plan_cache.then == PVB_ACT_FLUSH && op->num_sge == 1 &&
	       op->sge->lkey && !(op->flags & FI_INJECT) && !ep->qp.chained &&
	       !pvb_op_fenced(ep, op);
}

static int pvb_plan_cache_flush(struct pvb_qp *qp, const struct pvb_op *op)
{
	const uint32_t rkey = (uint32_t)op->key;
	struct ibv_qp_ex *ex = qp->ibv_ex;
	int err;

	ibv_wr_start(ex);
	ex->wr_id = (uintptr_t)pvb_plan_cache_slot(qp, 0, op, PVB_SLOT_HEAD);
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, rkey, op->addr);
	ibv_wr_set_sge(ex, op->sge->lkey, op->sge->addr, op->sge->length);
	pvb_plan_cache_end(qp, 1, op, 0);
	err = ibv_wr_complete(ex);
	if (err)
		return (int)pvb_post_error(err);
	qp->sq.ring.head += 2;
	qp->unsignaled = 0;
	return 0;
}

static int pvb_plan_cache_batch(struct pvb_ep *ep, struct pvb_op *op)
{
	const struct pvb_plan_cache *cache = &ep->qp.commit->plan_cache;
	const uint64_t to = op->addr + op->len;
	struct pvb_batch batch;
	int ret;

	pvb_batch_init(&batch, ep, op);
	if (!cache->then)
		pvb_batch_last(&batch, 0);
	ret = pvb_batch_data(&batch, op, false);
	if (!ret && cache->then) {
		pvb_batch_last(&batch, 0);
		ret = cache->then == PVB_ACT_FLUSH
			      ? pvb_batch_flush(&batch, (uint32_t)op->key, op->addr, to)
			      : pvb_batch_read(&batch, (uint32_t)op->key, op->addr, to);
	}
	return pvb_batch_finish(&batch, ret);
}

ssize_t pvb_plan_cache_write(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_commit *commit = qp->commit;
	const struct pvb_plan_cache *cache = &commit->plan_cache;
	int ret = pvb_plan_cache_native(ep, op) ? pvb_plan_cache_flush(qp, op)
						: pvb_plan_cache_batch(ep, op);

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (ret < 0)
		return ret;
	commit->counts[cache->count]++;
	commit->newest = commit->end[cache->kind] = qp->sq.ring.head;
	commit->kinds |= 1u << cache->kind;
	return 0;
}

/* The same for a word, the FLUSH of what is before it, and its own. 0 or an errno. */
static int pvb_plan_cache_native_word(struct pvb_ep *ep, const struct pvb_op *op,
				      const struct pvb_dirty *dirty)
{
	struct pvb_qp *qp = &ep->qp;
	const uint32_t rkey = (uint32_t)op->key;
	struct ibv_qp_ex *ex = qp->ibv_ex;
	unsigned int tail = 0;
	uint32_t at = 0;
	int err;

	err = pvb_native_begin(ep);
	if (err)
		return err;
	ex->wr_flags = 0;
	if (dirty->count) {
		ex->wr_id =
			(uintptr_t)pvb_plan_cache_slot(qp, at++, op,
						       PVB_SLOT_HEAD | PVB_SLOT_FENCED);
		pvb_native_flush(ex, rkey, dirty->range->from,
				 dirty->range->to - dirty->range->from);
		tail = PVB_SLOT_TAIL;
	}
	ex->wr_id =
		(uintptr_t)pvb_plan_cache_slot(qp, at++, op,
					       PVB_SLOT_HEAD | PVB_SLOT_FENCED | tail);
	pvb_native_write(ex, rkey, op->addr, (const void *)(uintptr_t)op->sge->addr);
	pvb_plan_cache_end(qp, at++, op, PVB_SLOT_FENCED);
	err = pvb_native_end(ep);
	if (!err)
		qp->sq.ring.head += at;
	return err;
}

ssize_t pvb_plan_cache_fenced(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_qp *qp = &ep->qp;
	struct pvb_commit *commit = qp->commit;
	const int err = pvb_plan_cache_native_word(ep, op, &commit->dirty);

	crn_lock_assert_held(&ep->qp.tx_lock);
	if (err)
		return pvb_post_error(err);
	qp->unsignaled = 0;
	commit->counts[PVB_COMMIT_FLUSH]++;
	commit->counts[PVB_COMMIT_UPGRADES] += commit->dirty.count;
	commit->dirty.count = 0;
	pvb_commit_note(qp, PVB_PLAN_CACHE_PENDING, commit->plan_cache.attr_bits);
	pvb_commit_add_hazard(qp, op);
	return 0;
}
