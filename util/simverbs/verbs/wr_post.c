/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_send, ibv_post_recv, ibv_post_srq_recv. */
#include <errno.h>
#include <string.h>
#include "tsan.h"
#include "vg.h"
#include "wr.h"

/* What each operation may be asked with, by opcode: who may, and what it brings. */
enum svb_wr_data { SVB_DATA_SEND, SVB_DATA_RECEIVE, SVB_DATA_NONE };
static const struct {
	bool rc, ud;
	enum svb_wr_data data;
} svb_wr_rules[16] = {
	[IBV_WR_RDMA_WRITE] = {true, false, SVB_DATA_SEND},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {true, false, SVB_DATA_SEND},
	[IBV_WR_SEND] = {true, true, SVB_DATA_SEND},
	[IBV_WR_SEND_WITH_IMM] = {true, true, SVB_DATA_SEND},
	[IBV_WR_RDMA_READ] = {true, false, SVB_DATA_RECEIVE},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {true, false, SVB_DATA_RECEIVE},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {true, false, SVB_DATA_RECEIVE},
	[IBV_WR_LOCAL_INV] = {true, false, SVB_DATA_NONE},
	[IBV_WR_BIND_MW] = {true, false, SVB_DATA_NONE},
	[IBV_WR_SEND_WITH_INV] = {true, false, SVB_DATA_SEND},
	[SVB_WR_ATOMIC_WRITE] = {true, false, SVB_DATA_SEND},
};

uint32_t svb_qp_opcodes(enum ibv_qp_type type)
{
	const struct svb_settings *set = &svb_self.settings;
	uint32_t opcodes = 0, i;

	for (i = 0; i < 16; i++)
		if (type == IBV_QPT_UD ? svb_wr_rules[i].ud : svb_wr_rules[i].rc)
			opcodes |= 1u << i;
	if (!set->atomics)
		opcodes &= ~(1u << IBV_WR_ATOMIC_CMP_AND_SWP |
			     1u << IBV_WR_ATOMIC_FETCH_AND_ADD);
	if (!set->immediate)
		opcodes &=
			~(1u << IBV_WR_SEND_WITH_IMM | 1u << IBV_WR_RDMA_WRITE_WITH_IMM);
	return set->flush ? opcodes : opcodes & ~(1u << SVB_WR_ATOMIC_WRITE);
}

bool svb_wr_receives(uint32_t opcode)
{
	return svb_wr_rules[opcode & 15].data == SVB_DATA_RECEIVE;
}

/* Data of a request is copied into the ring. Returns 0 or EINVAL. */
SVB_INLINE int svb_wqe_inline(struct svb_qp *qp, struct svb_wqe *wqe,
			      const struct ibv_sge *sge, int count)
{
	char *to = (char *)wqe->sge;
	uint32_t length = 0;
	int i;

	for (i = 0; i < count; i++) {
		/* An empty piece, which may have no address, or one too long. */
		if (svb_unlikely(sge[i].length - 1 >= qp->max_inline - length)) {
			if (sge[i].length)
				return EINVAL;
			continue;
		}
		memcpy(to + length, (void *)(uintptr_t)sge[i].addr, sge[i].length);
		length += sge[i].length;
	}
	wqe->length = length;
	wqe->num_sge = 0;
	return 0;
}

/* Whoever executes the request writes there: perhaps another process. */
static void svb_sges_written(const struct ibv_sge *sge, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		svb_vg_written((void *)(uintptr_t)sge[i].addr, sge[i].length);
}

int svb_wqe_sges(struct svb_qp *qp, struct svb_wqe *wqe, const struct ibv_sge *sge,
		 int count)
{
	uint64_t length = 0;
	int i;

	if (svb_unlikely((uint32_t)count > qp->max_send_sge))
		return EINVAL;
	for (i = 0; i < count; i++) {
		wqe->sge[i] = sge[i];
		length += sge[i].length;
	}
	if (svb_unlikely(length > SVB_MAX_MSG))
		return EINVAL;
	wqe->num_sge = (uint16_t)count;
	wqe->length = (uint32_t)length;
	if (svb_unlikely(svb_self.valgrind) &&
	    svb_wr_rules[wqe->opcode & 15].data == SVB_DATA_RECEIVE)
		svb_sges_written(sge, wqe->num_sge);
	return 0;
}

