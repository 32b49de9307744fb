/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_eq(3): in memory; reading one moves everything on. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "device.h"

/* What the program reads, when it is not told an event for want of memory. A queue that
 * is full has something to be read. */
static int eq_progress(struct crn_eq *eq)
{
	struct rte_fabric *fabric = crn_container_of(eq, struct rte_eq, eq)->fabric;

	rte_fabric_progress(fabric, NULL);
	return rte_fabric_keeps(fabric, eq) ? -FI_ENOMEM : 0;
}

static int eq_close(struct fid *fid)
{
	struct rte_eq *eq = crn_container_of(fid, struct rte_eq, eq.fid.fid);

	if (atomic_load(&eq->eq.refs))
		return -FI_EBUSY;
	crn_lock(&eq->fabric->lock);
	crn_list_del(&eq->entry);
	crn_unlock(&eq->fabric->lock);
	crn_wait_remove(&eq->source.source);
	crn_eq_fini(&eq->eq);
	atomic_fetch_sub(&eq->fabric->refs, 1);
	free(eq);
	return 0;
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = crn_nosys_bind,
	.control = crn_eq_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

int rte_eq_open(struct fid_fabric *fid, struct fi_eq_attr *attr, struct fid_eq **eq_fid,
		void *context)
{
	struct rte_eq *eq = calloc(1, sizeof(*eq));
	int ret;

	if (!eq)
		return -FI_ENOMEM;
	eq->fabric = crn_container_of(fid, struct rte_fabric, fid);
	ret = crn_eq_init(&eq->eq, &rte_prov, attr, context, eq_progress);
	if (ret)
		goto err_free;
	if (eq->eq.wait.obj != FI_WAIT_NONE) {
		ret = crn_wait_add_inner(&eq->eq.wait, &eq->source, &eq->fabric->wait);
		if (ret)
			goto err_fini;
	}
	eq->eq.fabric = fid;
	eq->eq.api_version = fid->api_version;
	eq->eq.fid.fid.ops = &eq_fid_ops;
	atomic_fetch_add(&eq->fabric->refs, 1);
	crn_lock(&eq->fabric->lock);
	crn_list_add_tail(&eq->fabric->eqs, &eq->entry);
	crn_unlock(&eq->fabric->lock);
	*eq_fid = &eq->eq.fid;
	return 0;
err_fini:
	crn_eq_fini(&eq->eq);
err_free:
	free(eq);
	return ret;
}
