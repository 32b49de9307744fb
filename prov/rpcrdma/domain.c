/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_domain(3). Memory regions are the lower provider's own objects. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "objects.h"

/* Of each queue of the lower provider, whatever the number of connections. */
#define DOMAIN_CQ_SIZE 8192

static struct rpr_domain *domain_of(struct fid *fid)
{
	return crn_container_of(fid, struct rpr_domain, fid.fid);
}

static void domain_leave(struct rpr_domain *domain)
{
	crn_lock(&domain->fabric->lock);
	crn_list_del(&domain->entry);
	crn_unlock(&domain->fabric->lock);
	crn_wait_remove(&domain->source.source);
}

static int domain_close(struct fid *fid)
{
	struct rpr_domain *domain = domain_of(fid);
	bool polled;
	int ret;

	if (atomic_load(&domain->refs))
		return -FI_EBUSY;
	domain_leave(domain);
	if (!domain->closing) {
		polled = domain->cq.polled;
		ret = crn_lower_cq_fini(&domain->cq);
		if (polled && !domain->cq.polled)
			atomic_fetch_sub(&domain->fabric->tick.polled, 1);
		if (ret)
			return ret;
		domain->closing = true;
	}
	/* Regions of the program may be open: what is closed stays closed. */
	ret = fi_close(&domain->lower->fid);
	if (ret)
		return ret;
	atomic_fetch_sub(&domain->fabric->lower.refs, 1);
	free(domain);
	return 0;
}

static struct fi_ops domain_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = domain_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int domain_endpoint2(struct fid_domain *domain, struct fi_info *info,
			    struct fid_ep **ep, uint64_t flags, void *context)
{
	return flags ? -FI_EBADFLAGS : rpr_endpoint(domain, info, ep, context);
}

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = crn_nosys_av_open,
	.cq_open = rpr_cq_open,
	.endpoint = rpr_endpoint,
	.scalable_ep = crn_nosys_scalable_ep,
	.cntr_open = rpr_cntr_open,
	.poll_open = crn_nosys_poll_open,
	.stx_ctx = crn_nosys_stx_ctx,
	.srx_ctx = rpr_srx_open,
	.query_atomic = crn_nosys_query_atomic,
	.query_collective = crn_nosys_query_collective,
	.endpoint2 = domain_endpoint2,
};

static int domain_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
			 uint64_t offset, uint64_t requested_key, uint64_t flags,
			 struct fid_mr **mr, void *context)
{
	return fi_mr_reg(domain_of(fid)->lower, buf, len, access, offset, requested_key,
			 flags, mr, context);
}

static int domain_mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
			  uint64_t access, uint64_t offset, uint64_t requested_key,
			  uint64_t flags, struct fid_mr **mr, void *context)
{
	return fi_mr_regv(domain_of(fid)->lower, iov, count, access, offset,
			  requested_key, flags, mr, context);
}

static int domain_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
			     uint64_t flags, struct fid_mr **mr)
{
	return fi_mr_regattr(domain_of(fid)->lower, attr, flags, mr);
}

static struct fi_ops_mr domain_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = domain_mr_reg,
	.regv = domain_mr_regv,
	.regattr = domain_mr_regattr,
};

/* What the lower provider's regions are like, from what it is opened with. */
static void domain_regions(struct rpr_domain *domain, const struct fi_info *lower)
{
	const int mode = lower->domain_attr->mr_mode;
	const bool basic = mode == CRN_MR_BASIC;

	domain->mr_local = (mode & FI_MR_LOCAL && mode != CRN_MR_SCALABLE && !basic) ||
			   (lower->mode & CRN_LOCAL_MR);
	/* Verbs has one right for a buffer of either. On iWARP a peer may write into what
	 * this end reads into: such a region lives no longer than the Read. */
	domain->direct =
		domain->mr_local && lower->ep_attr->protocol == FI_PROTO_RDMA_CM_IB_RC;
	domain->prov_key = basic || (mode != CRN_MR_SCALABLE && mode & FI_MR_PROV_KEY);
	domain->virt_addr = basic || (mode != CRN_MR_SCALABLE && mode & FI_MR_VIRT_ADDR);
	/* A handle has 32 bits: those of a key that this end chooses, of a short key, or,
	 * of pverbs' keys, the lower half. */
	domain->chunks = !domain->prov_key || lower->domain_attr->mr_key_size <= 4 ||
			 strstr(domain->fabric->lower.prov_name, "pverbs");
}

static int domain_open(struct rpr_domain *domain, const struct fi_info *info)
{
	struct rpr_fabric *fabric = domain->fabric;
	struct fi_info *lower;
	int ret = rpr_info_down(fabric, info, &lower);

	if (ret)
		return ret;
	domain_regions(domain, lower);
	ret = crn_lower_opened(&fabric->lower, "domain",
			       fi_domain(fabric->lower.lower, lower, &domain->lower,
					 NULL));
	fi_freeinfo(lower);
	if (ret)
		return ret;
	ret = crn_lower_cq_init(&domain->cq, domain->lower, DOMAIN_CQ_SIZE,
				domain->locked);
	if (ret)
		fi_close(&domain->lower->fid);
	domain->cq.progressed = rpr_progressed;
	return ret;
}

int rpr_domain_open(struct fid_fabric *fid, struct fi_info *info,
		    struct fid_domain **domain_fid, void *context)
{
	struct rpr_domain *domain = calloc(1, sizeof(*domain));
	int ret;

	if (!domain)
		return -FI_ENOMEM;
	domain->fabric = crn_container_of(fid, struct rpr_fabric, lower.fid);
	/* Event queues progress every domain of the fabric, whatever the threading. */
	domain->locked = true;
	domain->next_key = (uint32_t)(uintptr_t)domain ^ (uint32_t)crn_now_ms();
	crn_list_init(&domain->busy);
	crn_list_init(&domain->deferred);
	ret = domain_open(domain, info);
	if (ret) {
		free(domain);
		return ret;
	}
	atomic_fetch_add(&domain->fabric->lower.refs, 1);
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &domain_fid_ops;
	domain->fid.ops = &domain_ops;
	domain->fid.mr = &domain_mr_ops;
	crn_lock(&domain->fabric->lock);
	crn_list_add_tail(&domain->fabric->domains, &domain->entry);
	crn_unlock(&domain->fabric->lock);
	*domain_fid = &domain->fid;
	return 0;
}
