/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The best few routes between two subnets, in order: beginnings of routes, the most
 * promising first, by what they cost and the least that is missing (A*). What is missing
 * is taken for each metric alone: never too much. Routes with a subnet twice, and those
 * that contain a better one, are not followed.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "search.h"

#define RTE_PATHS_LEAST 64u
/* Beginnings that are followed from one router, and that are kept for one pair of
 * subnets. Beyond these the best route is the one of rte_spf, and others may be missing.
 */
#define RTE_PATHS_FOLLOWED 32u
#define RTE_PATHS_MOST (1u << 18)

struct rte_begin {
	struct rte_step step;  /* first: struct rte_steps */
	struct rte_cost least; /* of the whole route */
	uint32_t next;	       /* of the same router, or RTE_NONE */
};

struct rte_search {
	const struct rte_graph *graph;
	uint32_t from;
	uint32_t to;
	struct rte_ends ends;
	const uint32_t *along; /* the only subnets, in this order; or NULL: any */
	uint32_t along_count;
	struct rte_cost *missing; /* of each router; hops UINT32_MAX: no way */
	struct rte_begin *begin;
	uint32_t begins;
	uint32_t size;
	struct rte_heap heap;
	/* Of each router: how many of its beginnings were followed, and the last that
	 * came, from which the others hang. */
	uint32_t *followed;
	uint32_t *last;
	bool cut; /* there were too many beginnings */
	struct rte_route *routes;
	uint32_t found;
};

static struct rte_steps search_steps(const struct rte_search *search)
{
	return (struct rte_steps){.base = (const char *)search->begin,
				  .each = sizeof(*search->begin)};
}

static bool begin_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct rte_search *search = arg;
	const struct rte_steps steps = search_steps(search);
	const struct rte_begin *x = &search->begin[a], *y = &search->begin[b];
	const int order = rte_cost_compare(&search->graph->policy, &x->least, &y->least);

	if (order)
		return order < 0;
	return rte_step_compare(search->graph, &steps, &x->step, &y->step) < 0;
}

/*
 * Does a route that begins so contain one that was found, and more? It ends with the same
 * subnet; without it, all of the other's are there in their order, and others too.
 */
static bool step_contains(const struct rte_search *search, const struct rte_step *step,
			  const struct rte_route *route)
{
	const struct rte_steps steps = search_steps(search);
	uint32_t left = route->routers, more = 0;

	for (;;) {
		if (left && route->net[left - 1] == step->net)
			left--;
		else
			more++;
		if (step->parent == RTE_NONE)
			return !left && more;
		step = rte_step_at(&steps, step->parent);
	}
}

static bool step_useless(const struct rte_search *search, const struct rte_step *step)
{
	uint32_t i;

	for (i = 0; i < search->found; i++)
		if (step_contains(search, step, &search->routes[i]))
			return true;
	return false;
}

/*
 * Where the subnets are given, all that matters of a beginning is its router and how far
 * it has come: is another one as good?
 */
static bool search_beaten(const struct rte_search *search, const struct rte_step *step)
{
	const struct rte_steps steps = search_steps(search);
	const struct rte_step *other;
	enum rte_dominance dominance;
	uint32_t at;

	for (at = search->last[step->node]; search->along && at != RTE_NONE;
	     at = search->begin[at].next) {
		other = &search->begin[at].step;
		if (other == step || other->cost.hops != step->cost.hops)
			continue;
		dominance = rte_cost_dominance(&search->graph->policy, &other->cost,
					       &step->cost);
		if (dominance == RTE_DOMINATES ||
		    (dominance == RTE_DOMINATES_BY_IDS &&
		     rte_step_compare(search->graph, &steps, other, step) < 0))
			return true;
	}
	return false;
}

/* Takes over the beginning. */
static int search_enter(struct rte_search *search, const struct rte_begin *begin)
{
	const uint32_t size = search->size ? search->size * 2 : RTE_PATHS_LEAST;
	struct rte_begin *grown;

	if (search->begins == RTE_PATHS_MOST) {
		search->cut = true;
		return 0;
	}
	if (search->begins == search->size) {
		grown = realloc(search->begin, size * sizeof(*grown));
		if (!grown)
			return -FI_ENOMEM;
		search->begin = grown;
		search->size = size;
	}
	search->begin[search->begins] = *begin;
	return rte_heap_add(&search->heap, search->begins++, begin->least.part[0], 0);
}

