/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that post operations and receives. */
#include <stdlib.h>
#include <string.h>
#include "world.h"

#define TX_FLAGS                                                                 \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA | FI_FENCE | FI_MORE)
#define RX_FLAGS (FI_COMPLETION | FI_MORE)

/* What the forms of a call have in common. */
struct post {
	enum scr_call call;
	const struct iovec *iov;
	void **desc;
	size_t count;
	uint64_t flags;
	void *context;
	uint64_t addr, key, data;
};

static struct scr_ep *ep_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct scr_ep, fid);
}

static size_t total(const struct iovec *iov, size_t count)
{
	size_t i, len = 0;

	for (i = 0; i < count; i++)
		len += iov[i].iov_len;
	return len;
}

static int enter(struct fid_ep *fid, const struct post *post)
{
	const struct scr_record record = {
		.call = post->call,
		.fid = &fid->fid,
		.flags = post->flags,
		.context = post->context,
		.len = total(post->iov, post->count),
		.addr = post->addr,
		.key = post->key,
		.data = post->data,
	};

	return scr_enter(&record);
}

static struct scr_work *work_new(const struct post *post)
{
	struct scr_work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	crn_list_init(&work->entry);
	crn_list_init(&work->mine);
	crn_list_init(&work->held.entry);
	work->op = post->call;
	work->context = post->context;
	work->flags = post->flags;
	work->iov_count = post->count;
	if (post->count)
		memcpy(work->iov, post->iov, post->count * sizeof(*post->iov));
	work->len = total(post->iov, post->count);
	work->addr = post->addr;
	work->key = post->key;
	work->data = post->data;
	return work;
}

/* ---- receives ---- */

static ssize_t add_receive(struct scr_rx *rx, struct scr_ep *ep, struct scr_work *work)
{
	if (rx->count >= rx->size || (ep && !crn_ep_begin(&ep->ep, CRN_EP_RX)))
		return -FI_EAGAIN;
	work->ep = ep;
	work->comp_flags = FI_RECV | FI_MSG;
	crn_list_add_tail(&rx->posted, &work->entry);
	if (ep)
		crn_list_add_tail(&ep->works, &work->mine);
	rx->count++;
	return 0;
}

static void retry_all(struct scr_srx *srx)
{
	struct crn_list *pos;

	crn_list_for_each (pos, &srx->eps)
		scr_work_retry(crn_container_of(pos, struct scr_ep, srx_entry));
}

static ssize_t receive(struct fid_ep *fid, struct scr_domain *domain, struct scr_ep *ep,
		       struct scr_srx *srx, const struct post *post)
{
	struct scr_work *work;
	ssize_t ret = enter(fid, post);

	if (ret)
		return ret;
	if (post->count > SCR_IOV_LIMIT)
		return -FI_EINVAL;
	if (post->flags & ~RX_FLAGS)
		return -FI_EBADFLAGS;
	ret = scr_mr_local(domain, post->iov, post->desc, post->count, FI_RECV);
	if (ret)
		return ret;
	work = work_new(post);
	if (!work)
		return -FI_ENOMEM;
	scr_lock();
	if (ep && ep->state == SCR_SHUT)
		ret = -FI_ESHUTDOWN;
	else
		ret = add_receive(srx ? &srx->rx : &ep->own_rx, ep, work);
	if (ret)
		scr_work_free(work);
	else if (srx)
		retry_all(srx);
	else
		scr_work_retry(ep);
	scr_unlock();
	return ret;
}

static ssize_t ep_receive(struct fid_ep *fid, const struct post *post)
{
	struct scr_ep *ep = ep_of(fid);

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	return ep->srx ? -FI_EOPNOTSUPP : receive(fid, ep->domain, ep, NULL, post);
}

static ssize_t ep_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	const struct post post = {.call = SCR_RECV,
				  .iov = msg->msg_iov,
				  .desc = msg->desc,
				  .count = msg->iov_count,
				  .flags = flags,
				  .context = msg->context};

	return ep_receive(fid, &post);
}

static ssize_t ep_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			size_t count, fi_addr_t src_addr, void *context)
{
	const struct post post = {.call = SCR_RECV,
				  .iov = iov,
				  .desc = desc,
				  .count = count,
				  .flags = ep_of(fid)->ep.queues[CRN_EP_RX].op_flags,
				  .context = context};

	return ep_receive(fid, &post);
}

static ssize_t ep_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, void *context)
{
	const struct iovec iov = {buf, len};

	return ep_recvv(fid, &iov, &desc, 1, src_addr, context);
}

static struct scr_srx *srx_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct scr_srx, fid);
}

