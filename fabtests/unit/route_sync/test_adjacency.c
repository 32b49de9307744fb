/* SPDX-License-Identifier: BSD-2-Clause */
/* prov/route/sync/adjacency.c: who is alive, and who knows the same. */
#include <rdma/fi_errno.h>
#include "one.h"

CT_FIXTURE(adjacency, struct one *, one_set_up_two, one_tear_down);

CT_TEST_F(adjacency, heartbeats_go_to_all)
{
	one_up_border(&one, 2, 4);
	one_run(&one, one.now + 5000, 7);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_HEARTBEAT), 5);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_HEARTBEAT), 5);
	CT_EXPECT_EQ(one_count(&one, 2, RTE_SYNC_HEARTBEAT), 5);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_HEARTBEAT)->heartbeat.hash,
		     rte_lsdb_hash(rte_sync_db(one.sync)));
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_HEARTBEAT)->heartbeat.count, 1);
	/* A border learns nothing of what is known here. */
	CT_EXPECT_EQ(one_last(&one, 2, RTE_SYNC_HEARTBEAT)->heartbeat.hash, 0);
}

CT_TEST_F(adjacency, who_is_silent_for_three_heartbeats_is_lost)
{
	uint64_t heard;

	one_hear(&one, 1, 50, 1, 1);
	heard = one.now;
	one_run(&one, heard + 2999, 1);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 0);
	one_run(&one, heard + 3000, 1);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 1);
	CT_EXPECT_EQ(one.event.router, 21);
	CT_EXPECT_EQ(one.event.peer, &one.peer[1]);
	CT_EXPECT_FALSE(one.event.bye);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->lost, 1);
	/* The others hear of it. */
	CT_ASSERT_NE(one_last(&one, 0, RTE_SYNC_LSA), NULL);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->link[0].neighbours, 1);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_LSA)->lsa->link[0].neighbour[0], 20);
	/* Nothing goes to it, and what comes of it is too late. */
	one_forget(&one);
	one_hear(&one, 1, 51, 1, 1);
	one_run(&one, one.now + 2000, 1);
	CT_EXPECT_EQ(one.sent[0].to, 0);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_HEARTBEAT), 0);
	CT_EXPECT_EQ(rte_lsdb_get(rte_sync_db(one.sync), ONE_AS, 51, one.now), NULL);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->dead, 1);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 1);
	rte_sync_down(one.sync, one.peer[1], one.now);
	one_up(&one, 1);
	one_run(&one, one.now + 2000, 3);
	CT_EXPECT_EQ(one_own(&one)->link[0].neighbours, 2);
}

CT_TEST_F(adjacency, who_says_goodbye_is_lost_at_once)
{
	one_receive(&one, 1, (struct rte_sync_message){.type = RTE_SYNC_BYE});
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 1);
	CT_EXPECT_TRUE(one.event.bye);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->lost, 0);
	CT_EXPECT_EQ(one_own(&one)->link[0].neighbours, 1);
}

CT_TEST_F(adjacency, a_border_is_lost_in_the_same_way)
{
	uint64_t seq;

	one_up_border(&one, 2, 4);
	seq = one_own(&one)->seq;
	one_run(&one, one.now + 3500, 3);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 1);
	CT_EXPECT_EQ(one.event.as, 4);
	/* That changes nothing in this AS. */
	CT_EXPECT_EQ(one_own(&one)->seq, seq);
}

/* Stopped, or without a processor. What came meanwhile may be handed over before the
 * tick, as it should be, or after. */
CT_TEST_F(adjacency, silence_counts_only_while_this_process_runs)
{
	one.now += 60000;
	CT_EXPECT_LT(rte_sync_deadline(one.sync), one.now);
	rte_sync_tick(one.sync, one.now);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 0);
	CT_EXPECT_GE(rte_sync_counters(one.sync)->late, 59000);
	one_hear(&one, 1, 50, 1, 1);
	/* It had counted for a second, until the tick was due. */
	one_run(&one, one.now + 1999, 0);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 0);
	one_run(&one, one.now + 1, 2);
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 1);
	CT_EXPECT_EQ(one.event.router, 20);
}

