/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual cases cost little: a durable write to the region of the one before; the same
 * without a completion; and behind either a fenced word. Their plans are the same again,
 * for they depend on what does not change while the connection stands.
 */
#include "device/device.h"
#include "persist/persist.h"
#include "persist/plan/plan.h"
#include "xfer/xfer.h"
#include "batch.h"
#include "internal.h"

/* What a word and its FLUSH leave under way. */
#define PVB_USUAL_LEAVES (PVB_BEFORE_FLUSH | PVB_BEFORE_ATOMIC)

/* W alone, or with one entry behind it. */
static void pvb_usual_learn_write(struct pvb_usual *usual, const struct pvb_op *op,
				  const struct pvb_plan_query *query,
				  const struct pvb_plan *plan)
{
	const unsigned int kind = (unsigned int)__builtin_ctz(plan->leaves | 1u << 31);

	if (plan->end != PVB_END_COMPLETION || plan->hold || plan->after ||
	    plan->act[0] != PVB_ACT_DATA || (plan->act[1] && plan->act[2]) ||
	    plan->leaves != 1u << kind)
		return;
	*usual = (struct pvb_usual){
		.key = op->key,
		.desc = query->target,
		.facts = pvb_op_facts(op),
		.then = plan->act[1],
		.kind = (uint8_t)kind,
		.count = (uint8_t)pvb_plan_count(plan),
	};
}

/* AW and FLUSH, which stay the right plan when less is under way. */
static void pvb_usual_learn_word(struct pvb_usual *usual,
				 const struct pvb_plan_query *query,
				 const struct pvb_plan *plan)
{
	if (usual->then != PVB_ACT_FLUSH || plan->end != PVB_END_COMPLETION ||
	    plan->act[0] != PVB_ACT_ATOMIC_WRITE || plan->act[1] != PVB_ACT_FLUSH ||
	    plan->act[2] || plan->leaves != PVB_USUAL_LEAVES)
		return;
	if (!(usual->behind & ~query->before))
		usual->behind = (uint8_t)query->before;
}

void pvb_usual_learn(struct pvb_conn *conn, const struct pvb_op *op,
		     const struct pvb_plan_query *query, const struct pvb_plan *plan)
{
	struct pvb_usual *usual = &conn->commit->usual;

	if (op->opcode != IBV_WR_RDMA_WRITE || !op->len)
		return;
	if (!(op->flags & FI_FENCE))
		pvb_usual_learn_write(usual, op, query, plan);
	else if (op->key == usual->key)
		pvb_usual_learn_word(usual, query, plan);
}

/* One that is reported: nothing is before it that it would have to look at. */
static bool pvb_usual_heard(struct pvb_conn *conn)
{
	const struct pvb_commit *commit = conn->commit;

	return !commit->dirty.count && !(commit->kinds & PVB_BEFORE_UNKNOWN) &&
	       commit->facts == commit->usual.facts &&
	       crn_ring_space(&conn->sq.ring) >= 2;
}

/* A word: before it are writes to its region, at most one of them to be flushed. */
static bool pvb_usual_word(struct pvb_conn *conn, const struct pvb_op *op)
{
	const struct pvb_commit *commit = conn->commit;
	const struct pvb_usual *usual = &commit->usual;
	const struct pvb_dirty *dirty = &commit->dirty;

	if (op->len != sizeof(uint64_t) || op->addr % sizeof(uint64_t) ||
	    op->num_sge != 1 || !(usual->behind & PVB_BEFORE_FLUSH))
		return false;
	if (dirty->count > 1 ||
	    (dirty->count &&
	     (dirty->range->rkey != (uint32_t)op->key || dirty->range->grouped ||
	      dirty->range->facts != usual->facts)))
		return false;
	return !(pvb_commit_before(conn, usual->facts) & ~usual->behind) &&
	       commit->held_count < PVB_COMMIT_HELD &&
	       crn_ring_space(&conn->sq.ring) >= 3 && !pvb_fence_reads(conn);
}

enum pvb_usual_way pvb_usual_way(struct pvb_ep *ep, const struct pvb_op *op)
{
	struct pvb_conn *conn = &ep->conn;
	const struct pvb_commit *commit = conn->commit;
	const bool unheard = op->quiet || op->inject;

	if (!commit || !op->key || op->key != commit->usual.key ||
	    op->opcode != IBV_WR_RDMA_WRITE || !op->len ||
	    atomic_load(&conn->hold.failed))
		return PVB_USUAL_NONE;
	/* One that nobody hears of moves no position: it sees to it that they are not
	 * taken for later ones when they have gone round. */
	if ((commit->held_count || (unheard && commit->kinds)) &&
	    pvb_commit_overtakes(ep, op))
		return PVB_USUAL_NONE;
	if (unheard && pvb_commit_unheard(ep, op))
		return pvb_group_open(conn) ? PVB_USUAL_NONE : PVB_USUAL_QUIET;
	if (unheard || (op->flags & FI_MORE))
		return PVB_USUAL_NONE;
	if (op->flags & FI_FENCE)
		return pvb_usual_word(conn, op) ? PVB_USUAL_WORD : PVB_USUAL_NONE;
	return pvb_usual_heard(conn) ? PVB_USUAL_WRITE : PVB_USUAL_NONE;
}

