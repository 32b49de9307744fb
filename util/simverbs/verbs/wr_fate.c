/* SPDX-License-Identifier: BSD-2-Clause */
/* Latency, loss and injected errors of what is posted. */
#include "step.h"
#include "wr.h"

/* xorshift64*: the same losses for the same seed. */
static double svb_random(void)
{
	uint64_t x = svb_self.settings.seed;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	svb_self.settings.seed = x ? x : 1;
	return (double)(x * 0x2545f4914f6cdd1dull >> 11) / 9007199254740992.0;
}

/* A fenced request leaves when the reads and atomics before it are answered. */
static uint64_t svb_due(struct svb_qp *qp, const struct svb_wqe *wqe)
{
	const bool answers = svb_wr_receives(wqe->opcode);
	const uint64_t now = svb_now();
	uint64_t due;

	due = (wqe->flags & IBV_SEND_FENCE && qp->answered > now ? qp->answered : now) +
	      svb_self.settings.latency;
	if (answers)
		qp->answered = due;
	return due;
}

void svb_wqe_fate(struct svb_qp *qp, struct svb_wqe *wqe)
{
	const struct svb_settings *set = &svb_self.settings;
	uint64_t timeout = 4096ull << (qp->sh->attr.timeout & 31);
	uint32_t tries =
		qp->ibv.qp_type == IBV_QPT_RC ? (qp->sh->attr.retry_cnt & 7) + 1 : 1;
	uint32_t lost = 0;

	/* A field that the program need not fill: it must not tell states apart. */
	if (wqe->opcode != IBV_WR_RDMA_WRITE_WITH_IMM &&
	    wqe->opcode != IBV_WR_SEND_WITH_IMM && wqe->opcode != IBV_WR_SEND_WITH_INV)
		wqe->imm = 0;
	if (set->latency)
		wqe->due = svb_due(qp, wqe);
	while (lost < tries && set->loss > 0 && svb_random() < set->loss)
		lost++;
	if (lost == tries && qp->ibv.qp_type != IBV_QPT_RC)
		wqe->flags |= SVB_SEND_LOST;
	else if (lost == tries)
		wqe->error = IBV_WC_RETRY_EXC_ERR;
	else if (set->error > 0 && svb_random() < set->error)
		wqe->error = IBV_WC_REM_OP_ERR;
	if (lost && qp->ibv.qp_type == IBV_QPT_RC)
		wqe->due = (wqe->due ? wqe->due : svb_now()) + lost * timeout;
}
