/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reliable connection: one handler for each operation. The requester's own mistakes are
 * found before the responder is touched; what the responder refuses is its error too
 * (IBA 9.9.3, responder error behaviour classes A to J).
 */
#include <errno.h>
#include <string.h>
#include "engine.h"

/* The responder sends a NAK and its queue pair goes to the error state. */
static int svb_nak(struct svb_op *op, enum ibv_wc_status status)
{
	int event = status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR
						    : IBV_EVENT_QP_REQ_ERR;

	svb_qp_fail_later(op->rseg, op->rqp, event);
	return status;
}

/* The fast case: both sides in this process, one piece on this side. NULL otherwise. */
static inline void *svb_simple(struct svb_op *op, uint32_t access)
{
	struct svb_wqe *wqe = op->wqe;
	void *where;

	if (op->seg != svb_self.seg || op->rseg != svb_self.seg)
		return NULL;
	if (wqe->flags & IBV_SEND_INLINE)
		return wqe->sge;
	if (wqe->num_sge != 1 ||
	    !svb_mr_check(op->seg, wqe->sge[0].lkey, op->qp->pd, 0, access,
			  wqe->sge[0].addr, wqe->length, &where))
		return NULL;
	return where;
}

/* The span of a range of the responder's that the request names by key. */
static bool svb_target(struct svb_op *op, struct svb_span *span, uint32_t access)
{
	void *where = NULL;

	if (op->wqe->length &&
	    !svb_mr_check(op->rseg, op->wqe->rkey, op->rqp->pd, op->rqp->qpn, access,
			  op->wqe->remote, op->wqe->length, &where))
		return false;
	svb_span_of_range(span, op->rseg, where, op->wqe->length);
	return true;
}

static int svb_write_any(struct svb_op *op)
{
	struct svb_span from, to;

	if (!svb_engine_source(op, &from))
		return IBV_WC_LOC_PROT_ERR;
	if (!(op->rqp->access & IBV_ACCESS_REMOTE_WRITE))
		return svb_nak(op, IBV_WC_REM_INV_REQ_ERR);
	if (!svb_target(op, &to, IBV_ACCESS_REMOTE_WRITE))
		return svb_nak(op, IBV_WC_REM_ACCESS_ERR);
	return svb_engine_moved(op, svb_move(&to, &from));
}

static int svb_rc_write(struct svb_op *op)
{
	struct svb_wqe *wqe = op->wqe;
	void *from = svb_simple(op, 0), *to;

	if (svb_unlikely(!from || !wqe->length ||
			 !(op->rqp->access & IBV_ACCESS_REMOTE_WRITE) ||
			 !svb_mr_check(op->rseg, wqe->rkey, op->rqp->pd, op->rqp->qpn,
				       IBV_ACCESS_REMOTE_WRITE, wqe->remote, wqe->length,
				       &to)))
		return svb_write_any(op);
	svb_copy_own(to, from, wqe->length);
	return IBV_WC_SUCCESS;
}

void svb_rc_wc(struct svb_op *op, struct ibv_wc *wc, enum ibv_wc_opcode opcode)
{
	*wc = (struct ibv_wc){.opcode = opcode,
			      .byte_len = op->wqe->length,
			      .src_qp = op->qp->qpn,
			      .slid = op->rqp->attr.ah_attr.dlid,
			      .sl = op->rqp->attr.ah_attr.sl};
	switch (op->wqe->opcode) {
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wc->wc_flags = IBV_WC_WITH_IMM;
		wc->imm_data = op->wqe->imm;
		break;
	case IBV_WR_SEND_WITH_INV:
		wc->wc_flags = IBV_WC_WITH_INV;
		wc->invalidated_rkey = op->wqe->imm;
		break;
	default:
		break;
	}
}

static void svb_rc_received(struct svb_op *op, struct svb_recv *recv, struct ibv_wc *wc)
{
	svb_recv_complete(recv, wc, op->wqe->flags & IBV_SEND_SOLICITED);
	svb_recv_established(op->rqp);
}

/* The receive ends in an error of the responder's, which the requester learns as status.
 */
