/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_ADJACENCY_INSIDE_H
#define FRT_ADJACENCY_INSIDE_H

#include "adjacency.h"
#include "convert.h"
#include "lookup.h"
#include "route/route.h"

struct frt_target;

struct frt_adjacency {
	struct crn_list entry; /* of device->adjacencies */
	struct frt_device *device;
	struct rte_peer *peer;
	struct frt_target *target; /* this end connected there; or NULL */
	struct rte_adjacency *sync;
	uint32_t as;
	uint64_t router;
	uint64_t epoch;
	uint64_t since; /* ms */
	bool is_border;
	struct frt_border border; /* of another AS */
	struct frt_stamps stamps;
	struct rte_join join;
	/* Messages to be sent, of struct frt_queued. */
	struct crn_list queue;
	size_t queued; /* bytes */
	/* DIGEST and LSREQ that wait for the queue to become shorter: struct rte_rx. */
	struct crn_list held;
	uint32_t helds;
	/* Nothing more is sent once the queue is empty: it is closed. */
	bool ending;
	/* To be closed by the next turn, and why: FI_E*. */
	int failed;
};

/* A router to connect to. */
struct frt_target {
	struct crn_list entry; /* of device->targets */
	struct frt_device *device;
	struct rte_uri uri;
	char text[RTE_URI_SIZE];
	bool wanted; /* the file or an LSA names it: looked at by frt_targets_update */
	bool named;  /* the file does */
	/* Who that is: known from its LSA, or once it was connected. 0: not yet. */
	uint32_t as;
	uint64_t router;
	struct frt_lookup *lookup;	 /* of its name; NULL: none */
	struct rte_peer *peer;		 /* that is connecting; NULL: none */
	struct frt_adjacency *adjacency; /* that came of it; NULL: none */
	struct crn_deadline retry;
	uint32_t tries; /* without success */
	bool told;	/* that it cannot be reached */
};

/* --- adjacency.c --- */

/*
 * The peer is a router: is it one to be connected with? 0: *out is the adjacency; else
 * the peer has been closed. In a callback of it. target: that was connected to; or NULL.
 */
int frt_adjacency_begin(struct frt_device *device, struct rte_peer *peer,
			struct frt_target *target, struct frt_adjacency **out);
/* status: for BYE. */
void frt_adjacency_end(struct frt_adjacency *adjacency, int status);
/* One with that router; NULL: none. */
struct frt_adjacency *frt_adjacency_find(const struct frt_device *device, uint32_t as,
					 uint64_t router);

/* --- duplicate.c: two routers with one id --- */

bool frt_duplicate_is_self(const struct frt_device *device, const struct rte_peer *peer);
/* peer, and that of an adjacency, are two routers of one id. what: is done with one. */
void frt_duplicate_log(struct frt_device *device, const struct rte_peer *peer,
		       const struct frt_adjacency *old, const char *what);
/* peer may be another router with this one's id. */
void frt_duplicate_meet(struct frt_device *device, const struct rte_peer *peer);
/* RTE_SYNC_CONTESTED, RTE_SYNC_OUT. */
void frt_duplicate_contested(struct frt_adjacency *adjacency, const struct rte_lsa *lsa);
void frt_duplicate_out(struct frt_node *node);
/* An LSA of that router has arrived: is it the neighbour's of that id? */
void frt_duplicate_check(struct frt_node *node, uint32_t as, uint64_t router);

/* --- queue.c --- */

/* A message of rte_sync. Failure shows in adjacency->failed. */
void frt_queue_say(struct frt_adjacency *adjacency,
		   const struct rte_sync_message *message);
/* As much as the peer takes now. */
void frt_queue_send(struct frt_adjacency *adjacency);
bool frt_queue_is_long(const struct frt_adjacency *adjacency);
void frt_queue_drop(struct frt_adjacency *adjacency);

/* --- hear.c --- */

void frt_hear_message(struct frt_adjacency *adjacency, struct rte_rx *rx);
/* Those that were held, as far as there is room now. */
void frt_hear_held(struct frt_adjacency *adjacency);
void frt_hear_drop(struct frt_adjacency *adjacency);

/* --- target.c --- */

/* The adjacency that came of it has ended, or never came about. */
void frt_target_lost(struct frt_target *target);
/* Those with that router are not tried while there is an adjacency with it. */
void frt_targets_close(struct frt_device *device);

#endif
