/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive contexts. */
#include <stdlib.h>
#include "world.h"

static int srx_close(struct fid *fid)
{
	struct scr_srx *srx = crn_container_of(fid, struct scr_srx, fid.fid);
	int ret = scr_enter(&(struct scr_record){.call = SCR_CLOSE, .fid = fid});
	struct crn_list *entry;

	if (ret)
		return ret;
	scr_lock();
	ret = crn_list_empty(&srx->eps) ? 0 : -FI_EBUSY;
	scr_unlock();
	if (ret)
		return ret;
	scr_object_del(&srx->object);
	while ((entry = crn_list_pop(&srx->rx.posted)))
		free(crn_container_of(entry, struct scr_work, entry));
	atomic_fetch_sub(&srx->domain->refs, 1);
	free(srx);
	return 0;
}

static struct fi_ops srx_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = srx_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int scr_srx_open(struct fid_domain *domain_fid, struct fi_rx_attr *attr,
		 struct fid_ep **fid, void *context)
{
	struct scr_domain *domain = crn_container_of(domain_fid, struct scr_domain, fid);
	struct scr_record record = {.call = SCR_SRX,
				    .fid = &domain_fid->fid,
				    .context = context};
	int ret = scr_enter(&record);
	struct scr_srx *srx;

	if (ret)
		return ret;
	srx = calloc(1, sizeof(*srx));
	if (!srx)
		return -FI_ENOMEM;
	srx->domain = domain;
	srx->rx.size = attr && attr->size ? attr->size : 256;
	srx->op_flags = attr ? attr->op_flags : 0;
	crn_list_init(&srx->rx.posted);
	crn_list_init(&srx->eps);
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &srx_fid_ops;
	srx->fid.ops = &scr_opt_ops;
	srx->fid.cm = &crn_nosys_cm;
	scr_srx_msg_init(&srx->msg);
	srx->fid.msg = &srx->msg;
	srx->fid.rma = &crn_nosys_rma;
	srx->fid.tagged = &crn_nosys_tagged;
	srx->fid.atomic = &crn_nosys_atomic;
	srx->fid.collective = &crn_nosys_collective;
	atomic_fetch_add(&domain->refs, 1);
	scr_object_add(&srx->object, &srx->fid.fid);
	*fid = &srx->fid;
	return 0;
}
