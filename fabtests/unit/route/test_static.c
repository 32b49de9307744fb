/* SPDX-License-Identifier: BSD-2-Clause */
/* Static routes: the subnets are given, the routers between them are found. */
#include <rdma/fi_errno.h>
#include "brute.h"

static struct world w;

/* Subnets 1 and 2 by R1 and R2, 2 and 3 by R3 and R4, 1 and 3 by R5. R2 is faster on 1.
 */
static void ladder(void)
{
	w = (struct world){0};
	world_link(&w, 1, 1, 10);
	world_link(&w, 1, 2, 10);
	world_link(&w, 2, 1, 100);
	world_link(&w, 2, 2, 10);
	world_link(&w, 3, 2, 10);
	world_link(&w, 3, 3, 10);
	world_link(&w, 4, 2, 10);
	world_link(&w, 4, 3, 10);
	world_link(&w, 5, 1, 100);
	world_link(&w, 5, 3, 100);
	world_meet(&w);
}

static int along(const struct rte_graph *graph, const char *const *names, uint32_t count,
		 struct rte_route *route)
{
	uint32_t nets[8], i;

	for (i = 0; i < count; i++)
		nets[i] = world_net(graph, names[i]);
	return rte_paths_along(graph, NULL, nets, count, route);
}

CT_FIXTURE(static_route, struct rte_graph *, NULL, world_graph_close);

CT_TEST_F(static_route, crosses_the_given_subnets_by_the_best_routers)
{
	const char *const list[] = {"1", "2", "3"};
	struct rte_route route;

	ladder();
	world_graph_open(t, &w, "bandwidth", false);
	CT_ASSERT_EQ(along(*t, list, 3, &route), 1);
	CT_EXPECT_STREQ(world_route_text(*t, &route), "1,2,3");
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[0]), 2);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[1]), 3);
	CT_EXPECT_EQ(route.cost.part[0], 10000 + 100000 + 100000);
}

CT_TEST_F(static_route, is_not_there_when_a_part_of_it_is_not)
{
	const char *const list[] = {"1", "2", "3"}, *const back[] = {"3", "2", "1"},
			  *const none[] = {"1", "3", "2"};
	struct rte_route route;

	ladder();
	world_router(&w, 3)->flags = RTE_LSA_DRAIN;
	world_blind(&w, 2, 4, 2);
	world_graph_open(t, &w, "bandwidth", false);
	CT_ASSERT_EQ(along(*t, list, 3, &route), 1);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[0]), 1);
	CT_ASSERT_EQ(along(*t, back, 3, &route), 1);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[1]), 1);
	/* Over R5 and R4, which see each other. */
	CT_EXPECT_EQ(along(*t, none, 3, &route), 1);
	CT_EXPECT_EQ(along(*t, list, 1, &route), 0);
	world_router(&w, 4)->flags = RTE_LSA_DRAIN;
	world_graph_open(t, &w, "bandwidth", false);
	CT_EXPECT_EQ(along(*t, list, 3, &route), 0);
}

/* The best of all routes is the static one of its own subnets. */
CT_TEST_F(static_route, of_the_best_routes_subnets_is_the_best_route)
{
	struct brute_random random = {.state = 3};
	struct rte_route best, route;
	uint32_t from, to, i;

	for (i = 0; i < 100; i++) {
		brute_world(&random, &w);
		world_graph_open(t, &w, brute_policy(&random), false);
		for (from = 0; from < rte_graph_nets(*t); from++) {
			for (to = 0; to < rte_graph_nets(*t); to++) {
				if (rte_paths(*t, from, &to, 1, &best, 1) != 1)
					continue;
				CT_ASSERT_EQ(rte_paths_along(*t, NULL, best.net,
							     best.routers + 1, &route),
					     1);
				CT_EXPECT_EQ(rte_route_compare(*t, &best, &route), 0);
			}
		}
	}
}

/* A router of the other AS is seen by some of those on a WAN alone. */
CT_TEST_F(static_route, has_the_ends_that_are_asked_for)
{
	const char *const list[] = {"1", "2", "3"};
	struct rte_route route;
	struct rte_ends ends;
	uint32_t nets[3], first[2], last, i;

	ladder();
	world_graph_open(t, &w, "bandwidth", false);
	for (i = 0; i < 3; i++)
		nets[i] = world_net(*t, list[i]);
	first[0] = rte_graph_router(*t, 1);
	first[1] = rte_graph_router(*t, 5);
	last = rte_graph_router(*t, 4);
	ends = (struct rte_ends){.first = first, .firsts = 2};
	CT_ASSERT_EQ(rte_paths_along(*t, &ends, nets, 3, &route), 1);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[0]), 1);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[1]), 3);
	ends = (struct rte_ends){.last = &last, .lasts = 1};
	CT_ASSERT_EQ(rte_paths_along(*t, &ends, nets, 3, &route), 1);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[0]), 2);
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[1]), 4);
	/* The direct way by R5 does not end so, and prunes nothing. */
	CT_ASSERT_EQ(rte_paths_by(*t, &ends, nets[0], &nets[2], 1, &route, 1), 1);
	CT_EXPECT_STREQ(world_route_text(*t, &route), "1,2,3");
	CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[1]), 4);
	ends = (struct rte_ends){.first = &first[1], .firsts = 1};
	CT_EXPECT_EQ(rte_paths_along(*t, &ends, nets, 3, &route), 0);
}

#define ROWS 20u

/* Three routers side by side between each two subnets: 3^20 ways, and a short one beside
 * them, over which less seems to be missing than is. */
CT_TEST_F(static_route, is_found_among_many_ways)
{
	struct rte_route route;
	uint32_t nets[ROWS + 1], i;

	w = (struct world){0};
	for (i = 0; i < 3 * ROWS; i++) {
		world_link(&w, 1 + i, 1 + i / 3, 10);
		world_link(&w, 1 + i, 2 + i / 3, i % 3 ? 10 : 20);
	}
	world_link(&w, 1000, 1, 100);
	world_link(&w, 1000, 1 + ROWS, 100);
	world_meet(&w);
	world_graph_open(t, &w, "bandwidth", false);
	for (i = 0; i <= ROWS; i++)
		nets[i] = rte_graph_net(*t, WORLD_AS, 1 + i);
	CT_ASSERT_EQ(rte_paths_along(*t, NULL, nets, ROWS + 1, &route), 1);
	for (i = 0; i < ROWS; i++)
		CT_EXPECT_EQ(rte_graph_router_id(*t, route.router[i]), 1 + 3 * i);
	CT_EXPECT_EQ(route.cost.part[0], ROWS * 100000 + 50000);
}
