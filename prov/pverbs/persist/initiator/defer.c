/* SPDX-License-Identifier: BSD-2-Clause */
#include "cq/cq.h"
#include "persist/control/control.h"
#include "persist/persist.h"
#include "defer.h"

/* An answer and what it says. */
enum pvb_answer { PVB_ANSWER_NONE, PVB_ANSWER_OK, PVB_ANSWER_ERROR };

#define PVB_SLOT_ASKS (PVB_SLOT_REQUEST | PVB_SLOT_ENTRY)

/* Why something before a fenced one is not durable: FI_E*, or 0. */
static int pvb_hold_before(const struct pvb_hold *hold)
{
	return atomic_load(&hold->failed) ? FI_ECANCELED : atomic_load(&hold->undurable);
}

/* A fenced one is, while what it saw to is, and when that failed. */
static bool pvb_hold_needed(const struct pvb_hold *hold, const struct pvb_slot *slot)
{
	return hold->active || (slot->state & PVB_SLOT_ASKS) ||
	       atomic_load(&hold->grouped) ||
	       ((slot->state & PVB_SLOT_FENCED) && pvb_hold_before(hold));
}

static void pvb_hold_end(struct pvb_conn *conn)
{
	conn->hold.active = false;
	crn_list_del(&conn->hold.holder.entry);
	atomic_fetch_sub(&conn->lane->control->holding, 1);
}

void pvb_hold_forget(struct pvb_conn *conn)
{
	if (conn->hold.active)
		pvb_hold_end(conn);
}

/* An answer may be missing because the connection has ended. */
static void pvb_hold_wonder(struct pvb_cq *cq, struct pvb_hold *hold, uint64_t now,
			    uint64_t deadline)
{
	if (now + (uint64_t)pvb_params.commit_timeout < deadline + PVB_HOLD_LOOK_MS ||
	    now < hold->look)
		return;
	hold->look = now + PVB_HOLD_LOOK_MS;
	hold->holder.wonders = true;
	atomic_store(&cq->wonders, true);
}

/* The event queue of one that wonders, which is not closed until looking is 0; NULL: of
 * none. */
static struct pvb_eq *pvb_hold_wondering(struct pvb_cq *cq)
{
	struct pvb_holder *holder;
	struct crn_list *entry;
	struct pvb_conn *conn;
	struct pvb_eq *eq = NULL;

	crn_list_for_each (entry, &cq->holding) {
		holder = crn_container_of(entry, struct pvb_holder, entry);
		if (!holder->wonders)
			continue;
		holder->wonders = false;
		conn = crn_container_of(holder, struct pvb_conn, hold.holder);
		eq = pvb_conn_ep(conn)->eq;
		atomic_fetch_add(&eq->looking, 1);
		break;
	}
	if (!eq)
		atomic_store(&cq->wonders, false);
	return eq;
}

void pvb_hold_look(struct pvb_cq *cq)
{
	struct pvb_eq *eq;

	if (!atomic_load(&cq->wonders))
		return;
	crn_lock(&cq->lock);
	eq = pvb_hold_wondering(cq);
	crn_unlock(&cq->lock);
	if (!eq)
		return;
	eq->cm->look(eq);
	atomic_fetch_sub(&eq->looking, 1);
}

/* Whoever was kept from looking, by a signal or a busy machine, looks before it blames
 * the target. */
static bool pvb_hold_late(struct pvb_cq *cq, struct pvb_conn *conn,
			  const struct pvb_asks *asks, uint32_t number)
{
	const uint64_t deadline = asks->of[number % PVB_LANE_CREDITS].deadline;
	const uint64_t now = crn_now_ms();

	pvb_hold_wonder(cq, &conn->hold, now, deadline);
	if (now < deadline)
		return false;
	return pvb_control_take(conn->lane->control) &&
	       (int32_t)(atomic_load(&asks->answered) - number) < 0;
}

static enum pvb_ask pvb_hold_asked(const struct pvb_slot *slot)
{
	return slot->state & PVB_SLOT_REQUEST ? PVB_ASK_REQUEST : PVB_ASK_ENTRY;
}

/* What an answer with that status comes to. */
static int pvb_hold_status(const struct pvb_hold *hold, const struct pvb_slot *slot,
			   int status)
{
	if (atomic_load(&hold->failed))
		return FI_ECANCELED;
	return slot->state & PVB_SLOT_FENCED && atomic_load(&hold->undurable)
		       ? atomic_load(&hold->undurable)
		       : status;
}

