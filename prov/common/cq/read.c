/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions on their way out: fi_cq_read, fi_cq_readfrom, fi_cq_readerr. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

/* fi_cq_err_entry ends in src_addr since libfabric 1.20, whose headers need not be here.
 */
#define CQ_ERR_SRC_ADDR (offsetof(struct fi_cq_err_entry, err_data_size) + sizeof(size_t))

/* Puts an entry of the queue's format into the buffer; returns where the next one goes.
 */
CRN_INLINE void *cq_put(const struct crn_cq *cq, void *buf,
			const struct fi_cq_tagged_entry *from)
{
	struct fi_cq_tagged_entry *to = buf;

	/* Each format begins with the one before. */
	to->op_context = from->op_context;
	if (cq->format == FI_CQ_FORMAT_CONTEXT)
		return (struct fi_cq_entry *)buf + 1;
	to->flags = from->flags;
	to->len = from->len;
	if (cq->format == FI_CQ_FORMAT_MSG)
		return (struct fi_cq_msg_entry *)buf + 1;
	to->buf = from->buf;
	to->data = from->data;
	if (cq->format == FI_CQ_FORMAT_DATA)
		return (struct fi_cq_data_entry *)buf + 1;
	to->tag = from->tag;
	return to + 1;
}

/* The oldest ones are done with. Called with the lock held. */
static void cq_pop(struct crn_cq *cq, uint32_t done)
{
	crn_lock_assert_held(cq->guard);
	cq->head += done;
	crn_cq_set_count(cq, crn_cq_count(cq) - done);
	crn_cq_release(cq, done);
}

/* Up to count successes, to the first error. Called with the lock held. */
static ssize_t cq_take(struct crn_cq *cq, void *buf, size_t count, fi_addr_t *src_addr)
{
	const uint32_t most = (uint32_t)CRN_MIN(count, (size_t)crn_cq_count(cq));
	const struct crn_cq_slot *slot;
	uint32_t done;

	crn_lock_assert_held(cq->guard);
	for (done = 0; done < most; done++) {
		slot = crn_cq_slot(cq, done);
		if (crn_unlikely(slot->err))
			break;
		buf = cq_put(cq, buf, &slot->comp.entry);
		if (src_addr)
			src_addr[done] = slot->comp.src_addr;
	}
	if (done)
		cq_pop(cq, done);
	else if (most)
		return -FI_EAVAIL;
	return done ? (ssize_t)done : -FI_EAGAIN;
}

/* fi_cq(3): "A count value of 0 may be used to drive progress". */
static ssize_t cq_poke(struct crn_cq *cq)
{
	ssize_t ret = -FI_EAGAIN;

	crn_cq_progress(cq);
	crn_lock(cq->guard);
	if (crn_cq_count(cq))
		ret = crn_cq_slot(cq, 0)->err ? -FI_EAVAIL : 0;
	crn_unlock(cq->guard);
	return ret;
}

/* Reads between two calls of idle for who always finds something. */
#define CQ_READS 64u

/* The guard is taken once for all of it. */
static ssize_t cq_read_guarded(struct crn_cq *cq, void *buf, size_t count,
			       fi_addr_t *src_addr)
{
	ssize_t ret = -FI_EAGAIN;
	bool idle = false;

	crn_lock(cq->guard);
	if (!crn_cq_count(cq)) {
		cq->progress_guarded(cq);
		idle = !crn_cq_count(cq) || ++cq->reads % CQ_READS == 0;
	}
	if (crn_cq_count(cq))
		ret = cq_take(cq, buf, count, src_addr);
	crn_unlock(cq->guard);
	if (idle)
		cq->idle(cq);
	return ret;
}

/* An empty queue is seen without the lock: whoever polls takes one when there is
 * something. */
ssize_t crn_cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr)
{
	struct crn_cq *cq = crn_cq_of(fid);
	ssize_t ret;

	if (crn_unlikely(!count))
		return cq_poke(cq);
	if (cq->progress_guarded)
		return cq_read_guarded(cq, buf, count, src_addr);
	if (!crn_cq_count(cq)) {
		crn_cq_progress(cq);
		if (!crn_cq_count(cq))
			return -FI_EAGAIN;
	}
	crn_lock(cq->guard);
	ret = cq_take(cq, buf, count, src_addr);
	crn_unlock(cq->guard);
	return ret;
}

ssize_t crn_cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return crn_cq_readfrom(fid, buf, count, NULL);
}

/*
 * fi_cq(3), err_data_size: into the caller's buffer if it has one, else the queue's,
 * which is the reader's until the next error is read. An interface before 1.5 has no
 * err_data_size, and its program no memory for it.
 */
static void cq_give_err_data(struct crn_cq *cq, struct crn_cq_err_data *data,
			     struct fi_cq_err_entry *entry)
{
	const size_t len = data ? data->len : 0;
	const bool sized = FI_VERSION_GE(cq->api_version, FI_VERSION(1, 5));

	if (sized && entry->err_data_size) {
		entry->err_data_size = CRN_MIN(entry->err_data_size, len);
		if (entry->err_data_size)
			memcpy(entry->err_data, data->data, entry->err_data_size);
		return;
	}
	entry->err_data = data ? data->data : NULL;
	if (sized)
		entry->err_data_size = len;
}

/* Field by field: the structure grew, and the program may know an older one. */
static void cq_give_error(struct crn_cq *cq, const struct crn_cq_slot *slot,
			  struct fi_cq_err_entry *entry)
{
	const struct fi_cq_tagged_entry *from = &slot->comp.entry;

	entry->op_context = from->op_context;
	entry->flags = from->flags;
	entry->len = from->len;
	entry->buf = from->buf;
	entry->data = from->data;
	entry->tag = from->tag;
	entry->olen = slot->olen;
	entry->err = slot->err;
	entry->prov_errno = slot->prov_errno;
	cq_give_err_data(cq, slot->err_data, entry);
	if (FI_VERSION_GE(cq->api_version, FI_VERSION(1, 20)))
		memcpy((char *)entry + CQ_ERR_SRC_ADDR, &slot->comp.src_addr,
		       sizeof(slot->comp.src_addr));
}

ssize_t crn_cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
	struct crn_cq *cq = crn_cq_of(fid);
	struct crn_cq_err_data *old = NULL;
	struct crn_cq_slot *slot;
	ssize_t ret = -FI_EAGAIN;

	if (flags)
		return -FI_EBADFLAGS;
	crn_lock(cq->guard);
	slot = crn_cq_slot(cq, 0);
	if (crn_cq_count(cq) && slot->err) {
		cq_give_error(cq, slot, entry);
		old = cq->last_error;
		cq->last_error = slot->err_data;
		cq_pop(cq, 1);
		ret = 1;
	}
	crn_unlock(cq->guard);
	free(old);
	return ret;
}
