/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which way a connection goes: the graph of the AS, what borders say of other AS, and
 * frt_route (node.h), which answers a CONN_REQ. As fi_routectl(1) simulates it.
 *
 * The first router of an AS, whom a client or another AS asks, chooses the whole way
 * through its AS and writes it down; those behind it follow what is written.
 */
#ifndef FRT_ROUTE_H
#define FRT_ROUTE_H

#include "node.h"

/* The graph has the policy of the node's file. db: where addresses of routers are found;
 * the caller's. Sets node->routes. */
int frt_routes_open(struct frt_node *node, struct rte_lsdb *db);
void frt_routes_close(struct frt_node *node);
/* A router says something else, or has gone. Others of the AS are passed over. */
void frt_routes_put(struct frt_node *node, const struct rte_lsa *lsa);
void frt_routes_del(struct frt_node *node, uint32_t as, uint64_t router);
/* The policy is another one: all is computed anew. -FI_ENOMEM: as it was. */
int frt_routes_policy(struct frt_node *node);
/* Something else has changed that answers depend on. */
void frt_routes_forget(struct frt_node *node);

/* To read: the graph that answers are found in. */
const struct rte_graph *frt_routes_graph(const struct frt_node *node);
/*
 * The best routes to a subnet of the graph from any of this router's, which each begins
 * with: the way on from here. Their number, at most count; 0: there is none, or it is one
 * of its own; -FI_ENOMEM.
 */
int frt_routes_find(const struct frt_node *node, uint32_t to, struct rte_route *routes,
		    uint32_t count);
/*
 * The way of what this router asks for itself, a probe: FRT_FORWARD, FRT_DELIVER without
 * an address, or FRT_REFUSE. Sets answer->source; req->ttl is that of the router itself.
 */
void frt_route_own(struct frt_node *node, const struct rte_conn_req *req,
		   struct frt_answer *answer);

/* What a router of this AS says of its device on that subnet, if it works; NULL: nothing.
 */
const struct rte_link *frt_routes_link(const struct frt_node *node, uint64_t router,
				       struct rte_net_id id);

/* What would become of a request, and what else there is (why.c). */
struct frt_why {
	struct rte_subnet from, target;
	int status;	  /* 0, or as of struct frt_answer */
	const char *does; /* with it: "serve", "redirect", "refuse" */
	char text[FRT_TEXT_SIZE];
	bool fixed; /* a static route of this router's file */
	struct rte_route chosen;
	/* All ways from there, this router's and those of others, the best first. */
	struct rte_route route[RTE_ALTERNATIVES];
	uint32_t count;
};
/* from: a subnet of clients; NULL: that of this router's own that is best. Between equals
 * chance decides, as it would then. */
void frt_routes_why(struct frt_node *node, const struct rte_subnet *from,
		    struct rte_subnet target, struct frt_why *why);

/* A router of another AS that is met on a WAN; its owner embeds it. */
struct frt_border {
	struct crn_list entry;
	const struct frt_device *device;
	uint32_t as;
	uint64_t router;
	/* Where it listens; "": unknown, and nothing can be sent there. */
	char uri[RTE_URI_SIZE];
	/* What it costs its AS to come from that WAN, as it says; 0: it has said nothing;
	 * FRT_REACH_DRAIN. */
	uint64_t cost;
};

/* The border takes no new connections. Older routers see a way that costs more than all
 * others. */
#define FRT_REACH_DRAIN UINT64_MAX

void frt_border_add(struct frt_node *node, struct frt_border *border);
void frt_border_del(struct frt_node *node, struct frt_border *border);
/* Those that drain do not count in the next two. */
/* The AS above that of which there is one on the device; 0: there is none. */
uint32_t frt_border_next(const struct frt_node *node, const struct frt_device *device,
			 uint32_t as);
/* Is there one of that AS on the device? as: 0: of any. */
bool frt_border_any(const struct frt_node *node, const struct frt_device *device,
		    uint32_t as);

/*
 * An address as the device's lower provider takes it, without a look at name servers,
 * which would take time: -FI_ENODATA for a name.
 */
int frt_route_address(const struct frt_device *device, const char *uri,
		      union crn_addr *addr);

#endif
