/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3) */
#include <cairn/pass.h>

static ssize_t pass_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, void *context)
{
	return fi_recv(crn_pass_lower(ep), buf, len, desc, src_addr, context);
}

static ssize_t pass_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t src_addr, void *context)
{
	return fi_recvv(crn_pass_lower(ep), iov, desc, count, src_addr, context);
}

static ssize_t pass_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return fi_recvmsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, void *context)
{
	return fi_send(crn_pass_lower(ep), buf, len, desc, dest_addr, context);
}

static ssize_t pass_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, void *context)
{
	return fi_sendv(crn_pass_lower(ep), iov, desc, count, dest_addr, context);
}

static ssize_t pass_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return fi_sendmsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_inject(struct fid_ep *ep, const void *buf, size_t len,
			   fi_addr_t dest_addr)
{
	return fi_inject(crn_pass_lower(ep), buf, len, dest_addr);
}

static ssize_t pass_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, void *context)
{
	return fi_senddata(crn_pass_lower(ep), buf, len, desc, data, dest_addr, context);
}

static ssize_t pass_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			       uint64_t data, fi_addr_t dest_addr)
{
	return fi_injectdata(crn_pass_lower(ep), buf, len, data, dest_addr);
}

struct fi_ops_msg crn_pass_msg = {
	.size = sizeof(struct fi_ops_msg),
	.recv = pass_recv,
	.recvv = pass_recvv,
	.recvmsg = pass_recvmsg,
	.send = pass_send,
	.sendv = pass_sendv,
	.sendmsg = pass_sendmsg,
	.inject = pass_inject,
	.senddata = pass_senddata,
	.injectdata = pass_injectdata,
};
