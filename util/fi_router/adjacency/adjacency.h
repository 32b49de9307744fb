/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections to other routers over which link states are exchanged: who is connected
 * with whom, what is sent and heard over them, and rte_sync between.
 *
 * A device connects to the routers that its section names, and to those of its AS that
 * say in their LSA where they listen on its subnet. Both ends may do so at the same time:
 * what the router with the lower (AS, id) began stays.
 */
#ifndef FRT_ADJACENCY_H
#define FRT_ADJACENCY_H

#include "node.h"

/* Before any device is opened. Sets node->sync and node->routes. */
int frt_sync_open(struct frt_node *node);
void frt_sync_close(struct frt_node *node);
/* After all that may have changed something: does what is due. */
void frt_sync_turn(struct frt_node *node, uint64_t now);
/* The end: a withdrawal and BYE to all. */
void frt_sync_bye(struct frt_node *node, uint64_t now);
/* Nothing is left to be sent to anybody. */
bool frt_sync_silent(const struct frt_node *node);

/* The device works, or its file or what it can reach has changed. */
void frt_targets_update(struct frt_device *device);
/* It works no more: its connections are closed, also those that are only tried. */
void frt_adjacencies_close(struct frt_device *device, int status);
/* A router that the file names for it, and that is neither connected nor found to be out
 * of reach: its URI; NULL: there is none. */
const char *frt_targets_awaited(const struct frt_device *device);
/* Adjacencies that are up. */
uint32_t frt_adjacencies_count(const struct frt_node *node);

/* One of them, to show. */
struct frt_adjacency_view {
	const struct frt_device *device;
	const struct rte_peer *peer;
	uint32_t as;
	uint64_t router;
	uint64_t since;	 /* ms */
	uint64_t trip;	 /* ns; 0: unknown */
	size_t queued;	 /* bytes to be sent */
	bool began;	 /* this router connected */
	const char *uri; /* of a border: where it listens; else NULL */
	uint64_t cost;	 /* of a border: to come from there into its AS; 0: unknown */
};
void frt_adjacencies_each(const struct frt_node *node,
			  void (*each)(const struct frt_adjacency_view *view,
				       void *context),
			  void *context);

/* A neighbour has refused peer, or parted from it: it is connected with another router
 * that has this router's id. */
void frt_duplicate_refused(struct frt_device *device, const struct rte_peer *peer);
/* A first message that begins an adjacency. */
bool frt_adjacency_first(uint8_t type);
/* In the callback of who connected and sent it; takes peer and rx over. */
void frt_adjacency_accept(struct frt_device *device, struct rte_peer *peer,
			  struct rte_rx *rx);

#endif
