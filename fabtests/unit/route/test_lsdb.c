/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "brute.h"

static struct world w;

static struct rte_lsa short_lsa(uint32_t as, uint64_t router, uint64_t epoch,
				uint64_t seq)
{
	return (struct rte_lsa){.as = as,
				.router = router,
				.epoch = epoch,
				.seq = seq,
				.lifetime = WORLD_LIFE};
}

CT_TEST(lsdb, takes_what_is_newer)
{
	struct rte_lsdb *db = rte_lsdb_open();
	struct rte_lsa lsa = short_lsa(3, 7, 1, 5);

	CT_EXPECT_EQ(rte_lsdb_deadline(db), UINT64_MAX);
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 100), 1);
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 100), 0);
	lsa.seq = 4;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 100), 0);
	lsa.epoch = 2;
	lsa.seq = 1;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 100), 1);
	CT_EXPECT_EQ(rte_lsdb_get(db, 3, 7, 100)->seq, 1);
	CT_EXPECT_EQ(rte_lsdb_get(db, 3, 8, 100), NULL);
	CT_EXPECT_EQ(rte_lsdb_get(db, 4, 7, 100), NULL);
	lsa.router = 0;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 100), -FI_EINVAL);
	lsa.router = 9;
	lsa.lifetime = 0;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 100), 0);
	CT_EXPECT_EQ(rte_lsdb_count(db), 1);
	rte_lsdb_close(db);
}

CT_TEST(lsdb, forgets_when_a_life_ends)
{
	struct rte_lsdb *db = rte_lsdb_open();
	struct rte_lsa a = short_lsa(3, 7, 1, 5), b = short_lsa(3, 8, 1, 1);
	uint64_t router;
	uint32_t as;

	b.lifetime = 500;
	CT_EXPECT_EQ(rte_lsdb_put(db, &a, 100), 1);
	CT_EXPECT_EQ(rte_lsdb_put(db, &b, 100), 1);
	CT_EXPECT_EQ(rte_lsdb_deadline(db), 600);
	CT_EXPECT_EQ(rte_lsdb_get(db, 3, 8, 400)->lifetime, 200);
	CT_EXPECT_FALSE(rte_lsdb_age(db, 599, &as, &router));
	CT_EXPECT_TRUE(rte_lsdb_age(db, 600, &as, &router));
	CT_EXPECT_EQ(as, 3);
	CT_EXPECT_EQ(router, 8);
	CT_EXPECT_FALSE(rte_lsdb_age(db, 600, &as, &router));
	CT_EXPECT_EQ(rte_lsdb_deadline(db), 100 + WORLD_LIFE);
	/* Another life. */
	a.seq++;
	CT_EXPECT_EQ(rte_lsdb_put(db, &a, 1000), 1);
	CT_EXPECT_FALSE(rte_lsdb_age(db, 100 + WORLD_LIFE, &as, &router));
	CT_EXPECT_TRUE(rte_lsdb_age(db, 1000 + WORLD_LIFE, &as, &router));
	CT_EXPECT_EQ(rte_lsdb_count(db), 0);
	rte_lsdb_close(db);
}

CT_TEST(lsdb, the_first_life_that_ends_is_not_hidden_by_those_that_came_later)
{
	struct rte_lsdb *db = rte_lsdb_open();
	struct rte_lsa a = short_lsa(3, 7, 1, 1), b = short_lsa(3, 8, 1, 1);
	uint64_t router;
	uint32_t as;

	CT_EXPECT_EQ(rte_lsdb_put(db, &a, 0), 1);
	CT_EXPECT_EQ(rte_lsdb_put(db, &b, 1000), 1);
	CT_EXPECT_EQ(rte_lsdb_deadline(db), WORLD_LIFE);
	CT_EXPECT_TRUE(rte_lsdb_age(db, WORLD_LIFE, &as, &router));
	CT_EXPECT_EQ(router, 7);
	CT_EXPECT_FALSE(rte_lsdb_age(db, WORLD_LIFE, &as, &router));
	CT_EXPECT_EQ(rte_lsdb_deadline(db), 1000 + WORLD_LIFE);
	rte_lsdb_close(db);
}

CT_TEST(lsdb, a_withdrawal_keeps_the_dead_dead)
{
	struct rte_lsdb *db = rte_lsdb_open();
	struct rte_lsa lsa = short_lsa(3, 7, 1, 5);

	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 0), 1);
	lsa.seq = 6;
	lsa.flags = RTE_LSA_WITHDRAW;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 0), 1);
	lsa.seq = 5;
	lsa.flags = 0;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 0), 0);
	CT_EXPECT_EQ(rte_lsdb_get(db, 3, 7, 0)->flags, RTE_LSA_WITHDRAW);
	/* It has started again. */
	lsa.epoch = 2;
	CT_EXPECT_EQ(rte_lsdb_put(db, &lsa, 0), 1);
	rte_lsdb_close(db);
}

