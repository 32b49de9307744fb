/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "world.h"

struct world_router *world_router(struct world *w, uint64_t id)
{
	struct world_router *router;
	uint32_t i;

	for (i = 0; i < w->routers; i++)
		if (w->router[i].id == id)
			return &w->router[i];
	router = &w->router[w->routers++];
	*router = (struct world_router){.id = id, .seq = 1};
	return router;
}

struct rte_link *world_wan(struct world *w, uint64_t id, uint32_t scope_as,
			   uint32_t subnet, unsigned int gbps)
{
	struct world_router *router = world_router(w, id);
	struct rte_link *link = &router->link[router->links++];

	*link = (struct rte_link){
		.subnet = subnet,
		.scope_as = scope_as,
		.rate = gbps * WORLD_GBPS,
		.caps = WORLD_NATIVE,
		.up = true,
		.uri = "tcp://192.0.2.1:7000",
	};
	return link;
}

struct rte_link *world_link(struct world *w, uint64_t id, uint32_t subnet,
			    unsigned int gbps)
{
	return world_wan(w, id, WORLD_AS, subnet, gbps);
}

static bool router_on(const struct world_router *router, const struct rte_link *link)
{
	uint32_t i;

	for (i = 0; i < router->links; i++)
		if (router->link[i].subnet == link->subnet &&
		    router->link[i].scope_as == link->scope_as && router->link[i].up)
			return true;
	return false;
}

static int id_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void world_meet_one(struct world *w, struct world_router *router, uint32_t at)
{
	struct rte_link *link = &router->link[at];
	uint32_t i;

	link->neighbours = 0;
	link->neighbour = router->neighbour[at];
	if (!link->up)
		return;
	for (i = 0; i < w->routers; i++)
		if (&w->router[i] != router && router_on(&w->router[i], link))
			router->neighbour[at][link->neighbours++] = w->router[i].id;
	qsort(router->neighbour[at], link->neighbours, sizeof(uint64_t), id_compare);
}

void world_meet(struct world *w)
{
	uint32_t i, at;

	for (i = 0; i < w->routers; i++)
		for (at = 0; at < w->router[i].links; at++)
			world_meet_one(w, &w->router[i], at);
}

void world_figure2(struct world *w)
{
	*w = (struct world){0};
	world_link(w, 1, 1, 10);
	world_wan(w, 1, RTE_AS_WAN, 0, 10);
	world_link(w, 2, 1, 10);
	world_wan(w, 2, 4, 40, 100);
	world_link(w, 3, 1, 10);
	world_link(w, 3, 2, 32);
	world_link(w, 4, 1, 10);
	world_link(w, 4, 2, 32);
	world_link(w, 4, 3, 64);
	world_meet(w);
}

void world_blind(struct world *w, uint64_t b, uint64_t a, uint32_t subnet)
{
	struct world_router *router = world_router(w, b);
	uint32_t at, i, kept;

	for (at = 0; at < router->links; at++) {
		if (router->link[at].subnet != subnet)
			continue;
		for (i = 0, kept = 0; i < router->link[at].neighbours; i++)
			if (router->neighbour[at][i] != a)
				router->neighbour[at][kept++] = router->neighbour[at][i];
		router->link[at].neighbours = (uint16_t)kept;
	}
}

struct rte_lsa world_lsa(const struct world_router *router)
{
	return (struct rte_lsa){
		.as = WORLD_AS,
		.flags = router->flags,
		.router = router->id,
		.epoch = 1,
		.seq = router->seq,
		.lifetime = WORLD_LIFE,
		.links = router->links,
		.link = router->link,
	};
}

struct rte_graph *world_graph(const struct world *w, const char *text, bool doc_scale)
{
	struct rte_policy policy = {.doc_scale = doc_scale};
	struct rte_graph *graph;
	struct rte_lsa lsa;
	const char *why;
	uint32_t i;

	CT_EXPECT_EQ(rte_policy_parse(text, &policy, &why), 0);
	graph = rte_graph_open(WORLD_AS, &policy);
	for (i = 0; i < w->routers; i++) {
		lsa = world_lsa(&w->router[i]);
		CT_EXPECT_EQ(rte_graph_put(graph, &lsa), 0);
	}
	return graph;
}

void world_graph_close(struct rte_graph **graph)
{
	if (*graph)
		rte_graph_close(*graph);
	*graph = NULL;
}

void world_graph_open(struct rte_graph **graph, const struct world *w, const char *policy,
		      bool doc_scale)
{
	world_graph_close(graph);
	*graph = world_graph(w, policy, doc_scale);
}

static int net_text(const struct rte_graph *graph, uint32_t net, char *text, size_t len)
{
	const struct rte_net_id id = rte_graph_net_id(graph, net);

	if (id.scope_as == WORLD_AS)
		return snprintf(text, len, "%u", id.subnet);
	if (id.scope_as == RTE_AS_WAN)
		return snprintf(text, len, "W*");
	return snprintf(text, len, "W%u", id.scope_as);
}

const char *world_route_text(const struct rte_graph *graph, const struct rte_route *route)
{
	static char text[512];
	size_t len = 0;
	uint32_t i;

	for (i = 0; i <= route->routers && len < sizeof(text); i++) {
		if (i)
			text[len++] = ',';
		len += (size_t)net_text(graph, route->net[i], text + len,
					sizeof(text) - len);
	}
	return text;
}

uint32_t world_net(const struct rte_graph *graph, const char *name)
{
	char text[16];
	uint32_t i;

	for (i = 0; i < rte_graph_nets(graph); i++) {
		net_text(graph, i, text, sizeof(text));
		if (!strcmp(text, name))
			return i;
	}
	return RTE_NONE;
}
