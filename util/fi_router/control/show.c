/* SPDX-License-Identifier: BSD-2-Clause */
/* What the router knows of the network: link states, neighbours, routes. */
#include <inttypes.h>
#include <string.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "inside.h"
#include "route/route.h"

/* Subnets whose routes are computed before the loop goes on. */
#define ROUTES_STEP 16u

/* --- Topology --- */

static json_t *caps_json(uint16_t caps)
{
	static const struct {
		enum rte_cap cap;
		const char *name;
	} names[] = {
		{RTE_CAP_ZEROCOPY, "zerocopy"},
		{RTE_CAP_OSBYPASS, "osbypass"},
		{RTE_CAP_RMA, "rma"},
		{RTE_CAP_NOTRANSIT, "notransit"},
	};
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < CRN_COUNT(names); i++)
		if (caps & names[i].cap)
			json_array_append_new(array, json_string(names[i].name));
	return array;
}

static json_t *link_json(const struct frt_node *node, const struct rte_link *link)
{
	const struct rte_net_id id = {link->scope_as, link->subnet};
	json_t *neighbours = json_array(), *object;
	uint32_t i;

	for (i = 0; i < link->neighbours; i++)
		json_array_append_new(neighbours, frt_json_id(link->neighbour[i]));
	object = json_pack("{s:o, s:b, s:o, s:I, s:I, s:I, s:o, s:s, s:o}", "subnet",
			   frt_json_net(node, id), "up", link->up, "rate",
			   frt_json_count(link->rate), "latency",
			   (json_int_t)link->latency, "cost", (json_int_t)link->cost,
			   "frag", (json_int_t)link->frag_max, "caps",
			   caps_json(link->caps), "uri", link->uri ? link->uri : "",
			   "neighbours", neighbours);
	if (link->scope_as != frt_config(node)->router.as && link->scope_as)
		json_object_set_new(object, "to_as",
				    json_integer((json_int_t)link->scope_as));
	return object;
}

static json_t *router_json(const struct frt_node *node, const struct rte_lsa *lsa)
{
	json_t *links = json_array();
	uint32_t i;

	for (i = 0; i < lsa->links; i++)
		json_array_append_new(links, link_json(node, &lsa->link[i]));
	return json_pack("{s:I, s:o, s:b, s:b, s:b, s:o, s:o, s:I, s:I, s:o}", "as",
			 (json_int_t)lsa->as, "router", frt_json_id(lsa->router), "drain",
			 (lsa->flags & RTE_LSA_DRAIN) != 0, "border",
			 (lsa->flags & RTE_LSA_BORDER) != 0, "withdrawn",
			 (lsa->flags & RTE_LSA_WITHDRAW) != 0, "epoch",
			 frt_json_id(lsa->epoch), "seq", frt_json_id(lsa->seq),
			 "expires_ms", (json_int_t)lsa->lifetime, "load",
			 (json_int_t)lsa->load, "links", links);
}

static json_t *draining_json(const struct frt_node *node)
{
	const struct frt_draining *draining = &node->draining;
	const uint64_t now = crn_now_ms();
	json_t *object =
		json_pack("{s:I, s:o, s:b}", "connections",
			  (json_int_t)frt_transits_passed(node), "age_ms",
			  frt_json_count(now - draining->since), "exit", draining->exit);

	if (draining->exit && draining->until)
		json_object_set_new(object, "ends_ms",
				    frt_json_count(draining->until > now
							   ? draining->until - now
							   : 0));
	return object;
}

json_t *frt_show_topology(const struct frt_node *node)
{
	const struct rte_lsa *lsa;
	json_t *object = frt_json_self(node), *routers = json_array();
	struct rte_lsdb *db = rte_sync_db(node->sync);
	const uint64_t now = crn_now_ms();
	uint64_t router = 0;
	uint32_t as = 0;

	while ((lsa = rte_lsdb_next(db, as, router, now))) {
		as = lsa->as;
		router = lsa->router;
		json_array_append_new(routers, router_json(node, lsa));
	}
	json_object_set_new(object, "routers", routers);
	if (node->out)
		json_object_set_new(object, "out", json_true());
	if (node->faults.count)
		json_object_set_new(object, "faults", json_integer(node->faults.count));
	if (node->drain)
		json_object_set_new(object, "draining", draining_json(node));
	return object;
}

