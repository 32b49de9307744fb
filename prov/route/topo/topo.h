/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What routers know of the networks between them, and the best ways through: seed
 * document "Routing Heterogeneous CCI Subnets", sections V and VI, with the deviations
 * that fi_route(7) lists. Pure: no I/O, no threads, no clock; times are the caller's, in
 * ms of a clock that never goes back. An object is used by one thread at a time.
 * Functions return 0 or -FI_E*.
 */
#ifndef RTE_TOPO_H
#define RTE_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Subnets between autonomous systems; their ids are unique everywhere. */
#define RTE_AS_WAN 0u

#define RTE_LINKS_MAX 64u	  /* devices of a router */
#define RTE_NEIGHBOURS_MAX 512u	  /* of a router on one subnet */
#define RTE_URI_MAX 255u	  /* bytes, without the final 0 */
#define RTE_LIFETIME_MAX 3600000u /* ms */

/* --- What a router says of itself (lsa.c) --- */

enum rte_cap {
	RTE_CAP_ZEROCOPY = 1 << 0,
	RTE_CAP_OSBYPASS = 1 << 1,
	RTE_CAP_RMA = 1 << 2,
	RTE_CAP_NOTRANSIT = 1 << 3, /* only the first or the last subnet of a route */
};

enum rte_lsa_flag {
	RTE_LSA_DRAIN = 1 << 0,	   /* takes no new connections */
	RTE_LSA_BORDER = 1 << 1,   /* has a link to a WAN */
	RTE_LSA_WITHDRAW = 1 << 2, /* has gone: there are no links */
};

/* A router's device on a subnet. */
struct rte_link {
	uint32_t subnet;
	/* The router's own AS: a subnet of it. RTE_AS_WAN: a public WAN. Another: a
	 * private WAN, for traffic from and to that AS alone. */
	uint32_t scope_as;
	uint64_t rate;	   /* bit/s, at least 1 */
	uint32_t latency;  /* ns; 0: unknown */
	uint32_t cost;	   /* milli-units, in place of what the rate costs; 0: none */
	uint32_t frag_max; /* bytes */
	uint16_t caps;	   /* enum rte_cap */
	uint16_t neighbours;
	bool up;
	/* Ids of routers that are alive on this subnet, as this one sees it; ascending.
	 */
	const uint64_t *neighbour;
	const char *uri; /* where other routers reach this one */
};

/* Link state advertisement. The newer of two has the higher (epoch, seq). */
struct rte_lsa {
	uint32_t as;
	uint32_t flags; /* enum rte_lsa_flag */
	uint64_t router;
	uint64_t epoch; /* of the router's start */
	uint64_t seq;
	uint32_t lifetime; /* ms that are left of it; no part of which is newer */
	uint32_t load;	   /* connections */
	uint32_t links;
	const struct rte_link *link;
};

/* One block of memory with everything it points to, which free(3) releases; or NULL. */
struct rte_lsa *rte_lsa_copy(const struct rte_lsa *lsa);
/* -FI_EINVAL: beyond the limits above, a subnet twice, neighbours out of order, ... */
int rte_lsa_check(const struct rte_lsa *lsa);
/*
 * < 0, 0, > 0: a is older than b, the same, newer. By contents where a router, which
 * never does, has said two things with one number: so all keep the same.
 */
int rte_lsa_compare(const struct rte_lsa *a, const struct rte_lsa *b);
/* The link to that subnet, or NULL. */
const struct rte_link *rte_lsa_link(const struct rte_lsa *lsa, uint32_t scope_as,
				    uint32_t subnet);
/* Is that router among the link's neighbours? */
bool rte_link_names(const struct rte_link *link, uint64_t router);

/* --- All that is known (lsdb.c) --- */

struct rte_lsdb;

/* NULL: no memory. */
struct rte_lsdb *rte_lsdb_open(void);
void rte_lsdb_close(struct rte_lsdb *db);
/*
 * Takes a copy of what is news. 1: it was; 0: it was known, or something newer is;
 * -FI_EINVAL, -FI_ENOMEM: nothing has changed. A withdrawal is kept until its life ends,
 * so that nothing older comes back.
 */
int rte_lsdb_put(struct rte_lsdb *db, const struct rte_lsa *lsa, uint64_t now);
/* What is known of a router, its lifetime the rest of it; or NULL. Valid until the next
 * call that changes the database. */
const struct rte_lsa *rte_lsdb_get(struct rte_lsdb *db, uint32_t as, uint64_t router,
				   uint64_t now);
/*
 * Records which neighbour advertised that router's entry last, for rte_lsdb_evict. 0:
 * none, as of an entry that was just put in.
 */
