/* SPDX-License-Identifier: BSD-2-Clause */
/* The producers' side of completion queues: any process that runs an engine. */
#include "engine.h"
#include "step.h"

/* The event is counted first and rung after: who wakes finds it. */
static void svb_cq_event(struct svb_cq_sh *cq)
{
	cq->armed = SVB_ARMED_NOT;
	__atomic_add_fetch(&cq->events, 1, __ATOMIC_RELEASE);
}

/*
 * IBA 11.6.3.1: a completion that finds no room is lost and the queue is in error for
 * good: whatever else completes there is lost as well, and so is the queue pair that it
 * is of. Lock held.
 */
static void svb_cq_overrun(struct svb_seg *seg, struct svb_cq_sh *cq, uint32_t qpn)
{
	struct svb_qp_sh *qp = svb_seg_qp(seg, SVB_QP_SLOT(qpn));

	if (cq->flags & SVB_CQ_IGNORE_OVERRUN)
		return;
	if (!(cq->flags & SVB_CQ_ERROR))
		svb_async_raise(&cq->asyncs, cq->async, IBV_EVENT_CQ_ERR);
	cq->flags |= SVB_CQ_ERROR;
	cq->limit = 0;
	if (svb_get(qp->state) != IBV_QPS_ERR)
		svb_qp_fail_later(seg, qp, IBV_EVENT_QP_FATAL);
}

void svb_cq_push(struct svb_seg *seg, struct svb_cq_sh *cq, const struct svb_cqe *cqe,
		 bool solicited)
{
	struct svb_cqe *ring;
	uint32_t tail, bell = 0;
	bool stolen;

	stolen = svb_lock(&cq->lock);
	ring = svb_seg_at(seg, cq->ring);
	tail = cq->tail;
	if (svb_unlikely(tail - __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) >=
			 cq->limit)) {
		if (cq->flags & SVB_CQ_MUTE)
			goto out;
		svb_cq_overrun(seg, cq, cqe->wc.qp_num);
	} else {
		ring[tail & cq->mask] = *cqe;
		if (svb_unlikely(cq->flags & SVB_CQ_TIMESTAMPS))
			ring[tail & cq->mask].time = svb_now();
		__atomic_store_n(&cq->tail, tail + 1, __ATOMIC_RELEASE);
	}
	if (svb_unlikely(cq->armed) &&
	    (cq->armed == SVB_ARMED_ANY || solicited || cqe->wc.status || stolen)) {
		svb_cq_event(cq);
		bell = cq->bell;
	}
out:
	svb_unlock(&cq->lock);
	if (svb_unlikely(bell))
		svb_bell_ring(bell);
}
