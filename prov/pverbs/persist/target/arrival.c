/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives at the target of durable operations. What has to be durable before the program
 * hears of it is made so here: a little of it at once, a lot in pieces, in turn with what
 * other connections ask for (persist/control/control.c), so that nobody who reads the
 * completion queue waits for it. Then the completion, and those of the connection behind
 * it, which must not overtake it, wait in a list of the lane; their receives stay taken,
 * so there are never more than were posted.
 *
 * Of the oldest: IDLE -> READY <-> WORK -> DONE -> IDLE, with control->lock held but for
 * the last, which is the completion queue's (pvb_cq.lock).
 */
#include <libpmem.h>
#include "cq/cq.h"
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"
#include "target.h"

/* Bytes that are made durable at once: about 6 us. */
#define PVB_ARRIVAL_NOW 4096u

static struct pvb_lane *pvb_arrivals_lane(struct pvb_arrivals *all)
{
	return crn_container_of(all, struct pvb_lane, arrivals);
}

/* Flushes a place, with control->lock held but not meanwhile: 0, or FI_E* when its region
 * was closed. */
static int pvb_arrival_flush(struct pvb_control *control, uint64_t addr, uint64_t len)
{
	struct pvb_target *target = pvb_target_holding(control, addr, len);

	if (!target)
		return FI_EKEYREJECTED;
	pvb_target_hold(target);
	pthread_mutex_unlock(&control->lock);
	pvb_target_flush(target, addr, len);
	pmem_drain();
	pthread_mutex_lock(&control->lock);
	pvb_target_let_go(control, target);
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
		if (pvb_target_holding(control, place->addr, place->len)->flush)
			cost += place->len;
	}
	return cost;
}

/* A piece of the oldest. */
static uint64_t pvb_arrival_turn(struct pvb_turn *turn, uint64_t most)
{
	struct pvb_arrivals *all = crn_container_of(turn, struct pvb_arrivals, turn);
	struct pvb_lane *lane = pvb_arrivals_lane(all);
	struct pvb_control *control = lane->control;
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
		crn_wait_signal(&lane->conn->rq.cq->wait);
		pvb_cntr_wake(&lane->conn->rq);
	} else {
		atomic_store(&all->state, PVB_ARRIVAL_READY);
		pvb_turn_begin(control, turn);
	}
	/* The lane may be gone once the lock is given up. */
	pthread_cond_broadcast(&control->ended);
	return CRN_MIN(most, len + PVB_PIECE_COST);
}

/* It is done, or begins: false. With pvb_cq.lock held, as the rest. */
static bool pvb_arrival_begin(struct pvb_lane *lane, const struct pvb_arrival *arrival)
{
	struct pvb_arrivals *all = &lane->arrivals;
	struct pvb_control *control = lane->control;
	bool now;
	uint32_t i;
	int err;

	if (!arrival->kept) {
		pvb_ring_ended(lane, &arrival->wc, arrival, 0);
		return true;
	}
	pthread_mutex_lock(&control->lock);
	all->err = pvb_ring_places(control, arrival, &all->places);
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
		pvb_ring_ended(lane, &arrival->wc, arrival, all->err);
	return now;
}

static void pvb_arrival_append(struct pvb_cq *cq, struct pvb_arrivals *all,
			       struct pvb_arrival *arrival)
{
	arrival->next = NULL;
	if (all->oldest) {
		all->newest->next = arrival;
	} else {
		all->oldest = arrival;
		crn_list_add_tail(&cq->holding, &all->holder.entry);
	}
	all->newest = arrival;
}

