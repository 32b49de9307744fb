/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "graph.h"

/* Of a router that has no connections. */
#define RTE_WEIGHT_FULL (1u << 16)

/* A router with twice the connections is chosen about half as often. */
static uint32_t route_weight(const struct rte_graph *graph, const struct rte_route *route)
{
	const uint32_t load = graph->node[route->router[0]].lsa->load;

	return CRN_MAX(RTE_WEIGHT_FULL / (CRN_MIN(load, RTE_WEIGHT_FULL) + 1), 1u);
}

static bool routes_begin_with(const struct rte_route *routes, uint32_t count,
			      uint32_t router)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (routes[i].router[0] == router)
			return true;
	return false;
}

/* The first of those that begin with each router, as long as they cost the same. */
static uint32_t routes_equal(const struct rte_graph *graph, struct rte_route *routes,
			     uint32_t count)
{
	uint32_t i, kept = 0;

	for (i = 0; i < count; i++)
		if (!rte_cost_compare(&graph->policy, &routes[i].cost, &routes[0].cost) &&
		    !routes_begin_with(routes, kept, routes[i].router[0]))
			routes[kept++] = routes[i];
	return kept;
}

int rte_redirect(const struct rte_graph *graph, uint32_t me, const struct rte_ends *ends,
		 uint32_t from, const uint32_t *to, uint32_t to_count, uint32_t random,
		 struct rte_route *route)
{
	const struct rte_ends mine = {.first = &me, .firsts = 1};
	struct rte_route best[RTE_ALTERNATIVES];
	uint64_t sum = 0, at;
	uint32_t count, i;
	int ret = rte_paths_by(graph, ends, from, to, to_count, best, RTE_ALTERNATIVES);

	if (ret <= 0)
		return ret ? ret : -FI_ENOENT;
	count = (uint32_t)ret;
	ret = rte_paths_by(graph, &mine, from, to, to_count, route, 1);
	if (ret < 0)
		return ret;
	if (ret && rte_cost_compare(&graph->policy, &route->cost, &best[0].cost) <= 0)
		return RTE_CHOICE_SERVE;
	count = routes_equal(graph, best, count);
	for (i = 0; i < count; i++)
		sum += route_weight(graph, &best[i]);
	at = sum * random >> 32;
	for (i = 0; i + 1 < count && at >= route_weight(graph, &best[i]); i++)
		at -= route_weight(graph, &best[i]);
	*route = best[i];
	return RTE_CHOICE_REDIRECT;
}
