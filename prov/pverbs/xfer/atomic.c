/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_atomic(3): what verbs can do, which is to add to eight bytes and to exchange them if
 * they have a certain value. Operands and results are in host byte order, as verbs has
 * them. The operand travels in the work request, so every form is also an inject.
 */
#include "atomic.h"
#include "xfer.h"

/* One atomic, as a call of any form describes it. */
struct pvb_atomic {
	enum pvb_atomic_kind kind;
	enum fi_datatype datatype;
	enum fi_op op;
	const void *operand; /* ignored by FI_ATOMIC_READ */
	const void *compare;
	void *result; /* NULL: the fetched value is discarded */
	void *desc;
	uint64_t addr;
	uint64_t key;
	void *context;
	uint64_t flags;
	bool inject;
};

static inline uint64_t pvb_atomic_load(const void *operand)
{
	uint64_t value;

	memcpy(&value, operand, sizeof(value)); /* wherever it lies */
	return value;
}

static inline void pvb_atomic_operands(struct pvb_op *op, const struct pvb_atomic *atomic)
{
	if (atomic->kind == PVB_ATOMIC_COMPARE) {
		op->opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		op->compare_add = pvb_atomic_load(atomic->compare);
		op->swap = pvb_atomic_load(atomic->operand);
		return;
	}
	op->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	op->compare_add =
		atomic->op == FI_ATOMIC_READ ? 0 : pvb_atomic_load(atomic->operand);
	op->swap = 0;
}

static inline ssize_t pvb_atomic_post(struct pvb_ep *ep, const struct pvb_atomic *atomic)
{
	const struct ibv_mr *sink = ep->domain->sink_mr;
	struct ibv_sge sge;
	struct pvb_op op;

	if (crn_unlikely(!pvb_atomic_known(atomic->kind, atomic->datatype, atomic->op)))
		return pvb_tx_misused(ep, -FI_EOPNOTSUPP);
	/* A device would answer by ending the connection. */
	if (crn_unlikely(atomic->addr % PVB_ATOMIC_SIZE))
		return pvb_tx_misused(ep, -FI_EINVAL);
	pvb_atomic_operands(&op, atomic);
	op.comp_flags =
		FI_ATOMIC | (atomic->kind == PVB_ATOMIC_BASE ? FI_WRITE : FI_READ);
	/* The response of an atomic shows that it was executed: it is delivered. */
	op.flags = atomic->flags & ~(uint64_t)FI_DELIVERY_COMPLETE;
	op.no_comp =
		atomic->inject || (ep->tx_selective && !(atomic->flags & FI_COMPLETION));
	op.inject = atomic->inject;
	op.context = atomic->context;
	op.addr = atomic->addr;
	op.key = atomic->key;
	if (atomic->result)
		pvb_op_buf(&op, &sge, atomic->result, PVB_ATOMIC_SIZE, atomic->desc);
	else
		pvb_op_buf(&op, &sge, sink->addr, PVB_ATOMIC_SIZE,
			   (void *)(uintptr_t)sink->lkey);
	return pvb_tx(ep, &op);
}

/* One element is all there can be: 0, -FI_EMSGSIZE for more, -FI_EINVAL for none. */
static inline int pvb_atomic_count(size_t count)
{
	if (crn_likely(count == 1))
		return 0;
	return count ? -FI_EMSGSIZE : -FI_EINVAL;
}

/* The element among pieces of which most may be empty, and its descriptor. */
static int pvb_atomic_iov(const struct pvb_ep *ep, const struct fi_ioc *iov, void **desc,
			  size_t count, void **addr, void **addr_desc)
{
	size_t i, total = 0;

	if (crn_unlikely(count > ep->attr.tx_iov_limit))
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		if (!iov[i].count)
			continue;
		total += CRN_MIN(iov[i].count, (size_t)2);
		*addr = iov[i].addr;
		if (addr_desc)
			*addr_desc = desc ? desc[i] : NULL;
	}
	return pvb_atomic_count(total);
}

