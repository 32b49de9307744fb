/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks that lose, double, delay and reorder messages, fall apart, and lose routers:
 * whatever happened, all know the same soon after it ends. */
#include "shape.h"

static struct net net;

static void tear_down(struct net **t)
{
	net_close(&net);
}

CT_FIXTURE(faults, struct net *, NULL, tear_down);

/* Repairs that did not help become rare: 16 heartbeats at most, a few times. */
#define SOON 60000u

static void expect_agreement(const char *after)
{
	net.faults = (struct net_faults){0};
	CT_EXPECT_NE(net_settle(&net, SOON), UINT64_MAX);
	if (ct_failed())
		CT_NOTE("after %s", after);
	/* And then there is silence: refreshes, and heartbeats. */
	net_run(&net, 12000);
	CT_EXPECT_LT(net_settle(&net, 2000), 2000);
	memset(net.sent, 0, sizeof(net.sent));
	net_run(&net, 3000);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_DIGEST], 0);
	CT_EXPECT_EQ(net.sent[RTE_SYNC_LSREQ], 0);
	CT_EXPECT_LE(net.sent[RTE_SYNC_LSA], net.routers * 2 * net.links);
}

static void for_each_seed(uint32_t seeds, void (*call)(void))
{
	enum shape shape;
	uint64_t seed;

	seeds = ct_rounds(seeds);
	for (shape = 0; shape < SHAPES && !ct_failed(); shape++)
		for (seed = 0; seed < seeds && !ct_failed(); seed++) {
			CT_NOTE("%s, seed %u", shape_name[shape], (unsigned int)seed);
			shape_open(&net, shape, seed);
			call();
		}
}

static void lossy(void)
{
	net.faults = (struct net_faults){.loss = 100 + net_draw(&net, 200),
					 .duplicates = 200,
					 .delay = 1 + net_draw(&net, 300),
					 .reorders = net_draw(&net, 2)};
	net_start_all(&net);
	net_run(&net, 5000);
	net_change(&net, net_draw(&net, net.routers));
	net_run(&net, 5000);
	expect_agreement("loss");
}

CT_TEST_F(faults, lost_doubled_late_and_reordered_messages_are_repaired)
{
	for_each_seed(30, lossy);
}

/* While messages are lost, too: with one in ten it comes to agree now and then. */
CT_TEST_F(faults, most_is_known_while_messages_are_lost)
{
	uint32_t i, agreed = 0;

	shape_open(&net, SHAPE_RING_STUB, 5);
	net.faults = (struct net_faults){.loss = 100, .delay = 10};
	net_start_all(&net);
	for (i = 0; i < 100; i++) {
		if (!(i % 10))
			net_change(&net, net_draw(&net, net.routers));
		net_run(&net, 1000);
		agreed += net_agrees(&net);
	}
	CT_EXPECT_GE(agreed, 30);
}

static void parted(void)
{
	uint32_t i, at;
	bool side[NET_ROUTERS];

	net_start_all(&net);
	net_run(&net, 2000);
	for (i = 0; i < net.routers; i++)
		side[i] = net_draw(&net, 2);
	for (i = 0; i < net.links; i++)
		if (side[net.link[i].end[0]] != side[net.link[i].end[1]])
			net_block(&net, i, true, true);
	for (i = 0; i < 5; i++) {
		at = net_draw(&net, net.routers);
		net_change(&net, at);
		net_run(&net, net_draw(&net, 1000));
	}
	net_run(&net, net_draw(&net, 2) ? 10000 : NET_LIFE + 5000);
	CT_EXPECT_LT(net_settle(&net, 2000), 2000);
	for (i = 0; i < net.links; i++)
		net_block(&net, i, false, false);
	CT_EXPECT_LT(net_settle(&net, SOON), 4000);
	expect_agreement("a partition");
}

CT_TEST_F(faults, what_fell_apart_comes_together_again)
{
	for_each_seed(30, parted);
}

static void one_by_one(void)
{
	uint32_t i, at;

	net_start_all(&net);
	for (i = 0; i < 12; i++) {
		net_run(&net, net_draw(&net, 3000));
		at = net_draw(&net, net.routers);
		if (net.router[at].state == NET_OFF)
			net_start(&net, at);
		else if (net_draw(&net, 2))
			net_kill(&net, at);
		else
			net_end(&net, at);
	}
	for (i = 0; i < net.routers; i++)
		if (net.router[i].state == NET_OFF && net_draw(&net, 2))
			net_start(&net, i);
	expect_agreement("kills and starts");
	for (i = 0; i < net.routers; i++)
		if (net.router[i].state == NET_OFF)
			net_start(&net, i);
	expect_agreement("starts");
}

CT_TEST_F(faults, routers_come_and_go)
{
	for_each_seed(30, one_by_one);
}

/* All of it at once. */
static void chaos(void)
{
	uint32_t i, at, link;

	net.faults = (struct net_faults){
		.loss = 50, .duplicates = 50, .delay = 100, .reorders = true};
	net_start_all(&net);
	for (i = 0; i < 30; i++) {
		net_run(&net, net_draw(&net, 1500));
		at = net_draw(&net, net.routers);
		link = net_draw(&net, net.links);
		switch (net_draw(&net, 6)) {
		case 0:
			net_block(&net, link, net_draw(&net, 2), net_draw(&net, 2));
			break;
		case 1:
			if (net.router[at].state == NET_RUNS)
				net_kill(&net, at);
			break;
		case 2:
			if (net.router[at].state == NET_RUNS)
				net_stop(&net, at);
			break;
		case 3:
			if (net.router[at].state == NET_STOPPED)
				net_go_on(&net, at);
			break;
		case 4:
			if (net.router[at].state == NET_OFF)
				net_start(&net, at);
			break;
		default:
			if (net.router[at].state == NET_RUNS)
				net_change(&net, at);
		}
	}
	for (i = 0; i < net.routers; i++) {
		if (net.router[i].state == NET_STOPPED)
			net_go_on(&net, i);
		else if (net.router[i].state == NET_OFF)
			net_start(&net, i);
	}
	for (i = 0; i < net.links; i++)
		net_block(&net, i, false, false);
	expect_agreement("chaos");
}

CT_TEST_F(faults, whatever_happens)
{
	for_each_seed(30, chaos);
}

static uint64_t memory_missed(void)
{
	uint64_t missed = 0;
	uint32_t i;

	for (i = 0; i < net.routers; i++)
		missed += rte_sync_counters(net.router[i].sync)->memory;
	return missed;
}

static void out_of_memory(void)
{
	uint32_t i;

	net.faults.no_memory = 300;
	net_start_all(&net);
	for (i = 0; i < 40; i++) {
		net_change(&net, net_draw(&net, net.routers));
		net_run(&net, net_draw(&net, 300));
	}
	CT_EXPECT_GT(memory_missed(), 0);
	expect_agreement("no memory");
}

CT_TEST_F(faults, routers_without_memory_catch_up)
{
	for_each_seed(15, out_of_memory);
}
