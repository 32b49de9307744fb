/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef FRT_TRANSIT_INSIDE_H
#define FRT_TRANSIT_INSIDE_H

#include "transit.h"

/* Of one worker. */
struct frt_transits {
	struct crn_list open, closed;  /* of struct frt_transit */
	struct crn_list probes;	       /* of struct frt_probe; the main thread's */
	uint32_t count;		       /* of those that are open */
	const struct frt_device *gone; /* is being closed: nothing begins on it */
};

static inline struct frt_transits *frt_transits_of(const struct frt_worker *worker)
{
	return worker->transits;
}

/* The device's port at the worker of a connection. */
static inline struct rte_port *frt_transit_port(const struct frt_transit *transit,
						const struct frt_device *device)
{
	return device->at[transit->worker->index].port;
}

static inline enum frt_from frt_other(enum frt_from from)
{
	return from == FRT_IN ? FRT_OUT : FRT_IN;
}

static inline enum frt_from frt_which(const struct frt_side *side)
{
	return side == &side->transit->side[FRT_IN] ? FRT_IN : FRT_OUT;
}

static inline uint64_t frt_own_id(const struct frt_transit *transit)
{
	return transit->node->id;
}

/* --- The object (transit.c) --- */

extern const struct rte_peer_ops frt_transit_peer_ops;

/* ns */
uint64_t frt_now_ns(void);
void frt_reason_set(struct frt_transit *transit, int status, uint64_t router,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
void frt_transit_deadline(struct frt_transit *transit, uint64_t ms);
/* Counts a message that was posted: its done is frt_transit_done, or ends with it. */
void frt_transit_post(struct frt_transit *transit, struct rte_tx *tx);
void frt_transit_done(struct rte_tx *tx, int err);

/*
 * Around whatever works on a transit because of an event: leave, the last thing that is
 * done, closes peers, and what calls back because of that finds a transit in one state or
 * another, and not on its way between two. The outermost leave may free it.
 */
void frt_transit_enter(struct frt_transit *transit);
void frt_transit_leave(struct frt_transit *transit);

/* That peer is closed, and says nothing any more. status: for BYE. */
void frt_side_close(struct frt_side *side, int status);
/* Closes both, and lets go of everything. */
void frt_transit_close(struct frt_transit *transit, int status);

/* Nobody calls back for it any more. */
void frt_transit_free(struct frt_transit *transit);

/* --- Words (say.c) --- */

/* That word, and none that was waiting before; nobody hears it when it is closed. */
static inline void frt_say_only(struct frt_side *side, uint32_t word)
{
	side->say = side->peer ? word : 0;
}

/* That word after those that wait. */
static inline void frt_say_then(struct frt_side *side, enum frt_word word)
{
	frt_say_only(side, side->say | word);
}

/* Says what is to be said to that side, as far as there is memory. */
void frt_say_words(struct frt_side *side);

/* As frt_transit_each, of one worker. */
void frt_worker_each(const struct frt_worker *worker,
		     void (*each)(const struct frt_transit *transit, void *context),
		     void *context);

/* --- Probes (probe.c) --- */

/* The connection is one that is asked about, and that nobody has. */
static inline bool frt_is_probe(const struct frt_transit *transit)
{
	return transit->req.features & RTE_FEATURE_PROBE;
}

/* Adds TLV PROBE to an answer: how the router is, or the worker, as far as it can tell.
 */
void frt_probe_set(struct rte_options *options, const struct frt_worker *worker);
/* Those that go over the device, or all: NULL. */
void frt_probes_end(struct frt_node *node, const struct frt_device *device);

/* --- How it comes about (setup.c); rx is theirs --- */

/* ms of the time that a request has for the next hop to be connected, and to greet: half
 * of it, so that the client has time left to ask another router. */
uint32_t frt_transit_reach_ms(const struct frt_transit *transit);
void frt_transit_ask(struct frt_transit *transit, struct rte_rx *rx);
void frt_transit_up(struct frt_transit *transit);
void frt_transit_rep(struct frt_transit *transit, struct rte_rx *rx);
void frt_transit_ack(struct frt_transit *transit, struct rte_rx *rx);
/* It does not come about: in is told so with CONN_REP, and out is told no more. reason
 * has been set. */
void frt_transit_refuse(struct frt_transit *transit, enum rte_verdict verdict);

/* --- How it ends (end.c) --- */

void frt_transit_shutdown(struct frt_transit *transit, enum frt_from from,
			  struct rte_rx *rx);
/* That side has said something when the connection is about to end. */
void frt_transit_late(struct frt_transit *transit, enum frt_from from, struct rte_rx *rx);
/* The client wants it no more, and reason says why: out is told so. */
void frt_transit_give_up(struct frt_transit *transit);
/* The lower connection of that side is over, or it has broken the protocol. */
void frt_transit_lost(struct frt_transit *transit, enum frt_from from, int err);
void frt_transit_expired(struct frt_transit *transit);
/* Something was said, or sent on: goes on with what waited for that, and may close. */
void frt_transit_go(struct frt_transit *transit);
/* The node says so. */
void frt_transit_abort(struct frt_transit *transit, int status);

#endif
