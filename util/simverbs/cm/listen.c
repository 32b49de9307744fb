/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder's side of a connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

/* The id of a request. NULL: there is no memory, or the destination is none of ours. */
static struct svb_cm_id *svb_cm_request_id(struct svb_cm_id *listen,
					   const struct svb_cm_msg *msg)
{
	struct svb_cm_id *id =
		svb_cm_alloc(listen->id.channel, listen->id.context, listen->id.ps);
	const struct svb_port *port;
	uint32_t gid;

	if (!id)
		return NULL;
	id->ps = listen->ps;
	svb_cm_addr_of_wire(&id->id.route.addr.src_storage, &msg->dst, id->ps);
	svb_cm_addr_of_wire(&id->id.route.addr.dst_storage, &msg->src, id->ps);
	port = svb_cm_addr_find(&id->id.route.addr.src_addr, &gid);
	id->peer_port = svb_cm_addr_find(&id->id.route.addr.dst_addr, &id->peer_gid);
	if (!port || !id->peer_port || svb_cm_attach(id, port, gid)) {
		svb_cm_drop(id);
		free(id);
		return NULL;
	}
	if (id->id.route.addr.src_addr.sa_family == AF_IB)
		svb_cm_set_pkey(id, svb_cm_addr_pkey(&id->id.route.addr.src_addr));
	id->tos = listen->tos;
	svb_cm_fill_path(id);
	id->peer = msg->from;
	id->peer_id = msg->from_id;
	id->peer_qpn = msg->qpn;
	id->peer_psn = msg->psn;
	id->responder_resources = msg->initiator_depth;
	id->initiator_depth = msg->responder_resources;
	id->retry_count = msg->retry_count;
	id->rnr_retry_count = msg->rnr_retry_count;
	id->peer_ece.vendor_id = msg->ece_vendor;
	id->peer_ece.options = msg->ece_options;
	id->state = SVB_CM_REQ_RCVD;
	return id;
}

static void svb_cm_refuse(const struct svb_cm_msg *msg, uint32_t rej, uint32_t sidr)
{
	if (msg->type == SVB_CM_REQ)
		svb_cm_answer(msg, SVB_CM_REJ, rej);
	else
		svb_cm_answer(msg, SVB_CM_SIDR_REP, sidr);
}

void svb_cm_on_req(struct svb_cm_id *listen, const struct svb_cm_msg *msg)
{
	bool ud = msg->type == SVB_CM_SIDR_REQ;
	struct svb_cm_event *event;
	struct svb_cm_id *id;

	if (listen->state != SVB_CM_LISTEN ||
	    (enum rdma_port_space)msg->ps != listen->ps ||
	    ud != (listen->id.qp_type == IBV_QPT_UD)) {
		svb_cm_refuse(msg, SVB_CM_REJ_NOBODY, SVB_CM_SIDR_NOBODY);
		return;
	}
	id = listen->backlog ? svb_cm_request_id(listen, msg) : NULL;
	event = id ? svb_cm_report(listen, RDMA_CM_EVENT_CONNECT_REQUEST, 0) : NULL;
	if (!event) {
		svb_cm_refuse(msg, SVB_CM_REJ_CONSUMER, SVB_CM_SIDR_REJECT);
		if (id) {
			id->state = SVB_CM_OVER;
			svb_cm_drop(id);
			free(id);
		}
		return;
	}
	svb_cm_watch(msg->from);
	listen->backlog--;
	event->event.id = &id->id;
	event->event.listen_id = &listen->id;
	svb_cm_event_conn(event, msg);
}

/*
 * Parameters that the program leaves out are those of the request, within the limits of
 * the device.
 */
static int svb_cm_accept_param(struct svb_cm_id *id, const struct rdma_conn_param *param,
			       struct svb_cm_msg *msg)
{
	uint32_t most = svb_self.settings.max_rd_atomic;

