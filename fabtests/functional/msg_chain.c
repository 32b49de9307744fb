/* SPDX-License-Identifier: BSD-2-Clause */
/* One side sends chains of small messages, the other checks that all arrive in order. */
#include "fct_op.h"

#define CHAIN_LEN 32u
#define CHAIN_DEPTH 32u

struct chain {
	struct fct_parts p; /* first */
	uint32_t n;	    /* messages sent or received so far */
};

static int start(struct chain *c, const struct fct_setup *s)
{
	return fct_parts_up(&c->p, s, CHAIN_LEN, CHAIN_DEPTH, CHAIN_DEPTH);
}

static int receive(struct chain *c, uint32_t count)
{
	struct fi_cq_data_entry e;
	uint32_t i;

	for (; count--; c->n++) {
		i = c->n % CHAIN_DEPTH;
		FCT_DO(fct_comp(c->p.l.rxcq, &c->p.ctx[i], FI_RECV | FI_MSG, &e,
				"the next message of a chain"));
		FCT_EQ(e.len, CHAIN_LEN);
		FCT_DATA(fct_part(&c->p, i), CHAIN_LEN, c->n);
		FCT_DO(fct_part_post(&c->p, FCT_RECV, i, 0));
	}
	return 0;
}

static int send_more(struct chain *c, enum fct_form form, uint64_t flags)
{
	const uint32_t i = c->n % CHAIN_DEPTH;

	fct_fill(fct_part(&c->p, i), CHAIN_LEN, c->n++);
	return fct_part_post(&c->p, form, i, flags);
}

/*
 * Chains of 1 to 8, ended by a plain fi_sendmsg, or by an fi_inject, which never says
 * FI_MORE.
 */
FCT_CASE(more, "chains of FI_MORE")
{
	struct fct_setup s = {.caps = FI_MSG};
	FCT_AUTO(fct_link_end) struct chain c = {0};
	struct fi_cq_data_entry e;
	uint32_t len, i, first;
	bool inject;

	FCT_DO(start(&c, &s));
	for (len = 1; len <= 16; len++) {
		inject = len > 8 && c.p.l.c.info->tx_attr->inject_size >= CHAIN_LEN;
		first = c.n;
		if (fct_is_client()) {
			for (i = 0; i + 1 < len; i++)
				FCT_DO(send_more(&c, FCT_SENDMSG, FI_MORE));
			FCT_DO(send_more(&c, inject ? FCT_INJECT : FCT_SENDMSG, 0));
			for (i = 0; i < len - inject; i++)
				FCT_DO(fct_comp(c.p.l.txcq,
						&c.p.ctx[(first + i) % CHAIN_DEPTH],
						FI_SEND | FI_MSG, &e,
						"a send of a FI_MORE chain"));
		} else {
			FCT_DO(receive(&c, len));
		}
		FCT_DO(fct_barrier("chain done"));
	}
	return fct_cq_quiet(c.p.l.txcq, "after the last chain");
}

/*
 * More than any queue holds, in batches the receiver has room for; none makes a
 * completion.
 */
FCT_CASE(inject_many, "thousands of fi_inject in a row")
{
	struct fct_setup s = {.caps = FI_MSG, .tx_size = 16};
	FCT_AUTO(fct_link_end) struct chain c = {0};
	uint32_t batch, i;

	FCT_DO(start(&c, &s));
	if (c.p.l.c.info->tx_attr->inject_size < CHAIN_LEN)
		return fct_skip("inject_size is %zu", c.p.l.c.info->tx_attr->inject_size);
	for (batch = 0; batch < 128; batch++) {
		for (i = 0; fct_is_client() && i < CHAIN_DEPTH; i++)
			FCT_DO(send_more(&c, FCT_INJECT, 0));
		if (fct_is_server())
			FCT_DO(receive(&c, CHAIN_DEPTH));
		FCT_DO(fct_barrier("batch done"));
	}
	return fct_cq_quiet(c.p.l.txcq, "after thousands of fi_inject");
}

/* Sends that make no completion must not clog the queue. */
FCT_CASE(selective_many, "more sends without completion than the queue holds")
{
	struct fct_setup s = {.caps = FI_MSG,
			      .tx_size = 16,
			      .tx_bind = FI_SELECTIVE_COMPLETION};
	FCT_AUTO(fct_link_end) struct chain c = {0};
	struct fi_cq_data_entry e;
	uint32_t batch, i;
	bool last;

	FCT_DO(start(&c, &s));
	for (batch = 0; batch < 64; batch++) {
		for (i = 0; fct_is_client() && i < CHAIN_DEPTH; i++) {
			last = batch == 63 && i == CHAIN_DEPTH - 1;
			FCT_DO(send_more(&c, FCT_SENDMSG, last ? FI_COMPLETION : 0));
		}
		if (fct_is_server())
			FCT_DO(receive(&c, CHAIN_DEPTH));
		FCT_DO(fct_barrier("batch done"));
	}
	if (fct_is_client())
		FCT_DO(fct_comp(c.p.l.txcq, &c.p.ctx[(c.n - 1) % CHAIN_DEPTH],
				FI_SEND | FI_MSG, &e,
				"the only send with FI_COMPLETION"));
	return fct_cq_quiet(c.p.l.txcq, "after the only send with FI_COMPLETION");
}
