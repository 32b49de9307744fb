/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints as objects: opening, enabling, closing. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "cq/cq.h"
#include "dgram/dgram.h"
#include "persist/persist.h"
#include "qp/qp.h"
#include "xfer/xfer.h"
#include "ep.h"
#include "internal.h"

/*
 * fi_close(3) and ofi_rxm require that every posted operation is in the completion
 * queue when fi_close returns. Memory for that is allocated before anything else
 * changes.
 */
static int pvb_ep_flush(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	uint64_t deadline;
	int ret;

	if (!qp->ibv)
		return 0;
	ret = pvb_cq_prepare_drain(qp->sq.cq);
	if (!ret)
		ret = pvb_cq_prepare_drain(qp->rq.cq);
	if (ret)
		return ret;
	pvb_conn_error(ep);
	/* Does not wait for a device that was removed. */
	pvb_async_progress(ep->domain);
	deadline = crn_now_ms();
	if (!pvb_removal_end(qp->sq.cq) || !pvb_removal_end(qp->rq.cq)) {
		deadline += (uint64_t)pvb_params.close_timeout;
		pvb_tx_close(ep);
	}
	pvb_cq_drain(qp->sq.cq, &qp->sq, deadline);
	pvb_cq_drain(qp->rq.cq, &qp->rq, deadline);
	if (ep->qp.srx)
		pvb_srx_drain(qp, deadline);
	return 0;
}

static void pvb_ep_end_cm(struct pvb_ep *ep)
{
	struct pvb_connreq *req = ep->conn.req;
	struct pvb_eq *eq = req ? req->eq : ep->eq;

	if (!eq) {
		if (req) /* its queue was closed, and it was bound to no other */
			pvb_request_end(req);
		return;
	}
	pthread_mutex_lock(&eq->cm_lock);
	pvb_keepalive_del(ep);
	pvb_control_conn_end(ep);
	if (req)
		pvb_connreq_destroy(req);
	else if (ep->conn.id)
		rdma_destroy_id(ep->conn.id);
	crn_eq_forget(&eq->eq, &ep->fid.fid);
	pthread_mutex_unlock(&eq->cm_lock);
	if (req)
		atomic_fetch_sub(&eq->refs, 1);
}

static void pvb_ep_free(struct pvb_ep *ep)
{
	crn_lock_fini(&ep->qp.tx_lock);
	crn_lock_fini(&ep->qp.rx_lock);
	pvb_cm_forget(ep);
	free(ep);
}

static int pvb_ep_close(struct fid *fid)
{
	struct pvb_ep *ep = pvb_ep_from(fid);
	struct pvb_qp *qp = &ep->qp;
	int ret;

	if (pvb_inherited(ep->domain->fabric))
		return 0;
	if (ep->dgram && atomic_load(&ep->dgram->mcs.open))
		return -FI_EBUSY;
	pvb_stats_log(ep);
	ret = pvb_ep_flush(ep);
	if (ret)
		return ret;
	pvb_ep_end_cm(ep);
	pvb_ep_destroy_qp(ep);
	pvb_dgram_close(ep);
	if (ep->eq)
		atomic_fetch_sub(&ep->eq->refs, 1);
	pvb_replay_end(ep);
	pvb_ep_detach(&qp->sq);
	pvb_ep_detach(&qp->rq);
	if (ep->qp.srx)
		atomic_fetch_sub(&ep->qp.srx->refs, 1);
	atomic_fetch_sub(&ep->domain->refs, 1);
	pvb_ep_free(ep);
	return 0;
}

static int pvb_ep_enable(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	if (ep->conn.state != PVB_CONN_NEW)
		return 0;
	if (!ep->eq && !ep->dgram)
		return -FI_ENOEQ;
	if (ep->dgram && !ep->dgram->av)
		return -FI_ENOAV;
	if (pvb_removed(ep->domain))
		return -FI_ENODEV;
	if (ep->attr.rx_shared && !ep->qp.srx)
		return -FI_EOPBADSTATE;
	/* A queue pair has two queues; one that the capabilities never use borrows the
	 * other's. */
	if (!qp->sq.cq && qp->rq.cq && !(ep->attr.caps & (FI_SEND | FI_READ | FI_WRITE)))
		pvb_ep_attach(&qp->sq, qp->rq.cq);
	if (!qp->rq.cq && qp->sq.cq && !(ep->attr.caps & FI_RECV))
		pvb_ep_attach(&qp->rq, qp->sq.cq);
	if (!qp->sq.cq || !qp->rq.cq)
		return -FI_ENOCQ;
	return pvb_removal_ret(ep->domain, pvb_ep_create_qp(ep));
}

