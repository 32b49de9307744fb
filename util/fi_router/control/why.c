/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a connection would go the way it would: all ways, what each subnet of them costs,
 * and what cannot be part of one now. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <cairn/wait.h>

#include "inside.h"
#include "route/route.h"

/* --- Ways --- */

/* What it costs to cross a subnet of the route, and how fast it is: the worse of both
 * routers' devices there. */
static json_t *step_json(const struct frt_node *node, const struct rte_route *route,
			 uint32_t at)
{
	const struct rte_graph *graph = frt_routes_graph(node);
	const struct rte_policy *policy = rte_graph_policy(graph);
	const struct rte_net_id id = rte_graph_net_id(graph, route->net[at]);
	const struct rte_link *link, *worst = NULL;
	struct rte_cost cost = {0}, one;
	uint32_t i;

	for (i = at ? at - 1 : 0; i <= at && i < route->routers; i++) {
		link = frt_routes_link(node, rte_graph_router_id(graph, route->router[i]),
				       id);
		if (!link)
			continue;
		one = rte_link_cost(policy, link);
		cost = worst ? rte_cost_worse(policy, &cost, &one) : one;
		if (!worst || link->rate < worst->rate)
			worst = link;
	}
	return json_pack("{s:o, s:o, s:o, s:I}", "subnet", frt_json_net(node, id), "cost",
			 frt_json_cost(policy, &cost), "rate",
			 frt_json_count(worst ? worst->rate : 0), "latency",
			 (json_int_t)(worst ? worst->latency : 0));
}

/* By the first metric that differs: its name, and by how much. */
static void set_behind(const struct frt_node *node, json_t *object,
		       const struct rte_route *route, const struct rte_route *best)
{
	const struct rte_policy *policy = rte_graph_policy(frt_routes_graph(node));
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		if (route->cost.part[i] != best->cost.part[i]) {
			json_object_set_new(object, "differs_in",
					    json_string(
						    rte_metric_name(policy->metric[i])));
			json_object_set_new(object, "by",
					    json_integer(
						    (json_int_t)(route->cost.part[i] -
								 best->cost.part[i])));
			return;
		}
	if (route->cost.hops != best->cost.hops) {
		json_object_set_new(object, "differs_in", json_string("hops"));
		json_object_set_new(object, "by",
				    json_integer((json_int_t)route->cost.hops -
						 best->cost.hops));
		return;
	}
	json_object_set_new(object, "differs_in", json_string("ids"));
	json_object_set_new(object, "by", json_integer(0));
}

static json_t *way_json(const struct frt_node *node, const struct frt_why *why,
			const struct rte_route *route)
{
	json_t *object = frt_json_route(node, route), *steps = json_array();
	uint32_t i;

	for (i = 0; i <= route->routers; i++)
		json_array_append_new(steps, step_json(node, route, i));
	json_object_set_new(object, "steps", steps);
	if (why->count &&
	    rte_route_compare(frt_routes_graph(node), route, &why->route[0]))
		set_behind(node, object, route, &why->route[0]);
	return object;
}

/* --- What is no part of any --- */

struct excluded {
	const struct frt_node *node;
	json_t *array;
};

static void exclude(const struct excluded *excluded, const struct rte_lsa *lsa,
		    const struct rte_link *link, const char *what)
{
	json_t *object =
		json_pack("{s:o, s:s}", "router", frt_json_id(lsa->router), "why", what);

	if (link)
		json_object_set_new(object, "subnet",
				    frt_json_net(excluded->node,
						 (struct rte_net_id){link->scope_as,
								     link->subnet}));
	json_array_append_new(excluded->array, object);
}

/* Does another router listen there that this one does not hear, or that does not hear it?
 */
static bool has_silence(const struct excluded *excluded, const struct rte_lsa *lsa,
			const struct rte_link *link, uint64_t *other)
{
	struct rte_lsdb *db = rte_sync_db(excluded->node->sync);
	const uint64_t now = crn_now_ms(), self = lsa->router;
	const uint32_t as = lsa->as;
	const struct rte_link *theirs;
	const struct rte_lsa *next;
	uint64_t router = self;

	/* Of two the one with the higher id is told of the lower. */
	while ((next = rte_lsdb_next(db, as, router, now)) && next->as == as) {
		router = next->router;
		theirs = rte_lsa_link(next, link->scope_as, link->subnet);
		if (!theirs || !theirs->up || (next->flags & RTE_LSA_WITHDRAW) ||
		    (rte_link_names(theirs, self) && rte_link_names(link, router)))
			continue;
		*other = router;
		return true;
	}
	return false;
}