/* What became of the question that the slot waits for; *err: FI_E*. */
static enum pvb_answer pvb_hold_answer(struct pvb_cq *cq, struct pvb_conn *conn,
				       const struct pvb_slot *slot, int *err)
{
	const enum pvb_ask kind = pvb_hold_asked(slot);
	struct pvb_asks *asks = &conn->lane->asks[kind];
	const uint32_t number = atomic_load(&conn->hold.ended[kind]) + 1;
	const uint32_t answered =
		atomic_load_explicit(&asks->answered, memory_order_acquire);

	if ((int32_t)(answered - number) >= 0) {
		*err = pvb_hold_status(&conn->hold, slot,
				       asks->of[number % PVB_LANE_CREDITS].status);
	} else if (atomic_load(&conn->lane->lost)) {
		*err = atomic_load(&conn->sq.ring.size) ? FI_ECONNABORTED : FI_ECANCELED;
	} else if (pvb_hold_late(cq, conn, asks, number)) {
		*err = FI_ETIMEDOUT;
		pvb_lane_lose(conn->lane, "the target does not answer");
	} else {
		return PVB_ANSWER_NONE;
	}
	atomic_store(&conn->hold.ended[kind], number);
	/* Of what went ahead of a fenced one, that one's program hears nothing else. */
	if (*err && asks->of[number % PVB_LANE_CREDITS].messages && !kind)
		atomic_store(&conn->hold.undurable, *err);
	else if (*err && (slot->state & PVB_SLOT_INJECT))
		atomic_store(&conn->hold.failed, true);
	return *err ? PVB_ANSWER_ERROR : PVB_ANSWER_OK;
}

static void pvb_hold_refuse(struct pvb_cq *cq, const struct pvb_slot *slot, int err)
{
	const struct pvb_comp comp = {
		.context = slot->context,
		.flags = slot->flags,
		.err = err,
		.prov_errno = err == FI_ECANCELED ? IBV_WC_WR_FLUSH_ERR : -err,
	};

	pvb_cq_count(slot->wq, comp.flags, err);
	if (!(slot->state & PVB_SLOT_INJECT))
		pvb_cq_stash(cq, &comp);
}

/* Is the write at a position, one of a group, durable? */
static bool pvb_hold_flushed(const struct pvb_hold *hold, uint32_t at)
{
	return hold->flushing && (int32_t)(hold->flushed - at) > 0;
}

/* One of a group is reported. Behind the last one positions go round, as they may. */
static void pvb_hold_ungroup(struct pvb_hold *hold)
{
	if (atomic_fetch_sub(&hold->grouped, 1) == 1)
		hold->flushing = false;
}

/* The same for one of a group: what makes the group durable is behind it. */
static enum pvb_answer pvb_hold_group(struct pvb_conn *conn, uint32_t at, int *err)
{
	struct pvb_hold *hold = &conn->hold;
	const bool durable = pvb_hold_flushed(hold, at);

	*err = FI_ECANCELED;
	if (!durable && !hold->broken)
		return PVB_ANSWER_NONE;
	pvb_hold_ungroup(hold);
	return durable ? PVB_ANSWER_OK : PVB_ANSWER_ERROR;
}

static enum pvb_answer pvb_hold_what(struct pvb_cq *cq, struct pvb_conn *conn,
				     const struct pvb_slot *slot, uint32_t at, int *err)
{
	if (slot->state & PVB_SLOT_ASKS)
		return pvb_hold_answer(cq, conn, slot, err);
	if (slot->state & PVB_SLOT_GROUP)
		return pvb_hold_group(conn, at, err);
	*err = pvb_hold_before(&conn->hold);
	return *err && (slot->state & PVB_SLOT_FENCED) && !(slot->state & PVB_SLOT_LED)
		       ? PVB_ANSWER_ERROR
		       : PVB_ANSWER_OK;
}

/* The oldest; the marker of pvb_tx_close is not in the ring. */
static struct pvb_slot *pvb_hold_slot(struct pvb_conn *conn, uint32_t at)
{
	if (conn->hold.marked && at + 1 == conn->marker.next)
		return &conn->marker;
	return &conn->sq.slots[crn_ring_index(&conn->sq.ring, at)];
}

