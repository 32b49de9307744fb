/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting receives to a shared context, and the slots they take. */
#include <cairn/nosys.h>
#include "device/device.h"
#include "internal.h"
#include "qp.h"

static struct pvb_srx *pvb_srx_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct pvb_srx, fid);
}

struct pvb_slot *pvb_srx_get(struct pvb_srx *srx)
{
	struct pvb_slot *slot;

	crn_lock_assert_held(&srx->lock);
	/* Takes the whole list at once: no other thread can push back an entry that was
	 * read. */
	if (crn_unlikely(!srx->free))
		srx->free = atomic_exchange_explicit(&srx->returned, NULL,
						     memory_order_acquire);
	slot = srx->free;
	if (crn_likely(slot))
		srx->free = slot->context;
	return slot;
}

/* datagrams: the first scatter entry is room for the GRH's, and len the length of the
 * others. */
CRN_INLINE ssize_t pvb_srx_post(struct pvb_srx *srx, struct ibv_recv_wr *wr,
				void *context, uint64_t flags, bool datagrams, size_t len)
{
	struct ibv_recv_wr *bad;
	struct pvb_slot *slot;
	ssize_t ret;

	crn_lock(&srx->lock);
	slot = pvb_srx_get(srx);
	if (crn_unlikely(!slot)) {
		ret = -FI_EAGAIN;
		goto out;
	}
	slot->context = context;
	slot->flags = FI_RECV | FI_MSG;
	slot->state = flags & FI_COMPLETION ? 0 : PVB_SLOT_SELECTIVE;
	if (crn_unlikely(srx->wq.bufs))
		(void)srx->domain->durable->recv_note(&srx->wq, slot, wr);
	if (datagrams)
		wr->num_sge = pvb_grh_fill(&srx->wq, slot, wr->sg_list, wr->num_sge, len,
					   false);
	wr->wr_id = (uintptr_t)slot;
	wr->next = NULL;
	ret = ibv_post_srq_recv(srx->srq, wr, &bad);
	if (crn_unlikely(ret)) {
		slot->context = srx->free;
		srx->free = slot;
		ret = pvb_post_error((int)ret);
	}
out:
	crn_unlock(&srx->lock);
	return ret;
}

static ssize_t pvb_srx_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			    fi_addr_t src_addr, void *context)
{
	struct pvb_srx *srx = pvb_srx_of(fid);
	struct ibv_sge sge = pvb_sge(buf, len, desc);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = len != 0};

	if (crn_unlikely(len > UINT32_MAX))
		return -FI_EMSGSIZE;
	return pvb_srx_post(srx, &wr, context, srx->flags, false, len);
}

static ssize_t pvb_srx_recv_iov(struct pvb_srx *srx, const struct iovec *iov, void **desc,
				size_t count, void *context, uint64_t flags)
{
	struct ibv_sge sge[PVB_IOV_LIMIT];
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = (int)count};
	size_t len;
	int ret;

	ret = pvb_sge_fill(sge, iov, desc, count, srx->iov_limit, &len);
	if (crn_unlikely(ret))
		return ret;
	return pvb_srx_post(srx, &wr, context, flags, false, len);
}

static ssize_t pvb_srx_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			     size_t count, fi_addr_t src_addr, void *context)
{
	struct pvb_srx *srx = pvb_srx_of(fid);

	return pvb_srx_recv_iov(srx, iov, desc, count, context, srx->flags);
}

static ssize_t pvb_srx_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
			       uint64_t flags)
{
	if (crn_unlikely(flags & ~(uint64_t)PVB_RECV_FLAGS))
		return -FI_EBADFLAGS;
	return pvb_srx_recv_iov(pvb_srx_of(fid), msg->msg_iov, msg->desc, msg->iov_count,
				msg->context, flags);
}

/* The same of datagrams. */
static ssize_t pvb_srx_grh_recv_iov(struct pvb_srx *srx, const struct iovec *iov,
				    void **desc, size_t count, void *context,
				    uint64_t flags)
{
	struct ibv_sge sge[PVB_UD_SGES + PVB_IOV_LIMIT];
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = (int)count};
	size_t len;
	int ret;

	if (crn_unlikely(!pvb_prefix_fits(srx->domain->ud, count ? iov->iov_len : 0)))
		return -FI_EINVAL;
	ret = pvb_sge_fill(&sge[1], iov, desc, count, srx->iov_limit, &len);
	if (crn_unlikely(ret))
		return ret;
	return pvb_srx_post(srx, &wr, context, flags, true, len);
}

static ssize_t pvb_srx_grh_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
				fi_addr_t src_addr, void *context)
{
	struct pvb_srx *srx = pvb_srx_of(fid);
	const struct iovec iov = {.iov_base = buf, .iov_len = len};

	return pvb_srx_grh_recv_iov(srx, &iov, &desc, len != 0, context, srx->flags);
}

static ssize_t pvb_srx_grh_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
				 size_t count, fi_addr_t src_addr, void *context)
{
	struct pvb_srx *srx = pvb_srx_of(fid);

	return pvb_srx_grh_recv_iov(srx, iov, desc, count, context, srx->flags);
}

static ssize_t pvb_srx_grh_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
				   uint64_t flags)
{
	if (crn_unlikely(flags & ~(uint64_t)PVB_RECV_FLAGS))
		return -FI_EBADFLAGS;
	return pvb_srx_grh_recv_iov(pvb_srx_of(fid), msg->msg_iov, msg->desc,
				    msg->iov_count, msg->context, flags);
}

static ssize_t pvb_srx_recv_gone(struct fid_ep *fid, void *buf, size_t len, void *desc,
				 fi_addr_t src_addr, void *context)
{
	return -FI_ENODEV;
}

static ssize_t pvb_srx_recvv_gone(struct fid_ep *fid, const struct iovec *iov,
				  void **desc, size_t count, fi_addr_t src_addr,
				  void *context)
{
	return -FI_ENODEV;
}

static ssize_t pvb_srx_recvmsg_gone(struct fid_ep *fid, const struct fi_msg *msg,
				    uint64_t flags)
{
	return -FI_ENODEV;
}

/* A program may be calling them: each is changed in one piece. */
static void pvb_srx_msg_end(struct pvb_srx *srx)
{
	__atomic_store_n(&srx->msg.recv, pvb_srx_recv_gone, __ATOMIC_RELAXED);
	__atomic_store_n(&srx->msg.recvv, pvb_srx_recvv_gone, __ATOMIC_RELAXED);
	__atomic_store_n(&srx->msg.recvmsg, pvb_srx_recvmsg_gone, __ATOMIC_RELAXED);
}

void pvb_srx_msg_init(struct pvb_srx *srx)
{
	srx->end = pvb_srx_msg_end;
	srx->msg = crn_nosys_msg;
	srx->msg.recv = srx->wq.datagrams ? pvb_srx_grh_recv : pvb_srx_recv;
	srx->msg.recvv = srx->wq.datagrams ? pvb_srx_grh_recvv : pvb_srx_recvv;
	srx->msg.recvmsg = srx->wq.datagrams ? pvb_srx_grh_recvmsg : pvb_srx_recvmsg;
	srx->fid.msg = &srx->msg;
}
