/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3) of datagram endpoints. A send names its peer; a receive has room for the GRH
 * that is none of the program's. */
#include "post.h"

/* Flags that calls with flags accept. */
#define DGRAM_TX_FLAGS                                                           \
	(FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_REMOTE_CQ_DATA | FI_MORE)

/* 0, -FI_EAGAIN, or the error of this call: the datagram is not sent then. */
CRN_INLINE ssize_t dgram_post(struct pvb_ep *ep, const struct pvb_dgram_op *op,
			      fi_addr_t dest, struct ibv_sge *sge, int num_sge,
			      size_t len)
{
	const struct pvb_ud_peer *peer = pvb_dgram_peer(ep->dgram, dest);
	ssize_t ret;

	if (crn_unlikely(len > ep->max_msg || ((op->inject || (op->flags & FI_INJECT)) &&
					       len > ep->inject_size)))
		return pvb_tx_misused(ep, -FI_EMSGSIZE);
	if (crn_unlikely(!peer)) {
		/* So that *op itself has no address, and stays in registers. */
		const struct pvb_dgram_op copy = *op;

		return pvb_dgram_post_group(ep, &copy, dest, sge, num_sge, len);
	}
	crn_lock(&ep->qp.tx_lock);
	ret = pvb_dgram_post_locked(ep, op, peer, sge, num_sge, len);
	crn_unlock(&ep->qp.tx_lock);
	return ret;
}

CRN_INLINE void dgram_op(struct pvb_dgram_op *op, const struct pvb_ep *ep, uint64_t flags,
			 void *context)
{
	op->flags = flags;
	op->data = 0;
	op->context = context;
	op->no_comp = ep->tx_selective && !(flags & FI_COMPLETION);
	op->inject = false;
}

/* Of a call without flags that asks for its completion alone; its peer is known. */
CRN_INLINE void dgram_op_plain(struct pvb_dgram_op *op, void *context)
{
	op->flags = FI_COMPLETION;
	op->data = 0;
	op->context = context;
	op->no_comp = false;
	op->inject = false;
}

CRN_INLINE ssize_t dgram_post_buf(struct pvb_ep *ep, const struct pvb_dgram_op *op,
				  fi_addr_t dest, const void *buf, size_t len, void *desc)
{
	struct ibv_sge sge = pvb_sge(buf, len, desc);

	return dgram_post(ep, op, dest, &sge, len != 0, len);
}

static ssize_t dgram_post_iov(struct pvb_ep *ep, const struct pvb_dgram_op *op,
			      fi_addr_t dest, const struct iovec *iov, void **desc,
			      size_t count)
{
	struct ibv_sge sge[PVB_IOV_LIMIT];
	size_t len;
	int ret = pvb_sge_fill(sge, iov, desc, count, ep->attr.tx_iov_limit, &len);

	return crn_unlikely(ret) ? pvb_tx_misused(ep, ret)
				 : dgram_post(ep, op, dest, sge, (int)count, len);
}

/* Any send without flags: to a group, empty, or of an endpoint with other defaults. */
static __attribute__((noinline)) ssize_t dgram_send_any(struct pvb_ep *ep,
							const void *buf, size_t len,
							void *desc, fi_addr_t dest,
							void *context)
{
	struct pvb_dgram_op op;

	dgram_op(&op, ep, ep->tx_flags, context);
	return dgram_post_buf(ep, &op, dest, buf, len, desc);
}

/* To a group that is at one place, as dgram_send to a peer, whose len it is, not 0; else,
 * any. */
static __attribute__((noinline)) ssize_t dgram_send_group(struct pvb_ep *ep,
							  const void *buf, size_t len,
							  void *desc, fi_addr_t dest,
							  void *context)
{
	struct pvb_dgram_op op;
	const struct pvb_mc_route *route;
	struct ibv_sge sge;
	ssize_t ret;

	if (crn_unlikely(!(dest & PVB_MC_ADDR) || !ep->dgram->av))
		return dgram_send_any(ep, buf, len, desc, dest, context);
	crn_lock(&ep->qp.tx_lock);
	route = pvb_dgram_route(&ep->dgram->mcs, dest);
	if (crn_unlikely(!route || len > route->plain_max)) {
		crn_unlock(&ep->qp.tx_lock);
		return dgram_send_any(ep, buf, len, desc, dest, context);
	}
	sge = pvb_sge(buf, len, desc);
	dgram_op_plain(&op, context);
	ret = pvb_dgram_post_locked(ep, &op, &route->peer, &sge, 1, len);
	crn_unlock(&ep->qp.tx_lock);
	return ret;
}

