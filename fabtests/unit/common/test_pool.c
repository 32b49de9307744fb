/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdalign.h>
#include <cairn/compat.h>
#include <cairn/pool.h>
#include "cairn_test.h"

CT_TEST(pool, objects_are_aligned_apart_and_reused)
{
	static const size_t sizes[] = {0, 1, 8, 17, 100};
	struct crn_pool pool;
	char *objects[10];
	size_t i, s;

	for (s = 0; s < CRN_COUNT(sizes); s++) {
		CT_NOTE("size %zu", sizes[s]);
		crn_pool_init(&pool, sizes[s], 4, 0);
		for (i = 0; i < CRN_COUNT(objects); i++) {
			objects[i] = crn_pool_get(&pool);
			CT_ASSERT_NE(objects[i], NULL);
			CT_EXPECT_EQ((uintptr_t)objects[i] % alignof(max_align_t), 0);
			memset(objects[i], (int)i, sizes[s]);
		}
		CT_EXPECT_EQ(pool.used, 10);
		CT_EXPECT_EQ(pool.total, 12);
		for (i = 0; i < CRN_COUNT(objects) && sizes[s]; i++) {
			CT_EXPECT_EQ(objects[i][0], i);
			CT_EXPECT_EQ(objects[i][sizes[s] - 1], i);
		}
		crn_pool_put(&pool, objects[3]);
		CT_EXPECT_EQ(pool.used, 9);
		CT_EXPECT_EQ((char *)crn_pool_get(&pool), objects[3]);
		crn_pool_fini(&pool);
		CT_EXPECT_EQ(pool.total, 0);
		CT_EXPECT_EQ(pool.used, 0);
	}
}

CT_TEST(pool, gives_no_more_than_its_limit)
{
	struct crn_pool pool;
	void *last = NULL, *object;
	int count = 0;

	crn_pool_init(&pool, 24, 4, 6);
	while ((object = crn_pool_get(&pool))) {
		last = object;
		count++;
	}
	CT_EXPECT_EQ(count, 6);
	CT_EXPECT_EQ(pool.total, 6);
	crn_pool_put(&pool, last);
	CT_EXPECT_EQ(crn_pool_get(&pool), last);
	CT_EXPECT_EQ(crn_pool_get(&pool), NULL);
	crn_pool_fini(&pool);
}

CT_TEST(pool, a_chunk_of_none_grows_one_by_one)
{
	struct crn_pool pool;

	crn_pool_init(&pool, 24, 0, 0);
	CT_EXPECT_NE(crn_pool_get(&pool), NULL);
	CT_EXPECT_EQ(pool.total, 1);
	crn_pool_fini(&pool);
}

CT_TEST(pool, running_out_of_memory_gives_NULL_and_leaves_the_rest_usable)
{
	struct crn_pool pool;
	void *first;

	crn_pool_init(&pool, 24, 1, 0);
	first = crn_pool_get(&pool);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(crn_pool_get(&pool), NULL);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(pool.used, 1);
	CT_EXPECT_EQ(pool.total, 1);
	crn_pool_put(&pool, first);
	CT_EXPECT_EQ(crn_pool_get(&pool), first);
	CT_EXPECT_NE(crn_pool_get(&pool), NULL);
	crn_pool_fini(&pool);
}

CT_TEST(pool, a_chunk_larger_than_memory_gives_NULL)
{
	struct crn_pool pool;

	crn_pool_init(&pool, 4096, SIZE_MAX / 2, 0);
	CT_EXPECT_EQ(crn_pool_get(&pool), NULL);
	crn_pool_fini(&pool);
}
