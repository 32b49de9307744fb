/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_msg(3): receives, of an endpoint or of a shared receive context. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "call/call.h"
#include "recv.h"

#define RECV_FLAGS (FI_COMPLETION | FI_MORE)

int rpr_rxq_init(struct rpr_rxq *rxq, size_t size, bool shared)
{
	size_t i;

	crn_list_init(&rxq->posted);
	crn_list_init(&rxq->free);
	crn_list_init(&rxq->waiting);
	rxq->shared = shared;
	rxq->recvs = calloc(size, sizeof(*rxq->recvs));
	if (!rxq->recvs)
		return -FI_ENOMEM;
	for (i = 0; i < size; i++)
		crn_list_add_tail(&rxq->free, &rxq->recvs[i].entry);
	return 0;
}

void rpr_rxq_fini(struct rpr_rxq *rxq)
{
	free(rxq->recvs);
	rxq->recvs = NULL;
}

/* Fills a free one; NULL: there is none. */
static struct rpr_recv *recv_fill(struct rpr_rxq *rxq, const struct fi_msg *msg,
				  uint64_t flags, int takes)
{
	struct crn_list *entry = crn_list_pop(&rxq->free);
	struct rpr_recv *recv;
	size_t i;

	if (!entry)
		return NULL;
	recv = crn_container_of(entry, struct rpr_recv, entry);
	recv->context = msg->context;
	recv->len = 0;
	for (i = 0; i < msg->iov_count; i++) {
		recv->iov[i] = msg->msg_iov[i];
		recv->desc[i] = msg->desc ? msg->desc[i] : NULL;
		recv->len += recv->iov[i].iov_len;
	}
	recv->iov_count = msg->iov_count;
	recv->flags = flags;
	recv->takes = takes;
	return recv;
}

ssize_t rpr_recv_post(struct rpr_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct rpr_recv *recv;

	if (ep->state == RPR_EP_DOWN && crn_list_empty(&ep->unmatched))
		return -FI_ENOTCONN;
	if (!crn_ep_begin(&ep->ep, CRN_EP_RX))
		return -FI_EAGAIN;
	recv = recv_fill(&ep->rxq, msg, flags, ep->takes);
	if (!recv) {
		crn_ep_abandon(&ep->ep, CRN_EP_RX);
		return -FI_EAGAIN;
	}
	crn_list_add_tail(&ep->rxq.posted, &recv->entry);
	if (!crn_list_empty(&ep->unmatched))
		rpr_match(ep);
	return 0;
}

static ssize_t recv_check(struct rpr_ep *ep, const struct fi_msg *msg)
{
	if (ep->srx || !ep->ep.queues[CRN_EP_RX].cq)
		return -FI_EOPBADSTATE;
	return msg->iov_count > ep->rx_iov_limit ? -FI_EINVAL : 0;
}

static ssize_t recv_locked(struct rpr_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	ssize_t ret = recv_check(ep, msg);

	if (ret)
		return ret;
	crn_lock(rpr_lock_of(ep));
	ret = rpr_recv_post(ep, msg, flags);
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

ssize_t rpr_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct rpr_ep *ep = rpr_ep_of(fid);

	return flags & ~RECV_FLAGS ? -FI_EBADFLAGS : recv_locked(ep, msg, flags);
}

ssize_t rpr_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
		  fi_addr_t src_addr, void *context)
{
	struct rpr_ep *ep = rpr_ep_of(fid);
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.context = context,
	};

	return recv_locked(ep, &msg, ep->ep.queues[CRN_EP_RX].op_flags);
}

ssize_t rpr_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
		 void *context)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};

	return rpr_recvv(ep, &iov, &desc, 1, src_addr, context);
}

/* A receive that is matched already is under way, and is not cancelled. */
static struct rpr_recv *recv_find(struct rpr_rxq *rxq, void *context)
{
	struct crn_list *entry;
	struct rpr_recv *recv;

	crn_list_for_each (entry, &rxq->posted) {
		recv = crn_container_of(entry, struct rpr_recv, entry);
		if (recv->context == context)
			return recv;
	}
	return NULL;
}

