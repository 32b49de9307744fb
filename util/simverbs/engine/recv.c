/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder's receives: from its own queue or a shared one. */
#include <string.h>
#include "engine.h"

/*
 * A queue pair's own receive stays in the ring until it is complete: only its one sender
 * works on it, and should that die the receive is still there to be flushed.
 */
static bool svb_rq_peek(struct svb_recv *recv, struct svb_rq *rq)
{
	bool empty = __atomic_load_n(&rq->head, __ATOMIC_ACQUIRE) == rq->next;

	if (svb_unlikely(empty)) {
		svb_lock(&rq->lock);
		empty = rq->head == rq->next;
		rq->waiting = empty;
		svb_unlock(&rq->lock);
		if (empty)
			return false;
	}
	recv->rwqe = svb_rq_at(recv->seg, rq, rq->next);
	return true;
}

/* IBA 11.5.2.3: the limit event is given once, when fewer than the limit are left. */
static void svb_srq_limit(struct svb_srq_sh *srq)
{
	if (!srq->limit_event || srq->rq.head - srq->rq.next >= srq->limit_event)
		return;
	srq->limit_event = 0;
	svb_async_raise(&srq->events, srq->async, IBV_EVENT_SRQ_LIMIT_REACHED);
}

static bool svb_srq_take(struct svb_recv *recv, struct svb_srq_sh *srq)
{
	struct svb_rq *rq = &srq->rq;
	struct svb_rwqe *rwqe;
	bool found;

	svb_lock(&rq->lock);
	found = rq->head != rq->next;
	if (found) {
		rwqe = svb_rq_at(recv->seg, rq, rq->next);
		recv->copy.head = *rwqe;
		if (recv->copy.head.num_sge > SVB_MAX_SGE)
			recv->copy.head.num_sge = SVB_MAX_SGE;
		memcpy(recv->copy.sge, rwqe->sge,
		       recv->copy.head.num_sge * sizeof(struct ibv_sge));
		/* Should this process die now, the owner completes it as flushed. */
		recv->qp->taken_wr_id = rwqe->wr_id;
		recv->qp->taken = 1;
		svb_set(rq->next, rq->next + 1);
		__atomic_store_n(&rq->done, rq->next, __ATOMIC_RELEASE);
		svb_srq_limit(srq);
	} else {
		rq->waiting = 1;
		recv->qp->rq.waiting = 1;
	}
	svb_unlock(&rq->lock);
	recv->rwqe = &recv->copy.head;
	return found;
}

bool svb_recv_take(struct svb_recv *recv, struct svb_seg *seg, struct svb_qp_sh *qp)
{
	recv->seg = seg;
	recv->qp = qp;
	if (qp->srq)
		return svb_srq_take(recv, svb_seg_srq(seg, qp->srq - 1));
	return svb_rq_peek(recv, &qp->rq);
}

static const struct ibv_sge *svb_recv_sges(const struct svb_recv *recv)
{
	return recv->qp->srq ? recv->copy.sge : recv->rwqe->sge;
}

bool svb_recv_span(struct svb_recv *recv, struct svb_span *span, uint64_t len)
{
	struct svb_qp_sh *qp = recv->qp;
	uint32_t pd = qp->srq ? svb_seg_srq(recv->seg, qp->srq - 1)->pd : qp->pd;
	const struct ibv_sge *sge = svb_recv_sges(recv);
	uint32_t count = 0;
	uint64_t room = 0;

	while (count < recv->rwqe->num_sge && room < len)
		room += sge[count++].length;
	return svb_span_of_sges(span, recv->seg, pd, sge, count, IBV_ACCESS_LOCAL_WRITE);
}

/* IBA 11.6.3.3: the first message while still ready to receive only. */
void svb_recv_established(struct svb_qp_sh *qp)
{
	if (svb_likely(svb_get(qp->state) != IBV_QPS_RTR ||
		       svb_get(qp->flags) & SVB_QP_ESTABLISHED))
		return;
	__atomic_or_fetch(&qp->flags, SVB_QP_ESTABLISHED, __ATOMIC_RELAXED);
	svb_async_raise(&qp->events, qp->async, IBV_EVENT_COMM_EST);
}

void svb_recv_report(struct svb_seg *seg, struct svb_qp_sh *qp, const struct ibv_wc *wc,
		     bool own, uint32_t counter, bool solicited)
{
	struct svb_cqe cqe = {.wc = *wc, .release = offsetof(struct svb_seg, nothing)};

	if (own) {
		cqe.release = (uint32_t)((char *)&qp->rq.done - (char *)seg);
		cqe.release_to = counter + 1;
	}
	svb_cq_push(seg, svb_seg_cq(seg, qp->recv_cq), &cqe, solicited);
	svb_recv_established(qp);
}

void svb_recv_complete(struct svb_recv *recv, struct ibv_wc *wc, bool solicited)
{
	struct svb_qp_sh *qp = recv->qp;
	struct svb_cqe cqe = {.wc = *wc, .release = offsetof(struct svb_seg, nothing)};

	cqe.wc.wr_id = recv->rwqe->wr_id;
	cqe.wc.qp_num = qp->qpn;
	if (!qp->srq) {
		cqe.release = (uint32_t)((char *)&qp->rq.done - (char *)recv->seg);
		cqe.release_to = qp->rq.next + 1;
		__atomic_store_n(&qp->rq.next, qp->rq.next + 1, __ATOMIC_RELEASE);
	}
	svb_cq_push(recv->seg, svb_seg_cq(recv->seg, qp->recv_cq), &cqe, solicited);
	qp->taken = 0;
}