/* True: its completion is the program's later. */
static bool pvb_arrival_waits(struct pvb_cq *cq, struct pvb_lane *lane,
			      const struct ibv_wc *wc)
{
	const struct pvb_slot *slot = pvb_wc_slot(wc);
	struct pvb_arrival *arrival = &slot->wq->arrivals[slot - slot->wq->slots];
	const bool good = wc->status == IBV_WC_SUCCESS;

	if (lane->arrivals.closed || (!good && !lane->arrivals.oldest))
		return false;
	if (good)
		pvb_ring_match(lane, wc, arrival);
	/* As nearly all do. */
	if (!lane->arrivals.oldest && !arrival->kept) {
		pvb_ring_ended(lane, wc, arrival, 0);
		return false;
	}
	arrival->wc = *wc;
	if (!lane->arrivals.oldest && pvb_arrival_begin(lane, arrival))
		return false;
	pvb_arrival_append(cq, &lane->arrivals, arrival);
	return true;
}

bool pvb_arrival(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
		 struct pvb_comp *comp)
{
	struct pvb_lane *lane = wq->conn->lane;

	return !(lane && pvb_arrival_waits(cq, lane, wc)) &&
	       pvb_cq_convert_received(wc, wq, comp);
}

/* The oldest completes. */
static void pvb_arrival_complete(struct pvb_cq *cq, struct pvb_arrivals *all)
{
	struct pvb_arrival *arrival = all->oldest;
	const struct ibv_wc wc = arrival->wc;
	struct pvb_comp comp;

	all->oldest = arrival->next;
	if (!all->oldest)
		crn_list_del(&all->holder.entry);
	/* Its receive may be posted again at once. */
	if (pvb_cq_convert_received(&wc, &pvb_arrivals_lane(all)->conn->rq, &comp) &&
	    cq->stash_count < cq->stash_size)
		pvb_cq_stash(cq, &comp);
}

/* May the oldest complete? */
static bool pvb_arrival_ended(struct pvb_lane *lane)
{
	struct pvb_arrivals *all = &lane->arrivals;

	if (all->oldest->wc.status != IBV_WC_SUCCESS)
		return true;
	switch (atomic_load(&all->state)) {
	case PVB_ARRIVAL_IDLE:
		return pvb_arrival_begin(lane, all->oldest);
	case PVB_ARRIVAL_DONE:
		atomic_store(&all->state, PVB_ARRIVAL_IDLE);
		pvb_ring_ended(lane, &all->oldest->wc, all->oldest, all->err);
		return true;
	default:
		return false;
	}
}

static void pvb_arrival_release(struct pvb_cq *cq, struct pvb_holder *holder)
{
	struct pvb_arrivals *all = crn_container_of(holder, struct pvb_arrivals, holder);

	while (all->oldest && cq->stash_count < cq->stash_size &&
	       pvb_arrival_ended(pvb_arrivals_lane(all)))
		pvb_arrival_complete(cq, all);
}

void pvb_arrival_abandon(struct pvb_cq *cq, struct pvb_conn *conn)
{
	struct pvb_lane *lane = conn->lane;
	struct pvb_arrivals *all;

	if (!lane || !lane->arrivals.oldest)
		return;
	all = &lane->arrivals;
	pthread_mutex_lock(&lane->control->lock);
	while (atomic_load(&all->state) == PVB_ARRIVAL_WORK)
		pthread_cond_wait(&lane->control->ended, &lane->control->lock);
	if (atomic_load(&all->state) == PVB_ARRIVAL_READY)
		pvb_turn_end(lane->control, &all->turn);
	atomic_store(&all->state, PVB_ARRIVAL_IDLE);
	pthread_mutex_unlock(&lane->control->lock);
	while (all->oldest) {
		if (all->oldest->wc.status == IBV_WC_SUCCESS)
			all->oldest->wc.status = IBV_WC_WR_FLUSH_ERR;
		pvb_arrival_complete(cq, all);
	}
}

void pvb_arrivals_close(struct pvb_cq *cq, struct pvb_conn *conn)
{
	if (conn->lane)
		conn->lane->arrivals.closed = true;
	pvb_arrival_abandon(cq, conn);
}

void pvb_arrivals_init(struct pvb_lane *lane)
{
	struct pvb_arrivals *all = &lane->arrivals;

	crn_list_init(&all->holder.entry);
	all->holder.release = pvb_arrival_release;
	crn_list_init(&all->turn.entry);
	all->turn.run = pvb_arrival_turn;
}
