/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_endpoint(3): open, bind, enable, close. */
#include <stdlib.h>
#include <string.h>
#include <cairn/nosys.h>
#include "cm/cm.h"
#include "device.h"
#include "ep.h"

/* ms at most until the lower provider has let go of what it was given. */
#define EP_CLOSE_MS 5000u

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rte_ep *ep = crn_container_of(fid, struct rte_ep, fid.fid);

	if (bfid->fclass == FI_CLASS_SRX_CTX)
		return -FI_ENOSYS;
	return crn_ep_bind(&ep->ep, bfid, flags);
}

static int ep_open_vc(struct rte_ep *ep)
{
	const bool bypass = rte_params.bypass && ep->device->port->lower_rma;
	const struct rte_vc_attr attr = {
		.ep = &ep->ep,
		.map = &ep->domain->map,
		.tx_size = ep->ep.queues[CRN_EP_TX].depth,
		.rx_size = ep->ep.queues[CRN_EP_RX].depth,
		.inject_size = RTE_INJECT_SIZE,
		.max_msg_size = ep->max_msg_size,
		.broken = rte_conn_broken,
		.drained = rte_conn_drained,
		.hold = rte_mr_hold,
		.release = rte_mr_release,
		.persistent = rte_mr_persistent,
		.persist = rte_mr_persist,
		.lend = bypass ? rte_mr_lend : NULL,
	};

	return rte_vc_init(&ep->vc, &attr);
}

static int ep_enable(struct rte_ep *ep)
{
	int ret = 0;

	crn_lock(rte_lock_of(ep));
	if (ep->state == RTE_EP_OPEN) {
		ret = crn_ep_enable(&ep->ep);
		if (!ret)
			ret = ep_open_vc(ep);
		if (!ret)
			ep->state = RTE_EP_ENABLED;
	}
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct rte_ep *ep = crn_container_of(fid, struct rte_ep, fid.fid);

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

/* ---- close ---- */

/* Other threads have their turn. */
static void ep_turn(struct rte_ep *ep)
{
	rte_device_progress(ep->device);
	crn_unlock(rte_lock_of(ep));
	crn_lock(rte_lock_of(ep));
}

/* What the program has been told is over goes out, as long as the other end takes it. */
static void ep_linger(struct rte_ep *ep)
{
	const uint64_t end = crn_now_ms() + RTE_LINGER;

	while ((ep->state == RTE_EP_UP || ep->state == RTE_EP_CLOSING) && !ep->broken &&
	       rte_vc_unsent(&ep->vc) && crn_now_ms() < end)
		ep_turn(ep);
}

static void ep_leave(struct rte_ep *ep)
{
	const uint64_t end = crn_now_ms() + EP_CLOSE_MS;

	if (ep->state != RTE_EP_OPEN) {
		ep_linger(ep);
		rte_conn_end(ep);
		while (!rte_vc_idle(&ep->vc) && crn_now_ms() < end)
			ep_turn(ep);
		rte_device_progress(ep->device);
		rte_vc_fini(&ep->vc);
	}
	if (ep->incoming)
		rte_incoming_refuse(ep->incoming, RTE_REJECTED, FI_ECONNREFUSED, NULL, 0);
	crn_list_del(&ep->untold);
	if (ep->ep.eq)
		crn_eq_forget(ep->ep.eq, &ep->fid.fid);
}

static int ep_close(struct fid *fid)
{
	struct rte_ep *ep = crn_container_of(fid, struct rte_ep, fid.fid);

	crn_lock(rte_lock_of(ep));
	ep_leave(ep);
	/* Attached queues are the device's lock's, too. */
	crn_unlock(rte_lock_of(ep));
	crn_ep_fini(&ep->ep);
	atomic_fetch_sub(&ep->domain->refs, 1);
	free(ep->uri);
	free(ep);
	return 0;
}

static struct fi_ops ep_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = crn_nosys_ops_open,
	.tostr = crn_nosys_tostr,
	.ops_set = crn_nosys_ops_set,
};

/* ---- open ---- */

