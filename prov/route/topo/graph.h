/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph as those who search it see it. */
#ifndef RTE_TOPO_GRAPH_H
#define RTE_TOPO_GRAPH_H

#include "map.h"
#include "topo.h"

/* Over a subnet to another router. */
struct rte_edge {
	uint32_t to;
	struct rte_cost cost;
};

/* A router's device. */
struct rte_port {
	uint32_t net;
	bool transit;
	struct rte_cost cost;
	struct rte_edge *edge;
	uint32_t edges;
	uint32_t edges_size;
};

struct rte_node {
	uint64_t id;
	struct rte_lsa *lsa; /* NULL: it has gone, or takes no connections */
	struct rte_port *port;
	uint32_t *on; /* the subnet of each port, close together */
	uint32_t ports;
};

struct rte_net {
	struct rte_net_id id;
	uint32_t *member; /* routers */
	uint32_t members;
	uint32_t members_size;
	uint32_t passing;     /* members that pass it on */
	uint32_t linked;      /* members that are connected to another... */
	uint32_t pairs;	      /* ... and pairs of them that are */
	struct rte_cost cost; /* of one of the members... */
	uint32_t same;	      /* ... and how many it is the same for */
	bool even;	      /* from any member to any other at that cost */
};

struct rte_graph {
	uint32_t as;
	struct rte_policy policy;
	struct rte_node *node;
	uint32_t nodes;
	uint32_t nodes_size;
	struct rte_map node_of; /* (0, id) */
	struct rte_net *net;
	uint32_t nets;
	uint32_t nets_size;
	struct rte_map net_of; /* (scope_as, subnet) */
	/* Subnets with holes: not every two that are connected to any are connected to
	 * each other. Elsewhere the best route never comes twice, for it has a shorter
	 * way. */
	uint32_t holed;
};

/* Pairs of so many. */
static inline uint64_t rte_net_pairs(uint32_t members)
{
	return members ? (uint64_t)members * (members - 1) / 2 : 0;
}

static inline bool rte_net_holed(const struct rte_net *net)
{
	return net->pairs < rte_net_pairs(net->linked);
}

/* False: they are the same, one is unknown (RTE_NONE), or both lie outside: nothing
 * passes through an AS (section IV.C.3). */
static inline bool rte_graph_allows(const struct rte_graph *graph, uint32_t from,
				    uint32_t to)
{
	return from != to && from < graph->nets && to < graph->nets &&
	       (graph->net[from].id.scope_as == graph->as ||
		graph->net[to].id.scope_as == graph->as);
}

/* The router's port on it, or NULL. */
const struct rte_port *rte_node_port(const struct rte_node *node, uint32_t net);

#endif
