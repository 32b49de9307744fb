/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection management: what each rdma_cm event does to a connection in each state.
 *
 *   requester                              responder
 *   ENABLED --fi_connect--> ADDR           ENABLED
 *   ADDR --ADDR_RESOLVED--> ROUTE             |
 *   ROUTE --ROUTE_RESOLVED--> REQUESTED    fi_accept
 *   REQUESTED --CONNECT_RESPONSE--+           v
 *   REQUESTED --ESTABLISHED-------+        ACCEPTED --ESTABLISHED--+
 *                                 v                                v
 *                             CONNECTED --DISCONNECTED--> SHUTDOWN
 *   Where a control connection is made for durable operations
 * (persist/control/control_conn.h), CONTROL comes before CONNECTED on both sides, and
 * lasts until that stands or will not. Any state before CONNECTED ends in FAILED with one
 * error entry in the event queue.
 *
 * Everything here runs with the EQ's cm_lock held.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/persist.h"
#include "qp/qp.h"
#include "wire/wire.h"
#include "xfer/xfer.h"
#include "cm.h"
#include "internal.h"

static void pvb_cm_fail(struct pvb_ep *ep, int err, int prov_errno, const void *data,
			size_t len)
{
	ep->conn.state = PVB_CONN_FAILED;
	pvb_control_conn_end(ep);
	pvb_keepalive_del(ep);
	pvb_conn_error(ep);
	pvb_cm_report_error(ep->eq, &ep->fid.fid, err, prov_errno, data, len);
}

/* The responder's private data. */
static void pvb_cm_learn(struct pvb_ep *ep, const struct pvb_cm_event *event)
{
	pvb_cm_app_data(ep->raw_cm, event->bytes, event->len, &ep->conn.peer);
	ep->conn.peer.app = NULL; /* pointed into the event */
}

/* app: the responder's data; none when we are the responder. */
static void pvb_cm_connected(struct pvb_ep *ep, const uint8_t *app, size_t len)
{
	ep->conn.state = PVB_CONN_CONNECTED;
	pvb_keepalive_add(ep);
	pvb_replay_announce(ep);
	/* A connection that cannot be reported must be closed. */
	if (pvb_cm_report(ep->eq, FI_CONNECTED, &ep->fid.fid, NULL, app, len)) {
		pvb_conn_error(ep);
		rdma_disconnect(ep->conn.id);
	}
	pvb_cm_forget(ep);
}

void pvb_cm_control_conn_over(struct pvb_ep *ep)
{
	const struct pvb_handshake *handshake = ep->conn.handshake;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (ep->conn.state != PVB_CONN_CONTROL)
		return;
	if (handshake)
		pvb_cm_connected(ep, handshake->answer, handshake->answer_len);
	else
		pvb_cm_connected(ep, NULL, 0);
}

/* event: the answer to our request; NULL when we are the responder. */
static void pvb_cm_stands(struct pvb_ep *ep, const struct pvb_cm_event *event)
{
	struct pvb_handshake *handshake = ep->conn.handshake;
	struct pvb_cm_data data = {0};

	if (event)
		pvb_cm_app_data(ep->raw_cm, event->bytes, event->len, &data);
	if (!pvb_control_conn_wanted(ep)) {
		pvb_cm_connected(ep, data.app, data.app_len);
		return;
	}
	/* Beside a trailer: at most PVB_CM_APP_SIZE. */
	if (data.app_len) {
		handshake->answer_len = data.app_len;
		memcpy(handshake->answer, data.app, data.app_len);
	}
	ep->conn.state = PVB_CONN_CONTROL;
	pvb_control_conn_begin(ep);
}

static void pvb_cm_shut(struct pvb_ep *ep)
{
	ep->conn.state = PVB_CONN_SHUTDOWN;
	pvb_keepalive_del(ep);
	pvb_conn_error(ep);
	pvb_cm_report(ep->eq, FI_SHUTDOWN, &ep->fid.fid, NULL, NULL, 0);
}

