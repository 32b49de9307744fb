/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_atomic.h>
#include "scene.h"

static char at[4]; /* contexts */

static uint64_t *word, *operand, *result; /* the server's; the client's */

static void set_up(struct pair *p)
{
	scene_up(p);
	word = (uint64_t *)(void *)p->server.buf;
	operand = (uint64_t *)(void *)p->client.buf;
	result = operand + 1;
	*word = 40;
	*operand = 2;
}

CT_FIXTURE(atomic, struct pair, set_up, pair_down);

CT_TEST_F(atomic, a_sum_is_added)
{
	CT_EXPECT_EQ(fi_atomic(t->client.ep, operand, 1, t->client.desc, 0,
			       (uintptr_t)word, fi_mr_key(t->server.mr), FI_UINT64,
			       FI_SUM, &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_WRITE | FI_ATOMIC);
	CT_EXPECT_EQ(*word, 42);
	CT_EXPECT_EQ(fi_inject_atomic(t->client.ep, operand, 1, 0, (uintptr_t)word,
				      fi_mr_key(t->server.mr), FI_UINT64,
				      FI_ATOMIC_WRITE),
		     0);
	CT_EXPECT_EQ(*word, 2);
	pair_nothing(t->client.cq);
}

CT_TEST_F(atomic, what_was_there_is_fetched)
{
	CT_EXPECT_EQ(fi_fetch_atomic(t->client.ep, operand, 1, t->client.desc, result,
				     t->client.desc, 0, (uintptr_t)word,
				     fi_mr_key(t->server.mr), FI_UINT64, FI_SUM, &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(*result, 40);
	CT_EXPECT_EQ(*word, 42);
	CT_EXPECT_EQ(fi_fetch_atomic(t->client.ep, NULL, 1, NULL, result, t->client.desc,
				     0, (uintptr_t)word, fi_mr_key(t->server.mr),
				     FI_UINT64, FI_ATOMIC_READ, &at[1]),
		     0);
	pair_done(t->client.cq, &at[1], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(*result, 42);
	CT_EXPECT_EQ(*word, 42);
}

static void swap(struct pair *t, uint64_t compare)
{
	CT_EXPECT_EQ(fi_compare_atomic(t->client.ep, operand, 1, t->client.desc, &compare,
				       NULL, result, t->client.desc, 0, (uintptr_t)word,
				       fi_mr_key(t->server.mr), FI_UINT64, FI_CSWAP,
				       &at[0]),
		     0);
	pair_done(t->client.cq, &at[0], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(*result, 40);
}

CT_TEST_F(atomic, a_word_is_exchanged_if_it_is_the_one_expected)
{
	swap(t, 41);
	CT_EXPECT_EQ(*word, 40);
	swap(t, 40);
	CT_EXPECT_EQ(*word, 2);
}

CT_TEST_F(atomic, what_is_not_offered_is_said)
{
	struct fi_atomic_attr attr;
	size_t count;

	CT_EXPECT_EQ(fi_atomicvalid(t->client.ep, FI_UINT64, FI_SUM, &count), 0);
	CT_EXPECT_EQ(count, 1);
	CT_EXPECT_EQ(fi_atomicvalid(t->client.ep, FI_UINT32, FI_SUM, &count),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_compare_atomicvalid(t->client.ep, FI_UINT64, FI_SUM, &count),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_query_atomic(t->domain, FI_UINT64, FI_CSWAP, &attr,
				     FI_COMPARE_ATOMIC),
		     0);
	CT_EXPECT_EQ(attr.size, sizeof(uint64_t));
	CT_EXPECT_EQ(fi_query_atomic(t->domain, FI_UINT64, FI_CSWAP, &attr, 0),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_atomic(t->client.ep, operand, 1, t->client.desc, 0,
			       (uintptr_t)word, fi_mr_key(t->server.mr), FI_UINT64,
			       FI_MAX, &at[0]),
		     -FI_EOPNOTSUPP);
}
