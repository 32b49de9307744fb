/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device queues behind a completion queue, and emptying them when an endpoint ends.
 * A fi_cq may be asked for more than a device queue holds (rdma_rxe: 32,767); so device
 * queues are made as endpoints need their depth, and none can overrun.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "cq.h"
#include "internal.h"

int pvb_cq_stash_grow(struct pvb_cq *cq, uint32_t count)
{
	uint32_t i, size = crn_roundup_pow2(cq->stash_count + count);
	struct pvb_comp *stash;

	crn_lock_assert_held(&cq->lock);
	if (size <= cq->stash_size)
		return 0;
	stash = malloc(size * sizeof(*stash));
	if (!stash)
		return -FI_ENOMEM;
	for (i = 0; i < cq->stash_count; i++)
		stash[i] = cq->stash[(cq->stash_head + i) & (cq->stash_size - 1)];
	free(cq->stash);
	cq->stash = stash;
	cq->stash_size = size;
	cq->stash_head = 0;
	return 0;
}

int pvb_cq_prepare_drain(struct pvb_cq *cq)
{
	int ret;

	crn_lock(&cq->lock);
	ret = pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH);
	crn_unlock(&cq->lock);
	return ret;
}

/*
 * Entries of the first device queue of a fi_cq, at most. Programs ask for more than they
 * may ever need: ofi_rxm for those of 256 peers, 2 MiB of pinned memory an endpoint.
 */
#define PVB_HWCQ_FIRST 8192u

/*
 * The first is as deep as the program said, and a little more, because every send queue
 * has an entry more than it offers; each later one as deep as all before it together: so
 * a thousand endpoints of a queue that was said to be small have a dozen device queues to
 * be polled, not hundreds.
 */
static uint32_t pvb_hwcq_depth(const struct pvb_cq *cq, uint32_t slots)
{
	const size_t most = (size_t)cq->domain->attr.max_cqe;
	const size_t hint = CRN_MIN(cq->size_hint, (size_t)PVB_HWCQ_FIRST);
	size_t depth = cq->hw_count ? 0 : hint + hint / 16 + 1;
	uint32_t i;

	for (i = 0; i < cq->hw_count; i++)
		depth += cq->hw[i]->depth;
	return (uint32_t)CRN_MAX(CRN_MIN(depth, most), (size_t)slots);
}

static int pvb_hwcq_add(struct pvb_cq *cq, uint32_t slots, struct pvb_hwcq **out)
{
	struct pvb_hwcq **list, *hw;
	int ret;

	list = realloc(cq->hw, (cq->hw_count + 1) * sizeof(struct pvb_hwcq *));
	if (!list)
		return -FI_ENOMEM;
	cq->hw = list;
	hw = calloc(1, sizeof(*hw));
	if (!hw)
		return -FI_ENOMEM;
	hw->depth = pvb_hwcq_depth(cq, slots);
	hw->cq = ibv_create_cq(cq->domain->verbs, (int)hw->depth, cq, cq->channel,
			       cq->vector);
	if (!hw->cq) {
		ret = pvb_errno();
		PVB_WARN(FI_LOG_CQ, "%s makes no completion queue of %u entries: %s\n",
			 ibv_get_device_name(cq->domain->verbs->device), hw->depth,
			 fi_strerror(-ret));
		free(hw);
		return ret;
	}
	cq->hw[cq->hw_count++] = hw;
	cq->single = cq->hw_count == 1 ? hw->cq : NULL;
	*out = hw;
	return 0;
}

int pvb_cq_reserve(struct pvb_cq *cq, uint32_t slots, struct pvb_hwcq **out)
{
	struct pvb_hwcq *hw = NULL;
	uint32_t i;
	int ret;

	if (slots > (uint32_t)cq->domain->attr.max_cqe)
		return -FI_EINVAL;
	crn_lock(&cq->lock);
	if (cq->ended) {
		ret = -FI_ENODEV;
		goto out;
	}
	ret = pvb_cq_stash_grow(cq, cq->reserved + slots + PVB_POLL_BATCH);
	if (ret)
		goto out;
	for (i = 0; i < cq->hw_count && !hw; i++) {
		/* One without the channel raises no event. */
		if (cq->hw[i]->depth - cq->hw[i]->reserved >= slots &&
		    cq->hw[i]->cq->channel == cq->channel)
			hw = cq->hw[i];
	}
	if (!hw) {
		ret = pvb_hwcq_add(cq, slots, &hw);
		if (ret)
			goto out;
		/* A thread that waits already has not armed this one. */
		if (cq->channel)
			crn_wait_signal(&cq->wait);
	}
	hw->reserved += slots;
	cq->reserved += slots;
	*out = hw;
out:
	crn_unlock(&cq->lock);
	return ret;
}

