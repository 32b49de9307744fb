/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_fabric(3) */
#include <stdlib.h>
#include "layer.h"

static struct crn_lower_fabric *exl_fabric_of(struct fid *fid)
{
	return crn_container_of(fid, struct crn_lower_fabric, fid.fid);
}

static int exl_fabric_close(struct fid *fid)
{
	int ret = crn_lower_fabric_close(exl_fabric_of(fid));

	if (!ret)
		free(exl_fabric_of(fid));
	return ret;
}

/* fi_poll(3): 0 only when every object may be waited for. */
static int exl_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	struct fid_fabric *lower = exl_fabric_of(&fabric->fid)->lower;
	int i, ret = 0;
	fid_t fid;

	for (i = 0; !ret && i < count; i++) {
		if (fids[i]->fclass == FI_CLASS_EQ) {
			ret = crn_eq_trywait(
				crn_container_of(fids[i], struct crn_eq, fid.fid));
			continue;
		}
		fid = fids[i]->fclass == FI_CLASS_CQ ? exl_cq_lower(fids[i]) : fids[i];
		ret = fi_trywait(lower, &fid, 1);
	}
	return ret;
}

static struct fi_ops exl_fabric_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = exl_fabric_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int exl_domain2(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain, uint64_t flags, void *context)
{
	return flags ? -FI_EBADFLAGS : exl_domain(fabric, info, domain, context);
}

static struct fi_ops_fabric exl_fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = exl_domain,
	.passive_ep = exl_passive_ep,
	.eq_open = crn_lower_eq_open,
	.wait_open = crn_nosys_wait_open,
	.trywait = exl_trywait,
	.domain2 = exl_domain2,
};

int exl_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
	struct crn_lower_fabric *fabric = malloc(sizeof(*fabric));
	int ret;

	if (!fabric)
		return -FI_ENOMEM;
	ret = crn_lower_fabric_open(&exl_layer, attr, fabric, context);
	if (ret) {
		free(fabric);
		return ret;
	}
	fabric->fid.fid.ops = &exl_fabric_fid_ops;
	fabric->fid.ops = &exl_fabric_ops;
	*fid = &fabric->fid;
	return 0;
}
