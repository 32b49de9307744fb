/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_rma(3) */
#include <cairn/pass.h>

static ssize_t pass_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	return fi_read(crn_pass_lower(ep), buf, len, desc, src_addr, addr, key, context);
}

static ssize_t pass_readv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
			  void *context)
{
	return fi_readv(crn_pass_lower(ep), iov, desc, count, src_addr, addr, key,
			context);
}

static ssize_t pass_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return fi_readmsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return fi_write(crn_pass_lower(ep), buf, len, desc, dest_addr, addr, key,
			context);
}

static ssize_t pass_writev(struct fid_ep *ep, const struct iovec *iov, void **desc,
			   size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			   void *context)
{
	return fi_writev(crn_pass_lower(ep), iov, desc, count, dest_addr, addr, key,
			 context);
}

static ssize_t pass_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			     uint64_t flags)
{
	return fi_writemsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_inject(struct fid_ep *ep, const void *buf, size_t len,
			   fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return fi_inject_write(crn_pass_lower(ep), buf, len, dest_addr, addr, key);
}

static ssize_t pass_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			      uint64_t key, void *context)
{
	return fi_writedata(crn_pass_lower(ep), buf, len, desc, data, dest_addr, addr,
			    key, context);
}

static ssize_t pass_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			       uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			       uint64_t key)
{
	return fi_inject_writedata(crn_pass_lower(ep), buf, len, data, dest_addr, addr,
				   key);
}

struct fi_ops_rma crn_pass_rma = {
	.size = sizeof(struct fi_ops_rma),
	.read = pass_read,
	.readv = pass_readv,
	.readmsg = pass_readmsg,
	.write = pass_write,
	.writev = pass_writev,
	.writemsg = pass_writemsg,
	.inject = pass_inject,
	.writedata = pass_writedata,
	.injectdata = pass_injectdata,
};
