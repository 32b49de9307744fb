/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two ways to post requests share (wr_post.c, wr_ex.c). */
#ifndef SVB_VERBS_WR_H
#define SVB_VERBS_WR_H

#include <errno.h>
#include "verbs.h"

#define SVB_MAX_MSG (1u << 30)
/*
 * The flags of ibv_post_send(3) that are accepted: IBV_SEND_IP_CSUM is for devices with
 * checksum offload.
 */
#define SVB_SEND_FLAGS                                                            \
	((unsigned int)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | \
			IBV_SEND_INLINE))

/* Is there no room for a request at position head? Lock held. */
SVB_INLINE bool svb_sq_full(const struct svb_sq *sq, uint32_t head)
{
	return head - __atomic_load_n(&sq->done, __ATOMIC_ACQUIRE) >= sq->limit;
}

/* May a request be added there? Lock held. Returns 0 or an errno. */
static inline int svb_sq_room(const struct svb_qp_sh *qp, uint32_t head)
{
	if (svb_unlikely(svb_get(qp->state) < IBV_QPS_RTS))
		return EINVAL;
	return svb_unlikely(svb_sq_full(&qp->sq, head)) ? ENOMEM : 0;
}

/* Data of a request is named in the ring. Returns 0 or EINVAL. */
int svb_wqe_sges(struct svb_qp *qp, struct svb_wqe *wqe, const struct ibv_sge *sge,
		 int count);
int svb_wqe_bind(struct svb_wqe *wqe, struct ibv_mw *mw, uint32_t rkey,
		 const struct ibv_mw_bind_info *info);

/* Does the answer to that operation bring data? */
bool svb_wr_receives(uint32_t opcode);

/* wr_fate.c: latency, loss and injected errors, as the settings want them. */
void svb_wqe_fate(struct svb_qp *qp, struct svb_wqe *wqe);

#endif
