/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks as the configurations of their hosts describe them, computed as their routers
 * would: each AS has a graph and a policy of its own. Routers of an AS that hear of each
 * other, from one that names another's address to the next, are connected on every subnet
 * that they share. Those of two AS are where one names the other's address.
 */
#ifndef RCT_SIM_H
#define RCT_SIM_H

#include "config/config.h"
#include "topo/topo.h"

struct rct_router {
	const struct rte_config *config;
	bool down;
	uint64_t port_down; /* a bit for each device of the configuration */
	uint32_t group;	    /* the same for all that hear of each other */
};

/* A subnet or a WAN, as the AS sees it. */
struct rct_net {
	struct rte_net_id id;
	uint64_t rate; /* bit/s: of its slowest device */
	uint32_t at;   /* in the graph; RTE_NONE: no router is on it */
	bool down;
	bool nameless; /* there is no other WAN to the same AS: its id says nothing */
};

struct rct_as {
	uint32_t as;
	struct rte_policy policy;
	struct rct_router **router; /* by id */
	uint32_t routers;
	/* Subnets by id, then public WANs, then private ones by AS and id. */
	struct rct_net *net;
	uint32_t nets;
	struct rte_graph *graph;
};

struct rct_sim {
	struct rte_config **config;
	uint32_t configs;
	struct rct_router *router;
	uint32_t routers;
	struct rct_as *as; /* by number */
	uint32_t ases;
};

/*
 * Of configurations that are right, one by one and together, which stay the caller's. 0,
 * -FI_ENOMEM, or -FI_EINVAL, which has been printed: a device has no rate.
 */
int rct_sim_open(struct rct_sim *sim, struct rte_config **config, uint32_t configs);
void rct_sim_close(struct rct_sim *sim);

/*
 * What --fail names (fail.c): "R4", a router's name or number, "R4/1", its device on a
 * subnet, or "3:1", a subnet, AS 0 for a WAN. Before rct_sim_run. -FI_EINVAL, and
 * what is wrong is printed.
 */
int rct_sim_fail(struct rct_sim *sim, const char *what);

/* Builds the graphs: 0 or -FI_ENOMEM. policy: instead of that of each AS, or NULL. */
int rct_sim_run(struct rct_sim *sim, const struct rte_policy *policy);

/* An AS by its number, or NULL. */
struct rct_as *rct_sim_as(const struct rct_sim *sim, uint32_t as);
/* A router of the AS by its index in the graph. */
const struct rct_router *rct_as_router(const struct rct_as *as, uint32_t at);
/* A subnet by its id, or by its index in the graph; NULL: there is none. */
struct rct_net *rct_as_net(const struct rct_as *as, struct rte_net_id id);
const struct rct_net *rct_as_net_at(const struct rct_as *as, uint32_t at);
/* How an AS names the subnet of a device. */
struct rte_net_id rct_net_id(const struct rte_config_device *device);
/* The router is there, its device works, and so does the subnet. */
bool rct_port_up(const struct rct_sim *sim, const struct rct_router *router,
		 uint32_t device);
/* One of the devices names the other. */
bool rct_ports_meet(const struct rte_config_device *a, const struct rte_config_device *b);

/* --- Names (names.c) --- */

#define RCT_NAME_SIZE 128u

/* "1", "W*", "W4", as in the document's Table I; with several WANs to the same AS "W*:7".
 * Returns name. */
const char *rct_net_name(const struct rct_net *net, uint32_t as,
			 char name[RCT_NAME_SIZE]);
/* "SN1", "W*", ... */
const char *rct_net_title(const struct rct_net *net, uint32_t as,
			  char name[RCT_NAME_SIZE]);
/* "10 Gb/s" */
const char *rct_rate_text(uint64_t rate, char text[RCT_NAME_SIZE]);
/* "125.625"; several metrics "0/125.625". */
const char *rct_cost_text(const struct rte_policy *policy, const struct rte_cost *cost,
			  char text[RCT_NAME_SIZE]);
/* "bandwidth, hops" */
const char *rct_policy_text(const struct rte_policy *policy, char text[RCT_NAME_SIZE]);

#define RCT_ROUTE_SIZE (RCT_NAME_SIZE * (RTE_HOPS_MAX + 1))

/* "3,1,W4", and "R4,R2". */
const char *rct_route_nets(const struct rct_as *as, const struct rte_route *route,
			   char text[RCT_ROUTE_SIZE]);
const char *rct_route_routers(const struct rct_as *as, const struct rte_route *route,
			      char text[RCT_ROUTE_SIZE]);

/* --- Routes (pair.c) --- */

/* From one subnet to another, in an AS. */
struct rct_pair {
	const struct rct_as *as;
	const struct rct_net *from, *to;
	struct rte_route route[RTE_ALTERNATIVES]; /* the best first */
	uint32_t routes;
	bool fixed; /* the first is a static route */
};

/* Can there be a route at all? Not from a subnet to itself, nor between two WANs. */
bool rct_pair_makes_sense(const struct rct_as *as, const struct rct_net *from,
			  const struct rct_net *to);
/*
 * One search for all pairs from a subnet, of which one route each is wanted, with any
 * ends: for rct_pair_find. *spf is NULL where a search for each pair is needed (count is
 * more than 1), or none (no router is on the subnet). 0 or -FI_ENOMEM.
 */
int rct_row_open(const struct rct_as *as, const struct rct_net *from, uint32_t count,
		 struct rte_spf **spf);
void rct_row_close(struct rte_spf *spf);
/*
 * At most so many routes, 1 to RTE_ALTERNATIVES; none is no error. -FI_ENOMEM. ends: of
 * the routes, or NULL. spf: of rct_row_open, or NULL.
 */
int rct_pair_find(const struct rct_as *as, const struct rte_ends *ends,
		  const struct rct_net *from, const struct rct_net *to,
		  const struct rte_spf *spf, uint32_t count, struct rct_pair *pair);
/* The static route between two subnets that are in the graph: 1; 0: there is none;
 * -FI_ENOMEM. */
int rct_static_find(const struct rct_as *as, const struct rte_ends *ends,
		    const struct rct_net *from, const struct rct_net *to,
		    struct rte_route *route);
/* The static route comes first; the same among the computed ones is left out. */
void rct_pair_fix(struct rct_pair *pair, const struct rte_route *fixed, uint32_t count);
/* The slowest subnet of it, the first of several. */
const struct rct_net *rct_route_bottleneck(const struct rct_as *as,
					   const struct rte_route *route);
/* Why there is no route: text that stays. */
const char *rct_pair_why_not(const struct rct_as *as, const struct rct_net *from,
			     const struct rct_net *to);

/* --- Between two AS (between.c) --- */

/* The way out of one AS by its own policy, and on into the other by that one's, with
 * routers on the WAN between that are connected. */
struct rct_between {
	const struct rct_as *from_as, *to_as;
	const struct rct_net *from, *to;
	struct rct_pair out; /* its routes end on different WANs: out.to is NULL */
	/* From the WAN that the first of them ends on. */
	struct rct_pair in;
};

/* As rct_pair_find. */
int rct_between_find(const struct rct_sim *sim, const struct rct_as *from_as,
		     const struct rct_net *from, const struct rct_as *to_as,
		     const struct rct_net *to, uint32_t count,
		     struct rct_between *between);

#endif