	if (!id->id.qp && !param)
		return EINVAL;
	if (id->initiator_depth > most)
		id->initiator_depth = (uint8_t)most;
	if (id->responder_resources > most)
		id->responder_resources = (uint8_t)most;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH) {
		if (param->initiator_depth > most)
			return EINVAL;
		id->initiator_depth = param->initiator_depth;
	}
	if (param && param->responder_resources != RDMA_MAX_RESP_RES) {
		if (param->responder_resources > most)
			return EINVAL;
		id->responder_resources = param->responder_resources;
	}
	id->qpn = id->id.qp ? id->id.qp->qp_num : param->qp_num & 0xffffff;
	msg->qpn = id->qpn;
	msg->psn = id->psn;
	msg->responder_resources = id->responder_resources;
	msg->initiator_depth = id->initiator_depth;
	msg->flow_control = param ? param->flow_control : 1;
	msg->rnr_retry_count = param ? param->rnr_retry_count & 7 : 7;
	msg->srq = id->id.qp ? id->id.qp->srq != NULL : param->srq;
	msg->ece_vendor = id->ece.vendor_id;
	msg->ece_options = id->ece.options;
	return param ? svb_cm_set_data(msg, param->private_data, param->private_data_len)
		     : 0;
}

static int svb_cm_accept(struct svb_cm_id *id, const struct rdma_conn_param *param)
{
	struct svb_cm_msg msg = {.type = SVB_CM_REP};
	int ret;

	if (id->state != SVB_CM_REQ_RCVD)
		return EINVAL;
	if (id->id.qp_type == IBV_QPT_UD)
		return svb_cm_sidr_accept(id, param);
	ret = svb_cm_accept_param(id, param, &msg);
	if (!ret && (id->id.qp || svb_cm_iwarp()))
		ret = svb_cm_qp_connect(id);
	if (ret) {
		svb_cm_qp_error(id);
		return ret;
	}
	id->state = SVB_CM_REP_SENT;
	svb_cm_set_timer(id, SVB_CM_PATIENCE);
	svb_cm_send(id, &msg);
	return 0;
}

SVB_API int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int ret;

	svb_cm_lock();
	ret = svb_cm_accept(svb_cm_id(id), conn_param);
	svb_cm_unlock();
	if (ret || id->qp_type == IBV_QPT_UD)
		return svb_cm_result(ret);
	return svb_cm_complete(svb_cm_id(id));
}

static void svb_cm_is_established(struct svb_cm_id *id)
{
	svb_cm_set_timer(id, 0);
	id->state = SVB_CM_STANDS;
	svb_cm_report(id, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void svb_cm_on_rtu(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	if (id->state == SVB_CM_REP_SENT && id->peer == msg->from)
		svb_cm_is_established(id);
}

SVB_API int rdma_notify(struct rdma_cm_id *cm_id, enum ibv_event_type event)
{
	struct svb_cm_id *id = svb_cm_id(cm_id);
	int ret = 0;

	svb_cm_lock();
	if (id->state < SVB_CM_REQ_SENT)
		ret = EINVAL;
	else if (event == IBV_EVENT_COMM_EST && id->state == SVB_CM_REP_SENT)
		svb_cm_is_established(id);
	svb_cm_unlock();
	return svb_cm_result(ret);
}

static int svb_cm_reject(struct svb_cm_id *id, const void *data, uint8_t len,
			 uint32_t reason)
{
	struct svb_cm_msg msg = {.type = SVB_CM_REJ, .reason = reason};
	int ret;

	if (id->id.qp_type == IBV_QPT_UD)
		return svb_cm_sidr_reject(id, data, len);
	if (id->state < SVB_CM_REQ_SENT || id->state > SVB_CM_REP_SENT)
		return EINVAL;
	ret = svb_cm_set_data(&msg, data, len);
	if (ret)
		return ret;
	svb_cm_set_timer(id, 0);
	id->state = SVB_CM_OVER;
	svb_cm_send(id, &msg);
	return 0;
}

SVB_API int rdma_reject(struct rdma_cm_id *id, const void *private_data,
			uint8_t private_data_len)
{
	int ret;

	svb_cm_lock();
	ret = svb_cm_reject(svb_cm_id(id), private_data, private_data_len,
			    SVB_CM_REJ_CONSUMER);
	svb_cm_unlock();
	return svb_cm_result(ret);
}

SVB_API int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
			    uint8_t private_data_len)
{
	/* IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED */
	const uint32_t vendor_option = 35;
	int ret;

	svb_cm_lock();
	ret = svb_cm_reject(svb_cm_id(id), private_data, private_data_len, vendor_option);
	svb_cm_unlock();
	return svb_cm_result(ret);
}
