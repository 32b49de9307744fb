/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dijkstra's algorithm over routers. With the metric "widest", and where a subnet has
 * holes, the best way to a router need not begin the best way through it: then a router
 * has several labels, of which none is as good as another whatever comes behind it.
 *
 * When a router changes, the labels that pass through it are taken away, and those that
 * they lost are found again from their neighbours.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "search.h"

#define RTE_SPF_LEAST 64u

struct rte_label {
	struct rte_step step; /* first: struct rte_steps */
	uint32_t next;	      /* of the same router; of those that are free or dead */
	uint32_t child;	      /* the first that goes on from here */
	uint32_t sibling;
	bool dead;
};

struct rte_spf {
	const struct rte_graph *graph;
	uint32_t from;
	struct rte_label *label;
	uint32_t labels;
	uint32_t size;
	uint32_t free;
	uint32_t dead; /* may still be in the heap */
	/* Of each router; both have room for as many as nodes says. */
	uint32_t *first;
	bool *stale; /* it has lost labels */
	uint32_t nodes;
	/* Of each subnet, when the labels were made. */
	bool *holed;
	uint32_t nets;
	struct rte_heap heap;
};

static struct rte_steps spf_steps(const struct rte_spf *spf)
{
	return (struct rte_steps){.base = (const char *)spf->label,
				  .each = sizeof(*spf->label)};
}

static bool label_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct rte_spf *spf = arg;

	return rte_cost_compare(&spf->graph->policy, &spf->label[a].step.cost,
				&spf->label[b].step.cost) < 0;
}

/* Whatever the second can go on to, the first can, without crossing a subnet twice. */
static bool step_as_free(const struct rte_spf *spf, const struct rte_step *a,
			 const struct rte_step *b)
{
	const struct rte_steps steps = spf_steps(spf);

	if (!spf->graph->holed)
		return true;
	for (;;) {
		if (rte_net_holed(&spf->graph->net[a->net]) &&
		    !rte_step_crosses(&steps, b, a->net))
			return false;
		if (a->parent == RTE_NONE)
			return true;
		a = rte_step_at(&steps, a->parent);
	}
}

static bool step_dominates(const struct rte_spf *spf, const struct rte_step *a,
			   const struct rte_step *b)
{
	const struct rte_steps steps = spf_steps(spf);

	switch (rte_cost_dominance(&spf->graph->policy, &a->cost, &b->cost)) {
	case RTE_DOMINATES:
		return step_as_free(spf, a, b);
	case RTE_DOMINATES_BY_IDS:
		return rte_step_compare(spf->graph, &steps, a, b) <= 0 &&
		       step_as_free(spf, a, b);
	default:
		return false;
	}
}

/* With all that goes on from it. */
static void label_kill(struct rte_spf *spf, uint32_t at)
{
	struct rte_label *label = &spf->label[at];
	uint32_t child, next, *place = &spf->first[label->step.node];

	for (child = label->child; child != RTE_NONE; child = next) {
		next = spf->label[child].sibling;
		label_kill(spf, child);
	}
	while (*place != at)
		place = &spf->label[*place].next;
	*place = label->next;
	spf->stale[label->step.node] = true;
	label->dead = true;
	label->next = spf->dead;
	spf->dead = at;
}

static void label_remove(struct rte_spf *spf, uint32_t at)
{
	const struct rte_label *label = &spf->label[at];
	uint32_t *place;

	if (label->step.parent != RTE_NONE) {
		place = &spf->label[label->step.parent].child;
		while (*place != at)
			place = &spf->label[*place].sibling;
		*place = label->sibling;
	}
	label_kill(spf, at);
}

/* RTE_NONE: no memory. */
static uint32_t label_new(struct rte_spf *spf)
{
	const uint32_t size = spf->size ? spf->size * 2 : RTE_SPF_LEAST;
	const uint32_t at = spf->free;
	struct rte_label *grown;

	if (at != RTE_NONE) {
		spf->free = spf->label[at].next;
		return at;
	}
	if (spf->labels == spf->size) {
		grown = realloc(spf->label, size * sizeof(*grown));
		if (!grown)
			return RTE_NONE;
		spf->label = grown;
		spf->size = size;
	}
	return spf->labels++;
}

