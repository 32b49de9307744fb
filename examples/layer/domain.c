/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_domain(3). Counters and memory regions are the lower provider's own objects: nothing
 * in them is the layer's, and what they are bound to is not either.
 */
#include <stdlib.h>
#include "layer.h"

static struct exl_domain *exl_domain_of(struct fid_domain *domain)
{
	return crn_container_of(domain, struct exl_domain, fid);
}

static int exl_domain_close(struct fid *fid)
{
	struct exl_domain *domain = crn_container_of(fid, struct exl_domain, fid.fid);
	int ret = atomic_load(&domain->refs) ? -FI_EBUSY : fi_close(&domain->lower->fid);

	if (ret)
		return ret;
	atomic_fetch_sub(&domain->fabric->refs, 1);
	free(domain);
	return 0;
}

static struct fi_ops exl_domain_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = exl_domain_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	/* Such operations get the domain, and the lower provider takes it for its own. */
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int exl_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
			 struct fid_cntr **cntr, void *context)
{
	return fi_cntr_open(exl_domain_of(domain)->lower, attr, cntr, context);
}

static int exl_query_atomic(struct fid_domain *domain, enum fi_datatype datatype,
			    enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
	return fi_query_atomic(exl_domain_of(domain)->lower, datatype, op, attr, flags);
}

static int exl_endpoint2(struct fid_domain *domain, struct fi_info *info,
			 struct fid_ep **ep, uint64_t flags, void *context)
{
	return flags ? -FI_EBADFLAGS : exl_endpoint(domain, info, ep, context);
}

static struct fi_ops_domain exl_domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = crn_nosys_av_open,
	.cq_open = exl_cq_open,
	.endpoint = exl_endpoint,
	.scalable_ep = crn_nosys_scalable_ep,
	.cntr_open = exl_cntr_open,
	.poll_open = crn_nosys_poll_open,
	.stx_ctx = crn_nosys_stx_ctx,
	.srx_ctx = exl_srx,
	.query_atomic = exl_query_atomic,
	.query_collective = crn_nosys_query_collective,
	.endpoint2 = exl_endpoint2,
};

static int exl_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		      uint64_t offset, uint64_t requested_key, uint64_t flags,
		      struct fid_mr **mr, void *context)
{
	struct exl_domain *domain = crn_container_of(fid, struct exl_domain, fid.fid);

	return fi_mr_reg(domain->lower, buf, len, access, offset, requested_key, flags,
			 mr, context);
}

static int exl_mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		       uint64_t access, uint64_t offset, uint64_t requested_key,
		       uint64_t flags, struct fid_mr **mr, void *context)
{
	struct exl_domain *domain = crn_container_of(fid, struct exl_domain, fid.fid);

	return fi_mr_regv(domain->lower, iov, count, access, offset, requested_key, flags,
			  mr, context);
}

static int exl_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
			  struct fid_mr **mr)
{
	struct exl_domain *domain = crn_container_of(fid, struct exl_domain, fid.fid);

	return fi_mr_regattr(domain->lower, attr, flags, mr);
}

static struct fi_ops_mr exl_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = exl_mr_reg,
	.regv = exl_mr_regv,
	.regattr = exl_mr_regattr,
};

int exl_domain(struct fid_fabric *fid, struct fi_info *info,
	       struct fid_domain **domain_fid, void *context)
{
	struct crn_lower_fabric *fabric =
		crn_container_of(fid, struct crn_lower_fabric, fid);
	struct exl_domain *domain = calloc(1, sizeof(*domain));
	struct fi_info *lower;
	int ret;

	if (!domain)
		return -FI_ENOMEM;
	ret = crn_lower_info(fabric, info, &lower);
	if (!ret) {
		ret = crn_lower_opened(fabric, "domain",
				       fi_domain(fabric->lower, lower, &domain->lower,
						 NULL));
		fi_freeinfo(lower);
	}
	if (ret) {
		free(domain);
		return ret;
	}
	domain->fabric = fabric;
	atomic_fetch_add(&fabric->refs, 1);
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &exl_domain_fid_ops;
	domain->fid.ops = &exl_domain_ops;
	domain->fid.mr = &exl_mr_ops;
	*domain_fid = &domain->fid;
	return 0;
}
