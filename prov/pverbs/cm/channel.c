/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rdma_cm event channel of an EQ: takes its events, makes connection requests known,
 * and hands everything about an endpoint to state.c. Events are copied and
 * acknowledged before they are handled, because rdma_destroy_id waits for the
 * acknowledgement.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "mcast/mcast.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "cm.h"
#include "internal.h"

int pvb_cm_report(struct pvb_eq *eq, uint32_t type, fid_t fid, struct fi_info *info,
		  const void *data, size_t len)
{
	union {
		struct fi_eq_cm_entry cm;
		uint8_t bytes[PVB_CM_EVENT_MAX];
	} entry;
	int ret;

	memset(&entry.cm, 0, sizeof(entry.cm));
	entry.cm.fid = fid;
	entry.cm.info = info;
	if (len)
		memcpy(entry.cm.data, data, len);
	ret = crn_eq_insert(&eq->eq, type, fid, &entry, sizeof(entry.cm) + len);
	if (ret)
		PVB_WARN(FI_LOG_EQ, "a connection event is lost: %s\n",
			 fi_strerror(-ret));
	return ret;
}

void pvb_cm_report_error(struct pvb_eq *eq, fid_t fid, int err, int prov_errno,
			 const void *data, size_t len)
{
	struct fi_eq_err_entry entry = {
		.fid = fid,
		.context = fid->context,
		.err = err,
		.prov_errno = prov_errno,
		.err_data = (void *)data,
		.err_data_size = len,
	};
	int ret = crn_eq_insert_err(&eq->eq, &entry);

	if (ret)
		PVB_WARN(FI_LOG_EQ, "a connection error is lost: %s\n",
			 fi_strerror(-ret));
}

int pvb_cm_message(bool raw, uint8_t buf[PVB_CM_REQ_SIZE], const void *param, size_t len,
		   const struct pvb_cm_offer *offer, size_t *out)
{
	if (len > pvb_cm_data_size(raw) || (len && !param))
		return -FI_EINVAL;
	if (raw) {
		if (len)
			memcpy(buf, param, len);
		*out = len;
	} else {
		*out = pvb_cm_pack(buf, param, len, offer);
	}
	return 0;
}

void pvb_connreq_destroy(struct pvb_connreq *req)
{
	if (req->eq)
		crn_mutex_assert_held(&req->eq->cm_lock);
	rdma_destroy_id(req->id);
	free(req);
}

/* A request that cannot be reported to the application is rejected at once. */
static void pvb_cm_on_request(struct pvb_pep *pep, const struct pvb_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	struct pvb_connreq *req;
	struct fi_info *info;
	const void *app;
	size_t app_len;
	int ret;

	req = calloc(1, sizeof(*req));
	if (!req || !id->verbs) {
		ret = req ? -FI_ENODEV : -FI_ENOMEM;
		goto err_free;
	}
	ret = pvb_info_connreq(pep->info, ibv_get_device_name(id->verbs->device),
			       rdma_get_local_addr(id), rdma_get_peer_addr(id), &info);
	if (ret)
		goto err_free;

	req->fid.fclass = FI_CLASS_CONNREQ;
	req->fid.context = pep->fid.fid.context;
	req->eq = pep->eq;
	req->id = id;
	req->responder_resources = event->responder_resources;
	req->initiator_depth = event->initiator_depth;
	req->raw_cm = pep->raw_cm;
	req->pep = pep;
	pvb_cm_app_data(req->raw_cm, event->bytes, event->len, &req->data);
	app = req->data.app;
	app_len = req->data.app_len;
	req->data.app = NULL; /* points into the event */
	id->context = &req->fid;
	info->handle = &req->fid;
	/* The program may take it as soon as it is reported. */
	pvb_request_add(req);
	ret = pvb_cm_report(pep->eq, FI_CONNREQ, &pep->fid.fid, info, app, app_len);
	if (!ret)
		return;
	fi_freeinfo(info);
	pvb_request_drop(req);
err_free:
	free(req);
	PVB_WARN(FI_LOG_EP_CTRL, "a connection request is refused: %s\n",
		 fi_strerror(-ret));
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
}

/* Not accepted yet, and the requester has gone, or the device: fi_accept will fail. */
static void pvb_cm_request_event(struct pvb_connreq *req,
				 const struct pvb_cm_event *event)
{
	req->dead = true;
	if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL && req->domain)
		pvb_removal_noticed(req->domain);
}

