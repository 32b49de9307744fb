/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dijkstra's algorithm over routers and subnets. With the metric "widest", and where a
 * subnet has holes, the best way to a router need not begin the best way through it: then
 * a router has several labels, of which none is as good as another whatever comes behind
 * it.
 *
 * Where neither is the case, a subnet that leads from each of its routers to each other
 * at one cost is crossed once, from the best label on it: what waits in the heap is the
 * subnet. Elsewhere routers wait, and each connection is followed by itself.
 *
 * When a router changes, the labels that pass through it are taken away, and those that
 * they lost are found again from their neighbours.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "label.h"

/* In the heap: a subnet; otherwise a label. */
#define RTE_SPF_NET (1u << 31)
/* Of a router. Subnets with holes could make as many as there are ways to it, two for
 * each pair of such subnets beside each other. The best stay: routes may then be worse
 * than the best, but none is wrong. */
#define RTE_SPF_LABELS 32u

/* The best label on a subnet that is crossed once. */
struct rte_offer {
	uint32_t label; /* RTE_NONE: there was none since the last change */
	uint32_t hops;	/* and key: in the heap */
	uint64_t key;
	uint64_t least; /* of the first metric the label has */
	bool taken;	/* its members were reached from there */
	bool once;	/* the subnet is crossed once */
};

struct rte_spf {
	const struct rte_graph *graph;
	uint32_t from;
	struct rte_ends ends; /* of the routes; what they point to stays the caller's */
	bool sums; /* all metrics add up: of two labels of a router one is better */
	bool cut;  /* a router had too many labels */
	struct rte_labels labels;
	struct rte_heap heap;
	/* Of each subnet. */
	struct rte_offer *offer;
	bool *holed; /* when the labels were made */
	uint32_t nets;
};

static const struct rte_step *spf_step(const struct rte_spf *spf, uint32_t at)
{
	return &spf->labels.label[at].step;
}

/* Whatever the second can go on to, the first can, without crossing a subnet twice. Where
 * no subnet has holes that is always so. */
static bool step_as_free(const struct rte_spf *spf, const struct rte_step *a,
			 const struct rte_step *b)
{
	const struct rte_steps steps = rte_labels_steps(&spf->labels);

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
	const struct rte_steps steps = rte_labels_steps(&spf->labels);
	enum rte_dominance dominance;

	if (a->cost.part[0] > b->cost.part[0])
		return false;
	if (!spf->sums || a->cost.part[0] == b->cost.part[0]) {
		dominance = rte_cost_dominance(&spf->graph->policy, &a->cost, &b->cost);
		if (dominance == RTE_DOMINATES_NOT ||
		    (dominance == RTE_DOMINATES_BY_IDS &&
		     rte_step_compare(spf->graph, &steps, a, b) > 0))
			return false;
	}
	return !spf->graph->holed || step_as_free(spf, a, b);
}

/* Among those of the same first part any order is right, and this one good. */
static int spf_queue(struct rte_spf *spf, uint32_t at)
{
	const struct rte_cost *cost = &spf_step(spf, at)->cost;

	spf->labels.label[at].followed = false;
	return rte_heap_add(&spf->heap, at, cost->part[0], cost->hops);
}

static bool step_before(const struct rte_spf *spf, const struct rte_step *a,
			const struct rte_step *b)
{
	const struct rte_steps steps = rte_labels_steps(&spf->labels);
	const int order = rte_cost_compare(&spf->graph->policy, &a->cost, &b->cost);

	return order ? order < 0 : rte_step_compare(spf->graph, &steps, a, b) < 0;
}

/* Has its router room for one more? If not, *at is the worst label from which nothing
 * goes on, if that one is better, or RTE_NONE. */
static bool spf_room(struct rte_spf *spf, const struct rte_step *step, uint32_t *at)
{
	const struct rte_labels *labels = &spf->labels;
	uint32_t count = 0, worst = RTE_NONE, i;

	*at = RTE_NONE;
	for (i = labels->first[step->node]; i != RTE_NONE; i = labels->label[i].next) {
		count++;
		if (labels->label[i].child == RTE_NONE &&
		    (worst == RTE_NONE ||
		     step_before(spf, spf_step(spf, worst), spf_step(spf, i))))
			worst = i;
	}
	if (count < RTE_SPF_LABELS)
		return true;
	spf->cut = true;
	if (worst != RTE_NONE && step_before(spf, step, spf_step(spf, worst)))
		*at = worst;
	return false;
}