int svb_wqe_bind(struct svb_wqe *wqe, struct ibv_mw *mw, uint32_t rkey,
		 const struct ibv_mw_bind_info *info)
{
	if (mw->type != IBV_MW_TYPE_2 || (!info->mr && info->length) ||
	    (info->mr && info->mr->pd != mw->pd))
		return EINVAL;
	wqe->bind = (struct svb_bind){
		.window = mw->rkey,
		.key = rkey,
		.region = info->mr ? info->mr->lkey : 0,
		.access = info->mw_access_flags,
		.addr = info->addr,
		.length = info->length,
	};
	return 0;
}

/* The parts that only some operations have. */
static inline int svb_wqe_rest(struct svb_qp *qp, struct svb_wqe *wqe,
			       const struct ibv_send_wr *wr)
{
	switch ((int)wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		wqe->atomic.operand = wr->wr.atomic.swap;
		wqe->atomic.compare = wr->wr.atomic.compare_add;
		wqe->rkey = wr->wr.atomic.rkey;
		return wqe->length == 8 ? 0 : EINVAL;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->atomic.operand = wr->wr.atomic.compare_add;
		wqe->rkey = wr->wr.atomic.rkey;
		return wqe->length == 8 ? 0 : EINVAL;
	case SVB_WR_ATOMIC_WRITE:
		return wqe->length == 8 ? 0 : EINVAL;
	case IBV_WR_BIND_MW:
		return svb_wqe_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				    &wr->bind_mw.bind_info);
	default:
		break;
	}
	if (qp->ibv.qp_type != IBV_QPT_UD)
		return 0;
	if (!wr->wr.ud.ah)
		return EINVAL;
	wqe->ud.ah = ((struct svb_ah *)wr->wr.ud.ah)->attr;
	wqe->ud.qpn = wr->wr.ud.remote_qpn;
	wqe->ud.qkey = wr->wr.ud.remote_qkey;
	return 0;
}

/* Checks a request and writes it to the ring, not yet to be seen by the engine. */
static inline int svb_wqe_build(struct svb_qp *qp, struct svb_wqe *wqe,
				const struct ibv_send_wr *wr)
{
	uint32_t opcode = (uint32_t)wr->opcode;
	int ret;

	if (svb_unlikely(opcode > 15 || !(qp->opcodes >> opcode & 1) ||
			 wr->send_flags & ~SVB_SEND_FLAGS))
		return EINVAL;
	svb_tsan_posted(wr->wr_id);
	wqe->wr_id = wr->wr_id;
	wqe->opcode = (uint16_t)opcode;
	wqe->flags = wr->send_flags;
	wqe->imm = wr->imm_data;
	wqe->remote = wr->wr.rdma.remote_addr;
	wqe->rkey = wr->wr.rdma.rkey;
	wqe->error = 0;
	wqe->due = 0;
	if (svb_unlikely(svb_wr_rules[opcode].data == SVB_DATA_NONE))
		ret = svb_wqe_sges(qp, wqe, NULL, 0);
	else if (svb_unlikely(wr->send_flags & IBV_SEND_INLINE))
		ret = svb_wr_rules[opcode].data == SVB_DATA_SEND
			      ? svb_wqe_inline(qp, wqe, wr->sg_list, wr->num_sge)
			      : EINVAL;
	else
		ret = svb_wqe_sges(qp, wqe, wr->sg_list, wr->num_sge);
	if (svb_likely(!ret && opcode <= IBV_WR_RDMA_WRITE_WITH_IMM))
		return 0;
	return ret ? ret : svb_wqe_rest(qp, wqe, wr);
}

/* Where the one piece of a request lies. */
SVB_INLINE bool svb_near_source(const struct svb_qp *qp, const struct ibv_send_wr *wr,
				uint32_t len, void **from)
{
	const struct ibv_sge *sge = wr->sg_list;

	if (!(wr->send_flags & IBV_SEND_INLINE))
		return svb_mr_check(svb_self.seg, sge->lkey, qp->sh->pd, 0, 0, sge->addr,
				    len, from);
	*from = (void *)(uintptr_t)sge->addr;
	return len <= qp->max_inline;
}