static ssize_t pvb_atomic_write(struct fid_ep *fid, const void *buf, size_t count,
				void *desc, fi_addr_t dest_addr, uint64_t addr,
				uint64_t key, enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	const struct pvb_atomic atomic = {
		.kind = PVB_ATOMIC_BASE,
		.datatype = datatype,
		.op = op,
		.operand = buf,
		.addr = addr,
		.key = key,
		.context = context,
		.flags = ep->tx_flags,
	};
	int ret = pvb_atomic_count(count);

	return ret ? pvb_tx_misused(ep, ret) : pvb_atomic_post(ep, &atomic);
}

static ssize_t pvb_atomic_writev(struct fid_ep *fid, const struct fi_ioc *iov,
				 void **desc, size_t count, fi_addr_t dest_addr,
				 uint64_t addr, uint64_t key, enum fi_datatype datatype,
				 enum fi_op op, void *context)
{
	void *buf;
	struct pvb_ep *ep = pvb_ep_of(fid);
	int ret = pvb_atomic_iov(ep, iov, NULL, count, &buf, NULL);

	return ret ? pvb_tx_misused(ep, ret)
		   : pvb_atomic_write(fid, buf, 1, NULL, dest_addr, addr, key, datatype,
				      op, context);
}

static ssize_t pvb_atomic_inject(struct fid_ep *fid, const void *buf, size_t count,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	const struct pvb_atomic atomic = {
		.kind = PVB_ATOMIC_BASE,
		.datatype = datatype,
		.op = op,
		.operand = buf,
		.addr = addr,
		.key = key,
		/* As pvb_tx_inject_counted. */
		.flags = ep->qp.sq.counted ? ep->tx_flags & FI_COMMIT_COMPLETE : 0,
		.inject = true,
	};
	int ret = pvb_atomic_count(count);

	return ret ? pvb_tx_misused(ep, ret) : pvb_atomic_post(ep, &atomic);
}

static ssize_t pvb_atomic_fetch(struct fid_ep *fid, const void *buf, size_t count,
				void *desc, void *result, void *result_desc,
				fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	const struct pvb_atomic atomic = {
		.kind = PVB_ATOMIC_FETCH,
		.datatype = datatype,
		.op = op,
		.operand = buf,
		.result = result,
		.desc = result_desc,
		.addr = addr,
		.key = key,
		.context = context,
		.flags = ep->tx_flags,
	};
	int ret = pvb_atomic_count(count);

	return ret ? pvb_tx_misused(ep, ret) : pvb_atomic_post(ep, &atomic);
}

static ssize_t pvb_atomic_compare(struct fid_ep *fid, const void *buf, size_t count,
				  void *desc, const void *compare, void *compare_desc,
				  void *result, void *result_desc, fi_addr_t dest_addr,
				  uint64_t addr, uint64_t key, enum fi_datatype datatype,
				  enum fi_op op, void *context)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	const struct pvb_atomic atomic = {
		.kind = PVB_ATOMIC_COMPARE,
		.datatype = datatype,
		.op = op,
		.operand = buf,
		.compare = compare,
		.result = result,
		.desc = result_desc,
		.addr = addr,
		.key = key,
		.context = context,
		.flags = ep->tx_flags,
	};
	int ret = pvb_atomic_count(count);

	return ret ? pvb_tx_misused(ep, ret) : pvb_atomic_post(ep, &atomic);
}

/* What the three message forms have in common: target, operand, flags. */
static int pvb_atomic_msg(const struct pvb_ep *ep, const struct fi_msg_atomic *msg,
			  uint64_t flags, struct pvb_atomic *atomic)
{
	const uint64_t known = PVB_CALL_FLAGS & ~(uint64_t)FI_REMOTE_CQ_DATA;
	void *operand = NULL;
	int ret;

	if (crn_unlikely(flags & ~known))
		return (int)pvb_bad_flags(flags);
	if (msg->rma_iov_count != 1)
		return msg->rma_iov_count ? -FI_EMSGSIZE : -FI_EINVAL;
	ret = pvb_atomic_count(msg->rma_iov->count);
	if (!ret && msg->op != FI_ATOMIC_READ) {
		ret = pvb_atomic_iov(ep, msg->msg_iov, NULL, msg->iov_count, &operand,
				     NULL);
		atomic->operand = operand;
	}
	atomic->datatype = msg->datatype;
	atomic->op = msg->op;
	atomic->addr = msg->rma_iov->addr;
	atomic->key = msg->rma_iov->key;
	atomic->context = msg->context;
	atomic->flags = flags;
	return ret;
}