static int svb_rc_receive_failed(struct svb_op *op, struct svb_recv *recv,
				 struct ibv_wc *wc, enum ibv_wc_status here,
				 enum ibv_wc_status there)
{
	wc->status = here;
	svb_recv_complete(recv, wc, true);
	svb_qp_fail_later(op->rseg, op->rqp, -1);
	return there;
}

static int svb_rc_write_imm(struct svb_op *op)
{
	struct svb_recv recv;
	struct ibv_wc wc;
	int status;

	if (!svb_recv_take(&recv, op->rseg, op->rqp))
		return svb_engine_rnr(op);
	status = svb_write_any(op);
	svb_rc_wc(op, &wc, IBV_WC_RECV_RDMA_WITH_IMM);
	if (!status)
		svb_rc_received(op, &recv, &wc);
	return status;
}

/* IBA 10.6.7.2.2: the key that the message invalidates is checked before it is delivered.
 */
int svb_rc_deliver(struct svb_op *op, struct svb_recv *recv, struct svb_span *from)
{
	struct svb_span to;
	struct ibv_wc wc;
	int ret;

	svb_rc_wc(op, &wc, IBV_WC_RECV);
	if (!svb_recv_span(recv, &to, op->wqe->length))
		return svb_rc_receive_failed(op, recv, &wc, IBV_WC_LOC_PROT_ERR,
					     IBV_WC_REM_OP_ERR);
	if (to.length < op->wqe->length)
		return svb_rc_receive_failed(op, recv, &wc, IBV_WC_LOC_LEN_ERR,
					     IBV_WC_REM_INV_REQ_ERR);
	if (op->wqe->opcode == IBV_WR_SEND_WITH_INV &&
	    !svb_mw_invalidate(op->rseg, op->rqp, op->wqe->imm))
		return svb_rc_receive_failed(op, recv, &wc, IBV_WC_LOC_ACCESS_ERR,
					     IBV_WC_REM_INV_REQ_ERR);
	ret = svb_move(&to, from);
	if (ret == ESRCH)
		return svb_engine_unanswered(op->seg, op->qp);
	if (ret)
		return svb_rc_receive_failed(op, recv, &wc, IBV_WC_LOC_PROT_ERR,
					     IBV_WC_REM_OP_ERR);
	svb_rc_received(op, recv, &wc);
	return IBV_WC_SUCCESS;
}

static int svb_rc_send(struct svb_op *op)
{
	struct svb_recv recv;
	struct svb_span from;

	if (!svb_engine_source(op, &from))
		return IBV_WC_LOC_PROT_ERR;
	if (!svb_recv_take(&recv, op->rseg, op->rqp))
		return svb_engine_rnr(op);
	return svb_rc_deliver(op, &recv, &from);
}

static int svb_rc_read(struct svb_op *op)
{
	struct svb_wqe *wqe = op->wqe;
	struct svb_span from, to;

	if (!op->qp->attr.max_rd_atomic)
		return IBV_WC_LOC_QP_OP_ERR;
	/* On iWARP the answer is a tagged message to the requester's own key. */
	if (!svb_span_of_sges(&to, op->seg, op->qp->pd, wqe->sge, wqe->num_sge,
			      svb_self.iwarp
				      ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
				      : IBV_ACCESS_LOCAL_WRITE))
		return IBV_WC_LOC_PROT_ERR;
	if (!(op->rqp->access & IBV_ACCESS_REMOTE_READ) ||
	    !op->rqp->attr.max_dest_rd_atomic)
		return svb_nak(op, IBV_WC_REM_INV_REQ_ERR);
	if (!svb_target(op, &from, IBV_ACCESS_REMOTE_READ))
		return svb_nak(op, IBV_WC_REM_ACCESS_ERR);
	return svb_engine_moved(op, svb_move(&to, &from));
}