/* Where it goes, when the peer is in this process. A datagram queue pair has no peer. */
SVB_INLINE bool svb_near_target(const struct svb_qp_sh *qp, const struct ibv_send_wr *wr,
				uint32_t len, void **to)
{
	const struct svb_qp_sh *peer;

	if (SVB_QP_PROC(qp->dest_qpn) != svb_self.index)
		return false;
	peer = svb_seg_qp_try(svb_self.seg, SVB_QP_SLOT(qp->dest_qpn));
	return peer && svb_rc_connected(qp, peer) &&
	       peer->access & IBV_ACCESS_REMOTE_WRITE &&
	       svb_mr_check(svb_self.seg, wr->wr.rdma.rkey, peer->pd, peer->qpn,
			    IBV_ACCESS_REMOTE_WRITE, wr->wr.rdma.remote_addr, len, to);
}

/* Every field, and not by a memset of all: that would be a string instruction. */
SVB_INLINE void svb_near_wc(struct ibv_wc *wc, uint64_t wr_id, uint32_t len, uint32_t qpn)
{
	wc->wr_id = wr_id;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = IBV_WC_RDMA_WRITE;
	wc->vendor_err = 0;
	wc->byte_len = len;
	wc->imm_data = 0;
	wc->qp_num = qpn;
	wc->src_qp = 0;
	wc->wc_flags = 0;
	wc->pkey_index = 0;
	wc->slid = 0;
	wc->sl = 0;
	wc->dlid_path_bits = 0;
}

/* A write of one piece, and nothing behind it. */
static inline bool svb_is_write(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_WRITE && wr->num_sge == 1 && !wr->next &&
	       !(wr->send_flags & ~SVB_SEND_FLAGS);
}

/*
 * The fast path: a single write of one piece between two queue pairs of this process,
 * with an empty send queue. Any other case takes the ring and the engine. Lock held.
 * True when it is done.
 */
static inline __attribute__((always_inline)) bool svb_write_near(
	struct svb_qp *qp, const struct ibv_send_wr *wr, uint32_t len)
{
	struct svb_seg *seg = svb_self.seg;
	struct svb_qp_sh *sh = qp->sh;
	struct svb_sq *sq = &sh->sq;
	struct svb_cq_sh *cq = NULL;
	struct svb_cqe *cqe;
	void *from, *to;

	if (!len || svb_self.slow || svb_get(sh->state) != IBV_QPS_RTS ||
	    sq->next != sq->head || svb_sq_full(sq, sq->head) ||
	    !svb_near_source(qp, wr, len, &from) || !svb_near_target(sh, wr, len, &to))
		return false;
	/* The completion first: when there is no room for it the engine says so. */
	if (sh->sig_all || wr->send_flags & IBV_SEND_SIGNALED) {
		cq = svb_seg_cq(seg, sh->send_cq);
		if (svb_unlikely(!svb_cq_begin(seg, cq, &cqe)))
			return false;
		svb_tsan_posted(wr->wr_id);
		svb_near_wc(&cqe->wc, wr->wr_id, len, sh->qpn);
		cqe->release = (uint32_t)((char *)&sq->done - (char *)seg);
		cqe->release_to = sq->head + 1;
	}
	svb_copy_own(to, from, len);
	sq->head++;
	if (cq)
		svb_cq_end(cq);
	sq->next = sq->head;
	return true;
}

/*
 * Posts any list of requests, through the ring unless it is a single write that
 * svb_write_near executes.
 */
static __attribute__((noinline)) int svb_post_any(struct svb_qp *qp,
						  struct ibv_send_wr *wr,
						  struct ibv_send_wr **bad)
{
	struct svb_qp_sh *sh = qp->sh;
	struct svb_sq *sq = &sh->sq;
	struct svb_wqe *wqe;
	int ret = 0;

