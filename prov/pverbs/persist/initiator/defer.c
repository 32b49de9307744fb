/* SPDX-License-Identifier: BSD-2-Clause */
#include "cq/cq.h"
#include "persist/control/control.h"
#include "persist/persist.h"
#include "defer.h"
#include "initiator.h"

/* Whether the target has answered, and with what. */
enum pvb_answer { PVB_ANSWER_NONE, PVB_ANSWER_OK, PVB_ANSWER_ERROR };

#define PVB_SLOT_REQUESTS (PVB_SLOT_REQUEST | PVB_SLOT_ENTRY)

/* The error of an operation before a fenced one that is not durable: FI_E*, or 0. */
static int pvb_defer_before(const struct pvb_defer *defer)
{
	return atomic_load(&defer->failed) ? FI_ECANCELED
					   : atomic_load(&defer->undurable);
}

/* A fenced one is, while what it saw to is, and when that failed. */
static bool pvb_defer_needed(const struct pvb_defer *defer, const struct pvb_slot *slot)
{
	return defer->active || (slot->state & PVB_SLOT_REQUESTS) ||
	       atomic_load(&defer->grouped) ||
	       ((slot->state & PVB_SLOT_FENCED) && pvb_defer_before(defer));
}

static void pvb_defer_end(struct pvb_qp *qp)
{
	struct pvb_defer *defer = &qp->commit->defer;

	defer->active = false;
	crn_list_del(&defer->source.entry);
	atomic_fetch_sub(&qp->control_qp->control->deferring, 1);
}

void pvb_defer_forget(struct pvb_qp *qp)
{
	if (qp->commit && qp->commit->defer.active)
		pvb_defer_end(qp);
}

/*
 * Asks for a check whether the connection has ended, which would explain a missing
 * answer.
 */
static void pvb_defer_wonder(struct pvb_cq *cq, struct pvb_defer *defer, uint64_t now,
			     uint64_t deadline)
{
	if (now + (uint64_t)pvb_params.commit_timeout < deadline + PVB_DEFER_LOOK_MS ||
	    now < defer->look)
		return;
	defer->look = now + PVB_DEFER_LOOK_MS;
	defer->source.wonders = true;
	atomic_store(&cq->wonders, true);
}

/* The event queue of one that wonders, which is not closed until looking is 0; NULL: of
 * none. */
static struct pvb_eq *pvb_defer_wondering(struct pvb_cq *cq)
{
	struct pvb_defer_source *source;
	struct crn_list *entry;
	struct pvb_qp *qp;
	struct pvb_eq *eq = NULL;

	crn_list_for_each (entry, &cq->deferring) {
		source = crn_container_of(entry, struct pvb_defer_source, entry);
		if (!source->wonders)
			continue;
		source->wonders = false;
		qp = crn_container_of(source, struct pvb_defer, source)->qp;
		eq = pvb_qp_ep(qp)->eq;
		atomic_fetch_add(&eq->looking, 1);
		break;
	}
	if (!eq)
		atomic_store(&cq->wonders, false);
	return eq;
}

void pvb_defer_look(struct pvb_cq *cq)
{
	struct pvb_eq *eq;

	if (!atomic_load(&cq->wonders))
		return;
	crn_lock(&cq->lock);
	eq = pvb_defer_wondering(cq);
	crn_unlock(&cq->lock);
	if (!eq)
		return;
	eq->cm->look(eq);
	atomic_fetch_sub(&eq->looking, 1);
}

/* A thread that was delayed, by a signal or a busy machine, polls once more before it
 * reports a timeout. */
static bool pvb_defer_late(struct pvb_cq *cq, struct pvb_qp *qp,
			   const struct pvb_control_requests *requests, uint32_t number)
{
	const uint64_t deadline = requests->of[number % PVB_CONTROL_CREDITS].deadline;
	const uint64_t now = crn_now_ms();

	pvb_defer_wonder(cq, &qp->commit->defer, now, deadline);
	if (now < deadline)
		return false;
	return pvb_control_take(qp->control_qp->control) &&
	       (int32_t)(atomic_load(&requests->answered) - number) < 0;
}

static enum pvb_request_kind pvb_defer_kind(const struct pvb_slot *slot)
{
	return slot->state & PVB_SLOT_REQUEST ? PVB_REQUEST_CONTROL : PVB_REQUEST_ENTRY;
}

/* The error of an operation whose answer has that status. */
static int pvb_defer_status(const struct pvb_defer *defer, const struct pvb_slot *slot,
			    int status)
{
	if (atomic_load(&defer->failed))
		return FI_ECANCELED;
	return slot->state & PVB_SLOT_FENCED && atomic_load(&defer->undurable)
		       ? atomic_load(&defer->undurable)
		       : status;
}

