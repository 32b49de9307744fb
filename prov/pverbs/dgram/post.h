/* SPDX-License-Identifier: BSD-2-Clause */
/* One datagram, from what a call asks for to the post. */
#ifndef PVB_DGRAM_POST_H
#define PVB_DGRAM_POST_H

#include <arpa/inet.h>
#include <string.h>
#include "device/device.h"
#include "qp/qp.h"
#include "xfer/xfer.h"
#include "dgram.h"

/* A peer begins as the part of a work request that names it. */
_Static_assert(sizeof(((struct ibv_send_wr *)NULL)->wr.ud) ==
			       offsetof(struct pvb_ud_peer, ah) &&
		       offsetof(struct pvb_ud_peer, qpn) ==
			       offsetof(struct ibv_send_wr, wr.ud.remote_qpn) -
				       offsetof(struct ibv_send_wr, wr.ud) &&
		       offsetof(struct pvb_ud_peer, qkey) ==
			       offsetof(struct ibv_send_wr, wr.ud.remote_qkey) -
				       offsetof(struct ibv_send_wr, wr.ud),
	       "pvb_dgram_wr copies it");

struct pvb_dgram_op {
	fi_addr_t dest;
	uint64_t flags;
	uint64_t data; /* with FI_REMOTE_CQ_DATA in flags */
	void *context;
	bool no_comp; /* success is not reported */
	bool inject;  /* neither success nor failure is reported */
};

/* group.c: no room, or no queue yet: 0 and it has room now, or why nothing can be sent.
 * With the lock held. */
ssize_t pvb_dgram_first(struct pvb_ep *ep);

CRN_INLINE void pvb_dgram_wr(const struct pvb_ep *ep, const struct pvb_dgram_op *op,
			     const struct pvb_ud_peer *peer, struct ibv_sge *sge,
			     int num_sge, size_t len, struct ibv_send_wr *wr)
{
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = num_sge;
	wr->opcode = IBV_WR_SEND;
	wr->imm_data = 0;
	if (op->flags & FI_REMOTE_CQ_DATA) {
		wr->opcode = IBV_WR_SEND_WITH_IMM;
		wr->imm_data = htonl((uint32_t)op->data);
	}
	wr->send_flags = len <= ep->qp.inline_size ? IBV_SEND_INLINE : 0;
	memcpy(&wr->wr.ud, peer, sizeof(wr->wr.ud));
}

/* 0, or why it is not sent. With the lock held. */
CRN_INLINE ssize_t pvb_dgram_post_locked(struct pvb_ep *ep, const struct pvb_dgram_op *op,
					 const struct pvb_ud_peer *peer,
					 struct ibv_sge *sge, int num_sge, size_t len)
{
	const bool copied = op->inject || (op->flags & FI_INJECT);
	const bool more = (op->flags & FI_MORE) && !copied;
	struct pvb_qp *qp = &ep->qp;
	struct ibv_send_wr wr, *bad;
	struct pvb_slot *slot;
	bool signaled;
	ssize_t ret;

	if (crn_unlikely(crn_ring_full(&qp->sq.ring))) {
		ret = pvb_dgram_first(ep);
		if (ret)
			return ret;
	}
	slot = pvb_wq_slot(&qp->sq, 0);
	slot->context = op->context;
	slot->flags = FI_SEND | FI_MSG;
	slot->state =
		(op->no_comp ? PVB_SLOT_NO_COMP : 0) | (op->inject ? PVB_SLOT_INJECT : 0);
	if (copied && crn_unlikely(len > qp->inline_size)) {
		ret = pvb_tx_bounce(ep, sge, num_sge, len,
				    crn_ring_index(&qp->sq.ring, qp->sq.ring.head));
		if (crn_unlikely(ret))
			return ret;
		num_sge = 1;
	}
	pvb_dgram_wr(ep, op, peer, sge, num_sge, len, &wr);
	wr.wr_id = (uintptr_t)slot;
	signaled = !(op->no_comp || op->inject) || qp->unsignaled + 1 >= qp->signal_every;
	if (signaled)
		wr.send_flags |= IBV_SEND_SIGNALED;
	if (crn_unlikely(more || qp->chained))
		ret = pvb_tx_chain(ep, &wr, more);
	else
		ret = ibv_post_send(qp->ibv, &wr, &bad);
	if (crn_unlikely(ret))
		return pvb_post_error((int)ret);
	qp->sq.ring.head++;
	qp->unsignaled = signaled ? 0 : qp->unsignaled + 1;
	return 0;
}

/* Where a group is sent to; NULL: nowhere now, or dest is no group of the endpoint. With
 * the lock held. */
CRN_INLINE const struct pvb_mc_route *pvb_dgram_route(const struct pvb_mcs *mcs,
						      fi_addr_t dest)
{
	const uint32_t index = (uint32_t)dest;

	return index < mcs->count && mcs->slots[index].addr == dest
		       ? atomic_load_explicit(&mcs->slots[index].route,
					      memory_order_acquire)
		       : NULL;
}

/* group.c */

/* To what is no address of the vector: a group, or nobody. */
ssize_t pvb_dgram_post_group(struct pvb_ep *ep, const struct pvb_dgram_op *op,
			     struct ibv_sge *sge, int num_sge, size_t len);

#endif
