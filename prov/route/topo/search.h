/* SPDX-License-Identifier: BSD-2-Clause */
/* What both searches share: beginnings of routes, and a heap of them. */
#ifndef RTE_TOPO_SEARCH_H
#define RTE_TOPO_SEARCH_H

#include "graph.h"

/* The beginning of a route: over a subnet to a router. */
struct rte_step {
	struct rte_cost cost; /* of all subnets up to this one */
	uint32_t net;
	uint32_t node;	 /* RTE_NONE: the destination */
	uint32_t parent; /* index of a step, or RTE_NONE: this is the source's subnet */
};

/* Steps lie in an array whose elements are of this size and begin with one. */
struct rte_steps {
	const char *base;
	size_t each; /* bytes */
};

static inline const struct rte_step *rte_step_at(const struct rte_steps *steps,
						 uint32_t at)
{
	return (const struct rte_step *)(const void *)(steps->base + at * steps->each);
}

/* Does a route that begins so cross that subnet? */
bool rte_step_crosses(const struct rte_steps *steps, const struct rte_step *step,
		      uint32_t net);
/* < 0, 0, > 0: by ids, from the source on. */
int rte_step_compare(const struct rte_graph *graph, const struct rte_steps *steps,
		     const struct rte_step *a, const struct rte_step *b);
/* Of a whole one; its last step goes over the last subnet to RTE_NONE. */
void rte_step_route(const struct rte_steps *steps, const struct rte_step *last,
		    struct rte_route *route);

/* Is it one of these? If there are none, it is. */
static inline bool rte_router_among(const uint32_t *routers, uint32_t count,
				    uint32_t router)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (routers[i] == router)
			return true;
	return !count;
}

/*
 * As rte_spf_open, of routes with such ends; what they point to is there for as long as
 * the object. Last routers mean something on a subnet that no route crosses alone: a WAN.
 */
struct rte_spf *rte_spf_open_by(const struct rte_graph *graph,
				const struct rte_ends *ends, uint32_t from);

/* Indices with what orders them; the least is taken first. */
struct rte_heap_entry {
	uint64_t key;
	uint32_t second;
	uint32_t at;
};

struct rte_heap {
	struct rte_heap_entry *entry;
	uint32_t count;
	uint32_t size;
	/* Among those of the same key and second; NULL: any order. */
	bool (*before)(const void *arg, uint32_t a, uint32_t b);
	const void *arg;
};

/* 0 or -FI_ENOMEM. */
int rte_heap_add(struct rte_heap *heap, uint32_t at, uint64_t key, uint32_t second);
/* RTE_NONE: it is empty. */
uint32_t rte_heap_take(struct rte_heap *heap);

/*
 * What is missing from each router to that subnet, of each metric alone: never too much
 * (missing.c). hops UINT32_MAX: there is no way. The caller frees it; NULL: no memory.
 */
struct rte_cost *rte_missing_find(const struct rte_graph *graph, uint32_t to);

#endif
