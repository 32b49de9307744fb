/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3), of endpoints and shared receive contexts. */
#include "post.h"

static struct scr_post receive_of(const struct fi_msg *msg, uint64_t flags)
{
	return (struct scr_post){.call = SCR_RECV,
				 .iov = msg->msg_iov,
				 .desc = msg->desc,
				 .count = msg->iov_count,
				 .flags = flags,
				 .context = msg->context};
}

static struct fi_msg msg_of(const struct iovec *iov, void **desc, size_t count,
			    void *context)
{
	return (struct fi_msg){
		.msg_iov = iov, .desc = desc, .iov_count = count, .context = context};
}

static ssize_t ep_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	const struct scr_post post = receive_of(msg, flags);

	return scr_ep_receive(fid, &post);
}

static ssize_t ep_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			size_t count, fi_addr_t src_addr, void *context)
{
	const struct fi_msg msg = msg_of(iov, desc, count, context);

	return ep_recvmsg(fid, &msg, scr_op_flags(fid, CRN_EP_RX));
}

static ssize_t ep_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, void *context)
{
	const struct iovec iov = {buf, len};

	return ep_recvv(fid, &iov, &desc, 1, src_addr, context);
}

static ssize_t srx_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	const struct scr_post post = receive_of(msg, flags);

	return scr_srx_receive(fid, &post);
}

static ssize_t srx_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, void *context)
{
	const struct fi_msg msg = msg_of(iov, desc, count, context);

	return srx_recvmsg(fid, &msg,
			   crn_container_of(fid, struct scr_srx, fid)->op_flags);
}

static ssize_t srx_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	const struct iovec iov = {buf, len};

	return srx_recvv(fid, &iov, &desc, 1, src_addr, context);
}

static ssize_t ep_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	const struct scr_post post = {.call = SCR_SEND,
				      .iov = msg->msg_iov,
				      .desc = msg->desc,
				      .count = msg->iov_count,
				      .flags = flags,
				      .context = msg->context,
				      .data = msg->data};

	return scr_operate(fid, &post);
}

static ssize_t ep_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			size_t count, fi_addr_t dest_addr, void *context)
{
	const struct fi_msg msg = msg_of(iov, desc, count, context);

	return ep_sendmsg(fid, &msg, scr_op_flags(fid, CRN_EP_TX));
}

static ssize_t ep_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
		       fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};

	return ep_sendv(fid, &iov, &desc, 1, dest_addr, context);
}

static ssize_t ep_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			   uint64_t data, fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	struct fi_msg msg = msg_of(&iov, &desc, 1, context);

	msg.data = data;
	return ep_sendmsg(fid, &msg, scr_op_flags(fid, CRN_EP_TX) | FI_REMOTE_CQ_DATA);
}

static ssize_t inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t flags,
		      uint64_t data)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct scr_post post = {.call = SCR_INJECT,
				      .iov = &iov,
				      .count = 1,
				      .flags = flags,
				      .data = data};

	return scr_operate(fid, &post);
}

static ssize_t ep_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			     uint64_t data, fi_addr_t dest_addr)
{
	return inject(fid, buf, len, FI_REMOTE_CQ_DATA, data);
}

static ssize_t ep_inject(struct fid_ep *fid, const void *buf, size_t len,
			 fi_addr_t dest_addr)
{
	return inject(fid, buf, len, 0, 0);
}

struct fi_ops_msg scr_ep_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = ep_recv,
	.recvv = ep_recvv,
	.recvmsg = ep_recvmsg,
	.send = ep_send,
	.sendv = ep_sendv,
	.sendmsg = ep_sendmsg,
	.inject = ep_inject,
	.senddata = ep_senddata,
	.injectdata = ep_injectdata,
};

void scr_srx_msg_init(struct fi_ops_msg *ops)
{
	*ops = crn_nosys_msg;
	ops->recv = srx_recv;
	ops->recvv = srx_recvv;
	ops->recvmsg = srx_recvmsg;
}
