/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks for tests: routers with their devices, from which come LSAs and graphs. */
#ifndef ROUTE_WORLD_H
#define ROUTE_WORLD_H

#include "cairn_test.h"
#include "topo.h"

#define WORLD_ROUTERS 128
#define WORLD_LINKS 8
#define WORLD_AS 3u
#define WORLD_NATIVE (RTE_CAP_ZEROCOPY | RTE_CAP_OSBYPASS | RTE_CAP_RMA)
#define WORLD_GBPS 1000000000ull
#define WORLD_LIFE 30000u

struct world_router {
	uint64_t id;
	uint32_t flags;
	uint64_t seq;
	struct rte_link link[WORLD_LINKS];
	uint32_t links;
	uint64_t neighbour[WORLD_LINKS][WORLD_ROUTERS];
};

struct world {
	struct world_router router[WORLD_ROUTERS];
	uint32_t routers;
};

/* A device, of a router that is new if the id is. Native. */
struct rte_link *world_link(struct world *w, uint64_t id, uint32_t subnet,
			    unsigned int gbps);
/* As world_link, on a WAN: a public one (RTE_AS_WAN), or a private one. */
struct rte_link *world_wan(struct world *w, uint64_t id, uint32_t scope_as,
			   uint32_t subnet, unsigned int gbps);
struct world_router *world_router(struct world *w, uint64_t id);
/* All on one subnet see each other. */
void world_meet(struct world *w);
/* The router sees all that are on one subnet of its. */
void world_meet_one(struct world *w, struct world_router *router, uint32_t at);
/* The document's Fig. 2, AS 3: SN1 is 10 Gb/s Ethernet, SN2 InfiniBand QDR, SN3 64 Gb/s;
 * R1 goes to the WAN, R2 to AS 4. */
void world_figure2(struct world *w);
/* b says no more of a on that subnet. */
void world_blind(struct world *w, uint64_t b, uint64_t a, uint32_t subnet);
/* The router's LSA, which points into the world. */
struct rte_lsa world_lsa(const struct world_router *router);
struct rte_graph *world_graph(const struct world *w, const char *policy, bool doc_scale);
/* For fixtures: replaces the graph by a new one; closes it. */
void world_graph_open(struct rte_graph **graph, const struct world *w, const char *policy,
		      bool doc_scale);
void world_graph_close(struct rte_graph **graph);
/* "3,1,W4": W* is a WAN with id 0, W4 the private WAN of AS 4, others are subnets. */
const char *world_route_text(const struct rte_graph *graph,
			     const struct rte_route *route);
/* Index of a subnet by such a name. */
uint32_t world_net(const struct rte_graph *graph, const char *name);

#endif
