/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share. */
#ifndef RTE_SYNC_STATE_H
#define RTE_SYNC_STATE_H

#include <cairn/compat.h>
#include <cairn/list.h>
#include "sync.h"

struct rte_adjacency {
	struct crn_list entry;
	struct rte_sync_peer who;
	void *peer; /* the caller's name of it */
	bool border;
	bool dead;	/* RTE_SYNC_LOST was told */
	uint64_t heard; /* ms; moved by the lateness of ticks */
	/* Of heartbeats in a row whose hash is another one: points, and how many of them
	 * call for a repair. */
	uint32_t differed, patience;
	uint64_t their_hash, our_hash; /* at the last heartbeat */
	/* Of the last AS_REACH of a border; (0, 0): none. */
	uint64_t reach_epoch, reach_seq;
};

/* An LSA that was asked for. */
struct rte_wanted {
	uint64_t router;
	uint64_t epoch, seq; /* at least */
	uint64_t until;	     /* ms; it is asked for again after that */
	struct rte_adjacency *from;
};

struct rte_sync {
	struct rte_sync_options options;
	struct rte_sync_ops ops;
	void *context;
	struct rte_lsdb *db;
	struct rte_sync_counters counters;
	bool over; /* rte_sync_bye */

	/* own.c */
	struct rte_lsa *self; /* without neighbours; NULL: nothing yet */
	uint64_t epoch, seq;  /* of what was originated last */
	bool changed;	      /* to be said at hold_until */
	bool out;	      /* another router has this id */
	uint64_t out_until;   /* ms */
	/* LSAs in a row that were above its corrections, and when the last one came, ms.
	 */
	uint32_t contests;
	uint64_t contested_at;
	uint64_t hold_until, refresh_at; /* ms */
	uint32_t hold;

	/* adjacency.c */
	struct crn_list adjacencies;
	uint32_t adjacency_count;
	uint64_t beat_at; /* ms; heartbeats to all of them */

	/* request.c; ascending by router */
	struct rte_wanted *wanted;
	uint32_t wanted_count;
	uint32_t wanted_size;

	/* reach.c */
	struct rte_sync_reach *reach;
	uint32_t reach_count;
	uint64_t reach_seq; /* 0: nothing yet */
};

/* Lives of LSAs, in times of refresh. */
#define RTE_LIVES 3u
/* A heartbeat that differs has one point, and so many if neither end has moved since the
 * last one: then nothing is on its way. */
#define RTE_STILL 8u
#define RTE_PATIENCE_LEAST RTE_STILL
#define RTE_PATIENCE_MOST (8 * RTE_STILL)

/* LSAs above a router's own, one after the other, after which another router with its id
 * is alive: what an earlier start has left is above it once. */
#define RTE_CONTESTS 4u
/* Times hold_most, or heartbeat, within which the next one belongs to the same series: it
 * may have come by a repair. */
#define RTE_CONTEST_TIMES 10u

/* Epochs and sequence numbers are below this: a router can always go above what others
 * have received in its name. As ns since 1970: the year 2262. */
#define RTE_NUMBER_TOP (UINT64_C(1) << 63)
/* ns by which the epoch of a neighbour's LSA may be ahead of the time of day here. */
#define RTE_EPOCH_AHEAD (24 * UINT64_C(3600000000000))
/* ms that a received LSA may live at least, whatever this router's own refresh is. */
#define RTE_LIFETIME_KEPT 300000u

/* < 0, 0, > 0: by (epoch, seq). */
static inline int rte_number_compare(uint64_t epoch_a, uint64_t seq_a, uint64_t epoch_b,
				     uint64_t seq_b)
{
	if (epoch_a != epoch_b)
		return epoch_a < epoch_b ? -1 : 1;
	return (seq_a > seq_b) - (seq_a < seq_b);
}

/* --- sync.c --- */

/* Nothing, over one that was lost. */
void rte_sync_send(struct rte_sync *sync, struct rte_adjacency *adjacency,
		   const struct rte_sync_message *message);

/* --- own.c: what this router says of itself --- */

/* Something of it has changed. */
void rte_own_changed(struct rte_sync *sync, uint64_t now);
/* Originates what has changed, if its time has come. */
void rte_own_tick(struct rte_sync *sync, uint64_t now);
uint64_t rte_own_deadline(const struct rte_sync *sync);
/* An LSA in its name that is newer than its own, or not the same: it goes above, or stays
 * out. 0, -FI_E*. */
int rte_own_ahead(struct rte_sync *sync, const struct rte_adjacency *from,
		  const struct rte_lsa *lsa, uint64_t now);
void rte_own_withdraw(struct rte_sync *sync, uint64_t now);

/* --- flood.c: LSAs --- */

/* Checks epoch and seq of what a neighbour sent. -ERANGE: at or above RTE_NUMBER_TOP, or
 * ahead of the time of day by more than RTE_EPOCH_AHEAD. */
int rte_number_check(const struct rte_sync *sync, uint64_t epoch, uint64_t seq);
/*
 * Takes an LSA of another router, or this one's, over to the database and to all
 * neighbours but from, whom it comes from (NULL: nobody). 1, 0, -FI_E* as rte_lsdb_put.
 */
int rte_flood(struct rte_sync *sync, const struct rte_lsa *lsa,
	      const struct rte_adjacency *from, uint64_t now);
int rte_flood_receive(struct rte_sync *sync, struct rte_adjacency *from,
		      const struct rte_lsa *lsa, uint64_t now);

/* --- request.c: digests, and what is asked for after them --- */

void rte_digest_send(struct rte_sync *sync, struct rte_adjacency *to, uint64_t now);
int rte_digest_receive(struct rte_sync *sync, struct rte_adjacency *from,
		       const struct rte_sync_message *message, uint64_t now);
int rte_lsreq_receive(struct rte_sync *sync, struct rte_adjacency *from,
		      const struct rte_sync_message *message, uint64_t now);
/* It has come: nobody has to be asked any more. */
void rte_wanted_came(struct rte_sync *sync, const struct rte_lsa *lsa);
/* Another neighbour is asked in its place. */
void rte_wanted_move(struct rte_sync *sync, const struct rte_adjacency *from,
		     uint64_t now);

/* --- reach.c: what borders tell each other --- */

/* Nothing, if there is nothing to be told. */
void rte_reach_tell(struct rte_sync *sync, struct rte_adjacency *to);
/* What a heartbeat to that border says that we have of it; and what it should say. */
uint64_t rte_reach_held(const struct rte_adjacency *from);
uint64_t rte_reach_own(const struct rte_sync *sync);
int rte_reach_receive(struct rte_sync *sync, struct rte_adjacency *from,
		      const struct rte_sync_message *message);

/* --- adjacency.c: who is alive --- */

/* The peer has ended. */
void rte_adjacency_lost(struct rte_sync *sync, struct rte_adjacency *adjacency, bool bye,
			uint64_t now);
void rte_heartbeat_receive(struct rte_sync *sync, struct rte_adjacency *from,
			   const struct rte_sync_message *message, uint64_t now);
/* late: ms by which this tick is. */
void rte_adjacency_tick(struct rte_sync *sync, uint64_t late, uint64_t now);
uint64_t rte_adjacency_deadline(const struct rte_sync *sync);

#endif
