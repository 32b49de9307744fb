/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups: every process keeps a table of its own attachments, senders look into
 * all of them.
 */
#include <errno.h>
#include <string.h>
#include "svb.h"

static bool svb_mcast_is(const struct svb_mcast_sh *at, const union ibv_gid *gid)
{
	return __atomic_load_n(&at->qpn, __ATOMIC_ACQUIRE) &&
	       !memcmp(&at->gid, gid, sizeof(*gid));
}

static void svb_mcast_of(struct svb_seg *seg, const union ibv_gid *gid,
			 void (*fn)(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg),
			 void *arg)
{
	uint32_t left = __atomic_load_n(&seg->mcast_count, __ATOMIC_ACQUIRE), i;
	struct svb_mcast_sh *at;
	struct svb_qp_sh *qp;

	for (i = 0; left && (at = svb_seg_mcast_try(seg, i)); i++) {
		left -= !!at->qpn;
		if (!svb_mcast_is(at, gid))
			continue;
		qp = svb_seg_qp_try(seg, SVB_QP_SLOT(at->qpn));
		if (qp && qp->qpn == at->qpn)
			fn(seg, qp, arg);
	}
}

void svb_mcast_each(const union ibv_gid *gid, uint32_t lid,
		    void (*fn)(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg),
		    void *arg)
{
	struct svb_seg *seg;
	uint32_t index;

	for (index = 1; index < SVB_PROC_MAX; index++) {
		if (!svb_self.registry->entry[index].pid)
			continue;
		seg = svb_seg_of(index);
		if (seg)
			svb_mcast_of(seg, gid, fn, arg);
	}
}

static struct svb_mcast_sh *svb_mcast_find(uint32_t qpn, const union ibv_gid *gid,
					   uint32_t *slot)
{
	struct svb_mcast_sh *at;

	for (*slot = 0; (at = svb_seg_mcast_try(svb_self.seg, *slot)); ++*slot)
		if (at->qpn == qpn && svb_mcast_is(at, gid))
			return at;
	return NULL;
}

SVB_API int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct svb_mcast_sh *at;
	uint32_t found;
	int64_t slot;

	if (qp->qp_type != IBV_QPT_UD || gid->raw[0] != 0xff)
		return EINVAL;
	pthread_mutex_lock(&svb_self.mutex);
	slot = svb_mcast_find(qp->qp_num, gid, &found) ? -2
						       : svb_slot_alloc(SVB_TAB_MCAST);
	if (slot >= 0) {
		at = svb_seg_mcast(svb_self.seg, (uint32_t)slot);
		at->gid = *gid;
		at->lid = lid;
		__atomic_store_n(&at->qpn, qp->qp_num, __ATOMIC_RELEASE);
		__atomic_add_fetch(&svb_self.seg->mcast_count, 1, __ATOMIC_RELEASE);
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
	if (at) {
		__atomic_store_n(&at->qpn, 0, __ATOMIC_RELEASE);
		__atomic_sub_fetch(&svb_self.seg->mcast_count, 1, __ATOMIC_RELEASE);
		svb_slot_free(SVB_TAB_MCAST, slot);
	}
	pthread_mutex_unlock(&svb_self.mutex);
	return at ? 0 : EINVAL;
}