void pvb_ep_defaults(struct pvb_ep *ep)
{
	const bool no_comp = ep->tx_selective && !(ep->tx_flags & FI_COMPLETION);
	const bool no_recv_comp = ep->rx_selective && !(ep->rx_flags & FI_COMPLETION);
	const bool plain =
		!no_comp && !(ep->tx_flags & PVB_NOT_FOR_READS) && !ep->fence_writes;

	ep->fast_max_len = plain ? ep->max_msg : 0;
	ep->fast_recv_len = ep->qp.rq.plain_grh && !no_recv_comp ? UINT32_MAX : 0;
}

/* FI_GETOPSFLAG, FI_SETOPSFLAG: FI_TRANSMIT or FI_RECV in *flags says whose defaults. */
static int pvb_ep_ops_flags(struct pvb_ep *ep, bool set, uint64_t *flags)
{
	const uint64_t side = *flags & (FI_TRANSMIT | FI_RECV);
	uint64_t *own = side == FI_TRANSMIT ? &ep->tx_flags : &ep->rx_flags;
	const uint64_t groups = ep->attr.caps & FI_MULTICAST;
	const uint64_t known =
		side == FI_TRANSMIT ? PVB_TX_OP_FLAGS | groups : PVB_RX_OP_FLAGS;

	if (side != FI_TRANSMIT && side != FI_RECV)
		return -FI_EINVAL;
	if (!set) {
		*flags = *own;
		return 0;
	}
	if (*flags & ~(side | known))
		return -FI_EBADFLAGS;
	*own = *flags & known;
	pvb_ep_defaults(ep);
	return 0;
}

static int pvb_ep_control(struct fid *fid, int command, void *arg)
{
	struct pvb_ep *ep = pvb_ep_from(fid);

	switch (command) {
	case FI_ENABLE:
		return pvb_ep_enable(ep);
	case FI_GETOPSFLAG:
	case FI_SETOPSFLAG:
		return pvb_ep_ops_flags(ep, command == FI_SETOPSFLAG, arg);
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops pvb_ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = pvb_ep_close,
	.bind = pvb_ep_bind,
	.control = pvb_ep_control,
	.ops_open = pvb_stats_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

static struct fi_ops_ep pvb_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = crn_nosys_cancel,
	.getopt = pvb_ep_getopt,
	.setopt = pvb_ep_setopt,
	.tx_ctx = crn_nosys_tx_ctx,
	.rx_ctx = crn_nosys_rx_ctx,
	.rx_size_left = crn_nosys_rx_size_left,
	.tx_size_left = crn_nosys_tx_size_left,
};

/* Sizes of an info that a program may have made itself: 0 is the default, too much an
 * error. */
static int pvb_ep_sizes(struct pvb_ep *ep, const struct fi_info *info)
{
	/* A send queue has one entry more than it offers: the marker of pvb_tx_close. */
	const size_t most = (size_t)ep->domain->attr.max_qp_wr - 1;
	const struct fi_tx_attr *tx = info->tx_attr;
	const struct fi_rx_attr *rx = info->rx_attr;
	const size_t entries = pvb_tx_entries(info->caps, tx->op_flags);
	const size_t tx_size =
		tx->size ? tx->size : CRN_MIN(pvb_params.tx_size, most / entries);
	const size_t rx_size = rx->size ? rx->size : CRN_MIN(pvb_params.rx_size, most);

	if (tx_size > most / entries || rx_size > most || tx->iov_limit > PVB_IOV_LIMIT ||
	    rx->iov_limit > PVB_IOV_LIMIT || tx->inject_size > PVB_INJECT_LIMIT)
		return -FI_EINVAL;
	ep->attr.tx_size = (uint32_t)tx_size;
	ep->attr.rx_size = (uint32_t)rx_size;
	ep->attr.tx_entries = (uint8_t)entries;
	ep->attr.tx_iov_limit = (uint8_t)CRN_MAX(tx->iov_limit, (size_t)1);
	ep->attr.rx_iov_limit = (uint8_t)CRN_MAX(rx->iov_limit, (size_t)1);
	ep->inject_size = tx->inject_size;
	ep->max_msg = UINT32_MAX;
	if (info->ep_attr->max_msg_size)
		ep->max_msg = CRN_MIN(info->ep_attr->max_msg_size, ep->max_msg);
	return 0;
}

static int pvb_ep_addrs(struct pvb_ep *ep, const struct fi_info *info)
{
	int ret = 0;

	ep->attr.addr_format = info->addr_format;
	if (info->src_addr)
		ret = pvb_copy_src(info->addr_format, info->src_addr, info->src_addrlen,
				   &ep->attr.src);
	if (ret || !info->dest_addr)
		return ret;
	ep->attr.dest = crn_addr_dup(info->dest_addr);
	return ep->attr.dest ? 0 : -FI_ENOMEM;
}

static int pvb_ep_attr(struct pvb_ep *ep, const struct fi_info *info)
{
	const uint64_t fenced = FI_ORDER_WAR | FI_ORDER_SAR | FI_ORDER_RMA_WAR;
	const struct fi_tx_attr *tx = info->tx_attr;
	int ret;

	if (!tx || !info->rx_attr || !info->ep_attr ||
	    (info->ep_attr->type != FI_EP_MSG && info->ep_attr->type != FI_EP_DGRAM))
		return -FI_EINVAL;
	ret = pvb_ep_sizes(ep, info);
	if (ret)
		return ret;
	ep->attr.caps = info->caps;
	ep->attr.rx_shared = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	ep->attr.writes_ordered = tx->msg_order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW);
	ep->attr.tclass = tx->tclass;
	if (!(tx->tclass & FI_TC_DSCP) && info->domain_attr)
		ep->attr.tclass = info->domain_attr->tclass;
	ep->tx_flags = tx->op_flags;
	ep->rx_flags = info->rx_attr->op_flags;
	ep->fence_writes = tx->msg_order & fenced;
	return info->ep_attr->type == FI_EP_DGRAM ? pvb_dgram_open(ep, info)
						  : pvb_ep_addrs(ep, info);
}

