/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of the lower provider: what the layer learns of them, and what it takes out. */
#include <string.h>
#include "call/call.h"
#include "cm.h"

static size_t event_data_len(const struct crn_lower_event *event)
{
	return event->len > sizeof(event->cm) ? event->len - sizeof(event->cm) : 0;
}

static int event_insert(struct crn_lower_obj *obj, struct crn_lower_event *event,
			size_t skip)
{
	const size_t len = event_data_len(event) - skip;
	struct crn_eq *eq = &obj->eq->eq;

	if (crn_eq_full(eq))
		return -FI_EAGAIN;
	if (event->is_error)
		return crn_eq_insert_err(eq, &event->err);
	if (skip) {
		/* Shifted once: the event may come again. */
		memmove(event->cm.data, event->cm.data + skip, len);
		event->len -= skip;
	}
	return crn_eq_insert(eq, event->event, obj->fid, event->bytes, event->len);
}

/* ---- passive endpoints ---- */

static const char *const mode_names[] = {
	[RPR_MODE_RPC] = "rpc",
	[RPR_MODE_WRAP] = "wrap",
};

/* True: the peer is of the other mode, and is refused. */
static bool request_refused(struct rpr_pep *pep, struct crn_lower_event *event,
			    int marker)
{
	const int mode = marker ? marker & ~RPR_CM_UNREADY : RPR_MODE_RPC;

	if (mode == (int)pep->mode)
		return false;
	RPR_WARN(FI_LOG_EP_CTRL,
		 "a connection request in another mode than this end's, %s, is refused; "
		 "FI_RPCRDMA_MODE and the protocol of fi_info choose it\n",
		 mode_names[pep->mode]);
	fi_reject(pep->lower, event->cm.info->handle, NULL, 0);
	fi_freeinfo(event->cm.info);
	return true;
}

int rpr_pep_event(struct crn_lower_obj *obj, struct crn_lower_event *event)
{
	struct rpr_pep *pep = crn_container_of(obj, struct rpr_pep, obj);
	struct rpr_request request;
	struct rpr_private priv;
	fid_t handle;
	size_t skip;
	int marker, ret;

	if (event->is_error || event->event != FI_CONNREQ)
		return event_insert(obj, event, 0);
	if (crn_eq_full(&obj->eq->eq))
		return -FI_EAGAIN;
	skip = rpr_cm_parse(event->cm.data, event_data_len(event), &priv, &marker);
	if (request_refused(pep, event, marker))
		return 0;
	handle = event->cm.info->handle;
	rpr_info_request(event->cm.info, pep->mode);
	ret = rpr_request_add(pep, handle, &priv, marker);
	if (ret)
		return ret;
	/* Without memory it comes again, whole. */
	ret = crn_eq_reserve(&obj->eq->eq, event->len);
	if (!ret)
		ret = event_insert(obj, event, skip);
	if (ret)
		rpr_request_take(pep->fabric, handle, &request);
	return ret;
}

/* ---- endpoints ---- */

/* In wrap mode, who listens has to be this provider, and in either mode not in the
 * other. */
static bool peer_agrees(const struct rpr_ep *ep, int marker)
{
	const int mode = marker & ~RPR_CM_UNREADY;

	return mode == (int)ep->mode || (!marker && ep->mode == RPR_MODE_RPC);
}

/* The connection stands for the lower provider, and not for the program. */
static int ep_disagreed(struct rpr_ep *ep)
{
	const struct fi_eq_err_entry err = {
		.fid = &ep->fid.fid,
		.context = ep->fid.fid.context,
		.err = FI_ECONNREFUSED,
		.prov_errno = FI_ECONNREFUSED,
	};
	int ret = crn_eq_insert_err(&ep->obj.eq->eq, &err);

	if (ret)
		return ret;
	RPR_WARN(FI_LOG_EP_CTRL,
		 "the peer is not rpcrdma in %s mode: the connection is closed\n",
		 mode_names[ep->mode]);
	ep->shut = true;
	fi_shutdown(ep->lower, 0);
	rpr_down(ep);
	return 0;
}

static int ep_connected(struct rpr_ep *ep, struct crn_lower_event *event)
{
	struct rpr_private priv;
	size_t skip = 0;
	int marker, ret;

	if (crn_eq_full(&ep->obj.eq->eq))
		return -FI_EAGAIN;
	if (crn_eq_reserve(&ep->obj.eq->eq, event->len))
		return -FI_ENOMEM;
	crn_lock(rpr_lock_of(ep));
	if (ep->active) {
		skip = rpr_cm_parse(event->cm.data, event_data_len(event), &priv,
				    &marker);
		if (!peer_agrees(ep, marker)) {
			ret = ep_disagreed(ep);
			crn_unlock(rpr_lock_of(ep));
			return ret;
		}
		rpr_cm_agree(ep, &priv, marker);
	}
	if (ep->state == RPR_EP_CONNECTING)
		ep->state = RPR_EP_UP;
	crn_unlock(rpr_lock_of(ep));
	return event_insert(&ep->obj, event, skip);
}

/* What arrived before it is the program's. */
static int ep_shutdown(struct rpr_ep *ep, struct crn_lower_event *event)
{
	int ret = 0;

	if (crn_eq_full(&ep->obj.eq->eq))
		return -FI_EAGAIN;
	crn_lower_cq_drain(&ep->domain->cq);
	crn_lock(rpr_lock_of(ep));
	rpr_down(ep);
	if (!ep->shut)
		ret = event_insert(&ep->obj, event, 0);
	ep->shut = !ret;
	crn_unlock(rpr_lock_of(ep));
	return ret;
}

int rpr_ep_event(struct crn_lower_obj *obj, struct crn_lower_event *event)
{
	struct rpr_ep *ep = crn_container_of(obj, struct rpr_ep, obj);

	if (!event->is_error && event->event == FI_CONNECTED)
		return ep_connected(ep, event);
	if (!event->is_error && event->event == FI_SHUTDOWN)
		return ep_shutdown(ep, event);
	if (event->is_error) {
		crn_lock(rpr_lock_of(ep));
		if (ep->state == RPR_EP_CONNECTING)
			rpr_down(ep);
		crn_unlock(rpr_lock_of(ep));
	}
	return event_insert(obj, event, 0);
}
