/* SPDX-License-Identifier: BSD-2-Clause */
/* Routers that know everything of each other, each as if they had exchanged it; and the
 * way of a request through them. */
#ifndef ROUTER_WORLD_H
#define ROUTER_WORLD_H

#include "cairn_test.h"
#include "fake_net.h"
#include "node.h"
#include "route/route.h"
#include "self.h"

#define WORLD_ROUTERS 17u

struct world {
	uint32_t routers;
	struct rte_config *config[WORLD_ROUTERS];
	struct frt_node node[WORLD_ROUTERS];
	struct frt_device device[WORLD_ROUTERS][8];
	struct rte_lsdb *db[WORLD_ROUTERS];
	struct frt_border border[64];
	uint32_t borders;
	bool down[WORLD_ROUTERS];   /* it has said that it goes */
	bool killed[WORLD_ROUTERS]; /* what it said before holds until it expires */
	/* This one meets nobody on that device, which works otherwise. */
	const struct frt_device *cut;
	uint64_t seq;
};

extern struct world world;

/* Files of the source tree, or with texts. A world that is open is closed first. */
void world_open(struct world *w, const char *const *path, uint32_t count);
void world_open_texts(struct world *w, const char *const *text, uint32_t count);
/* Tells everybody again, after something has changed in nodes or devices. */
void world_tell(struct world *w);
void world_close(struct world *w);
/* Fixture: closes the world of the test. */
void world_tear_down(struct world **t);
struct frt_device *world_device(struct world *w, uint32_t router, uint32_t as,
				uint32_t subnet);
/* The router of that AS and id, or RTE_NONE. */
uint32_t world_router(const struct world *w, uint32_t as, uint64_t id);

#define WORLD_TEXT 512u

/*
 * A client on a subnet asks a router; routers hand the request on, and redirect it. What
 * comes of it: "R4,R2,AS4.R5: 3,1,W40,2", "R4 refuses with 113", ...
 */
const char *world_ask(struct world *w, uint32_t router, struct rte_subnet from,
		      struct rte_subnet to, char text[WORLD_TEXT]);

/* One question. */
struct ask {
	struct rte_peer from;
	struct frt_client client;
	struct rte_conn_req req;
	struct rte_options options;
	struct frt_question question;
	struct frt_answer answer;
};

/* From 3:FROM to 3:TO, of a client on the subnet, to that router. */
void ask_client(struct ask *ask, struct world *w, uint32_t router, struct rte_subnet from,
		struct rte_subnet to);
/* The same of a router of that AS, with a path behind it. */
void ask_router(struct ask *ask, struct world *w, uint32_t router, uint32_t peer_as,
		struct rte_subnet over, struct rte_subnet from, struct rte_subnet to,
		const struct rte_hop *path, uint32_t hops);
/* Asks it. */
enum frt_what ask(struct ask *ask, struct world *w, uint32_t router);

#endif
