/* SPDX-License-Identifier: BSD-2-Clause */
/* From the send queue to the machine. */
#include <stdlib.h>
#include <string.h>
#include "engine/engine.h"
#include "hand.h"
#include "step.h"

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

int svb_hand(struct svb_medium *medium, struct svb_seg *seg, struct svb_qp_sh *qp)
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
