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
	struct fid_ep *ep[2];
	uint64_t addr;

	FCT_DO(fct_atomic_up(&s, 0));
	FCT_DO(need(&s, &op));
	FCT_DO(fct_conn_up(&s.l, &more));
	ep[0] = s.l.c.ep;
	ep[1] = more.ep;
	addr = s.peer.addr + op.word * sizeof(uint64_t);
	*fct_atomic_operand(&s) = 3;
	for (i = 0; fct_is_client() && i < ROUNDS; i++) {
		FCT_POST(s.l.txcq,
			 fi_fetch_atomic(ep[0], fct_atomic_operand(&s), 1, s.local.desc,
					 fct_atomic_result(&s), s.local.desc, 0, addr,
					 s.peer.key, op.type, op.op, &ctx[0]));
		FCT_POST(s.l.txcq,
			 fi_fetch_atomic(ep[1], fct_atomic_operand(&s), 1, s.local.desc,
					 fct_atomic_result(&s) + 1, s.local.desc, 0, addr,
					 s.peer.key, op.type, op.op, &ctx[1]));
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
	const uint64_t addr = s->peer.addr + word * sizeof(uint64_t);
	struct fi_cq_data_entry e;

	if (read)
		FCT_POST(s->l.txcq,
			 fi_read(s->l.c.ep, fct_atomic_result(s), 8, s->local.desc, 0,
				 addr, s->peer.key, &s->ctx));
	else
		FCT_POST(s->l.txcq,
			 fi_write(s->l.c.ep, fct_atomic_operand(s), 8, s->local.desc, 0,
				  addr, s->peer.key, &s->ctx));
	return fct_comp(s->l.txcq, &s->ctx, FI_RMA | (read ? FI_READ : FI_WRITE), &e,
			"a word");
}

FCT_CASE(lock, "a lock taken by compare and swap")
{
	const struct atomic_op swap = {ATOMIC_COMPARE, FI_UINT64, FI_CSWAP, LOCK};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	unsigned int i;

	FCT_DO(fct_atomic_up(&s, 0));
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
	struct fct_mem results;
	struct fi_cq_data_entry e;
	uint32_t posted = 0, done = 0;
	uint64_t *result;
	int ret;

	FCT_DO(fct_atomic_up(&s, 0));
	FCT_DO(need(&s, &op));
	FCT_DO(fct_mem_alloc(&s.l, &results, WINDOW * sizeof(uint64_t), FI_READ));
	result = (uint64_t *)(void *)results.buf;
	*fct_atomic_operand(&s) = 1;
	while (fct_is_client() && done < ROUNDS) {
		if (posted < ROUNDS && posted - done < WINDOW) {
			ret = (int)fi_fetch_atomic(s.l.c.ep, fct_atomic_operand(&s), 1,
						   s.local.desc, &result[posted % WINDOW],
						   results.desc, 0, s.peer.addr,
						   s.peer.key, op.type, op.op,
						   &ctx[posted % WINDOW]);
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
	struct fct_setup setup = fct_atomic_setup();
	const struct atomic_op op = {ATOMIC_FETCH, FI_UINT64, FI_SUM, 2};
	FCT_AUTO(fct_link_end) struct atomic_side s = {0};
	struct fct_ctx ctx[4];
	struct fi_cq_data_entry e;
	struct fct_target mine;
	uint64_t *result, addr;
	unsigned int i, n;

	setup.msg_order = FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_RAR |
			  FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAR;
	FCT_DO(fct_link_up(&s.l, &setup));
	FCT_DO(fct_mem_alloc(&s.l, &s.exposed, ATOMIC_WORDS * sizeof(uint64_t),
			     FI_REMOTE_READ | FI_REMOTE_WRITE));
	FCT_DO(fct_mem_alloc(&s.l, &s.local, 64, FI_READ | FI_WRITE));
	mine = fct_mem_target(&s.l, &s.exposed);
	FCT_DO(fct_exchange("region", &mine, &s.peer, sizeof(mine)));
	FCT_DO(need(&s, &op));
	addr = s.peer.addr + op.word * sizeof(uint64_t);
	result = fct_atomic_result(&s);
	for (i = 1; fct_is_client() && i < 500; i++) {
		*fct_atomic_operand(&s) = 1000 * i;
		*fct_atomic_compare(&s) = i;
		FCT_POST(s.l.txcq, fi_write(s.l.c.ep, fct_atomic_operand(&s), 8,
					    s.local.desc, 0, addr, s.peer.key, &ctx[0]));
		FCT_POST(s.l.txcq,
			 fi_fetch_atomic(s.l.c.ep, fct_atomic_compare(&s), 1,
					 s.local.desc, result, s.local.desc, 0, addr,
					 s.peer.key, op.type, op.op, &ctx[1]));
		FCT_POST(s.l.txcq,
			 fi_fetch_atomic(s.l.c.ep, fct_atomic_compare(&s), 1,
					 s.local.desc, result + 1, s.local.desc, 0, addr,
					 s.peer.key, op.type, op.op, &ctx[2]));
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
