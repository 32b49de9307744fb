/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "verbs.h"

SVB_API struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	const struct svb_settings *set = &svb_self.settings;
	struct svb_srq *srq;
	int64_t slot;

	if (svb_removed_ctx(pd->context))
		return NULL;
	if (!attr->attr.max_wr || attr->attr.max_wr > set->max_srq_wr ||
	    attr->attr.max_sge > set->max_sge) {
		errno = EINVAL;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	slot = srq ? svb_slot_alloc(SVB_TAB_SRQ) : -1;
	if (slot < 0)
		goto err;
	srq->slot = (uint32_t)slot;
	srq->sh = svb_seg_srq(svb_self.seg, srq->slot);
	memset(srq->sh, 0, sizeof(*srq->sh));
	if (svb_rq_alloc(&srq->sh->rq, attr->attr.max_wr, attr->attr.max_sge,
			 &srq->ring_size))
		goto err;
	srq->sh->pd = pd->handle;
	srq->sh->async = svb_context(pd->context)->bell;
	srq->sh->used = 1;
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = attr->srq_context;
	srq->ibv.pd = pd;
	srq->ibv.handle = srq->slot;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	svb_pd_hold(pd);
	pthread_mutex_lock(&svb_self.mutex);
	svb_self.srq[srq->slot] = srq;
	pthread_mutex_unlock(&svb_self.mutex);
	return &srq->ibv;
err:
	if (slot >= 0)
		svb_slot_free(SVB_TAB_SRQ, (uint32_t)slot);
	free(srq);
	errno = ENOMEM;
	return NULL;
}

/* Resizing is not offered (IBV_DEVICE_SRQ_RESIZE is not set). */
SVB_API int ibv_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct svb_srq_sh *sh = svb_srq(ibsrq)->sh;

	if (svb_removed_ctx(ibsrq->context))
		return EIO;
	if (mask & IBV_SRQ_MAX_WR)
		return EOPNOTSUPP;
	if (mask & ~IBV_SRQ_LIMIT)
		return EINVAL;
	if (!(mask & IBV_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > sh->rq.limit)
		return EINVAL;
	svb_lock(&sh->rq.lock);
	sh->limit_event = attr->srq_limit;
	svb_unlock(&sh->rq.lock);
	return 0;
}

SVB_API int ibv_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct svb_srq_sh *sh = svb_srq(ibsrq)->sh;

	if (svb_removed_ctx(ibsrq->context))
		return EIO;
	attr->max_wr = sh->rq.limit;
	attr->max_sge = sh->rq.max_sge;
	attr->srq_limit = sh->limit_event;
	return 0;
}

SVB_API int ibv_destroy_srq(struct ibv_srq *ibsrq)
{
	struct svb_srq *srq = svb_srq(ibsrq);

	pthread_mutex_lock(&svb_self.mutex);
	if (srq->users) {
		pthread_mutex_unlock(&svb_self.mutex);
		return EBUSY;
	}
	svb_self.srq[srq->slot] = NULL;
	pthread_mutex_unlock(&svb_self.mutex);
	svb_wait_acked(&ibsrq->mutex, &ibsrq->cond, &ibsrq->events_completed,
		       &srq->given);
	srq->sh->used = 0;
	svb_seg_free(srq->sh->rq.ring, srq->ring_size);
	svb_slot_free(SVB_TAB_SRQ, srq->slot);
	svb_pd_drop(ibsrq->pd);
	pthread_mutex_destroy(&ibsrq->mutex);
	pthread_cond_destroy(&ibsrq->cond);
	free(srq);
	return 0;
}
