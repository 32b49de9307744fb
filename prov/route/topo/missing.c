/* SPDX-License-Identifier: BSD-2-Clause */
/* The least that is missing from each router to a subnet, each metric by itself. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "search.h"

/* One metric, or the hops behind them, of a cost. */
static uint64_t cost_part(const struct rte_policy *policy, const struct rte_cost *cost,
			  uint32_t part)
{
	return part < policy->metrics ? cost->part[part] : cost->hops;
}

static void cost_set(const struct rte_policy *policy, struct rte_cost *cost,
		     uint32_t part, uint64_t value)
{
	if (part < policy->metrics)
		cost->part[part] = value;
	else
		cost->hops = (uint32_t)value;
}

/* Of all routers one part of what is missing, from the destination on. */
struct rte_missing {
	const struct rte_graph *graph;
	uint32_t to;
	struct rte_cost *cost; /* of each router; so is the next */
	bool *seen;
	uint32_t part;
	struct rte_heap heap;
};

/* Enters what a router misses, unless it misses no more than that already. */
static int missing_enter(struct rte_missing *m, uint32_t at, const struct rte_cost *cost)
{
	const struct rte_policy *policy = &m->graph->policy;
	const uint64_t value = cost_part(policy, cost, m->part);
	struct rte_cost *missing = &m->cost[at];

	if (m->seen[at] && cost_part(policy, missing, m->part) <= value)
		return 0;
	cost_set(policy, missing, m->part, value);
	m->seen[at] = true;
	return rte_heap_add(&m->heap, at, value, 0);
}

static int missing_extend(struct rte_missing *m, uint32_t at, const struct rte_port *port)
{
	struct rte_cost cost;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < port->edges && !ret; i++) {
		cost = rte_cost_add(&m->graph->policy, &m->cost[at], &port->edge[i].cost);
		ret = missing_enter(m, port->edge[i].to, &cost);
	}
	return ret;
}

/* Dijkstra's algorithm. */
static int missing_find(struct rte_missing *m)
{
	const struct rte_graph *graph = m->graph;
	const struct rte_net *net = &graph->net[m->to];
	const struct rte_node *node;
	uint32_t i, at;
	int ret = 0;

	memset(m->seen, 0, graph->nodes * sizeof(*m->seen));
	for (i = 0; i < net->members && !ret; i++) {
		node = &graph->node[net->member[i]];
		ret = missing_enter(m, net->member[i], &rte_node_port(node, m->to)->cost);
	}
	while (!ret && (at = rte_heap_take(&m->heap)) != RTE_NONE) {
		node = &graph->node[at];
		for (i = 0; i < node->ports && !ret; i++)
			ret = missing_extend(m, at, &node->port[i]);
	}
	return ret;
}

struct rte_cost *rte_missing_find(const struct rte_graph *graph, uint32_t to)
{
	struct rte_missing m = {.graph = graph, .to = to};
	uint32_t i;
	int ret = 0;

	m.seen = malloc((graph->nodes + 1) * sizeof(*m.seen));
	m.cost = calloc(graph->nodes + 1, sizeof(*m.cost));
	if (!m.seen || !m.cost)
		ret = -FI_ENOMEM;
	for (; m.part <= graph->policy.metrics && !ret; m.part++)
		ret = missing_find(&m);
	for (i = 0; i < graph->nodes && !ret; i++)
		if (!m.seen[i])
			m.cost[i].hops = UINT32_MAX;
	free(m.seen);
	free(m.heap.entry);
	if (!ret)
		return m.cost;
	free(m.cost);
	return NULL;
}
