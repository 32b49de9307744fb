/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases of fi_cairn_mesh: peers, each a process, perhaps in a network namespace of its
 * own, each connected to every other. A peer asks those with a lower number for a
 * connection, and answers those with a higher one. What they have to tell each other
 * beside their messages stands in memory that they share.
 */
#ifndef FCT_MESH_H
#define FCT_MESH_H

#include <stdatomic.h>

#include "fct_fabric.h"

#define MESH_PEERS 64u /* at most */
#define MESH_LEN 1000u /* bytes of a message */
#define MESH_BURST 4u  /* messages, or writes, from each to each other */

struct mesh_shared {
	_Atomic uint32_t arrived[16]; /* at each barrier, in turn */
	_Atomic bool over;	      /* one of them failed: the others give up */
	struct {
		struct fct_where where;
		struct fct_target target;
		struct fct_outcome outcome;
	} peer[MESH_PEERS];
};

/* A connection, as one of its ends has it. */
struct mesh_conn {
	struct fct_conn c; /* first */
	bool connected, shut;
	unsigned int received;
	struct fct_ctx tx[MESH_BURST], rx[MESH_BURST];
};

struct mesh {
	struct fct_link l;
	struct mesh_shared *shared;
	uint32_t self, count;
	unsigned int barriers; /* passed */
	struct mesh_conn
		conns[MESH_PEERS]; /* by the number of the other end; not self's */
	struct fct_mem out, in;	   /* MESH_BURST pieces for each other peer */
	uint32_t connected, shut;
	unsigned int sent, received; /* completions */
};

/* -n */
extern uint32_t fct_mesh_count;

/* ---- mesh.c ---- */

/* Every peer is connected to every other. 0 or < 0, as the rest. */
int fct_mesh_up(struct mesh *m, struct mesh_shared *shared, uint32_t self, uint64_t caps);
int fct_mesh_down(struct mesh *m, int ret);
/* All peers come here before any goes on. */
int fct_mesh_barrier(struct mesh *m, const char *what);
/* Events until so many connections are up, and so many have ended. */
int fct_mesh_await(struct mesh *m, uint32_t connected, uint32_t shut, const char *what);

/* ---- mesh_use.c: a case, as each peer runs it ---- */
int fct_mesh_messages(struct mesh *m);
int fct_mesh_rma(struct mesh *m);
int fct_mesh_leaves(struct mesh *m);

#endif