CT_TEST_F(adjacency, a_process_that_is_always_late_waits_longer)
{
	uint64_t heard = one.now;

	one_receive(&one, 0, (struct rte_sync_message){.type = RTE_SYNC_LSREQ});
	one_receive(&one, 1, (struct rte_sync_message){.type = RTE_SYNC_LSREQ});
	while (!one.events[RTE_SYNC_LOST]) {
		one.now = rte_sync_deadline(one.sync) + 1000;
		rte_sync_tick(one.sync, one.now);
	}
	CT_EXPECT_EQ(one.events[RTE_SYNC_LOST], 2);
	CT_EXPECT_GE(one.now - heard, 2 * 3000 - 1000);
}

CT_TEST_F(adjacency, a_hash_that_stays_another_one_calls_for_a_digest)
{
	one_differ(&one, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 0);
	one_differ(&one, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 1);
	CT_EXPECT_EQ(one_count(&one, 1, RTE_SYNC_DIGEST), 0);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->repaired, 1);
}

CT_TEST_F(adjacency, a_hash_that_differs_for_a_moment_does_not)
{
	uint32_t i;

	for (i = 0; i < 10; i++) {
		one_differ(&one, 0);
		one_run(&one, one.now + 1000, 3);
	}
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 0);
}

/* A large network, in which something is on its way most of the time. */
CT_TEST_F(adjacency, what_moves_is_given_more_time)
{
	uint32_t i;

	for (i = 0; i < 7; i++) {
		one_hear(&one, 0, 50, 1, 1 + i);
		one_differ(&one, 0);
		CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 0);
	}
	one_hear(&one, 0, 50, 1, 1 + i);
	one_differ(&one, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 1);
}

CT_TEST_F(adjacency, what_digests_do_not_repair_is_tried_less_and_less_often)
{
	uint32_t i;

	for (i = 0; i < 32; i++)
		one_differ(&one, 0);
	/* After 2, 4, 8, 16, 24, 32. */
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 6);
	one_run(&one, one.now + 1000, 1);
	one_forget(&one);
	one_differ(&one, 0);
	one_differ(&one, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_DIGEST), 1);
}

CT_TEST_F(adjacency, there_are_not_too_many)
{
	struct rte_sync_peer who = {
		.as = ONE_AS, .router = 100, .scope_as = ONE_AS, .subnet = ONE_SUBNET};
	struct rte_adjacency *last;
	uint32_t i;

	one_open(&one, NULL);
	for (i = 0; i < RTE_NEIGHBOURS_MAX; i++, who.router++) {
		CT_ASSERT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &last),
			     0);
		one_forget(&one);
	}
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &last),
		     -FI_ENOSPC);
	who.subnet++;
	for (i = 0; i < RTE_SYNC_ADJACENCIES_MAX - RTE_NEIGHBOURS_MAX;
	     i++, who.router++, who.subnet++) {
		CT_ASSERT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &last),
			     0);
		one_forget(&one);
	}
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &last),
		     -FI_ENOSPC);
	rte_sync_down(one.sync, last, one.now);
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &last), 0);
}

CT_TEST_F(adjacency, there_is_none_with_nobody_or_itself)
{
	struct rte_sync_peer who = {.as = ONE_AS, .router = ONE_ID, .scope_as = ONE_AS};
	struct rte_adjacency *none;

	one_open(&one, NULL);
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &none),
		     -FI_EINVAL);
	who.router = 0;
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &none),
		     -FI_EINVAL);
	who.router = ONE_ID;
	who.as = RTE_AS_WAN;
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &none),
		     -FI_EINVAL);
	/* In another AS the same id is another router. */
	who.as = 4;
	CT_EXPECT_EQ(rte_sync_up(one.sync, &who, &one.peer[0], one.now, &none), 0);
}

CT_TEST_F(adjacency, goes_on_without_memory)
{
	struct rte_sync_peer who = {
		.as = ONE_AS, .router = 30, .scope_as = ONE_AS, .subnet = ONE_SUBNET};
	unsigned int nth;
	bool failed = true;
	int ret;

	for (nth = 1; failed; nth++) {
		one_set_up_two(t);
		ct_fail_alloc(nth);
		ret = rte_sync_up(one.sync, &who, &one.peer[3], one.now, &one.peer[3]);
		failed = ct_alloc_failed();
		CT_EXPECT_EQ(ret, nth == 1 ? -FI_ENOMEM : 0);
		/* It is named later, if not now. */
		one_run(&one, one.now + 1000, 3);
		CT_EXPECT_EQ(one_own(&one)->link[0].neighbours, ret ? 2 : 3);
	}
	CT_EXPECT_GT(nth, 3);
}
