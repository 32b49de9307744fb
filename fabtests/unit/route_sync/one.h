/* SPDX-License-Identifier: BSD-2-Clause */
/* One router, whose peers are the test: what it sends is kept, what it hears is made up.
 */
#ifndef SYNC_ONE_H
#define SYNC_ONE_H

#include "cairn_test.h"
#include "message.h"

#define ONE_AS 3u
#define ONE_ID 10u
#define ONE_EPOCH 100u
#define ONE_SUBNET 1u /* all its neighbours are on it */
#define ONE_PEERS 8u
#define ONE_SENT 512u
#define ONE_REFRESH 20000u

struct one_sent {
	unsigned int to; /* peer */
	struct rte_sync_message message;
};

struct one {
	struct rte_sync *sync;
	uint64_t now;
	uint64_t day; /* time of day in ns; 0: no bound */
	struct rte_adjacency *peer[ONE_PEERS];
	uint32_t peer_as[ONE_PEERS];
	uint64_t peer_id[ONE_PEERS];
	struct one_sent sent[ONE_SENT];
	uint32_t sents;
	/* Events by kind, and the last one. */
	uint32_t events[RTE_SYNC_REACHES + 1];
	struct rte_sync_event event;
	uint64_t changed; /* sum of the routers' ids in CHANGED */
};

/* With its device on ONE_SUBNET, and one on WAN 7. NULL: the default. One that is
 * open is closed first. */
void one_open(struct one *it, const struct rte_sync_options *options);
void one_close(struct one *it);

/* The router of the test; a fixture opens it with the default: *t is &one. With two:
 * peers 0 and 1 are neighbours that know the same. */
extern struct one one;
void one_set_up(struct one **t);
void one_set_up_two(struct one **t);
void one_tear_down(struct one **t);

/* Peer number i: a neighbour with id 20 + i. */
void one_up(struct one *it, unsigned int i);
/* A border of that AS, by WAN 7. */
void one_up_border(struct one *it, unsigned int i, uint32_t as);
/* What was sent until now is forgotten. */
void one_forget(struct one *it);
/* The number of messages of that type that were sent to that peer. */
uint32_t one_count(const struct one *it, unsigned int to, enum rte_sync_type type);
/* The last of them, or NULL. */
const struct rte_sync_message *one_last(const struct one *it, unsigned int to,
					enum rte_sync_type type);
int one_receive(struct one *it, unsigned int from, struct rte_sync_message message);
/* An LSA without links, that lives for 3 * ONE_REFRESH. */
struct rte_lsa one_lsa(uint64_t router, uint64_t epoch, uint64_t seq);
int one_hear(struct one *it, unsigned int from, uint64_t router, uint64_t epoch,
	     uint64_t seq);
/* A DIGEST or LSREQ with one entry. */
int one_list(struct one *it, unsigned int from, enum rte_sync_type type, uint64_t router,
	     uint64_t epoch, uint64_t seq);
/* Ticks when they are due, until then; peers in the mask send heartbeats with the right
 * hash in time. */
void one_run(struct one *it, uint64_t until, unsigned int heartbeats);
/* What it says of itself now. */
const struct rte_lsa *one_own(struct one *it);
/* A heartbeat that has another hash. */
void one_differ(struct one *it, unsigned int from);

#endif
