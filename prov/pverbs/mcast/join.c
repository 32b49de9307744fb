/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_join(3), and what it gives: a fid_mc. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "cq/cq.h"
#include "internal.h"
#include "linked.h"

static int mc_close(struct fid *fid)
{
	struct pvb_mc *mc = crn_container_of(fid, struct pvb_mc, fid.fid);
	struct pvb_eq *eq = mc->ep->eq;

	if (pvb_inherited(mc->ep->domain->fabric))
		return 0;
	pthread_mutex_lock(&eq->cm_lock);
	if (mc->on)
		pvb_mc_linked_leave(mc);
	pvb_mc_group_put(mc);
	pvb_mc_report_drop(mc);
	if (mc->send)
		pvb_mc_slot_put(mc->ep, mc->addr);
	pthread_mutex_unlock(&eq->cm_lock);
	pvb_mc_routes_put(mc);
	atomic_fetch_sub(&mc->ep->dgram->mcs.open, 1);
	free(mc);
	return 0;
}

static struct fi_ops mc_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = mc_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

/* What flags ask for, within the endpoint's capabilities: 0 or -FI_EINVAL. */
static int mc_directions(struct pvb_mc *mc, uint64_t flags)
{
	const uint64_t both = FI_SEND | FI_RECV;
	const uint64_t caps = mc->ep->attr.caps & both ? mc->ep->attr.caps & both : both;
	const uint64_t wanted = flags ? flags : caps;

	mc->send = wanted & FI_SEND;
	mc->recv = wanted & FI_RECV;
	return wanted & ~caps ? -FI_EINVAL : 0;
}

static int mc_check(const struct pvb_ep *ep, uint64_t flags)
{
	if (ep->conn.state != PVB_CONN_CONNECTED)
		return -FI_EOPBADSTATE;
	if (flags & ~(FI_SEND | FI_RECV))
		return -FI_EBADFLAGS;
	if (!(ep->attr.caps & FI_MULTICAST))
		return -FI_EOPNOTSUPP;
	return pvb_removed(ep->domain) ? -FI_ENODEV : 0;
}

/* By subnet administration on a link, else by rdma_cm, which has another name for it. */
static int mc_get(struct pvb_mc *mc, const struct pvb_mc_name *name)
{
	int ret;

	if (mc->ep->domain->ud->link.on) {
		ret = pvb_mc_port_get(mc->ep);
		if (ret || pvb_mc_linked_join(mc))
			return ret;
	}
	mc->parts = PVB_MC_BY_CM;
	return pvb_mc_group_get(mc, name);
}

static int mc_enter(struct pvb_mc *mc, const struct pvb_mc_name *name)
{
	int ret = mc->send ? pvb_mc_slot_get(mc->ep, &mc->addr) : 0;

	if (ret)
		return ret;
	ret = mc_get(mc, name);
	if (ret && mc->send)
		pvb_mc_slot_put(mc->ep, mc->addr);
	return ret;
}

int pvb_mcast_join(struct pvb_ep *ep, const void *addr, uint64_t flags,
		   struct fid_mc **fid, void *context)
{
	struct pvb_mc_name given = {0}, name;
	struct pvb_mc *mc;
	int ret = mc_check(ep, flags);

	if (!ret)
		ret = pvb_mc_name(addr, ep->domain->ud->path.ethernet, &given);
	name = given;
	if (!ret)
		ret = pvb_mc_name_on(&ep->domain->ud->link, &name);
	if (ret)
		return ret;
	mc = calloc(1, sizeof(*mc));
	if (!mc)
		return -FI_ENOMEM;
	mc->ep = ep;
	mc->name = given;
	mc->fid.fid.fclass = FI_CLASS_MC;
	mc->fid.fid.context = context;
	mc->fid.fid.ops = &mc_fid_ops;
	mc->fid.fi_addr = FI_ADDR_NOTAVAIL;
	ret = mc_directions(mc, flags);
	if (ret)
		goto err;
	/* Its event may be read, and it be closed, before this returns. */
	*fid = &mc->fid;
	atomic_fetch_add(&ep->dgram->mcs.open, 1);
	pthread_mutex_lock(&ep->eq->cm_lock);
	ret = mc_enter(mc, &name);
	pthread_mutex_unlock(&ep->eq->cm_lock);
	if (!ret)
		return 0;
	*fid = NULL;
	atomic_fetch_sub(&ep->dgram->mcs.open, 1);
err:
	free(mc);
	return ret;
}
