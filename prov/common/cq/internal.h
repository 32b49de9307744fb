/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of this folder. */
#ifndef CRN_CQ_INTERNAL_H
#define CRN_CQ_INTERNAL_H

#include <cairn/cq.h>

/* read.c */
ssize_t crn_cq_read(struct fid_cq *fid, void *buf, size_t count);
ssize_t crn_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr);
ssize_t crn_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags);

/* wait.c */
ssize_t crn_cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
		     int timeout);
ssize_t crn_cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr,
			 const void *cond, int timeout);
int crn_cq_signal(struct fid_cq *fid);

/* Without the lock, for it writes to the queue. */
static inline void crn_cq_progress(struct crn_cq *cq)
{
	if (cq->progress)
		cq->progress(cq);
}

/* Completions to be read, as far as this thread knows without the lock. */
static inline uint32_t crn_cq_count(struct crn_cq *cq)
{
	return atomic_load_explicit(&cq->count, memory_order_relaxed);
}

/* With the lock held. */
static inline void crn_cq_set_count(struct crn_cq *cq, uint32_t count)
{
	crn_lock_assert_held(cq->guard);
	atomic_store_explicit(&cq->count, count, memory_order_relaxed);
}

/* The nth oldest completion, with the lock held. */
static inline struct crn_cq_slot *crn_cq_slot(struct crn_cq *cq, uint32_t nth)
{
	crn_lock_assert_held(cq->guard);
	return &cq->ring[(cq->head + nth) & cq->mask];
}

#endif
