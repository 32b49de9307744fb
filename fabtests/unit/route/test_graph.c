/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "world.h"

static struct world w;

/* 1 -R1- 2 -R2- 3, and a way around over 4 -R3- 5 -R4- that costs more. */
static void chain(void)
{
	w = (struct world){0};
	world_link(&w, 1, 1, 10);
	world_link(&w, 1, 2, 10);
	world_link(&w, 2, 2, 10);
	world_link(&w, 2, 3, 10);
	world_link(&w, 1, 4, 10);
	world_link(&w, 3, 4, 10);
	world_link(&w, 3, 5, 10);
	world_link(&w, 2, 5, 10);
	world_meet(&w);
}

static void expect_route(const char *text)
{
	struct rte_graph *graph = world_graph(&w, "bandwidth", false);
	const uint32_t to = world_net(graph, "3");
	struct rte_spf *spf = rte_spf_open(graph, world_net(graph, "1"));
	struct rte_route route;

	if (text) {
		CT_EXPECT_EQ(rte_spf_best(spf, &to, 1, &route), 0);
		CT_EXPECT_STREQ(world_route_text(graph, &route), text);
	} else {
		CT_EXPECT_EQ(rte_spf_best(spf, &to, 1, &route), -FI_ENOENT);
	}
	rte_spf_close(spf);
	rte_graph_close(graph);
}

CT_TEST(graph, a_connection_needs_the_word_of_both_ends)
{
	chain();
	expect_route("1,2,3");
	world_blind(&w, 1, 2, 2);
	expect_route("1,4,5,3");
	chain();
	world_blind(&w, 2, 1, 2);
	expect_route("1,4,5,3");
	world_blind(&w, 3, 1, 4);
	expect_route(NULL);
}

CT_TEST(graph, a_subnet_is_never_crossed_twice)
{
	/* R1 and R2 do not see each other; R3 sees both. */
	w = (struct world){0};
	world_link(&w, 1, 1, 10);
	world_link(&w, 1, 2, 10);
	world_link(&w, 2, 2, 10);
	world_link(&w, 2, 3, 10);
	world_link(&w, 3, 2, 10);
	world_meet(&w);
	expect_route("1,2,3");
	world_blind(&w, 1, 2, 2);
	expect_route(NULL);
}

CT_FIXTURE(graph, struct rte_graph *, NULL, world_graph_close);

CT_TEST_F(graph, the_slower_of_two_devices_is_what_a_subnet_costs)
{
	struct rte_route route;
	uint32_t to;

	chain();
	w.router[0].link[1].rate = 100 * WORLD_GBPS;
	w.router[1].link[0].rate = 5 * WORLD_GBPS;
	world_graph_open(t, &w, "bandwidth", false);
	to = world_net(*t, "3");
	CT_ASSERT_EQ(rte_paths(*t, world_net(*t, "1"), &to, 1, &route, 1), 1);
	CT_EXPECT_EQ(route.cost.part[0], 100000 + 200000 + 100000);
}

CT_TEST_F(graph, what_is_wrong_or_of_another_as_is_refused)
{
	struct rte_lsa lsa;

	chain();
	world_graph_open(t, &w, "bandwidth", false);
	lsa = world_lsa(&w.router[0]);
	lsa.as = WORLD_AS + 1;
	CT_EXPECT_EQ(rte_graph_put(*t, &lsa), -FI_EINVAL);
	lsa = world_lsa(&w.router[0]);
	lsa.router = 0;
	CT_EXPECT_EQ(rte_graph_put(*t, &lsa), -FI_EINVAL);
	CT_EXPECT_EQ(rte_graph_routers(*t), 3);
	CT_EXPECT_EQ(rte_graph_net(*t, WORLD_AS, 77), RTE_NONE);
	CT_EXPECT_EQ(rte_graph_router(*t, 77), RTE_NONE);
	rte_graph_del(*t, 77);
}

/* Whatever allocation fails, nothing leaks, and the graph is whole but for the router. */
CT_TEST(graph, goes_on_without_memory)
{
	struct rte_route routes[RTE_ALTERNATIVES];
	struct rte_policy policy = {0};
	struct rte_graph *graph;
	struct rte_spf *spf;
	struct rte_lsa lsa;
	const char *why;
	uint32_t from, to, i;
	unsigned int nth;
	bool failed = true;
	int ret;

	chain();
	CT_ASSERT_EQ(rte_policy_parse("bandwidth", &policy, &why), 0);
	for (nth = 1; failed; nth++) {
		ct_fail_alloc(nth);
		graph = rte_graph_open(WORLD_AS, &policy);
		spf = NULL;
		ret = 0;
		for (i = 0; graph && i < w.routers; i++) {
			lsa = world_lsa(&w.router[i]);
			ret = rte_graph_put(graph, &lsa);
			if (ret)
				CT_EXPECT_EQ(ret, -FI_ENOMEM);
		}
		from = graph ? rte_graph_net(graph, WORLD_AS, 1) : RTE_NONE;
		to = graph ? rte_graph_net(graph, WORLD_AS, 3) : RTE_NONE;
		if (from != RTE_NONE && to != RTE_NONE) {
			spf = rte_spf_open(graph, from);
			if (spf) {
				rte_graph_del(graph, 2);
				lsa = world_lsa(&w.router[1]);
				rte_graph_put(graph, &lsa);
				ret = rte_spf_changed(spf, rte_graph_router(graph, 2));
				CT_EXPECT_TRUE(!ret || ret == -FI_ENOMEM);
				rte_spf_close(spf);
			}
			ret = rte_paths(graph, from, &to, 1, routes, RTE_ALTERNATIVES);
			CT_EXPECT_TRUE(ret >= 0 || ret == -FI_ENOMEM);
		}
		failed = ct_alloc_failed();
		if (!graph)
			continue;
		for (i = 0; i < w.routers; i++) {
			lsa = world_lsa(&w.router[i]);
			CT_EXPECT_EQ(rte_graph_put(graph, &lsa), 0);
		}
		to = rte_graph_net(graph, WORLD_AS, 3);
		CT_EXPECT_EQ(rte_paths(graph, rte_graph_net(graph, WORLD_AS, 1), &to, 1,
				       routes, RTE_ALTERNATIVES),
			     2);
		rte_graph_close(graph);
	}
	CT_EXPECT_GT(nth, 20);
}

