/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: connections and posting. */
#include "cq.h"

int fct_cq_post_recv(struct cq_side *s, unsigned int slot)
{
	FCT_POST(s->l.rxcq, fi_recv(s->l.c.ep, s->m.buf + (size_t)slot * CQ_LEN, CQ_LEN,
				    s->m.desc, 0, &s->ctx[slot]));
	return 0;
}

int fct_cq_post_send(struct cq_side *s, unsigned int slot)
{
	FCT_POST(s->l.txcq, fi_send(s->l.c.ep, s->m.buf + (size_t)slot * CQ_LEN, CQ_LEN,
				    s->m.desc, 0, &s->ctx[slot]));
	return 0;
}

int fct_cq_up(struct cq_side *s, const struct fct_setup *setup, unsigned int recvs)
{
	unsigned int i;

	FCT_DO(fct_link_up(&s->l, setup));
	FCT_DO(fct_mem_alloc(&s->l, &s->m, 64 * CQ_LEN, FI_SEND | FI_RECV));
	for (i = 0; fct_is_server() && i < recvs; i++)
		FCT_DO(fct_cq_post_recv(s, i));
	return fct_barrier("receives posted");
}

FCT_PROGRAM(.name = "fi_cairn_cq", .what = "Completion queues.")