/* Enters one, unless another makes it useless, in place of those that it makes so. */
static int spf_enter(struct rte_spf *spf, const struct rte_step *step)
{
	uint32_t at, next, *first = &spf->first[step->node];

	for (at = *first; at != RTE_NONE; at = spf->label[at].next)
		if (step_dominates(spf, &spf->label[at].step, step))
			return 0;
	for (at = *first; at != RTE_NONE; at = next) {
		next = spf->label[at].next;
		if (step_dominates(spf, step, &spf->label[at].step))
			label_remove(spf, at);
	}
	at = label_new(spf);
	if (at == RTE_NONE)
		return -FI_ENOMEM;
	spf->label[at] = (struct rte_label){
		.step = *step, .next = *first, .child = RTE_NONE, .sibling = RTE_NONE};
	*first = at;
	if (step->parent != RTE_NONE) {
		spf->label[at].sibling = spf->label[step->parent].child;
		spf->label[step->parent].child = at;
	}
	return rte_heap_add(&spf->heap, at);
}

/* On from a label over an edge. */
static int spf_extend(struct rte_spf *spf, uint32_t at, const struct rte_edge *edge)
{
	const struct rte_steps steps = spf_steps(spf);
	const struct rte_step *here = &spf->label[at].step;
	const struct rte_step step = {
		.cost = rte_cost_add(&spf->graph->policy, &here->cost, &edge->cost),
		.net = edge->net,
		.node = edge->to,
		.parent = at,
	};

	/* Coming to a router again is useless: it has a better label of that route. */
	if (here->cost.hops == RTE_HOPS_MAX || rte_step_crosses(&steps, here, edge->net))
		return 0;
	return spf_enter(spf, &step);
}

static int spf_seed(struct rte_spf *spf, uint32_t node)
{
	const struct rte_port *port = rte_node_port(&spf->graph->node[node], spf->from);
	struct rte_step step = {.net = spf->from, .node = node, .parent = RTE_NONE};

	if (!port)
		return 0;
	step.cost = port->cost;
	return spf_enter(spf, &step);
}

static void spf_bury(struct rte_spf *spf)
{
	uint32_t at, next;

	for (at = spf->dead; at != RTE_NONE; at = next) {
		next = spf->label[at].next;
		spf->label[at].next = spf->free;
		spf->free = at;
	}
	spf->dead = RTE_NONE;
}

static int spf_run(struct rte_spf *spf)
{
	const struct rte_node *node;
	uint32_t at, i;
	int ret;

	while ((at = rte_heap_take(&spf->heap)) != RTE_NONE) {
		node = &spf->graph->node[spf->label[at].step.node];
		for (i = 0; i < node->edges && !spf->label[at].dead; i++) {
			ret = spf_extend(spf, at, &node->edge[i]);
			if (ret)
				return ret;
		}
	}
	spf_bury(spf);
	return 0;
}

/* Room for routers and subnets that came since. */
static int spf_fit(struct rte_spf *spf)
{
	const struct rte_graph *graph = spf->graph;
	uint32_t *first = realloc(spf->first, (graph->nodes + 1) * sizeof(*first));
	bool *stale, *holed;

	if (!first)
		return -FI_ENOMEM;
	spf->first = first;
	stale = realloc(spf->stale, (graph->nodes + 1) * sizeof(*stale));
	if (!stale)
		return -FI_ENOMEM;
	spf->stale = stale;
	holed = realloc(spf->holed, (graph->nets + 1) * sizeof(*holed));
	if (!holed)
		return -FI_ENOMEM;
	spf->holed = holed;
	for (; spf->nodes < graph->nodes; spf->nodes++) {
		first[spf->nodes] = RTE_NONE;
		stale[spf->nodes] = false;
	}
	for (; spf->nets < graph->nets; spf->nets++)
		holed[spf->nets] = false;
	return 0;
}

/* Have other subnets holes than before? */
static bool spf_holes_moved(struct rte_spf *spf)
{
	bool moved = false, now;
	uint32_t i;

	for (i = 0; i < spf->nets; i++) {
		now = rte_net_holed(&spf->graph->net[i]);
		moved |= now != spf->holed[i];
		spf->holed[i] = now;
	}
	return moved;
}

