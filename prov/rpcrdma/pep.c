/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_passive_ep(3): endpoints that listen. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "ep/ep.h"

static int pep_close(struct fid *fid)
{
	struct rpr_pep *pep = crn_container_of(fid, struct rpr_pep, fid.fid);
	int ret;

	rpr_requests_mark(pep);
	ret = crn_lower_close(&pep->fabric->lower, &pep->obj, &pep->lower->fid);
	if (ret)
		return ret;
	rpr_requests_drop(pep);
	crn_lock(&pep->fabric->requests_lock);
	crn_list_del(&pep->entry);
	crn_unlock(&pep->fabric->requests_lock);
	atomic_fetch_sub(&pep->fabric->lower.refs, 1);
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rpr_pep *pep = crn_container_of(fid, struct rpr_pep, fid.fid);

	if (bfid->fclass != FI_CLASS_EQ)
		return -FI_EINVAL;
	return crn_lower_bind_eq(&pep->fabric->lower, &pep->obj, &pep->lower->fid, bfid,
				 flags);
}

static int pep_control(struct fid *fid, int command, void *arg)
{
	struct rpr_pep *pep = crn_container_of(fid, struct rpr_pep, fid.fid);

	return command == FI_ALIAS ? -FI_ENOSYS
				   : fi_control(&pep->lower->fid, command, arg);
}

static struct fi_ops pep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pep_close,
	.bind = pep_bind,
	.control = pep_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pep_open_lower(struct rpr_pep *pep, const struct fi_info *info)
{
	struct fi_info *lower;
	int ret = rpr_info_down(pep->fabric, info, &lower);

	if (ret)
		return ret;
	ret = crn_lower_opened(&pep->fabric->lower, "passive endpoint",
			       fi_passive_ep(pep->fabric->lower.lower, lower, &pep->lower,
					     &pep->obj));
	fi_freeinfo(lower);
	if (!ret)
		rpr_cm_raw(&pep->lower->fid, pep->mode);
	return ret;
}

int rpr_passive_ep(struct fid_fabric *fid, struct fi_info *info, struct fid_pep **pep_fid,
		   void *context)
{
	struct rpr_pep *pep = calloc(1, sizeof(*pep));
	int ret = -FI_ENOMEM;

	if (!pep)
		return ret;
	pep->fabric = crn_container_of(fid, struct rpr_fabric, lower.fid);
	pep->mode = rpr_info_mode(info);
	pep->info = fi_dupinfo(info);
	if (pep->info)
		ret = pep_open_lower(pep, info);
	if (ret) {
		if (pep->info)
			fi_freeinfo(pep->info);
		free(pep);
		return ret;
	}
	atomic_fetch_add(&pep->fabric->lower.refs, 1);
	crn_lock(&pep->fabric->requests_lock);
	crn_list_add_tail(&pep->fabric->peps, &pep->entry);
	crn_unlock(&pep->fabric->requests_lock);
	pep->obj.fid = &pep->fid.fid;
	pep->obj.info = pep->info;
	pep->obj.event = rpr_pep_event;
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pep_fid_ops;
	pep->fid.ops = &rpr_pep_ops;
	pep->fid.cm = &rpr_pep_cm;
	*pep_fid = &pep->fid;
	return 0;
}
