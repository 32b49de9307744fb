/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways of what this router asks for itself, and those that it tells people of. */
#include <inttypes.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "inside.h"

const struct rte_graph *frt_routes_graph(const struct frt_node *node)
{
	return node->routes->graph;
}

/* --- Routes --- */

/* Whoever is best: the first routers of routes that begin elsewhere are others. */
static void insert(const struct rte_graph *graph, struct rte_route *routes,
		   uint32_t count, uint32_t *have, const struct rte_route *route)
{
	uint32_t at = *have;

	while (at && rte_route_compare(graph, route, &routes[at - 1]) < 0)
		at--;
	if (at == count)
		return;
	if (*have < count)
		++*have;
	memmove(&routes[at + 1], &routes[at], (*have - 1 - at) * sizeof(*routes));
	routes[at] = *route;
}

static uint64_t router_id(const struct frt_node *node, const struct rte_route *route,
			  uint32_t at)
{
	return rte_graph_router_id(node->routes->graph, route->router[at]);
}

/* One that crosses another subnet of this router contains a better one, which begins
 * there (section VI.A.3), if that subnet works for this one; one that begins with this
 * router does as well. */
static bool comes_back(const struct frt_node *node, const struct rte_route *route)
{
	const struct frt_device *device;
	struct rte_net_id id;
	uint32_t i;

	for (i = 1; i <= route->routers; i++) {
		id = rte_graph_net_id(node->routes->graph, route->net[i]);
		device = frt_node_device(node, id.scope_as, id.subnet);
		if (device && device->up &&
		    (i == route->routers ||
		     frt_route_meets(node, device, router_id(node, route, i))))
			return true;
	}
	return false;
}

/* From one of this router's subnets. */
static int find_from(const struct frt_node *node, uint32_t from, uint32_t to,
		     struct rte_route some[RTE_ALTERNATIVES])
{
	struct frt_near near;
	int ret = frt_near_open(&near, node, from);

	if (!ret)
		ret = rte_paths_by(node->routes->graph, &near.ends, from, &to, 1, some,
				   RTE_ALTERNATIVES);
	frt_near_close(&near);
	return ret;
}

int frt_routes_find(const struct frt_node *node, uint32_t to, struct rte_route *routes,
		    uint32_t count)
{
	const struct rte_graph *graph = node->routes->graph;
	struct rte_route some[RTE_ALTERNATIVES];
	uint32_t have = 0, from, i;
	int ret, k;

	for (i = 0; i < node->devices; i++) {
		if (!node->device[i]->up)
			continue;
		from = rte_graph_net(graph, node->device[i]->id.scope_as,
				     node->device[i]->id.subnet);
		if (from == RTE_NONE)
			continue;
		ret = find_from(node, from, to, some);
		if (ret < 0)
			return ret;
		for (k = 0; k < ret; k++)
			if (!comes_back(node, &some[k]))
				insert(graph, routes, count, &have, &some[k]);
	}
	return (int)have;
}

/* --- Probes --- */

static void set_source(const struct frt_device *device, struct frt_answer *answer)
{
	answer->source = (struct rte_end){
		.as = device->config->at.as,
		.subnet = device->config->at.subnet,
		.transport = (uint8_t)device->config->transport,
	};
	if (device->uri.kind == RTE_HOST_IN)
		answer->source.host = (uint32_t)device->uri.addr[0] << 24 |
				      (uint32_t)device->uri.addr[1] << 16 |
				      (uint32_t)device->uri.addr[2] << 8 |
				      device->uri.addr[3];
}

static int to_first(struct frt_node *node, const struct frt_question *question,
		    struct frt_device *device, struct frt_answer *answer)
{
	const uint64_t router = answer->path[0].router;
	const struct rte_link *link;

	if (router == frt_config(node)->router.id)
		return frt_go_on(node, question, 0, answer);
	answer->device = device;
	link = frt_routes_link(node, router, device->id);
	if (!link)
		return frt_refuse(answer, FI_EHOSTUNREACH,
				  "router %" PRIu64 " is next, and is not there now",
				  router);
	return frt_forward_to(question, frt_config(node)->router.as, router, link->uri,
			      answer);
}

void frt_route_own(struct frt_node *node, const struct rte_conn_req *req,
		   struct frt_answer *answer)
{
	const struct rte_subnet target = {req->target.as, req->target.subnet};
	const struct rte_options none = {0};
	struct frt_question question = {.req = req, .options = &none};
	struct frt_device *device =
		frt_node_device(node, req->target.as, req->target.subnet);

	memset(answer, 0, sizeof(*answer));
	if (device && device->up) {
		set_source(device, answer);
		answer->what = FRT_DELIVER;
		return;
	}
	device = frt_way_own(node, target, answer);
	if (!device)
		return;
	set_source(device, answer);
	question.in = device;
	to_first(node, &question, device, answer);
}
