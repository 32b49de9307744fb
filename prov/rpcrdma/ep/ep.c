/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_endpoint(3): open, bind, enable, close. */
#include <stdlib.h>
#include <cairn/nosys.h>
#include "call/call.h"
#include "cm/cm.h"
#include "ep.h"
#include "recv.h"
#include "rpc/rpc.h"
#include "wrap/wrap.h"

static int ep_bind_srx(struct rpr_ep *ep, struct fid *bfid)
{
	struct rpr_srx *srx = crn_container_of(bfid, struct rpr_srx, fid.fid);

	if (ep->state != RPR_EP_OPEN)
		return -FI_EOPBADSTATE;
	if (ep->srx)
		return -FI_EINVAL;
	if (srx->domain != ep->domain)
		return -FI_EDOMAIN;
	/* Which receive is for which Call's Reply cannot be said there. */
	if (ep->mode == RPR_MODE_RPC)
		return -FI_EOPNOTSUPP;
	atomic_fetch_add(&srx->refs, 1);
	ep->srx = srx;
	return 0;
}

static int ep_bind_eq(struct rpr_ep *ep, struct fid *bfid, uint64_t flags)
{
	int ret = crn_lower_bind_eq(&ep->domain->fabric->lower, &ep->obj, &ep->lower->fid,
				    bfid, flags);

	return ret ? ret : crn_ep_bind(&ep->ep, bfid, flags);
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rpr_ep *ep = crn_container_of(fid, struct rpr_ep, fid.fid);

	switch (bfid->fclass) {
	case FI_CLASS_EQ:
		return ep_bind_eq(ep, bfid, flags);
	case FI_CLASS_SRX_CTX:
		return flags ? -FI_EBADFLAGS : ep_bind_srx(ep, bfid);
	default:
		return crn_ep_bind(&ep->ep, bfid, flags);
	}
}

/* May anybody sleep until one of the endpoint's operations is over? */
static bool ep_waited(const struct crn_ep *ep)
{
	int i;

	for (i = 0; i < CRN_EP_SIDES; i++) {
		if (ep->queues[i].cq && ep->queues[i].cq->wait.obj != FI_WAIT_NONE)
			return true;
	}
	for (i = 0; i < CRN_EP_COUNTERS; i++) {
		if (ep->cntrs[i] && ep->cntrs[i]->wait.obj != FI_WAIT_NONE)
			return true;
	}
	return false;
}

/* Who sleeps already has not armed a queue that was opened since. */
static void ep_wake(struct crn_ep *ep)
{
	int i;

	for (i = 0; i < CRN_EP_SIDES; i++) {
		if (ep->queues[i].cq)
			crn_wait_signal(&ep->queues[i].cq->wait);
	}
	for (i = 0; i < CRN_EP_COUNTERS; i++) {
		if (ep->cntrs[i])
			crn_wait_signal(&ep->cntrs[i]->wait);
	}
}

static int ep_enable_lower(struct rpr_ep *ep)
{
	struct fid_cq *cq;
	int ret = 0;

	if (!ep->bound) {
		ret = rpr_lower_queue(ep->domain, ep_waited(&ep->ep), &cq);
		if (!ret)
			ret = fi_ep_bind(ep->lower, &cq->fid, FI_TRANSMIT | FI_RECV);
		if (ret)
			return ret;
		ep->bound = true;
	}
	ret = fi_enable(ep->lower);
	if (!ret)
		ep_wake(&ep->ep);
	return ret;
}