static void pvb_cm_dispatch(const struct pvb_cm_event *event)
{
	struct pvb_pep *pep;
	struct fid *fid;

	if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		fid = event->listen_id->context;
		pep = crn_container_of(fid, struct pvb_pep, fid.fid);
		if (!pvb_control_conn_request(pep, event))
			pvb_cm_on_request(pep, event);
		return;
	}
	fid = event->id->context;
	switch (fid->fclass) {
	case FI_CLASS_EP:
		pvb_cm_ep_event(crn_container_of(fid, struct pvb_ep, fid.fid), event);
		break;
	case PVB_CLASS_CONTROL_QP:
		pvb_control_conn_event(fid, event);
		break;
	case PVB_CLASS_MC_GROUP:
		pvb_mcast_event(fid, event);
		break;
	case FI_CLASS_CONNREQ:
		pvb_cm_request_event(crn_container_of(fid, struct pvb_connreq, fid),
				     event);
		break;
	case FI_CLASS_PEP:
		/* No further connection request can arrive there. */
		if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
			pep = crn_container_of(fid, struct pvb_pep, fid.fid);
			pvb_cm_report_error(pep->eq, fid, FI_ENODEV, event->status, NULL,
					    0);
		}
		break;
	default:
		break;
	}
}

/* Copies what the handlers need; conn parameters mean nothing in other events. */
static void pvb_cm_copy(struct pvb_cm_event *copy, const struct rdma_cm_event *event)
{
	copy->type = event->event;
	copy->status = event->status;
	copy->id = event->id;
	copy->listen_id = event->listen_id;
	copy->len = 0;
	copy->responder_resources = 0;
	copy->initiator_depth = 0;
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		copy->responder_resources = event->param.conn.responder_resources;
		copy->initiator_depth = event->param.conn.initiator_depth;
		if (event->param.conn.private_data) {
			copy->len = event->param.conn.private_data_len;
			memcpy(copy->bytes, event->param.conn.private_data, copy->len);
		}
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		copy->group = event->param.ud.ah_attr;
		copy->group_qkey = event->param.ud.qkey;
		break;
	default:
		break;
	}
}

int pvb_cm_take(struct pvb_eq *eq)
{
	struct crn_eq *crn = &eq->eq;
	struct rdma_cm_event *event;
	struct pvb_cm_event copy;
	int ret = 0;

	crn_mutex_assert_held(&eq->cm_lock);
	/* Events for which the queue has no room or no memory stay in the channel. */
	while (!crn_eq_full(crn)) {
		ret = crn_eq_reserve(crn, PVB_CM_EVENT_MAX);
		if (ret)
			break;
		if (rdma_get_cm_event(eq->channel, &event)) {
			ret = errno == EAGAIN || errno == EINTR ? 0 : pvb_errno();
			break;
		}
		pvb_cm_copy(&copy, event);
		rdma_ack_cm_event(event);
		pvb_cm_dispatch(&copy);
	}
	return ret;
}

int pvb_cm_progress(struct crn_eq *crn)
{
	struct pvb_eq *eq = pvb_eq_of(crn);
	int ret;

	pthread_mutex_lock(&eq->cm_lock);
	ret = pvb_cm_take(eq);
	pvb_async_eq_progress(eq);
	pvb_control_conn_progress(eq);
	pvb_keepalive_progress(eq);
	pvb_mcast_progress(eq);
	pthread_mutex_unlock(&eq->cm_lock);
	return ret;
}

static void pvb_cm_look(struct pvb_eq *eq)
{
	if (pthread_mutex_trylock(&eq->cm_lock))
		return;
	pvb_cm_take(eq);
	pthread_mutex_unlock(&eq->cm_lock);
}

static void pvb_cm_failed(struct pvb_ep *ep)
{
	if (ep->conn.id)
		rdma_disconnect(ep->conn.id);
}

const struct pvb_cm_calls pvb_cm_calls = {
	.look = pvb_cm_look,
	.second_over = pvb_cm_control_conn_over,
	.disconnected = pvb_cm_disconnected,
	.failed = pvb_cm_failed,
	.join = pvb_mcast_join,
	.part = pvb_mcast_part,
};
