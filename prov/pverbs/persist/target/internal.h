/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of persist/target/. */
#ifndef PVB_PERSIST_TARGET_INTERNAL_H
#define PVB_PERSIST_TARGET_INTERNAL_H

#include "objects/objects.h"

struct pvb_arrival;
struct pvb_control;
struct pvb_control_qp;
struct pvb_places;

/* pmem_region.c */

/* With control->lock held: the region that a peer names, in which it may write to all of
 * the range; or any region that the memory lies in. NULL: none. */
struct pvb_pmem_region *pvb_pmem_region_find(struct pvb_control *control,
					     const struct pvb_wire_range *range);
struct pvb_pmem_region *pvb_pmem_region_containing(struct pvb_control *control,
						   uint64_t addr, uint64_t len);
/* With control->lock held: it stays while it is flushed without, until it is let go. */
void pvb_pmem_region_get(struct pvb_pmem_region *region);
void pvb_pmem_region_put(struct pvb_control *control, struct pvb_pmem_region *region);
/* Its cache lines are on their way to the persistence domain: they are there after
 * crn_pmem_drain. */
void pvb_pmem_region_flush(const struct pvb_pmem_region *region, uint64_t addr,
			   uint64_t len);

/* message_ring.c */

/* Looks for the entry of the ring that belongs to an arrival; sets all but wc and next.
 */
void pvb_message_ring_match(struct pvb_control_qp *cqp, const struct ibv_wc *wc,
			    struct pvb_arrival *arrival);
/* Where it is in persistent memory, with control->lock held: 0, or FI_E*, why that is not
 * all of it. */
int pvb_message_ring_places(struct pvb_control *control,
			    const struct pvb_arrival *arrival, struct pvb_places *places);
/* All was done for it that can be: 0, or FI_E*, why it is not durable. */
void pvb_message_ring_ended(struct pvb_control_qp *cqp, const struct ibv_wc *wc,
			    const struct pvb_arrival *arrival, int err);

/* received.c */

/* One of len bytes took the receive in slot. Takes control->lock. */
void pvb_received_note(struct pvb_control_qp *cqp, const struct pvb_slot *slot,
		       uint32_t len);
/* The rest with the lock held. All that was noted is to become durable (cqp->flushing):
 * 0, or FI_E*, why not all of it can be. */
int pvb_received_begin(struct pvb_control_qp *cqp);
/* What is in the region of a target cannot be made durable any more. */
void pvb_received_forget(struct pvb_control_qp *cqp,
			 const struct pvb_pmem_region *region);

/* replay.c */

/* 0, or -FI_EINVAL for a receive that is not all in the region. */
int pvb_replay_check(const struct pvb_ep *ep, const struct ibv_recv_wr *wr);

#endif
