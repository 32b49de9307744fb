/* SPDX-License-Identifier: BSD-2-Clause */
/* Send queues that wait: the reason, the deadline, and the thread that continues. */
#include "engine.h"
#include "step.h"

/* IBA table 45: what the responder asks the requester to wait after RNR, in 10 us. */
static const uint32_t svb_rnr_delay[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

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
		svb_self.model->tick();
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
		if (svb_unlikely(svb_self.unreliable))
			svb_ud_release_due(svb_self.qp[i]);
	}
	pthread_mutex_unlock(&svb_self.mutex);
}
