/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "brute.h"

#define ROUTES 20000
#define SUBNETS 9

struct trial {
	const struct world *w;
	const struct rte_graph *graph;
	struct brute_net to;
	/* The route so far. */
	const struct world_router *router[RTE_HOPS_MAX];
	struct brute_net net[RTE_HOPS_MAX + 1];
	uint64_t cost[RTE_HOPS_MAX + 1][RTE_POLICY_MAX];
	uint32_t routers;
	struct rte_route *route;
	uint32_t found;
};

uint32_t brute_draw(struct brute_random *random, uint32_t below)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random->state >> 33) % below);
}

static void random_link(struct brute_random *random, struct rte_link *link)
{
	static const uint64_t gbps[] = {1, 10, 10, 10, 32, 64, 100, 400};

	link->rate = gbps[brute_draw(random, 8)] * WORLD_GBPS;
	link->caps = brute_draw(random, 3) ? WORLD_NATIVE : RTE_CAP_ZEROCOPY;
	link->latency = brute_draw(random, 3) * 1000;
	link->cost = brute_draw(random, 8) ? 0 : 1 + brute_draw(random, 200000);
	link->up = brute_draw(random, 12) > 0;
	if (!brute_draw(random, 12))
		link->caps |= RTE_CAP_NOTRANSIT;
}

static void random_holes(struct brute_random *random, struct world *w)
{
	struct world_router *router;
	uint32_t i, at;

	world_meet(w);
	for (i = 0; i < w->routers; i++) {
		router = &w->router[i];
		for (at = 0; at < router->links; at++)
			if (router->link[at].neighbours && !brute_draw(random, 10))
				world_blind(w, router->id, router->neighbour[at][0],
					    router->link[at].subnet);
	}
}

void brute_world(struct brute_random *random, struct world *w)
{
	const uint32_t routers = 2 + brute_draw(random, 7);
	const uint32_t subnets = 3 + brute_draw(random, SUBNETS - 3);
	uint32_t i, subnet;

	memset(w, 0, sizeof(*w));
	for (i = 0; i < routers; i++) {
		world_router(w, 100 - i * 7);
		for (subnet = 1; subnet <= subnets; subnet++)
			if (w->router[i].links < 4 && !brute_draw(random, 3))
				random_link(random,
					    world_link(w, 100 - i * 7, subnet, 10));
		if (!brute_draw(random, 4))
			random_link(random, world_wan(w, 100 - i * 7, RTE_AS_WAN, 0, 10));
		if (!brute_draw(random, 6))
			random_link(random, world_wan(w, 100 - i * 7, 4, 40, 10));
		if (!brute_draw(random, 12))
			w->router[i].flags = RTE_LSA_DRAIN;
	}
	random_holes(random, w);
}

uint64_t brute_change(struct brute_random *random, struct world *w)
{
	struct world_router *router = &w->router[brute_draw(random, w->routers)];

	uint32_t at;

	router->seq++;
	if (!router->links || !brute_draw(random, 5)) {
		router->flags ^= RTE_LSA_DRAIN;
		return router->id;
	}
	at = brute_draw(random, router->links);
	if (brute_draw(random, 2))
		random_link(random, &router->link[at]);
	else if (router->link[at].neighbours)
		world_blind(w, router->id,
			    router->neighbour[at][brute_draw(
				    random, router->link[at].neighbours)],
			    router->link[at].subnet);
	else
		world_meet_one(w, router, at);
	return router->id;
}

const char *brute_policy(struct brute_random *random)
{
	static const char *const policies[] = {
		"bandwidth",
		"hops",
		"latency",
		"native",
		"widest",
		"widest,latency",
		"native,widest",
		"hops,bandwidth",
		"widest,native,latency",
		"latency,hops",
		"native,bandwidth",
		"bandwidth,hops,latency,native,widest",
	};

	return policies[brute_draw(random, sizeof(policies) / sizeof(policies[0]))];
}

static bool is_net(struct brute_net net, const struct rte_link *link)
{
	return net.scope_as == link->scope_as && net.subnet == link->subnet;
}

static const struct rte_link *link_on(const struct world_router *router,
				      struct brute_net net)
{
	uint32_t i;

	for (i = 0; i < router->links; i++)
		if (is_net(net, &router->link[i]) && router->link[i].up)
			return &router->link[i];
	return NULL;
}

static bool sees(const struct rte_link *link, uint64_t id)
{
	uint16_t i;

	for (i = 0; i < link->neighbours; i++)
		if (link->neighbour[i] == id)
			return true;
	return false;
}

static uint64_t value(const struct rte_policy *policy, uint32_t part,
		      const struct rte_link *link)
{
	const bool native =
		(link->caps & RTE_CAP_ZEROCOPY) && (link->caps & RTE_CAP_OSBYPASS);

	switch (policy->metric[part]) {
	case RTE_HOPS:
		return 1;
	case RTE_LATENCY:
		return link->latency ? link->latency : 100000;
	case RTE_NATIVE:
		return native ? 0 : 1;
	default:
		return link->cost ? link->cost
				  : 1000000000000000u / link->rate * (native ? 1 : 2);
	}
}

/* The subnet at a place of the route, from one device, or to another. */
static void put_net(struct trial *t, uint32_t at, const struct rte_link *a,
		    const struct rte_link *b)
{
	const struct rte_policy *policy = rte_graph_policy(t->graph);
	uint64_t x, y;
	uint32_t i;

	t->net[at] = (struct brute_net){a->scope_as, a->subnet};
	for (i = 0; i < policy->metrics; i++) {
		x = value(policy, i, a);
		y = b ? value(policy, i, b) : 0;
		t->cost[at][i] = x > y ? x : y;
	}
}