static void pvb_cm_on_addr_resolved(struct pvb_ep *ep)
{
	if (ep->conn.state != PVB_CONN_ADDR)
		return;
	if (strcmp(ibv_get_device_name(ep->conn.id->verbs->device),
		   pvb_domain_device(ep->domain))) {
		PVB_WARN(FI_LOG_EP_CTRL,
			 "the way to the peer leads over device %s, not %s\n",
			 ibv_get_device_name(ep->conn.id->verbs->device),
			 pvb_domain_device(ep->domain));
		pvb_cm_fail(ep, FI_EHOSTUNREACH, 0, NULL, 0);
		return;
	}
	ep->conn.state = PVB_CONN_ROUTE;
	if (rdma_resolve_route(ep->conn.id, pvb_params.resolve_timeout))
		pvb_cm_fail(ep, errno, errno, NULL, 0);
}

static uint8_t pvb_cm_depth(int device_limit)
{
	return (uint8_t)CRN_MIN(device_limit, UINT8_MAX - 1);
}

static int pvb_cm_send_request(struct pvb_ep *ep)
{
	const struct pvb_handshake *handshake = ep->conn.handshake;
	struct rdma_conn_param param = {
		.private_data = handshake->request,
		.private_data_len = handshake->request_len,
		.responder_resources = pvb_cm_depth(ep->domain->attr.max_qp_rd_atom),
		.initiator_depth = pvb_cm_depth(ep->domain->attr.max_qp_init_rd_atom),
		.flow_control = 1,
		.retry_count = (uint8_t)pvb_params.retry_count,
		.rnr_retry_count = (uint8_t)pvb_params.rnr_retry_count,
		.qp_num = ep->qp.ibv->qp_num,
	};

	return rdma_connect(ep->conn.id, &param);
}

static void pvb_cm_on_route_resolved(struct pvb_ep *ep)
{
	if (ep->conn.state != PVB_CONN_ROUTE)
		return;
	ep->conn.state = PVB_CONN_REQUESTED;
	if (pvb_cm_send_request(ep))
		pvb_cm_fail(ep, errno, errno, NULL, 0);
}

/* IB and RoCE: the responder accepted; the connection stands once we confirm. */
static void pvb_cm_on_response(struct pvb_ep *ep, const struct pvb_cm_event *event)
{
	int ret;

	if (ep->conn.state != PVB_CONN_REQUESTED)
		return;
	pvb_cm_learn(ep, event);
	ret = pvb_conn_rtr_rts(ep, 0, 0);
	if (!ret && rdma_establish(ep->conn.id))
		ret = pvb_errno();
	if (ret) {
		rdma_reject(ep->conn.id, NULL, 0);
		pvb_cm_fail(ep, -ret, -ret, NULL, 0);
		return;
	}
	pvb_cm_stands(ep, event);
}

static void pvb_cm_on_established(struct pvb_ep *ep, const struct pvb_cm_event *event)
{
	switch (ep->conn.state) {
	case PVB_CONN_ACCEPTED:
		pvb_cm_stands(ep, NULL);
		break;
	case PVB_CONN_REQUESTED: /* iWARP: the kernel has moved the queue pair to RTS */
		pvb_cm_learn(ep, event);
		ep->qp.was_up = true;
		pvb_wq_open(&ep->qp.sq);
		pvb_cm_stands(ep, event);
		break;
	default:
		break;
	}
}

static void pvb_cm_on_failure(struct pvb_ep *ep, const struct pvb_cm_event *event,
			      int err)
{
	struct pvb_cm_data data = {0};

	switch (ep->conn.state) {
	case PVB_CONN_ADDR:
	case PVB_CONN_ROUTE:
	case PVB_CONN_REQUESTED:
	case PVB_CONN_ACCEPTED:
	case PVB_CONN_CONTROL:
		if (event->type == RDMA_CM_EVENT_REJECTED)
			pvb_cm_app_data(ep->raw_cm, event->bytes, event->len, &data);
		pvb_cm_fail(ep, err, event->status, data.app, data.app_len);
		break;
	default:
		break;
	}
}

