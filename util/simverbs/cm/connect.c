/* SPDX-License-Identifier: BSD-2-Clause */
/* The requester's side of a connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cm.h"

int svb_cm_set_data(struct svb_cm_msg *msg, const void *data, size_t len)
{
	size_t most = svb_cm_data_max(msg->type, svb_cm_iwarp()) - msg->data_len;

	if (len > most || (len && !data))
		return EINVAL;
	if (len)
		memcpy(msg->data + msg->data_len, data, len);
	msg->data_len = (uint8_t)(msg->data_len + len);
	return 0;
}

/* Reports that nobody listens. */
static int svb_cm_nobody(struct svb_cm_id *id)
{
	struct svb_cm_event *event;

	id->state = SVB_CM_OVER;
	if (id->id.qp_type == IBV_QPT_UD)
		event = svb_cm_report(id, RDMA_CM_EVENT_UNREACHABLE, SVB_CM_SIDR_NOBODY);
	else
		event = svb_cm_report(id, RDMA_CM_EVENT_REJECTED,
				      svb_cm_iwarp() ? -ECONNREFUSED : SVB_CM_REJ_NOBODY);
	return event ? 0 : ENOMEM;
}

static bool svb_cm_request(struct svb_cm_id *id, struct svb_cm_msg *msg)
{
	if (!svb_cm_port_find(id->ps, &id->id.route.addr.dst_addr, &id->peer,
			      &id->peer_id))
		return false;
	svb_cm_set_timer(id, SVB_CM_PATIENCE);
	svb_cm_send(id, msg);
	return true;
}

/*
 * Resolving and connecting take milliseconds on a network and nothing here. perftest
 * relies on that time: its server closes a listener and opens another one while the
 * client connects for the second time. So a request to a port that had a listener a
 * moment ago is held for a while.
 */
#define SVB_CM_LOOK_MS 10u
#define SVB_CM_LOOKS 200u

static bool svb_cm_hold(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	if (!svb_cm_port_was(id->ps, &id->id.route.addr.dst_addr) ||
	    !svb_self.settings.threads || svb_cm_start())
		return false;
	id->held = malloc(sizeof(*id->held));
	if (!id->held)
		return false;
	*id->held = *msg;
	id->looks = SVB_CM_LOOKS;
	svb_cm_set_timer(id, SVB_CM_LOOK_MS);
	return true;
}

void svb_cm_release(struct svb_cm_id *id)
{
	struct svb_cm_msg *msg = id->held;
	bool sent = svb_cm_request(id, msg);

	if (!sent && --id->looks) {
		svb_cm_set_timer(id, SVB_CM_LOOK_MS);
		return;
	}
	id->held = NULL;
	if (!sent)
		svb_cm_nobody(id);
	free(msg);
}

/* librdmacm's ucma_valid_param; NULL means the most of everything. */
static int svb_cm_param(struct svb_cm_id *id, const struct rdma_conn_param *param,
			struct svb_cm_msg *msg)
{
	uint32_t most = svb_self.settings.max_rd_atomic;
	int ret;

	if (!param && !id->id.qp && id->id.qp_type == IBV_QPT_RC)
		return EINVAL;
	if (param && id->id.qp_type == IBV_QPT_RC &&
	    ((param->responder_resources != RDMA_MAX_RESP_RES &&
	      param->responder_resources > most) ||
	     (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
	      param->initiator_depth > most)))
		return EINVAL;
	id->initiator_depth = (uint8_t)most;
	id->responder_resources = (uint8_t)most;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		id->initiator_depth = param->initiator_depth;
	if (param && param->responder_resources != RDMA_MAX_RESP_RES)
		id->responder_resources = param->responder_resources;
	/* Three bits each in a request. */
	id->retry_count = param ? param->retry_count & 7 : 7;
	id->rnr_retry_count = param ? param->rnr_retry_count & 7 : 7;
	id->qpn = id->id.qp ? id->id.qp->qp_num : param ? param->qp_num & 0xffffff : 0;
	msg->flow_control = param ? param->flow_control : 1;
	msg->srq = id->id.qp ? id->id.qp->srq != NULL : param && param->srq;
	ret = svb_cm_set_data(msg, id->connect, id->connect_len);
	return ret || !param ? ret
			     : svb_cm_set_data(msg, param->private_data,
					       param->private_data_len);
}

