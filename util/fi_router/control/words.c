/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <inttypes.h>

#include "inside.h"
#include "route/route.h"

json_t *frt_json_id(uint64_t id)
{
	return id > INT64_MAX ? json_sprintf("%" PRIu64, id)
			      : json_integer((json_int_t)id);
}

json_t *frt_json_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *frt_json_net(const struct frt_node *node, struct rte_net_id id)
{
	const uint32_t as = frt_config(node)->router.as;

	return json_sprintf("%" PRIu32 ":%" PRIu32,
			    id.scope_as == as ? as : (uint32_t)RTE_AS_WAN, id.subnet);
}

json_t *frt_json_end(const struct rte_end *end)
{
	const struct in_addr host = {.s_addr = htonl(end->host)};
	char text[INET_ADDRSTRLEN];

	return json_sprintf("%" PRIu32 ":%" PRIu32 ":%s:%u", end->as, end->subnet,
			    inet_ntop(AF_INET, &host, text, sizeof(text)), end->port);
}

json_t *frt_json_self(const struct frt_node *node)
{
	const struct rte_config_router *router = &frt_config(node)->router;

	return json_pack("{s:I, s:o, s:s}", "as", (json_int_t)router->as, "router",
			 frt_json_id(router->id), "name", router->name);
}

/* --- Routes --- */

json_t *frt_json_cost(const struct rte_policy *policy, const struct rte_cost *cost)
{
	json_t *object = json_object();
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		json_object_set_new(object, rte_metric_name(policy->metric[i]),
				    frt_json_count(cost->part[i]));
	json_object_set_new(object, "hops", json_integer(cost->hops));
	return object;
}

json_t *frt_json_route(const struct frt_node *node, const struct rte_route *route)
{
	const struct rte_graph *graph = frt_routes_graph(node);
	json_t *subnets = json_array(), *routers = json_array();
	uint32_t i;

	for (i = 0; i <= route->routers; i++)
		json_array_append_new(
			subnets,
			frt_json_net(node, rte_graph_net_id(graph, route->net[i])));
	for (i = 0; i < route->routers; i++)
		json_array_append_new(routers,
				      frt_json_id(rte_graph_router_id(graph,
								      route->router[i])));
	return json_pack("{s:o, s:o, s:o}", "subnets", subnets, "routers", routers,
			 "cost", frt_json_cost(rte_graph_policy(graph), &route->cost));
}

json_t *frt_json_policy(const struct frt_node *node)
{
	const struct rte_policy *policy = &frt_config(node)->router.policy;
	json_t *names = json_array();
	uint32_t i;

	for (i = 0; i < policy->metrics; i++)
		json_array_append_new(names,
				      json_string(rte_metric_name(policy->metric[i])));
	return names;
}
