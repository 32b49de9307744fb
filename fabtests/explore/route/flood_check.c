/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "flood.h"
#include "sync/state.h"

static const struct rte_lsa *lsa_of(uint32_t at, uint32_t of)
{
	return rte_lsdb_get(rte_sync_db(flood.router[at].sync), flood_running->as[of],
			    flood_id(of), flood.now);
}

static bool same_as(uint32_t a, uint32_t b)
{
	return flood_running->as[a] == flood_running->as[b];
}

/* ---- in each state ---- */

static unsigned int check_newer(uint32_t at)
{
	const struct rte_lsa *lsa;
	unsigned int wrong = 0;
	uint32_t i, *highest;

	for (i = 0; i < flood_running->routers; i++) {
		lsa = lsa_of(at, i);
		if (!lsa)
			continue;
		if (!same_as(at, i))
			wrong |= FLOOD_LEAK;
		highest = flood.router[at].highest[i];
		if (rte_number_compare(lsa->epoch, lsa->seq, highest[0], highest[1]) < 0)
			wrong |= FLOOD_OLDER;
	}
	return wrong;
}

/* What each has known. */
static void remember(uint32_t at)
{
	const struct rte_lsa *lsa;
	uint32_t i, *highest;

	for (i = 0; i < flood_running->routers; i++) {
		lsa = lsa_of(at, i);
		highest = flood.router[at].highest[i];
		if (!lsa ||
		    rte_number_compare(lsa->epoch, lsa->seq, highest[0], highest[1]) <= 0)
			continue;
		highest[0] = (uint32_t)lsa->epoch;
		highest[1] = (uint32_t)lsa->seq;
	}
}

/* Do both name each other, in what this router knows? */
static bool is_edge(uint32_t at, uint32_t a, uint32_t b)
{
	const struct rte_lsa *x = lsa_of(at, a), *y = lsa_of(at, b);
	uint32_t i, k, named = 0;

	if (!x || !y)
		return false;
	for (i = 0; i < x->links; i++)
		for (k = 0; k < x->link[i].neighbours; k++)
			named |= x->link[i].neighbour[k] == flood_id(b);
	for (i = 0; i < y->links; i++)
		for (k = 0; k < y->link[i].neighbours; k++)
			named |= (uint32_t)(y->link[i].neighbour[k] == flood_id(a)) << 1;
	return named == 3;
}

static struct rte_graph *graph_of(uint32_t at)
{
	static const struct rte_policy hops = {.metric = {RTE_HOPS}, .metrics = 1};
	struct rte_graph *graph = rte_graph_open(flood_running->as[at], &hops);

	if (!graph)
		abort();
	for (uint32_t i = 0; i < flood_running->routers; i++)
		if (same_as(at, i) && lsa_of(at, i) &&
		    rte_graph_put(graph, lsa_of(at, i)))
			abort();
	return graph;
}

static bool has_route(const struct rte_graph *graph, uint32_t as, uint32_t a, uint32_t b)
{
	const uint32_t from = rte_graph_net(graph, as, flood_stub(a));
	const uint32_t to = rte_graph_net(graph, as, flood_stub(b));
	struct rte_route route;

	return from != RTE_NONE && to != RTE_NONE &&
	       rte_paths(graph, from, &to, 1, &route, 1) > 0;
}

/* The graph has a way where edges lead, and nowhere else. */
static unsigned int check_graph(uint32_t at)
{
	struct rte_graph *graph = graph_of(at);
	unsigned int wrong = 0;
	bool is;

	for (uint32_t a = 0; a < flood_running->routers; a++)
		for (uint32_t b = 0; b < a; b++) {
			if (!same_as(at, a) || !same_as(at, b))
				continue;
			is = is_edge(at, a, b);
			for (uint32_t c = 0; c < flood_running->routers; c++)
				is |= is_edge(at, a, c) && is_edge(at, c, b);
			if (has_route(graph, flood_running->as[at], a, b) != is)
				wrong = FLOOD_EDGE;
		}
	rte_graph_close(graph);
	return wrong;
}