void pvb_cm_disconnected(struct pvb_ep *ep)
{
	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (ep->conn.state != PVB_CONN_CONNECTED)
		return;
	/* Answers the peer, which would otherwise wait and retry. */
	rdma_disconnect(ep->conn.id);
	pvb_cm_shut(ep);
}

static void pvb_cm_on_disconnected(struct pvb_ep *ep, const struct pvb_cm_event *event)
{
	switch (ep->conn.state) {
	case PVB_CONN_CONNECTED:
		pvb_cm_disconnected(ep);
		break;
	case PVB_CONN_CONTROL:
		/* It was connected: reports that, and the end once the event queue has
		 * room. */
		pvb_control_conn_gone(ep);
		pvb_cm_control_conn_over(ep);
		break;
	case PVB_CONN_ACCEPTED: /* the requester went away before it confirmed */
		rdma_disconnect(ep->conn.id);
		pvb_cm_fail(ep, FI_ECONNABORTED, event->status, NULL, 0);
		break;
	default:
		break;
	}
}

void pvb_cm_ep_event(struct pvb_ep *ep, const struct pvb_cm_event *event)
{
	int err = event->status < 0 ? -event->status : FI_EHOSTUNREACH;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		pvb_cm_on_addr_resolved(ep);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		pvb_cm_on_route_resolved(ep);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		pvb_cm_on_response(ep, event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		pvb_cm_on_established(ep, event);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		pvb_cm_on_failure(ep, event, err);
		break;
	case RDMA_CM_EVENT_REJECTED:
		pvb_cm_on_failure(ep, event, FI_ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		pvb_cm_on_disconnected(ep, event);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		pvb_removal_noticed(ep->domain);
		pvb_cm_on_failure(ep, event, FI_ENODEV);
		if (ep->conn.state == PVB_CONN_CONNECTED)
			pvb_cm_shut(ep);
		break;
	default:
		break;
	}
}

/* The private data for the peer. */
static struct pvb_cm_offer pvb_cm_offer(const struct pvb_ep *ep)
{
	struct pvb_cm_offer offer = {.word = pvb_deliver_word(ep->domain)};

	pvb_control_qp_offer(ep, &offer);
	return offer;
}

/* Keeps the request's private data until the route is known: 0 or a negative code. */
static int pvb_cm_request(struct pvb_ep *ep, const void *param, size_t len)
{
	const struct pvb_cm_offer offer = pvb_cm_offer(ep);
	struct pvb_conn *conn = &ep->conn;
	size_t message = 0;
	int ret;

	/* A call that failed may have left one. */
	if (!conn->handshake)
		conn->handshake = calloc(1, sizeof(*conn->handshake));
	if (!conn->handshake)
		return -FI_ENOMEM;
	ret = pvb_cm_message(ep->raw_cm, conn->handshake->request, param, len, &offer,
			     &message);
	conn->handshake->request_len = (uint8_t)message;
	return ret;
}

int pvb_cm_connect(struct pvb_ep *ep, const struct sockaddr *dest, const void *param,
		   size_t len)
{
	struct pvb_conn *conn = &ep->conn;
	union crn_addr src = {0}, dst = {0};
	int ret;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (conn->state != PVB_CONN_ENABLED || conn->id)
		return conn->state == PVB_CONN_NEW ? -FI_EOPBADSTATE : -FI_EISCONN;
	if (pvb_removed(ep->domain))
		return -FI_ENODEV;
	ret = pvb_cm_request(ep, param, len);
	if (ret)
		return ret;
	memcpy(&dst, dest, crn_addr_len(dest));
	if (ep->attr.src)
		memcpy(&src, ep->attr.src, crn_addr_len(ep->attr.src));

	if (rdma_create_id(ep->eq->channel, &conn->id, &ep->fid.fid, RDMA_PS_TCP)) {
		conn->id = NULL;
		return pvb_errno();
	}
	pvb_path_option(ep, conn->id);
	conn->state = PVB_CONN_ADDR;
	if (!rdma_resolve_addr(conn->id, ep->attr.src ? &src.sa : NULL, &dst.sa,
			       pvb_params.resolve_timeout))
		return 0;
	ret = pvb_errno();
	rdma_destroy_id(conn->id);
	conn->id = NULL;
	conn->state = PVB_CONN_ENABLED;
	return ret;
}

/* The answer is on its way: the id is the endpoint's alone. */
static void pvb_cm_request_over(struct pvb_ep *ep)
{
	free(ep->conn.req);
	ep->conn.req = NULL;
	atomic_fetch_sub(&ep->eq->refs, 1);
}

static int pvb_cm_send_answer(struct pvb_ep *ep, const struct pvb_connreq *req,
			      const void *buf, size_t len)
{
	const struct ibv_device_attr *attr = &ep->domain->attr;
	struct rdma_conn_param answer = {
		.private_data = buf,
		.private_data_len = (uint8_t)len,
		/* What the requester will ask of us, and we of it, within both devices.
		 */
		.responder_resources = CRN_MIN(pvb_cm_depth(attr->max_qp_rd_atom),
					       req->responder_resources),
		.initiator_depth = CRN_MIN(pvb_cm_depth(attr->max_qp_init_rd_atom),
					   req->initiator_depth),
		.flow_control = 1,
		.rnr_retry_count = (uint8_t)pvb_params.rnr_retry_count,
		.qp_num = ep->qp.ibv->qp_num,
	};
	struct pvb_conn *conn = &ep->conn;
	int ret;

	conn->peer = req->data;
	ret = pvb_conn_rtr_rts(ep, answer.responder_resources, answer.initiator_depth);
	if (ret)
		return ret;
	conn->state = PVB_CONN_ACCEPTED;
	conn->id->context = &ep->fid.fid;
	if (!rdma_accept(conn->id, &answer))
		return 0;
	ret = pvb_errno();
	conn->id->context = &ep->conn.req->fid;
	conn->state = PVB_CONN_FAILED;
	pvb_conn_error(ep);
	return ret;
}

/* rdma_cm has no other code where the requester has gone and nobody has read so yet. */
static int pvb_cm_refused(struct pvb_ep *ep, int ret)
{
	if (ret != -FI_EINVAL)
		return ret;
	pvb_cm_take(ep->eq);
	return ep->conn.req->dead ? -FI_ECONNABORTED : ret;
}

int pvb_cm_accept(struct pvb_ep *ep, const void *param, size_t len)
{
	struct pvb_connreq *req = ep->conn.req;
	struct pvb_cm_offer offer = pvb_cm_offer(ep);
	uint8_t buf[PVB_CM_REQ_SIZE];
	size_t message;
	int ret;

	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (ep->conn.state != PVB_CONN_ENABLED)
		return ep->conn.state == PVB_CONN_NEW ? -FI_EOPBADSTATE : -FI_EISCONN;
	if (pvb_removed(ep->domain))
		return -FI_ENODEV;
	if (req->dead)
		return -FI_ECONNABORTED;
	/* Before the requester can come back with it. */
	offer.cookie = offer.control_conn ? pvb_control_conn_expect(ep) : 0;
	offer.control_conn = offer.cookie;
	ret = pvb_cm_message(ep->raw_cm, buf, param, len, &offer, &message);
	if (!ret)
		ret = pvb_cm_send_answer(ep, req, buf, message);
	if (!ret) {
		pvb_cm_request_over(ep);
		return 0;
	}
	pvb_control_conn_end(ep);
	return pvb_cm_refused(ep, ret);
}

int pvb_cm_shutdown(struct pvb_ep *ep)
{
	crn_mutex_assert_held(&ep->eq->cm_lock);
	if (ep->conn.state != PVB_CONN_CONNECTED)
		return ep->conn.state == PVB_CONN_SHUTDOWN ? 0 : -FI_ENOTCONN;
	/* As rdma_disconnect does for its own queue pairs: what is posted flushes now. */
	pvb_conn_error(ep);
	/* The answer arrives as DISCONNECTED and is reported as FI_SHUTDOWN then. */
	return rdma_disconnect(ep->conn.id) ? pvb_errno() : 0;
}
