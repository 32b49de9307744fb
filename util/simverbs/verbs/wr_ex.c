/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_wr_*: requests built in place, between wr_start, which takes the queue's lock, and
 * wr_complete or wr_abort. The first mistake is kept and returned by wr_complete, and
 * then nothing of the whole group is posted; ibv_wr_post(3).
 */
#include <errno.h>
#include <string.h>
#include "wr.h"

static inline struct svb_qp *svb_qp_of_ex(struct ibv_qp_ex *ex)
{
	return (struct svb_qp *)ex;
}

static void svb_wr_start(struct ibv_qp_ex *ex)
{
	struct svb_qp *qp = svb_qp_of_ex(ex);

	svb_lock(&qp->sh->sq.lock);
	qp->built = qp->sh->sq.head;
	qp->building = NULL;
	qp->build_error = 0;
}

static void svb_wr_abort(struct ibv_qp_ex *ex)
{
	svb_unlock(&svb_qp_of_ex(ex)->sh->sq.lock);
}

static int svb_wr_complete(struct ibv_qp_ex *ex)
{
	struct svb_qp *qp = svb_qp_of_ex(ex);
	struct svb_sq *sq = &qp->sh->sq;

	if (svb_unlikely(qp->build_error)) {
		svb_unlock(&sq->lock);
		return qp->build_error;
	}
	if (svb_unlikely(svb_self.slow))
		for (uint32_t i = sq->head; i != qp->built; i++)
			svb_wqe_fate(qp, svb_sq_at(svb_self.seg, sq, i));
	__atomic_store_n(&sq->head, qp->built, __ATOMIC_RELEASE);
	svb_engine_run_locked(svb_self.seg, qp->sh);
	svb_unlock(&sq->lock);
	svb_engine_flush_marked();
	return 0;
}

/* The next request, or NULL after a mistake. */
static inline struct svb_wqe *svb_wr_next(struct ibv_qp_ex *ex, int opcode)
{
	struct svb_qp *qp = svb_qp_of_ex(ex);
	struct svb_sq *sq = &qp->sh->sq;
	struct svb_wqe *wqe;

	qp->building = NULL;
	if (svb_unlikely(qp->build_error))
		return NULL;
	qp->build_error =
		ex->wr_flags & ~SVB_SEND_FLAGS ? EINVAL : svb_sq_room(qp->sh, qp->built);
	if (svb_unlikely(qp->build_error))
		return NULL;
	wqe = svb_sq_at(svb_self.seg, sq, qp->built++);
	wqe->wr_id = ex->wr_id;
	wqe->opcode = (uint16_t)opcode;
	/* Only wr_set_inline_data* make a request inline. */
	wqe->flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE;
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->error = 0;
	wqe->due = 0;
	qp->building = wqe;
	return wqe;
}

static inline void svb_wr_rdma(struct ibv_qp_ex *ex, int opcode, uint32_t rkey,
			       uint64_t remote, uint32_t imm)
{
	struct svb_wqe *wqe = svb_wr_next(ex, opcode);

	if (svb_unlikely(!wqe))
		return;
	wqe->rkey = rkey;
	wqe->remote = remote;
	wqe->imm = imm;
}

static void svb_wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	svb_wr_rdma(ex, IBV_WR_RDMA_WRITE, rkey, remote, 0);
}

static void svb_wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
				  __be32 imm)
{
	svb_wr_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote, imm);
}

static void svb_wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote)
{
	svb_wr_rdma(ex, IBV_WR_RDMA_READ, rkey, remote, 0);
}

static void svb_wr_atomic(struct ibv_qp_ex *ex, int opcode, uint32_t rkey,
			  uint64_t remote, uint64_t operand, uint64_t compare)
{
	struct svb_wqe *wqe;

	svb_wr_rdma(ex, opcode, rkey, remote, 0);
	wqe = svb_qp_of_ex(ex)->building;
	if (!wqe)
		return;
	wqe->atomic.operand = operand;
	wqe->atomic.compare = compare;
}

static void svb_wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
				  uint64_t compare, uint64_t swap)
{
	svb_wr_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote, swap, compare);
}

static void svb_wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
				    uint64_t add)
{
	svb_wr_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote, add, 0);
}

static void svb_wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote,
				const void *value)
{
	struct svb_wqe *wqe;

	svb_wr_rdma(ex, SVB_WR_ATOMIC_WRITE, rkey, remote, 0);
	wqe = svb_qp_of_ex(ex)->building;
	if (!wqe)
		return;
	memcpy(wqe->sge, value, 8);
	wqe->flags |= IBV_SEND_INLINE;
	wqe->length = 8;
}

static void svb_wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote, size_t len,
			 uint8_t type, uint8_t level)
{
	struct svb_wqe *wqe;

	svb_wr_rdma(ex, SVB_WR_FLUSH, rkey, remote, 0);
	wqe = svb_qp_of_ex(ex)->building;
	if (!wqe)
		return;
	wqe->flush.length = len;
	wqe->flush.type = type;
	wqe->flush.level = level;
}

static void svb_wr_send(struct ibv_qp_ex *ex)
{
	svb_wr_rdma(ex, IBV_WR_SEND, 0, 0, 0);
}

