/* SPDX-License-Identifier: BSD-2-Clause */
/* prov/route/sync/flood.c: what is handed on, and to whom. */
#include <errno.h>
#include <rdma/fi_errno.h>
#include "one.h"

/* Neighbours 0, 1, 2; a border 3. */
static void set_up(struct one **t)
{
	unsigned int i;

	one_open(&one, NULL);
	for (i = 0; i < 3; i++)
		one_up(&one, i);
	one_up_border(&one, 3, 4);
	one_run(&one, 2500, 0xf);
	one_forget(&one);
	one.changed = 0;
}

static uint32_t lsas(void)
{
	uint32_t i, count = 0;

	for (i = 0; i < 4; i++)
		count += one_count(&one, i, RTE_SYNC_LSA);
	return count;
}

CT_FIXTURE(flood, struct one *, set_up, one_tear_down);

CT_TEST_F(flood, news_goes_to_all_but_whom_it_comes_from)
{
	CT_EXPECT_EQ(one_hear(&one, 1, 50, 1, 5), 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSA), 1);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSA), 0);
	CT_EXPECT_EQ(one_count(&one, 2, RTE_SYNC_LSA), 1);
	CT_EXPECT_EQ(one_count(&one, 3, RTE_SYNC_LSA), 0);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->router, 50);
	CT_EXPECT_EQ(one.changed, 50);
}

CT_TEST_F(flood, what_is_known_goes_nowhere)
{
	one_hear(&one, 1, 50, 1, 5);
	one_forget(&one);
	CT_EXPECT_EQ(one_hear(&one, 0, 50, 1, 5), 0);
	CT_EXPECT_EQ(one_hear(&one, 2, 50, 1, 4), 0);
	CT_EXPECT_EQ(one_hear(&one, 2, 50, 0, 99), 0);
	CT_EXPECT_EQ(lsas(), 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->known, 3);
	/* The router has started again: a lower number of a higher epoch. */
	CT_EXPECT_EQ(one_hear(&one, 2, 50, 2, 1), 0);
	CT_EXPECT_EQ(lsas(), 2);
}

CT_TEST_F(flood, not_by_another_device_of_whom_it_comes_from)
{
	static const struct rte_sync_peer other = {
		.as = ONE_AS, .router = 21, .scope_as = ONE_AS, .subnet = 9};

	CT_EXPECT_EQ(rte_sync_up(one.sync, &other, &one.peer[4], one.now, &one.peer[4]),
		     0);
	one_forget(&one);
	one_hear(&one, 1, 50, 1, 5);
	CT_EXPECT_EQ(one_count(&one, 4, RTE_SYNC_LSA), 0);
	CT_EXPECT_EQ(lsas(), 2);
}

CT_TEST_F(flood, what_goes_on_is_as_old_as_it_is)
{
	struct rte_lsa lsa = one_lsa(50, 1, 5);

	lsa.lifetime = 7000;
	one_receive(&one, 1,
		    (struct rte_sync_message){.type = RTE_SYNC_LSA, .lsa = &lsa});
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->lifetime, 7000);
	one_run(&one, one.now + 3000, 0xf);
	one_list(&one, 0, RTE_SYNC_LSREQ, 50, 1, 5);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->lifetime, 4000);
}

CT_TEST_F(flood, a_refresh_is_handed_on_but_changes_nothing)
{
	one_hear(&one, 1, 50, 1, 5);
	one_forget(&one);
	one.changed = 0;
	one_hear(&one, 1, 50, 1, 6);
	CT_EXPECT_EQ(lsas(), 2);
	CT_EXPECT_EQ(one.changed, 0);
}

CT_TEST_F(flood, what_is_not_heard_of_again_is_forgotten)
{
	struct rte_lsa lsa = one_lsa(50, 1, 5);

	lsa.lifetime = 5000;
	one_receive(&one, 1,
		    (struct rte_sync_message){.type = RTE_SYNC_LSA, .lsa = &lsa});
	one_run(&one, one.now + 4999, 0xf);
	CT_EXPECT_EQ(one.events[RTE_SYNC_GONE], 0);
	one_run(&one, one.now + 1, 0xf);
	CT_EXPECT_EQ(one.events[RTE_SYNC_GONE], 1);
	CT_EXPECT_EQ(one.event.router, 50);
	CT_EXPECT_EQ(one.event.as, ONE_AS);
}

