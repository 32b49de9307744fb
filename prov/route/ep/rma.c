/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_rma(3) */
#include "ep.h"

typedef ssize_t (*rma_post)(struct rte_vc *vc, const struct fi_msg_rma *msg,
			    uint64_t flags);

static uint64_t rma_flags(struct fid_ep *ep)
{
	return rte_ep_of(ep)->ep.queues[CRN_EP_TX].op_flags;
}

static ssize_t rma_locked(struct fid_ep *fid, const struct fi_msg_rma *msg,
			  uint64_t flags, rma_post post)
{
	struct rte_ep *ep = rte_ep_of(fid);
	ssize_t ret = -FI_EOPBADSTATE;

	if (msg->iov_count > ep->tx_iov_limit)
		return -FI_EINVAL;
	crn_lock(rte_lock_of(ep));
	if (ep->state == RTE_EP_CLOSING)
		ret = -FI_ENOTCONN;
	else if (ep->state != RTE_EP_OPEN)
		ret = post(&ep->vc, msg, flags);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

/* One range, as long as the local buffer. */
struct rma_one {
	struct fi_rma_iov range;
	struct fi_msg_rma msg;
};

static inline void rma_range(struct rma_one *one, const struct iovec *iov, void **desc,
			     size_t count, uint64_t addr, uint64_t key, void *context)
{
	size_t i;

	one->range = (struct fi_rma_iov){.addr = addr, .key = key};
	for (i = 0; i < count; i++)
		one->range.len += iov[i].iov_len;
	one->msg = (struct fi_msg_rma){
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.rma_iov = &one->range,
		.rma_iov_count = 1,
		.context = context,
	};
}

/* ---- reads ---- */

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	return rma_locked(ep, msg, flags, rte_vc_read);
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
			 void *context)
{
	struct rma_one one;

	if (count > rte_ep_of(ep)->tx_iov_limit)
		return -FI_EINVAL;
	rma_range(&one, iov, desc, count, addr, key, context);
	return rma_readmsg(ep, &one.msg, rma_flags(ep) & ~RTE_VC_NOT_FOR_READS);
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};
	struct rma_one one;

	rma_range(&one, &iov, &desc, 1, addr, key, context);
	return rma_readmsg(ep, &one.msg, rma_flags(ep) & ~RTE_VC_NOT_FOR_READS);
}

/* ---- writes ---- */

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return rma_locked(ep, msg, flags, rte_vc_write);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			  void *context)
{
	struct rma_one one;

	if (count > rte_ep_of(ep)->tx_iov_limit)
		return -FI_EINVAL;
	rma_range(&one, iov, desc, count, addr, key, context);
	return rma_writemsg(ep, &one.msg, rma_flags(ep));
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	struct rma_one one;

	rma_range(&one, &iov, &desc, 1, addr, key, context);
	return rma_writemsg(ep, &one.msg, rma_flags(ep));
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			     uint64_t key, void *context)
{
	const struct iovec iov = {.iov_base = (void *)buf, .iov_len = len};
	struct rma_one one;

	rma_range(&one, &iov, &desc, 1, addr, key, context);
	one.msg.data = data;
	return rma_writemsg(ep, &one.msg, rma_flags(ep) | FI_REMOTE_CQ_DATA);
}

static ssize_t inject_write(struct fid_ep *fid, const void *buf, size_t len,
			    struct fi_rma_iov range, uint64_t flags, uint64_t data)
{
	struct rte_ep *ep = rte_ep_of(fid);
	ssize_t ret = -FI_EOPBADSTATE;

	crn_lock(rte_lock_of(ep));
	if (ep->state == RTE_EP_CLOSING)
		ret = -FI_ENOTCONN;
	else if (ep->state != RTE_EP_OPEN)
		ret = rte_vc_inject_write(&ep->vc, buf, len, range.addr, range.key, flags,
					  data);
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	const struct fi_rma_iov range = {.addr = addr, .key = key};

	return inject_write(ep, buf, len, range, 0, 0);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			      uint64_t key)
{
	const struct fi_rma_iov range = {.addr = addr, .key = key};

	return inject_write(ep, buf, len, range, FI_REMOTE_CQ_DATA, data);
}

struct fi_ops_rma rte_ep_rma = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