CT_TEST(lsdb, shows_all_in_order)
{
	static const uint64_t ids[] = {9, 2, UINT64_MAX, 4, 1};
	struct rte_lsdb *db = rte_lsdb_open();
	const struct rte_lsa *lsa = NULL;
	struct rte_lsa put;
	uint64_t last = 0;
	uint32_t as = 0, i, count = 0;

	for (i = 0; i < 10; i++) {
		put = short_lsa(1 + i % 2, ids[i / 2], 1, 1);
		CT_EXPECT_EQ(rte_lsdb_put(db, &put, 0), 1);
	}
	while ((lsa = rte_lsdb_next(db, as, last, 0))) {
		CT_EXPECT_TRUE(lsa->as > as || (lsa->as == as && lsa->router > last));
		as = lsa->as;
		last = lsa->router;
		count++;
	}
	CT_EXPECT_EQ(count, 10);
	rte_lsdb_close(db);
}

/* A router's words in many versions, two of which say different things with one number.
 */
CT_TEST(lsdb, the_order_in_which_they_come_changes_nothing)
{
	enum { VERSIONS = 40 };
	struct rte_lsa lsa[VERSIONS], swap;
	struct brute_random random = {.state = 3};
	struct rte_lsdb *db, *first = NULL;
	const struct rte_lsa *a, *b;
	uint32_t i, k, round;

	for (i = 0; i < VERSIONS; i++) {
		lsa[i] =
			short_lsa(3, 1 + brute_draw(&random, 4),
				  1 + brute_draw(&random, 3), 1 + brute_draw(&random, 3));
		lsa[i].load = brute_draw(&random, 3);
		lsa[i].flags = brute_draw(&random, 8) ? 0 : RTE_LSA_WITHDRAW;
	}
	for (round = 0; round < 200; round++) {
		for (i = VERSIONS - 1; i; i--) {
			k = brute_draw(&random, i + 1);
			swap = lsa[i];
			lsa[i] = lsa[k];
			lsa[k] = swap;
		}
		db = rte_lsdb_open();
		for (i = 0; i < VERSIONS; i++)
			CT_EXPECT_GE(rte_lsdb_put(db, &lsa[i], i), 0);
		if (!first) {
			first = db;
			continue;
		}
		CT_EXPECT_EQ(rte_lsdb_count(db), rte_lsdb_count(first));
		for (i = 1; i <= 4; i++) {
			a = rte_lsdb_get(db, 3, i, 0);
			b = rte_lsdb_get(first, 3, i, 0);
			CT_EXPECT_TRUE(!a == !b && (!a || !rte_lsa_compare(a, b)));
		}
		rte_lsdb_close(db);
	}
	rte_lsdb_close(first);
}

CT_TEST(lsdb, the_hash_tells_what_is_in_it)
{
	struct rte_lsdb *one = rte_lsdb_open(), *two = rte_lsdb_open();
	struct rte_lsa a = short_lsa(3, 7, 1, 5), b = short_lsa(3, 8, 1, 1);
	uint64_t router, hash;
	uint32_t as;

	CT_EXPECT_EQ(rte_lsdb_hash(one), 0);
	rte_lsdb_put(one, &a, 0);
	/* A value that other implementations have to agree on. */
	CT_EXPECT_EQ(rte_lsdb_hash(one), 0xa75a24a491846342);
	rte_lsdb_put(one, &b, 0);
	a.seq = 4;
	rte_lsdb_put(two, &b, 0);
	rte_lsdb_put(two, &a, 0);
	CT_EXPECT_NE(rte_lsdb_hash(one), rte_lsdb_hash(two));
	a.seq = 5;
	rte_lsdb_put(two, &a, 0);
	hash = rte_lsdb_hash(two);
	CT_EXPECT_EQ(rte_lsdb_hash(one), hash);
	/* What is known already, or has no life left, changes nothing. */
	rte_lsdb_put(two, &a, 1);
	a.seq = 6;
	a.lifetime = 0;
	rte_lsdb_put(two, &a, 1);
	CT_EXPECT_EQ(rte_lsdb_hash(two), hash);
	while (rte_lsdb_age(two, WORLD_LIFE, &as, &router))
		;
	CT_EXPECT_EQ(rte_lsdb_count(two), 0);
	CT_EXPECT_EQ(rte_lsdb_hash(two), 0);
	rte_lsdb_close(one);
	rte_lsdb_close(two);
}

CT_TEST(lsdb, goes_on_without_memory)
{
	struct rte_lsdb *db;
	struct rte_lsa lsa;
	unsigned int nth;
	bool failed = true;
	uint32_t i;

	w = (struct world){0};
	for (i = 1; i <= 40; i++)
		world_link(&w, i, 1, 10);
	world_meet(&w);
	for (nth = 1; failed; nth++) {
		ct_fail_alloc(nth);
		db = rte_lsdb_open();
		for (i = 0; db && i < w.routers; i++) {
			lsa = world_lsa(&w.router[i]);
			if (rte_lsdb_put(db, &lsa, 0) != 1)
				CT_EXPECT_EQ(rte_lsdb_count(db), i);
			/* Again, as its sender would. */
			CT_EXPECT_GE(rte_lsdb_put(db, &lsa, 0), 0);
		}
		failed = ct_alloc_failed();
		if (!db)
			continue;
		CT_EXPECT_EQ(rte_lsdb_count(db), w.routers);
		rte_lsdb_close(db);
	}
	CT_EXPECT_GT(nth, 40);
}