void pvb_cq_release(struct pvb_cq *cq, struct pvb_hwcq *hw, uint32_t slots)
{
	crn_lock(&cq->lock);
	hw->reserved -= slots;
	cq->reserved -= slots;
	crn_unlock(&cq->lock);
}

uint32_t pvb_cq_shared_at(const struct pvb_cq *cq, uint32_t qp_num)
{
	uint32_t low = 0, high = cq->shared_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cq->shared[middle].qp_num < qp_num)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int pvb_cq_share(struct pvb_cq *cq, uint32_t qp_num, struct pvb_wq *wq)
{
	struct pvb_qp_wq *list;
	int ret = 0;
	uint32_t at;

	crn_lock(&cq->lock);
	list = realloc(cq->shared, (cq->shared_count + 1) * sizeof(*list));
	if (!list) {
		ret = -FI_ENOMEM;
		goto out;
	}
	cq->shared = list;
	at = pvb_cq_shared_at(cq, qp_num);
	memmove(&list[at + 1], &list[at], (cq->shared_count - at) * sizeof(*list));
	list[at] = (struct pvb_qp_wq){.qp_num = qp_num, .wq = wq};
	cq->shared_count++;
out:
	crn_unlock(&cq->lock);
	return ret;
}

void pvb_cq_unshare(struct pvb_cq *cq, uint32_t qp_num)
{
	struct pvb_qp_wq *list = cq->shared;
	uint32_t at;

	crn_lock(&cq->lock);
	at = pvb_cq_shared_at(cq, qp_num);
	if (at < cq->shared_count && list[at].qp_num == qp_num) {
		cq->shared_count--;
		memmove(&list[at], &list[at + 1],
			(cq->shared_count - at) * sizeof(*list));
	}
	crn_unlock(&cq->lock);
}

/* Of the two slots of an operation to be delivered, its tail ends it, if it has not
 * failed. */
static bool pvb_drain_ends(const struct pvb_wq *wq, const struct pvb_slot *slot,
			   uint32_t at)
{
	if (slot->state & PVB_SLOT_HEAD)
		return false;
	return !(slot->state & PVB_SLOT_TAIL) || at != atomic_load(&wq->ring.tail);
}

void pvb_cq_drain_rest(struct pvb_cq *cq, struct pvb_wq *wq)
{
	const bool marked = wq == &wq->qp->sq && wq->qp->marked;
	uint32_t at = atomic_load(&wq->ring.tail), end = wq->ring.head - marked;
	struct pvb_slot *slot;
	struct pvb_comp comp;

	crn_lock_assert_held(&cq->lock);
	for (; (int32_t)(end - at) > 0 && cq->stash_count < cq->stash_size; at++) {
		slot = &wq->slots[crn_ring_index(&wq->ring, at)];
		comp = (struct pvb_comp){
			.context = slot->context,
			.flags = slot->flags,
			.err = FI_ECANCELED,
			.prov_errno = IBV_WC_WR_FLUSH_ERR,
		};
		if (!pvb_drain_ends(wq, slot, at))
			continue;
		pvb_cq_count(wq, comp.flags, comp.err);
		if (!(slot->state & PVB_SLOT_INJECT))
			pvb_cq_stash(cq, &comp);
	}
	crn_ring_retire(&wq->ring, wq->ring.head);
}

/* One batch of every device queue into the stash; false when there was none. What a batch
 * releases that was deferred may take all the room that there is. */
static bool pvb_drain_batch(struct pvb_cq *cq)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < cq->hw_count; i++) {
		if (pvb_cq_stash_grow(cq, PVB_POLL_BATCH))
			break;
		any |= pvb_cq_stash_batch(cq, cq->hw[i]);
	}
	return any;
}

/* pvb_wq.on_complete of a queue that was given up: its operations are reported. */
static bool pvb_cq_complete_late(struct pvb_cq *cq, struct pvb_wq *wq,
				 const struct ibv_wc *wc, struct pvb_comp *comp)
{
	return false;
}

/* What the device still has of a queue is reported as cancelled, and not again when it
 * comes. */
static void pvb_cq_give_up(struct pvb_cq *cq, struct pvb_wq *wq)
{
	uint32_t at = atomic_load(&wq->ring.tail);

	crn_lock_assert_held(&cq->lock);
	if (wq == &wq->qp->sq)
		cq->domain->durable->give_up_sends(wq->qp);
	else
		cq->domain->durable->give_up_receives(cq, wq->qp);
	atomic_store(&wq->on_complete, pvb_cq_complete_late);
	for (; at != wq->ring.head; at++)
		wq->slots[crn_ring_index(&wq->ring, at)].state &=
			(uint16_t)~PVB_SLOT_PLAIN_GRH;
	if (pvb_cq_stash_grow(cq, crn_ring_used(&wq->ring)))
		PVB_WARN(FI_LOG_CQ,
			 "no memory to report the operations of a queue pair\n");
	pvb_cq_drain_rest(cq, wq);
}

