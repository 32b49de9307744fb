/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "net.h"

static bool link_works(const struct net *net, const struct net_link *l)
{
	return net->router[l->end[0]].state == NET_RUNS &&
	       net->router[l->end[1]].state == NET_RUNS && !l->blocked[0] &&
	       !l->blocked[1];
}

/* The parts of the network: each router's part is the lowest router in it. */
static void find_parts(const struct net *net, uint32_t *part)
{
	uint32_t i, least;
	bool changed = true;

	for (i = 0; i < net->routers; i++)
		part[i] = i;
	while (changed) {
		changed = false;
		for (i = 0; i < net->links; i++) {
			const uint32_t *end = net->link[i].end;

			if (!link_works(net, &net->link[i]) ||
			    part[end[0]] == part[end[1]])
				continue;
			least = part[end[0]] < part[end[1]] ? part[end[0]] : part[end[1]];
			part[end[0]] = part[end[1]] = least;
			changed = true;
		}
	}
}

static const struct rte_lsa *lsa_of(const struct net *net, uint32_t a, uint32_t b)
{
	return rte_lsdb_get(rte_sync_db(net->router[a].sync), NET_AS, net_id(b),
			    net->now);
}

/* Its words name exactly those that it reaches. */
static bool names_its_neighbours(const struct net *net, uint32_t at)
{
	const struct rte_lsa *own = lsa_of(net, at, at);
	const struct rte_link *link;
	const struct net_link *l;
	uint32_t i, other;

	for (i = 0; i < net->links; i++) {
		l = &net->link[i];
		if (l->end[0] != at && l->end[1] != at)
			continue;
		other = l->end[l->end[0] == at];
		link = rte_lsa_link(own, NET_AS, net_subnet(i));
		if (!link || link->neighbours != link_works(net, l) ||
		    rte_link_names(link, net_id(other)) != link_works(net, l))
			return false;
	}
	return true;
}

/* Both know the same. */
static bool same_words(const struct net *net, uint32_t a, uint32_t b)
{
	struct rte_lsdb *x = rte_sync_db(net->router[a].sync);
	struct rte_lsdb *y = rte_sync_db(net->router[b].sync);
	const struct rte_lsa *lsa, *other;
	uint32_t as = 0;
	uint64_t router = 0;

	if (rte_lsdb_hash(x) != rte_lsdb_hash(y) ||
	    rte_lsdb_count(x) != rte_lsdb_count(y))
		return false;
	while ((lsa = rte_lsdb_next(x, as, router, net->now))) {
		other = rte_lsdb_get(y, lsa->as, lsa->router, net->now);
		if (!other || rte_lsa_compare(lsa, other))
			return false;
		as = lsa->as;
		router = lsa->router;
	}
	return true;
}

bool net_agrees(const struct net *net)
{
	uint32_t part[NET_ROUTERS], i;
	const struct rte_lsa *own, *known;

	find_parts(net, part);
	for (i = 0; i < net->routers; i++) {
		if (net->router[i].state != NET_RUNS)
			continue;
		own = lsa_of(net, i, i);
		known = lsa_of(net, part[i], i);
		if (!own || !known || own->seq != known->seq ||
		    own->epoch != known->epoch || own->load != net->router[i].load ||
		    !names_its_neighbours(net, i) || !same_words(net, part[i], i))
			return false;
	}
	return true;
}

bool net_knows(const struct net *net, uint32_t a, uint32_t b)
{
	return lsa_of(net, a, b);
}

static struct rte_graph *graph_of(const struct net *net, uint32_t of)
{
	struct rte_lsdb *db = rte_sync_db(net->router[of].sync);
	const struct rte_policy hops = {.metric = {RTE_HOPS}, .metrics = 1};
	struct rte_graph *graph = rte_graph_open(NET_AS, &hops);
	const struct rte_lsa *lsa;
	uint32_t as = 0;
	uint64_t router = 0;

	while ((lsa = rte_lsdb_next(db, as, router, net->now))) {
		CT_EXPECT_EQ(rte_graph_put(graph, lsa), 0);
		as = lsa->as;
		router = lsa->router;
	}
	return graph;
}

bool net_route(const struct net *net, uint32_t of, uint32_t a, uint32_t b)
{
	struct rte_graph *graph = graph_of(net, of);
	const uint32_t from = rte_graph_net(graph, NET_AS, net_stub(a));
	const uint32_t to = rte_graph_net(graph, NET_AS, net_stub(b));
	struct rte_route route;
	bool is;

	is = from != RTE_NONE && to != RTE_NONE &&
	     rte_paths(graph, from, &to, 1, &route, 1) > 0;
	rte_graph_close(graph);
	return is;
}

static int crossing_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct net_crossing));
}

uint32_t net_most_crossings(struct net *net)
{
	const struct net_crossing *c = net->crossing;
	uint32_t i, run = 0, most = 0;

	qsort(net->crossing, net->crossings, sizeof(*c), crossing_compare);
	for (i = 0; i < net->crossings; i++) {
		run = i && !crossing_compare(&c[i], &c[i - 1]) ? run + 1 : 1;
		most = run > most ? run : most;
	}
	return most;
}