/* Enters one, unless another makes it useless, in place of those that it makes so. *at:
 * the label, from which all is to be followed, or RTE_NONE. */
static int spf_enter(struct rte_spf *spf, const struct rte_step *step, uint32_t *at)
{
	struct rte_labels *labels = &spf->labels;
	uint32_t i, next;

	*at = RTE_NONE;
	for (i = labels->first[step->node]; i != RTE_NONE; i = labels->label[i].next)
		if (step_dominates(spf, spf_step(spf, i), step))
			return 0;
	for (i = labels->first[step->node]; i != RTE_NONE; i = next) {
		next = labels->label[i].next;
		if (!step_dominates(spf, step, spf_step(spf, i)))
			continue;
		if (*at == RTE_NONE && labels->label[i].child == RTE_NONE)
			*at = i;
		else
			rte_labels_remove(labels, i);
	}
	if (*at == RTE_NONE && spf_room(spf, step, at)) {
		*at = rte_labels_add(labels, step);
		return *at == RTE_NONE ? -FI_ENOMEM : 0;
	}
	if (*at != RTE_NONE)
		rte_labels_move(labels, *at, step);
	return 0;
}

/* On from a label over a subnet to another router: *next, or RTE_NONE. */
static int spf_extend(struct rte_spf *spf, uint32_t at, uint32_t net, uint32_t to,
		      const struct rte_cost *cost, uint32_t *next)
{
	const struct rte_step step = {
		.cost = *cost, .net = net, .node = to, .parent = at};

	return spf_enter(spf, &step, next);
}

/* Is the subnet crossed from a better one? */
static bool offer_better(const struct rte_spf *spf, const struct rte_offer *offer,
			 uint32_t at)
{
	const struct rte_step *here = spf_step(spf, at);

	if (offer->least > here->cost.part[0] || offer->label == at ||
	    offer->label == RTE_NONE || spf->labels.label[offer->label].dead)
		return false;
	return offer->least < here->cost.part[0] ||
	       step_dominates(spf, spf_step(spf, offer->label), here);
}

/* The label is where a subnet is crossed from, unless a better one is. */
static int spf_offer(struct rte_spf *spf, uint32_t at, uint32_t net)
{
	struct rte_offer *offer = &spf->offer[net];
	const struct rte_step *here = spf_step(spf, at);
	struct rte_cost cost;
	bool queued;

	if (offer_better(spf, offer, at))
		return 0;
	cost = rte_cost_add(&spf->graph->policy, &here->cost, &spf->graph->net[net].cost);
	queued = offer->label != RTE_NONE && !offer->taken &&
		 offer->key == cost.part[0] && offer->hops == cost.hops;
	*offer = (struct rte_offer){
		.label = at,
		.hops = cost.hops,
		.key = cost.part[0],
		.least = here->cost.part[0],
		.once = true,
	};
	return queued ? 0
		      : rte_heap_add(&spf->heap, net | RTE_SPF_NET, offer->key,
				     offer->hops);
}

/* Over a subnet to each router that is connected. */
static int spf_connect(struct rte_spf *spf, uint32_t at, const struct rte_port *port)
{
	const struct rte_steps steps = rte_labels_steps(&spf->labels);
	struct rte_cost cost;
	uint32_t i, next;
	int ret = 0;

	/* Coming to a router again is useless: it has a better label of that route. So
	 * is a subnet again, where there is a direct way over it. */
	if (rte_net_holed(&spf->graph->net[port->net]) &&
	    rte_step_crosses(&steps, spf_step(spf, at), port->net))
		return 0;
	for (i = 0; i < port->edges && !spf->labels.label[at].dead && !ret; i++) {
		cost = rte_cost_add(&spf->graph->policy, &spf_step(spf, at)->cost,
				    &port->edge[i].cost);
		ret = spf_extend(spf, at, port->net, port->edge[i].to, &cost, &next);
		if (!ret && next != RTE_NONE)
			ret = spf_queue(spf, next);
	}
	return ret;
}

