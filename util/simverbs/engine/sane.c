/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Validates data in the segments of other processes before use: a wrong offset or slot
 * must not crash this process. A queue pair with invalid data is treated as one that
 * does not answer.
 */
#include "engine.h"

/* The most entries that settings.c lets rings have. */
#define SVB_MOST_WR 65536u
#define SVB_MOST_CQE (1u << 22)

static bool svb_sane_ring(uint64_t ring, uint32_t mask, uint32_t most, uint64_t stride)
{
	uint64_t count = (uint64_t)mask + 1;

	return !(count & mask) && count <= most && svb_seg_holds(ring, count * stride);
}

static bool svb_sane_rq(const struct svb_rq *rq)
{
	uint32_t stride = svb_get(rq->stride);

	return stride >= sizeof(struct svb_rwqe) && stride % 8 == 0 &&
	       stride <= sizeof(struct svb_rwqe) + SVB_MAX_SGE * sizeof(struct ibv_sge) &&
	       svb_sane_ring(svb_get(rq->ring), svb_get(rq->mask), SVB_MOST_WR, stride) &&
	       !(svb_get(rq->ring) % 8) &&
	       svb_get(rq->head) - svb_get(rq->next) <= svb_get(rq->mask) + 1;
}

static bool svb_sane_cq(struct svb_seg *seg, uint32_t slot)
{
	struct svb_cq_sh *cq = slot < SVB_MAX_CQ ? svb_seg_cq_try(seg, slot) : NULL;

	return cq && !(svb_get(cq->ring) % 64) &&
	       svb_get(cq->tail) - svb_get(cq->head) <= svb_get(cq->mask) + 1 &&
	       svb_sane_ring(svb_get(cq->ring), svb_get(cq->mask), SVB_MOST_CQE,
			     sizeof(struct svb_cqe));
}

bool svb_sane_receiver(struct svb_seg *seg, const struct svb_qp_sh *qp)
{
	struct svb_srq_sh *srq;
	uint32_t slot = svb_get(qp->srq);

	if (!svb_sane_cq(seg, svb_get(qp->recv_cq)))
		return false;
	if (!slot)
		return svb_sane_rq(&qp->rq);
	srq = slot <= SVB_MAX_SRQ ? svb_seg_srq_try(seg, slot - 1) : NULL;
	return srq && svb_sane_rq(&srq->rq);
}

bool svb_sane_sender(struct svb_seg *seg, const struct svb_qp_sh *qp)
{
	const struct svb_sq *sq = &qp->sq;
	uint32_t stride = svb_get(sq->stride);

	return svb_sane_cq(seg, svb_get(qp->send_cq)) && stride > SVB_WQE_HEAD &&
	       stride % 64 == 0 && stride <= SVB_WQE_MOST &&
	       svb_sane_ring(svb_get(sq->ring), svb_get(sq->mask), SVB_MOST_WR, stride) &&
	       !(svb_get(sq->ring) % 64) &&
	       svb_get(sq->head) - svb_get(sq->next) <= svb_get(sq->mask) + 1;
}

bool svb_sane_wqe(const struct svb_qp_sh *qp, const struct svb_wqe *wqe)
{
	uint32_t room = svb_get(qp->sq.stride) - SVB_WQE_HEAD;

	if (svb_get(wqe->opcode) > 15)
		return false;
	return svb_get(wqe->flags) & IBV_SEND_INLINE
		       ? svb_get(wqe->length) <= room
		       : svb_get(wqe->num_sge) <= room / sizeof(struct ibv_sge);
}
