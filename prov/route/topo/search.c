/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "search.h"

#define RTE_HEAP_LEAST 64u
#define RTE_HEAP_CHILDREN 4u /* flat: most that come are not the least */

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

static inline bool entry_before(const struct rte_heap *heap,
				const struct rte_heap_entry *a,
				const struct rte_heap_entry *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->second != b->second)
		return a->second < b->second;
	return heap->before && heap->before(heap->arg, a->at, b->at);
}

static inline uint32_t entry_first(const struct rte_heap *heap, uint32_t a, uint32_t b)
{
	return entry_before(heap, &heap->entry[b], &heap->entry[a]) ? b : a;
}

/* Up from a hole, to where the entry belongs. */
static inline void heap_rise(struct rte_heap *heap, uint32_t at,
			     const struct rte_heap_entry *entry)
{
	uint32_t up;

	for (; at; at = up) {
		up = (at - 1) / RTE_HEAP_CHILDREN;
		if (!entry_before(heap, entry, &heap->entry[up]))
			break;
		heap->entry[at] = heap->entry[up];
	}
	heap->entry[at] = *entry;
}

int rte_heap_add(struct rte_heap *heap, uint32_t at, uint64_t key, uint32_t second)
{
	const struct rte_heap_entry entry = {.key = key, .second = second, .at = at};
	const uint32_t size = heap->size ? heap->size * 2 : RTE_HEAP_LEAST;
	struct rte_heap_entry *grown;

	if (heap->count == heap->size) {
		grown = realloc(heap->entry, size * sizeof(*grown));
		if (!grown)
			return -FI_ENOMEM;
		heap->entry = grown;
		heap->size = size;
	}
	heap_rise(heap, heap->count++, &entry);
	return 0;
}

/* The least of the children of one, of which there are some. */
static inline uint32_t heap_child(const struct rte_heap *heap, uint32_t at)
{
	const uint32_t first = at * RTE_HEAP_CHILDREN + 1;
	uint32_t least = first, i;

	if (first + RTE_HEAP_CHILDREN <= heap->count)
		return entry_first(heap, entry_first(heap, first, first + 1),
				   entry_first(heap, first + 2, first + 3));
	for (i = first + 1; i < heap->count; i++)
		least = entry_first(heap, least, i);
	return least;
}

/* The hole sinks to the bottom, where the last entry most often belongs. */
uint32_t rte_heap_take(struct rte_heap *heap)
{
	uint32_t first, hole = 0, down;

	if (!heap->count)
		return RTE_NONE;
	first = heap->entry[0].at;
	heap->count--;
	while (hole * RTE_HEAP_CHILDREN + 1 < heap->count) {
		down = heap_child(heap, hole);
		heap->entry[hole] = heap->entry[down];
		hole = down;
	}
	heap_rise(heap, hole, &heap->entry[heap->count]);
	return first;
}