/* All that goes on from a label. */
static int spf_follow(struct rte_spf *spf, uint32_t at)
{
	const struct rte_step *here = spf_step(spf, at);
	const struct rte_node *node = &spf->graph->node[here->node];
	const uint32_t last = here->net;
	uint32_t i;
	int ret = 0;

	spf->labels.label[at].followed = true;
	if (here->cost.hops == RTE_HOPS_MAX)
		return 0;
	for (i = 0; i < node->ports && !ret; i++) {
		if (node->on[i] == last || node->on[i] == spf->from)
			continue;
		if (spf->offer[node->on[i]].once)
			ret = spf_offer(spf, at, node->on[i]);
		else
			ret = spf_connect(spf, at, &node->port[i]);
	}
	return ret;
}

/* Most often a router has a label that costs less, and all metrics add up. */
static inline bool spf_reached(const struct rte_spf *spf, uint32_t node, uint64_t cost)
{
	const uint32_t at = spf->labels.first[node];

	return at != RTE_NONE && spf_step(spf, at)->cost.part[0] < cost;
}

/* To all routers on a subnet, from the best label on it. */
static int spf_cross(struct rte_spf *spf, uint32_t net_at)
{
	const struct rte_net *net = &spf->graph->net[net_at];
	const uint32_t at = spf->offer[net_at].label;
	const struct rte_cost cost =
		rte_cost_add(&spf->graph->policy, &spf_step(spf, at)->cost, &net->cost);
	uint32_t i, next;
	int ret = 0;

	for (i = 0; i < net->members && !ret; i++) {
		if (spf_reached(spf, net->member[i], cost.part[0]))
			continue;
		ret = spf_extend(spf, at, net_at, net->member[i], &cost, &next);
		if (!ret && next != RTE_NONE)
			ret = spf_follow(spf, next);
	}
	return ret;
}

static int spf_seed(struct rte_spf *spf, uint32_t node)
{
	const struct rte_port *port = rte_node_port(&spf->graph->node[node], spf->from);
	struct rte_step step = {.net = spf->from, .node = node, .parent = RTE_NONE};
	uint32_t at;
	int ret;

	if (!port || !rte_router_among(spf->ends.first, spf->ends.firsts, node))
		return 0;
	step.cost = port->cost;
	ret = spf_enter(spf, &step, &at);
	return ret || at == RTE_NONE ? ret : spf_queue(spf, at);
}

/* What waits in the heap may have been done, or be useless since. */
static int spf_take(struct rte_spf *spf, uint32_t at)
{
	struct rte_offer *offer;

	if (!(at & RTE_SPF_NET)) {
		if (spf->labels.label[at].dead || spf->labels.label[at].followed)
			return 0;
		return spf_follow(spf, at);
	}
	offer = &spf->offer[at & ~RTE_SPF_NET];
	if (offer->taken || spf->labels.label[offer->label].dead)
		return 0;
	offer->taken = true;
	return spf_cross(spf, at & ~RTE_SPF_NET);
}

static int spf_run(struct rte_spf *spf)
{
	uint32_t at;
	int ret;

	while ((at = rte_heap_take(&spf->heap)) != RTE_NONE) {
		ret = spf_take(spf, at);
		if (ret)
			return ret;
	}
	rte_labels_bury(&spf->labels);
	return 0;
}