/* The oldest slot; false: it has to wait. */
static bool pvb_hold_oldest(struct pvb_cq *cq, struct pvb_conn *conn)
{
	struct crn_ring *ring = &conn->sq.ring;
	const uint32_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct pvb_slot *slot = pvb_hold_slot(conn, at);
	struct ibv_wc wc = {
		.wr_id = (uintptr_t)slot,
		.status = slot->status,
		.qp_num = conn->qp->qp_num,
	};
	struct pvb_comp comp;
	int err;

	if (wc.status != IBV_WC_SUCCESS && (slot->state & PVB_SLOT_GROUP))
		pvb_hold_ungroup(&conn->hold);
	/* Nobody waits for its answer any more: another one may be asked. */
	if (wc.status != IBV_WC_SUCCESS && (slot->state & PVB_SLOT_ASKS))
		atomic_fetch_add(&conn->hold.ended[pvb_hold_asked(slot)], 1);
	if (wc.status == IBV_WC_SUCCESS) {
		switch (pvb_hold_what(cq, conn, slot, at, &err)) {
		case PVB_ANSWER_NONE:
			return false;
		case PVB_ANSWER_ERROR:
			pvb_hold_refuse(cq, slot, err);
			crn_ring_retire(ring, slot->next);
			return true;
		default:
			break;
		}
	}
	if (wc.status == IBV_WC_SUCCESS && (slot->state & PVB_SLOT_LED)) {
		/* Only behind one that failed is the next one of no account. */
		conn->sq.slots[crn_ring_index(ring, slot->next)].state &=
			(uint16_t)~PVB_SLOT_PROOF;
		crn_ring_retire(ring, slot->next);
	} else if (pvb_cq_convert_sent(&wc, slot, &comp)) {
		pvb_cq_stash(cq, &comp);
	}
	return true;
}

static void pvb_hold_release_one(struct pvb_cq *cq, struct pvb_holder *holder)
{
	struct pvb_conn *conn = crn_container_of(holder, struct pvb_conn, hold.holder);
	struct crn_ring *ring = &conn->sq.ring;

	while (atomic_load_explicit(&ring->tail, memory_order_relaxed) !=
	       conn->hold.done) {
		if (cq->stash_count == cq->stash_size || !pvb_hold_oldest(cq, conn))
			return;
	}
	pvb_hold_end(conn);
}

void pvb_hold_release(struct pvb_cq *cq)
{
	struct crn_list *entry, *next;
	struct pvb_holder *holder;

	crn_list_for_each_safe (entry, next, &cq->holding) {
		holder = crn_container_of(entry, struct pvb_holder, entry);
		holder->release(cq, holder);
	}
}

/* Those before it that the device has said nothing of succeeded. */
static void pvb_hold_note(struct pvb_conn *conn, struct pvb_slot *slot,
			  enum ibv_wc_status status)
{
	const struct crn_ring *ring = &conn->sq.ring;
	uint32_t at = conn->hold.active ? conn->hold.done : atomic_load(&ring->tail);

	for (; at != slot->next - 1; at++)
		conn->sq.slots[crn_ring_index(ring, at)].status = IBV_WC_SUCCESS;
	slot->status = (uint16_t)status;
}

bool pvb_hold(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot)
{
	struct pvb_conn *conn = slot->wq->conn;
	struct pvb_hold *hold = &conn->hold;

	if (!pvb_hold_needed(hold, slot))
		return false;
	if (wc->status != IBV_WC_SUCCESS)
		hold->broken = true;
	else if (slot->state & PVB_SLOT_GROUP_END) {
		hold->flushed = slot->next;
		hold->flushing = true;
	}
	pvb_hold_note(conn, slot, wc->status);
	hold->marked |= slot == &conn->marker;
	hold->done = slot->next;
	if ((slot->state & PVB_SLOT_REQUEST) && wc->status == IBV_WC_SUCCESS)
		pvb_lane_now(conn->lane, ++hold->seen);
	if (hold->active)
		return true;
	hold->active = true;
	hold->holder.release = pvb_hold_release_one;
	crn_list_add_tail(&cq->holding, &hold->holder.entry);
	if (!atomic_fetch_add(&conn->lane->control->holding, 1))
		pvb_tick(conn->lane->control);
	return true;
}

void pvb_hold_abandon(struct pvb_conn *conn, int err)
{
	struct pvb_wq *sq = &conn->sq;
	struct pvb_cq *cq = sq->cq;
	struct pvb_slot *slot;
	uint32_t at;

	crn_lock(&cq->lock);
	if (pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH))
		PVB_WARN(FI_LOG_CQ,
			 "no memory to report a group of writes that failed\n");
	for (at = atomic_load(&sq->ring.tail); at != sq->ring.head; at++) {
		slot = &sq->slots[crn_ring_index(&sq->ring, at)];
		if (!(slot->state & PVB_SLOT_GROUP) ||
		    pvb_hold_flushed(&conn->hold, at) ||
		    cq->stash_count == cq->stash_size)
			continue;
		pvb_hold_refuse(cq, slot, err);
		slot->context = NULL;
		slot->state = PVB_SLOT_INJECT;
		pvb_hold_ungroup(&conn->hold);
	}
	if (cq->channel)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}