/* Where eight aligned bytes of the responder lie. Returns a status. */
static int svb_eight(struct svb_op *op, uint32_t qp_access, uint32_t access, void **where)
{
	if (!(op->rqp->access & qp_access) || op->wqe->remote % 8)
		return svb_nak(op, IBV_WC_REM_INV_REQ_ERR);
	if (!svb_mr_check(op->rseg, op->wqe->rkey, op->rqp->pd, op->rqp->qpn, access,
			  op->wqe->remote, 8, where) ||
	    (uintptr_t)*where % 8)
		return svb_nak(op, IBV_WC_REM_ACCESS_ERR);
	return IBV_WC_SUCCESS;
}

static int svb_rc_atomic(struct svb_op *op)
{
	enum svb_atomic kind = op->wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP
				       ? SVB_ATOMIC_SWAP_IF
				       : SVB_ATOMIC_ADD;
	struct svb_wqe *wqe = op->wqe;
	struct svb_span to;
	void *where;
	uint64_t old;
	int ret;

	if (!op->qp->attr.max_rd_atomic)
		return IBV_WC_LOC_QP_OP_ERR;
	if (!svb_span_of_sges(&to, op->seg, op->qp->pd, wqe->sge, wqe->num_sge,
			      IBV_ACCESS_LOCAL_WRITE))
		return IBV_WC_LOC_PROT_ERR;
	/* IBA 9.4.5: atomics are of 64 bits. */
	if (to.length != 8)
		return IBV_WC_LOC_LEN_ERR;
	ret = svb_eight(op, IBV_ACCESS_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_ATOMIC, &where);
	if (ret)
		return ret;
	ret = svb_atomic(op->rseg, where, kind, wqe->atomic.operand, wqe->atomic.compare,
			 &old);
	if (!ret)
		ret = svb_move_in(&to, &old, sizeof(old));
	return svb_engine_moved(op, ret);
}

/* IBA A19.4: eight bytes, aligned, written in one piece after everything before. */
static int svb_rc_atomic_write(struct svb_op *op)
{
	struct svb_span from;
	uint64_t value, old;
	void *where;
	int ret;

	if (!svb_engine_source(op, &from))
		return IBV_WC_LOC_PROT_ERR;
	if (from.length != 8)
		return IBV_WC_LOC_LEN_ERR;
	ret = svb_eight(op, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_WRITE, &where);
	if (ret)
		return ret;
	ret = svb_move_out(&value, &from, sizeof(value));
	if (!ret)
		ret = svb_atomic(op->rseg, where, SVB_ATOMIC_STORE, value, 0, &old);
	return svb_engine_moved(op, ret);
}

/*
 * IBA A19.3. Everything this engine wrote is in the responder's memory already: without a
 * model there is nothing to drain but its own store buffers.
 */
static int svb_rc_flush(struct svb_op *op)
{
	struct svb_wqe *wqe = op->wqe;
	uint64_t len = wqe->flush.length, at = wqe->remote;
	uint32_t access = 0;
	struct svb_mr_sh *mr;
	void *where;

	if (wqe->flush.type & SVB_FLUSH_GLOBAL)
		access |= SVB_ACCESS_FLUSH_GLOBAL;
	if (wqe->flush.type & SVB_FLUSH_PERSISTENT)
		access |= SVB_ACCESS_FLUSH_PERSISTENT;
	if (!access || (op->rqp->access & access) != access)
		return svb_nak(op, IBV_WC_REM_INV_REQ_ERR);
	if (wqe->flush.level == SVB_FLUSH_MR) {
		mr = svb_seg_mr_try(op->rseg, wqe->rkey >> 8);
		at = mr ? mr->iova : 0;
		len = 0;
	}
	if (!svb_mr_check(op->rseg, wqe->rkey, op->rqp->pd, op->rqp->qpn, access, at, len,
			  &where))
		return svb_nak(op, IBV_WC_REM_ACCESS_ERR);
	__sync_synchronize();
	return IBV_WC_SUCCESS;
}

static int svb_rc_bind(struct svb_op *op)
{
	return svb_mw_bind(op->seg, op->qp, &op->wqe->bind);
}

static int svb_rc_local_inv(struct svb_op *op)
{
	return svb_mw_invalidate(op->seg, op->qp, op->wqe->imm) ? IBV_WC_SUCCESS
								: IBV_WC_LOC_QP_OP_ERR;
}

