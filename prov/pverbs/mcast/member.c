/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint's part of a group: where it sends to, what it receives. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "dgram/dgram.h"
#include "internal.h"

/* Section 10.2.5: such a Q_Key in a request stands for the queue pair's own. */
#define MC_QKEY_CONTROLLED 0x80000000u
#define MC_PKEY_NUMBER 0x7fff
#define MC_SLOTS_MIN 4u

static uint32_t mc_slot_free(struct pvb_mcs *mcs)
{
	while (mcs->lowest < mcs->count && mcs->slots[mcs->lowest].addr)
		mcs->lowest++;
	return mcs->lowest;
}

/* Twice as many; senders look at them with tx_lock. */
static int mc_slots_grow(struct pvb_ep *ep)
{
	struct pvb_mcs *mcs = &ep->dgram->mcs;
	const uint32_t count = mcs->count ? 2 * mcs->count : MC_SLOTS_MIN;
	struct pvb_mc_slot *slots = calloc(count, sizeof(*slots)), *old = mcs->slots;
	uint32_t i;

	if (!slots)
		return -FI_ENOMEM;
	for (i = 0; i < mcs->count; i++) {
		slots[i].addr = old[i].addr;
		atomic_store(&slots[i].route, atomic_load(&old[i].route));
	}
	crn_lock(&ep->qp.tx_lock);
	mcs->slots = slots;
	mcs->count = count;
	crn_unlock(&ep->qp.tx_lock);
	free(old);
	return 0;
}

int pvb_mc_slot_get(struct pvb_ep *ep, fi_addr_t *addr)
{
	struct pvb_mcs *mcs = &ep->dgram->mcs;
	const uint32_t index = mc_slot_free(mcs);
	int ret = index == mcs->count ? mc_slots_grow(ep) : 0;

	if (ret)
		return ret;
	mcs->turn = mcs->turn == PVB_MC_TURN_MAX ? 1 : mcs->turn + 1;
	*addr = PVB_MC_ADDR | (fi_addr_t)mcs->turn << PVB_MC_TURN_SHIFT | index;
	crn_lock(&ep->qp.tx_lock);
	mcs->slots[index].addr = *addr;
	crn_unlock(&ep->qp.tx_lock);
	return 0;
}

struct pvb_mc_slot *pvb_mc_slot_at(const struct pvb_ep *ep, fi_addr_t addr)
{
	return &ep->dgram->mcs.slots[(uint32_t)addr];
}

void pvb_mc_slot_put(struct pvb_ep *ep, fi_addr_t addr)
{
	crn_lock(&ep->qp.tx_lock);
	pvb_mc_slot_at(ep, addr)->addr = 0;
	atomic_store(&pvb_mc_slot_at(ep, addr)->route, NULL);
	crn_unlock(&ep->qp.tx_lock);
	ep->dgram->mcs.lowest = CRN_MIN(ep->dgram->mcs.lowest, (uint32_t)addr);
}

/* The partition is in the GIDs of IPoIB and of rdma_cm (RFC 4391 section 4). */
static bool mc_other_partition(const struct pvb_mc_group *group, uint16_t pkey)
{
	const uint8_t *gid = group->ah.grh.dgid.raw;

	if (gid[0] != 0xff || (gid[2] != 0x40 && gid[2] != 0x60) ||
	    (gid[3] != 0x1b && gid[3] != 0x01))
		return false;
	return ((gid[4] << 8 | gid[5]) ^ pkey) & MC_PKEY_NUMBER;
}

/* Who only sends may do so with another Q_Key, but not on a link, which has one for all
 * its queue pairs (draft section 10). */
static bool mc_needs_qkey(const struct pvb_mc *mc)
{
	return mc->recv || mc->ep->domain->ud->link.on ||
	       (mc->group->qkey & MC_QKEY_CONTROLLED);
}

/*
 * A queue pair is in one partition and has one Q_Key. What is sent with another
 * partition's reaches no member; a Q_Key may be another one to send with, unless it is
 * controlled.
 */
