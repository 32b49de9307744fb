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
	uint64_t flags;
	uint64_t data; /* with FI_REMOTE_CQ_DATA in flags */
	void *context;
	bool no_comp; /* success is not reported */
	bool inject;  /* neither success nor failure is reported */
};

/* group.c: no room, or no queue yet: pvb_dgram_post_locked, if there is room then. op is
 * a copy, or the caller's could not be kept in registers. */
ssize_t pvb_dgram_post_first(struct pvb_ep *ep, struct pvb_dgram_op op,
			     const struct pvb_ud_peer *peer, struct ibv_sge *sge,
			     int num_sge, size_t len);

/* NULL: no address of the vector, or there is no vector. */
CRN_INLINE const struct pvb_ud_peer *pvb_dgram_peer(const struct pvb_dgram *dgram,
						    fi_addr_t dest)
{
	return crn_av_peer_at(atomic_load_explicit(dgram->peers, memory_order_acquire),
			      dest);
}

CRN_INLINE void pvb_dgram_wr(const struct pvb_ep *ep, const struct pvb_dgram_op *op,
			     const struct pvb_ud_peer *peer, struct ibv_sge *sge,
			     int num_sge, size_t len, unsigned int send_flags,
			     struct ibv_send_wr *wr)
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
	if (len <= ep->qp.inline_size)
		send_flags |= IBV_SEND_INLINE;
	wr->send_flags = send_flags;
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
	const uint32_t head = qp->sq.ring.head;
	struct ibv_send_wr wr, *bad;
	struct pvb_slot *slot;
	bool signaled;
	int ret;

	if (crn_unlikely(crn_ring_full(&qp->sq.ring)))
		return pvb_dgram_post_first(ep, *op, peer, sge, num_sge, len);
	slot = pvb_wq_slot_at(&qp->sq, head);
	slot->context = op->context;
	slot->flags = FI_SEND | FI_MSG;
	slot->state =
		(op->no_comp ? PVB_SLOT_NO_COMP : 0) | (op->inject ? PVB_SLOT_INJECT : 0);
	if (copied && crn_unlikely(len > qp->inline_size)) {
		ret = pvb_tx_bounce(ep, sge, num_sge, len,
				    crn_ring_index(&qp->sq.ring, head));
		if (crn_unlikely(ret))
			return ret;
		num_sge = 1;
	}
	wr.wr_id = (uintptr_t)slot;
	signaled = !(op->no_comp || op->inject) || qp->unsignaled + 1 >= qp->signal_every;
	pvb_dgram_wr(ep, op, peer, sge, num_sge, len, signaled ? IBV_SEND_SIGNALED : 0,
		     &wr);
	if (crn_unlikely(more || qp->chained))
		ret = pvb_tx_chain(ep, &wr, more);
	else
		ret = ibv_post_send(qp->ibv, &wr, &bad);
	if (crn_unlikely(ret))
		return pvb_post_error(ret);
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
			     fi_addr_t dest, struct ibv_sge *sge, int num_sge,
			     size_t len);

#endif