static void svb_wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	svb_wr_rdma(ex, IBV_WR_SEND_WITH_IMM, 0, 0, imm);
}

static void svb_wr_send_inv(struct ibv_qp_ex *ex, uint32_t key)
{
	svb_wr_rdma(ex, IBV_WR_SEND_WITH_INV, 0, 0, key);
}

static void svb_wr_local_inv(struct ibv_qp_ex *ex, uint32_t key)
{
	svb_wr_rdma(ex, IBV_WR_LOCAL_INV, 0, 0, key);
}

static void svb_wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
			   const struct ibv_mw_bind_info *info)
{
	struct svb_wqe *wqe = svb_wr_next(ex, IBV_WR_BIND_MW);

	if (wqe)
		svb_qp_of_ex(ex)->build_error = svb_wqe_bind(wqe, mw, rkey, info);
}

/* What the setters do to the request begun last; nothing after a mistake. */
static void svb_wr_set_sge_list(struct ibv_qp_ex *ex, size_t count,
				const struct ibv_sge *sge)
{
	struct svb_qp *qp = svb_qp_of_ex(ex);

	if (svb_likely(qp->building && count <= SVB_MAX_SGE))
		qp->build_error = svb_wqe_sges(qp, qp->building, sge, (int)count);
	else if (!qp->build_error)
		qp->build_error = EINVAL;
}

static void svb_wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
			   uint32_t length)
{
	struct ibv_sge sge = {addr, length, lkey};

	svb_wr_set_sge_list(ex, 1, &sge);
}

static void svb_wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
					const struct ibv_data_buf *buf)
{
	struct svb_qp *qp = svb_qp_of_ex(ex);
	struct svb_wqe *wqe = qp->building;
	size_t i;

	if (!wqe)
		return;
	wqe->flags |= IBV_SEND_INLINE;
	for (i = 0; i < count; i++) {
		if (buf[i].length > qp->max_inline - wqe->length) {
			qp->build_error = EINVAL;
			return;
		}
		memcpy((char *)wqe->sge + wqe->length, buf[i].addr, buf[i].length);
		wqe->length += (uint32_t)buf[i].length;
	}
}

static void svb_wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buf = {addr, length};

	svb_wr_set_inline_data_list(ex, 1, &buf);
}

static void svb_wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn,
			       uint32_t qkey)
{
	struct svb_wqe *wqe = svb_qp_of_ex(ex)->building;

	if (!wqe)
		return;
	wqe->ud.ah = ((struct svb_ah *)ah)->attr;
	wqe->ud.qpn = qpn;
	wqe->ud.qkey = qkey;
}

#define SVB_OPS_UD (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define SVB_OPS_RC                                                                     \
	(SVB_OPS_UD | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
	 IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |              \
	 IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV)
#define SVB_OPS_FLUSH (SVB_QP_EX_WITH_FLUSH | SVB_QP_EX_WITH_ATOMIC_WRITE)

#define SVB_OPS_ATOMICS \
	(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define SVB_OPS_IMMEDIATE \
	(IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)

static uint64_t svb_wr_ops(enum ibv_qp_type type)
{
	const struct svb_settings *set = &svb_self.settings;
	uint64_t ops = type == IBV_QPT_UD ? SVB_OPS_UD : SVB_OPS_RC;

	if (!set->atomics)
		ops &= ~(uint64_t)SVB_OPS_ATOMICS;
	if (!set->immediate)
		ops &= ~(uint64_t)SVB_OPS_IMMEDIATE;
	return type != IBV_QPT_UD && set->flush ? ops | SVB_OPS_FLUSH : ops;
}

/* Only what was asked for is there, as with real drivers. */
static void svb_wr_ops_fill(struct svb_qp *qp, uint64_t ops)
{
	struct ibv_qp_ex *ex = &qp->ex;

	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = svb_wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = svb_wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = svb_wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = svb_wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = svb_wr_send_inv;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = svb_wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = svb_wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = svb_wr_atomic_fetch_add;
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = svb_wr_local_inv;
	if (ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = svb_wr_bind_mw;
	if (ops & SVB_QP_EX_WITH_ATOMIC_WRITE)
		qp->ex56.wr_atomic_write = svb_wr_atomic_write;
	if (ops & SVB_QP_EX_WITH_FLUSH)
		qp->ex56.wr_flush = svb_wr_flush;
}

int svb_wr_ex_init(struct svb_qp *qp, uint64_t ops)
{
	struct ibv_qp_ex *ex = &qp->ex;

	if (ops & ~svb_wr_ops(qp->ibv.qp_type))
		return EOPNOTSUPP;
	svb_wr_ops_fill(qp, ops);
	ex->wr_start = svb_wr_start;
	ex->wr_complete = svb_wr_complete;
	ex->wr_abort = svb_wr_abort;
	ex->wr_set_sge = svb_wr_set_sge;
	ex->wr_set_sge_list = svb_wr_set_sge_list;
	ex->wr_set_inline_data = svb_wr_set_inline_data;
	ex->wr_set_inline_data_list = svb_wr_set_inline_data_list;
	if (qp->ibv.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = svb_wr_set_ud_addr;
	qp->extended = true;
	return 0;
}
