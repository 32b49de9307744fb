/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_passive_ep(3): endpoints that listen. */
#include <stdlib.h>
#include "layer.h"

static int exl_pep_close(struct fid *fid)
{
	struct exl_pep *pep = crn_container_of(fid, struct exl_pep, pass.fid.fid);
	int ret = crn_lower_close(pep->fabric, &pep->pass.obj, &pep->pass.lower->fid);

	if (ret)
		return ret;
	atomic_fetch_sub(&pep->fabric->refs, 1);
	free(pep);
	return 0;
}

static int exl_pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct exl_pep *pep = crn_container_of(fid, struct exl_pep, pass.fid.fid);

	if (bfid->fclass != FI_CLASS_EQ)
		return -FI_EINVAL;
	return crn_lower_bind_eq(pep->fabric, &pep->pass.obj, &pep->pass.lower->fid, bfid,
				 flags);
}

static struct fi_ops exl_pep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = exl_pep_close,
	.bind = exl_pep_bind,
	.control = crn_pass_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int exl_passive_ep(struct fid_fabric *fid, struct fi_info *info, struct fid_pep **pep_fid,
		   void *context)
{
	struct crn_lower_fabric *fabric =
		crn_container_of(fid, struct crn_lower_fabric, fid);
	struct exl_pep *pep = calloc(1, sizeof(*pep));
	struct fi_info *lower;
	int ret;

	if (!pep)
		return -FI_ENOMEM;
	ret = crn_lower_info(fabric, info, &lower);
	if (!ret) {
		ret = crn_lower_opened(fabric, "passive endpoint",
				       fi_passive_ep(fabric->lower, lower,
						     &pep->pass.lower, &pep->pass.obj));
		fi_freeinfo(lower);
	}
	if (ret) {
		free(pep);
		return ret;
	}
	pep->fabric = fabric;
	atomic_fetch_add(&fabric->refs, 1);
	pep->pass.obj.fid = &pep->pass.fid.fid;
	pep->pass.fid.fid.fclass = FI_CLASS_PEP;
	pep->pass.fid.fid.context = context;
	pep->pass.fid.fid.ops = &exl_pep_fid_ops;
	pep->pass.fid.ops = &crn_pass_ep_ops;
	pep->pass.fid.cm = &crn_pass_cm;
	*pep_fid = &pep->pass.fid;
	return 0;
}
