/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_ep_bind: event queues, completion queues, counters and shared contexts of an
 * endpoint.
 */
#include "cq/cq.h"
#include "device/device.h"
#include "dgram/dgram.h"
#include "flags.h"
#include "internal.h"

void pvb_ep_attach(struct pvb_wq *wq, struct pvb_cq *cq)
{
	wq->cq = cq;
	atomic_fetch_add(&cq->refs, 1);
}

void pvb_ep_detach(struct pvb_wq *wq)
{
	int i;

	if (wq->cq)
		atomic_fetch_sub(&wq->cq->refs, 1);
	for (i = 0; i < PVB_COUNTS; i++) {
		if (wq->cntr[i])
			atomic_fetch_sub(&wq->cntr[i]->refs, 1);
	}
}

static int pvb_ep_bind_cq(struct pvb_ep *ep, struct pvb_cq *cq, uint64_t flags)
{
	int ret = pvb_flags_check(PVB_FLAGS_BIND_CQ, flags);

	if (ret)
		return ret;
	if (!(flags & (FI_TRANSMIT | FI_RECV)))
		return -FI_EINVAL;
	if (cq->domain != ep->domain)
		return -FI_EDOMAIN;
	if (((flags & FI_TRANSMIT) && ep->qp.sq.cq) ||
	    ((flags & FI_RECV) && ep->qp.rq.cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		pvb_ep_attach(&ep->qp.sq, cq);
		ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
	}
	if (flags & FI_RECV) {
		pvb_ep_attach(&ep->qp.rq, cq);
		ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
	}
	return 0;
}

/* A request came in through the listener's queue; its endpoint may use another. */
static int pvb_ep_move_request(struct pvb_connreq *req, struct pvb_eq *eq)
{
	struct pvb_eq *old = req->eq;
	int ret = 0;

	if (old) /* else its queue was closed */
		pthread_mutex_lock(&old->cm_lock);
	if (rdma_migrate_id(req->id, eq->channel))
		ret = pvb_errno();
	else
		req->eq = eq;
	if (old)
		pthread_mutex_unlock(&old->cm_lock);
	if (ret)
		return ret;
	atomic_fetch_add(&eq->refs, 1);
	if (old)
		atomic_fetch_sub(&old->refs, 1);
	return 0;
}

/* Which operations a counter can be bound to. */
static const struct pvb_cntr_side {
	uint64_t flag;
	bool recv;
	enum pvb_count count;
} pvb_cntr_sides[] = {
	{FI_SEND, false, PVB_COUNT_MSG},
	{FI_READ, false, PVB_COUNT_READ},
	{FI_WRITE, false, PVB_COUNT_WRITE},
	{FI_RECV, true, PVB_COUNT_MSG},
};

static struct pvb_wq *pvb_cntr_wq(struct pvb_ep *ep, const struct pvb_cntr_side *side)
{
	return side->recv ? &ep->qp.rq : &ep->qp.sq;
}

static int pvb_ep_bind_cntr(struct pvb_ep *ep, struct pvb_cntr *cntr, uint64_t flags)
{
	const int ret = pvb_flags_check(PVB_FLAGS_BIND_CNTR, flags);
	const struct pvb_cntr_side *side;
	struct pvb_wq *wq;
	size_t i;

	if (ret)
		return ret;
	/* Without any flag it counts nothing: programs bind it so where a completion
	 * queue has the kind of operation. */
	if (cntr->domain != ep->domain)
		return -FI_EDOMAIN;
	for (i = 0; i < CRN_COUNT(pvb_cntr_sides); i++) {
		side = &pvb_cntr_sides[i];
		if ((flags & side->flag) && pvb_cntr_wq(ep, side)->cntr[side->count])
			return -FI_EINVAL;
	}
	for (i = 0; i < CRN_COUNT(pvb_cntr_sides); i++) {
		side = &pvb_cntr_sides[i];
		if (!(flags & side->flag))
			continue;
		wq = pvb_cntr_wq(ep, side);
		wq->cntr[side->count] = cntr;
		wq->counted = true;
		wq->on_complete = pvb_cq_complete_counted;
		atomic_fetch_add(&cntr->refs, 1);
	}
	return 0;
}

static int pvb_ep_bind_eq(struct pvb_ep *ep, struct pvb_eq *eq, uint64_t flags)
{
	struct pvb_connreq *req = ep->conn.req;
	int ret = pvb_flags_check(PVB_FLAGS_BIND_OTHER, flags);

	if (ret)
		return ret;
	if (ep->eq)
		return -FI_EINVAL;
	if (eq->fabric != ep->domain->fabric)
		return -FI_EINVAL;
	if (req && req->eq != eq) {
		ret = pvb_ep_move_request(req, eq);
		if (ret)
			return ret;
	}
	if (ep->dgram)
		ret = pvb_async_watch(eq, ep->domain);
	if (ret)
		return ret;
	ep->eq = eq;
	atomic_fetch_add(&eq->refs, 1);
	return 0;
}

static int pvb_ep_bind_srx(struct pvb_ep *ep, struct pvb_srx *srx, uint64_t flags)
{
	int ret = pvb_flags_check(PVB_FLAGS_BIND_OTHER, flags);

	if (ret)
		return ret;
	if (ep->qp.srx)
		return -FI_EINVAL;
	/* The receives of a shared context are not checked: persist/target/replay.c. */
	if (ep->replay)
		return -FI_EOPNOTSUPP;
	if (srx->domain != ep->domain)
		return -FI_EDOMAIN;
	/* Receives of datagrams have room for the GRH. */
	if (srx->wq.datagrams != (ep->dgram != NULL))
		return -FI_EINVAL;
	ep->qp.srx = srx;
	atomic_fetch_add(&srx->refs, 1);
	return 0;
}

int pvb_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct pvb_ep *ep = pvb_ep_from(fid);

	if (ep->conn.state != PVB_CONN_NEW)
		return -FI_EOPBADSTATE;
	switch (bfid->fclass) {
	case FI_CLASS_CQ:
		return pvb_ep_bind_cq(ep, crn_container_of(bfid, struct pvb_cq, fid.fid),
				      flags);
	case FI_CLASS_EQ:
		return pvb_ep_bind_eq(ep,
				      crn_container_of(bfid, struct pvb_eq, eq.fid.fid),
				      flags);
	case FI_CLASS_AV:
		return flags ? -FI_EINVAL
			     : pvb_dgram_bind_av(ep, crn_container_of(bfid, struct pvb_av,
								      av.fid.fid));
	case FI_CLASS_SRX_CTX:
		return pvb_ep_bind_srx(ep,
				       crn_container_of(bfid, struct pvb_srx, fid.fid),
				       flags);
	case FI_CLASS_CNTR:
		return pvb_ep_bind_cntr(
			ep, crn_container_of(bfid, struct pvb_cntr, cntr.fid.fid), flags);
	default:
		return -FI_ENOSYS;
	}
}
