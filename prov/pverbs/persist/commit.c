/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "batch.h"
#include "commit.h"
#include "control.h"

int pvb_commit_open(struct pvb_conn *conn)
{
	if (conn->commit)
		return 0;
	conn->commit = calloc(1, sizeof(*conn->commit));
	if (!conn->commit)
		return -FI_ENOMEM;
	/* What was posted before may have been reads. */
	conn->commit->reads_end = conn->sq.ring.head;
	return 0;
}

void pvb_commit_close(struct pvb_conn *conn)
{
	if (conn->commit)
		pvb_dirty_fini(&conn->commit->dirty);
	free(conn->commit);
	conn->commit = NULL;
}

/* --- what is under way */

static bool pvb_under_way(struct pvb_conn *conn, uint32_t end)
{
	return (int32_t)(end - atomic_load_explicit(&conn->sq.ring.tail,
						    memory_order_acquire)) > 0;
}

/* PVB_BEFORE_* of everything that has not ended, for an operation on memory like facts.
 */
static unsigned int pvb_commit_before(struct pvb_conn *conn, uint32_t facts)
{
	struct pvb_commit *commit = conn->commit;
	unsigned int kind;

	for (kind = 0; kind < PVB_COMMIT_KINDS; kind++) {
		if (!pvb_under_way(conn, commit->end[kind]))
			commit->kinds &= ~(1u << kind);
	}
	if (commit->kinds && commit->facts != facts)
		return commit->kinds | PVB_BEFORE_UNKNOWN;
	return commit->kinds;
}

static void pvb_commit_note(struct pvb_conn *conn, unsigned int leaves, uint32_t facts)
{
	const unsigned int kinds =
		leaves | (pvb_commit_before(conn, facts) & PVB_BEFORE_UNKNOWN);
	struct pvb_commit *commit = conn->commit;
	unsigned int kind;

	for (kind = 0; kind < PVB_COMMIT_KINDS; kind++) {
		if (kinds & 1u << kind)
			commit->end[kind] = conn->sq.ring.head;
	}
	commit->kinds |= kinds;
	commit->facts = facts;
}

/* What tells regions of one kind from those of another: the descriptor as it is in keys.
 */
static uint32_t pvb_key_facts(uint64_t key)
{
	return (uint32_t)(key >> 32) & 0xffffff;
}

static bool pvb_op_sends(const struct pvb_op *op)
{
	return op->opcode == IBV_WR_SEND || op->opcode == IBV_WR_SEND_WITH_IMM;
}

static uint32_t pvb_op_facts(const struct pvb_op *op)
{
	return pvb_op_sends(op) ? 0 : pvb_key_facts(op->key);
}

/* Does the target hear of it? */
static bool pvb_op_announces(const struct pvb_op *op)
{
	return pvb_op_sends(op) || op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/*
 * An operation that the target's processor carries out, or that later ones may pass, must
 * not be overtaken by what overlaps it, what announces it, or what is ordered behind it.
 */
static bool pvb_commit_overtakes(struct pvb_ep *ep, const struct pvb_op *op)
{
	/* A fenced durable one is ordered by its plan. */
	const bool planned = (op->flags & FI_COMMIT_COMPLETE) && (op->flags & FI_FENCE);
	const bool ordered =
		ep->info->tx_attr->msg_order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW);
	struct pvb_commit *commit = ep->conn.commit;
	const struct pvb_commit_held *held;
	uint32_t i = 0;

	while (i < commit->held_count) {
		held = &commit->held[i];
		if (!pvb_under_way(&ep->conn, held->end)) {
			commit->held[i] = commit->held[--commit->held_count];
			continue;
		}
		if (!planned && pvb_op_announces(op))
			return true;
		if (!planned && ordered && op->opcode != IBV_WR_RDMA_READ)
			return true;
		if (!pvb_op_sends(op) && op->addr < held->to &&
		    held->from < op->addr + op->len)
			return true;
		i++;
	}
	return false;
}