/* All of them. */
static int spf_compute(struct rte_spf *spf)
{
	const struct rte_net *net = &spf->graph->net[spf->from];
	uint32_t i;
	int ret = 0;

	spf->labels = 0;
	spf->free = RTE_NONE;
	spf->dead = RTE_NONE;
	spf->heap.count = 0;
	for (i = 0; i < spf->nodes; i++)
		spf->first[i] = RTE_NONE;
	for (i = 0; i < net->members && !ret; i++)
		ret = spf_seed(spf, net->member[i]);
	return ret ? ret : spf_run(spf);
}

struct rte_spf *rte_spf_open(const struct rte_graph *graph, uint32_t from)
{
	struct rte_spf *spf = calloc(1, sizeof(*spf));
	int ret;

	if (!spf)
		return NULL;
	spf->graph = graph;
	spf->from = from;
	spf->heap.before = label_before;
	spf->heap.arg = spf;
	ret = spf_fit(spf);
	if (!ret) {
		spf_holes_moved(spf);
		ret = spf_compute(spf);
	}
	if (!ret)
		return spf;
	rte_spf_close(spf);
	return NULL;
}

void rte_spf_close(struct rte_spf *spf)
{
	free(spf->label);
	free(spf->first);
	free(spf->stale);
	free(spf->holed);
	free(spf->heap.at);
	free(spf);
}

/* What a router lost comes again from those beside it. */
static int spf_restore(struct rte_spf *spf, uint32_t node)
{
	const struct rte_node *here = &spf->graph->node[node];
	uint32_t i, at;
	int ret = spf_seed(spf, node);

	for (i = 0; i < here->edges && !ret; i++)
		for (at = spf->first[here->edge[i].to]; at != RTE_NONE && !ret;
		     at = spf->label[at].next)
			ret = rte_heap_add(&spf->heap, at);
	return ret;
}

int rte_spf_changed(struct rte_spf *spf, uint32_t router)
{
	uint32_t i;
	int ret = spf_fit(spf);

	if (ret)
		return ret;
	/* Which labels are useless hangs on them. */
	if (spf_holes_moved(spf))
		return spf_compute(spf);
	memset(spf->stale, 0, spf->nodes * sizeof(*spf->stale));
	while (spf->first[router] != RTE_NONE)
		label_remove(spf, spf->first[router]);
	spf->stale[router] = true;
	for (i = 0; i < spf->nodes && !ret; i++)
		if (spf->stale[i])
			ret = spf_restore(spf, i);
	return ret ? ret : spf_run(spf);
}

/* In place of *route, if that has no routers or is worse. One that crossed the subnet
 * already has ended there at less. */
static void spf_best_to(const struct rte_spf *spf, uint32_t to, struct rte_route *route)
{
	const struct rte_steps steps = spf_steps(spf);
	const struct rte_graph *graph = spf->graph;
	const struct rte_net *net = &graph->net[to];
	struct rte_route found;
	struct rte_step last = {.net = to, .node = RTE_NONE};
	uint32_t i, at;

	for (i = 0; i < net->members; i++) {
		for (at = spf->first[net->member[i]]; at != RTE_NONE;
		     at = spf->label[at].next) {
			last.parent = at;
			last.cost = rte_cost_add(
				&graph->policy, &spf->label[at].step.cost,
				&rte_node_port(&graph->node[net->member[i]], to)->cost);
			if (route->routers && rte_cost_compare(&graph->policy, &last.cost,
							       &route->cost) > 0)
				continue;
			rte_step_route(&steps, &last, &found);
			if (!route->routers ||
			    rte_route_compare(graph, &found, route) < 0)
				*route = found;
		}
	}
}

int rte_spf_best(const struct rte_spf *spf, const uint32_t *to, uint32_t count,
		 struct rte_route *route)
{
	uint32_t i;

	route->routers = 0;
	for (i = 0; i < count; i++)
		if (rte_graph_allows(spf->graph, spf->from, to[i]))
			spf_best_to(spf, to[i], route);
	return route->routers ? 0 : -FI_ENOENT;
}
