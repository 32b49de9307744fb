/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_store: a server that keeps objects for many clients, each a process of its
 * own. A client asks by message; the server moves the data: it reads what a client puts
 * from the client's memory, and writes what a client gets there. Every client knows from
 * an object's version how long the object is and what is in it.
 */
#ifndef FCT_STORE_H
#define FCT_STORE_H

#include <stdatomic.h>

#include "fct_fabric.h"

#define STORE_CLIENTS 64u /* at most */
#define STORE_SLOTS 4u	  /* objects that belong to each client */
#define STORE_WINDOW 4u	  /* requests a client may have outstanding */
#define STORE_MAX ((size_t)96 << 10)
#define STORE_GUARD 64u /* bytes behind a client's buffer that nobody may write */
#define STORE_BLOCK (STORE_MAX + STORE_GUARD)

/* What may happen besides requests, in percent of the requests. */
struct store_faults {
	unsigned int leave;    /* the client disconnects when nothing is outstanding */
	unsigned int vanish;   /* the client closes its endpoint, requests outstanding */
	unsigned int sent_off; /* the server disconnects, requests outstanding */
	unsigned int killed;   /* the client's process is killed, another takes over */
};

enum store_op { STORE_PUT = 1, STORE_GET, STORE_DONE };

/* Comes with a connection request. */
struct store_hello {
	uint32_t client;
	uint32_t session; /* rises with each connection of the client */
};

struct store_request {
	uint32_t op;
	uint32_t send_off; /* disconnect after the reply */
	uint32_t owner, slot;
	uint64_t cookie;	    /* comes back with the reply */
	uint64_t version, len, sum; /* of what is put */
	uint64_t addr, key;	    /* the client's memory */
};

struct store_reply {
	uint64_t cookie;
	uint64_t version, len, sum; /* of what the store has now, or gave */
};

struct store_ctx {
	struct fct_ctx fi;
	uint32_t kind, index; /* the user's */
	void *owner;
};

/* What all processes of the client side know of each other. */
struct store_shared {
	struct {
		/* The version that the store surely has, and the last one sent to it. */
		_Atomic uint64_t acked, sent;
	} object[STORE_CLIENTS][STORE_SLOTS];
	struct {
		uint64_t random;
		uint32_t session;
		uint32_t requests; /* answered */
		uint32_t ends[4];  /* by kind, as in struct store_faults */
		struct fct_outcome outcome;
	} client[STORE_CLIENTS];
};

/* ---- store.c ---- */

struct store_opts {
	uint32_t clients;
	uint32_t requests; /* of each client */
};
extern struct store_opts fct_store_opts;

static inline uint64_t store_seed(uint32_t owner, uint32_t slot, uint64_t version)
{
	return owner * 1009u + slot * 101u + version * 7u;
}

/* From nothing to all, more often short than long. */
static inline size_t store_len(uint32_t owner, uint32_t slot, uint64_t version)
{
	uint64_t h = (store_seed(owner, slot, version) + 1) * 0x9e3779b97f4a7c15u;

	return version ? (size_t)((h >> 40) % (STORE_MAX >> (h >> 33) % 8)) : 0;
}

/* Depends on every byte and its place. */
uint64_t fct_store_sum(const void *buf, size_t len);

/* ---- store_server.c ---- */
int fct_store_serve(uint32_t clients);

/* ---- store_client.c: one client, in a process of its own; 0 or < 0 (recorded) ---- */
int fct_store_client(uint32_t id, struct store_shared *shared,
		     const struct fct_where *where, const struct store_faults *faults);

#endif