static int ep_enable(struct rpr_ep *ep)
{
	int ret;

	/* Its receives could not be posted, or it had its connection. */
	if (ep->state == RPR_EP_DOWN)
		return -FI_EOPBADSTATE;
	if (ep->state != RPR_EP_OPEN)
		return 0;
	if (ep->wants_srx && !ep->srx)
		return -FI_EOPBADSTATE;
	ret = crn_ep_enable(&ep->ep);
	if (ret)
		return ret;
	ret = rpr_conn_make(ep);
	if (!ret)
		ret = crn_lower_opened(&ep->domain->fabric->lower, "enabled endpoint",
				       ep_enable_lower(ep));
	if (ret) {
		rpr_conn_free(ep);
		return ret;
	}
	crn_lock(rpr_lock_of(ep));
	ret = rpr_rx_start(ep);
	ep->state = ret ? RPR_EP_DOWN : RPR_EP_ENABLED;
	crn_unlock(rpr_lock_of(ep));
	return crn_lower_opened(&ep->domain->fabric->lower, "receives", ret);
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct rpr_ep *ep = crn_container_of(fid, struct rpr_ep, fid.fid);

	switch (command) {
	case FI_ENABLE:
		return ep_enable(ep);
	case FI_GETOPSFLAG:
	case FI_SETOPSFLAG:
		return crn_ep_ops_flags(&ep->ep, command, arg);
	default:
		return -FI_ENOSYS;
	}
}

/* Nothing is given to the lower endpoint from here on. */
static void ep_stop(struct rpr_ep *ep)
{
	crn_lock(rpr_lock_of(ep));
	ep->stopped = true;
	rpr_down(ep);
	crn_unlock(rpr_lock_of(ep));
}

/* The lower endpoint is closed: what it still had for this one is in its queue. */
static void ep_leave(struct rpr_ep *ep)
{
	struct crn_lock *lock = rpr_lock_of(ep);

	crn_lower_cq_drain(&ep->domain->cq);
	crn_lock(lock);
	rpr_wrap_rma_lost(ep);
	/* Messages that wait for other receives go with their slots. */
	while (crn_list_pop(&ep->unmatched))
		;
	rpr_flush(ep);
	crn_list_del(&ep->busy);
	crn_list_del(&ep->deferred);
	crn_list_del(&ep->waiting);
	crn_unlock(lock);
}

static void ep_free(struct rpr_ep *ep)
{
	if (ep->srx)
		atomic_fetch_sub(&ep->srx->refs, 1);
	crn_ep_fini(&ep->ep);
	rpr_conn_free(ep);
	rpr_rxq_fini(&ep->rxq);
	atomic_fetch_sub(&ep->domain->refs, 1);
	free(ep);
}

static int ep_close(struct fid *fid)
{
	struct rpr_ep *ep = crn_container_of(fid, struct rpr_ep, fid.fid);
	int ret;

	ep_stop(ep);
	ret = crn_lower_close(&ep->domain->fabric->lower, &ep->obj, &ep->lower->fid);
	if (ret)
		return ret;
	ep_leave(ep);
	ep_free(ep);
	return 0;
}

static struct fi_ops ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = rpr_ep_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static void ep_lists(struct rpr_ep *ep)
{
	struct crn_list *lists[] = {
		&ep->queue,	&ep->busy,	 &ep->deferred,	     &ep->unposted,
		&ep->stalled,	&ep->calls_free, &ep->calls_waiting, &ep->serves_free,
		&ep->held,	&ep->waiting,	 &ep->unmatched,     &ep->matched,
		&ep->rmas_free,
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(lists); i++)
		crn_list_init(lists[i]);
}

static void ep_defaults(struct rpr_ep *ep, const struct fi_info *info)
{
	ep->calls_max = (uint32_t)CRN_MIN(info->tx_attr->size, rpr_params.credits);
	ep->grant = (uint32_t)CRN_MIN(info->rx_attr->size, rpr_params.credits);
	ep->tx_iov_limit = CRN_MIN(info->tx_attr->iov_limit, (size_t)RPR_IOV_LIMIT);
	ep->rx_iov_limit = CRN_MIN(info->rx_attr->iov_limit, (size_t)RPR_IOV_LIMIT);
	ep->wants_srx = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	ep->credit = 1;
	/* Until the peer has said otherwise: what it takes for sure, and what this end
	 * lets it send, for programs post their receives before. */
	ep->send_inline = RPR_INLINE_MIN;
	ep->recv_inline = rpr_params.inline_size;
	ep->copy = rpr_params.copy;
	ep->reply_size = rpr_params.reply_size;
	ep->max_msg = info->ep_attr->max_msg_size;
	ep->chunks =
		ep->domain->chunks ? FI_CAIRN_RPC_CHUNKS_LINUX : FI_CAIRN_RPC_CHUNKS_NONE;
	/* As good as any, and not the same after a restart. */
	ep->next_xid = (uint32_t)(uintptr_t)ep ^ (uint32_t)crn_now_ms();
}

