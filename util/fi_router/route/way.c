/* SPDX-License-Identifier: BSD-2-Clause */
/* What the first router of an AS computes: the way through it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"

static uint32_t random32(struct frt_routes *routes)
{
	/* xorshift64*. */
	routes->random ^= routes->random >> 12;
	routes->random ^= routes->random << 25;
	routes->random ^= routes->random >> 27;
	return (uint32_t)(routes->random * 0x2545f4914f6cdd1dull >> 32);
}

/* --- Where to --- */

static void search_to(struct frt_search *search)
{
	const uint32_t mine = frt_config(search->node)->router.as;
	const uint32_t nets = rte_graph_nets(search->graph);
	uint32_t at;

	if (search->target.as == mine) {
		at = rte_graph_net(search->graph, mine, search->target.subnet);
		if (at != RTE_NONE)
			search->to[search->to_count++] = at;
		return;
	}
	/* WANs by which that AS is reached, as their borders say (self.c). */
	for (at = 0; at < nets && search->to_count < FRT_NETS_MAX; at++)
		if (rte_graph_net_id(search->graph, at).scope_as == search->target.as)
			search->to[search->to_count++] = at;
}

/* --- Static routes --- */

/* Ids of WANs are the same for everybody. */
static bool static_is(const struct frt_search *search, uint32_t net,
		      struct rte_subnet subnet)
{
	const struct rte_net_id id = rte_graph_net_id(search->graph, net);
	const uint32_t mine = frt_config(search->node)->router.as;

	return id.subnet == subnet.subnet &&
	       (id.scope_as == mine) == (subnet.as != RTE_AS_WAN);
}

/* It begins and ends where the search does, and its subnets are there. */
static bool static_fits(const struct frt_search *search,
			const struct rte_config_static *fixed,
			uint32_t nets[RTE_HOPS_MAX + 1])
{
	const uint32_t last = fixed->subnets - 1;
	uint32_t i;

	if (!static_is(search, search->from, fixed->subnet[0]))
		return false;
	nets[0] = search->from;
	for (i = 1; i < last; i++) {
		nets[i] = rte_graph_net(search->graph, fixed->subnet[i].as,
					fixed->subnet[i].subnet);
		if (nets[i] == RTE_NONE)
			return false;
	}
	for (i = 0; i < search->to_count; i++)
		if (static_is(search, search->to[i], fixed->subnet[last])) {
			nets[last] = search->to[i];
			return true;
		}
	return false;
}

/* The best of this router's own file with such a beginning: 1, 0, -FI_ENOMEM. */
static int static_best(const struct frt_search *search, const struct rte_ends *ends,
		       struct rte_route *route)
{
	const struct rte_config_router *router = &frt_config(search->node)->router;
	uint32_t nets[RTE_HOPS_MAX + 1], i;
	struct rte_route one;
	int ret, found = 0;

	for (i = 0; i < router->routes; i++) {
		if (!static_fits(search, &router->route[i], nets))
			continue;
		ret = rte_paths_along(search->graph, ends, nets, router->route[i].subnets,
				      &one);
		if (ret < 0)
			return ret;
		if (ret && (!found || rte_route_compare(search->graph, &one, route) < 0))
			*route = one;
		found |= ret;
	}
	return found;
}

/* As rte_redirect chooses, of static routes. -FI_ENOENT: there are none now. */
static int static_choose(const struct frt_search *search, const struct rte_ends *near,
			 struct rte_route *route)
{
	const struct rte_ends mine = {.first = &search->me, .firsts = 1};
	struct rte_route best;
	int any, ret;

	any = static_best(search, search->client ? near : &mine, &best);
	if (any <= 0)
		return any ? any : -FI_ENOENT;
	ret = search->client ? static_best(search, &mine, route) : 1;
	if (ret < 0)
		return ret;
	if (!search->client)
		*route = best;
	if (ret && rte_cost_compare(rte_graph_policy(search->graph), &route->cost,
				    &best.cost) <= 0)
		return RTE_CHOICE_SERVE;
	*route = best;
	return RTE_CHOICE_REDIRECT;
}

/* --- The choice --- */

/* Of the routes that begin with this router, the best. */
static int own_best(const struct frt_search *search, struct rte_route *route)
{
	const struct rte_ends mine = {.first = &search->me, .firsts = 1};
	int ret = rte_paths_by(search->graph, &mine, search->from, search->to,
			       search->to_count, route, 1);

	return ret <= 0 ? (ret ? ret : -FI_ENOENT) : RTE_CHOICE_SERVE;
}

static int choose(const struct frt_search *search, const struct rte_ends *near,
		  struct rte_route *route, bool *fixed)
{
	int ret = -FI_ENOENT;