/* Is one more beginning of that router followed? */
static bool search_follows(struct rte_search *search, uint32_t node)
{
	if (search->along || search->followed[node] < RTE_PATHS_FOLLOWED)
		return true;
	search->cut = true;
	return false;
}

static int search_enter_node(struct rte_search *search, struct rte_begin *begin)
{
	const struct rte_cost *missing = &search->missing[begin->step.node];
	int ret;

	if (missing->hops == UINT32_MAX || search_beaten(search, &begin->step) ||
	    !search_follows(search, begin->step.node))
		return 0;
	begin->least = rte_cost_add(&search->graph->policy, &begin->step.cost, missing);
	begin->next = search->last[begin->step.node];
	ret = search_enter(search, begin);
	if (!ret && !search->cut)
		search->last[begin->step.node] = search->begins - 1;
	return ret;
}

/* May the subnet follow a beginning of that many? */
static bool search_wants(const struct rte_search *search, uint32_t hops, uint32_t net)
{
	return !search->along ||
	       (hops < search->along_count && search->along[hops] == net);
}

static int search_seed(struct rte_search *search)
{
	const struct rte_net *net = &search->graph->net[search->from];
	struct rte_begin begin = {.step = {.net = search->from, .parent = RTE_NONE}};
	uint32_t i;
	int ret = 0;

	for (i = 0; i < net->members && !ret; i++) {
		if (!rte_router_among(search->ends.first, search->ends.firsts,
				      net->member[i]))
			continue;
		begin.step.node = net->member[i];
		begin.step.cost =
			rte_node_port(&search->graph->node[begin.step.node], search->from)
				->cost;
		ret = search_enter_node(search, &begin);
	}
	return ret;
}

/* On over a subnet that is not the last. */
static int search_cross(struct rte_search *search, uint32_t at,
			const struct rte_port *port)
{
	const struct rte_step here = search->begin[at].step;
	const struct rte_steps steps = search_steps(search);
	struct rte_begin begin = {.step = {.parent = at, .net = port->net}};
	uint32_t i;
	int ret = 0;

	if (here.cost.hops == RTE_HOPS_MAX ||
	    !search_wants(search, here.cost.hops, port->net) ||
	    rte_step_crosses(&steps, &here, port->net))
		return 0;
	for (i = 0; i < port->edges && !ret; i++) {
		begin.step.cost = rte_cost_add(&search->graph->policy, &here.cost,
					       &port->edge[i].cost);
		begin.step.node = port->edge[i].to;
		ret = search_enter_node(search, &begin);
	}
	return ret;
}

/* To the last subnet. */
static int search_arrive(struct rte_search *search, uint32_t at,
			 const struct rte_port *port)
{
	const struct rte_step *here = &search->begin[at].step;
	struct rte_begin begin = {
		.step = {.net = search->to, .node = RTE_NONE, .parent = at}};

	if (!search_wants(search, here->cost.hops, search->to) ||
	    !rte_router_among(search->ends.last, search->ends.lasts, here->node))
		return 0;
	begin.step.cost = rte_cost_add(&search->graph->policy, &here->cost, &port->cost);
	begin.least = begin.step.cost;
	return search_enter(search, &begin);
}

static int search_extend(struct rte_search *search, uint32_t at)
{
	const struct rte_node *node = &search->graph->node[search->begin[at].step.node];
	uint32_t i;
	int ret = 0;

	for (i = 0; i < node->ports && !ret; i++) {
		if (node->port[i].net == search->to)
			ret = search_arrive(search, at, &node->port[i]);
		else
			ret = search_cross(search, at, &node->port[i]);
	}
	return ret;
}

static int search_run(struct rte_search *search, uint32_t count)
{
	struct rte_steps steps;
	const struct rte_step *step;
	uint32_t at;
	int ret = search_seed(search);

	while (!ret && search->found < count) {
		at = rte_heap_take(&search->heap);
		if (at == RTE_NONE)
			break;
		steps = search_steps(search);
		step = &search->begin[at].step;
		/* The last subnet is in both. */
		if (step->node == RTE_NONE) {
			if (!step_useless(search, rte_step_at(&steps, step->parent)))
				rte_step_route(&steps, step,
					       &search->routes[search->found++]);
		} else if (!step_useless(search, step) && !search_beaten(search, step) &&
			   search_follows(search, step->node)) {
			search->followed[step->node]++;
			ret = search_extend(search, at);
		}
	}
	return ret;
}

/* Puts it where it belongs among those that are there, if it is not one of them; the last
 * may fall out. */
