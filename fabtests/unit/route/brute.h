/* SPDX-License-Identifier: BSD-2-Clause */
/* The oracle: all routes through a world, by trying each; costs and order by its own
 * arithmetic. */
#ifndef ROUTE_BRUTE_H
#define ROUTE_BRUTE_H

#include "world.h"

struct brute_net {
	uint32_t scope_as;
	uint32_t subnet;
};

/* Random networks: routers, subnets, some of them with holes, WANs, drained routers. */
struct brute_random {
	uint64_t state;
};
uint32_t brute_draw(struct brute_random *random, uint32_t below);
void brute_world(struct brute_random *random, struct world *w);
/* Another state of one of its routers, whose id it returns. */
uint64_t brute_change(struct brute_random *random, struct world *w);
const char *brute_policy(struct brute_random *random);

/* The best routes as rte_paths would say them: their number. */
uint32_t brute_paths(const struct world *w, const struct rte_graph *graph, uint32_t from,
		     uint32_t to, struct rte_route *routes, uint32_t count);

#endif