static void ep_modes(struct rpr_ep *ep)
{
	const bool rpc = ep->mode == RPR_MODE_RPC;

	ep->ops = rpc ? &rpr_rpc_mode : &rpr_wrap_mode;
	ep->fid.msg = rpc ? &rpr_rpc_msg : &rpr_wrap_msg;
	ep->fid.rma = rpc || !(ep->ep.caps & FI_RMA) ? &crn_nosys_rma : &rpr_wrap_rma;
	ep->ep.queues[CRN_EP_TX].known_flags = FI_COMPLETION | FI_INJECT |
					       FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
					       FI_DELIVERY_COMPLETE | FI_MORE;
	ep->ep.queues[CRN_EP_RX].known_flags = FI_COMPLETION | FI_MORE;
}

/* What a connection request said, if it is one that is answered. */
static int ep_request(struct rpr_ep *ep, const struct fi_info *info)
{
	struct rpr_request request;

	if (!info->handle)
		return 0;
	if (rpr_request_find(ep->domain->fabric, info->handle, &request))
		rpr_cm_agree(ep, &request.priv, request.marker);
	else if (!rpr_request_pep(ep->domain->fabric, info->handle))
		return -FI_EINVAL;
	return 0;
}

static int ep_open_lower(struct rpr_ep *ep, const struct fi_info *info)
{
	struct rpr_fabric *fabric = ep->domain->fabric;
	struct rpr_pep *pep = rpr_request_pep(fabric, info->handle);
	struct fi_info *lower;
	int ret = rpr_info_down(fabric, info, &lower);

	if (ret)
		return ret;
	if (pep)
		lower->handle = &pep->lower->fid;
	ret = crn_lower_opened(&fabric->lower, "endpoint",
			       fi_endpoint(ep->domain->lower, lower, &ep->lower,
					   &ep->obj));
	ep->lower_inject = lower->tx_attr->inject_size;
	fi_freeinfo(lower);
	if (!ret)
		rpr_cm_raw(&ep->lower->fid, ep->mode);
	return ret;
}

int rpr_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ep_fid,
		 void *context)
{
	struct rpr_domain *domain = crn_container_of(fid, struct rpr_domain, fid);
	struct rpr_ep *ep = calloc(1, sizeof(*ep));
	struct rpr_request request;
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	ep->domain = domain;
	ep->mode = rpr_info_mode(info);
	ep_lists(ep);
	crn_ep_init(&ep->ep, &domain->fabric->lower.fid, fid, info);
	ep_defaults(ep, info);
	ep_modes(ep);
	ret = rpr_rxq_init(&ep->rxq, info->rx_attr->size, false);
	if (ret)
		goto err_free;
	ret = ep_request(ep, info);
	if (!ret)
		ret = ep_open_lower(ep, info);
	if (ret)
		goto err_fini;
	/* Without the lower endpoint it could be asked for again. */
	rpr_request_take(domain->fabric, info->handle, &request);
	atomic_fetch_add(&domain->refs, 1);
	crn_lock(rpr_lock_of(ep));
	ep->number = domain->endpoints++;
	crn_unlock(rpr_lock_of(ep));
	ep->obj.fid = &ep->fid.fid;
	ep->obj.event = rpr_ep_event;
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &rpr_ep_ops;
	ep->fid.cm = &rpr_ep_cm;
	ep->fid.tagged = &crn_nosys_tagged;
	ep->fid.atomic = &crn_nosys_atomic;
	ep->fid.collective = &crn_nosys_collective;
	*ep_fid = &ep->fid;
	return 0;
err_fini:
	rpr_rxq_fini(&ep->rxq);
err_free:
	free(ep);
	return ret;
}
