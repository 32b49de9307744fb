/* SPDX-License-Identifier: BSD-2-Clause */
/* Between cq.c (the object), hw.c (device queues, drains) and read.c (reading). */
#ifndef PVB_CQ_INTERNAL_H
#define PVB_CQ_INTERNAL_H

#include "objects/objects.h"

/* read.c */

ssize_t pvb_cq_read(struct fid_cq *fid, void *buf, size_t count);
ssize_t pvb_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr);
ssize_t pvb_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags);
/* -FI_ENOSYS for a format that is not offered. */
int pvb_cq_set_format(struct pvb_cq *cq, enum fi_cq_format format);

/* What was deferred and may be reported now goes to the stash, as far as it has room.
 * Called with the lock held. */
void pvb_cq_undefer(struct pvb_cq *cq);

/*
 * Both with the lock held. One batch of a device queue into the stash, which has room for
 * it; false when there was none.
 */
bool pvb_cq_stash_batch(struct pvb_cq *cq, struct pvb_hwcq *hw);
/* Into the empty stash: true when the application has something to read. */
bool pvb_cq_fetch(struct pvb_cq *cq);

/* hw.c */

/* Where the queue pair is in the sorted list of those with shared receives, or would be.
 */
uint32_t pvb_cq_shared_at(const struct pvb_cq *cq, uint32_t qp_num);

/* What the device did not return, one that ignores its error state or is gone, is
 * cancelled, as far as there is room; it never returns that. Called with the lock held.
 */
void pvb_cq_drain_rest(struct pvb_cq *cq, struct pvb_wq *wq);

/* cq.c */

/* Gives the queue a channel although its own wait object needs none. 0 or a negative
 * code. */
int pvb_cq_need_channel(struct pvb_cq *cq);

#endif
