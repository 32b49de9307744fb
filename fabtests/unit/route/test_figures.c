/* SPDX-License-Identifier: BSD-2-Clause */
/* The document's figures and tables, as corrected: scores hold with its whole units. */
#include <stdio.h>
#include <rdma/fi_errno.h>
#include "world.h"

#define UNIT 1000u /* milli-units */

static struct world w;

/* Fig. 3, Table II: subnets 1, 2, 8 and 1, 5, 6, 8. */
static void figure3(void)
{
	w = (struct world){0};
	world_link(&w, 1, 1, 10);
	world_link(&w, 1, 2, 10);
	world_link(&w, 2, 2, 10);
	world_link(&w, 2, 8, 10);
	world_link(&w, 3, 1, 10);
	world_link(&w, 3, 5, 32);
	world_link(&w, 4, 5, 32);
	world_link(&w, 4, 6, 32);
	world_link(&w, 5, 6, 32);
	world_link(&w, 5, 8, 10);
	world_meet(&w);
}

static void sockets(unsigned int gbps)
{
	uint32_t i, at;

	for (i = 0; i < w.routers; i++)
		for (at = 0; at < w.router[i].links; at++)
			if (w.router[i].link[at].rate == gbps * WORLD_GBPS)
				w.router[i].link[at].caps = 0;
}

static void expect_best(const struct rte_graph *graph, const char *from, const char *to,
			const char *text, uint64_t cost)
{
	const uint32_t net = world_net(graph, to);
	struct rte_spf *spf = rte_spf_open(graph, world_net(graph, from));
	struct rte_route best, route;

	CT_ASSERT_NE(spf, NULL);
	if (!text) {
		CT_EXPECT_EQ(rte_spf_best(spf, &net, 1, &best), -FI_ENOENT);
		CT_EXPECT_EQ(rte_paths(graph, world_net(graph, from), &net, 1, &route, 1),
			     0);
	} else {
		CT_EXPECT_EQ(rte_spf_best(spf, &net, 1, &best), 0);
		CT_EXPECT_STREQ(world_route_text(graph, &best), text);
		CT_EXPECT_EQ(best.cost.part[0], cost);
		CT_EXPECT_EQ(rte_paths(graph, world_net(graph, from), &net, 1, &route, 1),
			     1);
		CT_EXPECT_EQ(rte_route_compare(graph, &best, &route), 0);
	}
	rte_spf_close(spf);
}

/* How many routes there are, and which comes first. */
static int count_paths(const struct rte_graph *graph, const char *from, const char *to)
{
	const uint32_t net = world_net(graph, to);
	struct rte_route route[RTE_ALTERNATIVES];

	return rte_paths(graph, world_net(graph, from), &net, 1, route, RTE_ALTERNATIVES);
}

CT_FIXTURE(figures, struct rte_graph *, NULL, world_graph_close);

CT_TEST_F(figures, table_1_has_one_list_of_subnets_in_each_cell)
{
	static const char *const names[] = {"1", "2", "3", "W*", "W4"};
	static const char *const cells[5][5] = {
		{NULL, "1,2", "1,3", "1,W*", "1,W4"},
		{"2,1", NULL, "2,3", "2,1,W*", "2,1,W4"},
		{"3,1", "3,2", NULL, "3,1,W*", "3,1,W4"},
		{"W*,1", "W*,1,2", "W*,1,3", NULL, NULL},
		{"W4,1", "W4,1,2", "W4,1,3", NULL, NULL},
	};
	struct rte_route route[RTE_ALTERNATIVES];
	uint32_t to;
	int i, k, count;

	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	for (i = 0; i < 25; i++) {
		to = world_net(*t, names[i % 5]);
		count = rte_paths(*t, world_net(*t, names[i / 5]), &to, 1, route,
				  RTE_ALTERNATIVES);
		if (!cells[i / 5][i % 5])
			CT_EXPECT_EQ(count, 0);
		else
			CT_EXPECT_GE(count, 1);
		for (k = 0; k < count; k++)
			CT_EXPECT_STREQ(world_route_text(*t, &route[k]),
					cells[i / 5][i % 5]);
	}
}

