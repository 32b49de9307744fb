/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device that is taken away while it is in use. The kernel says so to each context
 * (IBV_EVENT_DEVICE_FATAL) and to each id of rdma_cm (RDMA_CM_EVENT_DEVICE_REMOVAL),
 * whichever is heard first. It may have flushed what was posted or may never say
 * anything of it again (a driver that disassociates its contexts takes requests and
 * completes none), so what the device has not completed by then ends here.
 */
#ifndef PVB_CQ_REMOVAL_H
#define PVB_CQ_REMOVAL_H

#include "objects/objects.h"

/* removal.c */

/* For a domain that has its context: 0 or a negative code. */
int pvb_removal_open(struct pvb_domain *domain);
void pvb_removal_close(struct pvb_domain *domain);
/* The wait object wakes when the device goes, and does not sleep from then on; and when
 * the device has an asynchronous event. 0 or a negative code. */
int pvb_removal_watch(const struct pvb_domain *domain, struct crn_wait *wait);

/* The device is gone: nothing more is posted, and whoever waits wakes. Any thread; takes
 * qps_lock. */
void pvb_removal_noticed(struct pvb_domain *domain);
/* What a call returns that got ret from the device: -FI_ENODEV if that failed because the
 * device is gone. */
int pvb_removal_ret(struct pvb_domain *domain, int ret);

/* 0 or an errno of a call that destroys something: what the kernel took away with the
 * device needs no destroying (EIO, unless libibverbs is told to allow it). */
int pvb_removal_destroyed(struct pvb_domain *domain, int err);

/*
 * A thread that may read the queue: whatever completes into it and has not is in the
 * stash, cancelled. True when the domain's device is gone. Takes qps_lock, the locks of
 * posting and that of the queue.
 */
bool pvb_removal_end(struct pvb_cq *cq);

/*
 * Adds a queue pair to those that are ended when the device is removed, or takes it
 * out.
 */
void pvb_removal_add(struct pvb_qp *qp);
void pvb_removal_del(struct pvb_qp *qp);
void pvb_removal_add_srx(struct pvb_srx *srx);
void pvb_removal_del_srx(struct pvb_srx *srx);

/* Has the removal been noticed? */
static inline bool pvb_removed(const struct pvb_domain *domain)
{
	return atomic_load_explicit(&domain->gone, memory_order_acquire);
}

#endif
