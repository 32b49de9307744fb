/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph and the borders, as they are known now. */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"

int frt_routes_open(struct frt_node *node, struct rte_lsdb *db)
{
	const struct rte_config_router *router = &frt_config(node)->router;
	struct frt_routes *routes = calloc(1, sizeof(*routes));

	if (!routes)
		return -FI_ENOMEM;
	routes->graph = rte_graph_open(router->as, &router->policy);
	if (!routes->graph) {
		free(routes);
		return -FI_ENOMEM;
	}
	routes->db = db;
	routes->generation = 1;
	routes->random = (node->epoch ^ router->id << 32) | 1;
	crn_list_init(&routes->borders);
	node->routes = routes;
	return 0;
}

void frt_routes_close(struct frt_node *node)
{
	if (!node->routes)
		return;
	rte_graph_close(node->routes->graph);
	free(node->routes);
	node->routes = NULL;
}

void frt_routes_forget(struct frt_node *node)
{
	node->routes->generation++;
}

void frt_routes_put(struct frt_node *node, const struct rte_lsa *lsa)
{
	/* Without memory the router is unknown: nothing goes over it. */
	rte_graph_put(node->routes->graph, lsa);
	frt_routes_forget(node);
}

void frt_routes_del(struct frt_node *node, uint32_t as, uint64_t router)
{
	if (as != frt_config(node)->router.as)
		return;
	rte_graph_del(node->routes->graph, router);
	frt_routes_forget(node);
}

int frt_routes_policy(struct frt_node *node)
{
	const struct rte_config_router *router = &frt_config(node)->router;
	struct frt_routes *routes = node->routes;
	struct rte_graph *graph = rte_graph_open(router->as, &router->policy);
	const struct rte_lsa *lsa;
	uint32_t as = 0;
	uint64_t id = 0;

	if (!graph)
		return -FI_ENOMEM;
	while ((lsa = rte_lsdb_next(routes->db, as, id, crn_now_ms()))) {
		as = lsa->as;
		id = lsa->router;
		rte_graph_put(graph, lsa);
	}
	rte_graph_close(routes->graph);
	routes->graph = graph;
	frt_routes_forget(node);
	return 0;
}

/* --- Borders --- */

void frt_border_add(struct frt_node *node, struct frt_border *border)
{
	crn_list_add_tail(&node->routes->borders, &border->entry);
	frt_routes_forget(node);
}

void frt_border_del(struct frt_node *node, struct frt_border *border)
{
	crn_list_del(&border->entry);
	frt_routes_forget(node);
}

bool frt_border_any(const struct frt_node *node, const struct frt_device *device,
		    uint32_t as)
{
	const struct frt_border *border;
	const struct crn_list *entry;

	crn_list_for_each (entry, &node->routes->borders) {
		border = crn_container_of(entry, const struct frt_border, entry);
		if (border->device == device && border->cost != FRT_REACH_DRAIN &&
		    (!as || border->as == as))
			return true;
	}
	return false;
}

uint32_t frt_border_next(const struct frt_node *node, const struct frt_device *device,
			 uint32_t as)
{
	const struct frt_border *border;
	const struct crn_list *entry;
	uint32_t next = 0;

	crn_list_for_each (entry, &node->routes->borders) {
		border = crn_container_of(entry, const struct frt_border, entry);
		if (border->device == device && border->cost != FRT_REACH_DRAIN &&
		    border->as > as && (!next || border->as < next))
			next = border->as;
	}
	return next;
}

static bool border_before(const struct frt_border *a, const struct frt_border *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->router < b->router;
}

const struct frt_border *frt_border_best(const struct frt_node *node,
					 const struct frt_device *device, uint32_t as)
{
	const struct frt_border *border, *best = NULL;
	const struct crn_list *entry;

	crn_list_for_each (entry, &node->routes->borders) {
		border = crn_container_of(entry, const struct frt_border, entry);
		if (border->device == device && border->as == as && *border->uri &&
		    (!best || border_before(border, best)))
			best = border;
	}
	return best;
}

/* --- Addresses --- */

const struct rte_link *frt_routes_link(const struct frt_node *node, uint64_t router,
				       struct rte_net_id id)
{
	const struct rte_lsa *lsa =
		rte_lsdb_get(node->routes->db, frt_config(node)->router.as, router,
			     crn_now_ms());
	const struct rte_link *link;

	if (!lsa || (lsa->flags & RTE_LSA_WITHDRAW))
		return NULL;
	link = rte_lsa_link(lsa, id.scope_as, id.subnet);
	return link && link->up ? link : NULL;
}

bool frt_route_meets(const struct frt_node *node, const struct frt_device *device,
		     uint64_t router)
{
	const uint64_t self = frt_config(node)->router.id;
	const struct rte_link *link = frt_routes_link(node, self, device->id);
	uint32_t i;

	for (i = 0; link && i < link->neighbours; i++)
		if (link->neighbour[i] == router)
			return true;
	return router == self;
}

struct frt_device *frt_route_device(const struct frt_node *node,
				    const struct rte_hop *hop)
{
	uint32_t i;

	for (i = 0; i < node->devices; i++)
		if (node->device[i]->config->at.as == hop->scope_as &&
		    node->device[i]->config->at.subnet == hop->subnet)
			return node->device[i];
	return NULL;
}

static int address_in6(const struct rte_uri *uri, union crn_addr *addr)
{
	const char *zone = strchr(uri->host, '%');

	addr->in6.sin6_family = AF_INET6;
	addr->in6.sin6_port = htons(uri->port);
	memcpy(&addr->in6.sin6_addr, uri->addr, sizeof(addr->in6.sin6_addr));
	if (!zone)
		return 0;
	addr->in6.sin6_scope_id = if_nametoindex(zone + 1);
	return addr->in6.sin6_scope_id ? 0 : -FI_ENODATA;
}

int frt_route_address(const struct frt_device *device, const char *text,
		      union crn_addr *addr)
{
	struct rte_uri uri;
	const char *why;

	memset(addr, 0, sizeof(*addr));
	if (rte_uri_parse(text, &uri, &why))
		return -FI_ENODATA;
	switch (uri.kind) {
	case RTE_HOST_IN:
		addr->in.sin_family = AF_INET;
		addr->in.sin_port = htons(uri.port);
		memcpy(&addr->in.sin_addr, uri.addr, sizeof(addr->in.sin_addr));
		return 0;
	case RTE_HOST_IN6:
		return address_in6(&uri, addr);
	default:
		return -FI_ENODATA;
	}
}
