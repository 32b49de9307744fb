/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the graph of route costs on a network drawn by chance, in turns with Boost's
 * Dijkstra: the routes from one subnet to all others, and the same after one router has
 * said something else. Boost gets the same graph, a vertex for each subnet and router,
 * and finds the same costs, but no order among equal ones.
 *
 * One line: "route subnets=N routers=N whole_us=X boost_us=X ratio=X (LOW to HIGH)
 * change_us=X change_ratio=X (LOW to HIGH) lsdb_KiB=X lsas=N"; medians over the turns,
 * and of ratios the 5th and 95th of a hundred; lsdb: the memory of a database of as many
 * LSAs.
 */
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "route_boost.h"
#include "topo.h"

#define PROGRAM "fi_cairn_route"
#define AS 3u
#define PORTS 4u
#define NEAR 20u
#define LIFETIME 3600000u

static unsigned int subnets = 1000, turns = 60, lsas = 10000;

struct router {
	struct rte_link link[PORTS];
	uint32_t links;
	uint64_t *neighbour[PORTS];
};

static struct router *router;
static uint32_t routers;
static struct rte_graph *graph;
static struct boost_graph *other;

static uint64_t state = 2026;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

static void need(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, PROGRAM ": %s\n", what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- The network --- */

/* All devices of a subnet are as fast. */
static uint64_t subnet_rate(uint32_t subnet)
{
	static const uint64_t gbps[] = {10, 25, 32, 64, 100, 200};

	return gbps[subnet * 2654435761u % 6] * 1000000000;
}

static void add_port(struct router *r, uint32_t subnet)
{
	uint32_t i;

	for (i = 0; i < r->links; i++)
		if (r->link[i].subnet == subnet)
			return;
	r->link[r->links++] = (struct rte_link){
		.subnet = subnet,
		.scope_as = AS,
		.rate = subnet_rate(subnet),
		.caps = RTE_CAP_ZEROCOPY | RTE_CAP_OSBYPASS | RTE_CAP_RMA,
		.up = true,
		.uri = "sock://192.0.2.1:7000",
	};
}

/* Three routers for two subnets: most join subnets that are near each other. The first
 * ones make a chain of all. */
static void draw_network(void)
{
	uint32_t i, k, ports, at;

	routers = subnets * 3 / 2;
	router = calloc(routers, sizeof(*router));
	need(router, "no memory");
	for (i = 0; i < routers; i++) {
		at = i < subnets ? i : draw(subnets);
		add_port(&router[i], at + 1);
		add_port(&router[i], (at + 1) % subnets + 1);
		ports = draw(PORTS - 1);
		for (k = 0; k < ports; k++)
			add_port(&router[i], draw(10) ? (at + draw(NEAR)) % subnets + 1
						      : draw(subnets) + 1);
	}
}

static bool on_subnet(const struct router *r, uint32_t subnet)
{
	uint32_t i;

	for (i = 0; i < r->links; i++)
		if (r->link[i].subnet == subnet)
			return true;
	return false;
}

/* Ids are indices and one. */
static void meet(void)
{
	uint32_t i, k, at, count;
	uint64_t *list;

	for (i = 0; i < routers; i++) {
		for (at = 0; at < router[i].links; at++) {
			list = malloc(RTE_NEIGHBOURS_MAX * sizeof(*list));
			need(list, "no memory");
			for (k = 0, count = 0; k < routers && count < RTE_NEIGHBOURS_MAX;
			     k++)
				if (k != i &&
				    on_subnet(&router[k], router[i].link[at].subnet))
					list[count++] = k + 1;
			router[i].link[at].neighbours = (uint16_t)count;
			router[i].link[at].neighbour = router[i].neighbour[at] =
				realloc(list, (count + 1) * sizeof(*list));
		}
	}
}

static struct rte_lsa router_lsa(uint32_t at, uint64_t seq)
{
	return (struct rte_lsa){
		.as = AS,
		.router = at + 1,
		.epoch = 1,
		.seq = seq,
		.lifetime = LIFETIME,
		.links = router[at].links,
		.link = router[at].link,
	};
}

static void build_ours(void)
{
	struct rte_policy policy;
	struct rte_lsa lsa;
	const char *why;
	uint32_t i;

	need(!rte_policy_parse("bandwidth", &policy, &why), "no policy");
	policy.doc_scale = false;
	graph = rte_graph_open(AS, &policy);
	need(graph, "no memory");
	for (i = 0; i < routers; i++) {
		lsa = router_lsa(i, 1);
		need(!rte_graph_put(graph, &lsa), "rte_graph_put");
	}
}

/* A subnet to its routers costs what the subnet costs; a router to its subnets nothing.
 */
static void build_other(void)
{
	struct boost_edge *edge = calloc(routers * PORTS * 2, sizeof(*edge));
	const struct rte_policy *policy = rte_graph_policy(graph);
	size_t edges = 0;
	uint32_t i, k, net;

	need(edge, "no memory");
	for (i = 0; i < routers; i++) {
		for (k = 0; k < router[i].links; k++) {
			net = router[i].link[k].subnet - 1;
			edge[edges++] = (struct boost_edge){
				net, subnets + i,
				rte_link_cost(policy, &router[i].link[k]).part[0]};
			edge[edges++] = (struct boost_edge){subnets + i, net, 0};
		}
	}
	other = boost_open(subnets + routers, edge, edges);
	free(edge);
}

/* --- Turns --- */

static int number_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of a hundred; the array is sorted. */
static double part(double *value, unsigned int hundredth)
{
	qsort(value, turns, sizeof(*value), number_order);
	return value[(turns - 1) * hundredth / 100];
}

static uint32_t net_at(uint32_t subnet)
{
	return rte_graph_net(graph, AS, subnet);
}

/* Both found the same: the last subnet costs us, but not the other. */
static void compare(const struct rte_spf *spf, const uint64_t *cost, uint32_t from)
{
	struct rte_route route;
	struct rte_link link = {.caps = RTE_CAP_ZEROCOPY | RTE_CAP_OSBYPASS};
	uint32_t subnet, to;

	for (subnet = 1; subnet <= subnets; subnet++) {
		to = net_at(subnet);
		if (subnet == from)
			continue;
		need(!rte_spf_best(spf, &to, 1, &route), "a subnet is not reached");
		link.rate = subnet_rate(subnet);
		need(route.cost.part[0] ==
			     cost[subnet - 1] +
				     rte_link_cost(rte_graph_policy(graph), &link)
					     .part[0],
		     "routes do not cost the same");
	}
}

/* One turn from a subnet: whole, Boost's, and one change: ns. */
static void turn(double *whole, double *theirs, double *change)
{
	const uint32_t from = draw(subnets) + 1, at = draw(routers);
	struct rte_lsa lsa = router_lsa(at, 2);
	struct rte_spf *spf;
	const uint64_t *cost;
	uint64_t begin = now_ns();

	spf = rte_spf_open(graph, net_at(from));
	*whole = (double)(now_ns() - begin);
	need(spf, "no memory");
	begin = now_ns();
	cost = boost_there() ? boost_run(other, from - 1) : NULL;
	*theirs = (double)(now_ns() - begin);
	if (cost)
		compare(spf, cost, from);
	router[at].link[0].rate /= 2;
	begin = now_ns();
	need(!rte_graph_put(graph, &lsa) &&
		     !rte_spf_changed(spf, rte_graph_router(graph, at + 1)),
	     "a change");
	*change = (double)(now_ns() - begin);
	router[at].link[0].rate *= 2;
	need(!rte_graph_put(graph, &lsa), "a change back");
	rte_spf_close(spf);
}

/* KiB of a database of that many LSAs, of routers drawn as above. */
static double database(void)
{
	struct rte_lsdb *db = rte_lsdb_open();
	const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct rte_lsa lsa;
	uint32_t i;
	double kib;

	need(db, "no memory");
	for (i = 0; i < lsas; i++) {
		lsa = router_lsa(i % routers, 1);
		lsa.as = AS + i / routers;
		need(rte_lsdb_put(db, &lsa, 0) == 1, "rte_lsdb_put");
	}
	kib = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / 1024;
	rte_lsdb_close(db);
	return kib;
}

static void measure(void)
{
	double *whole = calloc(turns, sizeof(*whole)),
	       *theirs = calloc(turns, sizeof(*theirs)),
	       *change = calloc(turns, sizeof(*change)),
	       *ratio = calloc(turns, sizeof(*ratio)),
	       *change_ratio = calloc(turns, sizeof(*change_ratio));
	unsigned int i;

	need(whole && theirs && change && ratio && change_ratio, "no memory");
	for (i = 0; i < turns; i++) {
		turn(&whole[i], &theirs[i], &change[i]);
		ratio[i] = theirs[i] > 0 ? whole[i] / theirs[i] : 0;
		change_ratio[i] = change[i] / whole[i];
	}
	printf("route subnets=%u routers=%u whole_us=%.1f", subnets, routers,
	       part(whole, 50) / 1e3);
	if (boost_there())
		printf(" boost_us=%.1f ratio=%.2f (%.2f to %.2f)", part(theirs, 50) / 1e3,
		       part(ratio, 50), part(ratio, 5), part(ratio, 95));
	printf(" change_us=%.1f change_ratio=%.3f (%.3f to %.3f)", part(change, 50) / 1e3,
	       part(change_ratio, 50), part(change_ratio, 5), part(change_ratio, 95));
	printf(" lsdb_KiB=%.0f lsas=%u\n", database(), lsas);
	free(whole);
	free(theirs);
	free(change);
	free(ratio);
	free(change_ratio);
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "s:n:l:h")) != -1) {
		if (option == 's')
			subnets = (unsigned int)strtoul(optarg, NULL, 0);
		else if (option == 'n')
			turns = (unsigned int)strtoul(optarg, NULL, 0);
		else if (option == 'l')
			lsas = (unsigned int)strtoul(optarg, NULL, 0);
		else
			break;
	}
	if (option == -1 && optind == argc && subnets >= 2 && subnets <= 100000 &&
	    turns && lsas)
		return;
	fputs("Usage: " PROGRAM " [-s SUBNETS] [-n TURNS] [-l LSAS]\n",
	      option == 'h' ? stdout : stderr);
	exit(option == 'h' ? 0 : 2);
}

int main(int argc, char **argv)
{
	uint32_t i, k;

	options(argc, argv);
	draw_network();
	meet();
	build_ours();
	if (boost_there())
		build_other();
	measure();
	rte_graph_close(graph);
	if (other)
		boost_close(other);
	for (i = 0; i < routers; i++)
		for (k = 0; k < router[i].links; k++)
			free(router[i].neighbour[k]);
	free(router);
	return 0;
}
