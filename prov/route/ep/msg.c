/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3) */
#include "ep.h"

static uint64_t msg_flags(struct fid_ep *ep, enum crn_ep_side side)
{
	return rte_ep_of(ep)->ep.queues[side].op_flags;
}

/* ---- receives ---- */

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct rte_ep *ep = rte_ep_of(fid);
	ssize_t ret = -FI_EOPBADSTATE;

	if (msg->iov_count > ep->rx_iov_limit)
		return -FI_EINVAL;
	crn_lock(rte_lock_of(ep));
	if (ep->state != RTE_EP_OPEN && ep->ep.queues[CRN_EP_RX].cq)
		ret = rte_vc_recv(&ep->vc, msg, flags);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.context = context,
	};

	return msg_recvmsg(ep, &msg, msg_flags(ep, CRN_EP_RX));
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};

	return msg_recvv(ep, &iov, &desc, 1, src_addr, context);
}

/* ---- sends ---- */

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct rte_ep *ep = rte_ep_of(fid);
	ssize_t ret = -FI_EOPBADSTATE;

	if (msg->iov_count > ep->tx_iov_limit)
		return -FI_EINVAL;
	crn_lock(rte_lock_of(ep));
	if (ep->state == RTE_EP_CLOSING)
		ret = -FI_ENOTCONN;
	else if (ep->state != RTE_EP_OPEN)
		ret = rte_vc_send(&ep->vc, msg, flags);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.context = context,
	};

	return msg_sendmsg(ep, &msg, msg_flags(ep, CRN_EP_TX));
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};

	return msg_sendv(ep, &iov, &desc, 1, dest_addr, context);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.context = context,
		.data = data,
	};

	return msg_sendmsg(ep, &msg, msg_flags(ep, CRN_EP_TX) | FI_REMOTE_CQ_DATA);
}

static ssize_t inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t flags,
		      uint64_t data)
{
	struct rte_ep *ep = rte_ep_of(fid);
	ssize_t ret = -FI_EOPBADSTATE;

	crn_lock(rte_lock_of(ep));
	if (ep->state == RTE_EP_CLOSING)
		ret = -FI_ENOTCONN;
	else if (ep->state != RTE_EP_OPEN)
		ret = rte_vc_inject(&ep->vc, buf, len, flags, data);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr)
{
	return inject(ep, buf, len, 0, 0);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr)
{
	return inject(ep, buf, len, FI_REMOTE_CQ_DATA, data);
}

struct fi_ops_msg rte_ep_msg = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};
