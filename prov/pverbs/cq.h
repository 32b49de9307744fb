/* SPDX-License-Identifier: BSD-2-Clause */
/* Between cq.c (the object), cq_hw.c (device queues, drains) and cq_read.c (reading). */
#ifndef PVB_CQ_H
#define PVB_CQ_H

#include "pverbs.h"

/* cq_read.c */
ssize_t pvb_cq_read(struct fid_cq *fid, void *buf, size_t count);
ssize_t pvb_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr);
ssize_t pvb_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags);
/* -FI_ENOSYS for a format that is not offered. */
int pvb_cq_set_format(struct pvb_cq *cq, enum fi_cq_format format);

/*
 * Both with the lock held. One batch of a device queue into the stash, which has room for
 * it; false when there was none.
 */
bool pvb_cq_stash_batch(struct pvb_cq *cq, struct pvb_hwcq *hw);
/* Into the empty stash: true when the application has something to read. */
bool pvb_cq_fetch(struct pvb_cq *cq);

/* A receive's; wq: of the endpoint that received, NULL: of a shared context that serves
 * those of which nothing is to be known. */
bool pvb_cq_convert_received(const struct ibv_wc *wc, const struct pvb_wq *wq,
			     struct pvb_comp *comp);
/* A completion of a send queue, or of receives that are an endpoint's own; retires it. */
bool pvb_cq_convert_sent(const struct ibv_wc *wc, struct pvb_slot *slot,
			 struct pvb_comp *comp);

/* An operation with these completion flags ended: its counter moves. */
void pvb_cq_count(const struct pvb_wq *wq, uint64_t flags, int err);

/* Where the queue pair is in the sorted list of those with shared receives, or would be.
 */
uint32_t pvb_cq_shared_at(const struct pvb_cq *cq, uint32_t qp_num);

/* cq_hw.c: room for count more entries than there are: 0 or -FI_ENOMEM. Called with the
 * lock held. */
int pvb_cq_stash_grow(struct pvb_cq *cq, uint32_t count);

/* What the device did not return, one that ignores its error state or is gone, is
 * cancelled, as far as there is room; it never returns that. Called with the lock held.
 */
void pvb_cq_drain_rest(struct pvb_cq *cq, struct pvb_wq *wq);

/* Appends to the stash, in which there is room. Called with the lock held. */
static inline void pvb_cq_stash(struct pvb_cq *cq, const struct pvb_comp *comp)
{
	uint32_t at = (cq->stash_head + cq->stash_count) & (cq->stash_size - 1);

	cq->stash[at] = *comp;
	cq->stash_count++;
}

#endif
