/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagram queue pairs: connecting means asking for the peer's queue pair number and
 * Q_Key (service ID resolution, IBA 12.11).
 */
#include <errno.h>
#include "cm.h"

int svb_cm_sidr_accept(struct svb_cm_id *id, const struct rdma_conn_param *param)
{
	struct svb_cm_msg msg = {.type = SVB_CM_SIDR_REP, .qkey = id->qkey};
	int ret;

	if (!id->id.qp && !param)
		return EINVAL;
	msg.qpn = id->id.qp ? id->id.qp->qp_num : param->qp_num & 0xffffff;
	ret = param ? svb_cm_set_data(&msg, param->private_data, param->private_data_len)
		    : 0;
	if (ret)
		return ret;
	id->state = SVB_CM_STANDS;
	svb_cm_send(id, &msg);
	return 0;
}

int svb_cm_sidr_reject(struct svb_cm_id *id, const void *data, uint8_t len)
{
	struct svb_cm_msg msg = {.type = SVB_CM_SIDR_REP, .reason = SVB_CM_SIDR_REJECT};
	int ret;

	if (id->state != SVB_CM_REQ_RCVD)
		return EINVAL;
	ret = svb_cm_set_data(&msg, data, len);
	if (ret)
		return ret;
	id->state = SVB_CM_OVER;
	svb_cm_send(id, &msg);
	return 0;
}

void svb_cm_on_sidr_rep(struct svb_cm_id *id, const struct svb_cm_msg *msg)
{
	struct svb_cm_event *event;

	if (id->state != SVB_CM_REQ_SENT || id->peer != msg->from ||
	    id->id.qp_type != IBV_QPT_UD)
		return;
	svb_cm_set_timer(id, 0);
	id->state = msg->reason ? SVB_CM_OVER : SVB_CM_STANDS;
	event = svb_cm_report(id,
			      msg->reason ? RDMA_CM_EVENT_UNREACHABLE
					  : RDMA_CM_EVENT_ESTABLISHED,
			      (int)msg->reason);
	if (!event)
		return;
	svb_cm_event_conn(event, msg);
	if (msg->reason)
		return;
	svb_cm_ah(id, &event->event.param.ud.ah_attr);
	event->event.param.ud.qp_num = msg->qpn;
	event->event.param.ud.qkey = msg->qkey;
}
