/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_atomic(3) */
#include <cairn/pass.h>

static ssize_t pass_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			  enum fi_datatype datatype, enum fi_op op, void *context)
{
	return fi_atomic(crn_pass_lower(ep), buf, count, desc, dest_addr, addr, key,
			 datatype, op, context);
}

static ssize_t pass_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			   size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			   enum fi_datatype datatype, enum fi_op op, void *context)
{
	return fi_atomicv(crn_pass_lower(ep), iov, desc, count, dest_addr, addr, key,
			  datatype, op, context);
}

static ssize_t pass_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			     uint64_t flags)
{
	return fi_atomicmsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_inject(struct fid_ep *ep, const void *buf, size_t count,
			   fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			   enum fi_datatype datatype, enum fi_op op)
{
	return fi_inject_atomic(crn_pass_lower(ep), buf, count, dest_addr, addr, key,
				datatype, op);
}

static ssize_t pass_readwrite(struct fid_ep *ep, const void *buf, size_t count,
			      void *desc, void *result, void *result_desc,
			      fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			      enum fi_datatype datatype, enum fi_op op, void *context)
{
	return fi_fetch_atomic(crn_pass_lower(ep), buf, count, desc, result, result_desc,
			       dest_addr, addr, key, datatype, op, context);
}

static ssize_t pass_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			       size_t count, struct fi_ioc *resultv, void **result_desc,
			       size_t result_count, fi_addr_t dest_addr, uint64_t addr,
			       uint64_t key, enum fi_datatype datatype, enum fi_op op,
			       void *context)
{
	return fi_fetch_atomicv(crn_pass_lower(ep), iov, desc, count, resultv,
				result_desc, result_count, dest_addr, addr, key, datatype,
				op, context);
}

static ssize_t pass_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				 struct fi_ioc *resultv, void **result_desc,
				 size_t result_count, uint64_t flags)
{
	return fi_fetch_atomicmsg(crn_pass_lower(ep), msg, resultv, result_desc,
				  result_count, flags);
}

static ssize_t pass_compwrite(struct fid_ep *ep, const void *buf, size_t count,
			      void *desc, const void *compare, void *compare_desc,
			      void *result, void *result_desc, fi_addr_t dest_addr,
			      uint64_t addr, uint64_t key, enum fi_datatype datatype,
			      enum fi_op op, void *context)
{
	return fi_compare_atomic(crn_pass_lower(ep), buf, count, desc, compare,
				 compare_desc, result, result_desc, dest_addr, addr, key,
				 datatype, op, context);
}

static ssize_t pass_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
			       size_t count, const struct fi_ioc *comparev,
			       void **compare_desc, size_t compare_count,
			       struct fi_ioc *resultv, void **result_desc,
			       size_t result_count, fi_addr_t dest_addr, uint64_t addr,
			       uint64_t key, enum fi_datatype datatype, enum fi_op op,
			       void *context)
{
	return fi_compare_atomicv(crn_pass_lower(ep), iov, desc, count, comparev,
				  compare_desc, compare_count, resultv, result_desc,
				  result_count, dest_addr, addr, key, datatype, op,
				  context);
}

static ssize_t pass_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				 const struct fi_ioc *comparev, void **compare_desc,
				 size_t compare_count, struct fi_ioc *resultv,
				 void **result_desc, size_t result_count, uint64_t flags)
{
	return fi_compare_atomicmsg(crn_pass_lower(ep), msg, comparev, compare_desc,
				    compare_count, resultv, result_desc, result_count,
				    flags);
}

static int pass_writevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			   size_t *count)
{
	return fi_atomicvalid(crn_pass_lower(ep), datatype, op, count);
}

static int pass_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
			       enum fi_op op, size_t *count)
{
	return fi_fetch_atomicvalid(crn_pass_lower(ep), datatype, op, count);
}

static int pass_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
			       enum fi_op op, size_t *count)
{
	return fi_compare_atomicvalid(crn_pass_lower(ep), datatype, op, count);
}

struct fi_ops_atomic crn_pass_atomic = {
	.size = sizeof(struct fi_ops_atomic),
	.write = pass_write,
	.writev = pass_writev,
	.writemsg = pass_writemsg,
	.inject = pass_inject,
	.readwrite = pass_readwrite,
	.readwritev = pass_readwritev,
	.readwritemsg = pass_readwritemsg,
	.compwrite = pass_compwrite,
	.compwritev = pass_compwritev,
	.compwritemsg = pass_compwritemsg,
	.writevalid = pass_writevalid,
	.readwritevalid = pass_readwritevalid,
	.compwritevalid = pass_compwritevalid,
};
