/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cq(3) and fi_cntr(3): in memory, moved on by the domain's lower queue. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "objects.h"

/* Events, too: a peer that has gone fails what is outstanding. */
static void queue_progress(struct rpr_domain *domain)
{
	rpr_progress(domain);
	crn_lower_look(&domain->fabric->lower);
}

static void cq_progress(struct crn_cq *cq)
{
	queue_progress(crn_container_of(cq, struct rpr_cq, cq)->domain);
}

/* Completions are written with the domain's lock held, which is the queue's. */
static void cq_progress_guarded(struct crn_cq *cq)
{
	rpr_progress_locked(crn_container_of(cq, struct rpr_cq, cq)->domain);
}

static void cq_idle(struct crn_cq *cq)
{
	struct rpr_domain *domain = crn_container_of(cq, struct rpr_cq, cq)->domain;

	crn_lower_look(&domain->fabric->lower);
}

static int cq_close(struct fid *fid)
{
	struct rpr_cq *cq = crn_container_of(fid, struct rpr_cq, cq.fid.fid);
	int ret;

	crn_wait_remove(&cq->source.source);
	ret = crn_cq_fini(&cq->cq);
	if (ret) { /* the queue is whole */
		crn_wait_add(&cq->cq.wait, &cq->source.source);
		return ret;
	}
	atomic_fetch_sub(&cq->domain->refs, 1);
	free(cq);
	return 0;
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = crn_nosys_bind,
	.control = crn_cq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

/* Codes of failed RMA are the lower provider's; those of the layer are its own. */
static const char *cq_strerror(struct crn_cq *cq, int prov_errno, const void *err_data)
{
	switch (prov_errno) {
	case RPR_ERR_VERS:
		return "RDMA_ERROR: ERR_VERS";
	case RPR_ERR_CHUNK:
		return "RDMA_ERROR: ERR_CHUNK";
	default:
		return fi_strerror(prov_errno);
	}
}

int rpr_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **cq_fid,
		void *context)
{
	struct rpr_domain *domain = crn_container_of(fid, struct rpr_domain, fid);
	struct rpr_cq *cq = calloc(1, sizeof(*cq));
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	ret = crn_cq_init(&cq->cq, fid, attr, true, context);
	if (ret)
		goto err_free;
	crn_cq_guard(&cq->cq, &domain->cq.lock);
	if (cq->cq.wait.obj != FI_WAIT_NONE) {
		ret = crn_wait_add_inner(&cq->cq.wait, &cq->source,
					 &domain->fabric->wait);
		if (ret)
			goto err_fini;
	}
	cq->domain = domain;
	cq->cq.progress = cq_progress;
	cq->cq.progress_guarded = cq_progress_guarded;
	cq->cq.idle = cq_idle;
	cq->cq.strerror = cq_strerror;
	cq->cq.api_version = domain->fabric->lower.fid.api_version;
	cq->cq.fid.fid.ops = &cq_fid_ops;
	atomic_fetch_add(&domain->refs, 1);
	*cq_fid = &cq->cq.fid;
	return 0;
err_fini:
	crn_cq_fini(&cq->cq);
err_free:
	free(cq);
	return ret;
}

/* ---- counters ---- */

static void cntr_progress(struct crn_cntr *cntr)
{
	queue_progress(crn_container_of(cntr, struct rpr_cntr, cntr)->domain);
}

static int cntr_close(struct fid *fid)
{
	struct rpr_cntr *cntr = crn_container_of(fid, struct rpr_cntr, cntr.fid.fid);

	if (atomic_load(&cntr->cntr.refs))
		return -FI_EBUSY;
	crn_wait_remove(&cntr->source.source);
	crn_cntr_fini(&cntr->cntr);
	atomic_fetch_sub(&cntr->domain->refs, 1);
	free(cntr);
	return 0;
}

static struct fi_ops cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cntr_close,
	.bind = crn_nosys_bind,
	.control = crn_cntr_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int rpr_cntr_open(struct fid_domain *fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_fid, void *context)
{
	struct rpr_domain *domain = crn_container_of(fid, struct rpr_domain, fid);
	struct rpr_cntr *cntr = calloc(1, sizeof(*cntr));
	int ret;

	if (!cntr)
		return -FI_ENOMEM;
	ret = crn_cntr_init(&cntr->cntr, attr, context, cntr_progress);
	if (ret)
		goto err_free;
	if (cntr->cntr.wait.obj != FI_WAIT_NONE) {
		ret = crn_wait_add_inner(&cntr->cntr.wait, &cntr->source,
					 &domain->fabric->wait);
		if (ret)
			goto err_fini;
	}
	cntr->domain = domain;
	cntr->cntr.domain = fid;
	cntr->cntr.fid.fid.ops = &cntr_fid_ops;
	atomic_fetch_add(&domain->refs, 1);
	*cntr_fid = &cntr->cntr.fid;
	return 0;
err_fini:
	crn_cntr_fini(&cntr->cntr);
err_free:
	free(cntr);
	return ret;
}
