/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_endpoint(3): endpoints and shared receive contexts. Their operations pass. */
#include <stdlib.h>
#include "layer.h"

static void exl_ep_free(struct exl_ep *ep)
{
	while (ep->bound_count)
		atomic_fetch_sub(ep->bound[--ep->bound_count], 1);
	atomic_fetch_sub(&ep->domain->refs, 1);
	free(ep);
}

static int exl_ep_close(struct fid *fid)
{
	struct exl_ep *ep = crn_container_of(fid, struct exl_ep, pass.fid.fid);
	int ret = -FI_EBUSY;

	if (!atomic_load(&ep->refs))
		ret = crn_lower_close(ep->domain->fabric, &ep->pass.obj,
				      &ep->pass.lower->fid);
	if (!ret)
		exl_ep_free(ep);
	return ret;
}

/* What is bound is the lower provider's to the lower provider's, and busy from here on.
 */
static int exl_ep_bind_lower(struct exl_ep *ep, fid_t lower, uint64_t flags,
			     _Atomic unsigned int *refs)
{
	int ret;

	if (ep->bound_count == CRN_COUNT(ep->bound))
		return -FI_EINVAL;
	ret = fi_ep_bind(ep->pass.lower, lower, flags);
	if (ret)
		return ret;
	atomic_fetch_add(refs, 1);
	ep->bound[ep->bound_count++] = refs;
	return 0;
}

static int exl_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct exl_ep *ep = crn_container_of(fid, struct exl_ep, pass.fid.fid);

	switch (bfid->fclass) {
	case FI_CLASS_EQ:
		return crn_lower_bind_eq(ep->domain->fabric, &ep->pass.obj,
					 &ep->pass.lower->fid, bfid, flags);
	case FI_CLASS_CQ:
		return exl_ep_bind_lower(
			ep, exl_cq_lower(bfid), flags,
			&crn_container_of(bfid, struct exl_cq, fid.fid)->refs);
	case FI_CLASS_SRX_CTX:
		return exl_ep_bind_lower(
			ep, crn_pass_fid(bfid), flags,
			&crn_container_of(bfid, struct exl_ep, pass.fid.fid)->refs);
	case FI_CLASS_CNTR:
		return fi_ep_bind(ep->pass.lower, bfid, flags);
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops exl_ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = exl_ep_close,
	.bind = exl_ep_bind,
	.control = crn_pass_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct exl_ep *exl_ep_alloc(struct fid_domain *domain, size_t fclass,
				   void *context)
{
	struct exl_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->domain = crn_container_of(domain, struct exl_domain, fid);
	atomic_fetch_add(&ep->domain->refs, 1);
	ep->pass.obj.fid = &ep->pass.fid.fid;
	ep->pass.fid.fid.fclass = fclass;
	ep->pass.fid.fid.context = context;
	ep->pass.fid.fid.ops = &exl_ep_fid_ops;
	return ep;
}

/* ret: of opening ep->pass.lower. */
static int exl_ep_opened(struct exl_ep *ep, const char *what, int ret,
			 struct fid_ep **fid)
{
	crn_lower_opened(ep->domain->fabric, what, ret);
	if (ret) {
		exl_ep_free(ep);
		return ret;
	}
	crn_pass_ops(&ep->pass);
	*fid = &ep->pass.fid;
	return 0;
}

/* The lower endpoint's context leads events back to this one. */
int exl_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid,
		 void *context)
{
	struct exl_ep *ep = exl_ep_alloc(domain, FI_CLASS_EP, context);
	struct fi_info *lower;
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	ret = crn_lower_info(ep->domain->fabric, info, &lower);
	if (ret) {
		exl_ep_free(ep);
		return ret;
	}
	/* A handle of a connection request is the lower provider's already. */
	if (lower->handle && lower->handle->fclass == FI_CLASS_PEP)
		lower->handle = crn_pass_fid(lower->handle);
	ret = fi_endpoint(ep->domain->lower, lower, &ep->pass.lower, &ep->pass.obj);
	fi_freeinfo(lower);
	return exl_ep_opened(ep, "endpoint", ret, fid);
}

int exl_srx(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **fid,
	    void *context)
{
	struct exl_ep *ep = exl_ep_alloc(domain, FI_CLASS_SRX_CTX, context);
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	ret = fi_srx_context(ep->domain->lower, attr, &ep->pass.lower, &ep->pass.obj);
	return exl_ep_opened(ep, "shared receive context", ret, fid);
}
