/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual case of a durable write costs little: to the region of the one before, with
 * nothing before it that it would have to look at. Then the plan is the same, too, for it
 * depends on what does not change while the connection stands.
 */
#include "execute.h"
#include "native.h"

void pvb_usual_learn(struct pvb_conn *conn, const struct pvb_op *op,
		     const struct pvb_plan *plan)
{
	struct pvb_usual *usual = &conn->commit->usual;
	const unsigned int kind = (unsigned int)__builtin_ctz(plan->leaves | 1u << 31);

	if (op->opcode != IBV_WR_RDMA_WRITE || (op->flags & FI_FENCE) || !op->len)
		return;
	/* W alone, or with one entry behind it. */
	if (plan->end != PVB_END_COMPLETION || plan->hold || plan->after ||
	    plan->act[0] != PVB_ACT_DATA || (plan->act[1] && plan->act[2]) ||
	    plan->leaves != 1u << kind)
		return;
	*usual = (struct pvb_usual){
		.key = op->key,
		.facts = pvb_op_facts(op),
		.then = plan->act[1],
		.kind = (uint8_t)kind,
		.count = (uint8_t)pvb_plan_count(plan),
	};
}

bool pvb_usual_fits(struct pvb_conn *conn, const struct pvb_op *op)
{
	const struct pvb_commit *commit = conn->commit;

	if (!commit || op->key != commit->usual.key || op->opcode != IBV_WR_RDMA_WRITE ||
	    !op->len || op->quiet || op->inject || (op->flags & (FI_FENCE | FI_MORE)))
		return false;
	return !commit->held_count && !commit->dirty.count &&
	       !(commit->kinds & PVB_BEFORE_UNKNOWN) &&
	       commit->facts == commit->usual.facts && !atomic_load(&conn->hold.failed) &&
	       crn_ring_space(&conn->sq.ring) >= 2;
}

static struct pvb_slot *pvb_usual_slot(struct pvb_conn *conn, uint32_t ahead,
				       const struct pvb_op *op, uint64_t flags)
{
	struct pvb_slot *slot = pvb_wq_slot(&conn->sq, ahead);

	slot->context = op->context;
	slot->flags = op->comp_flags | flags;
	return slot;
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
	qp->wr_id = (uintptr_t)pvb_usual_slot(conn, 1, op, PVB_SLOT_PROOF);
	qp->wr_flags = IBV_SEND_SIGNALED;
	pvb_native_flush(qp, rkey, op->addr, op->len);
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

ssize_t pvb_usual_post(struct pvb_ep *ep, struct pvb_op *op)
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
