/* SPDX-License-Identifier: BSD-2-Clause */
/* Random networks, against all routes that there are. */
#include <stdio.h>
#include <rdma/fi_errno.h>
#include "brute.h"

#define GRAPHS 400

static struct world w;

static bool same(const struct rte_route *a, const struct rte_route *b)
{
	return a->routers == b->routers &&
	       !memcmp(a->router, b->router, a->routers * sizeof(a->router[0])) &&
	       !memcmp(a->net, b->net, (a->routers + 1) * sizeof(a->net[0])) &&
	       !memcmp(&a->cost, &b->cost, sizeof(a->cost));
}

static void expect_pair(const struct rte_graph *graph, const struct rte_spf *spf,
			uint32_t from, uint32_t to)
{
	struct rte_route want[RTE_ALTERNATIVES], got[RTE_ALTERNATIVES], best;
	const uint32_t count = brute_paths(&w, graph, from, to, want, RTE_ALTERNATIVES);
	uint32_t i;

	CT_EXPECT_EQ(rte_spf_best(spf, &to, 1, &best), count ? 0 : -FI_ENOENT);
	if (count)
		CT_EXPECT_TRUE(same(&best, &want[0]));
	CT_ASSERT_EQ(rte_paths(graph, from, &to, 1, got, RTE_ALTERNATIVES), (int)count);
	for (i = 0; i < count; i++)
		CT_EXPECT_TRUE(same(&got[i], &want[i]));
}

CT_TEST(random, routes_are_those_of_the_oracle)
{
	struct brute_random random = {.state = 17};
	struct rte_graph *graph;
	struct rte_spf *spf;
	uint32_t from, to;
	int i;

	for (i = 0; i < GRAPHS; i++) {
		brute_world(&random, &w);
		graph = world_graph(&w, brute_policy(&random), false);
		for (from = 0; from < rte_graph_nets(graph); from++) {
			spf = rte_spf_open(graph, from);
			for (to = 0; to < rte_graph_nets(graph); to++)
				expect_pair(graph, spf, from, to);
			rte_spf_close(spf);
		}
		rte_graph_close(graph);
		if (i == GRAPHS / 2)
			random.state = 2026;
	}
}

/* Ids and cost of the best from a named subnet to another, or "". */
static void describe(const struct rte_graph *graph, struct rte_net_id a,
		     struct rte_net_id b, char *text, size_t size)
{
	const uint32_t to = rte_graph_net(graph, b.scope_as, b.subnet);
	struct rte_spf *spf =
		rte_spf_open(graph, rte_graph_net(graph, a.scope_as, a.subnet));
	struct rte_route route;
	size_t len = 0;
	uint32_t i;

	text[0] = 0;
	if (!rte_spf_best(spf, &to, 1, &route))
		for (i = 0; i < route.routers && len < size; i++)
			len += (size_t)snprintf(
				text + len, size - len, "%llu>%u ",
				(unsigned long long)rte_graph_router_id(graph,
									route.router[i]),
				rte_graph_net_id(graph, route.net[i + 1]).subnet);
	rte_spf_close(spf);
}

/* As each router does, which heard of the others in an order of its own. */
CT_TEST(random, every_router_computes_the_same)
{
	struct brute_random random = {.state = 5};
	char one[512], other[512];
	struct rte_graph *a, *b;
	struct world_router swap;
	const char *policy;
	uint32_t from, to, k, i;

	for (i = 0; i < 100; i++) {
		brute_world(&random, &w);
		policy = brute_policy(&random);
		a = world_graph(&w, policy, false);
		for (k = w.routers - 1; k; k--) {
			to = brute_draw(&random, k + 1);
			swap = w.router[k];
			w.router[k] = w.router[to];
			w.router[to] = swap;
		}
		for (k = 0; k < w.routers; k++)
			for (to = 0; to < w.router[k].links; to++)
				w.router[k].link[to].neighbour =
					w.router[k].neighbour[to];
		b = world_graph(&w, policy, false);
		for (from = 0; from < rte_graph_nets(a); from++)
			for (to = 0; to < rte_graph_nets(a); to++) {
				describe(a, rte_graph_net_id(a, from),
					 rte_graph_net_id(a, to), one, sizeof(one));
				describe(b, rte_graph_net_id(a, from),
					 rte_graph_net_id(a, to), other, sizeof(other));
				CT_EXPECT_STREQ(one, other);
			}
		rte_graph_close(a);
		rte_graph_close(b);
	}
}