static ssize_t pvb_atomic_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				   uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_atomic atomic = {.kind = PVB_ATOMIC_BASE};
	int ret = pvb_atomic_msg(ep, msg, flags, &atomic);

	return ret ? pvb_tx_misused(ep, ret) : pvb_atomic_post(ep, &atomic);
}

static ssize_t pvb_atomic_fetchmsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				   struct fi_ioc *resultv, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_atomic atomic = {.kind = PVB_ATOMIC_FETCH};
	int ret = pvb_atomic_msg(ep, msg, flags, &atomic);

	if (!ret)
		ret = pvb_atomic_iov(ep, resultv, result_desc, result_count,
				     &atomic.result, &atomic.desc);
	return ret ? pvb_tx_misused(ep, ret) : pvb_atomic_post(ep, &atomic);
}

static ssize_t pvb_atomic_comparemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				     const struct fi_ioc *comparev, void **compare_desc,
				     size_t compare_count, struct fi_ioc *resultv,
				     void **result_desc, size_t result_count,
				     uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_of(fid);
	struct pvb_atomic atomic = {.kind = PVB_ATOMIC_COMPARE};
	int ret = pvb_atomic_msg(ep, msg, flags, &atomic);
	void *compare = NULL;

	if (!ret)
		ret = pvb_atomic_iov(ep, comparev, NULL, compare_count, &compare, NULL);
	if (!ret)
		ret = pvb_atomic_iov(ep, resultv, result_desc, result_count,
				     &atomic.result, &atomic.desc);
	if (ret)
		return pvb_tx_misused(ep, ret);
	atomic.compare = compare;
	return pvb_atomic_post(ep, &atomic);
}

static ssize_t pvb_atomic_fetchv(struct fid_ep *fid, const struct fi_ioc *iov,
				 void **desc, size_t count, struct fi_ioc *resultv,
				 void **result_desc, size_t result_count,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op, void *context)
{
	const struct fi_rma_ioc target = {.addr = addr, .count = 1, .key = key};
	const struct fi_msg_atomic msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.rma_iov = &target,
		.rma_iov_count = 1,
		.datatype = datatype,
		.op = op,
		.context = context,
	};

	return pvb_atomic_fetchmsg(fid, &msg, resultv, result_desc, result_count,
				   pvb_ep_of(fid)->tx_flags);
}

static ssize_t pvb_atomic_comparev(struct fid_ep *fid, const struct fi_ioc *iov,
				   void **desc, size_t count,
				   const struct fi_ioc *comparev, void **compare_desc,
				   size_t compare_count, struct fi_ioc *resultv,
				   void **result_desc, size_t result_count,
				   fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				   enum fi_datatype datatype, enum fi_op op,
				   void *context)
{
	const struct fi_rma_ioc target = {.addr = addr, .count = 1, .key = key};
	const struct fi_msg_atomic msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.rma_iov = &target,
		.rma_iov_count = 1,
		.datatype = datatype,
		.op = op,
		.context = context,
	};

	return pvb_atomic_comparemsg(fid, &msg, comparev, compare_desc, compare_count,
				     resultv, result_desc, result_count,
				     pvb_ep_of(fid)->tx_flags);
}

struct fi_ops_atomic pvb_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = pvb_atomic_write,
	.writev = pvb_atomic_writev,
	.writemsg = pvb_atomic_writemsg,
	.inject = pvb_atomic_inject,
	.readwrite = pvb_atomic_fetch,
	.readwritev = pvb_atomic_fetchv,
	.readwritemsg = pvb_atomic_fetchmsg,
	.compwrite = pvb_atomic_compare,
	.compwritev = pvb_atomic_comparev,
	.compwritemsg = pvb_atomic_comparemsg,
	.writevalid = pvb_atomic_writevalid,
	.readwritevalid = pvb_atomic_fetchvalid,
	.compwritevalid = pvb_atomic_comparevalid,
};