static struct pvb_slot *pvb_usual_slot(struct pvb_conn *conn, uint32_t ahead,
				       const struct pvb_op *op, unsigned int state)
{
	struct pvb_slot *slot = pvb_wq_slot(&conn->sq, ahead);

	slot->context = op->context;
	slot->flags = op->comp_flags;
	slot->state = (uint16_t)state;
	return slot;
}

/* The FLUSH that an operation ends with. */
static void pvb_usual_end(struct pvb_conn *conn, uint32_t ahead, const struct pvb_op *op,
			  unsigned int state)
{
	struct ibv_qp_ex *qp = conn->qp_ex;

	qp->wr_id = (uintptr_t)pvb_usual_slot(conn, ahead, op, PVB_SLOT_PROOF | state);
	qp->wr_flags = IBV_SEND_SIGNALED;
	pvb_native_flush(qp, (uint32_t)op->key, op->addr, op->len);
}

/* A write and its FLUSH need nothing of a batch: the device takes both or none. */
static bool pvb_usual_native(const struct pvb_ep *ep, const struct pvb_op *op)
{
	return ep->conn.commit->usual.then == PVB_ACT_FLUSH && op->num_sge == 1 &&
	       op->sge->lkey && !(op->flags & FI_INJECT) && !ep->conn.chained &&
	       !pvb_op_fenced(ep, op);
}

static int pvb_usual_flush(struct pvb_conn *conn, const struct pvb_op *op)
{
	const uint32_t rkey = (uint32_t)op->key;
	struct ibv_qp_ex *qp = conn->qp_ex;
	int err;

	ibv_wr_start(qp);
	qp->wr_id = (uintptr_t)pvb_usual_slot(conn, 0, op, PVB_SLOT_LED);
	qp->wr_flags = 0;
	ibv_wr_rdma_write(qp, rkey, op->addr);
	ibv_wr_set_sge(qp, op->sge->lkey, op->sge->addr, op->sge->length);
	pvb_usual_end(conn, 1, op, 0);
	err = ibv_wr_complete(qp);
	if (err)
		return (int)pvb_post_error(err);
	conn->sq.ring.head += 2;
	conn->unsignaled = 0;
	return 0;
}

static int pvb_usual_batch(struct pvb_ep *ep, struct pvb_op *op)
{
	const struct pvb_usual *usual = &ep->conn.commit->usual;
	const uint64_t to = op->addr + op->len;
	struct pvb_batch batch;
	int ret;

	pvb_batch_init(&batch, ep, op);
	if (!usual->then)
		pvb_batch_last(&batch, 0);
	ret = pvb_batch_data(&batch, op, false);
	if (!ret && usual->then) {
		pvb_batch_last(&batch, 0);
		ret = usual->then == PVB_ACT_FLUSH
			      ? pvb_batch_flush(&batch, (uint32_t)op->key, op->addr, to)
			      : pvb_batch_read(&batch, (uint32_t)op->key, op->addr, to);
	}
	return pvb_batch_finish(&batch, ret);
}

ssize_t pvb_usual_write(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_conn *conn = &ep->conn;
	struct pvb_commit *commit = conn->commit;
	const struct pvb_usual *usual = &commit->usual;
	int ret = pvb_usual_native(ep, op) ? pvb_usual_flush(conn, op)
					   : pvb_usual_batch(ep, op);

	if (ret < 0)
		return ret;
	commit->counts[usual->count]++;
	commit->newest = commit->end[usual->kind] = conn->sq.ring.head;
	commit->kinds |= 1u << usual->kind;
	return 0;
}

/* The same for a word, the FLUSH of what is before it, and its own. 0 or an errno. */
static int pvb_usual_native_word(struct pvb_ep *ep, const struct pvb_op *op,
				 const struct pvb_dirty *dirty)
{
	struct pvb_conn *conn = &ep->conn;
	const uint32_t rkey = (uint32_t)op->key;
	struct ibv_qp_ex *qp = conn->qp_ex;
	unsigned int proof = 0;
	uint32_t at = 0;
	int err;

	err = pvb_native_begin(ep);
	if (err)
		return err;
	qp->wr_flags = 0;
	if (dirty->count) {
		qp->wr_id = (uintptr_t)pvb_usual_slot(conn, at++, op,
						      PVB_SLOT_LED | PVB_SLOT_FENCED);
		pvb_native_flush(qp, rkey, dirty->range->from,
				 dirty->range->to - dirty->range->from);
		proof = PVB_SLOT_PROOF;
	}
	qp->wr_id = (uintptr_t)pvb_usual_slot(conn, at++, op,
					      PVB_SLOT_LED | PVB_SLOT_FENCED | proof);
	pvb_native_write(qp, rkey, op->addr, (const void *)(uintptr_t)op->sge->addr);
	pvb_usual_end(conn, at++, op, PVB_SLOT_FENCED);
	err = pvb_native_end(ep);
	if (!err)
		conn->sq.ring.head += at;
	return err;
}

ssize_t pvb_usual_fenced(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_conn *conn = &ep->conn;
	struct pvb_commit *commit = conn->commit;
	const int err = pvb_usual_native_word(ep, op, &commit->dirty);

	if (err)
		return pvb_post_error(err);
	conn->unsignaled = 0;
	commit->counts[PVB_COMMIT_FLUSH]++;
	commit->counts[PVB_COMMIT_LIFTS] += commit->dirty.count;
	commit->dirty.count = 0;
	pvb_commit_note(conn, PVB_USUAL_LEAVES, commit->usual.facts);
	pvb_commit_hold(conn, op);
	return 0;
}
