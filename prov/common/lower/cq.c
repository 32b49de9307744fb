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

int crn_lower_cq_open(struct crn_lower_cq *cq, struct fid_domain *lower,
		      const struct fi_cq_attr *attr, bool locked)
{
	struct fi_cq_attr own = {
		.size = attr->size,
		.format = FI_CQ_FORMAT_DATA,
		.wait_obj = attr->wait_obj,
	};
	int ret = crn_lock_init(&cq->lock, locked);

	if (ret)
		return ret;
	cq->progressed = NULL;
	ret = fi_cq_open(lower, &own, &cq->fid, NULL);
	if (ret)
		crn_lock_fini(&cq->lock);
	return ret;
}

int crn_lower_cq_close(struct crn_lower_cq *cq)
{
	int ret = fi_close(&cq->fid->fid);

	if (!ret)
		crn_lock_fini(&cq->lock);
	return ret;
}

static ssize_t cq_failed(struct crn_lower_cq *cq)
{
	union cq_err err;
	struct crn_lower_op *op;
	ssize_t ret;

	memset(&err, 0, sizeof(err));
	ret = fi_cq_readerr(cq->fid, &err.entry, 0);
	if (ret <= 0)
		return ret;
	op = err.entry.op_context;
	if (op)
		op->failed(op, &err.entry);
	return 1;
}

/* False: for now there are no more. */
static bool cq_some(struct crn_lower_cq *cq, ssize_t *got)
{
	struct fi_cq_data_entry entries[CQ_BATCH];
	struct crn_lower_op *op;
	ssize_t i;

	*got = fi_cq_read(cq->fid, entries, CQ_BATCH);
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

ssize_t crn_lower_cq_progress(struct crn_lower_cq *cq)
{
	ssize_t got, count = 0;
	bool more;

	crn_lock(&cq->lock);
	do {
		more = cq_some(cq, &got);
		count += CRN_MAX(got, (ssize_t)0);
	} while (more);
	if (cq->progressed)
		cq->progressed(cq, count);
	crn_unlock(&cq->lock);
	return got < 0 && got != -FI_EAGAIN ? got : count;
}

void crn_lower_cq_drain(struct crn_lower_cq *cq)
{
	while (crn_lower_cq_progress(cq) > 0)
		;
}
