/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_tagged(3), of endpoints. */
#include "post.h"

static ssize_t ep_trecvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	const struct scr_post post = {.call = SCR_TRECV,
				      .iov = msg->msg_iov,
				      .desc = msg->desc,
				      .count = msg->iov_count,
				      .flags = flags,
				      .context = msg->context,
				      .tag = msg->tag,
				      .ignore = msg->ignore};

	return scr_ep_receive(fid, &post);
}

static ssize_t ep_trecvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			 void *context)
{
	const struct fi_msg_tagged msg = {.msg_iov = iov,
					  .desc = desc,
					  .iov_count = count,
					  .tag = tag,
					  .ignore = ignore,
					  .context = context};

	return ep_trecvmsg(fid, &msg, scr_op_flags(fid, CRN_EP_RX));
}

static ssize_t ep_trecv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	const struct iovec iov = {buf, len};

	return ep_trecvv(fid, &iov, &desc, 1, src_addr, tag, ignore, context);
}

static ssize_t ep_tsendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	const struct scr_post post = {.call = SCR_TSEND,
				      .iov = msg->msg_iov,
				      .desc = msg->desc,
				      .count = msg->iov_count,
				      .flags = flags,
				      .context = msg->context,
				      .data = msg->data,
				      .tag = msg->tag};

	return scr_operate(fid, &post);
}

static ssize_t ep_tsendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	const struct fi_msg_tagged msg = {.msg_iov = iov,
					  .desc = desc,
					  .iov_count = count,
					  .tag = tag,
					  .context = context};

	return ep_tsendmsg(fid, &msg, scr_op_flags(fid, CRN_EP_TX));
}

static ssize_t ep_tsend(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, uint64_t tag, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};

	return ep_tsendv(fid, &iov, &desc, 1, dest_addr, tag, context);
}

static ssize_t ep_tsenddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, uint64_t tag,
			    void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct fi_msg_tagged msg = {.msg_iov = &iov,
					  .desc = &desc,
					  .iov_count = 1,
					  .tag = tag,
					  .context = context,
					  .data = data};

	return ep_tsendmsg(fid, &msg, scr_op_flags(fid, CRN_EP_TX) | FI_REMOTE_CQ_DATA);
}

static ssize_t tinject(struct fid_ep *fid, const void *buf, size_t len, uint64_t flags,
		       uint64_t data, uint64_t tag)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct scr_post post = {.call = SCR_TINJECT,
				      .iov = &iov,
				      .count = 1,
				      .flags = flags,
				      .data = data,
				      .tag = tag};

	return scr_operate(fid, &post);
}

static ssize_t ep_tinject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t dest_addr, uint64_t tag)
{
	return tinject(fid, buf, len, 0, 0, tag);
}

static ssize_t ep_tinjectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return tinject(fid, buf, len, FI_REMOTE_CQ_DATA, data, tag);
}

struct fi_ops_tagged scr_ep_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = ep_trecv,
	.recvv = ep_trecvv,
	.recvmsg = ep_trecvmsg,
	.send = ep_tsend,
	.sendv = ep_tsendv,
	.sendmsg = ep_tsendmsg,
	.inject = ep_tinject,
	.senddata = ep_tsenddata,
	.injectdata = ep_tinjectdata,
};
