/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue pair of a connection: made by us, not by rdma_cm, so that receives can be
 * posted before there is a path and so that it can have properties rdma_cm does not know.
 */
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "persist/persist.h"
#include "internal.h"
#include "qp.h"

static int pvb_wq_init(struct pvb_wq *wq, struct pvb_qp *qp, struct pvb_cq *cq,
		       uint32_t depth)
{
	const uint32_t capacity = crn_roundup_pow2(CRN_MAX(depth, 1u));

	wq->slots = malloc(capacity * sizeof(*wq->slots));
	if (!wq->slots)
		return -FI_ENOMEM;
	wq->qp = qp;
	wq->cq = cq;
	wq->depth = depth;
	crn_ring_init(&wq->ring, 0, capacity);
	return 0;
}

static void pvb_wq_fini(struct pvb_wq *wq)
{
	free(wq->slots);
	wq->slots = NULL;
	pvb_bufs_close(wq);
}

/* One that takes FLUSH or ATOMIC WRITE as well, where the device has them. NULL: none. */
static struct ibv_qp *pvb_qp_create_native(struct pvb_ep *ep,
					   struct ibv_qp_init_attr *plain)
{
	const uint32_t ops = pvb_native_ops(&ep->domain->native);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = plain->send_cq,
		.recv_cq = plain->recv_cq,
		.cap = plain->cap,
		.qp_type = plain->qp_type,
		.qp_context = plain->qp_context,
		.srq = plain->srq,
		.pd = ep->domain->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		/* The others are posted by ibv_post_send. */
		.send_ops_flags = ops | IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ,
	};
	struct ibv_qp *qp;

	if (!ops || !ep->domain->control)
		return NULL;
	if (ep->domain->seq_atomics)
		attr.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	qp = ibv_create_qp_ex(ep->domain->verbs, &attr);
	if (qp)
		plain->cap = attr.cap;
	return qp;
}

static struct ibv_qp *pvb_qp_create(struct pvb_ep *ep, uint32_t inline_size,
				    uint32_t *got)
{
	struct pvb_qp *qp = &ep->qp;
	struct ibv_qp_init_attr attr = {
		.send_cq = qp->send_hw->cq,
		.recv_cq = qp->recv_hw->cq,
		.cap =
			{
				.max_send_wr = qp->sq.depth + 1,
				.max_recv_wr = qp->rq.depth,
				.max_send_sge = (uint32_t)ep->info->tx_attr->iov_limit,
				.max_recv_sge = (uint32_t)ep->info->rx_attr->iov_limit,
				.max_inline_data = inline_size,
			},
		.qp_type = IBV_QPT_RC,
		.qp_context = ep,
		.srq = ep->srx ? ep->srx->srq : NULL,
	};
	struct ibv_qp *ibv = pvb_qp_create_native(ep, &attr);

	qp->ibv_ex = ibv ? ibv_qp_to_qp_ex(ibv) : NULL;
	if (!ibv)
		ibv = ibv_create_qp(ep->domain->pd, &attr);
	*got = ibv ? attr.cap.max_inline_data : 0;
	return ibv;
}

/* fi_inject on a device that takes less inline data: buffers of our own, one a slot. */
static int pvb_bounce_init(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	size_t size = (size_t)(qp->sq.ring.mask + 1) * ep->inject_size;

	if (ep->inject_size <= qp->inline_size)
		return 0;
	qp->bounce = malloc(size);
	if (!qp->bounce)
		return -FI_ENOMEM;
	qp->bounce_mr = ibv_reg_mr(ep->domain->pd, qp->bounce, size, 0);
	if (!qp->bounce_mr) {
		free(qp->bounce);
		qp->bounce = NULL;
		return pvb_errno();
	}
	return 0;
}

static void pvb_bounce_fini(struct pvb_qp *qp)
{
	if (qp->bounce_mr)
		ibv_dereg_mr(qp->bounce_mr);
	free(qp->bounce);
	qp->bounce_mr = NULL;
	qp->bounce = NULL;
}

