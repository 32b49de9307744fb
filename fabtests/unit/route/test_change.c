/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes that follow changes are those that are computed anew. */
#include <rdma/fi_errno.h>
#include "brute.h"

#define GRAPHS 2000
#define CHANGES 20

static struct world w;

static void expect_as_new(const struct rte_graph *graph, const struct rte_spf *spf,
			  uint32_t from)
{
	struct rte_spf *fresh = rte_spf_open(graph, from);
	struct rte_route a, b;
	uint32_t to;

	for (to = 0; to < rte_graph_nets(graph); to++) {
		CT_ASSERT_EQ(rte_spf_best(spf, &to, 1, &a),
			     rte_spf_best(fresh, &to, 1, &b));
		if (!a.routers)
			continue;
		CT_EXPECT_EQ(rte_route_compare(graph, &a, &b), 0);
		CT_EXPECT_MEMEQ(a.router, b.router, a.routers * sizeof(a.router[0]));
		CT_EXPECT_MEMEQ(a.net, b.net, (a.routers + 1) * sizeof(a.net[0]));
	}
	rte_spf_close(fresh);
}

/* One router after another says something else; now and then one goes, or comes. */
static void change(struct brute_random *random, struct rte_graph *graph,
		   struct rte_spf *spf)
{
	const uint64_t id = brute_change(random, &w);
	struct rte_lsa lsa = world_lsa(world_router(&w, id));

	if (brute_draw(random, 6))
		CT_EXPECT_EQ(rte_graph_put(graph, &lsa), 0);
	else
		rte_graph_del(graph, id);
	CT_EXPECT_EQ(rte_spf_changed(spf, rte_graph_router(graph, id)), 0);
}

CT_TEST(change, routes_are_as_those_computed_anew)
{
	struct brute_random random = {.state = 99};
	struct rte_graph *graph;
	struct rte_spf *spf;
	uint32_t from;
	int i, k, graphs = (int)ct_rounds(GRAPHS);

	for (i = 0; i < graphs; i++) {
		brute_world(&random, &w);
		if (i % 2)
			world_meet(&w);
		graph = world_graph(&w, brute_policy(&random), false);
		if (!rte_graph_nets(graph)) {
			rte_graph_close(graph);
			continue;
		}
		from = brute_draw(&random, rte_graph_nets(graph));
		spf = rte_spf_open(graph, from);
		for (k = 0; k < CHANGES; k++) {
			change(&random, graph, spf);
			expect_as_new(graph, spf, from);
		}
		rte_spf_close(spf);
		rte_graph_close(graph);
	}
}

CT_TEST(change, routers_and_subnets_that_come_later_are_found)
{
	struct rte_graph *graph;
	struct rte_route route;
	struct rte_spf *spf;
	struct rte_lsa lsa;
	uint32_t to;

	w = (struct world){0};
	world_link(&w, 1, 1, 10);
	world_link(&w, 1, 2, 10);
	world_meet(&w);
	graph = world_graph(&w, "bandwidth", false);
	spf = rte_spf_open(graph, world_net(graph, "1"));
	world_link(&w, 2, 2, 10);
	world_link(&w, 2, 3, 10);
	world_meet(&w);
	for (to = 0; to < 2; to++) {
		lsa = world_lsa(&w.router[to]);
		CT_EXPECT_EQ(rte_graph_put(graph, &lsa), 0);
		CT_EXPECT_EQ(rte_spf_changed(spf, rte_graph_router(graph, lsa.router)),
			     0);
	}
	to = world_net(graph, "3");
	CT_ASSERT_EQ(rte_spf_best(spf, &to, 1, &route), 0);
	CT_EXPECT_STREQ(world_route_text(graph, &route), "1,2,3");
	rte_spf_close(spf);
	rte_graph_close(graph);
}

#define STAGES 24u

/*
 * A row of routers, each connected to the next over two subnets. On these are two routers
 * more, which hear nobody, or only each other.
 */
static void stages(bool hear_each_other)
{
	uint32_t i, k, subnet;

	w = (struct world){0};
	for (i = 0; i < 2 * STAGES; i++) {
		subnet = 100 + i;
		world_link(&w, 1 + i / 2, subnet, 10);
		world_link(&w, 2 + i / 2, subnet, 10);
		for (k = 0; k < 2; k++)
			world_link(&w, 1000 + 2 * (i / WORLD_LINKS) + k, subnet, 10);
	}
	world_link(&w, 1, 1, 10);
	world_link(&w, 1 + STAGES, 2, 10);
	world_meet(&w);
	for (i = 0; i < 2 * STAGES; i++) {
		subnet = 100 + i;
		for (k = 0; k < 2; k++) {
			world_blind(&w, 1000 + 2 * (i / WORLD_LINKS) + k, 1 + i / 2,
				    subnet);
			world_blind(&w, 1000 + 2 * (i / WORLD_LINKS) + k, 2 + i / 2,
				    subnet);
			if (!hear_each_other)
				world_blind(&w, 1000 + 2 * (i / WORLD_LINKS) + k,
					    1001 + 2 * (i / WORLD_LINKS) - k, subnet);
		}
	}
}

/* As many labels as there are ways, 2^24, would never be done. */
static void expect_stages(const char *policy)
{
	struct rte_graph *graph = world_graph(&w, policy, false);
	struct rte_spf *spf = rte_spf_open(graph, world_net(graph, "1"));
	const uint32_t to = world_net(graph, "2");
	struct rte_route route;
	struct rte_lsa lsa;
	uint32_t i;

	CT_ASSERT_EQ(rte_spf_best(spf, &to, 1, &route), 0);
	CT_EXPECT_EQ(route.cost.hops, STAGES + 2);
	CT_EXPECT_EQ(rte_graph_net_id(graph, route.net[1]).subnet, 100);
	for (i = 0; i < w.routers; i += 5) {
		rte_graph_del(graph, w.router[i].id);
		CT_EXPECT_EQ(rte_spf_changed(spf,
					     rte_graph_router(graph, w.router[i].id)),
			     0);
		expect_as_new(graph, spf, world_net(graph, "1"));
		lsa = world_lsa(&w.router[i]);
		CT_EXPECT_EQ(rte_graph_put(graph, &lsa), 0);
		CT_EXPECT_EQ(rte_spf_changed(spf,
					     rte_graph_router(graph, w.router[i].id)),
			     0);
		expect_as_new(graph, spf, world_net(graph, "1"));
	}
	rte_spf_close(spf);
	rte_graph_close(graph);
}

CT_TEST(change, routers_that_hear_nobody_make_no_more_work)
{
	stages(false);
	expect_stages("bandwidth");
	expect_stages("widest");
}

CT_TEST(change, ways_around_subnets_with_holes_are_not_all_tried)
{
	stages(true);
	expect_stages("bandwidth");
	expect_stages("widest,latency");
}
