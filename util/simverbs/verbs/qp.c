/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and destroying queue pairs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "verbs.h"

static int svb_check_cap(const struct ibv_qp_init_attr_ex *attr)
{
	const struct svb_settings *set = &svb_self.settings;
	const struct ibv_qp_cap *cap = &attr->cap;

	if (cap->max_send_wr > set->max_qp_wr || cap->max_send_sge > set->max_sge ||
	    cap->max_inline_data > set->max_inline)
		return EINVAL;
	/* With a shared queue the receive figures mean nothing. */
	if (!attr->srq &&
	    (cap->max_recv_wr > set->max_qp_wr || cap->max_recv_sge > set->max_sge))
		return EINVAL;
	return 0;
}

static int svb_check_init(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (attr->comp_mask & ~known ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	     attr->create_flags & ~(uint32_t)IBV_QP_CREATE_BLOCK_SELF_MCAST_LB))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq || !attr->recv_cq)
		return EINVAL;
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	if (attr->qp_type == IBV_QPT_UD && svb_self.settings.link == SVB_LINK_IWARP)
		return EOPNOTSUPP;
	return svb_check_cap(attr);
}

/* Bytes from one request to the next: whole cache lines. */
static uint32_t svb_sq_stride(const struct ibv_qp_cap *cap)
{
	uint32_t sges = cap->max_send_sge * (uint32_t)sizeof(struct ibv_sge);
	uint32_t data = sges > cap->max_inline_data ? sges : cap->max_inline_data;

	/* Atomic writes carry their eight bytes inline. */
	return SVB_WQE_HEAD + ((data < 16 ? 16 : data) + 63) / 64 * 64;
}

int svb_rq_alloc(struct svb_rq *rq, uint32_t entries, uint32_t sges, uint64_t *size)
{
	uint32_t stride =
		(uint32_t)(sizeof(struct svb_rwqe) + sges * sizeof(struct ibv_sge));

	rq->limit = entries;
	rq->max_sge = sges;
	rq->stride = stride;
	rq->mask = svb_ring_count(entries) - 1;
	*size = (uint64_t)(rq->mask + 1) * stride;
	rq->ring = svb_seg_alloc(*size);
	return rq->ring ? 0 : ENOMEM;
}

static int svb_qp_rings(struct svb_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct svb_sq *sq = &qp->sh->sq;
	int ret;

	sq->limit = attr->cap.max_send_wr;
	sq->mask = svb_ring_count(sq->limit) - 1;
	sq->stride = svb_sq_stride(&attr->cap);
	qp->sq_size = (uint64_t)(sq->mask + 1) * sq->stride;
	sq->ring = svb_seg_alloc(qp->sq_size);
	if (!sq->ring)
		return ENOMEM;
	if (attr->srq)
		return 0;
	ret = svb_rq_alloc(&qp->sh->rq, attr->cap.max_recv_wr, attr->cap.max_recv_sge,
			   &qp->rq_size);
	if (ret)
		svb_seg_free(sq->ring, qp->sq_size);
	return ret;
}

static void svb_qp_describe(struct svb_qp *qp, struct ibv_context *ctx,
			    struct ibv_qp_init_attr_ex *attr)
{
	struct svb_qp_sh *sh = qp->sh;

	if (attr->srq)
		attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
	qp->send_cq = svb_cq(attr->send_cq);
	qp->recv_cq = svb_cq(attr->recv_cq);
	qp->srq = attr->srq ? svb_srq(attr->srq) : NULL;
	qp->max_inline = attr->cap.max_inline_data;
	qp->max_send_sge = attr->cap.max_send_sge;
	qp->max_recv_sge = attr->cap.max_recv_sge;
	qp->opcodes = svb_qp_opcodes(attr->qp_type);
	crn_list_init(&qp->wire);
	sh->state = svb_qp_idle();
	sh->type = attr->qp_type;
	sh->pd = attr->pd->handle;
	sh->send_cq = qp->send_cq->slot;
	sh->recv_cq = qp->recv_cq->slot;
	sh->srq = qp->srq ? qp->srq->slot + 1 : 0;
	sh->sig_all = !!attr->sq_sig_all;
	sh->async = svb_context(ctx)->bell;
	sh->cap = attr->cap;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)
		sh->flags = SVB_QP_NO_MCAST_LOOP;
	qp->ibv.context = ctx;
	qp->ibv.qp_context = attr->qp_context;
	qp->ibv.pd = attr->pd;
	qp->ibv.send_cq = attr->send_cq;
	qp->ibv.recv_cq = attr->recv_cq;
	qp->ibv.srq = attr->srq;
	qp->ibv.handle = qp->slot;
	qp->ibv.qp_num = svb_self.index << SVB_QP_BITS | qp->slot;
	qp->ibv.state = IBV_QPS_RESET;
	qp->ibv.qp_type = attr->qp_type;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
}