/* --- plans */

/* What is known of both sides; without a lane only the device can help. */
static void pvb_commit_query(struct pvb_ep *ep, const struct pvb_desc *desc,
			     struct pvb_plan_query *query)
{
	const struct pvb_conn *conn = &ep->conn;
	const bool doorbell = conn->peer.control.bell && ep->domain->rings;
	const struct pvb_lane *lane = conn->lane;

	*query = (struct pvb_plan_query){
		.target = *desc,
		.weak = ep->domain->iwarp,
		.native_flush = conn->qp_ex && ep->domain->native.flush_persistent,
		.native_write = conn->qp_ex && ep->domain->native.atomic_write,
		.doorbell = doorbell,
		.control = lane && lane->up,
		.inline_max = doorbell ? PVB_WIRE_INLINE : 0,
		.force_message = pvb_params.force_message,
	};
}

static enum pvb_plan_op pvb_plan_op_of(const struct pvb_op *op)
{
	switch (op->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return PVB_PLAN_SEND;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return PVB_PLAN_WRITE_IMM;
	case IBV_WR_RDMA_WRITE:
		return PVB_PLAN_WRITE;
	default:
		return PVB_PLAN_ATOMIC;
	}
}

/* Nothing is known of where a message goes; its target takes care of it. */
static const struct pvb_desc pvb_desc_message = {
	.domain = PVB_DMP,
	.ddio = true,
	.persistent = true,
};

static int pvb_commit_desc(const struct pvb_op *op, struct pvb_desc *desc)
{
	if (!pvb_op_sends(op))
		return pvb_desc_parse(op->key, desc);
	*desc = pvb_desc_message;
	return 0;
}

static bool pvb_plan_has(const struct pvb_plan *plan, enum pvb_act act)
{
	int i;

	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++) {
		if (plan->act[i] == act)
			return true;
	}
	return false;
}

static bool pvb_plan_asks(const struct pvb_plan *plan)
{
	return pvb_plan_has(plan, PVB_ACT_MESSAGE) ||
	       pvb_plan_has(plan, PVB_ACT_MESSAGE_DATA);
}

/* Before the request is on its way nothing is ordered behind it. */
static unsigned int pvb_plan_leaves(const struct pvb_plan *plan)
{
	return plan->leaves | (pvb_plan_has(plan, PVB_ACT_WAIT) ? PVB_BEFORE_UNKNOWN : 0);
}

/* Entries of the send queue. */
static uint32_t pvb_plan_entries(const struct pvb_plan *plan)
{
	uint32_t entries = 0;
	int i;

	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++) {
		switch (plan->act[i]) {
		case PVB_ACT_MESSAGE:
		case PVB_ACT_MESSAGE_DATA:
		case PVB_ACT_WAIT:
			break;
		default:
			entries++;
		}
	}
	return entries;
}

/* --- asking the target */

/* May one more be asked? The places of those whose end was not reported yet are taken. */
static bool pvb_ask_allowed(struct pvb_conn *conn, enum pvb_ask kind)
{
	return conn->lane->asks[kind].posted - atomic_load(&conn->hold.ended[kind]) <
	       PVB_LANE_CREDITS;
}

static uint32_t pvb_ask_next(struct pvb_lane *lane, enum pvb_ask kind)
{
	struct pvb_asks *asks = &lane->asks[kind];
	const uint32_t number = asks->posted + 1;

	asks->of[number % PVB_LANE_CREDITS].deadline =
		crn_now_ms() + (uint64_t)pvb_params.commit_timeout;
	return number;
}

/* The request whose entry of the send queue is about to be posted. */
static void pvb_ask_begin(struct pvb_lane *lane, struct pvb_wire_message *message)
{
	message->kind = PVB_WIRE_REQUEST;
	message->number = pvb_ask_next(lane, PVB_ASK_REQUEST);
}

