/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_rma(3) */
#include "post.h"

/* The forms without flags of their own. more: beside those of the endpoint. */
static ssize_t ep_rma(struct fid_ep *fid, enum scr_call call, const struct iovec *iov,
		      void **desc, size_t count, uint64_t more, uint64_t data,
		      uint64_t addr, uint64_t key, void *context)
{
	const struct scr_post post = {.call = call,
				      .iov = iov,
				      .desc = desc,
				      .count = count,
				      .flags = scr_op_flags(fid, CRN_EP_TX) | more,
				      .context = context,
				      .addr = addr,
				      .key = key,
				      .data = data};

	return scr_operate(fid, &post);
}

static ssize_t ep_inject_rma(struct fid_ep *fid, const void *buf, size_t len,
			     uint64_t flags, uint64_t data, uint64_t addr, uint64_t key)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct scr_post post = {.call = SCR_INJECT_WRITE,
				      .iov = &iov,
				      .count = 1,
				      .flags = flags,
				      .addr = addr,
				      .key = key,
				      .data = data};

	return scr_operate(fid, &post);
}

static ssize_t ep_rmamsg(struct fid_ep *fid, enum scr_call call,
			 const struct fi_msg_rma *msg, uint64_t flags)
{
	const struct scr_post post = {
		.call = call,
		.iov = msg->msg_iov,
		.desc = msg->desc,
		.count = msg->iov_count,
		.flags = flags,
		.context = msg->context,
		.addr = msg->rma_iov_count ? msg->rma_iov->addr : 0,
		.key = msg->rma_iov_count ? msg->rma_iov->key : 0,
		.data = msg->data,
	};

	return msg->rma_iov_count > 1 ? -FI_EINVAL : scr_operate(fid, &post);
}

static ssize_t ep_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			  uint64_t flags)
{
	return ep_rmamsg(fid, SCR_READ, msg, flags);
}

static ssize_t ep_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	return ep_rmamsg(fid, SCR_WRITE, msg, flags);
}

static ssize_t ep_readv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
			void *context)
{
	return ep_rma(fid, SCR_READ, iov, desc, count, 0, 0, addr, key, context);
}

static ssize_t ep_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = {buf, len};

	return ep_rma(fid, SCR_READ, &iov, &desc, 1, 0, 0, addr, key, context);
}

static ssize_t ep_writev(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			 void *context)
{
	return ep_rma(fid, SCR_WRITE, iov, desc, count, 0, 0, addr, key, context);
}

static ssize_t ep_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};

	return ep_rma(fid, SCR_WRITE, &iov, &desc, 1, 0, 0, addr, key, context);
}

static ssize_t ep_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			    uint64_t key, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};

	return ep_rma(fid, SCR_WRITE, &iov, &desc, 1, FI_REMOTE_CQ_DATA, data, addr, key,
		      context);
}

static ssize_t ep_inject_writedata(struct fid_ep *fid, const void *buf, size_t len,
				   uint64_t data, fi_addr_t dest_addr, uint64_t addr,
				   uint64_t key)
{
	return ep_inject_rma(fid, buf, len, FI_REMOTE_CQ_DATA, data, addr, key);
}

static ssize_t ep_inject_write(struct fid_ep *fid, const void *buf, size_t len,
			       fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return ep_inject_rma(fid, buf, len, 0, 0, addr, key);
}

struct fi_ops_rma scr_ep_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = ep_read,
	.readv = ep_readv,
	.readmsg = ep_readmsg,
	.write = ep_write,
	.writev = ep_writev,
	.writemsg = ep_writemsg,
	.inject = ep_inject_write,
	.writedata = ep_writedata,
	.injectdata = ep_inject_writedata,
};