static void found(struct trial *t)
{
	const struct rte_policy *policy = rte_graph_policy(t->graph);
	struct rte_route *route;
	uint64_t *total;
	uint32_t i, at;

	CT_ASSERT_LT(t->found, ROUTES);
	route = &t->route[t->found++];
	*route = (struct rte_route){.routers = t->routers};
	route->cost.hops = t->routers + 1;
	for (at = 0; at <= t->routers; at++) {
		route->net[at] =
			rte_graph_net(t->graph, t->net[at].scope_as, t->net[at].subnet);
		if (at < t->routers)
			route->router[at] = rte_graph_router(t->graph, t->router[at]->id);
		for (i = 0; i < policy->metrics; i++) {
			total = &route->cost.part[i];
			if (policy->metric[i] != RTE_WIDEST)
				*total += t->cost[at][i];
			else if (t->cost[at][i] > *total)
				*total = t->cost[at][i];
		}
	}
}

static bool crossed(const struct trial *t, const struct rte_link *link)
{
	uint32_t i;

	for (i = 0; i < t->routers; i++)
		if (is_net(t->net[i], link))
			return true;
	return false;
}

static bool visited(const struct trial *t, const struct world_router *router)
{
	uint32_t i;

	for (i = 0; i < t->routers; i++)
		if (t->router[i] == router)
			return true;
	return false;
}

static bool passes(const struct rte_link *link)
{
	return link->scope_as == WORLD_AS && !(link->caps & RTE_CAP_NOTRANSIT);
}

/* On from the last router of the route. */
static void go_on(struct trial *t)
{
	const struct world_router *here = t->router[t->routers - 1], *next;
	const struct rte_link *link, *other;
	uint32_t i, k;

	for (i = 0; i < here->links; i++) {
		link = &here->link[i];
		if (!link->up || crossed(t, link))
			continue;
		if (is_net(t->to, link)) {
			put_net(t, t->routers, link, NULL);
			found(t);
			continue;
		}
		for (k = 0; k < t->w->routers && passes(link); k++) {
			next = &t->w->router[k];
			other = link_on(next,
					(struct brute_net){link->scope_as, link->subnet});
			if (visited(t, next) || next->flags || !other || !passes(other) ||
			    !sees(link, next->id) || !sees(other, here->id))
				continue;
			put_net(t, t->routers, link, other);
			t->router[t->routers++] = next;
			go_on(t);
			t->routers--;
		}
	}
}

static const struct rte_graph *ordered_by;

/* Cost, hops, then ids from the source on. */
static int order(const void *x, const void *y)
{
	const struct rte_route *a = x, *b = y;
	const struct rte_graph *graph = ordered_by;
	struct rte_net_id m, n;
	uint64_t r, s;
	uint32_t i;

	for (i = 0; i < rte_graph_policy(graph)->metrics; i++)
		if (a->cost.part[i] != b->cost.part[i])
			return a->cost.part[i] < b->cost.part[i] ? -1 : 1;
	if (a->routers != b->routers)
		return a->routers < b->routers ? -1 : 1;
	for (i = 0; i <= a->routers; i++) {
		m = rte_graph_net_id(graph, a->net[i]);
		n = rte_graph_net_id(graph, b->net[i]);
		if (m.scope_as != n.scope_as)
			return m.scope_as < n.scope_as ? -1 : 1;
		if (m.subnet != n.subnet)
			return m.subnet < n.subnet ? -1 : 1;
		if (i == a->routers)
			break;
		r = rte_graph_router_id(graph, a->router[i]);
		s = rte_graph_router_id(graph, b->router[i]);
		if (r != s)
			return r < s ? -1 : 1;
	}
	return 0;
}

/* All subnets of the one in the other, in their order, and more. */
static bool contains(const struct rte_route *route, const struct rte_route *other)
{
	uint32_t i, k = 0;

	for (i = 0; i <= route->routers; i++)
		if (k <= other->routers && route->net[i] == other->net[k])
			k++;
	return k > other->routers && route->routers > other->routers;
}

uint32_t brute_paths(const struct world *w, const struct rte_graph *graph, uint32_t from,
		     uint32_t to, struct rte_route *routes, uint32_t count)
{
	const struct rte_net_id a = rte_graph_net_id(graph, from),
				b = rte_graph_net_id(graph, to);
	static struct rte_route all[ROUTES];
	struct trial t = {
		.w = w, .graph = graph, .to = {b.scope_as, b.subnet}, .route = all};
	const struct rte_link *link;
	uint32_t i, k, kept = 0;

	if (from == to || (a.scope_as != WORLD_AS && b.scope_as != WORLD_AS))
		return 0;
	for (i = 0; i < w->routers; i++) {
		link = link_on(&w->router[i], (struct brute_net){a.scope_as, a.subnet});
		if (!link || w->router[i].flags)
			continue;
		put_net(&t, 0, link, NULL);
		t.router[0] = &w->router[i];
		t.routers = 1;
		go_on(&t);
	}
	ordered_by = graph;
	qsort(t.route, t.found, sizeof(*t.route), order);
	for (i = 0; i < t.found && kept < count; i++) {
		for (k = 0; k < kept && !contains(&t.route[i], &routes[k]); k++)
			;
		if (k == kept)
			routes[kept++] = t.route[i];
	}
	return kept;
}
