/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams to multicast groups: to where the group's route leads at the moment. */
#include <stdlib.h>
#include "cq/cq.h"
#include "post.h"

/* 0 and there is room now, or why nothing can be sent. */
static ssize_t dgram_first(struct pvb_ep *ep)
{
	return ep->qp.ibv ? pvb_tx_first(ep) : -FI_EOPBADSTATE;
}

ssize_t pvb_dgram_post_first(struct pvb_ep *ep, struct pvb_dgram_op op,
			     const struct pvb_ud_peer *peer, struct ibv_sge *sge,
			     int num_sge, size_t len)
{
	const ssize_t ret = dgram_first(ep);

	return ret ? ret : pvb_dgram_post_locked(ep, &op, peer, sge, num_sge, len);
}

/* Why nothing can be sent there. With the lock held. */
static int dgram_no_route(const struct pvb_ep *ep, fi_addr_t dest)
{
	const struct pvb_mcs *mcs = &ep->dgram->mcs;
	const uint32_t index = (uint32_t)dest;

	/* fi_mc_addr until the group has been joined. */
	if (dest == FI_ADDR_NOTAVAIL && (ep->attr.caps & FI_MULTICAST))
		return -FI_EADDRNOTAVAIL;
	return dest & PVB_MC_ADDR && index < mcs->count && mcs->slots[index].addr == dest
		       ? -FI_EADDRNOTAVAIL
		       : -FI_EINVAL;
}

/* The peer is nobody, and gets nothing: the send completes in its turn. */
static ssize_t dgram_post_dropped(struct pvb_ep *ep, const struct pvb_dgram_op *op,
				  const struct pvb_mc_route *route, struct ibv_sge *sge)
{
	const ssize_t ret = pvb_dgram_post_locked(ep, op, &route->peer, sge, 0, 0);

	if (!ret)
		ep->dgram->mcs.dropped++;
	return ret;
}

/* The two entries of a datagram that goes to two places: the first one reports a failure,
 * the second one success (as in xfer/deliver.c). */
static void dgram_slots(struct pvb_qp *qp, const struct pvb_dgram_op *op,
			struct pvb_slot *slot[2])
{
	const unsigned int inject = op->inject ? PVB_SLOT_INJECT : 0;
	const unsigned int silent = op->no_comp ? PVB_SLOT_NO_COMP : 0;
	int i;

	for (i = 0; i < 2; i++) {
		slot[i] = pvb_wq_slot(&qp->sq, (uint32_t)i);
		slot[i]->context = op->context;
		slot[i]->flags = FI_SEND | FI_MSG;
	}
	slot[0]->state = (uint16_t)(inject | PVB_SLOT_HEAD);
	slot[1]->state = (uint16_t)(inject | silent | PVB_SLOT_TAIL);
}

/* Both are posted at once, whatever FI_MORE says. */
static ssize_t dgram_post_both(struct pvb_ep *ep, const struct pvb_dgram_op *op,
			       const struct pvb_mc_route *route, struct ibv_sge *sge,
			       int num_sge, size_t len)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_send_wr wr, copy, *bad;
	struct pvb_slot *slot[2];
	int ret;

	dgram_slots(qp, op, slot);
	pvb_dgram_wr(ep, op, &route->peer, sge, num_sge, len, 0, &wr);
	pvb_dgram_wr(ep, op, &route->copy, sge, num_sge, len, IBV_SEND_SIGNALED, &copy);
	wr.wr_id = (uintptr_t)slot[0];
	wr.next = &copy;
	copy.wr_id = (uintptr_t)slot[1];
	ret = pvb_tx_post(ep, &wr, &bad);
	if (ret && bad != &copy)
		return pvb_post_error(ret);
	qp->sq.ring.head += ret ? 1 : 2;
	qp->unsignaled = ret ? qp->signal_every : 0;
	if (ret)
		pvb_cq_fail_begun(&qp->sq, 1, slot[1], pvb_refused_error(ret), -abs(ret));
	return 0;
}

static ssize_t dgram_post_copied(struct pvb_ep *ep, const struct pvb_dgram_op *op,
				 const struct pvb_mc_route *route, struct ibv_sge *sge,
				 int num_sge, size_t len)
{
	const bool copied = op->inject || (op->flags & FI_INJECT);
	struct pvb_qp *qp = &ep->qp;
	ssize_t ret = 0;

	if (crn_ring_space(&qp->sq.ring) < 2)
		ret = dgram_first(ep);
	if (!ret && copied && len > qp->inline_size) {
		ret = pvb_tx_bounce(ep, sge, num_sge, len,
				    crn_ring_index(&qp->sq.ring, qp->sq.ring.head));
		num_sge = 1;
	}
	return ret ? ret : dgram_post_both(ep, op, route, sge, num_sge, len);
}

static __attribute__((noinline)) ssize_t dgram_post_special(
	struct pvb_ep *ep, const struct pvb_dgram_op *op,
	const struct pvb_mc_route *route, struct ibv_sge *sge, int num_sge, size_t len)
{
	return route->drops ? dgram_post_dropped(ep, op, route, sge)
			    : dgram_post_copied(ep, op, route, sge, num_sge, len);
}

ssize_t pvb_dgram_post_group(struct pvb_ep *ep, const struct pvb_dgram_op *op,
			     fi_addr_t dest, struct ibv_sge *sge, int num_sge, size_t len)
{
	const struct pvb_mc_route *route;
	ssize_t ret;

	if (crn_unlikely(!ep->dgram->av))
		return pvb_tx_misused(ep, -FI_EOPBADSTATE);
	crn_lock(&ep->qp.tx_lock);
	route = pvb_dgram_route(&ep->dgram->mcs, dest);
	if (crn_unlikely(!route)) {
		ret = dgram_no_route(ep, dest);
		pvb_tx_end_more(ep);
	} else if (crn_unlikely(len > route->max)) {
		ret = -FI_EMSGSIZE;
		pvb_tx_end_more(ep);
	} else if (crn_likely(route->plain)) {
		ret = pvb_dgram_post_locked(ep, op, &route->peer, sge, num_sge, len);
	} else {
		ret = dgram_post_special(ep, op, route, sge, num_sge, len);
	}
	crn_unlock(&ep->qp.tx_lock);
	return ret;
}
