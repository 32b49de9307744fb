/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases of fi_cairn_mcast: several datagram endpoints on each side, which join groups
 * that no other run has. Each has a completion queue for what it receives.
 */
#ifndef FCT_MCAST_H
#define FCT_MCAST_H

#include "fct_op.h"

#define MCAST_EPS 3   /* of a side */
#define MCAST_SLOTS 8 /* receives of each */

/* Forms of a group's address. */
enum mcast_form { MCAST_IN, MCAST_IN6, MCAST_IB, MCAST_UD, MCAST_FORMS };

union mcast_addr {
	struct sockaddr sa;
	uint8_t bytes[64];
};

struct mcast_ep {
	struct fct_conn c;
	struct fid_cq *rxcq;
	struct fct_ctx rx[MCAST_SLOTS];
};

struct mcast {
	struct fct_link l;
	struct mcast_ep ep[MCAST_EPS];
	struct fid_mc *mc[2 * MCAST_EPS]; /* closed by mcast_down; NULL: none */
	bool ethernet;
	uint16_t run;	       /* the same on both sides */
	size_t max;	       /* bytes that both sides can send */
	struct fct_mem tx, rx; /* max bytes; MCAST_SLOTS for each endpoint */
	struct fct_ctx tx_ctx;
};

/* mcast.c: 0, or < 0 after a failure that was recorded. */

int mcast_up(struct mcast *m, uint64_t caps);
void mcast_end(struct mcast *m);
/* A group of this run, by its number. False: this kind of link has none of that form. */
bool mcast_group(const struct mcast *m, enum mcast_form form, uint8_t number,
		 union mcast_addr *addr);
/* Endpoint i joins and is told so; the fid_mc is m->mc[n]. */
int mcast_join(struct mcast *m, unsigned int i, const union mcast_addr *addr,
	       uint64_t flags, unsigned int n);
int mcast_leave(struct mcast *m, unsigned int n);
/* All of m->ep join m->mc[i] with these flags, and both sides have. */
int mcast_join_all(struct mcast *m, const union mcast_addr *addr, uint64_t flags);
/* Endpoint i posts receive n. */
int mcast_post(struct mcast *m, unsigned int i, unsigned int n);
int mcast_post_all(struct mcast *m, unsigned int n);
/* Receive n of endpoint i completes with len bytes of fct_fill's pattern. */
int mcast_expect(struct mcast *m, unsigned int i, unsigned int n, size_t len,
		 uint64_t seed);
int mcast_expect_all(struct mcast *m, unsigned int n, size_t len, uint64_t seed);
/* It has received nothing. */
int mcast_nothing(struct mcast *m, unsigned int i);
/* Endpoint i sends len bytes of the pattern, and they have left. */
int mcast_send(struct mcast *m, unsigned int i, fi_addr_t to, size_t len, uint64_t seed);
/* The client's first endpoint sends so; both sides have come here before and after. */
int mcast_from_client(struct mcast *m, fi_addr_t to, size_t len, uint64_t seed);

#endif
