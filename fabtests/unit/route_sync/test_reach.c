/* SPDX-License-Identifier: BSD-2-Clause */
/* prov/route/sync/reach.c: what borders of two AS tell each other. */
#include <rdma/fi_errno.h>
#include "one.h"

static const struct rte_sync_reach mine[] = {
	{.scope_as = RTE_AS_WAN, .subnet = 7, .cost = 100},
	{.scope_as = 4, .subnet = 8, .cost = 10},
	{.scope_as = 2, .subnet = 8, .cost = 10},
};

static struct rte_sync_message reach(uint32_t as, uint64_t router, uint64_t seq,
				     const struct rte_sync_reach *link, uint32_t count)
{
	return (struct rte_sync_message){
		.type = RTE_SYNC_AS_REACH,
		.reach = {.key = {.as = as, .router = router, .epoch = 1, .seq = seq},
			  .link = link,
			  .count = count}};
}

/* A border of AS 4, one of AS 2, and a neighbour. */
static void set_up(struct one **t)
{
	one_open(&one, NULL);
	one_up_border(&one, 0, 4);
	one_up_border(&one, 1, 2);
	one_up(&one, 2);
	one_run(&one, 2500, 7);
	one_forget(&one);
}

CT_FIXTURE(reach, struct one *, set_up, one_tear_down);

CT_TEST_F(reach, a_border_is_told_of_public_wans_and_its_own)
{
	const struct rte_sync_message *told;

	CT_EXPECT_EQ(rte_sync_set_reach(one.sync, mine, 3, one.now), 0);
	told = one_last(&one, 0, RTE_SYNC_AS_REACH);
	CT_ASSERT_NE(told, NULL);
	CT_EXPECT_EQ(told->reach.key.as, ONE_AS);
	CT_EXPECT_EQ(told->reach.key.router, ONE_ID);
	CT_ASSERT_EQ(told->reach.count, 2);
	CT_EXPECT_EQ(told->reach.link[0].subnet, 7);
	CT_EXPECT_EQ(told->reach.link[1].scope_as, 4);
	/* What is private with AS 4 is nothing to AS 2. */
	told = one_last(&one, 1, RTE_SYNC_AS_REACH);
	CT_ASSERT_EQ(told->reach.count, 2);
	CT_EXPECT_EQ(told->reach.link[1].scope_as, 2);
	CT_EXPECT_EQ(one_count(&one, 2, RTE_SYNC_AS_REACH), 0);
	/* Who comes later, too. */
	one_up_border(&one, 3, 5);
	told = one_last(&one, 3, RTE_SYNC_AS_REACH);
	CT_ASSERT_EQ(told->reach.count, 1);
	CT_EXPECT_EQ(told->reach.link[0].cost, 100);
}

CT_TEST_F(reach, is_told_when_it_changes)
{
	rte_sync_set_reach(one.sync, mine, 3, one.now);
	one_forget(&one);
	rte_sync_set_reach(one.sync, mine, 3, one.now);
	CT_EXPECT_EQ(one.sents, 0);
	rte_sync_set_reach(one.sync, mine, 1, one.now);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_AS_REACH), 1);
	rte_sync_set_reach(one.sync, NULL, 0, one.now);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_AS_REACH)->reach.count, 0);
	CT_EXPECT_EQ(rte_sync_set_reach(one.sync, mine, RTE_SYNC_REACH_MAX + 1, one.now),
		     -FI_EINVAL);
}

CT_TEST_F(reach, of_the_senders_as_is_an_event_and_goes_no_further)
{
	static const struct rte_sync_reach theirs[] = {
		{.scope_as = RTE_AS_WAN, .subnet = 7, .cost = 90},
		{.scope_as = ONE_AS, .subnet = 8, .cost = 9}};

	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 20, 1, theirs, 2)), 0);
	CT_EXPECT_EQ(one.events[RTE_SYNC_REACHES], 1);
	CT_EXPECT_EQ(one.event.as, 4);
	CT_EXPECT_EQ(one.event.peer, &one.peer[0]);
	CT_EXPECT_EQ(one.event.reach_count, 2);
	CT_EXPECT_EQ(one.sents, 0);
	/* The same again; the newer one; the one between, late. */
	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 20, 1, theirs, 2)), 0);
	CT_EXPECT_EQ(one.events[RTE_SYNC_REACHES], 1);
	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 20, 3, theirs, 1)), 0);
	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 20, 2, theirs, 2)), 0);
	CT_EXPECT_EQ(one.events[RTE_SYNC_REACHES], 2);
	CT_EXPECT_EQ(one.event.reach_count, 1);
}

CT_TEST_F(reach, of_third_parties_is_refused)
{
	static const struct rte_sync_reach theirs[] = {
		{.scope_as = RTE_AS_WAN, .subnet = 7, .cost = 90},
		{.scope_as = 2, .subnet = 8, .cost = 9}};

	CT_EXPECT_EQ(one_receive(&one, 0, reach(2, 20, 1, theirs, 1)), -FI_EACCES);
	CT_EXPECT_EQ(one_receive(&one, 0, reach(ONE_AS, 20, 1, theirs, 1)), -FI_EACCES);
	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 21, 1, theirs, 1)), -FI_EACCES);
	/* Its private WAN with somebody else. */
	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 20, 1, theirs, 2)), -FI_EACCES);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->third_party, 4);
	/* A router of this AS does not say such a thing. */
	CT_EXPECT_EQ(one_receive(&one, 2, reach(ONE_AS, 22, 1, theirs, 1)), -FI_EACCES);
	CT_EXPECT_EQ(rte_sync_counters(one.sync)->unexpected, 1);
	CT_EXPECT_EQ(one_receive(&one, 0,
				 reach(4, 20, 1, theirs, RTE_SYNC_REACH_MAX + 1)),
		     -FI_EINVAL);
	CT_EXPECT_EQ(one_receive(&one, 0, reach(4, 20, 0, theirs, 1)), -FI_EINVAL);
	CT_EXPECT_EQ(one.events[RTE_SYNC_REACHES], 0);
}

CT_TEST_F(reach, is_told_again_when_heartbeats_do_not_know_it)
{
	rte_sync_set_reach(one.sync, mine, 1, one.now);
	one_forget(&one);
	one_differ(&one, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_AS_REACH), 0);
	one_differ(&one, 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_AS_REACH), 1);
}

CT_TEST_F(reach, heartbeats_say_what_came)
{
	one_run(&one, one.now + 1000, 7);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_HEARTBEAT)->heartbeat.hash, 0);
	one_receive(&one, 0, reach(4, 20, 9, mine, 1));
	one_run(&one, one.now + 1000, 7);
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_HEARTBEAT)->heartbeat.hash,
		     rte_key_hash(4, 20, 1, 9));
	CT_EXPECT_EQ(one_last(&one, 0, RTE_SYNC_HEARTBEAT)->heartbeat.count, 1);
}

CT_TEST_F(reach, goes_on_without_memory)
{
	ct_fail_alloc(1);
	CT_EXPECT_EQ(rte_sync_set_reach(one.sync, mine, 1, one.now), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(one.sents, 0);
	CT_EXPECT_EQ(rte_sync_set_reach(one.sync, mine, 1, one.now), 0);
	CT_EXPECT_EQ(one_count(&one, 0, RTE_SYNC_AS_REACH), 1);
}
