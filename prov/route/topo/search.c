/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "search.h"

#define RTE_HEAP_LEAST 64u

bool rte_step_crosses(const struct rte_steps *steps, const struct rte_step *step,
		      uint32_t net)
{
	while (step->net != net) {
		if (step->parent == RTE_NONE)
			return false;
		step = rte_step_at(steps, step->parent);
	}
	return true;
}

static uint32_t step_depth(const struct rte_steps *steps, const struct rte_step *step)
{
	uint32_t depth = 0;

	for (; step->parent != RTE_NONE; step = rte_step_at(steps, step->parent))
		depth++;
	return depth;
}

static int net_compare(const struct rte_graph *graph, uint32_t a, uint32_t b)
{
	const struct rte_net_id x = graph->net[a].id, y = graph->net[b].id;

	if (x.scope_as != y.scope_as)
		return x.scope_as < y.scope_as ? -1 : 1;
	return (x.subnet > y.subnet) - (x.subnet < y.subnet);
}

/* The destination's end comes before all routers. */
static int node_compare(const struct rte_graph *graph, uint32_t a, uint32_t b)
{
	const uint64_t x = a == RTE_NONE ? 0 : graph->node[a].id;
	const uint64_t y = b == RTE_NONE ? 0 : graph->node[b].id;

	return (x > y) - (x < y);
}

static int hop_compare(const struct rte_graph *graph, uint32_t net_a, uint32_t net_b,
		       uint32_t node_a, uint32_t node_b)
{
	const int order = net_compare(graph, net_a, net_b);

	return order ? order : node_compare(graph, node_a, node_b);
}

int rte_step_compare(const struct rte_graph *graph, const struct rte_steps *steps,
		     const struct rte_step *a, const struct rte_step *b)
{
	uint32_t deep_a = step_depth(steps, a), deep_b = step_depth(steps, b);
	int order = (deep_a > deep_b) - (deep_a < deep_b), here;

	for (; deep_a > deep_b; deep_a--)
		a = rte_step_at(steps, a->parent);
	for (; deep_b > deep_a; deep_b--)
		b = rte_step_at(steps, b->parent);
	/* Towards the source: the last difference found is the first of the routes. */
	while (a != b) {
		here = hop_compare(graph, a->net, b->net, a->node, b->node);
		order = here ? here : order;
		if (a->parent == RTE_NONE)
			break;
		a = rte_step_at(steps, a->parent);
		b = rte_step_at(steps, b->parent);
	}
	return order;
}

int rte_route_compare(const struct rte_graph *graph, const struct rte_route *a,
		      const struct rte_route *b)
{
	int order = rte_cost_compare(&graph->policy, &a->cost, &b->cost);
	uint32_t i;

	for (i = 0; !order && i <= a->routers && i <= b->routers; i++)
		order = hop_compare(graph, a->net[i], b->net[i],
				    i < a->routers ? a->router[i] : RTE_NONE,
				    i < b->routers ? b->router[i] : RTE_NONE);
	return order;
}

void rte_step_route(const struct rte_steps *steps, const struct rte_step *last,
		    struct rte_route *route)
{
	uint32_t at = step_depth(steps, last);

	route->cost = last->cost;
	route->routers = at;
	route->net[at] = last->net;
	for (; last->parent != RTE_NONE;) {
		last = rte_step_at(steps, last->parent);
		at--;
		route->router[at] = last->node;
		route->net[at] = last->net;
	}
}

int rte_heap_add(struct rte_heap *heap, uint32_t at)
{
	const uint32_t size = heap->size ? heap->size * 2 : RTE_HEAP_LEAST;
	uint32_t i, up, *grown;

	if (heap->count == heap->size) {
		grown = realloc(heap->at, size * sizeof(*grown));
		if (!grown)
			return -FI_ENOMEM;
		heap->at = grown;
		heap->size = size;
	}
	for (i = heap->count++; i; i = up) {
		up = (i - 1) / 2;
		if (!heap->before(heap->arg, at, heap->at[up]))
			break;
		heap->at[i] = heap->at[up];
	}
	heap->at[i] = at;
	return 0;
}

uint32_t rte_heap_take(struct rte_heap *heap)
{
	uint32_t first, last, i, down;

	if (!heap->count)
		return RTE_NONE;
	first = heap->at[0];
	last = heap->at[--heap->count];
	for (i = 0; (down = 2 * i + 1) < heap->count; i = down) {
		if (down + 1 < heap->count &&
		    heap->before(heap->arg, heap->at[down + 1], heap->at[down]))
			down++;
		if (!heap->before(heap->arg, heap->at[down], last))
			break;
		heap->at[i] = heap->at[down];
	}
	heap->at[i] = last;
	return first;
}
