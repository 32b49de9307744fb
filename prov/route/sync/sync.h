/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link-state exchange, one router's side of it: what it says of itself, what it hears
 * of others and hands on, and which of its neighbours are alive. Section VII.B of the
 * document, with what it leaves open (a newness check, an exchange at the beginning,
 * ageing) as fi_route(7) lists it.
 *
 * A state machine: no I/O, no clock, no threads. Calls are its inputs; `now` is in ms of
 * a clock that never goes back, and that of no call is lower than that of an earlier one.
 * Outputs are two callbacks, which call no function of this object. An object is used by
 * one thread at a time. Functions return 0 or -FI_E*.
 *
 * An adjacency is a connection to another router over one device: to a neighbour, which
 * is of the same AS, or to a border of another AS. It carries messages in order and loses
 * none; one that does both is repaired all the same, for neighbours compare hashes of
 * their databases with each heartbeat.
 */
#ifndef RTE_SYNC_H
#define RTE_SYNC_H

#include "topo/topo.h"

/* --- Messages, as the wire codec packs them --- */

enum rte_sync_type {
	RTE_SYNC_DIGEST = 0x10,
	RTE_SYNC_LSREQ = 0x11,
	RTE_SYNC_LSA = 0x12,
	RTE_SYNC_AS_REACH = 0x13,
	RTE_SYNC_HEARTBEAT = 0x14,
	RTE_SYNC_BYE = 0x15,
};

#define RTE_SYNC_ENTRIES_MAX 256u /* of a DIGEST or LSREQ */
#define RTE_SYNC_REACH_MAX 64u	  /* of an AS_REACH */

/*
 * In a DIGEST: this is known. In an LSREQ: this is wanted, unless something newer has
 * been sent since the digest was; (0, 0): whatever there is.
 */
struct rte_sync_entry {
	uint32_t as;
	uint64_t router;
	uint64_t epoch;
	uint64_t seq;
};

/* A WAN over which the sender's AS is reached. */
struct rte_sync_reach {
	uint32_t scope_as; /* RTE_AS_WAN, or the receiver's AS: a private WAN */
	uint32_t subnet;
	uint64_t cost; /* milli-units */
	uint32_t hops;
};

struct rte_sync_message {
	enum rte_sync_type type;
	union {
		struct { /* DIGEST, LSREQ */
			const struct rte_sync_entry *entry;
			uint32_t count;
			bool more; /* the digest goes on in the next one */
		} list;
		const struct rte_lsa *lsa;
		struct { /* by a router of that AS, itself; newer as an LSA is */
			struct rte_sync_entry key;
			uint32_t count;
			const struct rte_sync_reach *link;
		} reach;
		/* To a neighbour: rte_lsdb_hash and the count of the sender's database.
		 * To a border: rte_key_hash of the AS_REACH that the sender has from it,
		 * and 1; or 0 and 0. */
		struct {
			uint64_t hash;
			uint32_t count;
		} heartbeat;
	};
};

/* --- A router --- */

struct rte_sync;
struct rte_adjacency;

/* Times are in ms; 0 of any but the ids: the default. */
struct rte_sync_options {
	uint32_t as;
	uint64_t router;
	/* Higher than at any earlier start of this router: the time of day will do. */
	uint64_t epoch;
	uint32_t refresh;     /* its LSA is sent again; its life is 3 times that (60 s) */
	uint32_t hold_least;  /* between two changes of it... (50) */
	uint32_t hold_most;   /* ...and while they go on, doubled up to this (1 s) */
	uint32_t heartbeat;   /* between two of them (1 s) */
	uint32_t silence;     /* heartbeats that may be missed (3) */
	uint32_t routers_max; /* in the database (4096) */
};

enum rte_sync_what {
	RTE_SYNC_CHANGED, /* a router, perhaps this one, says something else: lsa */
	RTE_SYNC_GONE,	  /* the life of what router said has ended */
	/* The full database has dropped the router that neighbour `of` has advertised,
	 * for one of a neighbour that has advertised fewer. */
	RTE_SYNC_EVICTED,
	/* The peer of an adjacency has said BYE, or nothing for too long. Nothing is sent
	 * or taken over it any more; rte_sync_down has to follow. */
	RTE_SYNC_LOST,
	/* An LSA in this router's name arrived that this router had not sent: lsa. This
	 * router goes above its number, unless it is out. */
	RTE_SYNC_CONTESTED,
	RTE_SYNC_OUT,	  /* rte_sync_is_out has changed */
	RTE_SYNC_REACHES, /* a border says over which links its AS is reached: reach */
};

struct rte_sync_event {
	enum rte_sync_what what;
	uint32_t as; /* and router: of whom it is told */
	uint64_t router;
	const struct rte_lsa *lsa; /* CHANGED, CONTESTED; valid in the callback */
	void *peer;		   /* LOST, CONTESTED, REACHES: of rte_sync_up */
	uint64_t of;		   /* EVICTED: the neighbour's id */
	bool bye;		   /* LOST: in order */
	const struct rte_sync_reach *reach; /* REACHES; valid in the callback */
	uint32_t reach_count;
};

