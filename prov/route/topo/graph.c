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
	uint32_t i;

	for (i = 0; i < graph->nodes; i++) {
		free(graph->node[i].lsa);
		free(graph->node[i].port);
		free(graph->node[i].edge);
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

const struct rte_port *rte_node_port(const struct rte_node *node, uint32_t net)
{
	uint32_t i;

	for (i = 0; i < node->ports; i++)
		if (node->port[i].net == net)
			return &node->port[i];
	return NULL;
}

static int node_join(struct rte_node *node, const struct rte_edge *edge)
{
	int ret = graph_room(&node->edge, node->edges, &node->edges_size,
			     sizeof(*node->edge));

	if (!ret)
		node->edge[node->edges++] = *edge;
	return ret;
}

static void node_part(struct rte_node *node, uint32_t to)
{
	uint32_t i, kept = 0;

	for (i = 0; i < node->edges; i++)
		if (node->edge[i].to != to)
			node->edge[kept++] = node->edge[i];
	node->edges = kept;
}

static void net_leave(struct rte_net *net, uint32_t member)
{
	uint32_t i;

	for (i = 0; i < net->members; i++)
		if (net->member[i] == member)
			net->member[i] = net->member[--net->members];
}

/* What changes of a subnet changes how many have holes. */
static void net_count(struct rte_graph *graph, struct rte_net *net, int passing,
		      int pairs)
{
	graph->holed -= rte_net_holed(net);
	net->passing += (uint32_t)passing;
	net->pairs += (uint32_t)pairs;
	graph->holed += rte_net_holed(net);
}

static void graph_detach(struct rte_graph *graph, uint32_t at)
{
	struct rte_node *node = &graph->node[at];
	uint32_t i;

	for (i = 0; i < node->edges; i++) {
		node_part(&graph->node[node->edge[i].to], at);
		net_count(graph, &graph->net[node->edge[i].net], 0, -1);
	}
	node->edges = 0;
	for (i = 0; i < node->ports; i++) {
		net_leave(&graph->net[node->port[i].net], at);
		if (node->port[i].transit)
			net_count(graph, &graph->net[node->port[i].net], -1, 0);
	}
	free(node->port);
	node->port = NULL;
	node->ports = 0;
	free(node->lsa);
	node->lsa = NULL;
}

static bool link_names(const struct rte_link *link, uint64_t router)
{
	uint32_t low = 0, high = link->neighbours, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (link->neighbour[middle] == router)
			return true;
		if (link->neighbour[middle] < router)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Both connected over it, if the other one names this one too. */
static int graph_meet(struct rte_graph *graph, uint32_t at, const struct rte_port *port,
		      uint64_t neighbour)
{
	const uint32_t other_at = rte_map_get(&graph->node_of, 0, neighbour);
	struct rte_node *node = &graph->node[at], *other;
	struct rte_net *net = &graph->net[port->net];
	const struct rte_port *others;
	struct rte_edge edge = {.to = other_at, .net = port->net};

	if (other_at == RTE_NONE || !graph->node[other_at].lsa)
		return 0;
	other = &graph->node[other_at];
	others = rte_node_port(other, port->net);
	if (!others || !others->transit ||
	    !link_names(rte_lsa_link(other->lsa, net->id.scope_as, net->id.subnet),
			node->id))
		return 0;
	edge.cost = rte_cost_worse(&graph->policy, &port->cost, &others->cost);
	if (node_join(node, &edge))
		return -FI_ENOMEM;
	edge.to = at;
	if (node_join(other, &edge)) {
		node->edges--;
		return -FI_ENOMEM;
	}
	net_count(graph, net, 0, 1);
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
	net->member[net->members++] = at;
	port = &node->port[node->ports++];
	*port = (struct rte_port){
		.net = net_at,
		/* What lies between two AS is at the end of a route. */
		.transit =
			link->scope_as == graph->as && !(link->caps & RTE_CAP_NOTRANSIT),
		.cost = rte_link_cost(&graph->policy, link),
	};
	if (!port->transit)
		return 0;
	net_count(graph, net, 1, 0);
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
	if (!node->lsa || !node->port)
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
