/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues over device queues, counters, and cancelling what a device will not
 * complete.
 */
#ifndef PVB_CQ_CQ_H
#define PVB_CQ_CQ_H

#include "objects/objects.h"
#include "removal.h"

/* Appends to the stash, in which there is room. Called with the lock held. */
static inline void pvb_cq_stash(struct pvb_cq *cq, const struct pvb_comp *comp)
{
	uint32_t at = (cq->stash_head + cq->stash_count) & (cq->stash_size - 1);

	crn_lock_assert_held(&cq->lock);
	cq->stash[at] = *comp;
	cq->stash_count++;
}

/* read.c */

/* pvb_wq.on_complete of queues that are counted, and of shared receive contexts. */
bool pvb_cq_complete_counted(struct pvb_cq *cq, struct pvb_wq *wq,
			     const struct ibv_wc *wc, struct pvb_comp *comp);
bool pvb_cq_complete_shared(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
			    struct pvb_comp *comp);

/* Converts the completion of a receive; wq: of the endpoint that received; NULL: a
 * shared context whose endpoints have neither counters nor selective completion. */
bool pvb_cq_convert_received(const struct ibv_wc *wc, const struct pvb_wq *wq,
			     struct pvb_comp *comp);
/* The same of a datagram that its receive, of wq, was too short for: FI_ETRUNC. */
void pvb_cq_convert_truncated(const struct ibv_wc *wc, const struct pvb_wq *wq,
			      struct pvb_comp *comp);
/* A completion of a send queue, or of receives that are an endpoint's own; retires it. */
bool pvb_cq_convert_sent(const struct ibv_wc *wc, struct pvb_slot *slot,
			 struct pvb_comp *comp);

/* An operation with these completion flags ended: its counter moves. */
void pvb_cq_count(const struct pvb_wq *wq, uint64_t flags, int err);

/* source.c */

/* Appends to the stash, in which there is room, that something came from an address that
 * is in no vector: an error. With the lock held. */
void pvb_cq_stash_unknown(struct pvb_cq *cq, struct pvb_comp *comp,
			  const struct pvb_ud_addr *from);

/* hw.c */

/* Room for count more entries than there are: 0 or -FI_ENOMEM. Called with the
 * lock held. */
int pvb_cq_stash_grow(struct pvb_cq *cq, uint32_t count);

/*
 * Makes room for slots more completions: *hw is the device queue to attach a queue pair
 * to, counted until pvb_cq_release. -FI_ENOMEM, -FI_EINVAL when slots exceed the device.
 */
int pvb_cq_reserve(struct pvb_cq *cq, uint32_t slots, struct pvb_hwcq **hw);
void pvb_cq_release(struct pvb_cq *cq, struct pvb_hwcq *hw, uint32_t slots);
/*
 * Receives that wq's queue pair takes from a shared queue have wq's counters and
 * selective completion. 0 or -FI_ENOMEM.
 */
int pvb_cq_share(struct pvb_cq *cq, uint32_t qp_num, struct pvb_wq *wq);
void pvb_cq_unshare(struct pvb_cq *cq, uint32_t qp_num);
/* Makes sure that a drain of everything in flight fits the stash: 0 or -FI_ENOMEM. */
int pvb_cq_prepare_drain(struct pvb_cq *cq);
/*
 * Takes every completion of wq, whose queue pair is in ERR, out of the device into the
 * stash until the ring is empty or the deadline (crn_now_ms) has passed; what is left is
 * reported as cancelled. After pvb_cq_prepare_drain and, for a send queue, pvb_tx_close.
 */
void pvb_cq_drain(struct pvb_cq *cq, struct pvb_wq *wq, uint64_t deadline_ms);
/* Reports every slot of wq that has flags as cancelled. */
void pvb_cq_cancel(struct pvb_cq *cq, struct pvb_wq *wq);
/* Moves all completions that the device has now, of any endpoint, to the stash. */
void pvb_cq_drain_present(struct pvb_cq *cq);
/*
 * The newest count operations of wq, accepted but refused by the device now, end with err
 * (positive FI_E*) and prov_errno in the completion queue; their slots are free again.
 */
void pvb_cq_fail(struct pvb_wq *wq, uint32_t count, int err, int prov_errno);
/*
 * The same for one operation whose first entries, so many, are posted already; their
 * completions are ignored from now on. op: its context and flags.
 */
void pvb_cq_fail_begun(struct pvb_wq *wq, uint32_t begun, const struct pvb_slot *op,
		       int err, int prov_errno);

/* cq.c */

int pvb_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		void *context);
int pvb_cq_trywait(struct pvb_cq *cq);
/* Moves completions of the device queues to the stash, as far as it has room. With arm,
 * later completions raise an event on the channel. 0 or a negative code. */
int pvb_cq_feed(struct pvb_cq *cq, bool arm);

/* cntr.c */

int pvb_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr, void *context);

/* From now on wq's completions feed its counters. 0 or a negative code: then none. */
int pvb_cntr_attach(struct pvb_wq *wq);
void pvb_cntr_detach(struct pvb_wq *wq);
/* Wakes waiting threads, which arm again: a counter has one more device queue. */
void pvb_cntr_wake(struct pvb_wq *wq);

/* async.c */

/* Makes reading asynchronous events of the device non-blocking. */
int pvb_async_init(struct ibv_context *verbs);
/* Handles all pending asynchronous events. */
void pvb_async_progress(struct pvb_domain *domain);
/*
 * A datagram endpoint of the domain is bound to the event queue, whose readers handle the
 * device's events from then on, and whose wait object waits for them. Without cm_lock. 0
 * or a negative code. pvb_async_unwatch undoes it for one endpoint.
 */
int pvb_async_watch(struct pvb_eq *eq, struct pvb_domain *domain);
void pvb_async_unwatch(struct pvb_eq *eq, const struct pvb_domain *domain);
/* Handles the events of the devices that the event queue watches. With cm_lock. */
void pvb_async_eq_progress(struct pvb_eq *eq);

#endif
