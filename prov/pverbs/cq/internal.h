/* SPDX-License-Identifier: BSD-2-Clause */
/* Between cq.c (the object), hw.c (device queues, drains) and read.c (reading). */
#ifndef PVB_CQ_INTERNAL_H
#define PVB_CQ_INTERNAL_H

#include "objects/objects.h"

/* read.c */

ssize_t pvb_cq_read(struct fid_cq *fid, void *buf, size_t count);
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

/* The queue was empty: progresses control messages and reads the device's events. What
 * the removal of the device has ended is read, as pvb_cq_read does. */
ssize_t pvb_cq_idle(struct pvb_cq *cq, void *buf, size_t count);

/* Puts an entry of the queue's format into the buffer; returns where the next one goes.
 */
CRN_INLINE void *pvb_cq_put(const struct pvb_cq *cq, void *buf,
			    const struct pvb_comp *comp)
{
	struct fi_cq_data_entry *entry = buf;

	/* Each format begins with the one before. */
	entry->op_context = comp->context;
	if (cq->format == FI_CQ_FORMAT_CONTEXT)
		return (struct fi_cq_entry *)buf + 1;
	entry->flags = comp->flags;
	entry->len = comp->len;
	if (cq->format == FI_CQ_FORMAT_MSG)
		return (struct fi_cq_msg_entry *)buf + 1;
	entry->buf = NULL;
	entry->data = comp->data;
	return entry + 1;
}

/* source.c */

ssize_t pvb_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr);
/* The address of the oldest error PVB_SOURCE_UNKNOWN, until the next call. With the lock
 * held. */
const struct pvb_ud_addr *pvb_cq_take_unknown(struct pvb_cq *cq);

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