CT_TEST_F(figures, section_6_b_prefers_the_private_wan)
{
	const char *const exits[] = {"W*", "W4"};
	struct rte_route best;
	struct rte_spf *spf;
	uint32_t to[2];

	world_figure2(&w);
	world_graph_open(t, &w, "bandwidth", true);
	expect_best(*t, "3", "W*", "3,1,W*", 215 * UNIT);
	expect_best(*t, "3", "W4", "3,1,W4", 125 * UNIT);
	to[0] = world_net(*t, exits[0]);
	to[1] = world_net(*t, exits[1]);
	spf = rte_spf_open(*t, world_net(*t, "3"));
	CT_EXPECT_EQ(rte_spf_best(spf, to, 2, &best), 0);
	CT_EXPECT_STREQ(world_route_text(*t, &best), "3,1,W4");
	CT_EXPECT_EQ(rte_graph_router_id(*t, best.router[0]), 4);
	CT_EXPECT_EQ(rte_graph_router_id(*t, best.router[1]), 2);
	rte_spf_close(spf);
	/* Exact: 215.625 and 125.625. */
	world_graph_open(t, &w, "bandwidth", false);
	expect_best(*t, "3", "W*", "3,1,W*", 215625);
	expect_best(*t, "3", "W4", "3,1,W4", 125625);
	/* 10 Gb/s and the private WAN by the processor. */
	sockets(10);
	sockets(100);
	world_graph_open(t, &w, "bandwidth", true);
	expect_best(*t, "3", "W*", "3,1,W*", 415 * UNIT);
	expect_best(*t, "3", "W4", "3,1,W4", 235 * UNIT);
}

CT_TEST_F(figures, a_pruned_route_comes_back_when_a_router_leaves_a_subnet)
{
	world_figure2(&w);
	w.router[3].link[0].up = false;
	world_meet(&w);
	world_graph_open(t, &w, "bandwidth", true);
	expect_best(*t, "3", "W*", "3,2,1,W*", 246 * UNIT);
	world_graph_open(t, &w, "bandwidth", false);
	expect_best(*t, "3", "W*", "3,2,1,W*", 246875);
}

CT_TEST_F(figures, figure_3_takes_what_its_policy_says)
{
	static const struct {
		const char *policy;
		bool doc;
		const char *route;
		uint64_t cost;
	} rows[] = {
		{"bandwidth", true, "1,5,6,8", 262 * UNIT},
		{"bandwidth", false, "1,5,6,8", 262500},
		{"hops", true, "1,2,8", 3},
		{"widest", true, "1,2,8", 100 * UNIT}, /* both; fewer hops */
		{"widest,bandwidth", true, "1,5,6,8", 100 * UNIT},
		{"native,hops", true, "1,2,8", 0},
	};
	size_t i;

	figure3();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world_graph_open(t, &w, rows[i].policy, rows[i].doc);
		expect_best(*t, "1", "8", rows[i].route, rows[i].cost);
		CT_EXPECT_EQ(count_paths(*t, "1", "8"), 2);
	}
	sockets(10);
	world_graph_open(t, &w, "bandwidth", true);
	expect_best(*t, "1", "8", "1,5,6,8", 462 * UNIT);
	world_graph_open(t, &w, "native", true);
	expect_best(*t, "1", "8", "1,5,6,8", 2);
	world_router(&w, 4)->flags = RTE_LSA_DRAIN;
	world_graph_open(t, &w, "bandwidth", true);
	expect_best(*t, "1", "8", "1,2,8", 600 * UNIT);
}

CT_TEST_F(figures, what_is_not_passed_on_is_at_the_end_of_routes_only)
{
	figure3();
	world_router(&w, 1)->link[1].caps |= RTE_CAP_NOTRANSIT;
	world_router(&w, 3)->flags = RTE_LSA_DRAIN;
	world_graph_open(t, &w, "bandwidth", true);
	expect_best(*t, "1", "8", NULL, 0);
	expect_best(*t, "1", "2", "1,2", 200 * UNIT);
	expect_best(*t, "2", "8", "2,8", 200 * UNIT);
}