unsigned int flood_check(void (*each)(const void *outcome))
{
	unsigned int wrong = flood.wrong;

	for (uint32_t i = 0; i < flood_running->routers; i++)
		if (flood.router[i].sync)
			wrong |= check_newer(i) | check_graph(i);
	return wrong;
}

/* ---- in the end ---- */

static bool knows_rightly(uint32_t at, uint32_t of)
{
	const struct rte_lsa *lsa = lsa_of(at, of), *own;

	if (!lsa)
		return false;
	if (!flood.router[of].sync)
		return !flood.router[of].withdrawn || lsa->flags & RTE_LSA_WITHDRAW;
	own = lsa_of(of, of);
	return !rte_lsa_compare(lsa, own) && lsa->load == flood.router[of].load;
}

static bool link_is_known(uint32_t link)
{
	const uint8_t *end = flood_running->end[link];
	const bool works = flood.router[end[0]].sync && flood.router[end[1]].sync;

	for (uint32_t i = 0; i < flood_running->routers; i++)
		if (flood.router[i].sync && same_as(i, end[0]) && same_as(i, end[1]) &&
		    is_edge(i, end[0], end[1]) != works)
			return false;
	return true;
}

/* A killed router may part the others: those of a line know less. */
unsigned int flood_check_end(void)
{
	unsigned int wrong = flood.noise ? FLOOD_NOISE : 0;

	for (uint32_t i = 0; i < flood_running->routers; i++)
		for (uint32_t k = 0; k < flood_running->routers; k++)
			if (flood.router[i].sync && same_as(i, k) && !knows_rightly(i, k))
				wrong |= FLOOD_APART;
	for (uint32_t i = 0; i < flood_running->links; i++)
		if (!link_is_known(i))
			wrong |= FLOOD_EDGE;
	return wrong;
}

/* ---- one state of many ---- */

/* What a router has in the heap, outside of it meanwhile. */
struct kept {
	struct rte_lsa *self, *lsa[FLOOD_ROUTERS];
	uint32_t lsas, wanted_count;
	struct rte_wanted wanted[16];
};

static void take_out(struct rte_sync *sync, struct kept *kept)
{
	const struct rte_lsa *lsa;
	uint64_t router = 0;

	kept->lsas = 0;
	while ((lsa = rte_lsdb_next(sync->db, sync->options.as, router, flood.now))) {
		kept->lsa[kept->lsas++] = rte_lsa_copy(lsa);
		router = lsa->router;
	}
	kept->self = rte_lsa_copy(sync->self);
	kept->wanted_count = sync->wanted_count;
	if (sync->wanted_count)
		memcpy(kept->wanted, sync->wanted,
		       sync->wanted_count * sizeof(*sync->wanted));
	rte_lsdb_close(sync->db);
	free(sync->self);
	free(sync->wanted);
}

static void put_back(struct rte_sync *sync, struct kept *kept)
{
	memset(&sync->counters, 0, sizeof(sync->counters));
	xpl_heap_use(true);
	sync->self = rte_lsa_copy(kept->self);
	sync->db = rte_lsdb_open();
	for (uint32_t i = 0; i < kept->lsas; i++)
		if (rte_lsdb_put(sync->db, kept->lsa[i], flood.now) != 1)
			abort();
	sync->wanted = NULL;
	sync->wanted_size = 0;
	if (kept->wanted_count) {
		sync->wanted = calloc(16, sizeof(*sync->wanted));
		sync->wanted_size = 16;
		memcpy(sync->wanted, kept->wanted,
		       kept->wanted_count * sizeof(*sync->wanted));
	}
	xpl_heap_use(false);
	free(kept->self);
	for (uint32_t i = 0; i < kept->lsas; i++)
		free(kept->lsa[i]);
}

/* Where in the heap LSAs lie, in whichever order they came. */
void flood_tidy(void)
{
	struct kept kept[FLOOD_ROUTERS];

	if (!flood_running)
		return;
	for (uint32_t i = 0; i < flood_running->routers; i++) {
		if (!flood.router[i].sync)
			continue;
		remember(i);
		take_out(flood.router[i].sync, &kept[i]);
	}
	for (uint32_t i = 0; i < flood_running->routers; i++)
		if (flood.router[i].sync)
			put_back(flood.router[i].sync, &kept[i]);
}
