/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "graph.h"

#define RTE_GRAPH_LEAST 8u

/* Room for one more in an array. */
static int graph_room(void *array, uint32_t count, uint32_t *size, size_t each)
{
	const uint32_t more = *size ? *size * 2 : RTE_GRAPH_LEAST;
	void *old, *grown;

	if (count < *size)
		return 0;
	memcpy(&old, array, sizeof(old));
	grown = realloc(old, more * each);
	if (!grown)
		return -FI_ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*size = more;
	return 0;
}

struct rte_graph *rte_graph_open(uint32_t as, const struct rte_policy *policy)
{
	struct rte_graph *graph = calloc(1, sizeof(*graph));

	if (graph) {
		graph->as = as;
		graph->policy = *policy;
	}
	return graph;
}

void rte_graph_close(struct rte_graph *graph)
{
	uint32_t i, k;

	for (i = 0; i < graph->nodes; i++) {
		for (k = 0; k < graph->node[i].ports; k++)
			free(graph->node[i].port[k].edge);
		free(graph->node[i].port);
		free(graph->node[i].on);
		free(graph->node[i].lsa);
	}
	for (i = 0; i < graph->nets; i++)
		free(graph->net[i].member);
	free(graph->node);
	free(graph->net);
	rte_map_free(&graph->node_of);
	rte_map_free(&graph->net_of);
	free(graph);
}

/* Its index, and that of a new one if there is none yet; RTE_NONE: no memory. */
static uint32_t graph_node(struct rte_graph *graph, uint64_t id)
{
	uint32_t at = rte_map_get(&graph->node_of, 0, id);

	if (at != RTE_NONE)
		return at;
	if (graph_room(&graph->node, graph->nodes, &graph->nodes_size,
		       sizeof(*graph->node)) ||
	    rte_map_add(&graph->node_of, 0, id, graph->nodes))
		return RTE_NONE;
	at = graph->nodes++;
	graph->node[at] = (struct rte_node){.id = id};
	return at;
}

static uint32_t graph_net(struct rte_graph *graph, const struct rte_link *link)
{
	uint32_t at = rte_map_get(&graph->net_of, link->scope_as, link->subnet);

	if (at != RTE_NONE)
		return at;
	if (graph_room(&graph->net, graph->nets, &graph->nets_size,
		       sizeof(*graph->net)) ||
	    rte_map_add(&graph->net_of, link->scope_as, link->subnet, graph->nets))
		return RTE_NONE;
	at = graph->nets++;
	graph->net[at] = (struct rte_net){
		.id = {.scope_as = link->scope_as, .subnet = link->subnet}};
	return at;
}

static struct rte_port *node_port(const struct rte_node *node, uint32_t net)
{
	uint32_t i;

	for (i = 0; i < node->ports; i++)
		if (node->on[i] == net)
			return &node->port[i];
	return NULL;
}

const struct rte_port *rte_node_port(const struct rte_node *node, uint32_t net)
{
	return node_port(node, net);
}

static int port_join(struct rte_port *port, uint32_t to, const struct rte_cost *cost)
{
	int ret = graph_room(&port->edge, port->edges, &port->edges_size,
			     sizeof(*port->edge));

	if (!ret)
		port->edge[port->edges++] = (struct rte_edge){.to = to, .cost = *cost};
	return ret;
}

static void port_part(struct rte_port *port, uint32_t to)
{
	uint32_t i;

	for (i = 0; i < port->edges; i++)
		if (port->edge[i].to == to)
			port->edge[i] = port->edge[--port->edges];
}