void rte_lsdb_set_from(struct rte_lsdb *db, uint32_t as, uint64_t router, uint64_t from);
/* Whether a full database has to make room for a router that neighbour `from` advertises:
 * another neighbour has at least two entries more. */
bool rte_lsdb_has_share(const struct rte_lsdb *db, uint64_t from);
/* Forgets, of the neighbour that has most entries, the router that became known last.
 * There is one, by rte_lsdb_has_share. Sets *as and *router, and *of: the neighbour. */
void rte_lsdb_evict(struct rte_lsdb *db, uint32_t *as, uint64_t *router, uint64_t *of);
/*
 * Forgets one whose life has ended: its router, true; none: false. A withdrawn one is
 * told as well.
 */
bool rte_lsdb_age(struct rte_lsdb *db, uint64_t now, uint32_t *as, uint64_t *router);
/* When the next life ends, or UINT64_MAX. */
uint64_t rte_lsdb_deadline(const struct rte_lsdb *db);
/* The entries in ascending order of (AS, router): the next after that, or NULL; the first
 * after (0, 0), which nobody has. */
const struct rte_lsa *rte_lsdb_next(struct rte_lsdb *db, uint32_t as, uint64_t router,
				    uint64_t now);
size_t rte_lsdb_count(const struct rte_lsdb *db);
/*
 * Equal where databases hold the same, in whichever order it came; routers compare
 * theirs. The sum of rte_key_hash of all entries, modulo 2^64.
 */
uint64_t rte_lsdb_hash(const struct rte_lsdb *db);
/* h(h(h(h(as) ^ router) ^ epoch) ^ seq); h(x) is the first number that splitmix64 gives
 * when it begins with x. */
uint64_t rte_key_hash(uint32_t as, uint64_t router, uint64_t epoch, uint64_t seq);

/* --- What a subnet costs (metric.c) --- */

enum rte_metric {
	RTE_BANDWIDTH, /* 1 Tb/s divided by the rate, milli-units, twice that without
			* zero-copy and OS-bypass; the sum */
	RTE_HOPS,      /* subnets; the sum */
	RTE_LATENCY,   /* ns; the sum */
	RTE_NATIVE,    /* subnets without zero-copy and OS-bypass; the sum */
	RTE_WIDEST,    /* as RTE_BANDWIDTH; the highest */
};

#define RTE_POLICY_MAX 5u
/* Of a link that does not say. */
#define RTE_LATENCY_UNKNOWN 100000u

/* The first metric decides; among equals the next. At the end it is hops, then ids. */
struct rte_policy {
	enum rte_metric metric[RTE_POLICY_MAX];
	uint32_t metrics;
	/* Whole units, rounded down but never 0, as in the document (section VI.B). */
	bool doc_scale;
};

struct rte_cost {
	uint64_t part[RTE_POLICY_MAX]; /* in the policy's order */
	uint32_t hops;		       /* subnets */
};

/* "bandwidth", or a list "native,latency", which sets all but doc_scale: -FI_EINVAL, and
 * what is wrong in why (text that stays). */
int rte_policy_parse(const char *text, struct rte_policy *policy, const char **why);
const char *rte_metric_name(enum rte_metric metric);
/* No metric is the highest of the subnets: all are sums. */
bool rte_policy_sums(const struct rte_policy *policy);
struct rte_cost rte_link_cost(const struct rte_policy *policy,
			      const struct rte_link *link);
/* To cross a subnet from one device of it to another: the worse of both. */
struct rte_cost rte_cost_worse(const struct rte_policy *policy, const struct rte_cost *a,
			       const struct rte_cost *b);
/* A route and another subnet. Sums stop at UINT64_MAX. */
struct rte_cost rte_cost_add(const struct rte_policy *policy, const struct rte_cost *a,
			     const struct rte_cost *b);
/* < 0, 0, > 0, in the order of the policy and then of hops. */
int rte_cost_compare(const struct rte_policy *policy, const struct rte_cost *a,
		     const struct rte_cost *b);

/* Is a as good as b, whatever is added to both? */
enum rte_dominance {
	RTE_DOMINATES,
	RTE_DOMINATES_BY_IDS, /* if its ids come first, or are the same */
	RTE_DOMINATES_NOT,
};
enum rte_dominance rte_cost_dominance(const struct rte_policy *policy,
				      const struct rte_cost *a, const struct rte_cost *b);

/* --- The graph of one AS: routers, and subnets between them (graph.c) --- */

#define RTE_NONE UINT32_MAX

/*
 * An index below RTE_NONE stays the same for as long as the graph lives. RTE_NONE stands
 * for what is unknown: functions that take indices of subnets, and rte_spf_changed and
 * rte_redirect, accept it, and no route leads there.
 */
struct rte_graph;