/* Room for routers and subnets that came since; there are no offers. */
static int spf_fit(struct rte_spf *spf)
{
	const struct rte_graph *graph = spf->graph;
	struct rte_offer *offer;
	uint32_t i;
	bool *holed;
	int ret = rte_labels_fit(&spf->labels, graph->nodes);

	if (ret)
		return ret;
	holed = realloc(spf->holed, (graph->nets + 1) * sizeof(*holed));
	if (!holed)
		return -FI_ENOMEM;
	spf->holed = holed;
	offer = realloc(spf->offer, (graph->nets + 1) * sizeof(*offer));
	if (!offer)
		return -FI_ENOMEM;
	spf->offer = offer;
	for (; spf->nets < graph->nets; spf->nets++)
		holed[spf->nets] = false;
	for (i = 0; i < spf->nets; i++)
		offer[i] = (struct rte_offer){
			.label = RTE_NONE,
			.once = spf->sums && !graph->holed && graph->net[i].even,
		};
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
	const struct rte_graph *graph = spf->graph;
	uint32_t i;
	int ret = 0;

	spf->cut = false;
	rte_labels_clear(&spf->labels);
	spf->heap.count = 0;
	for (i = 0; spf->from < graph->nets && i < graph->net[spf->from].members && !ret;
	     i++)
		ret = spf_seed(spf, graph->net[spf->from].member[i]);
	return ret ? ret : spf_run(spf);
}

struct rte_spf *rte_spf_open(const struct rte_graph *graph, uint32_t from)
{
	return rte_spf_open_by(graph, &(struct rte_ends){0}, from);
}

struct rte_spf *rte_spf_open_by(const struct rte_graph *graph,
				const struct rte_ends *ends, uint32_t from)
{
	struct rte_spf *spf = calloc(1, sizeof(*spf));
	int ret;

	if (!spf)
		return NULL;
	spf->graph = graph;
	spf->from = from;
	spf->ends = *ends;
	spf->sums = rte_policy_sums(&graph->policy);
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
	rte_labels_free(&spf->labels);
	free(spf->holed);
	free(spf->offer);
	free(spf->heap.entry);
	free(spf);
}

/* What a router lost comes again from those beside it. */
static int spf_restore(struct rte_spf *spf, uint32_t node)
{
	const struct rte_node *here = &spf->graph->node[node];
	const struct rte_port *port;
	uint32_t i, k, at;
	int ret = spf_seed(spf, node);

	for (i = 0; i < here->ports; i++) {
		port = &here->port[i];
		for (k = 0; k < port->edges; k++)
			for (at = spf->labels.first[port->edge[k].to];
			     at != RTE_NONE && !ret; at = spf->labels.label[at].next)
				ret = spf_queue(spf, at);
	}
	return ret;
}

int rte_spf_changed(struct rte_spf *spf, uint32_t router)
{
	struct rte_labels *labels = &spf->labels;
	uint32_t i;
	int ret;

	/* It never became known. */
	if (router >= spf->graph->nodes)
		return 0;
	ret = spf_fit(spf);
	if (ret)
		return ret;
	/* Which labels are useless hangs on the holes; which were cut is forgotten. */
	if (spf_holes_moved(spf) || spf->cut)
		return spf_compute(spf);
	memset(labels->stale, 0, labels->nodes * sizeof(*labels->stale));
	while (labels->first[router] != RTE_NONE)
		rte_labels_remove(labels, labels->first[router]);
	labels->stale[router] = true;
	for (i = 0; i < labels->nodes && !ret; i++)
		if (labels->stale[i])
			ret = spf_restore(spf, i);
	if (!ret)
		ret = spf_run(spf);
	return !ret && spf->cut ? spf_compute(spf) : ret;
}

/* In place of *route, if that has no routers or is worse. One that crossed the subnet
 * already has ended there at less. */
static void spf_best_to(const struct rte_spf *spf, uint32_t to, struct rte_route *route)
{
	const struct rte_steps steps = rte_labels_steps(&spf->labels);
	const struct rte_graph *graph = spf->graph;
	const struct rte_net *net = &graph->net[to];
	struct rte_route found;
	struct rte_step last = {.net = to, .node = RTE_NONE};
	uint32_t i, at;

	for (i = 0; i < net->members; i++) {
		if (!rte_router_among(spf->ends.last, spf->ends.lasts, net->member[i]))
			continue;
		for (at = spf->labels.first[net->member[i]]; at != RTE_NONE;
		     at = spf->labels.label[at].next) {
			last.parent = at;
			last.cost = rte_cost_add(
				&graph->policy, &spf_step(spf, at)->cost,
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
