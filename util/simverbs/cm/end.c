/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of connections: rejection, disconnecting by either side, timeouts, the end of
 * a process.
 */
#include <errno.h>
#include "cm.h"

void svb_cm_disconnected(struct svb_cm_id *id, int status)
{
	svb_cm_set_timer(id, SVB_CM_TIMEWAIT);
	svb_cm_report(id, RDMA_CM_EVENT_DISCONNECTED, status);
}

void svb_cm_check_stream(struct svb_cm_id *id, void *unused)
{
	struct svb_cm_msg msg = {.type = SVB_CM_DREQ};

	if (id->state != SVB_CM_STANDS || !svb_cm_qp_failed(id))
		return;
	id->state = SVB_CM_OVER;
	svb_cm_send(id, &msg);
	svb_cm_disconnected(id, 0);
}

static int svb_cm_disconnect(struct svb_cm_id *id)
{
	struct svb_cm_msg msg = {.type = SVB_CM_DREQ};

	if (id->state < SVB_CM_REQ_SENT || id->id.qp_type != IBV_QPT_RC)
		return EINVAL;
	svb_cm_qp_error(id);
	switch (id->state) {
	case SVB_CM_STANDS:
		id->state = SVB_CM_DREQ_SENT;
		svb_cm_set_timer(id, SVB_CM_PATIENCE);
		svb_cm_send(id, &msg);
		return 0;
	case SVB_CM_DREQ_RCVD:
		id->state = SVB_CM_OVER;
		msg.type = SVB_CM_DREP;
		svb_cm_send(id, &msg);
		return 0;
	default:
		/* Nothing to end, which the kernel does not call an error. */
		return 0;
	}
}

SVB_API int rdma_disconnect(struct rdma_cm_id *id)
{
	int ret;

	svb_cm_lock();
	ret = svb_cm_disconnect(svb_cm_id(id));
	svb_cm_unlock();
	return ret ? svb_cm_result(ret) : svb_cm_complete(svb_cm_id(id));
}

void svb_cm_on_rej(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	struct svb_cm_event *event;

	if (id->state < SVB_CM_REQ_SENT || id->state > SVB_CM_REP_SENT ||
	    id->peer != msg->from || id->id.qp_type != IBV_QPT_RC)
		return;
	svb_cm_set_timer(id, 0);
	id->state = SVB_CM_OVER;
	event = svb_cm_report(id, RDMA_CM_EVENT_REJECTED,
			      svb_cm_iwarp() ? -ECONNREFUSED : (int)msg->reason);
	if (event)
		svb_cm_event_conn(event, msg);
}

void svb_cm_on_dreq(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	if (id->peer != msg->from || id->peer_id != msg->from_id ||
	    id->id.qp_type != IBV_QPT_RC)
		return;
	switch (id->state) {
	case SVB_CM_STANDS:
	case SVB_CM_REP_SENT: /* what confirmed the connection was lost */
	case SVB_CM_DREQ_SENT:
		break;
	case SVB_CM_OVER:
		svb_cm_answer(msg, SVB_CM_DREP, 0);
		return;
	default:
		return;
	}
	id->state = SVB_CM_DREQ_RCVD;
	/* An iWARP adapter closes without the program. */
	if (svb_cm_iwarp()) {
		svb_cm_qp_error(id);
		svb_cm_answer(msg, SVB_CM_DREP, 0);
		id->state = SVB_CM_OVER;
	}
	svb_cm_disconnected(id, 0);
}

void svb_cm_on_drep(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	if (id->state != SVB_CM_DREQ_SENT || id->peer != msg->from)
		return;
	id->state = SVB_CM_OVER;
	svb_cm_disconnected(id, 0);
}
