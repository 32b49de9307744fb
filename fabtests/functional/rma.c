/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases share: connections and receives. */
#include "rma.h"

struct fct_setup fct_rma_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA,
				  .msg_order = FI_ORDER_SAW | FI_ORDER_SAS};
}

int fct_rma_up(struct rma *r, const struct fct_setup *s, size_t len, uint64_t access)
{
	struct fct_target mine;

	FCT_DO(fct_link_up(&r->l, s));
	FCT_DO(fct_mem_alloc(&r->l, &r->exposed, len,
			     access ? access : FI_REMOTE_READ | FI_REMOTE_WRITE));
	FCT_DO(fct_mem_alloc(&r->l, &r->local, len, FI_READ | FI_WRITE));
	FCT_DO(fct_mem_alloc(&r->l, &r->flag, 16, FI_SEND | FI_RECV));
	mine = fct_mem_target(&r->l, &r->exposed);
	return fct_exchange("region", &mine, &r->peer, sizeof(mine));
}

struct fi_rma_iov fct_rma_piece(const struct rma *r, size_t at, size_t len)
{
	return (struct fi_rma_iov){.addr = r->peer.addr + at,
				   .len = len,
				   .key = r->peer.key};
}

int fct_rma_arm(struct rma *r)
{
	FCT_POST(r->l.rxcq,
		 fi_recv(r->l.c.ep, r->flag.buf, 1, r->flag.desc, 0, &r->flag_ctx));
	return 0;
}

int fct_rma_flag(struct rma *r)
{
	struct fi_cq_data_entry e;

	FCT_POST(r->l.txcq,
		 fi_send(r->l.c.ep, r->flag.buf + 8, 1, r->flag.desc, 0, &r->flag_ctx));
	return fct_comp(r->l.txcq, &r->flag_ctx, FI_SEND | FI_MSG, &e,
			"the message behind the writes");
}

int fct_rma_await(struct rma *r)
{
	struct fi_cq_data_entry e;

	return fct_comp(r->l.rxcq, &r->flag_ctx, FI_RECV | FI_MSG, &e,
			"the message behind the writes");
}

FCT_PROGRAM(.name = "fi_cairn_rma",
	    .what = "Remote memory access on connected endpoints (FI_RMA).")
