/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_fabric(3): a configuration, and all its devices that are in use. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "info.h"
#include "objects.h"

static struct rte_fabric *fabric_of(struct fid *fid)
{
	return crn_container_of(fid, struct rte_fabric, fid.fid);
}

static int fabric_close(struct fid *fid)
{
	struct rte_fabric *fabric = fabric_of(fid);

	if (atomic_load(&fabric->refs))
		return -FI_EBUSY;
	crn_wait_fini(&fabric->wait);
	crn_lock_fini(&fabric->lock);
	rte_config_free(fabric->config);
	free(fabric);
	return 0;
}

static int fabric_trywait_one(struct fid *fid)
{
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

/* fi_poll(3): 0 only when every object may be waited for. */
static int fabric_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = fabric_trywait_one(fids[i]);
	return ret;
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

static int fabric_domain2(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_domain **domain, uint64_t flags, void *context)
{
	return flags ? -FI_EBADFLAGS : rte_domain_open(fabric, info, domain, context);
}

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = rte_domain_open,
	.passive_ep = rte_passive_ep,
	.eq_open = rte_eq_open,
	.wait_open = crn_nosys_wait_open,
	.trywait = fabric_trywait,
	.domain2 = fabric_domain2,
};

int rte_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
	struct rte_fabric *fabric = calloc(1, sizeof(*fabric));
	int ret;

	if (!fabric)
		return -FI_ENOMEM;
	if (attr->name && strcmp(attr->name, RTE_NAME) != 0) {
		free(fabric);
		return -FI_ENODATA;
	}
	ret = rte_info_config(&fabric->config);
	if (!ret)
		ret = crn_wait_init(&fabric->wait, FI_WAIT_FD);
	if (ret) {
		rte_config_free(fabric->config);
		free(fabric);
		return ret;
	}
	crn_lock_init(&fabric->lock, true);
	crn_list_init(&fabric->devices);
	crn_list_init(&fabric->eqs);
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.fid.ops = &fabric_fid_ops;
	fabric->fid.ops = &fabric_ops;
	fabric->fid.api_version = attr->api_version;
	*fid = &fabric->fid;
	return 0;
}
