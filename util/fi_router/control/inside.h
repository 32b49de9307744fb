/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_CONTROL_INSIDE_H
#define FRT_CONTROL_INSIDE_H

#include <jansson.h>
#include <sys/types.h>
#include "control.h"
#include "request.h"
#include "transit/transit.h"

/* --- The socket (listen.c) --- */

struct frt_control_file {
	int fd; /* listens; -1: not */
	const char *path;
	dev_t device; /* and inode: of what is at the path */
	ino_t inode;
};

/* 0; -EADDRINUSE: somebody listens there; another -errno. */
int frt_control_listen(struct frt_control_file *file, const char *path);
/* Removes what is at the path, if it is the same still. */
void frt_control_unlisten(struct frt_control_file *file);

/* --- Documents (show*.c); NULL: no memory --- */

json_t *frt_show_topology(const struct frt_node *node);
json_t *frt_show_connections(const struct frt_node *node);
json_t *frt_show_counters(const struct frt_node *node);
json_t *frt_show_adjacencies(const struct frt_node *node);
/* Does it drain, and what is left? */
json_t *frt_show_drain(const struct frt_node *node);
/* All but the routes, which are added a few at a time: next begins with 0. False: these
 * were the last. */
json_t *frt_show_routes(const struct frt_node *node);
bool frt_show_routes_more(const struct frt_node *node, json_t *document, uint32_t *next);

/* Does it (inject.c), and says what is injected then. */
json_t *frt_inject(struct frt_node *node, const struct frt_fault_request *request);
/* Members of several: what each device has done, and when that was (ns); what there is
 * now; memory. */
json_t *frt_show_devices(const struct frt_node *node, uint64_t *now);
json_t *frt_show_now(const struct frt_node *node);
json_t *frt_show_arena(const struct frt_node *node);

/* Whether it is ready, and why not (ready.c). */
json_t *frt_show_ready(const struct frt_node *node);
/* Who waits for whom (blocked.c). */
json_t *frt_show_blocked(const struct frt_node *node);
/* How much each device, and the busiest connections, have done since somebody has asked
 * last (top.c). */
json_t *frt_show_top(const struct frt_node *node, uint32_t busiest);
/* Why a connection would go the way it would (why.c). */
json_t *frt_show_why(struct frt_node *node, const struct frt_request *request);

/* What has come of a probe. */
json_t *frt_show_probed(const struct frt_node *node, const struct frt_probed *probed);

/* --- Words of them (words.c) --- */

/* A number, which to jansson is signed; text, if it is higher. */
json_t *frt_json_id(uint64_t id);
json_t *frt_json_count(uint64_t count);
/* "3:1", or "0:40" for a WAN. */
json_t *frt_json_net(const struct frt_node *node, struct rte_net_id id);
/* "3:1:10.0.1.7:4711" */
json_t *frt_json_end(const struct rte_end *end);
/* A route of the graph, and its cost. */
json_t *frt_json_route(const struct frt_node *node, const struct rte_route *route);
json_t *frt_json_cost(const struct rte_policy *policy, const struct rte_cost *cost);
json_t *frt_json_policy(const struct frt_node *node);
/* {"as": 3, "router": 5, "name": "five"}: who answers. */
json_t *frt_json_self(const struct frt_node *node);

#endif
