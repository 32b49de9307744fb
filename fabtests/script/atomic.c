/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_atomic(3), of one FI_UINT64: FI_SUM and FI_ATOMIC_WRITE, fetching also
 * FI_ATOMIC_READ, comparing FI_CSWAP.
 */
#include "post.h"

static bool is_known(enum scr_call call, enum fi_datatype datatype, enum fi_op op)
{
	if (datatype != FI_UINT64)
		return false;
	switch (op) {
	case FI_CSWAP:
		return call == SCR_COMPARE_ATOMIC;
	case FI_ATOMIC_READ:
		return call == SCR_FETCH_ATOMIC;
	case FI_SUM:
	case FI_ATOMIC_WRITE:
		return call != SCR_COMPARE_ATOMIC;
	default:
		return false;
	}
}

uint64_t scr_atomic_apply(const struct scr_atomic *atomic, uint64_t old, uint64_t operand)
{
	switch (atomic->op) {
	case FI_SUM:
		return old + operand;
	case FI_CSWAP:
		return old == atomic->compare ? operand : old;
	case FI_ATOMIC_READ:
		return old;
	default:
		return operand;
	}
}

/* One piece of one element each, and one place of the peer's. compare: of FI_CSWAP;
 * result: of what fetches. */
static ssize_t post_atomic(struct fid_ep *fid, enum scr_call call,
			   const struct fi_msg_atomic *msg, const struct fi_ioc *compare,
			   const struct fi_ioc *result, uint64_t flags)
{
	const bool reads = msg->op == FI_ATOMIC_READ;
	struct iovec iov = {msg->iov_count ? msg->msg_iov->addr : NULL,
			    reads ? 0 : sizeof(uint64_t)};
	struct scr_post post = {.call = call,
				.iov = &iov,
				.desc = msg->desc,
				.count = reads ? 0 : 1,
				.flags = flags,
				.context = msg->context,
				.addr = msg->rma_iov->addr,
				.key = msg->rma_iov->key,
				.data = msg->data,
				.atomic = {.op = msg->op}};

	if (!is_known(call, msg->datatype, msg->op))
		return -FI_EOPNOTSUPP;
	if (msg->rma_iov_count != 1 || msg->rma_iov->count != 1 ||
	    (!reads && (msg->iov_count != 1 || msg->msg_iov->count != 1)))
		return -FI_EINVAL;
	if (compare)
		post.atomic.compare = *(const uint64_t *)compare->addr;
	if (result)
		post.atomic.result = result->addr;
	return scr_operate(fid, &post);
}

/* A message of the arguments of the forms without one. */
#define MSG(iov, descs, n)                                      \
	const struct fi_rma_ioc place = {addr, 1, key};         \
	const struct fi_msg_atomic msg = {.msg_iov = iov,       \
					  .desc = descs,        \
					  .iov_count = n,       \
					  .rma_iov = &place,    \
					  .rma_iov_count = 1,   \
					  .datatype = datatype, \
					  .op = op,             \
					  .context = context}

static struct fi_ioc ioc_of(const void *buf, size_t count)
{
	return (struct fi_ioc){(void *)(uintptr_t)buf, count};
}

static ssize_t ep_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
			   uint64_t flags)
{
	return post_atomic(fid, SCR_ATOMIC, msg, NULL, NULL, flags);
}

static ssize_t ep_writev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			 enum fi_datatype datatype, enum fi_op op, void *context)
{
	MSG(iov, desc, count);

	return ep_writemsg(fid, &msg, scr_op_flags(fid, CRN_EP_TX));
}

static ssize_t ep_write(struct fid_ep *fid, const void *buf, size_t count, void *desc,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			enum fi_datatype datatype, enum fi_op op, void *context)
{
	const struct fi_ioc iov = ioc_of(buf, count);

	return ep_writev(fid, &iov, &desc, 1, dest_addr, addr, key, datatype, op,
			 context);
}

static ssize_t ep_inject(struct fid_ep *fid, const void *buf, size_t count,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			 enum fi_datatype datatype, enum fi_op op)
{
	const struct fi_ioc iov = ioc_of(buf, count);
	void *context = NULL;
	MSG(&iov, NULL, 1);

	return post_atomic(fid, SCR_INJECT_ATOMIC, &msg, NULL, NULL, 0);
}