/* The state of the request that the slot waits for; *err: FI_E*. */
static enum pvb_answer pvb_defer_answer(struct pvb_cq *cq, struct pvb_qp *qp,
					const struct pvb_slot *slot, int *err)
{
	const enum pvb_request_kind kind = pvb_defer_kind(slot);
	struct pvb_control_requests *requests = &qp->control_qp->requests[kind];
	struct pvb_defer *defer = &qp->commit->defer;
	const uint32_t number = atomic_load(&defer->ended[kind]) + 1;
	const uint32_t answered =
		atomic_load_explicit(&requests->answered, memory_order_acquire);

	if ((int32_t)(answered - number) >= 0) {
		*err = pvb_defer_status(
			defer, slot, requests->of[number % PVB_CONTROL_CREDITS].status);
	} else if (atomic_load(&qp->control_qp->lost)) {
		*err = atomic_load(&qp->sq.ring.size) ? FI_ECONNABORTED : FI_ECANCELED;
	} else if (pvb_defer_late(cq, qp, requests, number)) {
		*err = FI_ETIMEDOUT;
		pvb_control_qp_lose(qp->control_qp, "the target does not answer");
	} else {
		return PVB_ANSWER_NONE;
	}
	atomic_store(&defer->ended[kind], number);
	/* An upgrade posted before a fenced operation reports its failure through that
	 * operation only. */
	if (*err && requests->of[number % PVB_CONTROL_CREDITS].messages && !kind)
		atomic_store(&defer->undurable, *err);
	else if (*err && (slot->state & PVB_SLOT_INJECT))
		atomic_store(&defer->failed, true);
	return *err ? PVB_ANSWER_ERROR : PVB_ANSWER_OK;
}

static void pvb_defer_refuse(struct pvb_cq *cq, const struct pvb_slot *slot, int err)
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
static bool pvb_defer_flushed(const struct pvb_defer *defer, uint32_t at)
{
	return defer->flushing && (int32_t)(defer->flushed - at) > 0;
}

/* One of a group is reported. Behind the last one positions go round, as they may. */
static void pvb_defer_ungroup(struct pvb_defer *defer)
{
	if (atomic_fetch_sub(&defer->grouped, 1) == 1)
		defer->flushing = false;
}

/* The same for one of a group: what makes the group durable is behind it. */
static enum pvb_answer pvb_defer_group(struct pvb_qp *qp, uint32_t at, int *err)
{
	struct pvb_defer *defer = &qp->commit->defer;
	const bool durable = pvb_defer_flushed(defer, at);

	*err = FI_ECANCELED;
	if (!durable && !defer->broken)
		return PVB_ANSWER_NONE;
	pvb_defer_ungroup(defer);
	return durable ? PVB_ANSWER_OK : PVB_ANSWER_ERROR;
}

static enum pvb_answer pvb_defer_what(struct pvb_cq *cq, struct pvb_qp *qp,
				      const struct pvb_slot *slot, uint32_t at, int *err)
{
	if (slot->state & PVB_SLOT_REQUESTS)
		return pvb_defer_answer(cq, qp, slot, err);
	if (slot->state & PVB_SLOT_GROUP)
		return pvb_defer_group(qp, at, err);
	*err = pvb_defer_before(&qp->commit->defer);
	return *err && (slot->state & PVB_SLOT_FENCED) && !(slot->state & PVB_SLOT_HEAD)
		       ? PVB_ANSWER_ERROR
		       : PVB_ANSWER_OK;
}

/* The oldest; the marker of pvb_tx_close is not in the ring. */
static struct pvb_slot *pvb_defer_slot(struct pvb_qp *qp, uint32_t at)
{
	if (qp->commit->defer.marked && at + 1 == qp->marker.next)
		return &qp->marker;
	return &qp->sq.slots[crn_ring_index(&qp->sq.ring, at)];
}