static int (*const svb_rc_ops[16])(struct svb_op *op) = {
	[IBV_WR_RDMA_WRITE] = svb_rc_write,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = svb_rc_write_imm,
	[IBV_WR_SEND] = svb_rc_send,
	[IBV_WR_SEND_WITH_IMM] = svb_rc_send,
	[IBV_WR_RDMA_READ] = svb_rc_read,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = svb_rc_atomic,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = svb_rc_atomic,
	[IBV_WR_LOCAL_INV] = svb_rc_local_inv,
	[IBV_WR_BIND_MW] = svb_rc_bind,
	[IBV_WR_SEND_WITH_INV] = svb_rc_send,
	[SVB_WR_FLUSH] = svb_rc_flush,
	[SVB_WR_ATOMIC_WRITE] = svb_rc_atomic_write,
};

bool svb_rc_responder(struct svb_op *op)
{
	struct svb_qp_sh *qp = op->qp, *rqp;

	op->rseg = svb_seg_of(SVB_QP_PROC(qp->dest_qpn));
	if (svb_unlikely(!op->rseg))
		return false;
	rqp = svb_seg_qp_try(op->rseg, SVB_QP_SLOT(qp->dest_qpn));
	op->rqp = rqp;
	return rqp && svb_rc_connected(qp, rqp) &&
	       (op->rseg == svb_self.seg || svb_sane_receiver(op->rseg, rqp));
}

/*
 * The smaller path MTU of the two sides, bytes, when that is all they differ in; 0: it is
 * not.
 */
static uint32_t svb_rc_smaller_mtu(const struct svb_op *op)
{
	uint32_t own = op->qp->packets >> SVB_PSN_BITS, theirs;

	if (!op->rseg || !op->rqp || svb_get(op->rqp->dest_qpn) != op->qp->qpn ||
	    (svb_get(op->rqp->dest_packets) ^ op->qp->packets) & SVB_PSN_MASK ||
	    !svb_rc_answers(op->qp, op->rqp) ||
	    (op->rseg != svb_self.seg &&
	     (!svb_sane_receiver(op->rseg, op->rqp) ||
	      !svb_registry_alive(svb_token(op->rseg->index, op->rseg->generation)))))
		return 0;
	theirs = svb_get(op->rqp->dest_packets) >> SVB_PSN_BITS;
	return theirs == own ? 0 : 128u << (theirs < own ? theirs : own);
}

/*
 * IBA 9.7.4.1.6: packets but the last are as long as the path MTU, the last is not
 * longer. A message of one packet by either side's MTU passes; any other is refused, and
 * an answer to a read that is cut otherwise than expected is a bad one.
 */
static __attribute__((noinline)) int svb_rc_odd(struct svb_op *op)
{
	uint32_t most = svb_rc_smaller_mtu(op);

	if (!most)
		return svb_engine_unanswered(op->seg, op->qp);
	if (op->wqe->length <= most)
		return svb_rc_ops[op->wqe->opcode & 15](op);
	return op->wqe->opcode == IBV_WR_RDMA_READ ? IBV_WC_BAD_RESP_ERR
						   : svb_nak(op, IBV_WC_REM_INV_REQ_ERR);
}

int svb_rc_execute(struct svb_seg *seg, struct svb_qp_sh *qp, struct svb_wqe *wqe)
{
	struct svb_op op = {.seg = seg, .qp = qp, .wqe = wqe};

	if (svb_unlikely(wqe->opcode == IBV_WR_LOCAL_INV ||
			 wqe->opcode == IBV_WR_BIND_MW))
		return svb_rc_ops[wqe->opcode](&op);
	if (svb_unlikely(!svb_rc_responder(&op) ||
			 (op.rseg != svb_self.seg && op.seg == svb_self.seg &&
			  !wqe->length &&
			  !svb_registry_alive(
				  svb_token(op.rseg->index, op.rseg->generation)))))
		return svb_rc_odd(&op);
	return svb_rc_ops[wqe->opcode & 15](&op);
}
