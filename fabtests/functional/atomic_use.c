/* SPDX-License-Identifier: BSD-2-Clause */
/* Typical uses of atomics in programs. */
#include "atomic.h"

#define ROUNDS 2000u

static int need(struct atomic_side *s, const struct atomic_op *op)
{
	if (fct_atomic_offered(s, op)) /* and does the other side go on too? */
		return fct_barrier("offered");
	return fct_skip("what this case needs is not offered");
}

/* Two connections to one word: no addition is lost, none sees the other's half. */
FCT_CASE(contend, "two connections count in one word")
{
	const struct atomic_op op = {ATOMIC_FETCH, FI_UINT64, FI_SUM, 1};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct fct_conn more = {0};
	struct fct_ctx ctx[2];
	struct fi_cq_data_entry e;
	unsigned int i, done = 0;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	FCT_DO(need(&s, &op));
	FCT_DO(fct_conn_up(&s.l, &more));
	*fct_atomic_operand(&s) = 3;
	for (i = 0; fct_is_client() && i < ROUNDS; i++) {
		FCT_DO(fct_atomic_post(&s, &op, s.l.c.ep, &ctx[0],
				       fct_atomic_result(&s)));
		FCT_DO(fct_atomic_post(&s, &op, more.ep, &ctx[1],
				       fct_atomic_result(&s) + 1));
		for (done = 0; done < 2; done++)
			FCT_DO(fct_comp_any(s.l.txcq, &e, "an atomic"));
		FCT_TRUE(fct_atomic_result(&s)[0] != fct_atomic_result(&s)[1]);
		FCT_EQ(fct_atomic_result(&s)[0] + fct_atomic_result(&s)[1], 12 * i + 3);
	}
	FCT_DO(fct_barrier("counted"));
	if (fct_is_server())
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(&s, op.word), 6 * ROUNDS);
	return 0;
}

/* Words of the region: the lock, and two that only its owner may touch. */
enum { LOCK = 8, FIRST = 16, SECOND = 24 };

static int rma_word(struct atomic_side *s, bool read, unsigned int word)
{
	return fct_op_do(s->l.c.ep, s->l.txcq,
			 &(struct fct_op){.form = read ? FCT_READ : FCT_WRITE,
					  .buf = read ? fct_atomic_result(s)
						      : fct_atomic_operand(s),
					  .len = 8,
					  .desc = s->local.desc,
					  .addr = s->peer.addr + word * sizeof(uint64_t),
					  .key = s->peer.key,
					  .ctx = &s->ctx});
}

FCT_CASE(lock, "a lock taken by compare and swap")
{
	const struct atomic_op swap = {ATOMIC_COMPARE, FI_UINT64, FI_CSWAP, LOCK};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	unsigned int i;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	FCT_DO(need(&s, &swap));
	for (i = 0; fct_is_client() && i < 300; i++) {
		*fct_atomic_compare(&s) = 0;
		*fct_atomic_operand(&s) = i + 1;
		FCT_DO(fct_atomic_do(&s, &swap));
		FCT_EQ(*fct_atomic_result(&s), 0);
		/* Taken: nobody else gets it. */
		*fct_atomic_operand(&s) = 99999;
		FCT_DO(fct_atomic_do(&s, &swap));
		FCT_EQ(*fct_atomic_result(&s), i + 1);
		FCT_DO(rma_word(&s, true, FIRST));
		*fct_atomic_operand(&s) = *fct_atomic_result(&s) + 2;
		FCT_DO(rma_word(&s, false, FIRST));
		FCT_DO(rma_word(&s, false, SECOND));
		*fct_atomic_compare(&s) = i + 1;
		*fct_atomic_operand(&s) = 0;
		FCT_DO(fct_atomic_do(&s, &swap));
		FCT_EQ(*fct_atomic_result(&s), i + 1);
	}
	FCT_DO(fct_barrier("unlocked"));
	if (fct_is_server()) {
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(&s, LOCK), 0);
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(&s, FIRST), 600);
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(&s, SECOND), 600);
	}
	return 0;
}

#define WINDOW 64u