	svb_lock(&sq->lock);
	if (svb_is_write(wr) && svb_write_near(qp, wr, wr->sg_list->length)) {
		svb_unlock(&sq->lock);
		return 0;
	}
	for (; wr; wr = wr->next) {
		ret = svb_sq_room(sh, sq->head);
		if (svb_unlikely(ret))
			break;
		wqe = svb_sq_at(svb_self.seg, sq, sq->head);
		ret = svb_wqe_build(qp, wqe, wr);
		if (svb_unlikely(ret))
			break;
		if (svb_unlikely(svb_self.slow))
			svb_wqe_fate(qp, wqe);
		__atomic_store_n(&sq->head, sq->head + 1, __ATOMIC_RELEASE);
	}
	svb_engine_run_locked(svb_self.seg, sh);
	svb_unlock(&sq->lock);
	svb_engine_flush_marked();
	if (svb_unlikely(ret))
		*bad = wr;
	return ret;
}

int svb_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct svb_qp *qp = svb_qp(ibqp);
	struct svb_sq *sq = &qp->sh->sq;
	bool done;

	/* With the length known the compiler makes one store of it, and no call at all.
	 */
	if (svb_is_write(wr) && wr->sg_list->length == 8 && svb_trylock(&sq->lock)) {
		done = svb_write_near(qp, wr, 8);
		svb_unlock(&sq->lock);
		if (svb_likely(done))
			return 0;
	}
	return svb_post_any(qp, wr, bad);
}

/* Lock held. */
static int svb_rq_post(struct svb_rq *rq, const struct ibv_recv_wr *wr)
{
	struct svb_rwqe *rwqe = svb_rq_at(svb_self.seg, rq, rq->head);

	if (rq->head - __atomic_load_n(&rq->done, __ATOMIC_ACQUIRE) >= rq->limit)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	svb_tsan_posted(wr->wr_id);
	rwqe->wr_id = wr->wr_id;
	rwqe->num_sge = (uint32_t)wr->num_sge;
	if (wr->num_sge)
		memcpy(rwqe->sge, wr->sg_list,
		       (size_t)wr->num_sge * sizeof(wr->sg_list[0]));
	if (svb_unlikely(svb_self.valgrind))
		svb_sges_written(rwqe->sge, rwqe->num_sge);
	__atomic_store_n(&rq->head, rq->head + 1, __ATOMIC_RELEASE);
	return 0;
}

int svb_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct svb_qp_sh *sh = svb_qp(ibqp)->sh;
	struct svb_rq *rq = &sh->rq;
	uint32_t waiting;
	int ret = 0;

	if (svb_get(sh->state) == IBV_QPS_RESET || sh->srq) {
		*bad = wr;
		return EINVAL;
	}
	svb_lock(&rq->lock);
	for (; wr && !ret; wr = ret ? wr : wr->next)
		ret = svb_rq_post(rq, wr);
	waiting = rq->waiting;
	rq->waiting = 0;
	svb_unlock(&rq->lock);
	if (waiting)
		svb_engine_run_peer(sh);
	if (svb_unlikely(svb_get(sh->state) == IBV_QPS_ERR))
		svb_qp_fail(svb_self.seg, sh, -1);
	if (ret)
		*bad = wr;
	return ret;
}

/* Every queue pair of the queue whose sender waits. */
static void svb_srq_wake(struct svb_srq *srq)
{
	struct svb_qp_sh *qp;
	uint32_t i;

	pthread_mutex_lock(&svb_self.mutex);
	for (i = 0; i < svb_self.seg->limit[SVB_TAB_QP]; i++) {
		if (!svb_self.qp[i] || svb_self.qp[i]->srq != srq)
			continue;
		qp = svb_self.qp[i]->sh;
		if (__atomic_exchange_n(&qp->rq.waiting, 0, __ATOMIC_ACQ_REL))
			svb_engine_run_peer(qp);
	}
	pthread_mutex_unlock(&svb_self.mutex);
}

int svb_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad)
{
	struct svb_srq *srq = svb_srq(ibsrq);
	struct svb_rq *rq = &srq->sh->rq;
	uint32_t waiting;
	int ret = 0;

	svb_lock(&rq->lock);
	for (; wr && !ret; wr = ret ? wr : wr->next)
		ret = svb_rq_post(rq, wr);
	waiting = rq->waiting;
	rq->waiting = 0;
	svb_unlock(&rq->lock);
	if (waiting)
		svb_srq_wake(srq);
	if (ret)
		*bad = wr;
	return ret;
}
