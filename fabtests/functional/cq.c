/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: connections and posting. */
#include "cq.h"

int fct_cq_post_recv(struct cq_side *s, unsigned int slot)
{
	struct fct *t = s->l.t;
	int ret;

	FCT_POST(t, s->l.rxcq,
		 fi_recv(s->l.c.ep, s->m.buf + (size_t)slot * CQ_LEN, CQ_LEN, s->m.desc,
			 0, &s->ctx[slot]));
out:
	return ret;
}

int fct_cq_post_send(struct cq_side *s, unsigned int slot)
{
	struct fct *t = s->l.t;
	int ret;

	FCT_POST(t, s->l.txcq,
		 fi_send(s->l.c.ep, s->m.buf + (size_t)slot * CQ_LEN, CQ_LEN, s->m.desc,
			 0, &s->ctx[slot]));
out:
	return ret;
}

int fct_cq_up(struct cq_side *s, struct fct *t, const struct fct_setup *setup,
	      unsigned int recvs)
{
	unsigned int i;
	int ret;

	FCT_DO(fct_link_up(&s->l, t, setup));
	FCT_DO(fct_mem_alloc(&s->l, &s->m, 64 * CQ_LEN, FI_SEND | FI_RECV));
	for (i = 0; fct_is_server(t) && i < recvs; i++)
		FCT_DO(fct_cq_post_recv(s, i));
	ret = fct_barrier(t, "receives posted");
out:
	return ret;
}
