/* SPDX-License-Identifier: BSD-2-Clause */
/* One side sends chains of small messages, the other checks that all arrive in order. */
#include "msg.h"

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
	struct fct *t = c->l.t;
	int ret;

	FCT_POST(t, c->l.rxcq,
		 fi_recv(c->l.c.ep, slot_buf(c, n), CHAIN_LEN, c->m.desc, 0,
			 &c->ctx[n % CHAIN_DEPTH]));
out:
	return ret;
}

static int start(struct chain *c, struct fct *t, const struct fct_setup *s)
{
	uint32_t i;
	int ret;

	FCT_DO(fct_link_up(&c->l, t, s));
	FCT_DO(fct_mem_alloc(&c->l, &c->m, CHAIN_DEPTH * CHAIN_LEN, FI_SEND | FI_RECV));
	for (i = 0; fct_is_server(t) && i < CHAIN_DEPTH; i++)
		FCT_DO(post_recv(c, i));
	ret = fct_barrier(t, "receives posted");
out:
	return ret;
}

static int receive(struct chain *c, uint32_t count)
{
	struct fct *t = c->l.t;
	struct fi_cq_data_entry e;
	int ret = 0;

	while (count--) {
		FCT_DO(fct_comp(t, c->l.rxcq, &c->ctx[c->n % CHAIN_DEPTH],
				FI_RECV | FI_MSG, &e, "the next message of a chain"));
		FCT_EQ(t, e.len, CHAIN_LEN);
		FCT_DATA(t, slot_buf(c, c->n), CHAIN_LEN, c->n);
		FCT_DO(post_recv(c, c->n));
		c->n++;
	}
out:
	return ret;
}

static int send_more(struct chain *c, uint64_t flags)
{
	struct iovec iov = {.iov_base = slot_buf(c, c->n), .iov_len = CHAIN_LEN};
	struct fi_msg msg = {.msg_iov = &iov,
			     .desc = &c->m.desc,
			     .iov_count = 1,
			     .context = &c->ctx[c->n % CHAIN_DEPTH]};
	struct fct *t = c->l.t;
	int ret;

	fct_fill(iov.iov_base, CHAIN_LEN, c->n);
	FCT_POST(t, c->l.txcq, fi_sendmsg(c->l.c.ep, &msg, flags));
	c->n++;
out:
	return ret;
}

/*
 * Chains of 1 to 8, ended by a plain fi_sendmsg, or by an fi_inject, which never says
 * FI_MORE.
 */
int fct_msg_more(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG};
	struct chain c = {.n = 0};
	struct fi_cq_data_entry e;
	uint32_t len, i, first;
	bool inject;
	int ret;

	FCT_DO(start(&c, t, &s));
	for (len = 1; len <= 16; len++) {
		inject = len > 8 && c.l.c.info->tx_attr->inject_size >= CHAIN_LEN;
		first = c.n;
		if (fct_is_client(t)) {
			for (i = 0; i + 1 < len; i++)
				FCT_DO(send_more(&c, FI_MORE));
			if (inject) {
				fct_fill(slot_buf(&c, c.n), CHAIN_LEN, c.n);
				FCT_POST(t, c.l.txcq,
					 fi_inject(c.l.c.ep, slot_buf(&c, c.n), CHAIN_LEN,
						   0));
				c.n++;
			} else {
				FCT_DO(send_more(&c, 0));
			}
			for (i = 0; i < len - inject; i++)
				FCT_DO(fct_comp(t, c.l.txcq,
						&c.ctx[(first + i) % CHAIN_DEPTH],
						FI_SEND | FI_MSG, &e,
						"a send of a FI_MORE chain"));
		} else {
			FCT_DO(receive(&c, len));
		}
		FCT_DO(fct_barrier(t, "chain done"));
	}
	FCT_DO(fct_cq_quiet(t, c.l.txcq, "after the last chain"));
out:
	return fct_link_down(&c.l, ret);
}

/*
 * More than any queue holds, in batches the receiver has room for; none makes a
 * completion.
 */
int fct_msg_inject_many(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG, .tx_size = 16};
	struct chain c = {.n = 0};
	uint32_t batch, i;
	int ret;

	FCT_DO(start(&c, t, &s));
	if (c.l.c.info->tx_attr->inject_size < CHAIN_LEN) {
		ret = fct_skip(t, "inject_size is %zu", c.l.c.info->tx_attr->inject_size);
		goto out;
	}
	for (batch = 0; batch < 128; batch++) {
		for (i = 0; fct_is_client(t) && i < CHAIN_DEPTH; i++, c.n++) {
			fct_fill(slot_buf(&c, c.n), CHAIN_LEN, c.n);
			FCT_POST(t, c.l.txcq,
				 fi_inject(c.l.c.ep, slot_buf(&c, c.n), CHAIN_LEN, 0));
		}
		if (fct_is_server(t))
			FCT_DO(receive(&c, CHAIN_DEPTH));
		FCT_DO(fct_barrier(t, "batch done"));
	}
	FCT_DO(fct_cq_quiet(t, c.l.txcq, "after thousands of fi_inject"));
out:
	return fct_link_down(&c.l, ret);
}

/* Sends that make no completion must not clog the queue. */
int fct_msg_selective_many(struct fct *t)
{
	struct fct_setup s = {.caps = FI_MSG,
			      .tx_size = 16,
			      .tx_bind = FI_SELECTIVE_COMPLETION};
	struct chain c = {.n = 0};
	struct fi_cq_data_entry e;
	uint32_t batch, i;
	bool last;
	int ret;

	FCT_DO(start(&c, t, &s));
	for (batch = 0; batch < 64; batch++) {
		for (i = 0; fct_is_client(t) && i < CHAIN_DEPTH; i++) {
			last = batch == 63 && i == CHAIN_DEPTH - 1;
			FCT_DO(send_more(&c, last ? FI_COMPLETION : 0));
		}
		if (fct_is_server(t))
			FCT_DO(receive(&c, CHAIN_DEPTH));
		FCT_DO(fct_barrier(t, "batch done"));
	}
	if (fct_is_client(t))
		FCT_DO(fct_comp(t, c.l.txcq, &c.ctx[(c.n - 1) % CHAIN_DEPTH],
				FI_SEND | FI_MSG, &e,
				"the only send with FI_COMPLETION"));
	FCT_DO(fct_cq_quiet(t, c.l.txcq, "after the only send with FI_COMPLETION"));
out:
	return fct_link_down(&c.l, ret);
}
