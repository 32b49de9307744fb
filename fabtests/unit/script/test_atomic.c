/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_atomic.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

static char at[4]; /* contexts */

static struct pair p;
static uint64_t *word, *operand, *result; /* the server's; the client's */

static void start(void)
{
	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	word = (uint64_t *)(void *)p.server.buf;
	operand = (uint64_t *)(void *)p.client.buf;
	result = operand + 1;
	*word = 40;
	*operand = 2;
}

CT_TEST(atomic, a_sum_is_added)
{
	start();
	CT_EXPECT_EQ(fi_atomic(p.client.ep, operand, 1, p.client.desc, 0, (uintptr_t)word,
			       fi_mr_key(p.server.mr), FI_UINT64, FI_SUM, &at[0]),
		     0);
	pair_done(p.client.cq, &at[0], FI_WRITE | FI_ATOMIC);
	CT_EXPECT_EQ(*word, 42);
	CT_EXPECT_EQ(fi_inject_atomic(p.client.ep, operand, 1, 0, (uintptr_t)word,
				      fi_mr_key(p.server.mr), FI_UINT64, FI_ATOMIC_WRITE),
		     0);
	CT_EXPECT_EQ(*word, 2);
	pair_nothing(p.client.cq);
	pair_down(&p);
}

CT_TEST(atomic, what_was_there_is_fetched)
{
	start();
	CT_EXPECT_EQ(fi_fetch_atomic(p.client.ep, operand, 1, p.client.desc, result,
				     p.client.desc, 0, (uintptr_t)word,
				     fi_mr_key(p.server.mr), FI_UINT64, FI_SUM, &at[0]),
		     0);
	pair_done(p.client.cq, &at[0], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(*result, 40);
	CT_EXPECT_EQ(*word, 42);
	CT_EXPECT_EQ(fi_fetch_atomic(p.client.ep, NULL, 1, NULL, result, p.client.desc, 0,
				     (uintptr_t)word, fi_mr_key(p.server.mr), FI_UINT64,
				     FI_ATOMIC_READ, &at[1]),
		     0);
	pair_done(p.client.cq, &at[1], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(*result, 42);
	CT_EXPECT_EQ(*word, 42);
	pair_down(&p);
}

static void swap(uint64_t compare)
{
	CT_EXPECT_EQ(fi_compare_atomic(p.client.ep, operand, 1, p.client.desc, &compare,
				       NULL, result, p.client.desc, 0, (uintptr_t)word,
				       fi_mr_key(p.server.mr), FI_UINT64, FI_CSWAP,
				       &at[0]),
		     0);
	pair_done(p.client.cq, &at[0], FI_READ | FI_ATOMIC);
	CT_EXPECT_EQ(*result, 40);
}

CT_TEST(atomic, a_word_is_exchanged_if_it_is_the_one_expected)
{
	start();
	swap(41);
	CT_EXPECT_EQ(*word, 40);
	swap(40);
	CT_EXPECT_EQ(*word, 2);
	pair_down(&p);
}

CT_TEST(atomic, what_is_not_offered_is_said)
{
	struct fi_atomic_attr attr;
	size_t count;

	start();
	CT_EXPECT_EQ(fi_atomicvalid(p.client.ep, FI_UINT64, FI_SUM, &count), 0);
	CT_EXPECT_EQ(count, 1);
	CT_EXPECT_EQ(fi_atomicvalid(p.client.ep, FI_UINT32, FI_SUM, &count),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_compare_atomicvalid(p.client.ep, FI_UINT64, FI_SUM, &count),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_query_atomic(p.domain, FI_UINT64, FI_CSWAP, &attr,
				     FI_COMPARE_ATOMIC),
		     0);
	CT_EXPECT_EQ(attr.size, sizeof(uint64_t));
	CT_EXPECT_EQ(fi_query_atomic(p.domain, FI_UINT64, FI_CSWAP, &attr, 0),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(fi_atomic(p.client.ep, operand, 1, p.client.desc, 0, (uintptr_t)word,
			       fi_mr_key(p.server.mr), FI_UINT64, FI_MAX, &at[0]),
		     -FI_EOPNOTSUPP);
	pair_down(&p);
}
