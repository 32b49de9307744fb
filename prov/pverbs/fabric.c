/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "cq/cq.h"
#include "flags.h"

static int pvb_fabric_close(struct fid *fid)
{
	struct pvb_fabric *fabric = crn_container_of(fid, struct pvb_fabric, fid.fid);

	if (pvb_inherited(fabric))
		return 0;
	if (atomic_load(&fabric->refs))
		return -FI_EBUSY;
	pvb_requests_fini(&fabric->requests);
	pthread_mutex_destroy(&fabric->control_conn_lock);
	free(fabric);
	return 0;
}

/* fi_poll(3): 0 only when every queue may be waited for. */
static int pvb_fabric_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, ret;

	for (i = 0; i < count; i++) {
		switch (fids[i]->fclass) {
		case FI_CLASS_EQ:
			ret = crn_eq_trywait(
				crn_container_of(fids[i], struct crn_eq, fid.fid));
			break;
		case FI_CLASS_CQ:
			ret = pvb_cq_trywait(
				crn_container_of(fids[i], struct pvb_cq, fid.fid));
			break;
		case FI_CLASS_CNTR:
			ret = crn_cntr_trywait(
				crn_container_of(fids[i], struct crn_cntr, fid.fid));
			break;
		default:
			return -FI_EINVAL;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static struct fi_ops pvb_fabric_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_fabric_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int pvb_domain2(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain, uint64_t flags, void *context)
{
	int ret = pvb_flags_check(PVB_FLAGS_DOMAIN, flags);

	return ret ? ret : pvb_domain_open(fabric, info, domain, context);
}

static struct fi_ops_fabric pvb_fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = pvb_domain_open,
	.passive_ep = pvb_passive_ep,
	.eq_open = pvb_eq_open,
	.wait_open = crn_nosys_wait_open,
	.trywait = pvb_fabric_trywait,
	.domain2 = pvb_domain2,
};

int pvb_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
	struct pvb_fabric *fabric;
	int ret;

	if (!attr || !attr->name ||
	    strncmp(attr->name, PVB_NAME "-", sizeof(PVB_NAME)) != 0)
		return -FI_ENODATA;
	fabric = calloc(1, sizeof(*fabric));
	if (!fabric)
		return -FI_ENOMEM;
	ret = pvb_requests_init(&fabric->requests);
	if (ret)
		goto err_free;
	ret = -pthread_mutex_init(&fabric->control_conn_lock, NULL);
	if (ret)
		goto err_requests;
	crn_list_init(&fabric->expected);
	crn_list_init(&fabric->listeners);
	fabric->pid = getpid();
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.fid.ops = &pvb_fabric_fid_ops;
	fabric->fid.ops = &pvb_fabric_ops;
	fabric->fid.api_version = attr->api_version;
	*fid = &fabric->fid;
	return 0;
err_requests:
	pvb_requests_fini(&fabric->requests);
err_free:
	free(fabric);
	return ret;
}