/* It was posted. */
static void pvb_ask_send(struct pvb_lane *lane, const struct pvb_wire_message *message)
{
	lane->asks[PVB_ASK_REQUEST].posted = message->number;
	if (!pvb_lane_send(lane, message))
		pvb_lane_lose(lane, "a request cannot be sent");
}

/* --- what a fenced operation has to see to first */

/* How a range that was written becomes durable without writing it again. */
static int pvb_lift_plan(struct pvb_ep *ep, const struct pvb_dirty_range *range,
			 struct pvb_plan *plan)
{
	struct pvb_plan_query query;
	int ret;

	pvb_commit_query(ep, &range->desc, &query);
	query.op = PVB_PLAN_LIFT;
	query.addr = range->from;
	query.len = range->to - range->from;
	ret = pvb_plan(&query, plan);
	/* Read, wait and ask: the operation behind it would have to wait as well. */
	return !ret && pvb_plan_has(plan, PVB_ACT_WAIT) ? -FI_EOPNOTSUPP : ret;
}

/* Where visible is durable, the flush of an operation behind it on such memory serves
 * both. */
static bool pvb_lift_spared(const struct pvb_plan_query *query,
			    const struct pvb_dirty_range *range, uint32_t facts)
{
	return range->desc.domain == PVB_MHP && range->facts == facts && !query->weak &&
	       !query->force_message;
}

/* An operation of nobody's: when it fails the connection ends, and all behind it. */
static int pvb_lift_range(struct pvb_ep *ep, const struct pvb_dirty_range *range,
			  const struct pvb_plan *plan)
{
	static const struct pvb_op nobody = {.inject = true};
	struct pvb_conn *conn = &ep->conn;
	struct pvb_wire_message message = {
		.ranges = 1,
		.range = {{range->from, range->to - range->from, range->rkey}},
	};
	const bool asks = pvb_plan_asks(plan);
	struct pvb_batch batch;
	int ret;

	if (!crn_ring_space(&conn->sq.ring) ||
	    (asks && !pvb_ask_allowed(conn, PVB_ASK_REQUEST)))
		return -FI_EAGAIN;
	pvb_batch_init(&batch, ep, &nobody);
	pvb_batch_last(&batch, asks ? PVB_SLOT_REQUEST : 0);
	if (asks) {
		message.bell = ++conn->lane->rung;
		pvb_ask_begin(conn->lane, &message);
		ret = pvb_batch_ring(&batch);
	} else if (pvb_plan_has(plan, PVB_ACT_FLUSH)) {
		ret = pvb_batch_flush(&batch, range->rkey, range->from, range->to);
	} else {
		ret = pvb_batch_read(&batch, range->rkey, range->from, range->to);
	}
	ret = pvb_batch_finish(&batch, ret);
	if (ret)
		return ret < 0 ? ret : -FI_EIO;
	if (asks)
		pvb_ask_send(conn->lane, &message);
	pvb_commit_note(conn, pvb_plan_leaves(plan), range->facts);
	return 0;
}

/*
 * What was written before query's operation becomes durable ahead of it. 0 and in *before
 * what of it is under way then; -FI_EAGAIN, or why not.
 */
static int pvb_commit_lift(struct pvb_ep *ep, const struct pvb_plan_query *query,
			   uint32_t facts, unsigned int *before)
{
	struct pvb_dirty *dirty = &ep->conn.commit->dirty;
	struct pvb_plan plan;
	int ret = 0;

	*before = 0;
	while (dirty->count && !ret) {
		ret = pvb_lift_plan(ep, &dirty->range[0], &plan);
		if (ret)
			return ret;
		if (pvb_lift_spared(query, &dirty->range[0], facts))
			*before |= PVB_BEFORE_PLACED;
		else if (plan.act[0]) /* else it is durable once it has arrived */
			ret = pvb_lift_range(ep, &dirty->range[0], &plan);
		if (!ret)
			pvb_dirty_remove(dirty, 0);
	}
	*before |= pvb_commit_before(&ep->conn, facts);
	return ret;
}

