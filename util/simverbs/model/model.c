/* SPDX-License-Identifier: BSD-2-Clause */
/* Callbacks of the machine model, and completion of the requests that it executes. */
#include <string.h>
#include <unistd.h>
#include "engine/engine.h"
#include "hand.h"
#include "step.h"

static struct svb_note svb_note_of(const struct svb_request *request)
{
	struct svb_note note;

	memcpy(&note, request->note, sizeof(note));
	return note;
}

bool svb_model_reaches(const struct svb_request *request)
{
	return SVB_QP_PROC(request->qp) == svb_self.index ||
	       svb_note_of(request).responder == svb_self.index;
}

static void svb_on_place(void *ctx, uint64_t space, uint64_t at, const void *data,
			 size_t len)
{
	struct svb_seg *seg = svb_seg_of((uint32_t)space);
	struct svb_span span;

	/* The process has ended: no completion. */
	if (!seg)
		return;
	svb_span_of_range(&span, seg, (void *)(uintptr_t)at, len);
	svb_move_in(&span, data, len);
}

/* A request that is not posted is executed as without a model. */
static void svb_on_execute(void *ctx, const struct svb_request *request)
{
	struct svb_seg *seg = svb_seg_of(SVB_QP_PROC(request->qp));
	struct svb_qp_sh *qp = seg ? svb_seg_qp_try(seg, SVB_QP_SLOT(request->qp)) : NULL;
	struct svb_wqe *wqe;
	int status;

	if (!qp || svb_get(qp->qpn) != request->qp)
		return;
	wqe = svb_sq_at(seg, &qp->sq, request->seq);
	status = svb_rc_execute(seg, qp, wqe);
	/* Nobody answers: the queue asks again itself. */
	if (status == SVB_STAYS)
		wqe->flags |= SVB_SEND_AGAIN;
	else
		wqe->error = (uint32_t)status;
}

static void svb_on_deliver(void *ctx, const struct svb_request *request)
{
	struct svb_note note = svb_note_of(request);
	struct svb_seg *seg = svb_seg_of(note.responder);
	struct svb_qp_sh *qp = seg ? svb_seg_qp_try(seg, note.rqp) : NULL;

	if (qp && svb_get(qp->qpn) == note.wc.qp_num)
		svb_recv_report(seg, qp, &note.wc, note.rq_next != SVB_NOTE_SHARED,
				note.rq_next, note.solicited);
}

static bool svb_on_may(void *ctx, const struct svb_request *request)
{
	uint32_t only = ctx ? *(uint32_t *)ctx : 0;

	return !ctx || ((!only || request->qp == only) && svb_model_reaches(request));
}

/* Which queue pair's requests may move now, 0: all. Of the thread that has the lock. */
static __thread uint32_t svb_only __attribute__((tls_model("initial-exec")));

static const struct svb_machine_ops svb_model_ops = {
	.place = svb_on_place,
	.execute = svb_on_execute,
	.deliver = svb_on_deliver,
	.may = svb_on_may,
};

void svb_model_bind(struct svb_medium *medium)
{
	medium->machine.ops = &svb_model_ops;
}

void svb_model_only(struct svb_medium *medium, uint32_t qpn)
{
	svb_only = qpn;
	medium->machine.ctx = &svb_only;
}

/* Completes the requests that the machine has executed, in order. */
static void svb_model_complete(struct svb_medium *medium, struct svb_seg *seg,
			       struct svb_qp_sh *qp)
{
	struct svb_sq *sq = &qp->sq;
	struct svb_wqe *wqe;
	int status;

	while (sq->next != sq->ahead &&
	       svb_machine_answered(&medium->machine, qp->qpn, sq->next)) {
		wqe = svb_sq_at(seg, sq, sq->next);
		status = (int)wqe->error;
		if (wqe->flags & SVB_SEND_AGAIN)
			status = svb_rc_execute(seg, qp, wqe);
		if (status == SVB_STAYS)
			return;
		svb_engine_complete(seg, qp, wqe, status);
	}
}

/*
 * The engine executes the request once everything before it has completed. False:
 * something has not.
 */
static bool svb_model_direct(struct svb_medium *medium, struct svb_seg *seg,
			     struct svb_qp_sh *qp)
{
	struct svb_sq *sq = &qp->sq;
	struct svb_wqe *wqe;
	int status;

