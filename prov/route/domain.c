/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_domain(3): what a program has of a device. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "auto.h"
#include "device.h"

static int domain_close(struct fid *fid)
{
	struct rte_domain *domain = crn_container_of(fid, struct rte_domain, fid.fid);
	int ret;

	if (atomic_load(&domain->refs))
		return -FI_EBUSY;
	ret = crn_mr_map_fini(&domain->map);
	if (ret)
		return ret;
	if (domain->automatic)
		rte_auto_put(domain->device);
	rte_device_put(domain->device);
	atomic_fetch_sub(&domain->fabric->refs, 1);
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
	return flags ? -FI_EBADFLAGS : rte_endpoint(domain, info, ep, context);
}

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = crn_nosys_av_open,
	.cq_open = rte_cq_open,
	.endpoint = rte_endpoint,
	.scalable_ep = crn_nosys_scalable_ep,
	.cntr_open = rte_cntr_open,
	.poll_open = crn_nosys_poll_open,
	.stx_ctx = crn_nosys_stx_ctx,
	.srx_ctx = crn_nosys_srx_ctx,
	.query_atomic = crn_nosys_query_atomic,
	.query_collective = crn_nosys_query_collective,
	.endpoint2 = domain_endpoint2,
};

static int domain_progress(struct rte_domain *domain, const struct fi_info *info)
{
	const struct fi_domain_attr *attr = info->domain_attr;
	int ret;

	if (attr->data_progress != FI_PROGRESS_AUTO &&
	    attr->control_progress != FI_PROGRESS_AUTO)
		return 0;
	ret = rte_auto_get(domain->device);
	domain->automatic = !ret;
	return ret;
}

/* Keys are chosen by mr.c, where they are: nobody guesses them. */
static int domain_map(struct rte_domain *domain, const struct fi_info *info)
{
	const int mode = info->domain_attr->mr_mode;
	const bool basic = mode == CRN_MR_BASIC;
	const bool bits = !basic && mode != CRN_MR_SCALABLE;

	domain->prov_key = basic || (bits && mode & FI_MR_PROV_KEY);
	return crn_mr_map_init(&domain->map,
			       basic || (bits && mode & FI_MR_VIRT_ADDR) ? FI_MR_VIRT_ADDR
									 : 0,
			       sizeof(uint64_t), true);
}

int rte_domain_open(struct fid_fabric *fid, struct fi_info *info,
		    struct fid_domain **domain_fid, void *context)
{
	struct rte_domain *domain;
	int ret;

	if (!info || !info->domain_attr)
		return -FI_EINVAL;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -FI_ENOMEM;
	domain->fabric = crn_container_of(fid, struct rte_fabric, fid);
	ret = rte_device_get(domain->fabric, info, &domain->device);
	if (ret)
		goto err_free;
	ret = domain_map(domain, info);
	if (ret)
		goto err_device;
	ret = domain_progress(domain, info);
	if (ret)
		goto err_map;
	atomic_fetch_add(&domain->fabric->refs, 1);
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &domain_fid_ops;
	domain->fid.ops = &domain_ops;
	domain->fid.mr = &rte_mr_ops;
	*domain_fid = &domain->fid;
	return 0;
err_map:
	crn_mr_map_fini(&domain->map);
err_device:
	rte_device_put(domain->device);
err_free:
	free(domain);
	return ret;
}
