/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_rma(3): reads and writes in all their call forms. */
#include "xfer.h"

CRN_INLINE void pvb_rma_op(struct pvb_op *op, const struct pvb_ep *ep,
			   enum ibv_wr_opcode opcode, uint64_t flags, uint64_t addr,
			   uint64_t key, void *context)
{
	op->opcode = opcode;
	op->comp_flags = FI_RMA | (opcode == IBV_WR_RDMA_READ ? FI_READ : FI_WRITE);
	op->flags = flags;
	op->no_comp = ep->tx_selective && !(flags & FI_COMPLETION);
	op->inject = false;
	op->context = context;
	op->addr = addr;
	op->key = key;
}

/* Default op_flags of a call that reads. */
static inline uint64_t pvb_read_flags(const struct pvb_ep *ep)
{
	return ep->tx_flags & ~PVB_NOT_FOR_READS;
}

static ssize_t pvb_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_rma_op(&op, ep, IBV_WR_RDMA_READ, PVB_OP_PLAIN, addr, key, context);
	return pvb_tx_buf(ep, &op, buf, len, desc);
}

static ssize_t pvb_readv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
			 void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_rma_op(&op, ep, IBV_WR_RDMA_READ, pvb_read_flags(ep), addr, key, context);
	return pvb_tx_iov(ep, &op, iov, desc, count);
}

static ssize_t pvb_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_rma_op(&op, ep, IBV_WR_RDMA_WRITE, PVB_OP_PLAIN, addr, key, context);
	return pvb_tx_buf(ep, &op, buf, len, desc);
}

static ssize_t pvb_writev(struct fid_ep *fid, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			  void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_rma_op(&op, ep, IBV_WR_RDMA_WRITE, ep->tx_flags, addr, key, context);
	return pvb_tx_iov(ep, &op, iov, desc, count);
}

/*
 * One remote range: rma_iov_limit is 1. 0 or a negative code; *iov is the range, or an
 * empty one for a message without payload that names none.
 */
CRN_INLINE int pvb_rma_range(const struct fi_msg_rma *msg, struct fi_rma_iov *iov)
{
	if (crn_unlikely(msg->rma_iov_count > 1))
		return -FI_EINVAL;
	if (msg->rma_iov_count)
		*iov = *msg->rma_iov;
	else
		*iov = (struct fi_rma_iov){0};
	return 0;
}

/* 0, or why not; sge: PVB_IOV_LIMIT of them. */
CRN_INLINE int pvb_rma_msg_op(struct pvb_op *op, struct ibv_sge *sge,
			      const struct pvb_ep *ep, const struct fi_msg_rma *msg,
			      enum ibv_wr_opcode opcode, uint64_t flags)
{
	struct fi_rma_iov range;
	int ret;

	ret = pvb_rma_range(msg, &range);
	if (crn_unlikely(ret))
		return ret;
	pvb_rma_op(op, ep, opcode, flags, range.addr, range.key, msg->context);
	op->data = msg->data;
	ret = pvb_sge_fill(sge, msg->msg_iov, msg->desc, msg->iov_count,
			   ep->attr.tx_iov_limit, &op->len);
	if (crn_unlikely(ret))
		return ret;
	if (crn_unlikely(msg->rma_iov_count && range.len != op->len))
		return -FI_EINVAL;
	op->num_sge = (int)msg->iov_count;
	op->sge = sge;
	return 0;
}

CRN_INLINE ssize_t pvb_rma_msg(struct pvb_ep *ep, const struct fi_msg_rma *msg,
			       enum ibv_wr_opcode opcode, uint64_t flags)
{
	struct ibv_sge sge[PVB_IOV_LIMIT];
	struct pvb_op op;
	int ret = pvb_rma_msg_op(&op, sge, ep, msg, opcode, flags);

	return crn_unlikely(ret) ? pvb_tx_misused(ep, ret) : pvb_tx(ep, &op);
}

/* The same in memory from the start, for what makes it durable keeps nothing in
 * registers. */
static __attribute__((noinline)) ssize_t pvb_writemsg_durable(
	struct pvb_ep *ep, const struct fi_msg_rma *msg, enum ibv_wr_opcode opcode,
	uint64_t flags)
{
	struct ibv_sge sge[PVB_IOV_LIMIT];
	struct pvb_op op;
	int ret = pvb_rma_msg_op(&op, sge, ep, msg, opcode, flags);

	return ret ? pvb_tx_misused(ep, ret) : pvb_tx_durable(ep, &op);
}

static ssize_t pvb_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	const uint64_t known =
		PVB_CALL_FLAGS &
		~(uint64_t)(FI_INJECT | FI_REMOTE_CQ_DATA | FI_COMMIT_COMPLETE);

	if (crn_unlikely(flags & ~known))
		return pvb_tx_misused(pvb_ep_of(fid), pvb_bad_flags(flags));
	return pvb_rma_msg(pvb_ep_of(fid), msg, IBV_WR_RDMA_READ,
			   flags & ~PVB_NOT_FOR_READS);
}

static ssize_t pvb_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	const enum ibv_wr_opcode opcode = flags & FI_REMOTE_CQ_DATA
						  ? IBV_WR_RDMA_WRITE_WITH_IMM
						  : IBV_WR_RDMA_WRITE;

	if (crn_unlikely(flags & ~PVB_CALL_FLAGS))
		return pvb_tx_misused(pvb_ep_of(fid), pvb_bad_flags(flags));
	return crn_unlikely(flags & FI_COMMIT_COMPLETE)
		       ? pvb_writemsg_durable(pvb_ep_of(fid), msg, opcode, flags)
		       : pvb_rma_msg(pvb_ep_of(fid), msg, opcode, flags);
}

CRN_INLINE void pvb_rma_inject_op(struct pvb_op *op, enum ibv_wr_opcode opcode,
				  uint64_t addr, uint64_t key)
{
	op->opcode = opcode;
	op->comp_flags = FI_RMA | FI_WRITE;
	op->flags = 0;
	op->no_comp = true;
	op->inject = true;
	op->context = NULL;
	op->addr = addr;
	op->key = key;
}

static ssize_t pvb_inject_write(struct fid_ep *fid, const void *buf, size_t len,
				fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	struct pvb_op op;

	pvb_rma_inject_op(&op, IBV_WR_RDMA_WRITE, addr, key);
	return pvb_tx_inject(pvb_ep_of(fid), &op, buf, len);
}

static ssize_t pvb_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_op op;

	pvb_rma_op(&op, ep, IBV_WR_RDMA_WRITE_WITH_IMM, PVB_OP_PLAIN, addr, key, context);
	op.data = data;
	return pvb_tx_buf(ep, &op, buf, len, desc);
}

static ssize_t pvb_inject_writedata(struct fid_ep *fid, const void *buf, size_t len,
				    uint64_t data, fi_addr_t dest_addr, uint64_t addr,
				    uint64_t key)
{
	struct pvb_op op;

	pvb_rma_inject_op(&op, IBV_WR_RDMA_WRITE_WITH_IMM, addr, key);
	op.data = data;
	return pvb_tx_inject(pvb_ep_of(fid), &op, buf, len);
}

struct fi_ops_rma pvb_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = pvb_read,
	.readv = pvb_readv,
	.readmsg = pvb_readmsg,
	.write = pvb_write,
	.writev = pvb_writev,
	.writemsg = pvb_writemsg,
	.inject = pvb_inject_write,
	.writedata = pvb_writedata,
	.injectdata = pvb_inject_writedata,
};
