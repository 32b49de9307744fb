/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3): sends and receives in all their call forms. */
#include <cairn/nosys.h>
#include "cq/cq.h"
#include "device/device.h"
#include "qp/qp.h"
#include "xfer.h"

/* The receive queue's slots, and what it has to remember of them: 0 or -FI_ENOMEM. */
static int pvb_recv_make(struct pvb_ep *ep)
{
	struct pvb_wq *rq = &ep->qp.rq;
	int ret = 0;

	crn_lock_assert_held(&ep->qp.rx_lock);
	if (ep->qp.control_qp && !rq->bufs)
		ret = ep->domain->durable->recv_open(rq, rq->ring.mask + 1,
						     ep->attr.rx_iov_limit);
	return ret ? ret : pvb_wq_make(rq);
}

__attribute__((noinline)) ssize_t pvb_recv_first(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	crn_lock_assert_held(&ep->qp.rx_lock);
	if (!qp->ibv)
		return -FI_EOPBADSTATE;
	if (ep->qp.srx) /* receives are posted there */
		return -FI_EOPNOTSUPP;
	if (pvb_removed(ep->domain))
		return -FI_ENODEV;
	if (!atomic_load(&qp->rq.open))
		return -FI_ESHUTDOWN;
	if (!atomic_load(&qp->rq.made))
		return pvb_recv_make(ep);
	qp->rq.stalls++;
	return -FI_EAGAIN;
}

CRN_INLINE ssize_t pvb_post_recv(struct pvb_ep *ep, struct ibv_recv_wr *wr, void *context,
				 uint64_t flags)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_recv_wr *bad;
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
	slot->state = ep->rx_selective && !(flags & FI_COMPLETION) ? PVB_SLOT_NO_COMP : 0;
	if (crn_unlikely(qp->rq.bufs)) {
		ret = qp->domain->durable->recv_note(&qp->rq, slot, wr);
		if (ret)
			goto out;
	}
	wr->wr_id = (uintptr_t)slot;
	wr->next = NULL;
	ret = ibv_post_recv(qp->ibv, wr, &bad);
	if (crn_likely(!ret))
		qp->rq.ring.head++;
	else
		ret = pvb_post_error((int)ret);
out:
	crn_unlock(&qp->rx_lock);
	return ret;
}

static ssize_t pvb_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct ibv_sge sge = pvb_sge(buf, len, desc);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = len != 0};

	if (crn_unlikely(len > UINT32_MAX))
		return -FI_EMSGSIZE;
	return pvb_post_recv(ep, &wr, context, ep->rx_flags);
}

static ssize_t pvb_recv_iov(struct pvb_ep *ep, const struct iovec *iov, void **desc,
			    size_t count, void *context, uint64_t flags)
{
	struct ibv_sge sge[PVB_IOV_LIMIT];
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = (int)count};
	size_t len;
	int ret;

	ret = pvb_sge_fill(sge, iov, desc, count, ep->attr.rx_iov_limit, &len);
	if (crn_unlikely(ret))
		return ret;
	return pvb_post_recv(ep, &wr, context, flags);
}

static ssize_t pvb_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);

	return pvb_recv_iov(ep, iov, desc, count, context, ep->rx_flags);
}

static ssize_t pvb_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	if (crn_unlikely(flags & ~(uint64_t)PVB_RECV_FLAGS))
		return -FI_EBADFLAGS;
	return pvb_recv_iov(pvb_ep_of(fid), msg->msg_iov, msg->desc, msg->iov_count,
			    msg->context, flags);
}

/* Is success of a call without flags of its own not reported? */
static inline bool pvb_no_comp(const struct pvb_ep *ep, uint64_t flags)
{
	return ep->tx_selective && !(flags & FI_COMPLETION);
}

CRN_INLINE void pvb_send_op(struct pvb_op *op, const struct pvb_ep *ep, uint64_t flags,
			    void *context)
{
	op->opcode = IBV_WR_SEND;
	op->addr = op->key = 0;
	op->comp_flags = FI_SEND | FI_MSG;
	op->flags = flags;
	op->no_comp = pvb_no_comp(ep, flags);
	op->inject = false;
	op->context = context;
}

CRN_INLINE void pvb_inject_op(struct pvb_op *op)
{
	op->opcode = IBV_WR_SEND;
	op->addr = op->key = 0;
	op->comp_flags = FI_SEND | FI_MSG;
	op->flags = 0;
	op->no_comp = true;
	op->inject = true;
	op->context = NULL;
}

static inline void pvb_op_data(struct pvb_op *op, uint64_t data)
{
	op->opcode = IBV_WR_SEND_WITH_IMM;
	op->data = data;
}

static ssize_t pvb_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_send_op(&op, ep, PVB_OP_PLAIN, context);
	return pvb_tx_buf(ep, &op, buf, len, desc);
}

static ssize_t pvb_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_send_op(&op, ep, ep->tx_flags, context);
	return pvb_tx_iov(ep, &op, iov, desc, count);
}

static ssize_t pvb_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	if (crn_unlikely(flags & ~PVB_CALL_FLAGS))
		return pvb_tx_misused(ep, pvb_bad_flags(flags));
	pvb_send_op(&op, ep, flags, msg->context);
	if (flags & FI_REMOTE_CQ_DATA)
		pvb_op_data(&op, msg->data);
	return pvb_tx_iov(ep, &op, msg->msg_iov, msg->desc, msg->iov_count);
}

static ssize_t pvb_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t dest_addr)
{
	struct pvb_op op;

	pvb_inject_op(&op);
	return pvb_tx_inject(pvb_ep_of(fid), &op, buf, len);
}

static ssize_t pvb_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_send_op(&op, ep, PVB_OP_PLAIN, context);
	pvb_op_data(&op, data);
	return pvb_tx_buf(ep, &op, buf, len, desc);
}

static ssize_t pvb_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr)
{
	struct pvb_op op;

	pvb_inject_op(&op);
	pvb_op_data(&op, data);
	return pvb_tx_inject(pvb_ep_of(fid), &op, buf, len);
}

struct fi_ops_msg pvb_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = pvb_recv,
	.recvv = pvb_recvv,
	.recvmsg = pvb_recvmsg,
	.send = pvb_send,
	.sendv = pvb_sendv,
	.sendmsg = pvb_sendmsg,
	.inject = pvb_inject,
	.senddata = pvb_senddata,
	.injectdata = pvb_injectdata,
};
