/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives at the target of durable operations. Data that must be durable before its
 * completion is reported is flushed here: small amounts at once, large ones in pieces,
 * in turn with requests of other connections (persist/control/control.c), so that
 * reading the completion queue does not block. Then the completion, and those of the
 * connection behind it, which must not overtake it, wait in a list of the control queue
 * pair; their receives stay taken, so there are never more than were posted.
 *
 * Of the oldest: IDLE -> READY <-> WORK -> DONE -> IDLE, with control->lock held but for
 * the last, which is the completion queue's (pvb_cq.lock).
 */
#include <cairn/pmem.h>
#include "cq/cq.h"
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"
#include "target.h"
#include "target.h"

/* Bytes that are made durable at once: about 6 us. */
#define PVB_ARRIVAL_NOW 4096u

static struct pvb_control_qp *pvb_arrivals_control_qp(struct pvb_arrivals *all)
{
	return crn_container_of(all, struct pvb_control_qp, arrivals);
}

/* Flushes a place, with control->lock held but not meanwhile: 0, or FI_E* when its region
 * was closed. */
static int pvb_arrival_flush(struct pvb_control *control, uint64_t addr, uint64_t len)
{
	struct pvb_pmem_region *region = pvb_pmem_region_containing(control, addr, len);

	crn_mutex_assert_held(&control->lock);
	if (!region)
		return FI_EKEYREJECTED;
	pvb_pmem_region_get(region);
	pthread_mutex_unlock(&control->lock);
	pvb_pmem_region_flush(region, addr, len);
	crn_pmem_drain();
	pthread_mutex_lock(&control->lock);
	pvb_pmem_region_put(control, region);
	return 0;
}

/* Bytes of them that take time. */
static uint64_t pvb_places_cost(struct pvb_control *control,
				const struct pvb_places *places)
{
	const struct pvb_wire_range *place;
	uint64_t cost = 0;
	uint32_t i;

	for (i = 0; i < places->count; i++) {
		place = &places->place[i];
		if (pvb_pmem_region_containing(control, place->addr, place->len)->flush)
			cost += place->len;
	}
	return cost;
}

/* A piece of the oldest. */
static uint64_t pvb_arrival_turn(struct pvb_turn *turn, uint64_t most)
{
	struct pvb_arrivals *all = crn_container_of(turn, struct pvb_arrivals, turn);
	struct pvb_control_qp *cqp = pvb_arrivals_control_qp(all);
	struct pvb_control *control = cqp->control;
	const struct pvb_wire_range *place = &all->places.place[all->at];
	const uint64_t len = CRN_MIN(place->len - all->done, most);
	int err;

	pvb_turn_end(control, turn);
	atomic_store(&all->state, PVB_ARRIVAL_WORK);
	err = pvb_arrival_flush(control, place->addr + all->done, len);
	all->done += len;
	if (all->done == place->len) {
		all->done = 0;
		all->at++;
	}
	if (err)
		all->err = err;
	if (err || all->at == all->places.count) {
		atomic_store(&all->state, PVB_ARRIVAL_DONE);
		crn_wait_signal(&cqp->qp->rq.cq->wait);
		pvb_cntr_wake(&cqp->qp->rq);
	} else {
		atomic_store(&all->state, PVB_ARRIVAL_READY);
		pvb_turn_begin(control, turn);
	}
	/* The control queue pair may be gone once the lock is given up. */
	pthread_cond_broadcast(&control->ended);
	return CRN_MIN(most, len + PVB_PIECE_COST);
}

/* It is done, or begins: false. With pvb_cq.lock held, as the rest. */
static bool pvb_arrival_begin(struct pvb_control_qp *cqp,
			      const struct pvb_arrival *arrival)
{
	struct pvb_arrivals *all = &cqp->arrivals;
	struct pvb_control *control = cqp->control;
	bool now;
	uint32_t i;
	int err;

	if (!arrival->kept) {
		pvb_message_ring_ended(cqp, &arrival->wc, arrival, 0);
		return true;
	}
	pthread_mutex_lock(&control->lock);
	all->err = pvb_message_ring_places(control, arrival, &all->places);
	now = pvb_places_cost(control, &all->places) <= PVB_ARRIVAL_NOW;
	for (i = 0; now && i < all->places.count; i++) {
		err = pvb_arrival_flush(control, all->places.place[i].addr,
					all->places.place[i].len);
		all->err = err ? err : all->err;
	}
	if (!now) {
		all->at = 0;
		all->done = 0;
		atomic_store(&all->state, PVB_ARRIVAL_READY);
		pvb_turn_begin(control, &all->turn);
		pvb_control_pass(control);
	}
	pthread_mutex_unlock(&control->lock);
	if (now)
		pvb_message_ring_ended(cqp, &arrival->wc, arrival, all->err);
	return now;
}

static void pvb_arrival_append(struct pvb_cq *cq, struct pvb_arrivals *all,
			       struct pvb_arrival *arrival)
{
	crn_lock_assert_held(&cq->lock);
	arrival->next = NULL;
	if (all->oldest) {
		all->newest->next = arrival;
	} else {
		all->oldest = arrival;
		crn_list_add_tail(&cq->deferring, &all->source.entry);
	}
	all->newest = arrival;
}