CT_TEST_F(flood, an_lsa_of_another_as_is_refused_from_anyone)
{
	struct rte_lsa lsa = one_lsa(50, 1, 5);
	const struct rte_sync_message message = {.type = RTE_SYNC_LSA, .lsa = &lsa};

	lsa.as = 4;
	CT_EXPECT_EQ(one_receive(&one, 1, message), -FI_EACCES);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->foreign, 1);
	CT_EXPECT_EQ(one_receive(&one, 3, message), -FI_EACCES);
	lsa.as = ONE_AS;
	CT_EXPECT_EQ(one_receive(&one, 3, message), -FI_EACCES);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->unexpected, 2);
	CT_EXPECT_EQ(lsas(), 0);
	CT_EXPECT_EQ(rte_lsdb_count(rte_sync_db(one.sync)), 1);
}

CT_TEST_F(flood, what_is_malformed_is_dropped)
{
	struct rte_lsa lsa = one_lsa(50, 1, 5);
	const struct rte_sync_message message = {.type = RTE_SYNC_LSA, .lsa = &lsa};

	lsa.lifetime = RTE_LIFETIME_MAX + 1;
	CT_EXPECT_EQ(one_receive(&one, 1, message), -FI_EINVAL);
	CT_EXPECT_EQ(one_receive(&one, 1, (struct rte_sync_message){.type = 0x77}),
		     -FI_EINVAL);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->malformed, 2);
	/* No life is left. */
	lsa = one_lsa(50, 1, 5);
	lsa.lifetime = 0;
	CT_EXPECT_EQ(one_receive(&one, 1, message), 0);
	CT_EXPECT_EQ(lsas(), 0);
}

/* A router could not go above such a number for long, or not at all. */
CT_TEST_F(flood, refuses_epochs_and_numbers_near_the_top)
{
	static const uint64_t top = UINT64_C(1) << 63;

	CT_EXPECT_EQ(one_hear(&one, 1, 50, UINT64_MAX, 5), -ERANGE);
	CT_EXPECT_EQ(one_hear(&one, 1, 50, UINT64_MAX - 1, UINT64_MAX - 1), -ERANGE);
	CT_EXPECT_EQ(one_hear(&one, 1, 50, top, 5), -ERANGE);
	CT_EXPECT_EQ(one_hear(&one, 1, 50, 1, top), -ERANGE);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->range, 4);
	CT_EXPECT_EQ(lsas(), 0);
	CT_EXPECT_EQ(one_hear(&one, 1, 50, 1, top - 1), 0);
	CT_EXPECT_EQ(lsas(), 2);
}

CT_TEST_F(flood, refuses_an_epoch_more_than_a_day_ahead_of_the_clock)
{
	static const uint64_t day = UINT64_C(86400000000000);

	one.day = 100 * day;
	CT_EXPECT_EQ(one_hear(&one, 1, 50, 101 * day + 1, 1), -ERANGE);
	CT_EXPECT_EQ(one_list(&one, 1, RTE_SYNC_DIGEST, 50, 101 * day + 1, 1), -ERANGE);
	CT_EXPECT_EQ(one.sents, 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->range, 2);
	CT_EXPECT_EQ(one_hear(&one, 1, 50, 101 * day, 1), 0);
	CT_EXPECT_EQ(lsas(), 2);
	/* The clock that was behind is set. */
	one.day += day;
	CT_EXPECT_EQ(one_hear(&one, 1, 50, 101 * day + 1, 1), 0);
}

CT_TEST_F(flood, reduces_a_lifetime_to_three_refreshes_or_five_minutes)
{
	static const struct rte_sync_options slow = {.as = ONE_AS,
						     .router = ONE_ID,
						     .epoch = ONE_EPOCH,
						     .refresh = RTE_LIFETIME_MAX / 3};
	struct rte_lsa lsa = one_lsa(50, 1, 5);
	const struct rte_sync_message message = {.type = RTE_SYNC_LSA, .lsa = &lsa};

	lsa.lifetime = RTE_LIFETIME_MAX;
	CT_EXPECT_EQ(one_receive(&one, 1, message), 0);
	CT_EXPECT_EQ(rte_lsdb_get(rte_sync_db(one.sync), ONE_AS, 50, one.now)->lifetime,
		     300000);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->capped, 1);
	one_open(&one, &slow);
	one_up(&one, 1);
	CT_EXPECT_EQ(one_receive(&one, 1, message), 0);
	CT_EXPECT_EQ(rte_lsdb_get(rte_sync_db(one.sync), ONE_AS, 50, one.now)->lifetime,
		     RTE_LIFETIME_MAX);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->capped, 0);
}