static int pvb_conn_reserve_recv(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	return ep->srx ? pvb_srx_attach(ep->srx, qp->rq.cq, &qp->recv_hw)
		       : pvb_cq_reserve(qp->rq.cq, qp->rq.depth, &qp->recv_hw);
}

static int pvb_conn_reserve(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	int ret;

	ret = pvb_cq_reserve(qp->sq.cq, qp->sq.depth + 1, &qp->send_hw);
	if (ret)
		return ret;
	ret = pvb_conn_reserve_recv(ep);
	if (ret)
		pvb_cq_release(qp->sq.cq, qp->send_hw, qp->sq.depth + 1);
	return ret;
}

static void pvb_conn_unreserve(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	pvb_cq_release(qp->sq.cq, qp->send_hw, qp->sq.depth + 1);
	if (ep->srx)
		pvb_srx_detach(ep->srx, qp->rq.cq);
	else
		pvb_cq_release(qp->rq.cq, qp->recv_hw, qp->rq.depth);
}

/* What a completion queue has to know of an endpoint whose receives are shared. */
static int pvb_conn_share(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	if (!ep->srx || !(ep->rx_selective || qp->rq.counted || ep->domain->control))
		return 0;
	return pvb_cq_share(qp->rq.cq, qp->ibv->qp_num, &qp->rq);
}

static void pvb_conn_unshare(struct pvb_ep *ep)
{
	if (ep->srx)
		pvb_cq_unshare(ep->qp.rq.cq, ep->qp.ibv->qp_num);
}

/*
 * tx_attr->size operations fit whatever the endpoint's own flags make of them. Two
 * entries at least: one operation may ask for FI_DELIVERY_COMPLETE, and takes as many.
 */
static uint32_t pvb_conn_tx_depth(const struct pvb_ep *ep)
{
	const uint32_t most = (uint32_t)ep->domain->attr.max_qp_wr - 1;
	const uint32_t size = (uint32_t)ep->info->tx_attr->size;
	const uint32_t own = pvb_params.keepalive ? 1 : 0; /* cm/keepalive.c */
	const uint32_t depth = size * pvb_tx_entries(ep->info->tx_attr->op_flags) + own;

	return CRN_MAX(CRN_MIN(depth, most), 2u);
}

/* A peer that asked for a connection without a control queue pair gets none. */
static int pvb_conn_control_qp(struct pvb_ep *ep)
{
	const struct pvb_domain *domain = ep->domain;
	int ret = 0;

	/* What is posted before the first durable operation counts. */
	if (domain->control || (ep->info->caps & FI_RMA_PMEM))
		ret = pvb_commit_open(&ep->qp);
	if (ret)
		return ret;
	if (!domain->control || ep->raw_cm ||
	    (ep->req && !(domain->iwarp ? ep->req->data.control_conn
					: ep->req->data.control.qp_num)))
		return 0;
	if (!ep->srx)
		ret = pvb_bufs_open(&ep->qp.rq, ep->qp.rq.ring.mask + 1,
				    ep->info->rx_attr->iov_limit);
	return ret ? ret : pvb_control_qp_open(&ep->qp);
}

/* Not before the device's removal would find it. */
void pvb_qp_open_ring(struct pvb_wq *wq)
{
	crn_ring_set_size(&wq->ring, wq->depth);
	if (pvb_removed(pvb_qp_ep(wq->qp)->domain))
		crn_ring_set_size(&wq->ring, 0);
}

