/* SPDX-License-Identifier: BSD-2-Clause */
/* What the router says of itself: to its neighbours an LSA, to borders of other AS over
 * which WANs its own is reached. */
#ifndef FRT_SELF_H
#define FRT_SELF_H

#include "node.h"

struct frt_self {
	struct rte_lsa lsa;
	struct rte_link link[RTE_LINKS_MAX];
};

/* Points to the node's devices, and into self. */
void frt_self_lsa(const struct frt_node *node, struct frt_self *self);
/* Of what all routers of the AS say: the number of WANs, at most RTE_SYNC_REACH_MAX. */
uint32_t frt_self_reach(const struct frt_node *node, struct rte_lsdb *db, uint64_t now,
			struct rte_sync_reach *link);
/* Tells both to node->sync. */
void frt_self_tell(struct frt_node *node, uint64_t now);

#endif