static int mc_check_keys(const struct pvb_mc *mc)
{
	const struct pvb_ud_path *path = &mc->ep->domain->ud->path;
	const struct pvb_mc_group *group = mc->group;
	const uint32_t own = mc->ep->dgram->qkey;
	char text[PVB_MC_STRLEN];

	pvb_mc_text(&group->name, text);
	if (!path->ethernet && mc_other_partition(group, path->addr.pkey)) {
		PVB_WARN(FI_LOG_EP_CTRL,
			 "group %s is in another partition than the endpoint, which is "
			 "in 0x%x: FI_PVERBS_PKEY chooses one\n",
			 text, path->addr.pkey);
		return FI_EINVAL;
	}
	if (own == group->qkey || !mc_needs_qkey(mc))
		return 0;
	PVB_WARN(FI_LOG_EP_CTRL,
		 "group %s has Q_Key 0x%x, the endpoint 0x%x: set FI_PVERBS_QKEY=0x%x\n",
		 text, group->qkey, own, group->qkey);
	return FI_EINVAL;
}

/* Where attachments to that group are listed. */
static struct crn_list *mc_attached(struct pvb_ep *ep, const union ibv_gid *gid)
{
	return &ep->dgram->mcs.attached[crn_av_hash(CRN_AV_HASH, gid, sizeof(*gid)) &
					(PVB_MC_ATTACH_BUCKETS - 1)];
}

int pvb_mc_attach(struct pvb_mc *mc, const struct ibv_ah_attr *ah)
{
	struct crn_list *list = mc_attached(mc->ep, &ah->grh.dgid), *at;
	struct pvb_mc_attach *attach;
	int err;

	crn_list_for_each (at, list) {
		attach = crn_container_of(at, struct pvb_mc_attach, entry);
		if (attach->lid == ah->dlid &&
		    !memcmp(&attach->gid, &ah->grh.dgid, sizeof(attach->gid)))
			goto found;
	}
	attach = calloc(1, sizeof(*attach));
	if (!attach)
		return FI_ENOMEM;
	attach->gid = ah->grh.dgid;
	attach->lid = ah->dlid;
	err = ibv_attach_mcast(mc->ep->qp.ibv, &attach->gid, attach->lid);
	if (err) {
		free(attach);
		return pvb_mc_cm_error(err);
	}
	crn_list_add_tail(list, &attach->entry);
found:
	attach->users++;
	mc->attached = attach;
	return 0;
}

void pvb_mc_detach(struct pvb_mc *mc)
{
	struct pvb_mc_attach *attach = mc->attached;

	mc->attached = NULL;
	if (!attach || --attach->users)
		return;
	/* Nothing is to be done where the device does not know of it any more. */
	ibv_detach_mcast(mc->ep->qp.ibv, &attach->gid, attach->lid);
	crn_list_del(&attach->entry);
	free(attach);
}

static int mc_route_group(struct pvb_mc *mc)
{
	const struct pvb_mc_to to = {.ah = mc->group->ah, .qkey = mc->group->qkey};

	return pvb_mc_route_to(mc, &to, NULL);
}

/* Or does subnet administration? */
static bool mc_routes(const struct pvb_mc *mc)
{
	return mc->send && !(mc->parts & PVB_MC_BY_SA);
}

int pvb_mc_up(struct pvb_mc *mc)
{
	int err = mc_check_keys(mc);

	if (!err && mc->recv)
		err = pvb_mc_attach(mc, &mc->group->ah);
	if (!err && mc_routes(mc))
		err = mc_route_group(mc);
	if (err)
		pvb_mc_down(mc);
	return err;
}

void pvb_mc_down(struct pvb_mc *mc)
{
	if (mc_routes(mc))
		pvb_mc_route_none(mc);
	pvb_mc_detach(mc);
}

void pvb_mc_joined(struct pvb_mc *mc, uint8_t part)
{
	if (mc->failed)
		return;
	mc->up |= part;
	if (mc->up == mc->parts)
		pvb_mc_report(mc, 0, 0);
}

void pvb_mc_lost(struct pvb_mc *mc, uint8_t part, int err, int status)
{
	mc->up &= (uint8_t)~part;
	if (!mc->failed)
		pvb_mc_report(mc, err, status);
}

void pvb_mc_fail(struct pvb_mc *mc, int err, int status)
{
	if (mc->failed)
		return;
	mc->failed = true;
	if (mc->send)
		pvb_mc_route_none(mc);
	pvb_mc_detach(mc);
	pvb_mc_report(mc, err, status);
}
