/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of the state that is the programs': search.h takes it back with the rest. */
#ifndef XPV_STATE_H
#define XPV_STATE_H

#include "scenario.h"

#define SECOND 1000000000ull /* ns */
#define PROGRAM_BEGIN SECOND

struct program {
	uint32_t called;   /* calls made */
	uint32_t reported; /* bits: successes the initiator has read */
	uint32_t failed;   /* bits: errors, or calls refused */
	uint32_t received; /* bits: what the target has read */
	uint32_t wrong;	   /* WRONG_* that a step noticed */
	/* Of each fenced call: those that the program had been told had failed. It is not
	 * about them. */
	uint32_t known[CALLS];
	/* Of each connection: messages the target has read, one of them that it has not
	 * applied yet (0: none), and what the initiator's counter says. */
	uint32_t arrived[PAIRS], pending[PAIRS], counted[PAIRS];
	uint64_t now; /* ns: the clock, which stands still */
};
extern struct program xpv_program;

#endif