static ssize_t srx_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	const struct post post = {.call = SCR_RECV,
				  .iov = msg->msg_iov,
				  .desc = msg->desc,
				  .count = msg->iov_count,
				  .flags = flags,
				  .context = msg->context};

	return receive(fid, srx_of(fid)->domain, NULL, srx_of(fid), &post);
}

static ssize_t srx_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, void *context)
{
	const struct post post = {.call = SCR_RECV,
				  .iov = iov,
				  .desc = desc,
				  .count = count,
				  .flags = srx_of(fid)->op_flags,
				  .context = context};

	return receive(fid, srx_of(fid)->domain, NULL, srx_of(fid), &post);
}

static ssize_t srx_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	const struct iovec iov = {buf, len};

	return srx_recvv(fid, &iov, &desc, 1, src_addr, context);
}

/* ---- operations ---- */

static const struct {
	uint64_t caps; /* all needed */
	uint64_t comp_flags;
	uint64_t access; /* to the buffers, of FI_MR_LOCAL */
} kinds[SCR_CALLS] = {
	[SCR_SEND] = {FI_MSG | FI_SEND, FI_SEND | FI_MSG, FI_SEND},
	[SCR_INJECT] = {FI_MSG | FI_SEND, FI_SEND | FI_MSG, 0},
	[SCR_READ] = {FI_RMA | FI_READ, FI_READ | FI_RMA, FI_READ},
	[SCR_WRITE] = {FI_RMA | FI_WRITE, FI_WRITE | FI_RMA, FI_WRITE},
	[SCR_INJECT_WRITE] = {FI_RMA | FI_WRITE, FI_WRITE | FI_RMA, 0},
};

static bool is_inject(const struct post *post)
{
	return post->call == SCR_INJECT || post->call == SCR_INJECT_WRITE ||
	       (post->flags & FI_INJECT);
}

static ssize_t check(const struct scr_ep *ep, const struct post *post)
{
	const size_t len = total(post->iov, post->count);

	if (!ep->ep.enabled)
		return -FI_EOPBADSTATE;
	if ((ep->ep.caps & kinds[post->call].caps) != kinds[post->call].caps)
		return -FI_EOPNOTSUPP;
	if (post->count > SCR_IOV_LIMIT)
		return -FI_EINVAL;
	if (post->flags & ~TX_FLAGS)
		return -FI_EBADFLAGS;
	if (len > ep->info->ep_attr->max_msg_size)
		return -FI_EMSGSIZE;
	if (is_inject(post))
		return len > ep->info->tx_attr->inject_size ? -FI_EMSGSIZE : 0;
	return scr_mr_local(ep->domain, post->iov, post->desc, post->count,
			    kinds[post->call].access);
}

/* Injected data is the application's again when the call returns. */
static int inject(struct scr_work *work)
{
	size_t i, at = 0;

	work->copy = malloc(work->len + 1);
	if (!work->copy)
		return -FI_ENOMEM;
	for (i = 0; i < work->iov_count; i++) {
		if (work->iov[i].iov_len)
			memcpy((char *)work->copy + at, work->iov[i].iov_base,
			       work->iov[i].iov_len);
		at += work->iov[i].iov_len;
	}
	work->iov[0] = (struct iovec){work->copy, work->len};
	work->iov_count = 1;
	return 0;
}

static struct scr_work *operation_new(const struct post *post)
{
	const struct post notice = {.call = SCR_RECV};
	struct scr_work *work = work_new(post);

	if (!work)
		return NULL;
	work->comp_flags = kinds[post->call].comp_flags;
	work->silent = post->call == SCR_INJECT || post->call == SCR_INJECT_WRITE;
	if (post->call == SCR_INJECT)
		work->op = SCR_SEND;
	if (post->call == SCR_INJECT_WRITE)
		work->op = SCR_WRITE;
	if (is_inject(post) && inject(work))
		goto err;
	if (work->op == SCR_WRITE && (post->flags & FI_REMOTE_CQ_DATA)) {
		work->notice = work_new(&notice);
		if (!work->notice)
			goto err;
	}
	return work;
err:
	scr_work_free(work);
	return NULL;
}

static ssize_t start(struct scr_ep *ep, struct scr_work *work)
{
	if (ep->state != SCR_CONNECTED)
		return ep->state == SCR_SHUT ? -FI_ESHUTDOWN : -FI_ENOTCONN;
	if (ep->tx_count >= ep->info->tx_attr->size || !crn_ep_begin(&ep->ep, CRN_EP_TX))
		return -FI_EAGAIN;
	ep->tx_count++;
	work->ep = ep;
	crn_list_add_tail(&ep->works, &work->mine);
	scr_work_start(work);
	return 0;
}

