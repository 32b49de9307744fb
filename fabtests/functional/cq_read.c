/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading completion queues. */
#include "fct_op.h"

#define LEN 64u

/* Which of the contexts 0 to 4 and 10 has been reported, and how. */
static int note_once(struct fct_parts *s, const void *ctx, int how, int *seen)
{
	unsigned int i;

	for (i = 0; i <= 10 && ctx != &s->ctx[i]; i++)
		;
	FCT_TRUE(i < 5 || i == 10);
	FCT_EQ(seen[i], 0);
	seen[i] = how;
	return 0;
}

/*
 * Two endpoints on one CQ. The first has two messages and is closed with three receives
 * left, the second has a message after that. Every receive is reported once; whether the
 * close overtook the second message is the provider's matter.
 */
static int mixed_server(struct fct_parts *s, struct fct_conn *other)
{
	int err, ret, total = 0, seen[11] = {0};
	struct fi_cq_data_entry e;
	struct fct_wait w;

	FCT_POST(s->l.rxcq,
		 fi_recv(other->ep, fct_part(s, 10), LEN, s->m.desc, 0, &s->ctx[10]));
	FCT_DO(fct_barrier("all posted"));
	FCT_DO(fct_barrier("two sent"));
	FCT_DO(fct_conn_close(&s->l, &s->l.c));
	FCT_DO(fct_barrier("closed"));
	FCT_DO(fct_barrier("third sent"));
	fct_wait_init(&w, "all good and all bad completions");
	while (total < 6) {
		FCT_GET(ret, fct_cq_look(s->l.rxcq, &e, &err));
		if (ret)
			FCT_DO(note_once(s, e.op_context, err ? -1 : 1, seen));
		else
			FCT_DO(fct_wait_again(&w));
		total += ret;
	}
	FCT_TRUE(seen[10] == 1);
	FCT_TRUE(seen[2] == -1 && seen[3] == -1 && seen[4] == -1);
	FCT_TRUE(seen[0] >= seen[1]);
	return fct_cq_quiet(s->l.rxcq, "after all entries");
}

FCT_CASE(mixed, "good entries before and after an error are all readable")
{
	struct fct_setup setup = {.caps = FI_MSG, .cq_size = 1024};
	struct fct_conn other = {.ep = NULL};
	struct fi_cq_data_entry e;
	FCT_AUTO(fct_link_end) struct fct_parts s = {0};

	FCT_DO(fct_parts_up(&s, &setup, LEN, 11, 5));
	FCT_DO(fct_conn_up(&s.l, &other));
	if (fct_is_server())
		return mixed_server(&s, &other);
	FCT_DO(fct_barrier("all posted"));
	FCT_DO(fct_part_post(&s, FCT_SEND, 0, 0));
	FCT_DO(fct_comp(s.l.txcq, &s.ctx[0], FI_SEND | FI_MSG, &e, "the first send"));
	FCT_DO(fct_part_post(&s, FCT_SEND, 1, 0));
	FCT_DO(fct_comp(s.l.txcq, &s.ctx[1], FI_SEND | FI_MSG, &e, "the second send"));
	FCT_DO(fct_barrier("two sent"));
	FCT_DO(fct_barrier("closed"));
	FCT_POST(s.l.txcq, fi_send(other.ep, s.m.buf, LEN, s.m.desc, 0, &s.ctx[2]));
	FCT_DO(fct_comp(s.l.txcq, &s.ctx[2], FI_SEND | FI_MSG, &e, "the third send"));
	return fct_barrier("third sent");
}

FCT_PROGRAM(.name = "fi_cairn_cq", .what = "Completion queues.")