static ssize_t dgram_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			  fi_addr_t dest, void *context)
{
	struct pvb_dgram_op op;
	struct pvb_ep *ep = pvb_ep_of(fid);
	const struct pvb_ud_peer *peer;
	struct ibv_sge sge;
	ssize_t ret;

	/* With nothing to transfer len - 1 is the largest number. */
	if (crn_unlikely(len - 1 >= ep->fast_max_len))
		return dgram_send_any(ep, buf, len, desc, dest, context);
	crn_lock(&ep->qp.tx_lock);
	peer = pvb_dgram_peer(ep->dgram, dest);
	if (crn_unlikely(!peer)) {
		crn_unlock(&ep->qp.tx_lock);
		return dgram_send_group(ep, buf, len, desc, dest, context);
	}
	sge = pvb_sge(buf, len, desc);
	dgram_op_plain(&op, context);
	ret = pvb_dgram_post_locked(ep, &op, peer, &sge, 1, len);
	crn_unlock(&ep->qp.tx_lock);
	return ret;
}

static ssize_t dgram_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			   size_t count, fi_addr_t dest, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_dgram_op op;

	dgram_op(&op, ep, ep->tx_flags, context);
	return dgram_post_iov(ep, &op, dest, iov, desc, count);
}

/* Flags that not every datagram may have: 0 or a negative code. */
static __attribute__((noinline)) int dgram_check_flags(const struct fi_msg *msg,
						       uint64_t flags)
{
	if (flags & ~(uint64_t)(DGRAM_TX_FLAGS | FI_MULTICAST))
		return -FI_EBADFLAGS;
	/* fi_msg(3): "the address [...] is a multicast address" */
	return msg->addr & PVB_MC_ADDR ? 0 : -FI_EINVAL;
}

static ssize_t dgram_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_dgram_op op;
	int ret;

	if (crn_unlikely(flags & ~(uint64_t)DGRAM_TX_FLAGS)) {
		ret = dgram_check_flags(msg, flags);
		if (ret)
			return pvb_tx_misused(ep, ret);
	}
	dgram_op(&op, ep, flags, msg->context);
	op.data = msg->data;
	return dgram_post_iov(ep, &op, msg->addr, msg->msg_iov, msg->desc,
			      msg->iov_count);
}

static ssize_t dgram_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			      uint64_t data, fi_addr_t dest, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_dgram_op op;

	dgram_op(&op, ep, ep->tx_flags, context);
	op.flags |= FI_REMOTE_CQ_DATA;
	op.data = data;
	return dgram_post_buf(ep, &op, dest, buf, len, desc);
}

static ssize_t dgram_inject(struct fid_ep *fid, const void *buf, size_t len,
			    fi_addr_t dest)
{
	const struct pvb_dgram_op op = {.no_comp = true, .inject = true};

	return dgram_post_buf(pvb_ep_of(fid), &op, dest, buf, len, NULL);
}

static ssize_t dgram_injectdata(struct fid_ep *fid, const void *buf, size_t len,
				uint64_t data, fi_addr_t dest)
{
	const struct pvb_dgram_op op = {
		.flags = FI_REMOTE_CQ_DATA,
		.data = data,
		.no_comp = true,
		.inject = true,
	};

	return dgram_post_buf(pvb_ep_of(fid), &op, dest, buf, len, NULL);
}

/* The program's count entries begin at sge[1] and have len bytes: pvb_grh_fill. state: of
 * the slot. */
