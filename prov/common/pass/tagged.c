/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_tagged(3) */
#include <cairn/pass.h>

static ssize_t pass_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			 fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	return fi_trecv(crn_pass_lower(ep), buf, len, desc, src_addr, tag, ignore,
			context);
}

static ssize_t pass_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			  void *context)
{
	return fi_trecvv(crn_pass_lower(ep), iov, desc, count, src_addr, tag, ignore,
			 context);
}

static ssize_t pass_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			    uint64_t flags)
{
	return fi_trecvmsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return fi_tsend(crn_pass_lower(ep), buf, len, desc, dest_addr, tag, context);
}

static ssize_t pass_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return fi_tsendv(crn_pass_lower(ep), iov, desc, count, dest_addr, tag, context);
}

static ssize_t pass_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			    uint64_t flags)
{
	return fi_tsendmsg(crn_pass_lower(ep), msg, flags);
}

static ssize_t pass_inject(struct fid_ep *ep, const void *buf, size_t len,
			   fi_addr_t dest_addr, uint64_t tag)
{
	return fi_tinject(crn_pass_lower(ep), buf, len, dest_addr, tag);
}

static ssize_t pass_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, uint64_t tag,
			     void *context)
{
	return fi_tsenddata(crn_pass_lower(ep), buf, len, desc, data, dest_addr, tag,
			    context);
}

static ssize_t pass_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			       uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return fi_tinjectdata(crn_pass_lower(ep), buf, len, data, dest_addr, tag);
}

struct fi_ops_tagged crn_pass_tagged = {
	.size = sizeof(struct fi_ops_tagged),
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
