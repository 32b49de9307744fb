/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of a connection. */
#include <string.h>
#include <cairn/compat.h>
#include "ep.h"

static struct fi_cairn_ops_rpc_stats stats_ops;

static struct rpr_ep *stats_ep(struct fid_ep *fid);

static int stats_read(struct fid_ep *fid, struct fi_cairn_rpc_stats *stats, size_t len)
{
	struct rpr_ep *ep = stats_ep(fid);

	if (!ep)
		return -FI_EINVAL;
	crn_lock(rpr_lock_of(ep));
	memcpy(stats, &ep->stats, CRN_MIN(len, sizeof(ep->stats)));
	crn_unlock(rpr_lock_of(ep));
	return 0;
}

static ssize_t stats_dump(struct fid_ep *fid, char *buf, size_t size)
{
	struct rpr_ep *ep = stats_ep(fid);
	size_t len;

	if (!ep)
		return -FI_EINVAL;
	crn_lock(rpr_lock_of(ep));
	len = rpr_dump(ep, buf, size);
	crn_unlock(rpr_lock_of(ep));
	return (ssize_t)len;
}

static struct fi_cairn_ops_rpc_stats stats_ops = {
	.size = sizeof(struct fi_cairn_ops_rpc_stats),
	.read = stats_read,
	.dump = stats_dump,
};

/* NULL: an endpoint of somebody else's. */
static struct rpr_ep *stats_ep(struct fid_ep *fid)
{
	return fid->fid.fclass == FI_CLASS_EP && fid->ops == &rpr_ep_ops ? rpr_ep_of(fid)
									 : NULL;
}

int rpr_ep_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		    void *context)
{
	if (flags)
		return -FI_EBADFLAGS;
	if (strcmp(name, FI_CAIRN_RPC_STATS) != 0)
		return -FI_ENOSYS;
	*ops = &stats_ops;
	return 0;
}