	if (search->me != RTE_NONE || search->client)
		ret = static_choose(search, near, route);
	*fixed = ret >= 0;
	if (ret != -FI_ENOENT)
		return ret;
	if (search->client)
		return rte_redirect(search->graph, search->me, near, search->from,
				    search->to, search->to_count,
				    random32(search->node->routes), route);
	return search->me == RTE_NONE ? -FI_ENOENT : own_best(search, route);
}

int frt_choose(const struct frt_search *search, struct rte_route *route, bool *fixed)
{
	struct frt_near near;
	int ret = frt_near_open(&near, search->node, search->from);

	*fixed = false;
	if (!ret)
		ret = choose(search, &near.ends, route, fixed);
	frt_near_close(&near);
	return ret;
}

int frt_no_way(const struct frt_search *search, struct frt_answer *answer, int err)
{
	const struct rte_subnet *to = &search->target;

	if (err != -FI_ENOENT)
		return frt_refuse(answer, FI_ENOMEM, "no memory for a route");
	if (search->to_count && search->node->drain)
		return frt_refuse(answer, FI_EHOSTUNREACH,
				  "this router drains, and no others lead to %" PRIu32
				  ":%" PRIu32,
				  to->as, to->subnet);
	if (search->to_count)
		return frt_refuse(answer, FI_EHOSTUNREACH,
				  "no routers lead to %" PRIu32 ":%" PRIu32 " now",
				  to->as, to->subnet);
	if (to->as != frt_config(search->node)->router.as)
		return frt_refuse(answer, FI_ENETUNREACH, "no WAN leads to AS %" PRIu32,
				  to->as);
	return frt_refuse(answer, FI_ENETUNREACH, "no router is on %" PRIu32 ":%" PRIu32,
			  to->as, to->subnet);
}

/* The client is told of the first router, by its address on the client's subnet. */
static int send_away(const struct frt_search *search, const struct frt_device *in,
		     const struct rte_route *route, struct frt_answer *answer)
{
	const uint64_t router = rte_graph_router_id(search->graph, route->router[0]);
	const struct rte_link *link = frt_routes_link(search->node, router, in->id);

	if (!link || !*link->uri)
		return frt_refuse(answer, FI_EHOSTUNREACH,
				  "router %" PRIu64
				  " leads there, and its address is unknown",
				  router);
	answer->what = FRT_REDIRECT;
	answer->as = frt_config(search->node)->router.as;
	answer->router = router;
	snprintf(answer->uri, sizeof(answer->uri), "%s", link->uri);
	return 1;
}

/* On a path a WAN is of AS 0. */
static struct rte_hop hop_of(const struct frt_search *search,
			     const struct rte_route *route, uint32_t at)
{
	const uint32_t mine = frt_config(search->node)->router.as;
	const struct rte_net_id id = rte_graph_net_id(search->graph, route->net[at + 1]);

	return (struct rte_hop){
		.router = rte_graph_router_id(search->graph, route->router[at]),
		.scope_as = id.scope_as == mine ? mine : RTE_AS_WAN,
		.subnet = id.subnet,
	};
}

/* --- Ways that were computed before --- */

static struct frt_way *way_place(struct frt_routes *routes, const struct frt_way_key *key)
{
	uint64_t hash = key->from * 2u + key->client;

	hash = (hash << 32 ^ key->to.as) * 0x9e3779b97f4a7c15ull;
	hash = (hash ^ key->to.subnet) * 0x9e3779b97f4a7c15ull;
	return &routes->way[hash >> 32 & (FRT_WAYS - 1)];
}

static bool way_is(const struct frt_routes *routes, const struct frt_way *way,
		   const struct frt_way_key *key)
{
	return way->generation == routes->generation && way->key.from == key->from &&
	       way->key.client == key->client && way->key.to.as == key->to.as &&
	       way->key.to.subnet == key->to.subnet;
}

static int compute(struct frt_search *search, const struct frt_device *in,
		   struct frt_way *way, struct frt_answer *answer)
{
	struct rte_route route;
	uint32_t i;
	bool fixed;
	int ret;

	search_to(search);
	ret = search->to_count && search->from != RTE_NONE
		      ? frt_choose(search, &route, &fixed)
		      : -FI_ENOENT;
	if (ret < 0)
		return frt_no_way(search, answer, ret);
	if (ret == RTE_CHOICE_REDIRECT)
		return send_away(search, in, &route, answer);
	if (route.routers > RTE_TTL_MAX)
		return frt_refuse(answer, FI_EHOSTUNREACH,
				  "the way there has %" PRIu32 " routers, more than %u",
				  route.routers, RTE_TTL_MAX);
	way->hops = route.routers;
	for (i = 0; i < route.routers; i++)
		way->hop[i] = hop_of(search, &route, i);
	return 0;
}