bool rpr_recv_cancel(struct rpr_ep *ep, void *context)
{
	struct rpr_recv *recv = ep->srx ? NULL : recv_find(&ep->rxq, context);

	if (!recv)
		return false;
	crn_list_del(&recv->entry);
	rpr_recv_failed(ep, recv, FI_ECANCELED, 0, 0, 0, 0);
	return true;
}

/* ---- shared receive contexts ---- */

static struct rpr_srx *srx_of(struct fid_ep *ep)
{
	return crn_container_of(ep, struct rpr_srx, fid);
}

static ssize_t srx_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct rpr_srx *srx = srx_of(fid);
	struct rpr_recv *recv;

	if (flags & ~RECV_FLAGS)
		return -FI_EBADFLAGS;
	if (msg->iov_count > RPR_IOV_LIMIT)
		return -FI_EINVAL;
	crn_lock(&srx->domain->cq.lock);
	recv = recv_fill(&srx->rxq, msg, flags, FI_CAIRN_RPC_RECV_ANY);
	if (recv) {
		crn_list_add_tail(&srx->rxq.posted, &recv->entry);
		rpr_match_shared(srx);
	}
	crn_unlock(&srx->domain->cq.lock);
	return recv ? 0 : -FI_EAGAIN;
}

static ssize_t srx_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			 size_t count, fi_addr_t src_addr, void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.context = context,
	};

	return srx_recvmsg(ep, &msg, srx_of(ep)->op_flags);
}

static ssize_t srx_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	const struct iovec iov = {.iov_base = buf, .iov_len = len};

	return srx_recvv(ep, &iov, &desc, 1, src_addr, context);
}

static int srx_close(struct fid *fid)
{
	struct rpr_srx *srx = crn_container_of(fid, struct rpr_srx, fid.fid);

	if (atomic_load(&srx->refs))
		return -FI_EBUSY;
	atomic_fetch_sub(&srx->domain->refs, 1);
	rpr_rxq_fini(&srx->rxq);
	free(srx);
	return 0;
}

static struct fi_ops srx_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = srx_close,
	.bind = crn_nosys_bind,
	.control = crn_nosys_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static int srx_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return -FI_ENOPROTOOPT;
}

static int srx_setopt(fid_t fid, int level, int optname, const void *optval,
		      size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

static struct fi_ops_ep srx_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = srx_getopt,
	.setopt = srx_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

/* A receive of a shared context belongs to nobody until it is matched: it has no queue
 * to report that it was cancelled, and waits for the close of the context. */
int rpr_srx_open(struct fid_domain *fid, struct fi_rx_attr *attr, struct fid_ep **srx_fid,
		 void *context)
{
	struct rpr_domain *domain = crn_container_of(fid, struct rpr_domain, fid);
	struct rpr_srx *srx = calloc(1, sizeof(*srx));
	const size_t size = attr && attr->size ? attr->size : rpr_params.credits;

	if (!srx)
		return -FI_ENOMEM;
	if (size > RPR_SRX_MAX || rpr_rxq_init(&srx->rxq, size, true)) {
		free(srx);
		return size > RPR_SRX_MAX ? -FI_EINVAL : -FI_ENOMEM;
	}
	srx->domain = domain;
	srx->op_flags = attr ? attr->op_flags : 0;
	atomic_fetch_add(&domain->refs, 1);
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &srx_fid_ops;
	srx->fid.ops = &srx_ops;
	srx->fid.cm = &crn_nosys_cm;
	srx->msg = crn_nosys_msg;
	srx->msg.recv = srx_recv;
	srx->msg.recvv = srx_recvv;
	srx->msg.recvmsg = srx_recvmsg;
	srx->fid.msg = &srx->msg;
	srx->fid.rma = &crn_nosys_rma;
	srx->fid.tagged = &crn_nosys_tagged;
	srx->fid.atomic = &crn_nosys_atomic;
	srx->fid.collective = &crn_nosys_collective;
	*srx_fid = &srx->fid;
	return 0;
}
