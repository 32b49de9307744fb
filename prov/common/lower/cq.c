/* SPDX-License-Identifier: BSD-2-Clause */
/* The lower provider's completions of operations that a layer completes itself. */
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

#define CQ_BATCH 16

/* The lower provider may be newer than the headers, and its entry longer. */
union cq_err {
	struct fi_cq_err_entry entry;
	uint8_t room[256];
};

_Static_assert(sizeof(struct fi_cq_err_entry) <= 128, "room for what is added");

int crn_lower_cq_init(struct crn_lower_cq *cq, struct fid_domain *lower, size_t size,
		      bool locked)
{
	*cq = (struct crn_lower_cq){.lower = lower, .size = size};
	return crn_lock_init(&cq->lock, locked);
}

int crn_lower_cq_get(struct crn_lower_cq *cq, bool waited, struct fid_cq **fid)
{
	struct fi_cq_attr attr = {
		.size = cq->size,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = waited ? FI_WAIT_FD : FI_WAIT_NONE,
	};
	struct fid_cq **queue = waited ? &cq->waited : &cq->polled;
	int ret = 0;

	crn_lock(&cq->lock);
	if (!*queue)
		ret = fi_cq_open(cq->lower, &attr, queue, NULL);
	*fid = *queue;
	crn_unlock(&cq->lock);
	return ret;
}

static int cq_close(struct fid_cq **queue)
{
	int ret = *queue ? fi_close(&(*queue)->fid) : 0;

	if (!ret)
		*queue = NULL;
	return ret;
}

int crn_lower_cq_fini(struct crn_lower_cq *cq)
{
	int ret = cq_close(&cq->polled);

	if (!ret)
		ret = cq_close(&cq->waited);
	if (!ret)
		crn_lock_fini(&cq->lock);
	return ret;
}

static ssize_t cq_failed(struct fid_cq *cq)
{
	union cq_err err;
	struct crn_lower_op *op;
	ssize_t ret;

	memset(&err, 0, sizeof(err));
	ret = fi_cq_readerr(cq, &err.entry, 0);
	if (ret <= 0)
		return ret;
	op = err.entry.op_context;
	if (op)
		op->failed(op, &err.entry);
	return 1;
}

/* False: for now there are no more. */
static bool cq_some(struct fid_cq *cq, ssize_t *got)
{
	struct fi_cq_data_entry entries[CQ_BATCH];
	struct crn_lower_op *op;
	ssize_t i;

	*got = fi_cq_read(cq, entries, CQ_BATCH);
	if (crn_unlikely(*got == -FI_EAVAIL)) {
		*got = cq_failed(cq);
		return *got > 0;
	}
	for (i = 0; i < *got; i++) {
		op = entries[i].op_context;
		if (op)
			op->done(op, &entries[i]);
	}
	return *got == CQ_BATCH;
}

/* Adds to count; 0, or the lower provider's error. */
static ssize_t cq_all(struct fid_cq *cq, ssize_t *count)
{
	ssize_t got;
	bool more;

	do {
		more = cq_some(cq, &got);
		*count += CRN_MAX(got, (ssize_t)0);
	} while (more);
	return got < 0 && got != -FI_EAGAIN ? got : 0;
}

ssize_t crn_lower_cq_progress_locked(struct crn_lower_cq *cq)
{
	ssize_t count = 0, ret = 0, waited = 0;

	crn_lock_assert_held(&cq->lock);
	if (cq->polled)
		ret = cq_all(cq->polled, &count);
	if (cq->waited)
		waited = cq_all(cq->waited, &count);
	if (cq->progressed)
		cq->progressed(cq, count);
	if (!ret)
		ret = waited;
	return ret ? ret : count;
}

ssize_t crn_lower_cq_progress(struct crn_lower_cq *cq)
{
	ssize_t ret;

	crn_lock(&cq->lock);
	ret = crn_lower_cq_progress_locked(cq);
	crn_unlock(&cq->lock);
	return ret;
}

void crn_lower_cq_drain(struct crn_lower_cq *cq)
{
	while (crn_lower_cq_progress(cq) > 0)
		;
}
