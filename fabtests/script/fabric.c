/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabric and domain. */
#include <stdlib.h>
#include <string.h>
#include "world.h"

static int fabric_close(struct fid *fid)
{
	struct scr_fabric *fabric = crn_container_of(fid, struct scr_fabric, fid.fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_CLOSE, .fid = fid});

	if (ret)
		return ret;
	if (atomic_load(&fabric->refs))
		return -FI_EBUSY;
	scr_object_del(&fabric->object);
	free(fabric);
	return 0;
}

static int trywait_one(struct fid *fid)
{
	int ret = scr_enter(&(struct scr_record){.call = SCR_TRYWAIT, .fid = fid});

	if (ret)
		return ret;
	switch (fid->fclass) {
	case FI_CLASS_EQ:
		return crn_eq_trywait(crn_container_of(fid, struct crn_eq, fid.fid));
	case FI_CLASS_CQ:
		return crn_cq_trywait(crn_container_of(fid, struct crn_cq, fid.fid));
	case FI_CLASS_CNTR:
		return crn_cntr_trywait(crn_container_of(fid, struct crn_cntr, fid.fid));
	default:
		return -FI_EINVAL;
	}
}

static int fabric_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = trywait_one(fids[i]);
	return ret;
}

static int domain2(struct fid_fabric *fabric, struct fi_info *info,
		   struct fid_domain **domain, uint64_t flags, void *context)
{
	return flags ? -FI_EBADFLAGS : scr_domain_open(fabric, info, domain, context);
}

static struct fi_ops fabric_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = fabric_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = scr_domain_open,
	.passive_ep = scr_passive_ep,
	.eq_open = scr_eq_open,
	.wait_open = crn_nosys_wait_open,
	.trywait = fabric_trywait,
	.domain2 = domain2,
};

int scr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
	struct scr_fabric *fabric;
	int ret = scr_enter(&(struct scr_record){.call = SCR_FABRIC, .context = context});

	if (ret)
		return ret;
	if (!attr->name || !scr_offer() ||
	    strcmp(attr->name, scr_offer()->fabric_attr->name) != 0)
		return -FI_ENODATA;
	fabric = calloc(1, sizeof(*fabric));
	if (!fabric)
		return -FI_ENOMEM;
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.fid.ops = &fabric_fid_ops;
	fabric->fid.ops = &fabric_ops;
	fabric->fid.api_version = attr->api_version;
	scr_object_add(&fabric->object, &fabric->fid.fid);
	*fid = &fabric->fid;
	return 0;
}

static int domain_close(struct fid *fid)
{
	struct scr_domain *domain = crn_container_of(fid, struct scr_domain, fid.fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_CLOSE, .fid = fid});

	if (ret)
		return ret;
	if (atomic_load(&domain->refs))
		return -FI_EBUSY;
	ret = crn_mr_map_fini(&domain->mrs);
	if (ret)
		return ret;
	scr_object_del(&domain->object);
	atomic_fetch_sub(&domain->fabric->refs, 1);
	free(domain);
	return 0;
}

static int endpoint2(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		     uint64_t flags, void *context)
{
	return flags ? -FI_EBADFLAGS : scr_endpoint(domain, info, ep, context);
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

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = crn_nosys_av_open,
	.cq_open = scr_cq_open,
	.endpoint = scr_endpoint,
	.scalable_ep = crn_nosys_scalable_ep,
	.cntr_open = scr_cntr_open,
	.poll_open = crn_nosys_poll_open,
	.stx_ctx = crn_nosys_stx_ctx,
	.srx_ctx = scr_srx_open,
	.query_atomic = scr_query_atomic,
	.query_collective = crn_nosys_query_collective,
	.endpoint2 = endpoint2,
};

int scr_domain_open(struct fid_fabric *fabric_fid, struct fi_info *info,
		    struct fid_domain **fid, void *context)
{
	struct scr_fabric *fabric = crn_container_of(fabric_fid, struct scr_fabric, fid);
	struct scr_record record = {.call = SCR_DOMAIN,
				    .fid = &fabric_fid->fid,
				    .context = context};
	int mode = info->domain_attr->mr_mode;
	struct scr_domain *domain;
	int ret = scr_enter(&record);

	if (ret)
		return ret;
	if (!info->domain_attr->name ||
	    strcmp(info->domain_attr->name, SCR_DOMAIN_NAME) != 0)
		return -FI_ENODATA;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -FI_ENOMEM;
	domain->fabric = fabric;
	domain->locked = info->domain_attr->threading != FI_THREAD_DOMAIN;
	if (mode == CRN_MR_BASIC)
		mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	domain->mr_mode = (uint64_t)mode;
	ret = crn_mr_map_init(&domain->mrs, domain->mr_mode,
			      info->domain_attr->mr_key_size, true);
	if (ret) {
		free(domain);
		return ret;
	}
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &domain_fid_ops;
	domain->fid.ops = &domain_ops;
	domain->fid.mr = &scr_mr_ops;
	atomic_fetch_add(&fabric->refs, 1);
	scr_object_add(&domain->object, &domain->fid.fid);
	*fid = &domain->fid;
	return 0;
}
