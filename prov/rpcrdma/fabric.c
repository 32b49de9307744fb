/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_fabric(3) */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "objects.h"

static struct rpr_fabric *fabric_of(struct fid *fid)
{
	return crn_container_of(fid, struct rpr_fabric, lower.fid.fid);
}

static int fabric_close(struct fid *fid)
{
	struct rpr_fabric *fabric = fabric_of(fid);
	int ret = crn_lower_fabric_close(&fabric->lower);

	if (ret)
		return ret;
	rpr_requests_free(fabric);
	rpr_tick_fini(&fabric->tick);
	crn_wait_fini(&fabric->wait);
	crn_lock_fini(&fabric->lock);
	crn_lock_fini(&fabric->requests_lock);
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
	return flags ? -FI_EBADFLAGS : rpr_domain_open(fabric, info, domain, context);
}

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = rpr_domain_open,
	.passive_ep = rpr_passive_ep,
	.eq_open = crn_lower_eq_open,
	.wait_open = crn_nosys_wait_open,
	.trywait = fabric_trywait,
	.domain2 = fabric_domain2,
};

static void fabric_progress(struct crn_lower_fabric *fabric)
{
	rpr_fabric_progress(crn_container_of(fabric, struct rpr_fabric, lower));
}

int rpr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
	struct rpr_fabric *fabric = calloc(1, sizeof(*fabric));
	int ret;

	if (!fabric)
		return -FI_ENOMEM;
	ret = crn_wait_init(&fabric->wait, FI_WAIT_FD);
	if (ret)
		goto err_free;
	ret = rpr_tick_init(&fabric->tick, &fabric->wait);
	if (ret)
		goto err_wait;
	ret = crn_lower_fabric_open(&rpr_layer, attr, &fabric->lower, context);
	if (ret)
		goto err_tick;
	crn_lock_init(&fabric->lock, true);
	crn_lock_init(&fabric->requests_lock, true);
	crn_list_init(&fabric->domains);
	crn_list_init(&fabric->requests);
	crn_list_init(&fabric->peps);
	fabric->lower.progress = fabric_progress;
	fabric->lower.wait = &fabric->wait;
	fabric->lower.fid.fid.ops = &fabric_fid_ops;
	fabric->lower.fid.ops = &fabric_ops;
	*fid = &fabric->lower.fid;
	return 0;
err_tick:
	rpr_tick_fini(&fabric->tick);
err_wait:
	crn_wait_fini(&fabric->wait);
err_free:
	free(fabric);
	return ret;
}