/* As many in flight as the queue takes; every value is fetched once. */
FCT_CASE(many, "thousands in flight, each result once")
{
	const struct atomic_op op = {ATOMIC_FETCH, FI_INT64, FI_SUM, 0};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	static struct fct_ctx ctx[WINDOW];
	struct fi_cq_data_entry e;
	uint32_t posted = 0, done = 0;
	uint64_t *result;
	struct fct_op call;
	int ret;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	FCT_DO(need(&s, &op));
	result = fct_atomic_result(&s);
	call = fct_atomic_op(&s, &op, ATOMIC_PLAIN);
	*fct_atomic_operand(&s) = 1;
	while (fct_is_client() && done < ROUNDS) {
		if (posted < ROUNDS && posted - done < WINDOW) {
			call.result = &result[posted % WINDOW];
			call.ctx = &ctx[posted % WINDOW];
			ret = (int)fct_op_post(s.l.c.ep, &call);
			if (!ret) {
				posted++;
				continue;
			}
			FCT_ERR(ret, -FI_EAGAIN);
			FCT_TRUE(posted > done);
		}
		FCT_DO(fct_comp(s.l.txcq, &ctx[done % WINDOW], FI_ATOMIC | FI_READ, &e,
				"the oldest of many atomics"));
		FCT_EQ(result[done % WINDOW], done);
		done++;
	}
	FCT_DO(fct_barrier("done"));
	if (fct_is_server())
		FCT_EQ(*(volatile uint64_t *)fct_atomic_word(&s, 0), ROUNDS);
	return 0;
}

/* FI_ORDER_WAW, RAW, RAR and ATOMIC ones between write, atomic and read of one word. */
FCT_CASE(order, "atomics, writes and reads of a word in the order posted")
{
	const struct atomic_op op = {ATOMIC_FETCH, FI_UINT64, FI_SUM, 2};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct fct_ctx ctx[4];
	struct fi_cq_data_entry e;
	uint64_t *result, addr;
	unsigned int i, n;

	FCT_DO(fct_atomic_up(&s, 0,
			     FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_RAR |
				     FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAW |
				     FI_ORDER_ATOMIC_RAR));
	FCT_DO(need(&s, &op));
	addr = s.peer.addr + op.word * sizeof(uint64_t);
	result = fct_atomic_result(&s);
	for (i = 1; fct_is_client() && i < 500; i++) {
		*fct_atomic_compare(&s) = 1000 * i;
		*fct_atomic_operand(&s) = i;
		FCT_POST(s.l.txcq, fi_write(s.l.c.ep, fct_atomic_compare(&s), 8,
					    s.local.desc, 0, addr, s.peer.key, &ctx[0]));
		FCT_DO(fct_atomic_post(&s, &op, s.l.c.ep, &ctx[1], result));
		FCT_DO(fct_atomic_post(&s, &op, s.l.c.ep, &ctx[2], result + 1));
		FCT_POST(s.l.txcq, fi_read(s.l.c.ep, result + 2, 8, s.local.desc, 0, addr,
					   s.peer.key, &ctx[3]));
		for (n = 0; n < 4; n++)
			FCT_DO(fct_comp_any(s.l.txcq, &e, "one of four"));
		FCT_EQ(result[0], 1000 * i);
		FCT_EQ(result[1], 1001 * i);
		FCT_EQ(result[2], 1002 * i);
	}
	return 0;
}

/*
 * Refused when it is called, or later in the completion queue; the former leaves the
 * connection as it was. fi_cairn_refused has the other reasons to refuse one.
 */
static int misaligned(struct atomic_side *s, const struct atomic_op *op, unsigned int at)
{
	struct fct_op call = fct_atomic_op(s, op, ATOMIC_PLAIN);
	struct fi_cq_err_entry err;
	int ret;

	call.addr += at;
	*fct_atomic_operand(s) = 1;
	ret = (int)fct_op_post(s->l.c.ep, &call);
	FCT_TRUE(ret != -FI_EAGAIN);
	if (!strcmp(s->l.info->fabric_attr->prov_name, "pverbs"))
		FCT_EQ(ret, -FI_EINVAL);
	if (!ret) {
		FCT_DO(fct_comp_err(s->l.txcq, &err, "the atomic that fails"));
		FCT_TRUE(err.op_context == &s->ctx && err.err);
		FCT_EQ(err.flags & (FI_ATOMIC | FI_READ), FI_ATOMIC | FI_READ);
		return 1;
	}
	return fct_cq_quiet(s->l.txcq, "after a refusal");
}

FCT_CASE(misaligned, "an address that is not a multiple of the size is an error")
{
	const struct atomic_op op = {ATOMIC_FETCH, FI_UINT64, FI_SUM, 0};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	unsigned int i, at;
	int failed = 0;

	FCT_DO(fct_atomic_up(&s, 0, 0));
	FCT_DO(need(&s, &op));
	if (fct_is_client())
		FCT_GET(failed, misaligned(&s, &op, 4));
	for (at = 1; fct_is_client() && !failed && at < 8; at++) {
		FCT_DO(misaligned(&s, &op, at));
		*fct_atomic_operand(&s) = 0;
		FCT_DO(fct_atomic_do(&s, &op));
	}
	FCT_DO(fct_barrier("failed"));
	for (i = 0; i < ATOMIC_WORDS; i++)
		FCT_EQ(*fct_atomic_word(&s, i), 0);
	return 0;
}