	svb_machine_settle(&medium->machine, qp->qpn);
	svb_model_complete(medium, seg, qp);
	if (sq->next != sq->ahead)
		return false;
	wqe = svb_sq_at(seg, sq, sq->next);
	status = svb_engine_execute(seg, qp, wqe);
	if (status == SVB_STAYS)
		return false;
	svb_engine_complete(seg, qp, wqe, status);
	sq->ahead = sq->next;
	return true;
}

static void svb_model_hand_all(struct svb_medium *medium, struct svb_seg *seg,
			       struct svb_qp_sh *qp)
{
	struct svb_sq *sq = &qp->sq;
	struct svb_wqe *wqe;
	int status;

	while (sq->ahead != sq->head && svb_get(qp->state) == IBV_QPS_RTS) {
		status = svb_hand(medium, seg, qp);
		if (status == SVB_STAYS ||
		    (status == SVB_DIRECT && !svb_model_direct(medium, seg, qp)))
			return;
		if (status == SVB_DIRECT)
			continue;
		wqe = svb_sq_at(seg, sq, sq->ahead);
		if (status != SVB_HANDED)
			wqe->error = (uint32_t)status;
		sq->ahead++;
	}
}

/* The power is off there: nobody answers, also while its processes still die. */
static void svb_model_dead(struct svb_medium *medium, struct svb_seg *seg,
			   struct svb_qp_sh *qp)
{
	struct svb_sq *sq = &qp->sq;
	int status;

	if (medium->member)
		_exit(SVB_POWER_STATUS);
	sq->ahead = sq->next;
	if (sq->next == sq->head)
		return;
	status = svb_engine_unanswered(seg, qp);
	if (status == SVB_STAYS)
		return;
	svb_engine_complete(seg, qp, svb_sq_at(seg, sq, sq->next), status);
	sq->ahead = sq->next;
}

static void svb_model_run(struct svb_medium *medium, struct svb_seg *seg,
			  struct svb_qp_sh *qp)
{
	struct svb_touched touched = {0};
	struct svb_sq *sq = &qp->sq;
	uint64_t deadline;
	uint32_t wait;

	svb_model_only(medium, qp->qpn);
	svb_model_hand_all(medium, seg, qp);
	wait = svb_get(sq->wait);
	deadline = sq->deadline;
	if (!medium->shared->explore && sq->next != sq->ahead)
		svb_model_turn(medium, qp->qpn, &touched);
	if (medium->shared->off)
		return;
	svb_model_complete(medium, seg, qp);
	/* What a later request waits for is not what an earlier one's completion ends. */
	if (wait != SVB_WAIT_NONE && sq->ahead != sq->head) {
		svb_set(sq->wait, wait);
		sq->deadline = deadline;
	}
	/* Also what is complete may still be on its way. */
	if (medium->shared->state.requests && !medium->shared->explore)
		svb_engine_deadline(seg, svb_now() + SVB_MODEL_PATIENCE);
}

/* The machine that a queue pair's peer is on; NULL: none. */
static struct svb_medium *svb_model_target(const struct svb_qp_sh *qp)
{
	struct svb_seg *seg;

	if (qp->type != IBV_QPT_RC || !qp->dest_qpn)
		return NULL;
	seg = svb_seg_of(SVB_QP_PROC(qp->dest_qpn));
	return seg && seg->machine ? svb_medium_of(seg->machine) : NULL;
}

static bool svb_model_run_locked(struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_medium *medium = svb_model_target(qp);
	struct svb_sq *sq = &qp->sq;

	if ((int32_t)(sq->ahead - sq->next) < 0)
		sq->ahead = sq->next;
	if (!medium || svb_get(qp->state) != IBV_QPS_RTS) {
		sq->ahead = sq->next;
		return false;
	}
	svb_lock(&medium->shared->lock);
	if (medium->shared->off)
		svb_model_dead(medium, seg, qp);
	else
		svb_model_run(medium, seg, qp);
	svb_unlock(&medium->shared->lock);
	return true;
}

const struct svb_detour svb_model_detour = {
	.run = svb_model_run_locked,
	.settle = svb_model_settle,
	.tick = svb_model_tick,
};