static void ep_limits(struct rte_ep *ep, const struct fi_info *info)
{
	ep->tx_iov_limit = CRN_MIN(info->tx_attr->iov_limit, (size_t)RTE_VC_IOV);
	ep->rx_iov_limit = CRN_MIN(info->rx_attr->iov_limit, (size_t)RTE_VC_IOV);
	ep->max_msg_size = CRN_MIN(info->ep_attr->max_msg_size, RTE_VC_MSG_MAX);
	ep->ep.queues[CRN_EP_TX].known_flags = FI_COMPLETION | FI_INJECT |
					       FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
					       FI_DELIVERY_COMPLETE | FI_MORE | FI_FENCE;
	ep->ep.queues[CRN_EP_RX].known_flags = FI_COMPLETION | FI_MORE;
}

static struct rte_pep *ep_find_pep(struct rte_ep *ep, fid_t handle)
{
	struct rte_pep *pep;
	struct crn_list *entry;

	crn_list_for_each (entry, &ep->device->peps) {
		pep = crn_container_of(entry, struct rte_pep, entry);
		if (&pep->fid.fid == handle)
			return pep;
	}
	return NULL;
}

/*
 * What the handle of an info stands for: a request, which is answered by way of this
 * endpoint alone from here on, or a passive endpoint, whose name it takes (fi_cm(3)).
 * Nothing is read through it: what it was may be gone.
 */
static int ep_handle(struct rte_ep *ep, fid_t handle)
{
	struct rte_incoming *incoming;
	struct rte_pep *pep;
	int ret = 0;

	crn_lock(rte_lock_of(ep));
	incoming = rte_incoming_find(ep->device, handle);
	pep = ep_find_pep(ep, handle);
	if (incoming && incoming->state == RTE_INCOMING_ASKED && !incoming->taken) {
		incoming->taken = true;
		ep->incoming = incoming;
		ep->other = incoming->req.source;
		ep->has_other = true;
	} else if (pep && !pep->listener) {
		ep->self = pep->name;
	} else {
		ret = -FI_EINVAL;
	}
	crn_unlock(rte_lock_of(ep));
	return ret;
}

static int ep_names(struct rte_ep *ep, const struct fi_info *info)
{
	ep->self = ep->device->view.own;
	if (info->src_addr &&
	    (!crn_addr_valid(info->src_addr, info->src_addrlen, FI_FORMAT_UNSPEC) ||
	     !rte_addr_own(&ep->device->view, info->src_addr, &ep->self)))
		return -FI_EINVAL;
	return info->handle ? ep_handle(ep, info->handle) : 0;
}

static void ep_tables(struct rte_ep *ep, void *context)
{
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &rte_ep_opts;
	ep->fid.cm = &rte_ep_cm;
	ep->fid.msg = &rte_ep_msg;
	ep->fid.rma = ep->ep.caps & FI_RMA ? &rte_ep_rma : &crn_nosys_rma;
	ep->fid.tagged = &crn_nosys_tagged;
	ep->fid.atomic = &crn_nosys_atomic;
	ep->fid.collective = &crn_nosys_collective;
}

int rte_endpoint(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ep_fid,
		 void *context)
{
	struct rte_ep *ep;
	int ret;

	if (!info || !info->ep_attr || !info->tx_attr || !info->rx_attr ||
	    info->ep_attr->type != FI_EP_MSG || info->tx_attr->size > RTE_SIZE_MAX ||
	    info->rx_attr->size > RTE_SIZE_MAX || !info->tx_attr->size ||
	    !info->rx_attr->size)
		return -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->domain = crn_container_of(fid, struct rte_domain, fid);
	ep->device = ep->domain->device;
	ep->deadline.expired = rte_conn_over;
	crn_list_init(&ep->untold);
	crn_ep_init(&ep->ep, &ep->domain->fabric->fid, fid, info);
	ep_limits(ep, info);
	ret = ep_names(ep, info);
	if (ret) {
		free(ep);
		return ret;
	}
	atomic_fetch_add(&ep->domain->refs, 1);
	ep_tables(ep, context);
	*ep_fid = &ep->fid;
	return 0;
}
