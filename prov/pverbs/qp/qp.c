/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue pair over the device's: made by us, not by rdma_cm, so that receives can be
 * posted before there is a path and so that it can have properties rdma_cm does not know.
 *
 * The slots of a work queue are made for its first operation, so that an idle connection
 * costs little. Until then its ring has size 0: the first operation takes the slow path
 * of a full queue, which makes them.
 */
#include <stdlib.h>
#include <string.h>
#include "cq/cq.h"
#include "device/device.h"
#include "internal.h"
#include "qp.h"

static void pvb_wq_init(struct pvb_wq *wq, struct pvb_qp *qp, uint32_t depth)
{
	wq->qp = qp;
	wq->depth = depth;
	crn_ring_init(&wq->ring, 0, crn_roundup_pow2(CRN_MAX(depth, 1u)));
}

static void pvb_wq_fini(struct pvb_wq *wq)
{
	free(wq->slots);
	pvb_grhs_free(&wq->grhs);
	wq->slots = NULL;
	wq->made = false;
}

/*
 * Sets the size of a queue that is open and made. Another thread may shut the queue, or
 * notice the removal of the device, at the same time: it changes open or gone before
 * the size, this thread reads them after writing the size, so by sequential consistency
 * the last write to the size is 0.
 */
static void pvb_wq_size(struct pvb_wq *wq)
{
	atomic_store(&wq->ring.size, wq->depth);
	if (!atomic_load(&wq->open) || atomic_load(&wq->qp->domain->gone))
		atomic_store(&wq->ring.size, 0);
}

int pvb_wq_make(struct pvb_wq *wq)
{
	int ret;

	if (!wq->slots)
		wq->slots = malloc((wq->ring.mask + 1) * sizeof(*wq->slots));
	if (!wq->slots)
		return -FI_ENOMEM;
	if (wq->datagrams) {
		ret = pvb_grhs_make(wq->qp->domain, &wq->grhs,
				    wq->plain_grh ? 1 : wq->ring.mask + 1);
		if (ret)
			return ret;
	}
	/* One of them comes last, here or in pvb_wq_open, and finds the other set. */
	atomic_store(&wq->made, true);
	if (atomic_load(&wq->open))
		pvb_wq_size(wq);
	return 0;
}

/* Not before the device's removal would find it. */
void pvb_wq_open(struct pvb_wq *wq)
{
	atomic_store(&wq->open, true);
	if (atomic_load(&wq->made))
		pvb_wq_size(wq);
}

/*
 * Creates a queue pair that also takes FLUSH or ATOMIC WRITE, if the device has them.
 * NULL: not possible.
 */
static struct ibv_qp *pvb_qp_create_native(struct pvb_domain *domain,
					   struct ibv_qp_init_attr *plain)
{
	const uint32_t ops = pvb_native_ops(&domain->native);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = plain->send_cq,
		.recv_cq = plain->recv_cq,
		.cap = plain->cap,
		.qp_type = plain->qp_type,
		.qp_context = plain->qp_context,
		.srq = plain->srq,
		.pd = domain->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		/* The others are posted by ibv_post_send. */
		.send_ops_flags = ops | IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ,
	};
	struct ibv_qp *ibv;

	if (!ops || !domain->control || plain->qp_type != IBV_QPT_RC)
		return NULL;
	if (domain->seq_atomics)
		attr.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	ibv = ibv_create_qp_ex(domain->verbs, &attr);
	if (ibv)
		plain->cap = attr.cap;
	return ibv;
}

/* 0 or a negative code. */
static int pvb_qp_create(struct pvb_qp *qp, const struct pvb_qp_attr *wanted,
			 size_t inline_size)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = qp->send_hw->cq,
		.recv_cq = qp->recv_hw->cq,
		.cap =
			{
				.max_send_wr = qp->sq.depth + 1,
				.max_recv_wr = qp->rq.depth,
				.max_send_sge = (uint32_t)wanted->tx_iov_limit,
				.max_recv_sge = (uint32_t)wanted->rx_iov_limit +
						(qp->rq.datagrams ? PVB_UD_SGES : 0),
				.max_inline_data = (uint32_t)inline_size,
			},
		.qp_type = wanted->type,
		.qp_context = qp,
		.srq = qp->srx ? qp->srx->srq : NULL,
	};

	qp->ibv = pvb_qp_create_native(qp->domain, &attr);
	qp->ibv_ex = qp->ibv ? ibv_qp_to_qp_ex(qp->ibv) : NULL;
	if (!qp->ibv)
		qp->ibv = ibv_create_qp(qp->domain->pd, &attr);
	if (!qp->ibv)
		return pvb_errno();
	qp->inline_size = attr.cap.max_inline_data;
	return 0;
}

int pvb_bounce_make(struct pvb_qp *qp, size_t inject_size)
{
	const size_t size = (size_t)(qp->sq.ring.mask + 1) * inject_size;
	int ret;

	crn_lock_assert_held(&qp->tx_lock);
	qp->bounce = malloc(size);
	if (!qp->bounce)
		return -FI_ENOMEM;
	qp->bounce_mr = ibv_reg_mr(qp->domain->pd, qp->bounce, size, 0);
	if (qp->bounce_mr)
		return 0;
	ret = pvb_errno();
	pvb_mr_explain(-ret, qp->bounce, size);
	free(qp->bounce);
	qp->bounce = NULL;
	return ret;
}