static ssize_t ep_readwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
			       struct fi_ioc *resultv, void **result_desc,
			       size_t result_count, uint64_t flags)
{
	return result_count == 1
		       ? post_atomic(fid, SCR_FETCH_ATOMIC, msg, NULL, resultv, flags)
		       : -FI_EINVAL;
}

static ssize_t ep_readwritev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
			     size_t count, struct fi_ioc *resultv, void **result_desc,
			     size_t result_count, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, enum fi_datatype datatype, enum fi_op op,
			     void *context)
{
	MSG(iov, desc, count);

	return ep_readwritemsg(fid, &msg, resultv, result_desc, result_count,
			       scr_op_flags(fid, CRN_EP_TX));
}

static ssize_t ep_readwrite(struct fid_ep *fid, const void *buf, size_t count, void *desc,
			    void *result, void *result_desc, fi_addr_t dest_addr,
			    uint64_t addr, uint64_t key, enum fi_datatype datatype,
			    enum fi_op op, void *context)
{
	const struct fi_ioc iov = ioc_of(buf, count);
	struct fi_ioc resultv = ioc_of(result, count);

	return ep_readwritev(fid, &iov, &desc, 1, &resultv, &result_desc, 1, dest_addr,
			     addr, key, datatype, op, context);
}

static ssize_t ep_compwritemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
			       const struct fi_ioc *comparev, void **compare_desc,
			       size_t compare_count, struct fi_ioc *resultv,
			       void **result_desc, size_t result_count, uint64_t flags)
{
	return result_count == 1 && compare_count == 1
		       ? post_atomic(fid, SCR_COMPARE_ATOMIC, msg, comparev, resultv,
				     flags)
		       : -FI_EINVAL;
}

static ssize_t ep_compwritev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
			     size_t count, const struct fi_ioc *comparev,
			     void **compare_desc, size_t compare_count,
			     struct fi_ioc *resultv, void **result_desc,
			     size_t result_count, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, enum fi_datatype datatype, enum fi_op op,
			     void *context)
{
	MSG(iov, desc, count);

	return ep_compwritemsg(fid, &msg, comparev, compare_desc, compare_count, resultv,
			       result_desc, result_count, scr_op_flags(fid, CRN_EP_TX));
}

static ssize_t ep_compwrite(struct fid_ep *fid, const void *buf, size_t count, void *desc,
			    const void *compare, void *compare_desc, void *result,
			    void *result_desc, fi_addr_t dest_addr, uint64_t addr,
			    uint64_t key, enum fi_datatype datatype, enum fi_op op,
			    void *context)
{
	const struct fi_ioc iov = ioc_of(buf, count), comparev = ioc_of(compare, count);
	struct fi_ioc resultv = ioc_of(result, count);

	return ep_compwritev(fid, &iov, &desc, 1, &comparev, &compare_desc, 1, &resultv,
			     &result_desc, 1, dest_addr, addr, key, datatype, op,
			     context);
}

static int valid(enum scr_call call, enum fi_datatype datatype, enum fi_op op,
		 size_t *count)
{
	if (!is_known(call, datatype, op))
		return -FI_EOPNOTSUPP;
	*count = 1;
	return 0;
}

static int ep_writevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			 size_t *count)
{
	return valid(SCR_ATOMIC, datatype, op, count);
}

static int ep_readwritevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			     size_t *count)
{
	return valid(SCR_FETCH_ATOMIC, datatype, op, count);
}

static int ep_compwritevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
			     size_t *count)
{
	return valid(SCR_COMPARE_ATOMIC, datatype, op, count);
}

int scr_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags)
{
	const enum scr_call call = flags & FI_COMPARE_ATOMIC ? SCR_COMPARE_ATOMIC
				   : flags & FI_FETCH_ATOMIC ? SCR_FETCH_ATOMIC
							     : SCR_ATOMIC;

	attr->size = sizeof(uint64_t);
	return valid(call, datatype, op, &attr->count);
}

struct fi_ops_atomic scr_ep_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = ep_write,
	.writev = ep_writev,
	.writemsg = ep_writemsg,
	.inject = ep_inject,
	.readwrite = ep_readwrite,
	.readwritev = ep_readwritev,
	.readwritemsg = ep_readwritemsg,
	.compwrite = ep_compwrite,
	.compwritev = ep_compwritev,
	.compwritemsg = ep_compwritemsg,
	.writevalid = ep_writevalid,
	.readwritevalid = ep_readwritevalid,
	.compwritevalid = ep_compwritevalid,
};