CRN_INLINE ssize_t dgram_post_recv(struct pvb_ep *ep, struct ibv_sge *sge, int count,
				   size_t len, void *context, uint16_t state)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_recv_wr wr, *bad;
	struct pvb_slot *slot;
	ssize_t ret;

	crn_lock(&qp->rx_lock);
	if (crn_unlikely(crn_ring_full(&qp->rq.ring))) {
		ret = pvb_recv_first(ep);
		if (ret)
			goto out;
	}
	slot = pvb_wq_slot(&qp->rq, 0);
	slot->context = context;
	slot->flags = FI_RECV | FI_MSG;
	slot->state = state;
	wr.wr_id = (uintptr_t)slot;
	wr.next = NULL;
	wr.sg_list = sge;
	wr.num_sge =
		pvb_grh_fill(&qp->rq, slot, sge, count, len, state & PVB_SLOT_PLAIN_GRH);
	ret = ibv_post_recv(qp->ibv, &wr, &bad);
	if (crn_likely(!ret))
		qp->rq.ring.head++;
	else
		ret = pvb_post_error((int)ret);
out:
	crn_unlock(&qp->rx_lock);
	return ret;
}

static uint16_t dgram_recv_state(const struct pvb_ep *ep, uint64_t flags)
{
	return (ep->rx_selective && !(flags & FI_COMPLETION) ? PVB_SLOT_NO_COMP : 0) |
	       (ep->qp.rq.plain_grh ? PVB_SLOT_PLAIN_GRH : 0);
}

/* Any receive without flags: of an endpoint whose GRHs are read, with no buffer, or too
 * large. */
static __attribute__((noinline)) ssize_t dgram_recv_any(struct pvb_ep *ep, void *buf,
							size_t len, void *desc,
							void *context)
{
	struct ibv_sge sge[PVB_UD_SGES + 1];

	if (len > UINT32_MAX)
		return -FI_EMSGSIZE;
	if (!pvb_prefix_fits(ep->domain->ud, len))
		return -FI_EINVAL;
	sge[1] = pvb_sge(buf, len, desc);
	return dgram_post_recv(ep, sge, len != 0, len, context,
			       dgram_recv_state(ep, ep->rx_flags));
}

static ssize_t dgram_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			  fi_addr_t src_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct ibv_sge sge[PVB_UD_SGES + 1];

	/* Without a buffer len - 1 is the largest number. */
	if (crn_unlikely(len - 1 >= ep->fast_recv_len))
		return dgram_recv_any(ep, buf, len, desc, context);
	sge[1] = pvb_sge(buf, len, desc);
	return dgram_post_recv(ep, sge, 1, len, context, PVB_SLOT_PLAIN_GRH);
}

static ssize_t dgram_recv_iov(struct pvb_ep *ep, const struct iovec *iov, void **desc,
			      size_t count, void *context, uint64_t flags)
{
	struct ibv_sge sge[PVB_UD_SGES + PVB_IOV_LIMIT];
	size_t len;
	int ret = pvb_sge_fill(&sge[1], iov, desc, count, ep->attr.rx_iov_limit, &len);

	if (!ret &&
	    crn_unlikely(!pvb_prefix_fits(ep->domain->ud, count ? iov->iov_len : 0)))
		ret = -FI_EINVAL;
	return crn_unlikely(ret) ? ret
				 : dgram_post_recv(ep, sge, (int)count, len, context,
						   dgram_recv_state(ep, flags));
}

static ssize_t dgram_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			   size_t count, fi_addr_t src_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);

	return dgram_recv_iov(ep, iov, desc, count, context, ep->rx_flags);
}

static ssize_t dgram_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	if (crn_unlikely(flags & ~(uint64_t)PVB_RECV_FLAGS))
		return -FI_EBADFLAGS;
	return dgram_recv_iov(pvb_ep_of(fid), msg->msg_iov, msg->desc, msg->iov_count,
			      msg->context, flags);
}

struct fi_ops_msg pvb_dgram_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = dgram_recv,
	.recvv = dgram_recvv,
	.recvmsg = dgram_recvmsg,
	.send = dgram_send,
	.sendv = dgram_sendv,
	.sendmsg = dgram_sendmsg,
	.inject = dgram_inject,
	.senddata = dgram_senddata,
	.injectdata = dgram_injectdata,
};
