/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks in which nothing is lost: what is sent, how often, and how soon all know. */
#include "shape.h"

static struct net net;
static enum shape shape;

static void tear_down(struct net **t)
{
	net_close(&net);
}

CT_FIXTURE(net, struct net *, NULL, tear_down);

static void open_settled(enum shape of, uint64_t seed)
{
	shape = of;
	CT_NOTE("%s, seed %u", shape_name[shape], (unsigned int)seed);
	shape_open(&net, shape, seed);
	net_start_all(&net);
	CT_EXPECT_NE(net_settle(&net, 3000), UINT64_MAX);
	net_run(&net, 3000);
	net_record(&net);
	memset(net.sent, 0, sizeof(net.sent));
}

static void for_each_shape(void (*call)(void))
{
	uint64_t seed;

	for (shape = 0; shape < SHAPES; shape++)
		for (seed = 0; seed < (shape == SHAPE_RANDOM ? 40 : 1); seed++) {
			open_settled(shape, seed);
			call();
		}
}

/*
 * Who has it from another sends it to all neighbours but that one, its first sender to
 * all: over L links between N routers it goes 2 L - (N - 1) times, whatever comes first.
 */
static void expect_flood_is_exact(void)
{
	const uint32_t beside = shape == SHAPE_DOUBLE_RING ? 2 : 1;

	net_change(&net, net_draw(&net, net.routers));
	CT_EXPECT_NE(net_settle(&net, 1000), UINT64_MAX);
	net_run(&net, 1000);
	CT_EXPECT_EQ(net.crossings, 2 * net.links - beside * (net.routers - 1));
	CT_EXPECT_EQ(net_most_crossings(&net), 1);
}

CT_TEST_F(net, each_lsa_crosses_each_link_once_each_way_at_most)
{
	for_each_shape(expect_flood_is_exact);
}

static void expect_silence(void)
{
	net_change(&net, 0);
	net_run(&net, 1000);
	memset(net.sent, 0, sizeof(net.sent));
	net_record(&net);
	net_run(&net, 3000);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_HEARTBEAT], 3 * 2 * net.links);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_LSREQ], 0);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_DIGEST], 0);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_LSA], 0);
}

CT_TEST_F(net, then_there_are_only_heartbeats)
{
	for_each_shape(expect_silence);
}

/* The beginning, with its digests, included. */
CT_TEST_F(net, nothing_crosses_twice_when_all_begin_at_once)
{
	uint64_t seed;
	uint32_t i;

	for (shape = 0; shape < SHAPES; shape++)
		for (seed = 0; seed < (shape == SHAPE_RANDOM ? 40 : 1); seed++) {
			CT_NOTE("%s, seed %u", shape_name[shape], (unsigned int)seed);
			shape_open(&net, shape, seed);
			net_record(&net);
			for (i = 0; i < net.routers; i++) {
				net_start(&net, i);
				net_run(&net, net_draw(&net, 100));
			}
			CT_EXPECT_NE(net_settle(&net, 3000), UINT64_MAX);
			CT_EXPECT_LE(net_most_crossings(&net), 1);
		}
}

/* For several lives: refreshes keep all alive, and heartbeats agree. */
CT_TEST_F(net, goes_on_for_ever)
{
	uint32_t i;

	open_settled(SHAPE_RING_STUB, 1);
	net_run(&net, 5 * NET_LIFE);
	CT_EXPECT_LT(net_settle(&net, 100), 100);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_DIGEST], 0);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_LSREQ], 0);
	for (i = 0; i < net.routers; i++)
		CT_EXPECT_EQ(net.router[i].events[RTE_SYNC_GONE], 0);
	CT_EXPECT_EQ(net_most_crossings(&net), 1);
}

CT_TEST_F(net, a_late_joiner_knows_all_within_a_second_and_a_few_messages)
{
	static const uint32_t routers = 32;
	uint64_t seed;
	uint32_t i;

	for (seed = 0; seed < 10; seed++) {
		CT_NOTE("seed %u", (unsigned int)seed);
		shape_open(&net, SHAPE_RANDOM, seed);
		net.routers = routers;
		for (i = net.link[0].end[0] ? 1 : 0; i < routers; i++)
			if (i > 2)
				net_link(&net, i, i - 1 - net_draw(&net, 2));
		for (i = 0; i + 1 < routers; i++)
			net_start(&net, i);
		CT_EXPECT_NE(net_settle(&net, 5000), UINT64_MAX);
		net_run(&net, 5000);
		memset(net.sent, 0, sizeof(net.sent));
		net_start(&net, routers - 1);
		CT_EXPECT_LT(net_settle(&net, 2000), 1000);
		CT_EXPECT_TRUE(net_knows(&net, routers - 1, 0));
		CT_EXPECT_LE(net.sent[RTE_SYNC_LSREQ], 2 * 4);
	}
}