int pvb_ep_create_qp(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;
	int ret;

	ret = pvb_wq_init(&qp->sq, qp, qp->sq.cq, pvb_conn_tx_depth(ep));
	if (ret)
		return ret;
	ret = pvb_wq_init(&qp->rq, qp, qp->rq.cq,
			  ep->srx ? 0 : (uint32_t)ep->info->rx_attr->size);
	if (ret)
		goto err_sq;
	ret = pvb_cntr_attach(&qp->sq);
	if (ret)
		goto err_rq;
	ret = pvb_cntr_attach(&qp->rq);
	if (ret)
		goto err_sq_cntr;
	ret = pvb_conn_reserve(ep);
	if (ret)
		goto err_rq_cntr;

	qp->ibv = pvb_qp_create(ep, (uint32_t)ep->inject_size, &qp->inline_size);
	if (!qp->ibv && ep->inject_size)
		qp->ibv = pvb_qp_create(ep, 0, &qp->inline_size);
	if (!qp->ibv) {
		ret = pvb_errno();
		PVB_WARN(FI_LOG_EP_CTRL,
			 "%s makes no queue pair with %u sends, %u receives: %s\n",
			 pvb_domain_device(ep->domain), qp->sq.depth, qp->rq.depth,
			 fi_strerror(-ret));
		goto err_reserve;
	}
	ret = pvb_bounce_init(ep);
	if (ret)
		goto err_qp;
	ret = pvb_qp_init(ep, NULL);
	if (!ret)
		ret = pvb_conn_control_qp(ep);
	if (ret)
		goto err_commit;
	/* A reader that finds the work queue must find the control queue pair too. */
	ret = pvb_conn_share(ep);
	if (ret)
		goto err_control_qp;
	/* What is counted is counted when it is done, not when a later one is. */
	qp->signal_every = qp->sq.counted ? 1 : CRN_MAX(qp->sq.depth / 4, 1u);
	qp->unsignaled = 0;
	pvb_removal_add(qp);
	pvb_qp_open_ring(&qp->rq);
	pvb_cntr_wake(&qp->sq);
	pvb_cntr_wake(&qp->rq);
	ep->conn.state = PVB_CONN_ENABLED;
	return 0;
err_control_qp:
	pvb_control_qp_close(qp);
err_commit:
	pvb_commit_close(qp);
	pvb_bounce_fini(qp);
err_qp:
	ibv_destroy_qp(qp->ibv);
	qp->ibv = NULL;
err_reserve:
	pvb_conn_unreserve(ep);
err_rq_cntr:
	pvb_cntr_detach(&qp->rq);
err_sq_cntr:
	pvb_cntr_detach(&qp->sq);
err_rq:
	pvb_wq_fini(&qp->rq);
err_sq:
	pvb_wq_fini(&qp->sq);
	return ret;
}

void pvb_ep_destroy_qp(struct pvb_ep *ep)
{
	struct pvb_qp *qp = &ep->qp;

	if (!qp->ibv)
		return;
	pvb_removal_del(qp);
	pvb_conn_unshare(ep);
	crn_lock(&qp->sq.cq->lock);
	pvb_defer_forget(qp);
	crn_unlock(&qp->sq.cq->lock);
	crn_lock(&qp->rq.cq->lock);
	pvb_arrivals_close(qp->rq.cq, qp);
	crn_unlock(&qp->rq.cq->lock);
	pvb_control_qp_close(qp);
	pvb_commit_close(qp);
	ibv_destroy_qp(qp->ibv);
	qp->ibv = NULL;
	pvb_bounce_fini(qp);
	pvb_conn_unreserve(ep);
	pvb_cntr_detach(&qp->rq);
	pvb_cntr_detach(&qp->sq);
	free(qp->chain);
	qp->chain = NULL;
	pvb_wq_fini(&qp->rq);
	pvb_wq_fini(&qp->sq);
}

/* The port an endpoint is on before rdma_cm has found a path: that of its own address. */
static int pvb_conn_first_port(struct pvb_ep *ep, uint8_t *port)
{
	struct pvb_device_addr *list;
	size_t i, count;
	int ret;

	*port = 1;
	if (ep->domain->attr.phys_port_cnt <= 1 || !ep->info->src_addr)
		return 0;
	ret = pvb_device_addrs(&list, &count);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		if (!strcmp(list[i].device, pvb_domain_device(ep->domain)) &&
		    crn_addr_same_host(&list[i].addr.sa, ep->info->src_addr))
			*port = list[i].port;
	}
	free(list);
	return 0;
}