CT_TEST_F(graph, no_route_leads_to_what_is_unknown)
{
	const uint32_t none = RTE_NONE;
	struct rte_route routes[RTE_ALTERNATIVES];
	uint32_t nets[3], from;
	struct rte_spf *spf;

	chain();
	world_graph_open(t, &w, "bandwidth", false);
	from = world_net(*t, "1");
	nets[0] = none;
	nets[1] = world_net(*t, "3");
	nets[2] = nets[1];
	CT_EXPECT_EQ(rte_paths(*t, none, nets, 3, routes, RTE_ALTERNATIVES), 0);
	CT_EXPECT_EQ(rte_paths(*t, from, &none, 1, routes, RTE_ALTERNATIVES), 0);
	/* What is named twice has no more routes than once. */
	CT_EXPECT_EQ(rte_paths(*t, from, nets, 3, routes, RTE_ALTERNATIVES), 2);
	CT_EXPECT_EQ(rte_paths_along(*t, NULL, nets, 2, routes), 0);
	spf = rte_spf_open(*t, from);
	CT_EXPECT_EQ(rte_spf_changed(spf, none), 0);
	CT_EXPECT_EQ(rte_spf_best(spf, &none, 1, routes), -FI_ENOENT);
	CT_EXPECT_EQ(rte_spf_best(spf, nets, 3, routes), 0);
	rte_spf_close(spf);
	spf = rte_spf_open(*t, none);
	CT_ASSERT_NE(spf, NULL);
	CT_EXPECT_EQ(rte_spf_best(spf, nets, 3, routes), -FI_ENOENT);
	CT_EXPECT_EQ(rte_spf_changed(spf, 0), 0);
	rte_spf_close(spf);
}

CT_TEST_F(graph, among_equals_the_public_wan_comes_before_private_ones)
{
	struct rte_route route[3];
	uint32_t to[3];

	w = (struct world){0};
	world_link(&w, 1, 1, 10);
	world_wan(&w, 1, 9, 7, 10);
	world_wan(&w, 1, 4, 40, 10);
	world_wan(&w, 1, RTE_AS_WAN, 50, 10);
	world_graph_open(t, &w, "bandwidth", false);
	to[0] = rte_graph_net(*t, 9, 7);
	to[1] = rte_graph_net(*t, 4, 40);
	to[2] = rte_graph_net(*t, RTE_AS_WAN, 50);
	CT_ASSERT_EQ(rte_paths(*t, world_net(*t, "1"), to, 3, route, 3), 3);
	CT_EXPECT_EQ(rte_graph_net_id(*t, route[0].net[1]).scope_as, RTE_AS_WAN);
	CT_EXPECT_EQ(rte_graph_net_id(*t, route[1].net[1]).scope_as, 4);
	CT_EXPECT_EQ(rte_graph_net_id(*t, route[2].net[1]).scope_as, 9);
}

#define SIDE 11u

/* A link of the square: to the right of a router, or below it. */
static void square_link(uint32_t at, uint32_t to, uint32_t subnet)
{
	world_link(&w, 1 + at, subnet, 10);
	world_link(&w, 1 + to, subnet, 10);
}

/*
 * Routers in a square, each connected to those beside it, from a corner to the opposite
 * one: there are a great many ways. Subnet 3 is a short one, which is the narrowest.
 */
static void square(void)
{
	uint32_t at;

	w = (struct world){0};
	for (at = 0; at < SIDE * SIDE; at++) {
		if (at % SIDE + 1 < SIDE)
			square_link(at, at + 1, 1000 + at);
		if (at + SIDE < SIDE * SIDE)
			square_link(at, at + SIDE, 2000 + at);
	}
	world_link(&w, 1, 1, 10);
	world_link(&w, SIDE * SIDE, 2, 10);
	world_link(&w, 1, 3, 1);
	world_link(&w, SIDE * SIDE, 3, 1);
	world_meet(&w);
}

CT_TEST_F(graph, the_best_route_is_found_among_many_ways)
{
	struct rte_route routes[RTE_ALTERNATIVES], best;
	struct rte_ends ends = {.firsts = 1};
	struct rte_spf *spf;
	uint32_t from, to;

	square();
	world_graph_open(t, &w, "widest", false);
	from = world_net(*t, "1");
	to = world_net(*t, "2");
	spf = rte_spf_open(*t, from);
	CT_ASSERT_EQ(rte_spf_best(spf, &to, 1, &best), 0);
	CT_EXPECT_EQ(best.cost.hops, 2 * SIDE);
	CT_ASSERT_GE(rte_paths(*t, from, &to, 1, routes, RTE_ALTERNATIVES), 1);
	CT_EXPECT_EQ(rte_route_compare(*t, &routes[0], &best), 0);
	ends.first = &best.router[0];
	CT_ASSERT_EQ(rte_paths_by(*t, &ends, from, &to, 1, routes, 1), 1);
	CT_EXPECT_EQ(rte_route_compare(*t, &routes[0], &best), 0);
	rte_spf_close(spf);
}
