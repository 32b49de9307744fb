/* SPDX-License-Identifier: BSD-2-Clause */
/* The error state of queue pairs: what is in their queues completes as flushed. */
#include "engine.h"

/* Queue pairs that went to the error state while this thread held a send queue's lock. */
#define SVB_MARKED 8
static __thread struct {
	struct svb_seg *seg;
	struct svb_qp_sh *qp;
} svb_marked[SVB_MARKED] __attribute__((tls_model("initial-exec")));
static __thread uint32_t svb_marks __attribute__((tls_model("initial-exec")));

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
		svb_self.model->settle(0);
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
