/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joining and leaving multicast groups. On InfiniBand they are the subnet's, joined as
 * the kernel's ib_sa does; settings may have a join fail (settings/joins.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

#define SVB_MCAST_QPN 0xffffff

static struct svb_cm_link svb_cm_link(const struct svb_cm_id *id)
{
	return (struct svb_cm_link){
		.ib = svb_self.settings.link == SVB_LINK_IB,
		.v2 = id->port && id->port->gid_type[id->gid] == IBV_GID_TYPE_ROCE_V2,
		.ps = id->id.ps,
		.pkey = be16toh(id->id.route.addr.addr.ibaddr.pkey),
	};
}

static struct svb_cm_mcast *svb_mcast_new(struct svb_cm_id *id,
					  const struct sockaddr *addr,
					  const union ibv_gid *mgid, void *context)
{
	struct svb_cm_mcast *mcast = calloc(1, sizeof(*mcast));

	if (!mcast)
		return NULL;
	memcpy(&mcast->addr, addr, svb_cm_addr_len(addr));
	mcast->context = context;
	mcast->mgid = *mgid;
	/* The newest first, as librdmacm leaves them. */
	crn_list_add_tail(id->mcasts.next, &mcast->entry);
	return mcast;
}

/* What the kernel asks for; the SA fills in the rest. */
struct svb_mcast_wish {
	struct svb_group_attr attr;
	bool ipoib; /* also rate, MTU and hop limit */
};

static bool svb_mcast_suits(const struct svb_group_attr *attr, const void *arg)
{
	const struct svb_mcast_wish *wish = arg;
	const struct svb_group_attr *asked = &wish->attr;

	return attr->qkey == asked->qkey && attr->sl == asked->sl &&
	       attr->flow == asked->flow && attr->tclass == asked->tclass &&
	       !((attr->pkey ^ asked->pkey) & SVB_PKEY_BASE) &&
	       (!wish->ipoib || (attr->rate == asked->rate && attr->mtu == asked->mtu));
}

/* False: there is no broadcast group to take it from. */
static bool svb_mcast_wish(const struct svb_cm_id *id, struct svb_mcast_wish *wish)
{
	const uint16_t pkey = be16toh(id->id.route.addr.addr.ibaddr.pkey);
	const struct svb_group_attr made = svb_subnet_default(pkey);

	wish->ipoib = id->id.ps == RDMA_PS_IPOIB;
	if (!svb_subnet_ipoib(pkey, &wish->attr))
		return false;
	wish->attr.qkey = id->qkey;
	if (wish->ipoib)
		return true;
	wish->attr.mtu = made.mtu;
	wish->attr.rate = made.rate;
	wish->attr.hop = made.hop;
	return true;
}

/*
 * What cma_join_ib_multicast of the kernel's cma.c asks for: the group, made like the
 * broadcast group if it is not there, with the Q_Key of the id. The kernel reports every
 * refusal as EINVAL.
 */
static int svb_mcast_subnet(struct svb_cm_id *id, struct svb_cm_mcast *mcast,
			    struct svb_mcast_wish *wish)
{
	struct svb_subnet_join join = {
		.mgid = mcast->mgid,
		.port = id->port->index,
		.state = mcast->send_only ? SVB_JOIN_SEND_ONLY_FULL : SVB_JOIN_FULL,
		.by_cm = true,
		.create = &wish->attr,
		.suits = svb_mcast_suits,
		.arg = wish,
	};
	struct svb_group group;
	uint32_t place;

	if (svb_self.settings.link != SVB_LINK_IB)
		return 0;
	if (svb_subnet_join(&join, &group, &place))
		return EINVAL;
	mcast->attr = group.attr;
	mcast->handle = join.handle;
	mcast->mlid = (uint16_t)(SVB_MLID_FIRST + place);
	return 0;
}

/* What the event tells: ib_init_ah_from_mcmember of the kernel's verbs.c. */
static void svb_mcast_param(const struct svb_cm_id *id, const struct svb_cm_mcast *mcast,
			    struct rdma_ud_param *ud)
{
	ud->qp_num = SVB_MCAST_QPN;
	ud->qkey = id->qkey;
	ud->ah_attr.is_global = 1;
	ud->ah_attr.dlid = mcast->mlid;
	ud->ah_attr.port_num = id->id.port_num;
	ud->ah_attr.grh.dgid = mcast->mgid;
	ud->ah_attr.grh.sgid_index = (uint8_t)id->gid;
	/* cma_iboe_join_multicast: IP packets travel further than those of RoCE
	 * version 1. */
	ud->ah_attr.grh.hop_limit = svb_cm_link(id).v2 ? 64 : 1;
	if (svb_self.settings.link != SVB_LINK_IB) {
		ud->ah_attr.grh.traffic_class = id->tos;
		return;
	}
	ud->ah_attr.sl = mcast->attr.sl;
	ud->ah_attr.grh.flow_label = mcast->attr.flow;
	ud->ah_attr.grh.traffic_class = mcast->attr.tclass;
}