static void svb_qp_users(struct svb_qp *qp, int step)
{
	qp->send_cq->users += (uint32_t)step;
	qp->recv_cq->users += (uint32_t)step;
	if (qp->srq)
		qp->srq->users += (uint32_t)step;
}

struct ibv_qp *svb_create_qp_ex(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct svb_qp *qp = NULL;
	int64_t slot = -1;

	errno = svb_check_init(attr);
	if (errno || svb_removed_ctx(ctx))
		return NULL;
	qp = calloc(1, sizeof(*qp));
	if (qp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		qp->ibv.qp_type = attr->qp_type;
		errno = svb_wr_ex_init(qp, attr->send_ops_flags);
		if (errno)
			goto err;
	}
	slot = qp ? svb_slot_alloc(SVB_TAB_QP) : -1;
	if (slot < 0)
		goto err;
	qp->slot = (uint32_t)slot;
	qp->sh = svb_seg_qp(svb_self.seg, qp->slot);
	memset(qp->sh, 0, sizeof(*qp->sh));
	errno = svb_qp_rings(qp, attr);
	if (errno)
		goto err;
	svb_qp_describe(qp, ctx, attr);
	svb_pd_hold(attr->pd);
	pthread_mutex_lock(&svb_self.mutex);
	svb_qp_users(qp, 1);
	svb_self.qp[qp->slot] = qp;
	pthread_mutex_unlock(&svb_self.mutex);
	__atomic_store_n(&qp->sh->qpn, qp->ibv.qp_num, __ATOMIC_RELEASE);
	return &qp->ibv;
err:
	if (slot >= 0)
		svb_slot_free(SVB_TAB_QP, (uint32_t)slot);
	free(qp);
	return NULL;
}

SVB_API struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = init->qp_context,
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.srq = init->srq,
		.cap = init->cap,
		.qp_type = init->qp_type,
		.sq_sig_all = init->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = svb_create_qp_ex(pd->context, &attr);

	if (qp)
		init->cap = attr.cap;
	return qp;
}

/* True while the queue pair is a member of a multicast group. */
static bool svb_qp_attached(uint32_t qpn)
{
	struct svb_mcast_sh *at;
	uint32_t i;

	if (!svb_self.seg->mcast_end)
		return false;
	for (i = 0; (at = svb_seg_mcast_try(svb_self.seg, i)); i++)
		if (at->qpn == qpn)
			return true;
	return false;
}

SVB_API int ibv_destroy_qp(struct ibv_qp *ibqp)
{
	struct svb_qp *qp = svb_qp(ibqp);
	struct svb_qp_sh *sh = qp->sh;

	if (svb_qp_attached(sh->qpn))
		return EBUSY;
	if (svb_self.iwarp)
		svb_iwarp_close(qp);
	/* Nobody delivers to it once they have seen this. */
	__atomic_store_n(&sh->state, IBV_QPS_RESET, __ATOMIC_SEQ_CST);
	svb_engine_quiesce_qp(sh);
	svb_ud_forget(qp);
	svb_engine_run_peer(sh);
	pthread_mutex_lock(&svb_self.mutex);
	svb_self.qp[qp->slot] = NULL;
	svb_qp_users(qp, -1);
	pthread_mutex_unlock(&svb_self.mutex);
	svb_wait_acked(&ibqp->mutex, &ibqp->cond, &ibqp->events_completed, &qp->given);
	svb_cq_clean(qp->send_cq, sh->qpn);
	if (qp->recv_cq != qp->send_cq)
		svb_cq_clean(qp->recv_cq, sh->qpn);
	__atomic_store_n(&sh->qpn, 0, __ATOMIC_RELEASE);
	svb_set(sh->state, SVB_QP_FREE);
	svb_set(sh->flags, 0);
	svb_set(sh->sq.wait, SVB_WAIT_NONE);
	svb_seg_free(sh->sq.ring, qp->sq_size);
	if (!qp->srq)
		svb_seg_free(sh->rq.ring, qp->rq_size);
	svb_pd_drop(ibqp->pd);
	svb_slot_free(SVB_TAB_QP, qp->slot);
	pthread_mutex_destroy(&ibqp->mutex);
	pthread_cond_destroy(&ibqp->cond);
	free(qp);
	return 0;
}

SVB_API struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *ibqp)
{
	return svb_qp(ibqp)->extended ? &svb_qp(ibqp)->ex : NULL;
}

/* Bytes of a message are written in order, but no adapter promises it and neither do we.
 */
SVB_API int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
				       uint32_t flags)
{
	return 0;
}