struct rte_sync_ops {
	/* The message and what it points to are valid in the callback. */
	void (*send)(void *context, void *peer, const struct rte_sync_message *message);
	void (*event)(void *context, const struct rte_sync_event *event);
	/* Returns the time of day in the unit of epochs, ns since 1970. NULL: there is no
	 * such clock, and only the top of the range limits the epochs of others. */
	uint64_t (*time)(void *context);
};

/* What was dropped and why, and what an operator asks for. */
struct rte_sync_counters {
	uint64_t received;
	uint64_t sent;
	uint64_t dead;	      /* received over a lost adjacency */
	uint64_t unexpected;  /* not of this kind of adjacency: an LSA of a border... */
	uint64_t foreign;     /* LSAs and entries of another AS */
	uint64_t third_party; /* reach of an AS that is not the sender's, or private */
	uint64_t malformed;
	uint64_t known;	  /* LSAs that were no news */
	uint64_t range;	  /* LSAs and entries with an epoch or seq that none may have */
	uint64_t capped;  /* LSAs whose lifetime was reduced */
	uint64_t full;	  /* routers for which the database has no room */
	uint64_t evicted; /* routers that were dropped for those of other neighbours */
	uint64_t memory;  /* out of memory */
	uint64_t unanswered; /* entries of an LSREQ that there is nothing for */
	uint64_t ahead; /* LSAs in this router's name that it had not sent, or not lately
			 */
	uint64_t originated;
	uint64_t repaired; /* digests sent, or reach told, because hashes differed */
	uint64_t lost;	   /* adjacencies, by silence */
	uint64_t late;	   /* ms, of ticks */
};

/* *out stays the caller's to close. -FI_EINVAL: options; -FI_ENOMEM. */
int rte_sync_open(const struct rte_sync_options *options, const struct rte_sync_ops *ops,
		  void *context, uint64_t now, struct rte_sync **out);
/* Says nothing to anybody: rte_sync_bye. */
void rte_sync_close(struct rte_sync *sync);

/*
 * What the router says of itself: flags, load and links of an LSA. Their neighbours are
 * those of the adjacencies; ids, numbers and lifetime are its own. Each change is
 * flooded, after the hold-down at most: the load had better be rounded. -FI_EINVAL,
 * -FI_ENOMEM: it says what it said before.
 */
int rte_sync_set(struct rte_sync *sync, const struct rte_lsa *self, uint64_t now);
/*
 * Over which WANs this AS is reached, as borders of other AS are told: all public ones,
 * and those that are private to the border's AS. -FI_EINVAL: more than
 * RTE_SYNC_REACH_MAX; -FI_ENOMEM.
 */
int rte_sync_set_reach(struct rte_sync *sync, const struct rte_sync_reach *link,
		       uint32_t count, uint64_t now);
/* The end: a withdrawal and BYE to all. From then on nothing is sent. */
void rte_sync_bye(struct rte_sync *sync, uint64_t now);

/*
 * Two live routers with one id: the one that was started earlier stays out. It advertises
 * nothing, and forwards what the other one advertises. It is out when its corrections are
 * answered again and again by a later epoch than its own start has, and comes back when
 * the other one has advertised nothing for 3 times refresh.
 */
bool rte_sync_is_out(const struct rte_sync *sync);
/* Another router with this id, which was started later, is known to be alive: this one is
 * out for at least so many ms. */
void rte_sync_yield(struct rte_sync *sync, uint32_t ms, uint64_t now);

struct rte_sync_peer {
	uint32_t as;
	uint64_t router;
	/* The device that it is met on, as in struct rte_link. */
	uint32_t scope_as;
	uint32_t subnet;
};

#define RTE_SYNC_ADJACENCIES_MAX 1024u

/*
 * A connection to another router is there, and it has been established who that is. It
 * counts as alive from now on. peer: as the callbacks name it. -FI_EINVAL: it is this
 * router, or none; -FI_ENOSPC: too many, in all or on that subnet; -FI_ENOMEM.
 */
int rte_sync_up(struct rte_sync *sync, const struct rte_sync_peer *who, void *peer,
		uint64_t now, struct rte_adjacency **out);
/* It is there no more. Frees it. */
void rte_sync_down(struct rte_sync *sync, struct rte_adjacency *adjacency, uint64_t now);

/*
 * A message has come. It stays the caller's. What is wrong with it, if anything, was
 * dropped and counted: -FI_EINVAL, it is malformed; -ERANGE, an epoch or sequence number
 * too high, or too far ahead of the time of day; -FI_EACCES, not the sender's to say;
 * -FI_ENOSPC, the database is full; -FI_ENOMEM.
 */
int rte_sync_receive(struct rte_sync *sync, struct rte_adjacency *adjacency,
		     const struct rte_sync_message *message, uint64_t now);

/*
 * Does what is due. Messages that have arrived are handed over first. One that comes late
 * says that this process had no time: by so much later the silence of neighbours ends.
 */
void rte_sync_tick(struct rte_sync *sync, uint64_t now);
/* When the next tick is due, or UINT64_MAX. Changes with every call above. */
uint64_t rte_sync_deadline(const struct rte_sync *sync);

/* To read. It changes with every call above. */
struct rte_lsdb *rte_sync_db(struct rte_sync *sync);
const struct rte_sync_counters *rte_sync_counters(const struct rte_sync *sync);

#endif