int pvb_qp_init(struct pvb_ep *ep, struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	int ret;

	if (id) {
		if (rdma_init_qp_attr(id, &attr, &mask))
			return pvb_errno();
	} else {
		ret = pvb_conn_first_port(ep, &attr.port_num);
		if (ret)
			return ret;
	}
	attr.qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	if (ep->domain->atomics || (ep->qp.control_qp && ep->domain->seq_atomics))
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
	attr.qp_access_flags |= pvb_native_access(&ep->domain->native);
	return -ibv_modify_qp(ep->qp.ibv, &attr, mask);
}

static int pvb_conn_modify(struct pvb_qp *qp, enum ibv_qp_state state, uint8_t depth)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask, ret;

	if (rdma_init_qp_attr(pvb_qp_ep(qp)->conn.id, &attr, &mask))
		return pvb_errno();
	ret = pvb_path_check(pvb_qp_ep(qp), &attr, mask);
	if (ret)
		return ret;
	pvb_path_attr(&attr, mask);
	/* Zero means that the CM message named no number: rdma_cm's own choice stands. */
	if (state == IBV_QPS_RTR && (mask & IBV_QP_MAX_DEST_RD_ATOMIC) && depth)
		attr.max_dest_rd_atomic = depth;
	if (state == IBV_QPS_RTS && (mask & IBV_QP_MAX_QP_RD_ATOMIC) && depth)
		attr.max_rd_atomic = depth;
	return -ibv_modify_qp(qp->ibv, &attr, mask);
}

int pvb_qp_rtr_rts(struct pvb_ep *ep, uint8_t responder_resources,
		   uint8_t initiator_depth)
{
	struct pvb_qp *qp = &ep->qp;
	int ret;

	qp->was_up = true;
	/* The path may use another port or P_Key than the one assumed at first. */
	ret = pvb_qp_init(ep, ep->conn.id);
	if (!ret)
		ret = pvb_conn_modify(qp, IBV_QPS_RTR, responder_resources);
	if (!ret)
		ret = pvb_conn_modify(qp, IBV_QPS_RTS, initiator_depth);
	/* Messages to and from the peer do not need it. */
	if (!ret && qp->control_qp && ep->conn.peer.control.qp_num && !ep->domain->iwarp)
		pvb_control_qp_connect(qp->control_qp);
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL, "queue pair 0x%x cannot be connected: %s\n",
			 qp->ibv->qp_num, fi_strerror(-ret));
		return ret;
	}
	pvb_qp_open_ring(&qp->sq);
	ret = qp->control_qp ? pvb_control_qp_expose(qp->control_qp) : 0;
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL, "memory window of queue pair 0x%x: %s\n",
			 qp->ibv->qp_num, fi_strerror(-ret));
		crn_ring_set_size(&qp->sq.ring, 0);
	}
	return ret;
}

void pvb_qp_error(struct pvb_ep *ep)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct pvb_qp *qp = &ep->qp;
	int err;

	crn_ring_set_size(&qp->sq.ring, 0);
	crn_ring_set_size(&qp->rq.ring, 0);
	if (!qp->ibv)
		return;
	if (qp->control_qp)
		pvb_control_qp_lose(qp->control_qp, "the connection ends");
	err = ibv_modify_qp(qp->ibv, &attr, IBV_QP_STATE);
	if (err && pvb_removal_ret(ep->domain, -err) != -FI_ENODEV)
		PVB_WARN(FI_LOG_EP_CTRL, "queue pair 0x%x does not go to ERR: %s\n",
			 qp->ibv->qp_num, strerror(err));
}