static int svb_cm_connect(struct svb_cm_id *id, const struct rdma_conn_param *param)
{
	bool ud = id->id.qp_type == IBV_QPT_UD;
	struct svb_cm_msg msg = {.type = ud ? SVB_CM_SIDR_REQ : SVB_CM_REQ};
	int ret;

	if (id->state != SVB_CM_ROUTE)
		return EINVAL;
	/* Without, no answer would come, nor would its time run out. */
	ret = svb_cm_start();
	if (!ret)
		ret = svb_cm_param(id, param, &msg);
	if (ret)
		return ret;
	svb_cm_addr_to_wire(&id->id.route.addr.src_addr, &msg.src);
	svb_cm_addr_to_wire(&id->id.route.addr.dst_addr, &msg.dst);
	msg.qpn = id->qpn;
	msg.psn = id->psn;
	msg.responder_resources = id->responder_resources;
	msg.initiator_depth = id->initiator_depth;
	msg.retry_count = id->retry_count;
	msg.rnr_retry_count = id->rnr_retry_count;
	msg.ece_vendor = id->ece.vendor_id;
	msg.ece_options = id->ece.options;
	id->state = SVB_CM_REQ_SENT;
	if (svb_cm_request(id, &msg) || svb_cm_hold(id, &msg))
		return 0;
	return svb_cm_nobody(id);
}

SVB_API int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int ret;

	svb_cm_lock();
	ret = svb_cm_connect(svb_cm_id(id), conn_param);
	svb_cm_unlock();
	return ret ? svb_cm_result(ret) : svb_cm_complete(svb_cm_id(id));
}

static int svb_cm_ready_to_use(struct svb_cm_id *id)
{
	struct svb_cm_msg msg = {.type = SVB_CM_RTU};

	if (id->state != SVB_CM_REP_RCVD)
		return EINVAL;
	id->state = SVB_CM_STANDS;
	svb_cm_send(id, &msg);
	return 0;
}

int svb_cm_confirm(struct svb_cm_id *id)
{
	int ret = id->state == SVB_CM_REP_RCVD ? svb_cm_qp_connect(id) : EINVAL;

	if (ret) {
		svb_cm_qp_error(id);
		return ret;
	}
	return svb_cm_ready_to_use(id);
}

SVB_API int rdma_establish(struct rdma_cm_id *id)
{
	int ret;

	/* With a queue pair of the id, rdma_get_cm_event has done it. */
	if (id->qp)
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	ret = svb_cm_ready_to_use(svb_cm_id(id));
	svb_cm_unlock();
	return svb_cm_result(ret);
}

/* iWARP: the adapter connects the queue pair and only then tells. */
static void svb_cm_established(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	struct svb_cm_event *event;
	int ret = svb_cm_confirm(id);

	if (ret) {
		id->state = SVB_CM_OVER;
		svb_cm_answer(msg, SVB_CM_REJ, SVB_CM_REJ_CONSUMER);
	}
	event = svb_cm_report(
		id, ret ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_ESTABLISHED, -ret);
	if (event && !ret)
		svb_cm_event_conn(event, msg);
}

void svb_cm_on_rep(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	struct svb_cm_event *event;

	if (id->state != SVB_CM_REQ_SENT || id->peer != msg->from)
		return;
	svb_cm_set_timer(id, 0);
	id->peer_id = msg->from_id;
	id->peer_qpn = msg->qpn;
	id->peer_psn = msg->psn;
	id->responder_resources = msg->initiator_depth;
	id->initiator_depth = msg->responder_resources;
	id->rnr_retry_count = msg->rnr_retry_count;
	id->peer_ece.vendor_id = msg->ece_vendor;
	id->peer_ece.options = msg->ece_options;
	id->state = SVB_CM_REP_RCVD;
	if (svb_cm_iwarp()) {
		svb_cm_established(id, msg);
		return;
	}
	event = svb_cm_report(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
	if (event)
		svb_cm_event_conn(event, msg);
}