/* True: its completion is the program's later. */
static bool pvb_arrival_waits(struct pvb_cq *cq, struct pvb_control_qp *cqp,
			      const struct ibv_wc *wc)
{
	const struct pvb_slot *slot = pvb_wc_slot(wc);
	struct pvb_arrival *arrival = &slot->wq->arrivals[slot - slot->wq->slots];
	const bool good = wc->status == IBV_WC_SUCCESS;

	crn_lock_assert_held(&cq->lock);
	if (cqp->arrivals.closed || (!good && !cqp->arrivals.oldest))
		return false;
	if (good)
		pvb_message_ring_match(cqp, wc, arrival);
	/* As nearly all do. */
	if (!cqp->arrivals.oldest && !arrival->kept) {
		pvb_message_ring_ended(cqp, wc, arrival, 0);
		return false;
	}
	arrival->wc = *wc;
	if (!cqp->arrivals.oldest && pvb_arrival_begin(cqp, arrival))
		return false;
	pvb_arrival_append(cq, &cqp->arrivals, arrival);
	return true;
}

bool pvb_arrival(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
		 struct pvb_comp *comp)
{
	struct pvb_control_qp *cqp = wq->qp->control_qp;

	crn_lock_assert_held(&cq->lock);
	return !(cqp && pvb_arrival_waits(cq, cqp, wc)) &&
	       pvb_cq_convert_received(wc, wq, comp);
}

/* The oldest completes. */
static void pvb_arrival_complete(struct pvb_cq *cq, struct pvb_arrivals *all)
{
	struct pvb_arrival *arrival = all->oldest;
	const struct ibv_wc wc = arrival->wc;
	struct pvb_comp comp;

	crn_lock_assert_held(&cq->lock);
	all->oldest = arrival->next;
	if (!all->oldest)
		crn_list_del(&all->source.entry);
	/* Its receive may be posted again at once. */
	if (pvb_cq_convert_received(&wc, &pvb_arrivals_control_qp(all)->qp->rq, &comp) &&
	    cq->stash_count < cq->stash_size)
		pvb_cq_stash(cq, &comp);
}

/* May the oldest complete? */
static bool pvb_arrival_ended(struct pvb_control_qp *cqp)
{
	struct pvb_arrivals *all = &cqp->arrivals;

	if (all->oldest->wc.status != IBV_WC_SUCCESS)
		return true;
	switch (atomic_load(&all->state)) {
	case PVB_ARRIVAL_IDLE:
		return pvb_arrival_begin(cqp, all->oldest);
	case PVB_ARRIVAL_DONE:
		atomic_store(&all->state, PVB_ARRIVAL_IDLE);
		pvb_message_ring_ended(cqp, &all->oldest->wc, all->oldest, all->err);
		return true;
	default:
		return false;
	}
}

static void pvb_arrival_release(struct pvb_cq *cq, struct pvb_defer_source *source)
{
	struct pvb_arrivals *all = crn_container_of(source, struct pvb_arrivals, source);

	crn_lock_assert_held(&cq->lock);
	while (all->oldest && cq->stash_count < cq->stash_size &&
	       pvb_arrival_ended(pvb_arrivals_control_qp(all)))
		pvb_arrival_complete(cq, all);
}

void pvb_arrival_abandon(struct pvb_cq *cq, struct pvb_qp *qp)
{
	struct pvb_control_qp *cqp = qp->control_qp;
	struct pvb_arrivals *all;

	if (!cqp || !cqp->arrivals.oldest)
		return;
	all = &cqp->arrivals;
	pthread_mutex_lock(&cqp->control->lock);
	while (atomic_load(&all->state) == PVB_ARRIVAL_WORK)
		pthread_cond_wait(&cqp->control->ended, &cqp->control->lock);
	if (atomic_load(&all->state) == PVB_ARRIVAL_READY)
		pvb_turn_end(cqp->control, &all->turn);
	atomic_store(&all->state, PVB_ARRIVAL_IDLE);
	pthread_mutex_unlock(&cqp->control->lock);
	while (all->oldest) {
		/*
		 * Data that need not be durable has arrived, and its sender has been
		 * told.
		 */
		if (all->oldest->kept && all->oldest->wc.status == IBV_WC_SUCCESS)
			all->oldest->wc.status = IBV_WC_WR_FLUSH_ERR;
		pvb_arrival_complete(cq, all);
	}
}

void pvb_arrivals_close(struct pvb_cq *cq, struct pvb_qp *qp)
{
	if (qp->control_qp)
		qp->control_qp->arrivals.closed = true;
	pvb_arrival_abandon(cq, qp);
}

void pvb_arrivals_init(struct pvb_control_qp *cqp)
{
	struct pvb_arrivals *all = &cqp->arrivals;

	crn_list_init(&all->source.entry);
	all->source.release = pvb_arrival_release;
	crn_list_init(&all->turn.entry);
	all->turn.run = pvb_arrival_turn;
}