/* The request's events stay its own until it is accepted: the endpoint is not whole yet.
 */
static int pvb_ep_take_request(struct pvb_ep *ep, struct pvb_connreq *req)
{
	if (strcmp(ibv_get_device_name(req->id->verbs->device),
		   pvb_domain_device(ep->domain))) {
		pvb_request_give_back(ep->domain->fabric, req);
		return -FI_EDOMAIN;
	}
	if (req->eq)
		pthread_mutex_lock(&req->eq->cm_lock);
	req->domain = ep->domain;
	ep->conn.req = req;
	ep->conn.responder = true;
	ep->conn.id = req->id;
	ep->raw_cm = req->raw_cm;
	/* The id knows them. */
	pvb_cm_forget(ep);
	if (req->eq)
		pthread_mutex_unlock(&req->eq->cm_lock);
	return 0;
}

/*
 * fi_endpoint(3): a program that reserved its address with a passive endpoint before it
 * knew which side it will be goes on as the requester.
 */
static int pvb_ep_take_name(struct pvb_ep *ep, fid_t handle)
{
	struct pvb_pep *pep = crn_container_of(handle, struct pvb_pep, fid.fid);

	if (pep->id)
		return -FI_EOPBADSTATE;
	if (!pep->info->src_addr)
		return 0;
	return pvb_copy_src(ep->attr.addr_format, pep->info->src_addr,
			    pep->info->src_addrlen, &ep->attr.src);
}

static int pvb_ep_take(struct pvb_ep *ep, fid_t handle)
{
	struct pvb_connreq *req = pvb_request_take(ep->domain->fabric, handle, NULL);

	if (req)
		return pvb_ep_take_request(ep, req);
	return pvb_pep_is(ep->domain->fabric, handle) ? pvb_ep_take_name(ep, handle)
						      : -FI_EINVAL;
}

int pvb_endpoint(struct fid_domain *domain_fid, struct fi_info *info, struct fid_ep **fid,
		 void *context)
{
	struct pvb_domain *domain = crn_container_of(domain_fid, struct pvb_domain, fid);
	struct pvb_ep *ep;
	int ret;

	if (!info)
		return -FI_EINVAL;
	if (pvb_removed(domain))
		return -FI_ENODEV;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ret = crn_lock_init(&ep->qp.tx_lock, domain->locked);
	if (ret)
		goto err_free;
	ret = crn_lock_init(&ep->qp.rx_lock, domain->locked);
	if (ret)
		goto err_tx_lock;
	ep->domain = domain;
	ep->qp.domain = domain;
	ret = pvb_ep_attr(ep, info);
	if (!ret && info->handle && ep->dgram)
		ret = -FI_EINVAL;
	if (!ret && info->handle)
		ret = pvb_ep_take(ep, info->handle);
	if (ret)
		goto err_attr;

	ep->fence_waits = domain->fence_waits;
	pvb_ep_defaults(ep);
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &pvb_ep_fid_ops;
	ep->fid.ops = &pvb_ep_ops;
	ep->fid.cm = ep->dgram ? &pvb_dgram_cm_ops : &pvb_ep_cm_ops;
	ep->fid.msg = ep->dgram ? &pvb_dgram_msg_ops : &pvb_msg_ops;
	ep->fid.rma = ep->dgram ? &crn_nosys_rma : &pvb_rma_ops;
	ep->fid.tagged = &crn_nosys_tagged;
	ep->fid.atomic = domain->atomics && !ep->dgram && (ep->attr.caps & FI_ATOMIC)
				 ? &pvb_atomic_ops
				 : &crn_nosys_atomic;
	ep->fid.collective = &crn_nosys_collective;
	atomic_fetch_add(&domain->refs, 1);
	*fid = &ep->fid;
	return 0;
err_attr:
	pvb_dgram_close(ep);
	pvb_cm_forget(ep);
	crn_lock_fini(&ep->qp.rx_lock);
err_tx_lock:
	crn_lock_fini(&ep->qp.tx_lock);
err_free:
	free(ep);
	return ret;
}
