/* SPDX-License-Identifier: BSD-2-Clause */
#include "../cq.h"
#include "control.h"
#include "hold.h"

/* An answer and what it says. */
enum pvb_answer { PVB_ANSWER_NONE, PVB_ANSWER_OK, PVB_ANSWER_ERROR };

#define PVB_SLOT_ASKS (PVB_SLOT_REQUEST | PVB_SLOT_ENTRY)

/* A fenced one is, while what it saw to is, and when that failed. */
static bool pvb_hold_needed(const struct pvb_hold *hold, const struct pvb_slot *slot)
{
	return hold->active || (slot->flags & PVB_SLOT_ASKS) ||
	       atomic_load(&hold->grouped) ||
	       ((slot->flags & PVB_SLOT_FENCED) && atomic_load(&hold->failed));
}

bool pvb_hold(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot)
{
	struct pvb_conn *conn = slot->wq->conn;
	struct pvb_hold *hold = &conn->hold;

	if (!pvb_hold_needed(hold, slot))
		return false;
	if (wc->status != IBV_WC_SUCCESS)
		hold->broken = true;
	else if (slot->flags & PVB_SLOT_GROUP_END) {
		hold->flushed = slot->next;
		hold->flushing = true;
	}
	slot->flags |= (uint64_t)wc->status << PVB_SLOT_STATUS_SHIFT;
	hold->marked |= slot == &conn->marker;
	hold->done = slot->next;
	if ((slot->flags & PVB_SLOT_REQUEST) && wc->status == IBV_WC_SUCCESS)
		pvb_lane_now(conn->lane, ++hold->seen);
	if (hold->active)
		return true;
	hold->active = true;
	crn_list_add_tail(&cq->holding, &hold->entry);
	if (!atomic_fetch_add(&conn->lane->control->holding, 1))
		pvb_control_tick(conn->lane->control);
	return true;
}

static void pvb_hold_end(struct pvb_conn *conn)
{
	conn->hold.active = false;
	crn_list_del(&conn->hold.entry);
	atomic_fetch_sub(&conn->lane->control->holding, 1);
}

void pvb_hold_forget(struct pvb_conn *conn)
{
	if (conn->hold.active)
		pvb_hold_end(conn);
}

/* Whoever was kept from looking, by a signal or a busy machine, looks before it blames
 * the target. */
static bool pvb_hold_late(struct pvb_conn *conn, const struct pvb_asks *asks,
			  uint32_t number)
{
	if (crn_now_ms() < asks->of[number % PVB_LANE_CREDITS].deadline)
		return false;
	return pvb_control_progress(conn->lane->control) &&
	       (int32_t)(atomic_load(&asks->answered) - number) < 0;
}

/* What became of the question that the slot waits for; *err: FI_E*. */
static enum pvb_answer pvb_hold_answer(struct pvb_conn *conn, const struct pvb_slot *slot,
				       int *err)
{
	const int kind = slot->flags & PVB_SLOT_REQUEST ? PVB_ASK_REQUEST : PVB_ASK_ENTRY;
	struct pvb_asks *asks = &conn->lane->asks[kind];
	const uint32_t number = atomic_load(&conn->hold.ended[kind]) + 1;
	const uint32_t answered =
		atomic_load_explicit(&asks->answered, memory_order_acquire);

	if ((int32_t)(answered - number) >= 0) {
		*err = atomic_load(&conn->hold.failed)
			       ? FI_ECANCELED
			       : asks->of[number % PVB_LANE_CREDITS].status;
	} else if (atomic_load(&conn->lane->lost)) {
		*err = atomic_load(&conn->sq.ring.size) ? FI_ECONNABORTED : FI_ECANCELED;
	} else if (pvb_hold_late(conn, asks, number)) {
		*err = FI_ETIMEDOUT;
		pvb_lane_lose(conn->lane, "the target does not answer");
	} else {
		return PVB_ANSWER_NONE;
	}
	atomic_store(&conn->hold.ended[kind], number);
	/* Of what went ahead of a fenced one, that one's program hears nothing else. */
	if (*err && (slot->flags & PVB_SLOT_INJECT))
		atomic_store(&conn->hold.failed, true);
	return *err ? PVB_ANSWER_ERROR : PVB_ANSWER_OK;
}

static void pvb_hold_refuse(struct pvb_cq *cq, const struct pvb_slot *slot, int err)
{
	const struct pvb_comp comp = {
		.context = slot->context,
		.flags = slot->flags & ~PVB_SLOT_FLAGS,
		.err = err,
		.prov_errno = err == FI_ECANCELED ? IBV_WC_WR_FLUSH_ERR : -err,
	};

	pvb_cq_count(slot->wq, comp.flags, err);
	if (!(slot->flags & PVB_SLOT_INJECT))
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

static enum pvb_answer pvb_hold_what(struct pvb_conn *conn, const struct pvb_slot *slot,
				     uint32_t at, int *err)
{
	if (slot->flags & PVB_SLOT_ASKS)
		return pvb_hold_answer(conn, slot, err);
	if (slot->flags & PVB_SLOT_GROUP)
		return pvb_hold_group(conn, at, err);
	*err = FI_ECANCELED;
	return (slot->flags & PVB_SLOT_FENCED) && !(slot->flags & PVB_SLOT_LED) &&
			       atomic_load(&conn->hold.failed)
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
		.status = (slot->flags & PVB_SLOT_STATUS) >> PVB_SLOT_STATUS_SHIFT,
		.qp_num = conn->qp->qp_num,
	};
	struct pvb_comp comp;
	int err;

	if (wc.status != IBV_WC_SUCCESS && (slot->flags & PVB_SLOT_GROUP))
		pvb_hold_ungroup(&conn->hold);
	if (wc.status == IBV_WC_SUCCESS) {
		switch (pvb_hold_what(conn, slot, at, &err)) {
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
	if (wc.status == IBV_WC_SUCCESS && (slot->flags & PVB_SLOT_LED)) {
		/* Only behind one that failed is the next one of no account. */
		conn->sq.slots[crn_ring_index(ring, slot->next)].flags &= ~PVB_SLOT_PROOF;
		crn_ring_retire(ring, slot->next);
	} else if (pvb_cq_convert_sent(&wc, slot, &comp)) {
		pvb_cq_stash(cq, &comp);
	}
	return true;
}

static void pvb_hold_release_one(struct pvb_cq *cq, struct pvb_conn *conn)
{
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

	crn_list_for_each_safe (entry, next, &cq->holding)
		pvb_hold_release_one(cq, crn_container_of(entry, struct pvb_conn,
							  hold.entry));
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
		if (!(slot->flags & PVB_SLOT_GROUP) ||
		    pvb_hold_flushed(&conn->hold, at) ||
		    cq->stash_count == cq->stash_size)
			continue;
		pvb_hold_refuse(cq, slot, err);
		slot->context = NULL;
		slot->flags = (slot->flags & PVB_SLOT_STATUS) | PVB_SLOT_INJECT;
		pvb_hold_ungroup(&conn->hold);
	}
	if (cq->channel)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}
