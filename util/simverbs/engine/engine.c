/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include "model/model.h"
#include "relay.h"
#include "service.h"
#include "step.h"
#include "svb.h"

/* IBA table 45: what the responder asks the requester to wait after RNR, in 10 us. */
static const uint32_t svb_rnr_delay[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

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

/* Queue pairs that went to the error state while this thread held a send queue's lock. */
#define SVB_MARKED 8
static __thread struct {
	struct svb_seg *seg;
	struct svb_qp_sh *qp;
} svb_marked[SVB_MARKED] __attribute__((tls_model("initial-exec")));
static __thread uint32_t svb_marks __attribute__((tls_model("initial-exec")));

void svb_engine_deadline(struct svb_seg *seg, uint64_t deadline)
{
	/* Not a load: who clears the deadline and then looks for what waits sees what was
	 * written before this, or the cleared one is seen here. */
	uint64_t next = __atomic_fetch_add(&seg->next_deadline, 0, __ATOMIC_SEQ_CST);

	while ((!next || deadline < next) &&
	       !__atomic_compare_exchange_n(&seg->next_deadline, &next, deadline, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	if (seg == svb_self.seg)
		svb_service_start();
	svb_service_deadline(seg, deadline);
}

void svb_engine_wake(struct svb_seg *seg)
{
	svb_engine_deadline(seg, 1);
}

int svb_engine_wait(struct svb_seg *seg, struct svb_sq *sq, enum svb_wait why,
		    uint64_t deadline)
{
	svb_set(sq->wait, why);
	sq->deadline = deadline;
	if (deadline)
		svb_engine_deadline(seg, deadline);
	return SVB_STAYS;
}

/* Still waiting for the same: True when that is over. */
static bool svb_expired(struct svb_seg *seg, struct svb_sq *sq)
{
	if (!sq->deadline)
		return false;
	if (svb_now() >= sq->deadline)
		return true;
	svb_engine_deadline(seg, sq->deadline);
	return false;
}

int svb_engine_rnr(struct svb_op *op)
{
	struct svb_sq *sq = &op->qp->sq;
	uint32_t tries = op->qp->attr.rnr_retry & 7;
	uint64_t delay = svb_rnr_delay[op->rqp->attr.min_rnr_timer & 31] * 10000ull;

	if (svb_self.iwarp)
		return svb_iwarp_no_buffer(op);
	if (sq->wait == SVB_WAIT_RNR)
		return svb_expired(op->seg, sq) ? IBV_WC_RNR_RETRY_EXC_ERR : SVB_STAYS;
	if (!tries)
		return IBV_WC_RNR_RETRY_EXC_ERR;
	/* IBA 9.7.5.2.8: seven means without end. */
	return svb_engine_wait(op->seg, sq, SVB_WAIT_RNR,
			       tries == 7 ? 0 : svb_now() + tries * delay);
}

int svb_engine_unanswered(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	uint64_t most = svb_self.settings.retry_cap * 1000000ull, time;
	struct svb_sq *sq = &qp->sq;

	if (sq->wait == SVB_WAIT_RETRY)
		return svb_expired(seg, sq) ? IBV_WC_RETRY_EXC_ERR : SVB_STAYS;
	/* TCP has timers of its own. */
	if (svb_self.iwarp)
		return svb_engine_wait(seg, sq, SVB_WAIT_RETRY, svb_now() + most);
	/* IBA 9.7.6.1.3: 4.096 us << timeout, zero waits without end. */
	if (!qp->attr.timeout)
		return svb_engine_wait(seg, sq, SVB_WAIT_RETRY, 0);
	time = (4096ull << (qp->attr.timeout & 31)) * ((qp->attr.retry_cnt & 7) + 1);
	return svb_engine_wait(seg, sq, SVB_WAIT_RETRY,
			       svb_now() + (time < most ? time : most));
}

bool svb_engine_source(struct svb_op *op, struct svb_span *span)
{
	struct svb_wqe *wqe = op->wqe;

	if (!(wqe->flags & IBV_SEND_INLINE))
		return svb_span_of_sges(span, op->seg, op->qp->pd, wqe->sge, wqe->num_sge,
					0);
	/* The ring is mapped here, whoever's it is. */
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
		/* Memory that was registered and is gone. */
		return IBV_WC_REM_OP_ERR;
	}
}

static void svb_mark(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	__atomic_or_fetch(&qp->flags, SVB_QP_MUST_FLUSH, __ATOMIC_RELAXED);
	if (svb_marks < SVB_MARKED) {
		svb_marked[svb_marks].seg = seg;
		svb_marked[svb_marks++].qp = qp;
	} else {
		svb_engine_deadline(seg, 1);
	}
}

void svb_qp_fail_later(struct svb_seg *seg, struct svb_qp_sh *qp, int event)
{
	__atomic_store_n(&qp->state, IBV_QPS_ERR, __ATOMIC_RELEASE);
	if (event >= 0)
		svb_async_raise(&qp->events, qp->async, (enum ibv_event_type)event);
	svb_mark(seg, qp);
}

void svb_engine_flush_marked(void)
{
	while (svb_marks) {
		svb_marks--;
		svb_qp_flush(svb_marked[svb_marks].seg, svb_marked[svb_marks].qp);
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

/* Its time has not come yet. */
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
	if (svb_likely(!svb_self.model) || !svb_model_run_locked(seg, qp))
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

/* The queue pair that this one is connected to, in *seg; NULL when it is not there. */
static struct svb_qp_sh *svb_qp_peer(const struct svb_qp_sh *qp, struct svb_seg **seg)
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

static void svb_rq_flush(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_recv recv = {.seg = seg, .qp = qp};
	struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV};

	if (qp->srq) {
		recv.copy.head.wr_id = qp->taken_wr_id;
		recv.rwqe = &recv.copy.head;
		if (qp->taken)
			svb_recv_complete(&recv, &wc, false);
		svb_async_raise(&qp->events, qp->async, IBV_EVENT_QP_LAST_WQE_REACHED);
		return;
	}
	svb_lock(&qp->rq.lock);
	while (qp->rq.next != qp->rq.head) {
		recv.rwqe = svb_rq_at(seg, &qp->rq, qp->rq.next);
		svb_recv_complete(&recv, &wc, false);
	}
	svb_unlock(&qp->rq.lock);
}

void svb_qp_flush(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_seg *pseg;
	struct svb_qp_sh *peer = svb_qp_peer(qp, &pseg);

	if (svb_unlikely(svb_self.model))
		svb_model_settle(0);
	if (seg != svb_self.seg && !svb_sane_receiver(seg, qp))
		return;
	/* Once the state is seen by it, the peer delivers nothing more. */
	if (peer) {
		svb_lock(&peer->sq.lock);
		svb_unlock(&peer->sq.lock);
	}
	if (__atomic_fetch_and(&qp->flags, ~SVB_QP_MUST_FLUSH, __ATOMIC_ACQ_REL) &
	    SVB_QP_MUST_FLUSH)
		svb_rq_flush(seg, qp);
	svb_lock(&qp->sq.lock);
	svb_engine_run_locked(seg, qp);
	svb_unlock(&qp->sq.lock);
	if (peer && svb_get(peer->sq.wait) == SVB_WAIT_RNR)
		svb_engine_run(pseg, peer);
}

void svb_qp_fail(struct svb_seg *seg, struct svb_qp_sh *qp, int event)
{
	svb_qp_fail_later(seg, qp, event);
	svb_engine_flush_marked();
}

void svb_engine_timers(void)
{
	struct svb_seg *seg = svb_self.seg;
	uint64_t next = __atomic_load_n(&seg->next_deadline, __ATOMIC_RELAXED);
	struct svb_qp_sh *qp;
	uint32_t i;

	if (!next || svb_now() < next)
		return;
	__atomic_exchange_n(&seg->next_deadline, 0, __ATOMIC_SEQ_CST);
	svb_relay_look();
	if (svb_unlikely(svb_self.model))
		svb_model_tick();
	/* The mutex keeps them from being destroyed; whoever holds a queue's lock does
	 * not ask for it. */
	pthread_mutex_lock(&svb_self.mutex);
	for (i = 0; i < seg->limit[SVB_TAB_QP]; i++) {
		if (!svb_self.qp[i])
			continue;
		qp = svb_seg_qp(seg, i);
		if (svb_get(qp->flags) & SVB_QP_MUST_FLUSH)
			svb_qp_flush(seg, qp);
		if (svb_get(qp->sq.wait))
			svb_engine_run(seg, qp);
	}
	pthread_mutex_unlock(&svb_self.mutex);
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
		svb_model_settle(0);
	svb_pass(&qp->sq.lock);
	svb_pass(&qp->rq.lock);
	if (peer && peer != qp)
		svb_pass(&peer->sq.lock);
}

void svb_engine_quiesce(void)
{
	uint32_t i;

	if (svb_unlikely(svb_self.model))
		svb_model_settle(0);
	pthread_mutex_lock(&svb_self.mutex);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++)
		if (svb_self.qp[i] && svb_get(svb_self.qp[i]->sh->state) >= IBV_QPS_RTR)
			svb_engine_quiesce_qp(svb_self.qp[i]->sh);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_SRQ]; i++)
		if (svb_self.srq[i])
			svb_pass(&svb_self.srq[i]->sh->rq.lock);
	pthread_mutex_unlock(&svb_self.mutex);
}
