/* SPDX-License-Identifier: BSD-2-Clause */
/* What ibv_start_poll and ibv_wc_read_* call. */
#include <time.h>
#include "verbs.h"

static const struct svb_cqe *svb_current(struct ibv_cq_ex *ex)
{
	return ((struct svb_cq *)ex)->current;
}

#define SVB_READ(type, name, value)                       \
	static type svb_read_##name(struct ibv_cq_ex *ex) \
	{                                                 \
		return svb_current(ex)->value;            \
	}
SVB_READ(enum ibv_wc_opcode, opcode, wc.opcode)
SVB_READ(uint32_t, vendor_err, wc.vendor_err)
SVB_READ(uint32_t, byte_len, wc.byte_len)
SVB_READ(__be32, imm_data, wc.imm_data)
SVB_READ(uint32_t, qp_num, wc.qp_num)
SVB_READ(uint32_t, src_qp, wc.src_qp)
SVB_READ(unsigned int, wc_flags, wc.wc_flags)
SVB_READ(uint32_t, slid, wc.slid)
SVB_READ(uint8_t, sl, wc.sl)
SVB_READ(uint8_t, dlid_path_bits, wc.dlid_path_bits)
SVB_READ(uint64_t, completion_ts, time)

/* Completions carry the monotonic clock; the offset between the two is now's. */
static uint64_t svb_read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	struct timespec wall, mono;

	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	return svb_current(ex)->time +
	       (uint64_t)(wall.tv_sec - mono.tv_sec) * 1000000000 +
	       (uint64_t)(wall.tv_nsec - mono.tv_nsec);
}

void svb_cq_ex_init(struct svb_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->ex;

	ex->start_poll = svb_cq_start_poll;
	ex->next_poll = svb_cq_next_poll;
	ex->end_poll = svb_cq_end_poll;
	ex->read_opcode = svb_read_opcode;
	ex->read_vendor_err = svb_read_vendor_err;
	ex->read_wc_flags = svb_read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = svb_read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = svb_read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = svb_read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = svb_read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = svb_read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = svb_read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = svb_read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = svb_read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = svb_read_completion_wallclock_ns;
	if (wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
		cq->sh->flags |= SVB_CQ_TIMESTAMPS;
}
