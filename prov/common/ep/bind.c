/* SPDX-License-Identifier: BSD-2-Clause */
/* What may be bound to an endpoint, and what it needs; fi_endpoint(3). */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/ep.h>

/* fi_getinfo(3): a capability without its directions has all of them. */
static uint64_t ep_caps(uint64_t caps)
{
	const uint64_t messages = FI_SEND | FI_RECV;
	const uint64_t memory = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

	if ((caps & (FI_MSG | FI_TAGGED)) && !(caps & messages))
		caps |= messages;
	if ((caps & (FI_RMA | FI_ATOMIC)) && !(caps & memory))
		caps |= memory;
	return caps;
}

void crn_ep_init(struct crn_ep *ep, struct fid_fabric *fabric, struct fid_domain *domain,
		 const struct fi_info *info)
{
	memset(ep, 0, sizeof(*ep));
	ep->fabric = fabric;
	ep->domain = domain;
	ep->type = info->ep_attr->type;
	ep->caps = ep_caps(info->caps);
	ep->queues[CRN_EP_TX].depth = (uint32_t)info->tx_attr->size;
	ep->queues[CRN_EP_TX].op_flags = info->tx_attr->op_flags;
	ep->queues[CRN_EP_RX].depth = (uint32_t)info->rx_attr->size;
	ep->queues[CRN_EP_RX].op_flags = info->rx_attr->op_flags;
}

void crn_ep_fini(struct crn_ep *ep)
{
	int i;

	for (i = 0; i < CRN_EP_SIDES; i++) {
		if (ep->queues[i].cq)
			crn_cq_detach(ep->queues[i].cq, ep->queues[i].depth);
		ep->queues[i].cq = NULL;
	}
	for (i = 0; i < CRN_EP_COUNTERS; i++) {
		if (ep->cntrs[i])
			atomic_fetch_sub(&ep->cntrs[i]->refs, 1);
		ep->cntrs[i] = NULL;
	}
	if (ep->eq)
		atomic_fetch_sub(&ep->eq->refs, 1);
	if (ep->av)
		atomic_fetch_sub(&ep->av->refs, 1);
	ep->eq = NULL;
	ep->av = NULL;
}

static const uint64_t ep_side_flags[CRN_EP_SIDES] = {FI_TRANSMIT, FI_RECV};

static int ep_bind_queue(struct crn_ep_queue *queue, struct crn_cq *cq, uint64_t flags)
{
	int ret = crn_cq_attach(cq, queue->depth);

	if (ret)
		return ret;
	queue->cq = cq;
	queue->selective = flags & FI_SELECTIVE_COMPLETION;
	return 0;
}

static int ep_bind_cq(struct crn_ep *ep, struct fid *fid, uint64_t flags)
{
	struct crn_cq *cq = crn_container_of(fid, struct crn_cq, fid.fid);
	int i, ret;

	if (!(flags & (FI_TRANSMIT | FI_RECV)))
		return -FI_EINVAL;
	if (cq->domain != ep->domain)
		return -FI_EDOMAIN;
	for (i = 0; i < CRN_EP_SIDES; i++) {
		if ((flags & ep_side_flags[i]) && ep->queues[i].cq)
			return -FI_EINVAL;
	}
	for (i = 0; i < CRN_EP_SIDES; i++) {
		ret = flags & ep_side_flags[i] ? ep_bind_queue(&ep->queues[i], cq, flags)
					       : 0;
		if (ret)
			goto err;
	}
	return 0;
err:
	/* Both sides or none: the one before was free. */
	if (i == CRN_EP_RX && (flags & FI_TRANSMIT)) {
		crn_cq_detach(cq, ep->queues[CRN_EP_TX].depth);
		ep->queues[CRN_EP_TX].cq = NULL;
	}
	return ret;
}

/* Without flags it counts nothing: programs bind it so where a completion queue has the
 * kind of operation. */
static int ep_bind_cntr(struct crn_ep *ep, struct fid *fid, uint64_t flags)
{
	struct crn_cntr *cntr = crn_container_of(fid, struct crn_cntr, fid.fid);
	const int first = __builtin_ctzll(CRN_EP_COUNTED);
	int i;

	if (cntr->domain != ep->domain)
		return -FI_EDOMAIN;
	/* "Use of this flag requires that the endpoint be created using FI_RMA_EVENT." */
	if ((flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) && !(ep->caps & FI_RMA_EVENT))
		return -FI_EOPNOTSUPP;
	for (i = 0; i < CRN_EP_COUNTERS; i++) {
		if ((flags & (1ULL << (first + i))) && ep->cntrs[i])
			return -FI_EINVAL;
	}
	for (i = 0; i < CRN_EP_COUNTERS; i++) {
		if (!(flags & (1ULL << (first + i))))
			continue;
		ep->cntrs[i] = cntr;
		atomic_fetch_add(&cntr->refs, 1);
	}
	return 0;
}

static int ep_bind_eq(struct crn_ep *ep, struct fid *fid, uint64_t flags)
{
	struct crn_eq *eq = crn_container_of(fid, struct crn_eq, fid.fid);

	if (ep->eq || eq->fabric != ep->fabric)
		return -FI_EINVAL;
	ep->eq = eq;
	atomic_fetch_add(&eq->refs, 1);
	return 0;
}

static int ep_bind_av(struct crn_ep *ep, struct fid *fid, uint64_t flags)
{
	struct crn_av *av = crn_container_of(fid, struct crn_av, fid.fid);

	if (ep->type == FI_EP_MSG)
		return -FI_ENOSYS;
	if (ep->av)
		return -FI_EINVAL;
	if (av->domain != ep->domain)
		return -FI_EDOMAIN;
	ep->av = av;
	atomic_fetch_add(&av->refs, 1);
	return 0;
}

static const struct ep_class {
	size_t fclass;
	uint64_t flags; /* known */
	int refusal;	/* of other flags */
	int (*bind)(struct crn_ep *ep, struct fid *fid, uint64_t flags);
} ep_classes[] = {
	{FI_CLASS_CQ, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION, -FI_EBADFLAGS,
	 ep_bind_cq},
	{FI_CLASS_CNTR, CRN_EP_COUNTED, -FI_EBADFLAGS, ep_bind_cntr},
	{FI_CLASS_EQ, 0, -FI_EINVAL, ep_bind_eq},
	{FI_CLASS_AV, 0, -FI_EINVAL, ep_bind_av},
};

int crn_ep_bind(struct crn_ep *ep, struct fid *bfid, uint64_t flags)
{
	const struct ep_class *row;

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	for (row = ep_classes; row < ep_classes + CRN_COUNT(ep_classes); row++) {
		if (row->fclass == bfid->fclass)
			return flags & ~row->flags ? row->refusal
						   : row->bind(ep, bfid, flags);
	}
	return -FI_ENOSYS;
}

int crn_ep_enable(struct crn_ep *ep)
{
	const bool sends = ep->caps & (FI_SEND | FI_READ | FI_WRITE);
	const bool receives = ep->caps & FI_RECV;
	const struct crn_cq *tx = ep->queues[CRN_EP_TX].cq;
	const struct crn_cq *rx = ep->queues[CRN_EP_RX].cq;

	if (ep->enabled)
		return 0;
	if (ep->type == FI_EP_MSG && !ep->eq)
		return -FI_ENOEQ;
	if (ep->type != FI_EP_MSG && !ep->av)
		return -FI_ENOAV;
	/* One that is a target alone makes progress by its queue. */
	if ((sends && !tx) || (receives && !rx) || (!tx && !rx))
		return -FI_ENOCQ;
	ep->enabled = true;
	return 0;
}
