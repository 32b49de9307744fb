/* SPDX-License-Identifier: BSD-2-Clause */
/* The transitions of a connection's queue pair, on the path that rdma_cm found. */
#include "device/device.h"
#include "persist/persist.h"
#include "qp/qp.h"
#include "cm.h"
#include "internal.h"

/* Again to INIT: the path may use another port or P_Key than the one assumed at first. */
static int pvb_conn_init(struct pvb_ep *ep)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;

	if (rdma_init_qp_attr(ep->conn.id, &attr, &mask))
		return pvb_errno();
	return pvb_qp_init(&ep->qp, &attr, mask,
			   ep->domain->atomics ||
				   (ep->qp.control_qp && ep->domain->seq_atomics));
}

static int pvb_conn_modify(struct pvb_ep *ep, enum ibv_qp_state state, uint8_t depth)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask, ret;

	if (rdma_init_qp_attr(ep->conn.id, &attr, &mask))
		return pvb_errno();
	ret = pvb_path_check(ep->domain, &attr, mask);
	if (ret)
		return ret;
	pvb_path_attr(&attr, mask);
	/* Zero means that the CM message named no number: rdma_cm's own choice stands. */
	if (state == IBV_QPS_RTR && (mask & IBV_QP_MAX_DEST_RD_ATOMIC) && depth)
		attr.max_dest_rd_atomic = depth;
	if (state == IBV_QPS_RTS && (mask & IBV_QP_MAX_QP_RD_ATOMIC) && depth)
		attr.max_rd_atomic = depth;
	return -ibv_modify_qp(ep->qp.ibv, &attr, mask);
}

int pvb_conn_rtr_rts(struct pvb_ep *ep, uint8_t responder_resources,
		     uint8_t initiator_depth)
{
	struct pvb_qp *qp = &ep->qp;
	int ret;

	qp->was_up = true;
	ret = pvb_conn_init(ep);
	if (!ret)
		ret = pvb_conn_modify(ep, IBV_QPS_RTR, responder_resources);
	if (!ret)
		ret = pvb_conn_modify(ep, IBV_QPS_RTS, initiator_depth);
	/* Plain messages to and from the peer do not need the control queue pair. */
	if (!ret && qp->control_qp && ep->conn.peer.control.qp_num &&
	    !pvb_quirk(ep->domain, PVB_QUIRK_KERNEL_CONNECTS))
		pvb_control_qp_connect(qp->control_qp);
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL, "queue pair 0x%x cannot be connected: %s\n",
			 qp->ibv->qp_num, fi_strerror(-ret));
		return ret;
	}
	pvb_wq_open(&qp->sq);
	ret = qp->control_qp ? pvb_control_qp_expose(qp->control_qp) : 0;
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL, "memory window of queue pair 0x%x: %s\n",
			 qp->ibv->qp_num, fi_strerror(-ret));
		pvb_wq_shut(&qp->sq);
	}
	return ret;
}

void pvb_conn_error(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	pvb_qp_shut(qp);
	if (!qp->ibv)
		return;
	if (qp->control_qp)
		pvb_control_qp_lose(qp->control_qp, "the connection ends");
	pvb_qp_error(qp);
}