void pvb_cq_drain(struct pvb_cq *cq, struct pvb_wq *wq, uint64_t deadline_ms)
{
	uint32_t left;

	crn_lock(&cq->lock);
	while ((left = crn_ring_used(&wq->ring))) {
		/* Other endpoints may go on posting, and what they complete comes here
		 * too. */
		if (pvb_cq_stash_grow(cq, left + cq->hw_count * PVB_POLL_BATCH)) {
			PVB_WARN(FI_LOG_CQ,
				 "no memory for the completions of a queue pair\n");
			break;
		}
		if (pvb_drain_batch(cq))
			continue;
		if (wq == &wq->qp->rq)
			cq->domain->durable->give_up_receives(cq, wq->qp);
		if (crn_now_ms() >= deadline_ms) {
			PVB_WARN(FI_LOG_CQ,
				 "no completion for %u operations of a queue pair in "
				 "error\n",
				 left);
			break;
		}
		sched_yield();
	}
	if (left)
		pvb_cq_give_up(cq, wq);
	if (cq->stash_count && cq->channel)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}

void pvb_cq_cancel(struct pvb_cq *cq, struct pvb_wq *wq)
{
	struct pvb_comp comp = {
		.err = FI_ECANCELED,
		.prov_errno = IBV_WC_WR_FLUSH_ERR,
	};
	uint32_t i;

	crn_lock(&cq->lock);
	if (pvb_cq_stash_grow(cq, wq->depth + PVB_POLL_BATCH))
		PVB_WARN(FI_LOG_CQ, "no memory to report receives as cancelled\n");
	for (i = 0; i < wq->depth && cq->stash_count < cq->stash_size; i++) {
		if (!wq->slots[i].flags)
			continue;
		comp.context = wq->slots[i].context;
		comp.flags = wq->slots[i].flags;
		pvb_cq_stash(cq, &comp);
	}
	if (cq->stash_count)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}

void pvb_cq_drain_present(struct pvb_cq *cq)
{
	uint32_t left;

	crn_lock(&cq->lock);
	/* Others may go on completing: no more than there can be now. */
	for (left = cq->reserved / PVB_POLL_BATCH + 1; left; left--) {
		if (pvb_cq_stash_grow(cq, cq->hw_count * PVB_POLL_BATCH)) {
			PVB_WARN(FI_LOG_CQ,
				 "no memory for the completions of a queue pair\n");
			break;
		}
		if (!pvb_drain_batch(cq))
			break;
	}
	if (cq->stash_count)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}

void pvb_cq_fail(struct pvb_wq *wq, uint32_t count, int err, int prov_errno)
{
	struct pvb_cq *cq = wq->cq;
	const struct pvb_slot *slot;
	struct pvb_comp comp;
	uint32_t at;

	crn_lock(&cq->lock);
	if (pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH))
		PVB_WARN(FI_LOG_CQ, "no memory to report %u operations that failed\n",
			 count);
	wq->ring.head -= count;
	for (at = 0; at < count && cq->stash_count < cq->stash_size; at++) {
		slot = &wq->slots[crn_ring_index(&wq->ring, wq->ring.head + at)];
		comp = (struct pvb_comp){
			.context = slot->context,
			.flags = slot->flags,
			.err = err,
			.prov_errno = prov_errno,
		};
		pvb_cq_count(wq, comp.flags, comp.err);
		if (!(slot->state & PVB_SLOT_INJECT))
			pvb_cq_stash(cq, &comp);
	}
	if (cq->channel)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}

void pvb_cq_fail_begun(struct pvb_wq *wq, uint32_t begun, const struct pvb_slot *op,
		       int err, int prov_errno)
{
	const struct pvb_comp comp = {
		.context = op->context,
		.flags = op->flags,
		.err = err,
		.prov_errno = prov_errno,
	};
	const uint32_t first = wq->ring.head - begun;
	struct pvb_cq *cq = wq->cq;
	struct pvb_slot *slot;
	uint32_t at;

	crn_lock(&cq->lock);
	/* Else one of them failed meanwhile, and that was reported. */
	if ((int32_t)(atomic_load(&wq->ring.tail) - first) <= 0) {
		for (at = 0; at < begun; at++) {
			slot = &wq->slots[crn_ring_index(&wq->ring, first + at)];
			slot->context = NULL;
			slot->state = PVB_SLOT_INJECT;
		}
		if (pvb_cq_stash_grow(cq, cq->reserved + PVB_POLL_BATCH))
			PVB_WARN(FI_LOG_CQ,
				 "no memory to report an operation that failed\n");
		pvb_cq_count(wq, comp.flags, err);
		if (!(op->state & PVB_SLOT_INJECT) && cq->stash_count < cq->stash_size)
			pvb_cq_stash(cq, &comp);
	}
	if (cq->channel)
		crn_wait_signal(&cq->wait);
	crn_unlock(&cq->lock);
}