/* The policy is copied. NULL: no memory. */
struct rte_graph *rte_graph_open(uint32_t as, const struct rte_policy *policy);
void rte_graph_close(struct rte_graph *graph);
/*
 * Takes over what a router says, in place of what it said before. A connection of two
 * routers exists once both name each other on a subnet that both pass on. -FI_EINVAL: it
 * is not of this AS, or wrong; -FI_ENOMEM: the router is unknown from now on.
 */
int rte_graph_put(struct rte_graph *graph, const struct rte_lsa *lsa);
/* It has gone. */
void rte_graph_del(struct rte_graph *graph, uint64_t router);
const struct rte_policy *rte_graph_policy(const struct rte_graph *graph);

uint32_t rte_graph_nets(const struct rte_graph *graph);
uint32_t rte_graph_routers(const struct rte_graph *graph);
/* Indices, or RTE_NONE. */
uint32_t rte_graph_net(const struct rte_graph *graph, uint32_t scope_as, uint32_t subnet);
uint32_t rte_graph_router(const struct rte_graph *graph, uint64_t router);

struct rte_net_id {
	uint32_t scope_as;
	uint32_t subnet;
};
struct rte_net_id rte_graph_net_id(const struct rte_graph *graph, uint32_t net);
uint64_t rte_graph_router_id(const struct rte_graph *graph, uint32_t router);

/* --- Routes --- */

#define RTE_HOPS_MAX 64u

/* net[0], router[0], net[1], ..., router[routers - 1], net[routers]. */
struct rte_route {
	struct rte_cost cost;
	uint32_t routers;
	uint32_t router[RTE_HOPS_MAX];
	uint32_t net[RTE_HOPS_MAX + 1];
};

/* < 0, 0, > 0: by cost, then hops, then the ids of subnets and routers from the source
 * on. */
int rte_route_compare(const struct rte_graph *graph, const struct rte_route *a,
		      const struct rte_route *b);

/*
 * The best routes from a subnet to all others (spf.c). Follows changes of the graph at a
 * cost that grows with what changes.
 */
struct rte_spf;

/* NULL: no memory. */
struct rte_spf *rte_spf_open(const struct rte_graph *graph, uint32_t from);
void rte_spf_close(struct rte_spf *spf);
/* After rte_graph_put or rte_graph_del of that router. -FI_ENOMEM: it has to be opened
 * anew. */
int rte_spf_changed(struct rte_spf *spf, uint32_t router);
/* The best to one of these subnets; -FI_ENOENT: there is none. */
int rte_spf_best(const struct rte_spf *spf, const uint32_t *to, uint32_t count,
		 struct rte_route *route);

#define RTE_ALTERNATIVES 4u

/*
 * The best routes from a subnet to any of these, best first (paths.c): their number, at
 * most count, or -FI_ENOMEM. Routes that contain the subnets of a better one, and more,
 * are left out (section VI.A.3). In a network with a great many ways alternatives may be
 * missing, but not the best.
 */
int rte_paths(const struct rte_graph *graph, uint32_t from, const uint32_t *to,
	      uint32_t to_count, struct rte_route *routes, uint32_t count);
/* Routers that routes begin with, and those that they end with. */
struct rte_ends {
	const uint32_t *first;
	uint32_t firsts; /* 0: any */
	const uint32_t *last;
	uint32_t lasts; /* 0: any */
};
/* The same, of those with such ends; NULL: any. */
int rte_paths_by(const struct rte_graph *graph, const struct rte_ends *ends,
		 uint32_t from, const uint32_t *to, uint32_t to_count,
		 struct rte_route *routes, uint32_t count);
/*
 * A static route (section IV.B.6): the best that crosses exactly these subnets, in this
 * order, and has such ends. 1; 0: there is none now; -FI_ENOMEM.
 */
int rte_paths_along(const struct rte_graph *graph, const struct rte_ends *ends,
		    const uint32_t *nets, uint32_t count, struct rte_route *route);

/*
 * What a router does with a connection from a subnet of its to one of these (redirect.c).
 * Clients choose a router by chance, which may not be the one that leads there best
 * (section VI). Ties are no reason to send a client away.
 */
enum rte_choice {
	RTE_CHOICE_SERVE,    /* *route begins with this router, and none is better */
	RTE_CHOICE_REDIRECT, /* *route begins with another: the client goes there */
};
/*
 * ends: whom it may be sent to; NULL: anybody. Among equally good ones chance decides,
 * with weights that fall with their load; random: any 32 bits. An enum rte_choice;
 * -FI_ENOENT: nobody leads there; -FI_ENOMEM.
 */
int rte_redirect(const struct rte_graph *graph, uint32_t me, const struct rte_ends *ends,
		 uint32_t from, const uint32_t *to, uint32_t to_count, uint32_t random,
		 struct rte_route *route);

#endif
