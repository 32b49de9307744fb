/* SPDX-License-Identifier: BSD-2-Clause */
/* One side sends chains of small messages, the other checks that all arrive in order. */
#include "fct_op.h"

#define CHAIN_LEN 32u
#define CHAIN_DEPTH 32u

struct chain {
	struct fct_link l;
	struct fct_mem m;
	struct fct_ctx ctx[CHAIN_DEPTH];
	uint32_t n; /* messages sent or received so far */
};

static uint8_t *slot_buf(struct chain *c, uint32_t n)
{
	return c->m.buf + (size_t)(n % CHAIN_DEPTH) * CHAIN_LEN;
}

static int post_recv(struct chain *c, uint32_t n)
{
	FCT_POST(c->l.rxcq, fi_recv(c->l.c.ep, slot_buf(c, n), CHAIN_LEN, c->m.desc, 0,
				    &c->ctx[n % CHAIN_DEPTH]));
	return 0;
}

static int start(struct chain *c, const struct fct_setup *s)
{
	uint32_t i;

	FCT_DO(fct_link_up(&c->l, s));
	FCT_DO(fct_mem_alloc(&c->l, &c->m, CHAIN_DEPTH * CHAIN_LEN, FI_SEND | FI_RECV));
	for (i = 0; fct_is_server() && i < CHAIN_DEPTH; i++)
		FCT_DO(post_recv(c, i));
	return fct_barrier("receives posted");
}

static int receive(struct chain *c, uint32_t count)
{
	struct fi_cq_data_entry e;

	while (count--) {
		FCT_DO(fct_comp(c->l.rxcq, &c->ctx[c->n % CHAIN_DEPTH], FI_RECV | FI_MSG,
				&e, "the next message of a chain"));
		FCT_EQ(e.len, CHAIN_LEN);
		FCT_DATA(slot_buf(c, c->n), CHAIN_LEN, c->n);
		FCT_DO(post_recv(c, c->n));
		c->n++;
	}
	return 0;
}

static int send_more(struct chain *c, enum fct_form form, uint64_t flags)
{
	const struct fct_op op = {.form = form,
				  .buf = slot_buf(c, c->n),
				  .len = CHAIN_LEN,
				  .desc = c->m.desc,
				  .flags = flags,
				  .ctx = &c->ctx[c->n % CHAIN_DEPTH]};

	fct_fill(op.buf, CHAIN_LEN, c->n);
	FCT_POST(c->l.txcq, fct_op_post(c->l.c.ep, &op));
	c->n++;
	return 0;
}

/*
 * Chains of 1 to 8, ended by a plain fi_sendmsg, or by an fi_inject, which never says
 * FI_MORE.
 */
FCT_CASE(more, "chains of FI_MORE")
{
	struct fct_setup s = {.caps = FI_MSG};
	FCT_AUTO(fct_link_end) struct chain c = {.n = 0};
	struct fi_cq_data_entry e;
	uint32_t len, i, first;
	bool inject;

	FCT_DO(start(&c, &s));
	for (len = 1; len <= 16; len++) {
		inject = len > 8 && c.l.c.info->tx_attr->inject_size >= CHAIN_LEN;
		first = c.n;
		if (fct_is_client()) {
			for (i = 0; i + 1 < len; i++)
				FCT_DO(send_more(&c, FCT_SENDMSG, FI_MORE));
			FCT_DO(send_more(&c, inject ? FCT_INJECT : FCT_SENDMSG, 0));
			for (i = 0; i < len - inject; i++)
				FCT_DO(fct_comp(c.l.txcq,
						&c.ctx[(first + i) % CHAIN_DEPTH],
						FI_SEND | FI_MSG, &e,
						"a send of a FI_MORE chain"));
		} else {
			FCT_DO(receive(&c, len));
		}
		FCT_DO(fct_barrier("chain done"));
	}
	return fct_cq_quiet(c.l.txcq, "after the last chain");
}

/*
 * More than any queue holds, in batches the receiver has room for; none makes a
 * completion.
 */
FCT_CASE(inject_many, "thousands of fi_inject in a row")
{
	struct fct_setup s = {.caps = FI_MSG, .tx_size = 16};
	FCT_AUTO(fct_link_end) struct chain c = {.n = 0};
	uint32_t batch, i;

	FCT_DO(start(&c, &s));
	if (c.l.c.info->tx_attr->inject_size < CHAIN_LEN)
		return fct_skip("inject_size is %zu", c.l.c.info->tx_attr->inject_size);
	for (batch = 0; batch < 128; batch++) {
		for (i = 0; fct_is_client() && i < CHAIN_DEPTH; i++)
			FCT_DO(send_more(&c, FCT_INJECT, 0));
		if (fct_is_server())
			FCT_DO(receive(&c, CHAIN_DEPTH));
		FCT_DO(fct_barrier("batch done"));
	}
	return fct_cq_quiet(c.l.txcq, "after thousands of fi_inject");
}

/* Sends that make no completion must not clog the queue. */
FCT_CASE(selective_many, "more sends without completion than the queue holds")
{
	struct fct_setup s = {.caps = FI_MSG,
			      .tx_size = 16,
			      .tx_bind = FI_SELECTIVE_COMPLETION};
	FCT_AUTO(fct_link_end) struct chain c = {.n = 0};
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
		FCT_DO(fct_comp(c.l.txcq, &c.ctx[(c.n - 1) % CHAIN_DEPTH],
				FI_SEND | FI_MSG, &e,
				"the only send with FI_COMPLETION"));
	return fct_cq_quiet(c.l.txcq, "after the only send with FI_COMPLETION");
}