static bool cost_is(const struct rte_cost *a, const struct rte_cost *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void net_judge(struct rte_net *net)
{
	net->even = net->same == net->members && net->passing == net->members &&
		    net->pairs == rte_net_pairs(net->members);
}

static void net_enter(struct rte_net *net, uint32_t member, const struct rte_port *port)
{
	if (!net->same)
		net->cost = port->cost;
	net->same += cost_is(&net->cost, &port->cost);
	net->member[net->members++] = member;
	net->passing += port->transit;
	net_judge(net);
}

/* Finds another cost, that of a member, when no member has the old one. */
static void net_cost_anew(const struct rte_graph *graph, struct rte_net *net)
{
	const uint32_t at = (uint32_t)(net - graph->net);
	uint32_t i;

	if (!net->members)
		return;
	net->cost = rte_node_port(&graph->node[net->member[0]], at)->cost;
	for (i = 0; i < net->members; i++)
		net->same +=
			cost_is(&net->cost,
				&rte_node_port(&graph->node[net->member[i]], at)->cost);
}

static void net_leave(const struct rte_graph *graph, struct rte_net *net, uint32_t member,
		      const struct rte_port *port)
{
	uint32_t i;

	for (i = 0; i < net->members; i++)
		if (net->member[i] == member)
			net->member[i] = net->member[--net->members];
	net->passing -= port->transit;
	net->same -= cost_is(&net->cost, &port->cost);
	if (!net->same)
		net_cost_anew(graph, net);
	net_judge(net);
}

/* What changes of a subnet changes how many have holes. */
static void net_count(struct rte_graph *graph, struct rte_net *net, int linked, int pairs)
{
	graph->holed -= rte_net_holed(net);
	net->linked += (uint32_t)linked;
	net->pairs += (uint32_t)pairs;
	graph->holed += rte_net_holed(net);
	net_judge(net);
}

/* Nobody is connected to the router over its device. */
static void graph_part(struct rte_graph *graph, uint32_t at, struct rte_port *port)
{
	struct rte_net *net = &graph->net[port->net];
	struct rte_port *others;
	int linked = port->edges ? -1 : 0;
	uint32_t i;

	for (i = 0; i < port->edges; i++) {
		others = node_port(&graph->node[port->edge[i].to], port->net);
		port_part(others, at);
		linked -= !others->edges;
	}
	net_leave(graph, net, at, port);
	net_count(graph, net, linked, -(int)port->edges);
	free(port->edge);
}

static void graph_detach(struct rte_graph *graph, uint32_t at)
{
	struct rte_node *node = &graph->node[at];
	uint32_t i;

	for (i = 0; i < node->ports; i++)
		graph_part(graph, at, &node->port[i]);
	free(node->port);
	free(node->on);
	node->port = NULL;
	node->on = NULL;
	node->ports = 0;
	free(node->lsa);
	node->lsa = NULL;
}

/* Both connected over it, if the other one names this one too. */
static int graph_meet(struct rte_graph *graph, uint32_t at, struct rte_port *port,
		      uint64_t neighbour)
{
	const uint32_t other_at = rte_map_get(&graph->node_of, 0, neighbour);
	struct rte_net *net = &graph->net[port->net];
	const struct rte_node *other;
	struct rte_port *others;
	struct rte_cost cost;

	if (other_at == RTE_NONE || !graph->node[other_at].lsa)
		return 0;
	other = &graph->node[other_at];
	others = node_port(other, port->net);
	if (!others || !others->transit ||
	    !rte_link_names(rte_lsa_link(other->lsa, net->id.scope_as, net->id.subnet),
			    graph->node[at].id))
		return 0;
	cost = rte_cost_worse(&graph->policy, &port->cost, &others->cost);
	if (port_join(port, other_at, &cost))
		return -FI_ENOMEM;
	if (port_join(others, at, &cost)) {
		port->edges--;
		return -FI_ENOMEM;
	}
	net_count(graph, net, (port->edges == 1) + (others->edges == 1), 1);
	return 0;
}

static int graph_attach(struct rte_graph *graph, uint32_t at, const struct rte_link *link)
{
	struct rte_node *node = &graph->node[at];
	const uint32_t net_at = graph_net(graph, link);
	struct rte_port *port;
	struct rte_net *net;
	int ret = 0;
	uint16_t i;

	if (net_at == RTE_NONE)
		return -FI_ENOMEM;
	net = &graph->net[net_at];
	if (graph_room(&net->member, net->members, &net->members_size,
		       sizeof(*net->member)))
		return -FI_ENOMEM;
	node->on[node->ports] = net_at;
	port = &node->port[node->ports++];
	*port = (struct rte_port){
		.net = net_at,
		/* What lies between two AS is at the end of a route. */
		.transit =
			link->scope_as == graph->as && !(link->caps & RTE_CAP_NOTRANSIT),
		.cost = rte_link_cost(&graph->policy, link),
	};
	net_enter(net, at, port);
	if (!port->transit)
		return 0;
	for (i = 0; i < link->neighbours && !ret; i++)
		ret = graph_meet(graph, at, port, link->neighbour[i]);
	return ret;
}

int rte_graph_put(struct rte_graph *graph, const struct rte_lsa *lsa)
{
	struct rte_node *node;
	uint32_t at, i;
	int ret = 0;

	if (lsa->as != graph->as || rte_lsa_check(lsa))
		return -FI_EINVAL;
	at = graph_node(graph, lsa->router);
	if (at == RTE_NONE)
		return -FI_ENOMEM;
	graph_detach(graph, at);
	if (!lsa->links || (lsa->flags & (RTE_LSA_DRAIN | RTE_LSA_WITHDRAW)))
		return 0;
	node = &graph->node[at];
	node->lsa = rte_lsa_copy(lsa);
	node->port = malloc(lsa->links * sizeof(*node->port));
	node->on = malloc(lsa->links * sizeof(*node->on));
	if (!node->lsa || !node->port || !node->on)
		ret = -FI_ENOMEM;
	for (i = 0; i < lsa->links && !ret; i++)
		if (lsa->link[i].up)
			ret = graph_attach(graph, at, &lsa->link[i]);
	if (ret)
		graph_detach(graph, at);
	return ret;
}

void rte_graph_del(struct rte_graph *graph, uint64_t router)
{
	const uint32_t at = rte_map_get(&graph->node_of, 0, router);

	if (at != RTE_NONE)
		graph_detach(graph, at);
}

const struct rte_policy *rte_graph_policy(const struct rte_graph *graph)
{
	return &graph->policy;
}

uint32_t rte_graph_nets(const struct rte_graph *graph)
{
	return graph->nets;
}

uint32_t rte_graph_routers(const struct rte_graph *graph)
{
	return graph->nodes;
}

uint32_t rte_graph_net(const struct rte_graph *graph, uint32_t scope_as, uint32_t subnet)
{
	return rte_map_get(&graph->net_of, scope_as, subnet);
}

uint32_t rte_graph_router(const struct rte_graph *graph, uint64_t router)
{
	return rte_map_get(&graph->node_of, 0, router);
}

struct rte_net_id rte_graph_net_id(const struct rte_graph *graph, uint32_t net)
{
	return graph->net[net].id;
}

uint64_t rte_graph_router_id(const struct rte_graph *graph, uint32_t router)
{
	return graph->node[router].id;
}
