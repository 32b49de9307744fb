/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cq(3) and fi_cntr(3): in memory. Completions are written with the device's lock
 * held, which is the queue's. */
#include <sched.h>
#include <stdlib.h>
#include <cairn/nosys.h>
#include "device.h"

static struct rte_domain *domain_of(struct crn_cq *cq)
{
	return crn_container_of(cq, struct rte_cq, cq)->domain;
}

static void cq_progress(struct crn_cq *cq)
{
	rte_fabric_progress(domain_of(cq)->fabric, NULL);
}

static void cq_progress_guarded(struct crn_cq *cq)
{
	rte_device_progress(domain_of(cq)->device);
}

/* Who polls in vain lets others run: the router that it waits for may need this
 * processor. */
static void cq_idle(struct crn_cq *cq)
{
	rte_fabric_progress(domain_of(cq)->fabric, domain_of(cq)->device);
	sched_yield();
}

static int cq_close(struct fid *fid)
{
	struct rte_cq *cq = crn_container_of(fid, struct rte_cq, cq.fid.fid);
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

int rte_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **cq_fid,
		void *context)
{
	struct rte_domain *domain = crn_container_of(fid, struct rte_domain, fid);
	struct rte_cq *cq = calloc(1, sizeof(*cq));
	int ret;

	if (!cq)
		return -FI_ENOMEM;
	cq->domain = domain;
	ret = crn_cq_init(&cq->cq, fid, attr, true, context);
	if (ret)
		goto err_free;
	crn_cq_guard(&cq->cq, &domain->device->lock);
	if (cq->cq.wait.obj != FI_WAIT_NONE) {
		ret = crn_wait_add_inner(&cq->cq.wait, &cq->source,
					 &domain->fabric->wait);
		if (ret)
			goto err_fini;
	}
	cq->cq.progress = cq_progress;
	cq->cq.progress_guarded = cq_progress_guarded;
	cq->cq.idle = cq_idle;
	cq->cq.api_version = domain->fabric->fid.api_version;
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
	rte_fabric_progress(crn_container_of(cntr, struct rte_cntr, cntr)->domain->fabric,
			    NULL);
}

static int cntr_close(struct fid *fid)
{
	struct rte_cntr *cntr = crn_container_of(fid, struct rte_cntr, cntr.fid.fid);

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

int rte_cntr_open(struct fid_domain *fid, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_fid, void *context)
{
	struct rte_domain *domain = crn_container_of(fid, struct rte_domain, fid);
	struct rte_cntr *cntr = calloc(1, sizeof(*cntr));
	int ret;

	if (!cntr)
		return -FI_ENOMEM;
	cntr->domain = domain;
	ret = crn_cntr_init(&cntr->cntr, attr, context, cntr_progress);
	if (ret)
		goto err_free;
	if (cntr->cntr.wait.obj != FI_WAIT_NONE) {
		ret = crn_wait_add_inner(&cntr->cntr.wait, &cntr->source,
					 &domain->fabric->wait);
		if (ret)
			goto err_fini;
	}
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
