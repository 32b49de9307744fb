/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of flow control: connections round a ring of routers, over the real rules
 * (prov/route/flow).
 *
 * Each connection goes over three routers of the ring, from an end at the first to an end
 * at the last; both ends post requests, and may do what a right program may: post
 * receives only when the reads and writes that it began with are over. What happens in
 * which order is the search's: requests are posted, what is at the head of a lane leaves
 * its slot, answers are sent, slots of a pool are granted.
 *
 *	end 0 -> router 0 -> router 1 -> router 2 (last) -> end 1
 *	end 0 <- router 2 (last) <- router 1 <- router 0 <- end 1
 *
 * In a final state nothing is left: otherwise it is a deadlock. Without a pool
 * connections share nothing, so that of what they do in one state only one connection's
 * is tried.
 */
#ifndef XRT_CREDIT_H
#define XRT_CREDIT_H

#include "run.h"
#include "flow/flow.h"

#define CREDIT_RING 4u
#define CREDIT_CONNS 8u
#define CREDIT_POSITIONS 4u /* routers, and the end */
#define CREDIT_LAST 2u
#define CREDIT_END 3u
#define CREDIT_ITEMS 2u /* in one lane at one node */

/* What a fault adds to enum rte_flow_need: a slot of the other direction. */
#define CREDIT_SLOT_BACK (1u << 8)

enum credit_wrong {
	CREDIT_STUCK = 1 << 0,
	CREDIT_OVERRUN = 1 << 1,
	CREDIT_LOST = 1 << 2,
	CREDIT_POOL = 1 << 3,
	CREDIT_KEY = 1 << 4,
};

#define CREDIT_KIND(request) (1u << ((request)-RTE_MSG))

struct credit_run {
	unsigned int conns;	  /* 0 to 3 go one way round, 4 to 7 the other */
	unsigned int first;	  /* of them */
	unsigned int requests[2]; /* of each end */
	unsigned int kinds;	  /* CREDIT_KIND(RTE_MSG), ...: any of them */
	const uint8_t *script;	  /* the kind of each; or NULL */
	unsigned int pool;	  /* of each router; a lane's share is 1 */
	bool on_demand; /* the pool's slots are for lanes whose escape slot is filled */
};

extern const struct xpl_model credit_model;

/* credit_mutants.c */
const char *credit_mutant(unsigned int number);
bool credit_mutant_fits(unsigned int number, const void *run);
void credit_mutant_use(unsigned int number);

#endif
