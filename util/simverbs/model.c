/* SPDX-License-Identifier: BSD-2-Clause */
/* From the send queue to the machine, and back as completions. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "model.h"
#include "step.h"
#include "svb.h"
#include "wr.h"

/* What of a request struct svb_request.note keeps: the process that responds, and what
 * the receiver is told. */
struct svb_note {
	uint32_t responder; /* index */
	uint32_t rqp;	    /* slot */
	uint32_t rq_next; /* own queue: the receive's counter; shared: SVB_NOTE_SHARED */
	uint32_t solicited;
	struct ibv_wc wc;
};
#define SVB_NOTE_SHARED UINT32_MAX
_Static_assert(sizeof(struct svb_note) <= sizeof(((struct svb_request *)0)->note),
	       "note");

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

/* --- what the machine asks for */

static void svb_on_place(void *ctx, uint64_t space, uint64_t at, const void *data,
			 size_t len)
{
	struct svb_seg *seg = svb_seg_of((uint32_t)space);
	struct svb_span span;

	/* Its process is gone: nobody will miss it. */
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

/* --- handing over */

/* Where a range lies that a key of the responder's names. False: it names none. */
static bool svb_model_where(struct svb_op *op, uint32_t access, uint64_t len,
			    struct svb_target *target)
{
	struct svb_wqe *wqe = op->wqe;
	struct svb_mr_sh *mr;
	void *where;

	if (!svb_mr_check(op->rseg, wqe->rkey, op->rqp->pd, op->rqp->qpn, access,
			  wqe->remote, len, &where))
		return false;
	mr = svb_seg_mr(op->rseg, wqe->rkey >> 8);
	if (mr->flags & SVB_MR_WINDOW)
		mr = svb_seg_mr(op->rseg, mr->parent);
	target->len = len;
	target->space = op->rseg->index;
	target->at = (uintptr_t)where;
	if (mr->flags & SVB_MR_PERSISTENT) {
		target->space = SVB_SPACE_PM;
		target->at = mr->medium + ((uintptr_t)where - mr->addr);
	}
	return true;
}

/* The pieces of a receive. Regions are told apart by their slot. */
static uint32_t svb_model_receive(struct svb_recv *recv, uint32_t length,
				  struct svb_target *targets, uint32_t *region)
{
	uint32_t pd = recv->qp->pd, count = 0, i;
	const struct ibv_sge *sge = recv->qp->srq ? recv->copy.sge : recv->rwqe->sge;
	struct svb_mr_sh *mr;
	void *where;

	if (recv->qp->srq)
		pd = svb_seg_srq(recv->seg, recv->qp->srq - 1)->pd;
	for (i = 0; i < recv->rwqe->num_sge && i < SVB_MAX_SGE && length; i++) {
		if (!sge[i].length)
			continue;
		if (!svb_mr_check(recv->seg, sge[i].lkey, pd, 0, IBV_ACCESS_LOCAL_WRITE,
				  sge[i].addr, sge[i].length, &where))
			return UINT32_MAX;
		mr = svb_seg_mr(recv->seg, sge[i].lkey >> 8);
		*region = sge[i].lkey >> 8;
		targets[count] = (struct svb_target){recv->seg->index, (uintptr_t)where,
						     sge[i].length};
		if (mr->flags & SVB_MR_PERSISTENT) {
			targets[count].space = SVB_SPACE_PM;
			targets[count].at = mr->medium + ((uintptr_t)where - mr->addr);
		}
		if (targets[count].len > length)
			targets[count].len = length;
		length -= (uint32_t)targets[count++].len;
	}
	return length ? UINT32_MAX : count;
}

/* A posted request on its way to the machine. */
struct svb_handing {
	struct svb_op op;
	struct svb_medium *medium;
	struct svb_request request;
	struct svb_note note;
	struct svb_target targets[SVB_MAX_SGE];
	uint32_t count;
	uint8_t *data;
};

/* What becomes of a request: a status of its own, SVB_STAYS, or one of these. */
#define SVB_HANDED 0x200 /* the machine has it */
#define SVB_DIRECT 0x201 /* the engine executes it, after what is before it */

/* More is placed when it is handed over: the machine's buffers are finite. */
#define SVB_HAND_MOST 65536u

/* Takes the receive that a message uses, in whole; it completes when delivered. */
static int svb_hand_receive(struct svb_handing *h, bool data)
{
	struct svb_op *op = &h->op;
	struct svb_span from;
	struct svb_recv recv;

	if (!svb_recv_take(&recv, op->rseg, op->rqp))
		return svb_engine_rnr(op);
	if (data)
		h->count = svb_model_receive(&recv, op->wqe->length, h->targets,
					     &h->request.region);
	if (h->count == UINT32_MAX && !op->rqp->srq)
		return SVB_DIRECT;
	if (h->count == UINT32_MAX)
		return svb_engine_source(op, &from) ? svb_rc_deliver(op, &recv, &from)
						    : IBV_WC_LOC_PROT_ERR;
	svb_rc_wc(op, &h->note.wc, data ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM);
	h->note.wc.wr_id = recv.rwqe->wr_id;
	h->note.wc.qp_num = op->rqp->qpn;
	h->note.solicited = op->wqe->flags & IBV_SEND_SOLICITED;
	h->note.rq_next = SVB_NOTE_SHARED;
	op->rqp->taken = 0;
	if (!op->rqp->srq) {
		h->note.rq_next = op->rqp->rq.next;
		__atomic_store_n(&op->rqp->rq.next, op->rqp->rq.next + 1,
				 __ATOMIC_RELEASE);
	}
	h->request.flags |= SVB_REQ_DELIVER;
	return SVB_HANDED;
}

/* Where the data goes; what is wrong with the request is the engine's to say. */
static int svb_hand_targets(struct svb_handing *h)
{
	struct svb_wqe *wqe = h->op.wqe;

	switch (wqe->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return svb_hand_receive(h, true);
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		if (!(h->op.rqp->access & IBV_ACCESS_REMOTE_WRITE))
			return SVB_DIRECT;
		if (wqe->length && !svb_model_where(&h->op, IBV_ACCESS_REMOTE_WRITE,
						    wqe->length, h->targets))
			return SVB_DIRECT;
		h->count = wqe->length != 0;
		h->request.region = wqe->rkey >> 8;
		return wqe->opcode == IBV_WR_RDMA_WRITE ? SVB_HANDED
							: svb_hand_receive(h, false);
	default:
		return SVB_DIRECT;
	}
}

static bool svb_hand_data(struct svb_handing *h)
{
	struct svb_span from;

	if (!svb_engine_source(&h->op, &from))
		return false;
	h->data = malloc(h->op.wqe->length + 1);
	return h->data && !svb_move_out(h->data, &from, h->op.wqe->length);
}

static void svb_hand_post(struct svb_handing *h)
{
	struct svb_machine *m = &h->medium->machine;

	memcpy(h->request.note, &h->note, sizeof(h->note));
	if (h->op.wqe->length > SVB_HAND_MOST) {
		svb_machine_settle(m, h->request.qp);
		svb_machine_write(m, &h->request, h->targets, h->count, h->data);
		h->count = 0;
	}
	/* Full: what was handed over first makes room. */
	while (!svb_machine_post(m, &h->request, h->targets, h->count, h->data)) {
		svb_model_only(h->medium, 0);
		svb_machine_settle(m, 0);
		svb_model_only(h->medium, h->request.qp);
	}
}

static int svb_hand_posted(struct svb_handing *h)
{
	int status = svb_hand_data(h) ? svb_hand_targets(h) : SVB_DIRECT;

	if (status == SVB_HANDED)
		svb_hand_post(h);
	free(h->data);
	return status;
}

/* A read, an atomic or a FLUSH is checked when it is executed. Here: what it covers. */
static int svb_hand_other(struct svb_handing *h)
{
	struct svb_wqe *wqe = h->op.wqe;
	struct svb_target at = {0};
	struct svb_mr_sh *mr = svb_seg_mr_try(h->op.rseg, wqe->rkey >> 8);
	uint64_t len = wqe->length;

	if (wqe->opcode == SVB_WR_FLUSH) {
		if (wqe->flush.type & SVB_FLUSH_PERSISTENT)
			h->request.flags |= SVB_REQ_PERSISTENT;
		len = wqe->flush.length;
		if (wqe->flush.level == SVB_FLUSH_MR && mr) {
			len = mr->length;
			wqe->remote = mr->iova;
		}
	}
	h->request.region = wqe->rkey >> 8;
	if (svb_model_where(&h->op, 0, len, &at)) {
		h->request.space = at.space;
		h->request.at = at.at;
		h->request.len = len;
	}
	svb_hand_post(h);
	return SVB_HANDED;
}

static const struct {
	uint32_t kind;
	bool other;
} svb_hand_kinds[16] = {
	[IBV_WR_RDMA_READ] = {SVB_REQ_READ, true},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {SVB_REQ_ATOMIC, true},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {SVB_REQ_ATOMIC, true},
	[SVB_WR_ATOMIC_WRITE] = {SVB_REQ_ATOMIC_WRITE, true},
	[SVB_WR_FLUSH] = {SVB_REQ_FLUSH, true},
};

/* Hands the queue's next request over. */
static int svb_hand(struct svb_medium *medium, struct svb_seg *seg, struct svb_qp_sh *qp)
{
	struct svb_handing h = {.medium = medium};
	uint32_t opcode;

	h.op = (struct svb_op){.seg = seg,
			       .qp = qp,
			       .wqe = svb_sq_at(seg, &qp->sq, qp->sq.ahead)};
	opcode = h.op.wqe->opcode & 15;
	if (h.op.wqe->due && svb_now() < h.op.wqe->due)
		return svb_engine_wait(seg, &qp->sq, SVB_WAIT_DUE, h.op.wqe->due);
	if (h.op.wqe->error || !svb_rc_responder(&h.op))
		return SVB_DIRECT;
	h.request.qp = qp->qpn;
	h.request.seq = qp->sq.ahead;
	h.request.kind = svb_hand_kinds[opcode].kind;
	if (h.op.wqe->flags & IBV_SEND_FENCE)
		h.request.flags |= SVB_REQ_FENCE;
	h.note.responder = h.op.rseg->index;
	h.note.rqp = SVB_QP_SLOT(h.op.rqp->qpn);
	return svb_hand_kinds[opcode].other ? svb_hand_other(&h) : svb_hand_posted(&h);
}

/* --- the queue */

/* As many completions as the machine allows, in order. */
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

/* The engine's turn, when everything before is complete. False: it is not. */
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

bool svb_model_run_locked(struct svb_seg *seg, struct svb_qp_sh *qp)
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
