/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases share: connections and receives. */
#include "rma.h"

struct fct_setup fct_rma_setup(void)
{
	return (struct fct_setup){.caps = FI_MSG | FI_RMA,
				  .msg_order = FI_ORDER_SAW | FI_ORDER_SAS};
}

int fct_rma_up(struct rma *r, struct fct *t, const struct fct_setup *s, size_t len,
	       uint64_t access)
{
	struct fct_target mine;
	int ret;

	FCT_DO(fct_link_up(&r->l, t, s));
	FCT_DO(fct_mem_alloc(&r->l, &r->exposed, len,
			     access ? access : FI_REMOTE_READ | FI_REMOTE_WRITE));
	FCT_DO(fct_mem_alloc(&r->l, &r->local, len, FI_READ | FI_WRITE));
	FCT_DO(fct_mem_alloc(&r->l, &r->flag, 16, FI_SEND | FI_RECV));
	mine = fct_mem_target(&r->l, &r->exposed);
	ret = fct_exchange(t, "region", &mine, &r->peer, sizeof(mine));
out:
	return ret;
}

struct fi_rma_iov fct_rma_piece(const struct rma *r, size_t at, size_t len)
{
	return (struct fi_rma_iov){.addr = r->peer.addr + at,
				   .len = len,
				   .key = r->peer.key};
}

int fct_rma_arm(struct rma *r)
{
	struct fct *t = r->l.t;
	int ret;

	FCT_POST(t, r->l.rxcq,
		 fi_recv(r->l.c.ep, r->flag.buf, 1, r->flag.desc, 0, &r->flag_ctx));
out:
	return ret;
}

int fct_rma_flag(struct rma *r)
{
	struct fct *t = r->l.t;
	struct fi_cq_data_entry e;
	int ret;

	FCT_POST(t, r->l.txcq,
		 fi_send(r->l.c.ep, r->flag.buf + 8, 1, r->flag.desc, 0, &r->flag_ctx));
	ret = fct_comp(t, r->l.txcq, &r->flag_ctx, FI_SEND | FI_MSG, &e,
		       "the message behind the writes");
out:
	return ret;
}

int fct_rma_await(struct rma *r)
{
	struct fi_cq_data_entry e;

	return fct_comp(r->l.t, r->l.rxcq, &r->flag_ctx, FI_RECV | FI_MSG, &e,
			"the message behind the writes");
}