/* The SA, or whoever a setting puts in its place, answers. */
static int svb_mcast_report(struct svb_cm_id *id, struct svb_cm_mcast *mcast,
			    const struct svb_join_rule *rule)
{
	struct svb_mcast_wish wish;
	struct svb_cm_event *event;
	int err;

	/* ib_sa_get_mcmember_rec, before the SA is asked. While the port is down IPoIB
	 * has left the broadcast group (ipoib_ib_dev_down). */
	if (svb_self.settings.link == SVB_LINK_IB &&
	    (svb_port_down(id->port->index) || !svb_mcast_wish(id, &wish)))
		return EADDRNOTAVAIL;
	if (rule && rule->fate == SVB_JOIN_NEVER)
		return 0;
	err = rule ? rule->err : svb_mcast_subnet(id, mcast, &wish);
	event = svb_cm_report(id,
			      err ? RDMA_CM_EVENT_MULTICAST_ERROR
				  : RDMA_CM_EVENT_MULTICAST_JOIN,
			      -err);
	if (!event) {
		svb_subnet_release(mcast->handle);
		return ENOMEM;
	}
	mcast->member = !err;
	event->mcast = mcast;
	event->event.param.ud.private_data = mcast->context;
	if (!err)
		svb_mcast_param(id, mcast, &event->event.param.ud);
	return 0;
}

static int svb_cm_join(struct svb_cm_id *id, const struct sockaddr *addr, bool send_only,
		       void *context)
{
	struct svb_join_rules *rules = &svb_self.settings.join_fail;
	const struct svb_cm_link link = svb_cm_link(id);
	const struct svb_join_rule *rule;
	struct svb_cm_mcast *mcast;
	union ibv_gid mgid;
	const void *ip;
	size_t len;
	int ret;

	if (!addr || !svb_cm_addr_ok(addr) || !id->id.verbs || id->state == SVB_CM_IDLE ||
	    id->id.qp_type != IBV_QPT_UD)
		return EINVAL;
	if (svb_cm_iwarp())
		return ENOSYS;
	ret = svb_cm_mgid(addr, &link, &mgid);
	if (ret)
		return ret;
	ip = svb_cm_addr_ip(addr, &len);
	rule = svb_join_rule_take(rules, ip, (uint32_t)len, &mgid);
	if (rule && rule->fate == SVB_JOIN_CALL)
		return rule->err;
	mcast = svb_mcast_new(id, addr, &mgid, context);
	if (!mcast)
		return ENOMEM;
	mcast->send_only = send_only;
	ret = svb_mcast_report(id, mcast, rule);
	if (ret) {
		crn_list_del(&mcast->entry);
		free(mcast);
	}
	return ret;
}

static int svb_cm_join_call(struct rdma_cm_id *id, const struct sockaddr *addr,
			    bool send_only, void *context)
{
	int ret;

	svb_cm_lock();
	ret = svb_cm_join(svb_cm_id(id), addr, send_only, context);
	svb_cm_unlock();
	return ret ? svb_cm_result(ret) : svb_cm_complete(svb_cm_id(id));
}

SVB_API int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
				void *context)
{
	return svb_cm_join_call(id, addr, false, context);
}

SVB_API int rdma_join_multicast_ex(struct rdma_cm_id *id,
				   struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED ||
	    !(attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) ||
	    ((attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) &&
	     attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED))
		return svb_cm_result(ENOTSUP);
	return svb_cm_join_call(id, attr->addr,
				attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS &&
					attr->join_flags ==
						RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
				context);
}

int svb_cm_mcast_joined(struct svb_cm_id *id, struct svb_cm_mcast *mcast)
{
	int ret;

	if (!id->id.qp || mcast->send_only)
		return 0;
	ret = ibv_attach_mcast(id->id.qp, &mcast->mgid, mcast->mlid);
	mcast->attached = !ret;
	return ret;
}

SVB_API int rdma_leave_multicast(struct rdma_cm_id *cm_id, struct sockaddr *addr)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);
	struct svb_cm_mcast *mcast, *found = NULL;
	struct crn_list *pos;
	int ret = EADDRNOTAVAIL;

	if (!svb_cm_addr_ok(addr))
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	crn_list_for_each (pos, &id->mcasts) {
		mcast = crn_container_of(pos, struct svb_cm_mcast, entry);
		if (!found && svb_cm_addr_same((struct sockaddr *)&mcast->addr, addr))
			found = mcast;
	}
	if (found) {
		crn_list_del(&found->entry);
		ret = 0;
		/* Another join of the group by this id has detached it already. */
		if (found->attached && cm_id->qp)
			ibv_detach_mcast(cm_id->qp, &found->mgid, found->mlid);
		svb_subnet_release(found->handle);
		while (found->unacked)
			svb_cm_wait();
		svb_cm_forget_join(id, found);
		free(found);
	}
	svb_cm_unlock();
	return svb_cm_result(ret);
}

void svb_cm_mcast_drop(struct svb_cm_id *id)
{
	struct svb_cm_mcast *mcast;
	struct crn_list *entry;

	while ((entry = crn_list_pop(&id->mcasts))) {
		mcast = crn_container_of(entry, struct svb_cm_mcast, entry);
		svb_subnet_release(mcast->handle);
		free(mcast);
	}
}