static ssize_t operate(struct fid_ep *fid, const struct post *post)
{
	struct scr_ep *ep = ep_of(fid);
	struct scr_work *work;
	ssize_t ret = enter(fid, post);

	if (!ret)
		ret = check(ep, post);
	if (ret)
		return ret;
	work = operation_new(post);
	if (!work)
		return -FI_ENOMEM;
	scr_lock();
	ret = start(ep, work);
	if (ret)
		scr_work_free(work);
	scr_unlock();
	return ret;
}

static uint64_t op_flags(struct fid_ep *fid)
{
	return ep_of(fid)->ep.queues[CRN_EP_TX].op_flags;
}

static ssize_t ep_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	const struct post post = {.call = SCR_SEND,
				  .iov = msg->msg_iov,
				  .desc = msg->desc,
				  .count = msg->iov_count,
				  .flags = flags,
				  .context = msg->context,
				  .data = msg->data};

	return operate(fid, &post);
}

static ssize_t ep_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc,
			size_t count, fi_addr_t dest_addr, void *context)
{
	const struct post post = {.call = SCR_SEND,
				  .iov = iov,
				  .desc = desc,
				  .count = count,
				  .flags = op_flags(fid),
				  .context = context};

	return operate(fid, &post);
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
	const struct post post = {.call = SCR_SEND,
				  .iov = &iov,
				  .desc = &desc,
				  .count = 1,
				  .flags = op_flags(fid) | FI_REMOTE_CQ_DATA,
				  .context = context,
				  .data = data};

	return operate(fid, &post);
}

static ssize_t ep_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			     uint64_t data, fi_addr_t dest_addr)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct post post = {.call = SCR_INJECT,
				  .iov = &iov,
				  .count = 1,
				  .flags = FI_REMOTE_CQ_DATA,
				  .data = data};

	return operate(fid, &post);
}

static ssize_t ep_inject(struct fid_ep *fid, const void *buf, size_t len,
			 fi_addr_t dest_addr)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct post post = {.call = SCR_INJECT, .iov = &iov, .count = 1};

	return operate(fid, &post);
}

static ssize_t ep_rmamsg(struct fid_ep *fid, enum scr_call call,
			 const struct fi_msg_rma *msg, uint64_t flags)
{
	const struct post post = {
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

	return msg->rma_iov_count > 1 ? -FI_EINVAL : operate(fid, &post);
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
	const struct post post = {.call = SCR_READ,
				  .iov = iov,
				  .desc = desc,
				  .count = count,
				  .flags = op_flags(fid),
				  .context = context,
				  .addr = addr,
				  .key = key};

	return operate(fid, &post);
}

static ssize_t ep_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
		       fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = {buf, len};

	return ep_readv(fid, &iov, &desc, 1, src_addr, addr, key, context);
}

static ssize_t ep_writev(struct fid_ep *fid, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			 void *context)
{
	const struct post post = {.call = SCR_WRITE,
				  .iov = iov,
				  .desc = desc,
				  .count = count,
				  .flags = op_flags(fid),
				  .context = context,
				  .addr = addr,
				  .key = key};

	return operate(fid, &post);
}

static ssize_t ep_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};

	return ep_writev(fid, &iov, &desc, 1, dest_addr, addr, key, context);
}

static ssize_t ep_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			    uint64_t key, void *context)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct post post = {.call = SCR_WRITE,
				  .iov = &iov,
				  .desc = &desc,
				  .count = 1,
				  .flags = op_flags(fid) | FI_REMOTE_CQ_DATA,
				  .context = context,
				  .addr = addr,
				  .key = key,
				  .data = data};

	return operate(fid, &post);
}

static ssize_t ep_inject_writedata(struct fid_ep *fid, const void *buf, size_t len,
				   uint64_t data, fi_addr_t dest_addr, uint64_t addr,
				   uint64_t key)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct post post = {.call = SCR_INJECT_WRITE,
				  .iov = &iov,
				  .count = 1,
				  .flags = FI_REMOTE_CQ_DATA,
				  .addr = addr,
				  .key = key,
				  .data = data};

	return operate(fid, &post);
}

static ssize_t ep_inject_write(struct fid_ep *fid, const void *buf, size_t len,
			       fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	const struct iovec iov = {(void *)(uintptr_t)buf, len};
	const struct post post = {.call = SCR_INJECT_WRITE,
				  .iov = &iov,
				  .count = 1,
				  .addr = addr,
				  .key = key};

	return operate(fid, &post);
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
