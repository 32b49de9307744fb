/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain messages, at their target: a fenced durable operation behind them says as much of
 * them (fi_cq(3), FI_FENCE), and only this side knows which buffers they took. So it
 * remembers where in persistent memory they went, until the peer asks for it to be made
 * durable (PVB_WIRE_MESSAGES). One that went elsewhere never is, and no later operation
 * may say so.
 */
#include <cairn/pmem.h>
#include "persist/control/control.h"
#include "persist/plan/plan.h"
#include "internal.h"

static void pvb_received_never(struct pvb_control_qp *cqp, int err)
{
	pvb_dirty_fini(&cqp->received);
	pvb_dirty_fini(&cqp->flushing);
	atomic_store(&cqp->undurable, err);
}

/* One piece of a message. */
static void pvb_received_add(struct pvb_control_qp *cqp, uint64_t addr, uint32_t len)
{
	const struct pvb_pmem_region *region =
		pvb_pmem_region_containing(cqp->control, addr, len);
	struct pvb_dirty_range range = {.from = addr, .to = addr + len};

	if (!region) {
		pvb_received_never(cqp, FI_EOPNOTSUPP);
		return;
	}
	range.rkey = region->rkey;
	if (!pvb_dirty_add(&cqp->received, range))
		return;
	/* There is no memory to remember it, and not the time to flush all of it. */
	if (len > PVB_PIECE) {
		pvb_received_never(cqp, FI_ENOMEM);
		return;
	}
	pvb_pmem_region_flush(region, addr, len);
	crn_pmem_drain();
}

void pvb_received_note(struct pvb_control_qp *cqp, const struct pvb_slot *slot,
		       uint32_t len)
{
	const struct pvb_wq *wq = slot->wq;
	const struct ibv_sge *buf = &wq->bufs[(size_t)(slot - wq->slots) * wq->buf_limit];
	uint32_t i, here;

	if (!len || atomic_load(&cqp->undurable))
		return;
	pthread_mutex_lock(&cqp->control->lock);
	for (i = 0; i < wq->buf_limit && len; i++, len -= here) {
		here = CRN_MIN(len, buf[i].length);
		if (here && !atomic_load(&cqp->undurable))
			pvb_received_add(cqp, buf[i].addr, here);
	}
	pthread_mutex_unlock(&cqp->control->lock);
}

int pvb_received_begin(struct pvb_control_qp *cqp)
{
	const struct pvb_dirty empty = cqp->flushing;

	crn_mutex_assert_held(&cqp->control->lock);
	cqp->flushing = cqp->received;
	cqp->received = empty;
	return atomic_load(&cqp->undurable);
}

static bool pvb_received_in(const struct pvb_dirty *list,
			    const struct pvb_pmem_region *region)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->range[i].rkey == region->rkey)
			return true;
	}
	return false;
}

void pvb_received_forget(struct pvb_control_qp *cqp, const struct pvb_pmem_region *region)
{
	crn_mutex_assert_held(&cqp->control->lock);
	if (pvb_received_in(&cqp->received, region) ||
	    pvb_received_in(&cqp->flushing, region))
		pvb_received_never(cqp, FI_EKEYREJECTED);
}