CT_TEST_F(net, who_ends_in_order_is_gone_at_once)
{
	open_settled(SHAPE_RING_STUB, 1);
	CT_EXPECT_TRUE(net_route(&net, 4, 4, 2));
	net_end(&net, 2);
	net_run(&net, 100);
	CT_EXPECT_FALSE(net_route(&net, 4, 4, 2));
	CT_EXPECT_TRUE(net_route(&net, 4, 4, 1));
	net_run(&net, NET_LIFE + 1000);
	CT_EXPECT_FALSE(net_knows(&net, 4, 2));
	CT_EXPECT_TRUE(net_agrees(&net));
	/* And back. */
	net_start(&net, 2);
	net_run(&net, 1000);
	CT_EXPECT_TRUE(net_route(&net, 4, 4, 2));
}

CT_TEST_F(net, a_withdrawn_router_may_come_back_at_once)
{
	open_settled(SHAPE_RING_STUB, 1);
	net_end(&net, 2);
	net_run(&net, 100);
	net_start(&net, 2);
	CT_EXPECT_LT(net_settle(&net, 2000), 1000);
	CT_EXPECT_TRUE(net_route(&net, 4, 4, 2));
}

CT_TEST_F(net, without_a_killed_router_there_is_no_way_through_it)
{
	open_settled(SHAPE_LINE, 1);
	CT_EXPECT_TRUE(net_route(&net, 0, 0, 4));
	net_kill(&net, 2);
	net_run(&net, 2900);
	CT_EXPECT_TRUE(net_route(&net, 0, 0, 4));
	/* Three heartbeats, and the way to router 0. */
	net_run(&net, 1200);
	CT_EXPECT_FALSE(net_route(&net, 0, 0, 4));
	CT_EXPECT_FALSE(net_route(&net, 4, 0, 4));
	CT_EXPECT_TRUE(net_route(&net, 0, 0, 1));
	/* Its words outlive it, but not for long. */
	CT_EXPECT_TRUE(net_knows(&net, 0, 2));
	net_run(&net, NET_LIFE);
	CT_EXPECT_FALSE(net_knows(&net, 0, 2));
	/* What is behind it, as well. */
	CT_EXPECT_FALSE(net_knows(&net, 0, 4));
}

CT_TEST_F(net, a_router_that_starts_again_is_believed_at_once)
{
	open_settled(SHAPE_RING_STUB, 1);
	net_run(&net, 3 * NET_REFRESH);
	net_kill(&net, 2);
	net_run(&net, 20);
	net.router[2].load = 99;
	net_start(&net, 2);
	net_change(&net, 2);
	CT_EXPECT_LT(net_settle(&net, 3000), 1000);
}

/* Its clock is wrong: the epoch is lower than that of its earlier start. */
CT_TEST_F(net, a_router_that_starts_with_an_old_epoch_goes_above_itself)
{
	open_settled(SHAPE_RING_STUB, 1);
	net_kill(&net, 2);
	net.router[2].epoch = 2;
	net_start(&net, 2);
	CT_EXPECT_LT(net_settle(&net, 3000), 1000);
	net_kill(&net, 2);
	net.router[2].epoch = 0;
	net_start(&net, 2);
	CT_EXPECT_LT(net_settle(&net, 3000), 1000);
	CT_EXPECT_GE(rte_sync_counters(net.router[2].sync)->ahead, 1);
}

/* Messages pass in one direction only: both ends stop naming each other. */
CT_TEST_F(net, a_link_that_works_one_way_is_no_link)
{
	open_settled(SHAPE_LINE, 1);
	net_block(&net, 1, true, false);
	net_run(&net, 2500);
	CT_EXPECT_TRUE(net_route(&net, 0, 0, 4));
	net_run(&net, 2500);
	CT_EXPECT_FALSE(net_route(&net, 0, 0, 4));
	CT_EXPECT_FALSE(net_route(&net, 4, 0, 4));
	net_block(&net, 1, false, false);
	CT_EXPECT_LT(net_settle(&net, 3000), 1500);
	CT_EXPECT_TRUE(net_route(&net, 0, 0, 4));
}

/* SIGSTOP for less than the others wait: nobody is lost, by the one that stopped least of
 * all. */
CT_TEST_F(net, a_router_that_was_stopped_for_a_moment_loses_nobody)
{
	uint32_t i;

	open_settled(SHAPE_RING_STUB, 1);
	net_stop(&net, 0);
	net_run(&net, 1900);
	net_go_on(&net, 0);
	net_run(&net, 5000);
	CT_EXPECT_TRUE(net_agrees(&net));
	for (i = 0; i < net.routers; i++)
		CT_EXPECT_EQ(net.router[i].events[RTE_SYNC_LOST], 0);
}

CT_TEST_F(net, a_router_that_was_stopped_for_long_is_lost_and_found)
{
	open_settled(SHAPE_LINE, 1);
	net_stop(&net, 2);
	net_run(&net, 10000);
	CT_EXPECT_FALSE(net_route(&net, 0, 0, 4));
	CT_EXPECT_EQ(net.router[1].events[RTE_SYNC_LOST], 1);
	net_go_on(&net, 2);
	CT_EXPECT_LT(net_settle(&net, 10000), 5000);
	CT_EXPECT_TRUE(net_route(&net, 0, 0, 4));
}
