/* SPDX-License-Identifier: BSD-2-Clause */
/* Completions on their way in, into places that were reserved. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* A slot for the newest completion, with the lock held. */
CRN_INLINE struct crn_cq_slot *cq_push(struct crn_cq *cq)
{
	const uint32_t count = crn_cq_count(cq);

	crn_lock_assert_held(cq->guard);
	assert(count <= cq->mask);
	crn_cq_set_count(cq, count + 1);
	return crn_cq_slot(cq, count);
}

/*
 * Whoever sleeps found the queue empty and set armed under the lock that is held here, so
 * no sleeper misses a completion; nobody sleeps: no system call.
 */
CRN_INLINE void cq_wake(struct crn_cq *cq)
{
	crn_lock_assert_held(cq->guard);
	if (crn_likely(!cq->armed))
		return;
	cq->armed = false;
	crn_wait_signal(&cq->wait);
}

void crn_cq_write(struct crn_cq *cq, const struct crn_cq_comp *comp)
{
	struct crn_cq_slot *slot;

	crn_lock(&cq->lock);
	slot = cq_push(cq);
	slot->comp = *comp;
	slot->err = 0;
	cq_wake(cq);
	crn_unlock(&cq->lock);
}

static struct crn_cq_err_data *cq_copy_err_data(const void *data, size_t len)
{
	struct crn_cq_err_data *copy = len ? malloc(sizeof(*copy) + len) : NULL;

	if (!copy)
		return NULL;
	copy->len = len;
	memcpy(copy->data, data, len);
	return copy;
}

void crn_cq_write_err(struct crn_cq *cq, const struct fi_cq_err_entry *err,
		      fi_addr_t src_addr)
{
	struct crn_cq_slot slot = {
		.comp.entry = {.op_context = err->op_context,
			       .flags = err->flags,
			       .len = err->len,
			       .buf = err->buf,
			       .data = err->data,
			       .tag = err->tag},
		.comp.src_addr = src_addr,
		.olen = err->olen,
		.err = err->err,
		.prov_errno = err->prov_errno,
		.err_data = cq_copy_err_data(err->err_data, err->err_data_size),
	};

	assert(err->err > 0);
	crn_lock(&cq->lock);
	*cq_push(cq) = slot;
	cq_wake(cq);
	crn_unlock(&cq->lock);
}
