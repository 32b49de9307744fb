/* SPDX-License-Identifier: BSD-2-Clause */
/* Joining and leaving multicast groups. There is no subnet manager to refuse anything. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

/* The Q_Key that the kernel gives to groups of RDMA_PS_UDP. */
#define SVB_MCAST_QPN 0xffffff

/* RFC 4391 section 4; byte 7 as the kernel's cma_set_mgid has it for RDMA_PS_UDP. */
static void svb_mgid_ib(const struct sockaddr *sa, enum rdma_port_space ps,
			union ibv_gid *gid)
{
	size_t len;
	const uint8_t *ip = svb_cm_addr_ip(sa, &len);
	uint8_t *raw = gid->raw;

	if (len == 16 && ip[0] == 0xff && (ip[1] & 0xf0) == 0x10 && ip[2] == 0xa0 &&
	    ip[3] == 0x1b) {
		memcpy(raw, ip, 16);
		return;
	}
	raw[0] = 0xff;
	raw[1] = len == 4 ? 0x12 : (uint8_t)(0x10 | (ip[1] & 0xf));
	raw[2] = len == 4 ? 0x40 : 0x60;
	raw[3] = 0x1b;
	raw[4] = raw[5] = 0xff;
	if (len == 4) {
		memcpy(raw + 12, ip, 4);
		raw[12] &= 0x0f;
	} else {
		memcpy(raw + 6, ip + 6, 10);
	}
	if (ps == RDMA_PS_UDP)
		raw[7] = 1;
}

/* RoCE version 2: the address itself. */
static void svb_mgid_roce(const struct sockaddr *sa, union ibv_gid *gid)
{
	size_t len;
	const uint8_t *ip = svb_cm_addr_ip(sa, &len);

	if (len == 4)
		gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 16 - len, ip, len);
}

/* A MLID that every process computes alike: a sum over the group's GID. */
static uint16_t svb_mlid(const union ibv_gid *gid)
{
	uint32_t sum = 0, i;

	if (svb_self.settings.link != SVB_LINK_IB)
		return 0;
	for (i = 0; i < 16; i++)
		sum = sum * 31 + gid->raw[i];
	return (uint16_t)(0xc000 | sum % 0x3fff);
}

static struct svb_cm_mcast *svb_mcast_new(struct svb_cm_id *id,
					  const struct sockaddr *addr, void *context)
{
	struct svb_cm_mcast *mcast = calloc(1, sizeof(*mcast));

	if (!mcast)
		return NULL;
	memcpy(&mcast->addr, addr, svb_cm_addr_len(addr));
	mcast->context = context;
	if (svb_self.settings.link == SVB_LINK_IB)
		svb_mgid_ib(addr, id->id.ps, &mcast->mgid);
	else
		svb_mgid_roce(addr, &mcast->mgid);
	mcast->mlid = svb_mlid(&mcast->mgid);
	crn_list_add_tail(&id->mcasts, &mcast->entry);
	return mcast;
}

static int svb_cm_join(struct svb_cm_id *id, const struct sockaddr *addr, void *context)
{
	struct svb_cm_mcast *mcast;
	struct svb_cm_event *event;
	struct rdma_ud_param *ud;

	if (!addr || !svb_cm_addr_ok(addr) || !id->id.verbs || id->state == SVB_CM_IDLE)
		return EINVAL;
	if (svb_cm_iwarp())
		return ENOSYS;
	mcast = svb_mcast_new(id, addr, context);
	event = mcast ? svb_cm_report(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0) : NULL;
	if (!event) {
		if (mcast)
			crn_list_del(&mcast->entry);
		free(mcast);
		return ENOMEM;
	}
	event->mcast = mcast;
	ud = &event->event.param.ud;
	ud->private_data = context;
	ud->qp_num = SVB_MCAST_QPN;
	ud->qkey = id->id.ps == RDMA_PS_UDP ? RDMA_UDP_QKEY : id->qkey;
	ud->ah_attr.is_global = 1;
	ud->ah_attr.dlid = mcast->mlid;
	ud->ah_attr.port_num = id->id.port_num;
	ud->ah_attr.grh.dgid = mcast->mgid;
	ud->ah_attr.grh.sgid_index = (uint8_t)id->gid;
	ud->ah_attr.grh.hop_limit = 1;
	ud->ah_attr.grh.traffic_class = id->tos;
	return 0;
}

static int svb_cm_join_call(struct rdma_cm_id *id, const struct sockaddr *addr,
			    void *context)
{
	int ret;

	svb_cm_lock();
	ret = svb_cm_join(svb_cm_id(id), addr, context);
	svb_cm_unlock();
	return ret ? svb_cm_result(ret) : svb_cm_complete(svb_cm_id(id));
}

SVB_API int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
				void *context)
{
	return svb_cm_join_call(id, addr, context);
}

SVB_API int rdma_join_multicast_ex(struct rdma_cm_id *id,
				   struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED ||
	    !(attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) ||
	    ((attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) &&
	     attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED))
		return svb_cm_result(ENOTSUP);
	return svb_cm_join_call(id, attr->addr, context);
}

int svb_cm_mcast_joined(struct svb_cm_id *id, struct svb_cm_mcast *mcast)
{
	int ret;

	if (!id->id.qp)
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
		if (found->attached && cm_id->qp)
			ret = ibv_detach_mcast(cm_id->qp, &found->mgid, found->mlid);
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
	struct crn_list *entry;

	while ((entry = crn_list_pop(&id->mcasts)))
		free(crn_container_of(entry, struct svb_cm_mcast, entry));
}
