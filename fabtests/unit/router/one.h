/* SPDX-License-Identifier: BSD-2-Clause */
/* A router of AS 3 on peers that are made up: id 5, on 3:1 and 3:2, and on WAN 7. */
#ifndef ROUTER_ONE_H
#define ROUTER_ONE_H

#include "adjacency/adjacency.h"
#include "device/device.h"
#include "worker/worker.h"
#include "world.h"

#define ONE_DEVICE(name, as, sn, more)                             \
	"[" name "]\ntransport = tcp\nas = " #as "\nsubnet = " #sn \
	"\nuri = tcp://10.0." #sn ".5:7000\nrate = 1G\n" more
#define ONE_ROUTER "[router]\nid = 5\nconnections = 2\nname = five\n"
#define ONE_TEXT(more)                                                   \
	ONE_ROUTER ONE_DEVICE("a", 3, 1, more) ONE_DEVICE("b", 3, 2, "") \
		ONE_DEVICE("w", 0, 7, "key_file = /k\nkey_id = 1\n")

struct one {
	struct frt_node node;
	/* Of what transit was given. */
	uint32_t requests, gone;
	uint32_t late; /* requests after a device was gone */
	struct frt_port *port;
	struct rte_peer *peer;
	struct frt_client *client;
	struct rte_rx *rx;
};

/* The router of the test. */
extern struct one one;

/* Time stands still from here on. text: NULL: ONE_TEXT(""). A router that is open is
 * closed first. */
void one_open(struct one *router, const char *text);
void one_close(struct one *router);
/* Fixture: *t is &one, opened with ONE_TEXT(""). */
void one_set_up(struct one **t);
void one_tear_down(struct one **t);
/* What the loop does once. */
void one_turn(struct one *router);
/* ms, in steps of 10. */
void one_passes(struct one *router, unsigned int ms);
/* A device by name. */
struct frt_device *one_device(struct one *router, const char *name);
/* The adjacency with that router on device a; NULL: there is none. Its peer. */
struct rte_peer *one_adjacent(struct one *router, uint64_t id);
/* A heartbeat, which begins an adjacency; CONN_REQ. */
void one_heartbeat(struct rte_peer *fake);
void one_conn_req(struct rte_peer *fake);
/* What is written to the log from here on; how many lines of it have that text, after
 * which the log is the standard error again. */
void one_log_begin(void);
unsigned int one_log_end(const char *text);
/* The router behind fake sends an LSA. */
void one_lsa(struct rte_peer *fake, const struct rte_lsa *lsa);
/* A router connects to device a, and says a heartbeat. */
struct rte_peer *one_visitor(struct one *router, uint64_t id, uint64_t epoch);

#endif