CT_TEST_F(flood, a_full_database_takes_no_more_routers)
{
	static const struct rte_sync_options options = {
		.as = ONE_AS, .router = ONE_ID, .epoch = ONE_EPOCH, .routers_max = 4};

	one_open(&one, &options);
	one_up(&one, 0);
	one_up(&one, 1);
	CT_EXPECT_EQ(one_hear(&one, 0, 50, 1, 1), 0);
	CT_EXPECT_EQ(one_hear(&one, 0, 51, 1, 1), 0);
	CT_EXPECT_EQ(one_hear(&one, 0, 52, 1, 1), 0);
	one_forget(&one);
	CT_EXPECT_EQ(one_hear(&one, 0, 53, 1, 1), -FI_ENOSPC);
	CT_EXPECT_EQ(lsas(), 0);
	/* Nor does it ask for them. */
	CT_EXPECT_EQ(one_list(&one, 0, RTE_SYNC_DIGEST, 53, 1, 1), -FI_ENOSPC);
	CT_EXPECT_EQ(one.sents, 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->full, 2);
	/* Those that are in it go on, and its own. */
	CT_EXPECT_EQ(one_hear(&one, 0, 51, 1, 2), 0);
	CT_EXPECT_EQ(lsas(), 1);
	CT_EXPECT_EQ(one_hear(&one, 0, ONE_ID, ONE_EPOCH, 30), 0);
	one_run(&one, 3000, 3);
	CT_EXPECT_EQ(one_own(&one)->seq, 31);
}

static void open_with_room_for(uint32_t routers)
{
	const struct rte_sync_options options = {.as = ONE_AS,
						 .router = ONE_ID,
						 .epoch = ONE_EPOCH,
						 .routers_max = routers};

	one_open(&one, &options);
	one_up(&one, 0);
	one_up(&one, 1);
}

static bool knows(uint64_t router)
{
	return rte_lsdb_get(rte_sync_db(one.sync), ONE_AS, router, one.now);
}

/* Routers are invented by a neighbour. */
CT_TEST_F(flood, a_neighbour_that_fills_the_database_leaves_others_their_share)
{
	uint32_t i, refused = 0;

	open_with_room_for(9);
	CT_EXPECT_EQ(one_hear(&one, 0, 50, 1, 1), 0);
	for (i = 0; i < 100; i++)
		refused += one_hear(&one, 0, 1000 + i, 1, 1) == -FI_ENOSPC;
	CT_EXPECT_EQ(refused, 93);
	CT_EXPECT_EQ(rte_lsdb_count(rte_sync_db(one.sync)), 9);
	/* Another one's routers are known, and asked for. */
	for (i = 0; i < 4; i++)
		CT_EXPECT_EQ(one_hear(&one, 1, 60 + i, 1, 1), 0);
	CT_EXPECT_EQ(one.events[RTE_SYNC_EVICTED], 4);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->evicted, 4);
	CT_EXPECT_EQ(rte_lsdb_count(rte_sync_db(one.sync)), 9);
	CT_EXPECT_TRUE(knows(ONE_ID) && knows(60) && knows(61) && knows(62) && knows(63));
	/* What became known first stays. */
	CT_EXPECT_TRUE(knows(50) && knows(1000) && knows(1002));
	CT_EXPECT_FALSE(knows(1003));
	/* Both have their share. */
	CT_EXPECT_EQ(one_hear(&one, 1, 64, 1, 1), -FI_ENOSPC);
	CT_EXPECT_EQ(one_hear(&one, 0, 1003, 1, 1), -FI_ENOSPC);
}

CT_TEST_F(flood, a_full_database_asks_for_routers_of_a_neighbour_that_has_few)
{
	uint32_t i;

	open_with_room_for(9);
	for (i = 0; i < 8; i++)
		CT_EXPECT_EQ(one_hear(&one, 0, 1000 + i, 1, 1), 0);
	one_forget(&one);
	CT_EXPECT_EQ(one_list(&one, 0, RTE_SYNC_DIGEST, 2000, 1, 1), -FI_ENOSPC);
	CT_EXPECT_EQ(one_list(&one, 1, RTE_SYNC_DIGEST, 60, 1, 1), 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_LSREQ), 0);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_LSREQ), 1);
}

CT_TEST_F(flood, goes_on_without_memory)
{
	static const uint64_t ids[] = {24, 29};
	static const struct rte_link link = {.subnet = ONE_SUBNET,
					     .scope_as = ONE_AS,
					     .rate = 1,
					     .neighbours = 2,
					     .neighbour = ids,
					     .uri = "x"};
	struct rte_lsa lsa = one_lsa(50, 1, 5);
	const struct rte_sync_message message = {.type = RTE_SYNC_LSA, .lsa = &lsa};

	lsa.links = 1;
	lsa.link = &link;
	ct_fail_alloc(1);
	CT_EXPECT_EQ(one_receive(&one, 1, message), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(lsas(), 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->memory, 1);
	CT_EXPECT_EQ(one_receive(&one, 1, message), 0);
	CT_EXPECT_EQ(lsas(), 2);
}
