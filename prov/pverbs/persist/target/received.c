/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain messages, at their target: a fenced durable operation behind them says as much of
 * them (fi_cq(3), FI_FENCE), and only this side knows which buffers they took. So it
 * remembers where in persistent memory they went, until the peer asks for it to be made
 * durable (PVB_WIRE_MESSAGES). One that went elsewhere never is, and no later operation
 * may say so.
 */
#include <libpmem.h>
#include "persist/control/control.h"
#include "persist/plan/plan.h"
#include "internal.h"

static void pvb_received_never(struct pvb_lane *lane, int err)
{
	pvb_dirty_fini(&lane->received);
	pvb_dirty_fini(&lane->flushing);
	atomic_store(&lane->undurable, err);
}

/* One piece of a message. */
static void pvb_received_add(struct pvb_lane *lane, uint64_t addr, uint32_t len)
{
	const struct pvb_target *target = pvb_target_holding(lane->control, addr, len);
	struct pvb_dirty_range range = {.from = addr, .to = addr + len};

	if (!target) {
		pvb_received_never(lane, FI_EOPNOTSUPP);
		return;
	}
	range.rkey = target->rkey;
	if (!pvb_dirty_add(&lane->received, range))
		return;
	/* There is no memory to remember it, and not the time to flush all of it. */
	if (len > PVB_PIECE) {
		pvb_received_never(lane, FI_ENOMEM);
		return;
	}
	pvb_target_flush(target, addr, len);
	pmem_drain();
}

void pvb_received_note(struct pvb_lane *lane, const struct pvb_slot *slot, uint32_t len)
{
	const struct pvb_wq *wq = slot->wq;
	const struct ibv_sge *buf = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	uint32_t i, here;

	if (!len || atomic_load(&lane->undurable))
		return;
	pthread_mutex_lock(&lane->control->lock);
	for (i = 0; i < wq->buf_limit && len; i++, len -= here) {
		here = CRN_MIN(len, buf[i].length);
		if (here && !atomic_load(&lane->undurable))
			pvb_received_add(lane, buf[i].addr, here);
	}
	pthread_mutex_unlock(&lane->control->lock);
}

int pvb_received_begin(struct pvb_lane *lane)
{
	const struct pvb_dirty empty = lane->flushing;

	lane->flushing = lane->received;
	lane->received = empty;
	return atomic_load(&lane->undurable);
}

static bool pvb_received_in(const struct pvb_dirty *list, const struct pvb_target *target)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->range[i].rkey == target->rkey)
			return true;
	}
	return false;
}

void pvb_received_forget(struct pvb_lane *lane, const struct pvb_target *target)
{
	if (pvb_received_in(&lane->received, target) ||
	    pvb_received_in(&lane->flushing, target))
		pvb_received_never(lane, FI_EKEYREJECTED);
}