static uint32_t paths_insert(const struct rte_graph *graph, struct rte_route *routes,
			     uint32_t have, uint32_t count, const struct rte_route *route)
{
	uint32_t at = have;

	while (at && rte_route_compare(graph, route, &routes[at - 1]) < 0)
		at--;
	if (at == count || (at && !rte_route_compare(graph, route, &routes[at - 1])))
		return have;
	have = CRN_MIN(have + 1, count);
	memmove(&routes[at + 1], &routes[at], (have - 1 - at) * sizeof(*routes));
	routes[at] = *route;
	return have;
}

/* All subnets of the other, in their order, and more. */
static bool route_contains(const struct rte_route *route, const struct rte_route *other)
{
	uint32_t i, k = 0;

	for (i = 0; i <= route->routers && k <= other->routers; i++)
		k += route->net[i] == other->net[k];
	return k > other->routers && route->routers > other->routers;
}

/* Adds the best route, which may be missing where beginnings were cut. */
static int search_complete(struct rte_search *search, uint32_t count)
{
	struct rte_spf *spf = rte_spf_open_by(search->graph, &search->ends, search->from);
	struct rte_route best;
	uint32_t i, k, kept = 0;

	if (!spf)
		return -FI_ENOMEM;
	if (!rte_spf_best(spf, &search->to, 1, &best))
		search->found = paths_insert(search->graph, search->routes, search->found,
					     count, &best);
	rte_spf_close(spf);
	for (i = 0; i < search->found; i++) {
		for (k = 0; k < kept; k++)
			if (route_contains(&search->routes[i], &search->routes[k]))
				break;
		if (k == kept)
			search->routes[kept++] = search->routes[i];
	}
	search->found = kept;
	return 0;
}

static int search_open(struct rte_search *search)
{
	const uint32_t nodes = search->graph->nodes;
	uint32_t i;

	search->followed = calloc(nodes + 1, sizeof(*search->followed));
	search->last = malloc((nodes + 1) * sizeof(*search->last));
	if (!search->followed || !search->last)
		return -FI_ENOMEM;
	for (i = 0; i < nodes; i++)
		search->last[i] = RTE_NONE;
	search->missing = rte_missing_find(search->graph, search->to);
	return search->missing ? 0 : -FI_ENOMEM;
}

/* The number of routes that are found, or -FI_ENOMEM. */
static int search_do(struct rte_search *search, struct rte_route *routes, uint32_t count)
{
	int ret;

	search->routes = routes;
	search->heap.before = begin_before;
	search->heap.arg = search;
	ret = search_open(search);
	if (!ret)
		ret = search_run(search, count);
	if (!ret && search->cut && !search->along)
		ret = search_complete(search, count);
	free(search->missing);
	free(search->followed);
	free(search->last);
	free(search->begin);
	free(search->heap.entry);
	return ret ? ret : (int)search->found;
}

int rte_paths_along(const struct rte_graph *graph, const struct rte_ends *ends,
		    const uint32_t *nets, uint32_t count, struct rte_route *route)
{
	struct rte_search search = {
		.graph = graph,
		.ends = ends ? *ends : (struct rte_ends){0},
		.along = nets,
		.along_count = count,
	};

	if (count < 2 || !rte_graph_allows(graph, nets[0], nets[count - 1]))
		return 0;
	search.from = nets[0];
	search.to = nets[count - 1];
	return search_do(&search, route, 1);
}

int rte_paths(const struct rte_graph *graph, uint32_t from, const uint32_t *to,
	      uint32_t to_count, struct rte_route *routes, uint32_t count)
{
	return rte_paths_by(graph, NULL, from, to, to_count, routes, count);
}

int rte_paths_by(const struct rte_graph *graph, const struct rte_ends *ends,
		 uint32_t from, const uint32_t *to, uint32_t to_count,
		 struct rte_route *routes, uint32_t count)
{
	struct rte_search search;
	struct rte_route *some = malloc((count + 1) * sizeof(*some));
	uint32_t have = 0, i;
	int found, n;

	if (!some)
		return -FI_ENOMEM;
	for (i = 0; i < to_count; i++) {
		if (!rte_graph_allows(graph, from, to[i]))
			continue;
		search = (struct rte_search){.graph = graph, .from = from, .to = to[i]};
		if (ends)
			search.ends = *ends;
		found = search_do(&search, some, count);
		if (found < 0) {
			free(some);
			return found;
		}
		for (n = 0; n < found; n++)
			have = paths_insert(graph, routes, have, count, &some[n]);
	}
	free(some);
	return (int)have;
}