static void pvb_bounce_fini(struct pvb_qp *qp)
{
	if (qp->bounce_mr)
		ibv_dereg_mr(qp->bounce_mr);
	free(qp->bounce);
	qp->bounce_mr = NULL;
	qp->bounce = NULL;
}

static int pvb_qp_reserve_recv(struct pvb_qp *qp)
{
	return qp->srx ? pvb_srx_attach(qp->srx, qp->rq.cq, &qp->recv_hw)
		       : pvb_cq_reserve(qp->rq.cq, qp->rq.depth, &qp->recv_hw);
}

static int pvb_qp_reserve(struct pvb_qp *qp)
{
	int ret;

	ret = pvb_cq_reserve(qp->sq.cq, qp->sq.depth + 1, &qp->send_hw);
	if (ret)
		return ret;
	ret = pvb_qp_reserve_recv(qp);
	if (ret)
		pvb_cq_release(qp->sq.cq, qp->send_hw, qp->sq.depth + 1);
	return ret;
}

static void pvb_qp_unreserve(struct pvb_qp *qp)
{
	pvb_cq_release(qp->sq.cq, qp->send_hw, qp->sq.depth + 1);
	if (qp->srx)
		pvb_srx_detach(qp->srx, qp->rq.cq);
	else
		pvb_cq_release(qp->rq.cq, qp->recv_hw, qp->rq.depth);
}

int pvb_qp_open(struct pvb_qp *qp, const struct pvb_qp_attr *attr)
{
	size_t size;
	int ret;

	pvb_wq_init(&qp->sq, qp, attr->tx_depth);
	pvb_wq_init(&qp->rq, qp, qp->srx ? 0 : attr->rx_depth);
	qp->rq.datagrams = attr->type == IBV_QPT_UD;
	ret = pvb_cntr_attach(&qp->sq);
	if (ret)
		return ret;
	ret = pvb_cntr_attach(&qp->rq);
	if (ret)
		goto err_sq_cntr;
	ret = pvb_qp_reserve(qp);
	if (ret)
		goto err_rq_cntr;

	/* Devices do not say how much they take inline: what is more is copied. */
	size = attr->inject_size;
	while ((ret = pvb_qp_create(qp, attr, size)) && size)
		size /= 2;
	if (ret) {
		PVB_WARN(FI_LOG_EP_CTRL,
			 "%s makes no queue pair with %u sends, %u receives: %s\n",
			 pvb_domain_device(qp->domain), qp->sq.depth, qp->rq.depth,
			 fi_strerror(-ret));
		goto err_reserve;
	}
	/* What is counted is counted when it is done, not when a later one is. */
	qp->signal_every = qp->sq.counted ? 1 : CRN_MAX(qp->sq.depth / 4, 1u);
	qp->unsignaled = 0;
	return 0;
err_reserve:
	pvb_qp_unreserve(qp);
err_rq_cntr:
	pvb_cntr_detach(&qp->rq);
err_sq_cntr:
	pvb_cntr_detach(&qp->sq);
	return ret;
}

void pvb_qp_close(struct pvb_qp *qp)
{
	ibv_destroy_qp(qp->ibv);
	qp->ibv = NULL;
	pvb_bounce_fini(qp);
	pvb_qp_unreserve(qp);
	pvb_cntr_detach(&qp->rq);
	pvb_cntr_detach(&qp->sq);
	free(qp->chain);
	qp->chain = NULL;
	pvb_wq_fini(&qp->rq);
	pvb_wq_fini(&qp->sq);
}

int pvb_qp_start(struct pvb_qp *qp, bool watch_shared)
{
	int ret = 0;

	if (qp->srx && (watch_shared || qp->rq.counted))
		ret = pvb_cq_share(qp->rq.cq, qp->ibv->qp_num, &qp->rq);
	if (ret)
		return ret;
	pvb_removal_add(qp);
	pvb_wq_open(&qp->rq);
	pvb_cntr_wake(&qp->sq);
	pvb_cntr_wake(&qp->rq);
	return 0;
}

void pvb_qp_stop(struct pvb_qp *qp)
{
	pvb_removal_del(qp);
	if (qp->srx)
		pvb_cq_unshare(qp->rq.cq, qp->ibv->qp_num);
}

int pvb_qp_init(struct pvb_qp *qp, struct ibv_qp_attr *path, int mask, bool atomics)
{
	path->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_WRITE |
				(atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0) |
				pvb_native_access(&qp->domain->native);
	return -ibv_modify_qp(qp->ibv, path, mask);
}

void pvb_qp_error(struct pvb_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	int err = ibv_modify_qp(qp->ibv, &attr, IBV_QP_STATE);

	if (err && pvb_removal_ret(qp->domain, -err) != -FI_ENODEV)
		PVB_WARN(FI_LOG_EP_CTRL, "queue pair 0x%x does not go to ERR: %s\n",
			 qp->ibv->qp_num, strerror(err));
}
