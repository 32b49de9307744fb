/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups: every process keeps a table of its own attachments, senders look into
 * all of them (engine/mcast.c).
 */
#include <errno.h>
#include <string.h>
#include "verbs.h"

static struct svb_mcast_sh *svb_mcast_find(uint32_t qpn, const union ibv_gid *gid,
					   uint32_t *slot)
{
	struct svb_mcast_sh *at;

	for (*slot = 0; (at = svb_seg_mcast_try(svb_self.seg, *slot)); ++*slot)
		if (at->qpn == qpn && svb_mcast_is(at, gid))
			return at;
	return NULL;
}

/* Senders look at no slot behind the last one in use. It is one of theirs before it is
 * used, so that they find what was attached before they began. */
static void svb_mcast_use(struct svb_mcast_sh *at, uint32_t slot, uint32_t qpn)
{
	uint32_t *end = &svb_self.seg->mcast_end;

	if (*end <= slot)
		__atomic_store_n(end, slot + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&at->qpn, qpn, __ATOMIC_RELEASE);
}

static void svb_mcast_unuse(struct svb_mcast_sh *at, uint32_t slot)
{
	uint32_t end = svb_self.seg->mcast_end;

	__atomic_store_n(&at->qpn, 0, __ATOMIC_RELEASE);
	while (end && !svb_seg_mcast(svb_self.seg, end - 1)->qpn)
		end--;
	__atomic_store_n(&svb_self.seg->mcast_end, end, __ATOMIC_RELEASE);
	svb_slot_free(SVB_TAB_MCAST, slot);
}

SVB_API int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct svb_mcast_sh *at;
	uint32_t found;
	int64_t slot;

	if (qp->qp_type != IBV_QPT_UD || !svb_gid_is_group(gid))
		return EINVAL;
	if (svb_removed_ctx(qp->context))
		return EIO;
	pthread_mutex_lock(&svb_self.mutex);
	at = svb_mcast_find(qp->qp_num, gid, &found);
	if (at)
		svb_set(at->lost, 0);
	slot = at ? -2 : svb_slot_alloc(SVB_TAB_MCAST);
	if (slot >= 0) {
		at = svb_seg_mcast(svb_self.seg, (uint32_t)slot);
		/* A sender may still look at what was here before. */
		svb_set(at->gid.global.subnet_prefix, gid->global.subnet_prefix);
		svb_set(at->gid.global.interface_id, gid->global.interface_id);
		svb_set(at->lost, 0);
		at->lid = lid;
		svb_mcast_use(at, (uint32_t)slot, qp->qp_num);
	}
	pthread_mutex_unlock(&svb_self.mutex);
	return slot == -1 ? ENOMEM : 0;
}

SVB_API int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct svb_mcast_sh *at;
	uint32_t slot;

	pthread_mutex_lock(&svb_self.mutex);
	at = svb_mcast_find(qp->qp_num, gid, &slot);
	if (at)
		svb_mcast_unuse(at, slot);
	pthread_mutex_unlock(&svb_self.mutex);
	return at ? 0 : EINVAL;
}

void svb_mcast_lose(const struct svb_port *port)
{
	struct svb_mcast_sh *at;
	struct svb_qp *qp;
	uint32_t slot;

	pthread_mutex_lock(&svb_self.mutex);
	for (slot = 0; (at = svb_seg_mcast_try(svb_self.seg, slot)); slot++) {
		qp = at->qpn ? svb_self.qp[SVB_QP_SLOT(at->qpn)] : NULL;
		if (qp && svb_port_of(qp->ibv.context, qp->sh->attr.port_num) == port)
			svb_set(at->lost, 1);
	}
	pthread_mutex_unlock(&svb_self.mutex);
}
