/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a connection: what is outstanding ends, and is fenced, first. */
#include "call.h"

void rpr_send_failed(struct rpr_ep *ep, void *context, uint64_t flags, int err,
		     int prov_errno)
{
	const struct fi_cq_err_entry entry = {
		.op_context = context,
		.flags = flags,
		.err = err,
		.prov_errno = prov_errno ? prov_errno : err,
	};

	crn_ep_fail(&ep->ep, CRN_EP_TX, &entry, FI_ADDR_NOTAVAIL);
}

void rpr_flush(struct rpr_ep *ep)
{
	struct crn_list *entry;

	if (ep->srx)
		return;
	while ((entry = crn_list_pop(&ep->rxq.posted)))
		rpr_recv_failed(ep, crn_container_of(entry, struct rpr_recv, entry),
				FI_ECANCELED, 0, 0, 0, 0);
}

void rpr_down(struct rpr_ep *ep)
{
	struct rpr_call *call;

	crn_lock_assert_held(rpr_lock_of(ep));
	if (ep->state == RPR_EP_DOWN)
		return;
	ep->state = RPR_EP_DOWN;
	for (call = ep->calls; call < ep->calls + ep->call_slots; call++) {
		if (call->state == RPR_CALL_PREPARED || call->state == RPR_CALL_SENT ||
		    call->state == RPR_CALL_WAITING)
			rpr_call_lost(call, FI_ECANCELED, 0);
	}
	rpr_kick(ep);
	/* What arrived whole is still the program's. */
	rpr_match(ep);
}

/* FI_SHUTDOWN, once, whoever learns first. */
static void down_event(struct rpr_ep *ep)
{
	const struct fi_eq_cm_entry entry = {.fid = &ep->fid.fid};

	if (ep->shut || !ep->obj.eq)
		return;
	ep->shut = true;
	crn_eq_insert(&ep->obj.eq->eq, FI_SHUTDOWN, &ep->fid.fid, &entry, sizeof(entry));
}

static void down_close(struct rpr_ep *ep)
{
	fi_shutdown(ep->lower, 0);
	rpr_down(ep);
	down_event(ep);
}

void rpr_kill(struct rpr_ep *ep, const char *why)
{
	if (ep->state == RPR_EP_DOWN)
		return;
	ep->stats.closed++;
	RPR_WARN(FI_LOG_EP_CTRL, "connection closed: the peer %s\n", why);
	down_close(ep);
}

void rpr_broken(struct rpr_ep *ep, int err)
{
	/* What was flushed may come before its cause. */
	if (ep->stopped || ep->shut || (err == FI_ECANCELED && !ep->failed))
		rpr_down(ep);
	else
		down_close(ep);
}
