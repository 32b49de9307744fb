/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drain: the router takes no new connections, other routers and clients avoid it, and
 * what it passes on goes on. The daemon may be told to end once nothing is left, or when
 * time is up.
 */
#ifndef FRT_DRAIN_H
#define FRT_DRAIN_H

#include "node.h"

/* ms between looks at what is left. */
#define FRT_DRAIN_LOOK 250u
/* ms without a connection after which it ends: routers that have not heard of it yet may
 * still send one. */
#define FRT_DRAIN_QUIET 1000u

/* Again: as it is. */
void frt_drain_begin(struct frt_node *node);
/* The same, and the daemon ends when it is empty, or after so many ms (0: however long it
 * takes): node->leave. Again: with another deadline. */
void frt_drain_exit(struct frt_node *node, uint64_t deadline);
/* It takes new connections again, and does not end. */
void frt_drain_undo(struct frt_node *node);
/* Before the node's deadlines end. */
void frt_drain_close(struct frt_node *node);

#endif