static void exclude_link(const struct excluded *excluded, const struct frt_why *why,
			 const struct rte_lsa *lsa, const struct rte_link *link)
{
	const uint32_t mine = frt_config(excluded->node)->router.as;
	char text[96];
	uint64_t other;

	if (!link->up)
		exclude(excluded, lsa, link, "its device does not work");
	else if (link->caps & RTE_CAP_NOTRANSIT)
		exclude(excluded, lsa, link,
			"transit = no: it is the first or the last subnet of a route");
	else if (link->scope_as == mine && has_silence(excluded, lsa, link, &other)) {
		snprintf(text, sizeof(text),
			 "it and router %" PRIu64 " are not connected there", other);
		exclude(excluded, lsa, link, text);
	} else if (link->scope_as != mine && link->scope_as &&
		   link->scope_as != why->target.as) {
		snprintf(text, sizeof(text),
			 "the WAN is for traffic with AS %" PRIu32 " alone",
			 link->scope_as);
		exclude(excluded, lsa, link, text);
	}
}

/* What is known of routers may go away while others are looked at: by copies. */
static void exclude_router(const struct excluded *excluded, const struct frt_why *why,
			   const struct rte_lsa *known)
{
	struct rte_lsa *lsa = rte_lsa_copy(known);
	uint32_t i;

	if (!lsa)
		return;
	if (lsa->flags & RTE_LSA_WITHDRAW)
		exclude(excluded, lsa, NULL, "it has ended");
	else if (lsa->flags & RTE_LSA_DRAIN)
		exclude(excluded, lsa, NULL, "drain: it takes no new connections");
	else
		for (i = 0; i < lsa->links; i++)
			exclude_link(excluded, why, lsa, &lsa->link[i]);
	free(lsa);
}

static json_t *excluded_json(const struct frt_node *node, const struct frt_why *why)
{
	struct excluded excluded = {node, json_array()};
	const uint32_t as = frt_config(node)->router.as;
	struct rte_lsdb *db = rte_sync_db(node->sync);
	const struct rte_lsa *lsa;
	uint64_t router = 0;

	while ((lsa = rte_lsdb_next(db, as, router, crn_now_ms())) && lsa->as == as) {
		router = lsa->router;
		exclude_router(&excluded, why, lsa);
	}
	return excluded.array;
}

/* --- All of it --- */

static json_t *subnet_json(struct rte_subnet subnet)
{
	return json_sprintf("%" PRIu32 ":%" PRIu32, subnet.as, subnet.subnet);
}

json_t *frt_show_why(struct frt_node *node, const struct frt_request *request)
{
	struct frt_why *why = calloc(1, sizeof(*why));
	json_t *object, *ways = json_array();
	uint32_t i;

	if (!why) {
		json_decref(ways);
		return NULL;
	}
	frt_routes_why(node, request->has_from ? &request->from : NULL, request->to, why);
	for (i = 0; i < why->count; i++)
		json_array_append_new(ways, way_json(node, why, &why->route[i]));
	object = frt_json_self(node);
	json_object_set_new(object, "from", subnet_json(why->from));
	json_object_set_new(object, "to", subnet_json(why->target));
	json_object_set_new(object, "policy", frt_json_policy(node));
	json_object_set_new(object, "does", json_string(why->does));
	json_object_set_new(object, "status", json_integer(why->status));
	json_object_set_new(object, "why", json_string(why->text));
	json_object_set_new(object, "static", json_boolean(why->fixed));
	json_object_set_new(object, "chosen",
			    why->status ? json_null()
					: way_json(node, why, &why->chosen));
	json_object_set_new(object, "routes", ways);
	json_object_set_new(object, "excluded", excluded_json(node, why));
	free(why);
	return object;
}
