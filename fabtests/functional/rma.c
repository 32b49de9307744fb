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
	FCT_DO(fct_link_up(&r->l, s));
	FCT_DO(fct_mem_alloc(&r->l, &r->local, len, FI_READ | FI_WRITE));
	FCT_DO(fct_mem_alloc(&r->l, &r->flag, 16, FI_SEND | FI_RECV));
	return fct_mem_expose(&r->l, &r->exposed, len,
			      access ? access : FI_REMOTE_READ | FI_REMOTE_WRITE,
			      &r->peer);
}

struct fct_op fct_rma_op(struct rma *r, enum fct_form form, size_t from, size_t to,
			 size_t len)
{
	return (struct fct_op){.form = form,
			       .buf = r->local.buf + from,
			       .len = len,
			       .desc = r->local.desc,
			       .addr = r->peer.addr + to,
			       .key = r->peer.key,
			       .ctx = &r->ctx};
}

int fct_rma_do(struct rma *r, enum fct_form form, size_t from, size_t to, size_t len)
{
	const struct fct_op op = fct_rma_op(r, form, from, to, len);

	return fct_op_do(r->l.c.ep, r->l.txcq, &op);
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