json_t *frt_show_drain(const struct frt_node *node)
{
	json_t *object = frt_json_self(node);

	json_object_set_new(object, "drain", json_boolean(node->drain));
	if (node->drain)
		json_object_set_new(object, "draining", draining_json(node));
	return object;
}

/* --- Adjacencies --- */

struct list {
	const struct frt_node *node;
	json_t *array;
};

static void add_adjacency(const struct frt_adjacency_view *view, void *context)
{
	const struct list *list = context;
	const struct rte_peer *peer = view->peer;
	json_t *object =
		json_pack("{s:s, s:o, s:s, s:I, s:o, s:b, s:o, s:o, s:o, s:o, s:o}",
			  "device", view->device->config->name, "subnet",
			  frt_json_net(list->node, view->device->id), "peer", peer->text,
			  "as", (json_int_t)view->as, "router", frt_json_id(view->router),
			  "connected", view->began, "age_ms",
			  frt_json_count(crn_now_ms() - view->since), "trip_ns",
			  frt_json_count(view->trip), "queued_bytes",
			  frt_json_count(view->queued), "received",
			  frt_json_count(peer->stats_rx), "sent",
			  frt_json_count(peer->stats_tx));

	if (view->uri) {
		json_object_set_new(object, "uri", json_string(view->uri));
		json_object_set_new(object, "cost", frt_json_count(view->cost));
	}
	json_array_append_new(list->array, object);
}

json_t *frt_show_adjacencies(const struct frt_node *node)
{
	json_t *object = frt_json_self(node);
	struct list list = {node, json_array()};

	frt_adjacencies_each(node, add_adjacency, &list);
	json_object_set_new(object, "adjacencies", list.array);
	return object;
}

/* --- Routes --- */

static json_t *to_json(const struct frt_node *node, uint32_t net)
{
	const struct rte_net_id id = rte_graph_net_id(frt_routes_graph(node), net);
	const struct frt_device *device = frt_node_device(node, id.scope_as, id.subnet);
	struct rte_route routes[RTE_ALTERNATIVES];
	json_t *array = json_array(), *object;
	const int count = frt_routes_find(node, net, routes, RTE_ALTERNATIVES);
	int i;

	for (i = 0; i < count; i++)
		json_array_append_new(array, frt_json_route(node, &routes[i]));
	object = json_pack("{s:o, s:b, s:o}", "to", frt_json_net(node, id), "direct",
			   device && device->up, "routes", array);
	if (id.scope_as != frt_config(node)->router.as && id.scope_as)
		json_object_set_new(object, "to_as",
				    json_integer((json_int_t)id.scope_as));
	return object;
}

json_t *frt_show_routes(const struct frt_node *node)
{
	json_t *object = frt_json_self(node);

	json_object_set_new(object, "policy", frt_json_policy(node));
	json_object_set_new(object, "routes", json_array());
	return object;
}

bool frt_show_routes_more(const struct frt_node *node, json_t *document, uint32_t *next)
{
	const uint32_t nets = rte_graph_nets(frt_routes_graph(node));
	json_t *routes = json_object_get(document, "routes");
	uint32_t i;

	for (i = 0; i < ROUTES_STEP && *next < nets; i++)
		json_array_append_new(routes, to_json(node, (*next)++));
	return *next < nets;
}

/* --- Probes --- */

static json_t *path_json(const struct frt_probed *probed)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < probed->hops; i++)
		json_array_append_new(array,
				      json_pack("{s:o, s:o}", "router",
						frt_json_id(probed->path[i].router),
						"subnet",
						json_sprintf("%" PRIu32 ":%" PRIu32,
							     probed->path[i].scope_as,
							     probed->path[i].subnet)));
	return array;
}

json_t *frt_show_probed(const struct frt_node *node, const struct frt_probed *probed)
{
	json_t *object =
		json_pack("{s:b, s:I, s:s, s:o, s:o, s:o}", "reached", !probed->status,
			  "status", (json_int_t)probed->status, "why", probed->why,
			  "answered_by", frt_json_id(probed->router), "ns",
			  frt_json_count(probed->ns), "path", path_json(probed));

	json_object_set_new(object, "from", frt_json_self(node));
	if (probed->has_probe)
		json_object_set_new(object, "at",
				    json_pack("{s:I, s:I, s:o}", "queued",
					      (json_int_t)probed->probe.queued,
					      "connections",
					      (json_int_t)probed->probe.connections,
					      "arena_bytes",
					      frt_json_count(probed->probe.arena)));
	return object;
}