static struct frt_search search_of(struct frt_node *node,
				   const struct frt_question *question)
{
	const struct rte_config_router *self = &frt_config(node)->router;
	const struct rte_graph *graph = node->routes->graph;
	const struct rte_net_id from = question->in->id;

	return (struct frt_search){
		.node = node,
		.graph = node->routes->graph,
		/* One that drains is in no route once it has said so. */
		.me = rte_graph_router(graph, self->id),
		.from = rte_graph_net(graph, from.scope_as, from.subnet),
		.target = {.as = question->req->target.as,
			   .subnet = question->req->target.subnet},
		.client = question->client,
	};
}

static int remembered(struct frt_node *node, const struct frt_question *question,
		      struct frt_way **way, struct frt_answer *answer)
{
	struct frt_search search = search_of(node, question);
	const struct frt_way_key key = {.from = search.from,
					.client = search.client,
					.to = search.target};
	int ret;

	*way = way_place(node->routes, &key);
	if (way_is(node->routes, *way, &key))
		return 0;
	(*way)->generation = 0;
	ret = compute(&search, question->in, *way, answer);
	if (ret)
		return ret;
	(*way)->key = key;
	(*way)->generation = node->routes->generation;
	return 0;
}

/*
 * A border that drains, asked by another AS, which has not heard of it yet or does not
 * understand it: as if this router did not drain. The graph is put back, and its numbers
 * may be others then, so that nothing is remembered.
 */
static int once(struct frt_node *node, const struct frt_question *question,
		struct frt_way *way, struct frt_answer *answer)
{
	const struct rte_config_router *self = &frt_config(node)->router;
	const struct rte_lsa *own =
		rte_lsdb_get(node->routes->db, self->as, self->id, crn_now_ms());
	struct frt_search search;
	struct rte_lsa open;
	int ret;

	if (!own)
		return frt_refuse(answer, FI_EHOSTUNREACH, "this router drains");
	open = *own;
	open.flags &= (uint16_t)~RTE_LSA_DRAIN;
	rte_graph_put(node->routes->graph, &open);
	search = search_of(node, question);
	ret = compute(&search, question->in, way, answer);
	rte_graph_put(node->routes->graph, own);
	frt_routes_forget(node);
	return ret;
}

int frt_way(struct frt_node *node, const struct frt_question *question,
	    struct frt_answer *answer)
{
	struct frt_way own, *way = &own;
	int ret;

	if (node->drain && !question->client)
		ret = once(node, question, way, answer);
	else
		ret = remembered(node, question, &way, answer);
	if (ret)
		return ret;
	if (answer->hops + way->hops > RTE_TTL_MAX)
		return frt_refuse(answer, ELOOP, "the way there has more than %u routers",
				  RTE_TTL_MAX);
	memcpy(&answer->path[answer->hops], way->hop, way->hops * sizeof(*way->hop));
	answer->hops += way->hops;
	return 0;
}

/* --- What this router asks for itself --- */

static bool may_begin_on(const struct frt_node *node, const struct frt_device *device)
{
	return device->up && device->id.scope_as == frt_config(node)->router.as;
}

void frt_search_begin(struct frt_search *search, struct frt_node *node, uint32_t from,
		      struct rte_subnet target)
{
	*search = (struct frt_search){
		.node = node,
		.graph = node->routes->graph,
		.me = rte_graph_router(node->routes->graph, frt_config(node)->router.id),
		.from = from,
		.target = target,
		.client = true,
	};
	search_to(search);
}

/* As for a client on the subnet, but for what makes it ask another router. */
static int way_from(struct frt_node *node, const struct frt_device *device,
		    struct frt_search *search, struct rte_route *route)
{
	const struct rte_net_id from = device->id;
	bool fixed;

	frt_search_begin(search, node,
			 rte_graph_net(node->routes->graph, from.scope_as, from.subnet),
			 search->target);
	return search->to_count && search->from != RTE_NONE
		       ? frt_choose(search, route, &fixed)
		       : -FI_ENOENT;
}

struct frt_device *frt_way_own(struct frt_node *node, struct rte_subnet target,
			       struct frt_answer *answer)
{
	struct frt_device *device = NULL;
	struct frt_search search = {.node = node, .target = target};
	struct rte_route best, route;
	int ret, err = -FI_ENOENT;
	uint32_t i;

	for (i = 0; i < node->devices; i++) {
		if (!may_begin_on(node, node->device[i]))
			continue;
		search = (struct frt_search){.target = target};
		ret = way_from(node, node->device[i], &search, &route);
		if (ret < 0 && ret != -FI_ENOENT)
			err = ret;
		if (ret < 0 || route.routers > RTE_TTL_MAX ||
		    (device && rte_route_compare(search.graph, &route, &best) >= 0))
			continue;
		best = route;
		device = node->device[i];
	}
	if (!device) {
		frt_no_way(&search, answer, err);
		return NULL;
	}
	answer->hops = best.routers;
	for (i = 0; i < best.routers; i++)
		answer->path[i] = hop_of(&search, &best, i);
	return device;
}
