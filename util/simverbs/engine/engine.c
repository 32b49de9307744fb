/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "engine.h"
#include "step.h"

/* Completions of requests carry the opcode of what completed. */
static const uint8_t svb_wc_opcodes[] = {
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_SEND] = IBV_WC_SEND,
	[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
	[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	[IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
	[IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
	[SVB_WR_FLUSH] = SVB_WC_FLUSH,
	[SVB_WR_ATOMIC_WRITE] = SVB_WC_ATOMIC_WRITE,
};

bool svb_engine_source(struct svb_op *op, struct svb_span *span)
{
	struct svb_wqe *wqe = op->wqe;

	if (!(wqe->flags & IBV_SEND_INLINE))
		return svb_span_of_sges(span, op->seg, op->qp->pd, wqe->sge, wqe->num_sge,
					0);
	/* The ring is mapped in this process, whichever process owns it. */
	svb_span_of_range(span, svb_self.seg, wqe->sge, wqe->length);
	return true;
}

int svb_engine_moved(struct svb_op *op, int err)
{
	switch (err) {
	case 0:
		return IBV_WC_SUCCESS;
	case ESRCH:
		return svb_engine_unanswered(op->seg, op->qp);
	default:
		/* Memory that is registered but no longer mapped. */
		return IBV_WC_REM_OP_ERR;
	}
}

/* IBA 10.3.1: an error stops a UD queue pair's sends only, all of an RC one. */
static void svb_sq_failed(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	if (svb_get(qp->state) == IBV_QPS_ERR)
		return;
	if (qp->type == IBV_QPT_UD)
		__atomic_store_n(&qp->state, IBV_QPS_SQE, __ATOMIC_RELEASE);
	else
		svb_qp_fail_later(seg, qp, -1);
}

static inline void svb_sq_complete(struct svb_seg *seg, struct svb_qp_sh *qp,
				   struct svb_wqe *wqe, int status)
{
	struct svb_sq *sq = &qp->sq;
	uint32_t next = sq->next + 1;

	if (status || qp->sig_all || (wqe->flags & IBV_SEND_SIGNALED)) {
		struct svb_cqe cqe = {
			.wc.wr_id = wqe->wr_id,
			.wc.status = (enum ibv_wc_status)status,
			.wc.opcode = (enum ibv_wc_opcode)svb_wc_opcodes[wqe->opcode & 15],
			.wc.byte_len = wqe->length,
			.wc.qp_num = qp->qpn,
			.release = (uint32_t)((char *)&sq->done - (char *)seg),
			.release_to = next,
		};

		sq->committing = next;
		svb_cq_push(seg, svb_seg_cq(seg, qp->send_cq), &cqe, false);
	}
	sq->next = next;
	sq->committing = 0;
	svb_set(sq->wait, SVB_WAIT_NONE);
	if (svb_unlikely(status))
		svb_sq_failed(seg, qp);
}

/*
 * Whoever held the lock died while it wrote a completion: finds out whether it is there,
 * so that every request completes exactly once.
 */
static void svb_sq_recover(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_cq_sh *cq = svb_seg_cq(seg, qp->send_cq);
	struct svb_cqe *ring = svb_seg_at(seg, cq->ring);
	uint32_t release = (uint32_t)((char *)&qp->sq.done - (char *)seg), at;
	bool there = (int32_t)(qp->sq.done - qp->sq.committing) >= 0;

	svb_lock(&cq->lock);
	for (at = cq->head; at != cq->tail && !there; at++)
		there = ring[at & cq->mask].release == release &&
			ring[at & cq->mask].release_to == qp->sq.committing;
	svb_unlock(&cq->lock);
	if (there)
		qp->sq.next = qp->sq.committing;
	qp->sq.committing = 0;
}

/* True when the request is not due yet, or has to wait. */
static bool svb_sq_held(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe)
{
	if (wqe->due && svb_now() < wqe->due) {
		svb_engine_wait(seg, &qp->sq, SVB_WAIT_DUE, wqe->due);
		return true;
	}
	return false;
}

static inline int svb_sq_execute(struct svb_seg *seg, struct svb_qp_sh *qp,
				 struct svb_wqe *wqe)
{
	uint32_t state = svb_get(qp->state);

	if (svb_unlikely(state != IBV_QPS_RTS))
		return state == IBV_QPS_ERR || state == IBV_QPS_SQE ? IBV_WC_WR_FLUSH_ERR
								    : SVB_STAYS;
	if (svb_unlikely(svb_self.slow)) {
		if (svb_self.iwarp)
			return svb_iwarp_execute(seg, qp, wqe);
		if (svb_sq_held(seg, qp, wqe))
			return SVB_STAYS;
	}
	if (svb_unlikely(wqe->error))
		return (int)wqe->error;
	return qp->type == IBV_QPT_RC ? svb_rc_execute(seg, qp, wqe)
				      : svb_ud_execute(seg, qp, wqe);
}

int svb_engine_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe)
{
	return svb_sq_execute(seg, qp, wqe);
}

void svb_engine_complete(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe,
			 int status)
{
	svb_sq_complete(seg, qp, wqe, status);
}

static inline void svb_sq_run(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	bool foreign = seg != svb_self.seg;
	struct svb_sq *sq = &qp->sq;
	struct svb_wqe *wqe;
	int status;

	while (sq->next != sq->head) {
		wqe = svb_sq_at(seg, sq, sq->next);
		if (foreign && !svb_sane_wqe(qp, wqe))
			break;
		status = svb_sq_execute(seg, qp, wqe);
		if (status == SVB_STAYS)
			break;
		svb_sq_complete(seg, qp, wqe, status);
	}
}

void svb_engine_run_locked(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	if (svb_unlikely(svb_self.iwarp) && !svb_iwarp_begin(seg, qp))
		return;
	if (svb_unlikely(seg != svb_self.seg) && !svb_sane_sender(seg, qp))
		return;
	if (svb_unlikely(qp->sq.committing))
		svb_sq_recover(seg, qp);
	if (svb_likely(!svb_self.model) || !svb_self.model->run(seg, qp))
		svb_sq_run(seg, qp);
	if (svb_unlikely(svb_self.iwarp))
		svb_iwarp_end(seg, qp);
}

void svb_engine_run(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	svb_lock(&qp->sq.lock);
	svb_engine_run_locked(seg, qp);
	svb_unlock(&qp->sq.lock);
	svb_engine_flush_marked();
}

struct svb_qp_sh *svb_qp_peer(const struct svb_qp_sh *qp, struct svb_seg **seg)
{
	uint32_t dest = svb_get(qp->dest_qpn);
	struct svb_qp_sh *peer;

	if (qp->type != IBV_QPT_RC || !dest)
		return NULL;
	*seg = svb_seg_of(SVB_QP_PROC(dest));
	peer = *seg ? svb_seg_qp_try(*seg, SVB_QP_SLOT(dest)) : NULL;
	return peer && svb_get(peer->qpn) == dest &&
			       svb_get(peer->dest_qpn) == svb_get(qp->qpn)
		       ? peer
		       : NULL;
}

void svb_engine_run_peer(struct svb_qp_sh *qp)
{
	struct svb_seg *seg;
	struct svb_qp_sh *peer = svb_qp_peer(qp, &seg);

	/* It may have found no receive and not yet begun to wait: its lock tells. */
	if (peer)
		svb_engine_run(seg, peer);
}

/* Waits for whoever has the lock now. */
static void svb_pass(struct svb_lock *lock)
{
	svb_lock(lock);
	svb_unlock(lock);
}

void svb_engine_quiesce_qp(struct svb_qp_sh *qp)
{
	struct svb_seg *seg;
	struct svb_qp_sh *peer = svb_qp_peer(qp, &seg);

	if (svb_unlikely(svb_self.model))
		svb_self.model->settle(0);
	svb_pass(&qp->sq.lock);
	svb_pass(&qp->rq.lock);
	if (peer && peer != qp)
		svb_pass(&peer->sq.lock);
}

void svb_engine_quiesce(void)
{
	uint32_t i;

	if (svb_unlikely(svb_self.model))
		svb_self.model->settle(0);
	pthread_mutex_lock(&svb_self.mutex);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++)
		if (svb_self.qp[i] && svb_get(svb_self.qp[i]->sh->state) >= IBV_QPS_RTR)
			svb_engine_quiesce_qp(svb_self.qp[i]->sh);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_SRQ]; i++)
		if (svb_self.srq[i])
			svb_pass(&svb_self.srq[i]->sh->rq.lock);
	pthread_mutex_unlock(&svb_self.mutex);
}