/* The oldest slot; false: it has to wait. */
static bool pvb_defer_oldest(struct pvb_cq *cq, struct pvb_qp *qp)
{
	struct crn_ring *ring = &qp->sq.ring;
	const uint32_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct pvb_slot *slot = pvb_defer_slot(qp, at);
	struct ibv_wc wc = {
		.wr_id = (uintptr_t)slot,
		.status = slot->status,
		.qp_num = qp->ibv->qp_num,
	};
	struct pvb_comp comp;
	int err;

	if (wc.status != IBV_WC_SUCCESS && (slot->state & PVB_SLOT_GROUP))
		pvb_defer_ungroup(&qp->commit->defer);
	/* Its answer is not awaited any more: another request may be sent. */
	if (wc.status != IBV_WC_SUCCESS && (slot->state & PVB_SLOT_REQUESTS))
		atomic_fetch_add(&qp->commit->defer.ended[pvb_defer_kind(slot)], 1);
	if (wc.status == IBV_WC_SUCCESS) {
		switch (pvb_defer_what(cq, qp, slot, at, &err)) {
		case PVB_ANSWER_NONE:
			return false;
		case PVB_ANSWER_ERROR:
			pvb_defer_refuse(cq, slot, err);
			crn_ring_retire(ring, slot->next);
			return true;
		default:
			break;
		}
	}
	if (wc.status == IBV_WC_SUCCESS && (slot->state & PVB_SLOT_HEAD)) {
		/* Only behind one that failed is the next one of no account. */
		qp->sq.slots[crn_ring_index(ring, slot->next)].state &=
			(uint16_t)~PVB_SLOT_TAIL;
		crn_ring_retire(ring, slot->next);
	} else if (pvb_cq_convert_sent(&wc, slot, &comp)) {
		pvb_cq_stash(cq, &comp);
	}
	return true;
}

static void pvb_defer_release_one(struct pvb_cq *cq, struct pvb_defer_source *source)
{
	const struct pvb_defer *defer =
		crn_container_of(source, struct pvb_defer, source);
	struct pvb_qp *qp = defer->qp;
	struct crn_ring *ring = &qp->sq.ring;

	crn_lock_assert_held(&cq->lock);
	while (atomic_load_explicit(&ring->tail, memory_order_relaxed) != defer->done) {
		if (cq->stash_count == cq->stash_size || !pvb_defer_oldest(cq, qp))
			return;
	}
	pvb_defer_end(qp);
}

/* Unsignaled operations before it succeeded. */
static void pvb_defer_note(struct pvb_qp *qp, struct pvb_slot *slot,
			   enum ibv_wc_status status)
{
	const struct pvb_defer *defer = &qp->commit->defer;
	const struct crn_ring *ring = &qp->sq.ring;
	uint32_t at = defer->active ? defer->done : atomic_load(&ring->tail);

	for (; at != slot->next - 1; at++)
		qp->sq.slots[crn_ring_index(ring, at)].status = IBV_WC_SUCCESS;
	slot->status = (uint16_t)status;
}

bool pvb_defer(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot)
{
	struct pvb_qp *qp = slot->wq->qp;
	struct pvb_defer *defer = &qp->commit->defer;

	crn_lock_assert_held(&cq->lock);
	if (!pvb_defer_needed(defer, slot))
		return false;
	if (wc->status != IBV_WC_SUCCESS)
		defer->broken = true;
	else if (slot->state & PVB_SLOT_GROUP_END) {
		defer->flushed = slot->next;
		defer->flushing = true;
	}
	pvb_defer_note(qp, slot, wc->status);
	defer->marked |= slot == &qp->marker;
	defer->done = slot->next;
	if ((slot->state & PVB_SLOT_REQUEST) && wc->status == IBV_WC_SUCCESS)
		pvb_control_qp_now(qp->control_qp, ++defer->seen);
	if (defer->active)
		return true;
	defer->active = true;
	defer->source.release = pvb_defer_release_one;
	crn_list_add_tail(&cq->deferring, &defer->source.entry);
	if (!atomic_fetch_add(&qp->control_qp->control->deferring, 1))
		pvb_tick(qp->control_qp->control);
	return true;
}

void pvb_defer_abandon(struct pvb_qp *qp, int err)
{
	struct pvb_wq *sq = &qp->sq;
	struct pvb_cq *cq = sq->cq;
	struct pvb_slot *slot;
	uint32_t at;

	crn_lock_assert_held(&qp->tx_lock);
	crn_lock(&cq->lock);
	if (pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH))
		PVB_WARN(FI_LOG_CQ,
			 "no memory to report a group of writes that failed\n");
	for (at = atomic_load(&sq->ring.tail); at != sq->ring.head; at++) {
		slot = &sq->slots[crn_ring_index(&sq->ring, at)];
		if (!(slot->state & PVB_SLOT_GROUP) ||
		    pvb_defer_flushed(&qp->commit->defer, at) ||
		    cq->stash_count == cq->stash_size)
			continue;
		pvb_defer_refuse(cq, slot, err);
		slot->context = NULL;
		slot->state = PVB_SLOT_INJECT;
		pvb_defer_ungroup(&qp->commit->defer);
	}
	if (cq->channel)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}
