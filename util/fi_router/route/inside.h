/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_ROUTE_INSIDE_H
#define FRT_ROUTE_INSIDE_H

#include "route.h"

/* Ways that were computed, until the graph changes. A power of two. */
#define FRT_WAYS 512u
/* Subnets that a search may end at: WANs to another AS. */
#define FRT_NETS_MAX (2 * RTE_LINKS_MAX)

/* From a subnet to another, through this AS. */
struct frt_way_key {
	uint32_t from; /* index in the graph */
	bool client;   /* who asks */
	struct rte_subnet to;
};

struct frt_way {
	uint64_t generation; /* 0: nothing is here */
	struct frt_way_key key;
	uint32_t hops;
	struct rte_hop hop[RTE_TTL_MAX];
};

struct frt_routes {
	struct rte_graph *graph;
	struct rte_lsdb *db;
	uint64_t generation;
	uint64_t random;
	struct crn_list borders; /* of struct frt_border */
	struct frt_way way[FRT_WAYS];
};

/* Ends the answer: FRT_REFUSE. Returns status. */
int frt_refuse(struct frt_answer *answer, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- routes.c --- */

/* The best of that AS on the device: the cheapest, then the lowest id; NULL: none. */
const struct frt_border *frt_border_best(const struct frt_node *node,
					 const struct frt_device *device, uint32_t as);
/* Is it this router, or one that is met on the device's subnet? A network may work for
 * others, and not for this router. */
bool frt_route_meets(const struct frt_node *node, const struct frt_device *device,
		     uint64_t router);
/* How the AS calls the subnet of a path's entry: -FI_ENOENT: this router is not on it. */
struct frt_device *frt_route_device(const struct frt_node *node,
				    const struct rte_hop *hop);

/* --- way.c --- */

/*
 * The way from a subnet of this router to the target, or out of the AS toward it, behind
 * what is in answer->path. 0; else the answer is there: FRT_REFUSE, or FRT_REDIRECT.
 */
int frt_way(struct frt_node *node, const struct frt_question *question,
	    struct frt_answer *answer);
/*
 * The best way from any subnet of this router, which is answer->path; the device of its
 * first subnet. NULL: FRT_REFUSE.
 */
struct frt_device *frt_way_own(struct frt_node *node, struct rte_subnet target,
			       struct frt_answer *answer);

/* What the search begins with. */
struct frt_search {
	struct frt_node *node;
	struct rte_graph *graph;
	uint32_t me;   /* index of this router; RTE_NONE: it is not in the graph */
	uint32_t from; /* index of a subnet; so is each of to */
	uint32_t to[FRT_NETS_MAX];
	uint32_t to_count;
	struct rte_subnet target;
	bool client;
};

/* A search for a client on that subnet, by its index. */
void frt_search_begin(struct frt_search *search, struct frt_node *node, uint32_t from,
		      struct rte_subnet target);
/* An enum rte_choice, of a static route if there is one; -FI_ENOENT, -FI_ENOMEM. */
int frt_choose(const struct frt_search *search, struct rte_route *route, bool *fixed);
/* No route: the answer is FRT_REFUSE. Returns its status. */
int frt_no_way(const struct frt_search *search, struct frt_answer *answer, int err);

/* --- near.c --- */

/* Routers that a way from a subnet may begin with: this one, and those that it meets
 * there. Any, where it is not on that subnet. */
struct frt_near {
	struct rte_ends ends;
	uint32_t *router; /* of ends */
};

/* from: its index in the graph. 0 or -FI_ENOMEM. */
int frt_near_open(struct frt_near *near, const struct frt_node *node, uint32_t from);
void frt_near_close(struct frt_near *near);

/* --- ask.c --- */

/* Where a request goes on behind entry at of the path, which is this router's. */
int frt_go_on(struct frt_node *node, const struct frt_question *question, uint32_t at,
	      struct frt_answer *answer);
/* To that router, over answer->device. */
int frt_forward_to(const struct frt_question *question, uint32_t as, uint64_t router,
		   const char *uri, struct frt_answer *answer);

#endif