/* --- posting */

/* The bytes of a small operation, in one piece. */
static void pvb_op_gather(const struct pvb_op *op, uint8_t *to)
{
	int i;

	for (i = 0; i < op->num_sge; i++) {
		memcpy(to, (const void *)(uintptr_t)op->sge[i].addr, op->sge[i].length);
		to += op->sge[i].length;
	}
}

static int pvb_commit_entry(struct pvb_batch *batch, const struct pvb_op *op)
{
	struct pvb_conn *conn = &batch->ep->conn;
	struct pvb_wire_entry entry = {
		.message = conn->commit->messages + 1,
		.number = pvb_ask_next(conn->lane, PVB_ASK_ENTRY),
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
		return pvb_batch_read(batch, rkey, op->addr, to);
	case PVB_ACT_FLUSH:
		return pvb_batch_flush(batch, rkey, op->addr, to);
	case PVB_ACT_RING:
		batch->ep->conn.lane->rung++;
		return pvb_batch_ring(batch);
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
static uint64_t pvb_plan_end_flags(const struct pvb_plan *plan)
{
	if (plan->end != PVB_END_ANSWER)
		return 0;
	return pvb_plan_asks(plan) ? PVB_SLOT_REQUEST : PVB_SLOT_ENTRY;
}

static int pvb_commit_acts(struct pvb_batch *batch, struct pvb_op *op,
			   const struct pvb_plan *plan)
{
	const uint64_t quiet = op->quiet ? PVB_SLOT_QUIET : 0;
	uint32_t left = pvb_plan_entries(plan);
	int i, ret = 0;

	if (!left) {
		/* A request alone has a place on the send queue all the same, in whose
		 * turn it ends: the doorbell, behind what was posted before. */
		pvb_batch_last(batch, pvb_plan_end_flags(plan) | quiet);
		return pvb_commit_act(batch, op, PVB_ACT_RING);
	}
	for (i = 0; i < PVB_PLAN_ACTS && plan->act[i] && !ret; i++) {
		if (!pvb_act_posts(plan->act[i]))
			continue;
		if (--left == 0)
			pvb_batch_last(batch, pvb_plan_end_flags(plan) | quiet);
		ret = pvb_commit_act(batch, op, plan->act[i]);
	}
	return ret;
}

/* What the operation leaves behind once it is posted. */
static void pvb_commit_noted(struct pvb_conn *conn, const struct pvb_op *op,
			     const struct pvb_plan *plan)
{
	struct pvb_commit *commit = conn->commit;

	if (pvb_op_announces(op))
		commit->messages++;
	pvb_commit_note(conn, pvb_plan_leaves(plan), pvb_op_facts(op));
	if (plan->hold)
		commit->held[commit->held_count++] = (struct pvb_commit_held){
			.from = op->addr,
			.to = op->addr + op->len,
			.end = conn->sq.ring.head,
		};
}

/* Posts a plan that needs no request, or an entry of the message ring. */
static ssize_t pvb_commit_post(struct pvb_ep *ep, struct pvb_op *op,
			       const struct pvb_plan *plan)
{
	struct pvb_conn *conn = &ep->conn;
	struct pvb_batch batch;
	int ret;

	pvb_batch_init(&batch, ep, op);
	ret = pvb_batch_finish(&batch, pvb_commit_acts(&batch, op, plan));
	if (ret < 0)
		return ret;
	pvb_commit_noted(conn, op, plan);
	if (!ret && plan->end == PVB_END_ANSWER)
		conn->lane->asks[PVB_ASK_ENTRY].posted++;
	return 0;
}

/* Posts a plan with a request, which is sent at once or after what it has to wait for. */
static ssize_t pvb_commit_ask(struct pvb_ep *ep, struct pvb_op *op,
			      const struct pvb_plan *plan)
{
	const bool later = pvb_plan_has(plan, PVB_ACT_WAIT);
	struct pvb_conn *conn = &ep->conn;
	struct pvb_wire_message message;
	uint8_t bytes[PVB_WIRE_INLINE];
	struct pvb_batch batch;
	int ret;

	pvb_commit_request(plan, op, bytes, &message);
	pvb_ask_begin(conn->lane, &message);
	if (later && !pvb_lane_later(conn->lane, &message))
		return -FI_ENOMEM;
	pvb_batch_init(&batch, ep, op);
	ret = pvb_batch_finish(&batch, pvb_commit_acts(&batch, op, plan));
	if (ret) {
		if (later)
			pvb_lane_never(conn->lane, message.number);
		return ret < 0 ? ret : 0;
	}
	pvb_commit_noted(conn, op, plan);
	if (later) {
		conn->lane->asks[PVB_ASK_REQUEST].posted = message.number;
		return 0;
	}
	message.bell = conn->lane->rung;
	pvb_ask_send(conn->lane, &message);
	return 0;
}

/* Is there room for it now? 0 or -FI_EAGAIN; or why there never will be. */
static ssize_t pvb_commit_room(struct pvb_ep *ep, const struct pvb_plan *plan)
{
	struct pvb_conn *conn = &ep->conn;
	const enum pvb_ask kind = pvb_plan_asks(plan) ? PVB_ASK_REQUEST : PVB_ASK_ENTRY;

	if (crn_ring_space(&conn->sq.ring) < CRN_MAX(pvb_plan_entries(plan), 1u))
		return pvb_tx_refuse(ep);
	if (plan->hold && conn->commit->held_count == PVB_COMMIT_HELD)
		return -FI_EAGAIN;
	if (plan->end != PVB_END_ANSWER)
		return 0;
	if (atomic_load(&conn->lane->lost))
		return -FI_ECONNABORTED;
	return pvb_ask_allowed(conn, kind) ? 0 : -FI_EAGAIN;
}

/* Nothing to be flushed: a barrier, if it is fenced. */
static const struct pvb_plan pvb_plan_empty = {
	.act = {PVB_ACT_DATA},
	.end = PVB_END_COMPLETION,
};

static int pvb_commit_plan(struct pvb_ep *ep, const struct pvb_op *op,
			   const struct pvb_desc *desc, struct pvb_plan *plan)
{
	struct pvb_plan_query query;
	int ret = 0;

	pvb_commit_query(ep, desc, &query);
	query.op = pvb_plan_op_of(op);
	query.addr = op->addr;
	query.len = op->len;
	if (op->flags & FI_FENCE)
		ret = pvb_commit_lift(ep, &query, pvb_op_facts(op), &query.before);
	if (ret)
		return ret;
	if (!op->len && op->opcode == IBV_WR_RDMA_WRITE) {
		*plan = pvb_plan_empty;
		return 0;
	}
	ret = pvb_plan(&query, plan);
	return !ret && plan->after && query.before ? -FI_EAGAIN : ret;
}

/*
 * Nobody will be told that it is durable: what was written is remembered, and a fenced
 * operation sees to it. What the target reports of it has to wait all the same.
 */
static bool pvb_commit_unheard(const struct pvb_ep *ep, const struct pvb_op *op)
{
	return (op->quiet || op->inject) && !ep->conn.sq.counted &&
	       !(op->flags & FI_FENCE) && !pvb_op_announces(op);
}

static struct pvb_dirty_range pvb_op_range(const struct pvb_op *op,
					   const struct pvb_desc *desc, bool owed)
{
	return (struct pvb_dirty_range){
		.from = op->addr,
		.to = op->addr + op->len,
		.rkey = (uint32_t)op->key,
		.facts = pvb_op_facts(op),
		.desc = *desc,
		.owed = owed,
	};
}

static ssize_t pvb_commit_locked(struct pvb_ep *ep, struct pvb_op *op,
				 const struct pvb_desc *desc)
{
	struct pvb_plan plan;
	ssize_t ret;

	ret = pvb_commit_plan(ep, op, desc, &plan);
	if (!ret)
		ret = pvb_commit_room(ep, &plan);
	if (ret)
		return ret;
	if (pvb_commit_unheard(ep, op)) {
		ret = pvb_dirty_add(&ep->conn.commit->dirty,
				    pvb_op_range(op, desc, true));
		return ret ? ret : pvb_tx_locked(ep, op);
	}
	/* The plan sees to order, but for reads that it does not know of. */
	if (!pvb_under_way(&ep->conn, ep->conn.commit->reads_end))
		op->flags &= ~(uint64_t)FI_FENCE;
	return pvb_plan_asks(&plan) ? pvb_commit_ask(ep, op, &plan)
				    : pvb_commit_post(ep, op, &plan);
}

ssize_t pvb_tx_committed(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_conn *conn = &ep->conn;
	struct pvb_desc desc;
	ssize_t ret;

	crn_lock(&conn->tx_lock);
	ret = atomic_load(&conn->sq.ring.size) ? pvb_commit_desc(op, &desc)
					       : pvb_tx_refuse(ep);
	if (!ret)
		ret = pvb_commit_open(conn);
	if (!ret && pvb_commit_overtakes(ep, op))
		ret = -FI_EAGAIN;
	if (!ret)
		ret = pvb_commit_locked(ep, op, &desc);
	crn_unlock(&conn->tx_lock);
	if (ret == -FI_EAGAIN && conn->lane)
		pvb_control_progress(conn->lane->control);
	return ret;
}

/* --- operations without the flag */

static bool pvb_op_writes_to(const struct pvb_op *op)
{
	return !pvb_op_sends(op) && op->opcode != IBV_WR_RDMA_READ;
}

/* What a fenced one has to wait for; the device waits for reads and atomics. */
static ssize_t pvb_tracked_fence(struct pvb_ep *ep)
{
	const unsigned int waits =
		PVB_BEFORE_MESSAGE | PVB_BEFORE_FLUSH | PVB_BEFORE_UNKNOWN;
	struct pvb_conn *conn = &ep->conn;
	struct pvb_plan_query query;
	unsigned int before;
	int ret = 0;

	if (pvb_dirty_owed(&conn->commit->dirty)) {
		pvb_commit_query(ep, &pvb_desc_message, &query);
		ret = pvb_commit_lift(ep, &query, 0, &before);
	}
	if (!ret && (pvb_commit_before(conn, conn->commit->facts) & waits))
		ret = -FI_EAGAIN;
	return ret;
}

static ssize_t pvb_tracked_locked(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_commit *commit = ep->conn.commit;
	struct pvb_desc desc;
	ssize_t ret = 0;

	if (pvb_commit_overtakes(ep, op))
		return -FI_EAGAIN;
	if (op->flags & FI_FENCE)
		ret = pvb_tracked_fence(ep);
	/* A damaged descriptor matters to durable operations alone. */
	if (!ret && pvb_op_writes_to(op) && !pvb_desc_parse(op->key, &desc))
		ret = pvb_dirty_add(&commit->dirty, pvb_op_range(op, &desc, false));
	if (ret)
		return ret;
	ret = op->flags & FI_DELIVERY_COMPLETE ? pvb_tx_delivered(ep, op)
					       : pvb_tx_locked(ep, op);
	if (ret)
		return ret;
	if (pvb_op_announces(op))
		commit->messages++;
	if (pvb_op_reads(op))
		commit->reads_end = ep->conn.sq.ring.head;
	return 0;
}

ssize_t pvb_tx_tracked(struct pvb_ep *ep, struct pvb_op *op)
{
	struct pvb_conn *conn = &ep->conn;
	ssize_t ret;

	crn_lock(&conn->tx_lock);
	ret = pvb_commit_open(conn);
	if (!ret)
		ret = pvb_tracked_locked(ep, op);
	crn_unlock(&conn->tx_lock);
	return ret;
}
