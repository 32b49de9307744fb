/* SPDX-License-Identifier: BSD-2-Clause */
/* What is searched: a machine, and a program of libfabric calls on it. */
#ifndef XPV_SCENARIO_H
#define XPV_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "search.h"

#define PM_SIZE 4096u
#define PM_WIDE 12288u /* SPECIAL_WIDE */
#define CALLS 6u
#define PAIRS 2u /* connections, at most */

/* What is unusual about a machine. */
enum special {
	SPECIAL_NONE,
	SPECIAL_RELAXED, /* its adapter places data in any order */
	SPECIAL_LIAR,	 /* somebody declared DDIO off; it is on */
	SPECIAL_MESSAGE, /* the user wants the message method */
	SPECIAL_SHORT,	 /* a send queue that programs fill, and no room for groups */
	/* FI_COMMIT_COMPLETE is the endpoint's default, and counters tell of its end, at
	 * both sides. */
	SPECIAL_COUNTED,
	SPECIAL_SHARED,	 /* the target's receives are a shared context's */
	SPECIAL_ONE,	 /* a connection has one receive */
	SPECIAL_WIDE,	 /* room for what the provider does not take together */
	SPECIAL_REGIONS, /* memory is registered in two parts */
	/* The second part is declared less safe than it is: DMP, DDIO on, and it takes no
	 * FLUSH. The second connection's peer has no sequence word. */
	SPECIAL_MIXED,
	/* Writes need not be in order with each other: the endpoints do without
	 * FI_ORDER_WAW. */
	SPECIAL_UNORDERED,
	SPECIALS
};

/* Where the target's receives are. */
enum receives {
	RECEIVES_VOLATILE,
	RECEIVES_PM,
	RECEIVES_REPLAY, /* there too, and recovery looks into them: FI_OPT_CAIRN_REPLAY
			  */
	RECEIVES_KINDS
};

/* What the target's program does with a message that recovery could find. */
enum habit {
	HABIT_KEEPS, /* leaves it in its receive */
	/* Makes it durable elsewhere, then notes that, then posts the receive again. */
	HABIT_APPLIES,
	/* Three ways not to do it. */
	HABIT_POSTS_FIRST, /* applies it when it is its turn again */
	HABIT_NO_FLUSH,	   /* trusts the cache */
	HABIT_NOTES_FIRST,
};

/* What the machine is like: what the settings of the device say. */
struct machine {
	const char *domain; /* dmp, mhp, wsp */
	bool ddio;
	bool iwarp;
	bool flush; /* the device offers FLUSH and ATOMIC WRITE */
	enum receives receives;
	unsigned int pairs; /* connections */
	enum special special;
};

enum call_kind {
	CALL_END,
	CALL_WRITE,
	CALL_WRITEDATA,
	CALL_SEND,
	CALL_READ,
	CALL_ADD,
	/* fi_inject_write, fi_inject_writedata, fi_inject: with the endpoint's flags. */
	CALL_INJECT,
	CALL_INJECTDATA,
	CALL_INJECTSEND,
};

/* A libfabric call of the initiator. */
struct call {
	enum call_kind kind;
	uint16_t at, len; /* in the target's persistent memory, bytes */
	uint64_t flags;	  /* of fi_writemsg and its relatives */
	/* Calls, a bit each, that are claimed to be durable when this is reported ... */
	uint8_t claims;
	/* ... and that must be durable if anything of this is. */
	uint8_t after;
	uint8_t pair;
	bool wait;    /* the program waits for all before it to be reported */
	bool room;    /* it waits until the target has a receive for it, as credits say */
	bool quiet;   /* without FI_COMPLETION */
	bool lost;    /* nobody answers its requests */
	bool late;    /* they arrive when time has passed: lost, and sent again */
	bool refused; /* the target's processor refuses what it is asked for it */
};

/* What can be wrong. */
#define WRONG_EARLY 1u	  /* I1 at the initiator */
#define WRONG_TARGET 2u	  /* I1 at the target */
#define WRONG_COMPOUND 4u /* I2 */
#define WRONG_END 8u	  /* I3 */
#define WRONG_ORDER 16u	  /* completions */
#define WRONG_STUCK 32u
#define WRONG_ERROR 64u	     /* an operation failed */
#define WRONG_REFUSED 128u   /* a call gave an error */
#define WRONG_RECOVERED 512u /* recovery took for a message what was none */
#define WRONG_EXPLORER XPL_WRONG_SEARCH

struct scenario {
	const char *name;
	struct call call[CALLS];
	/* Plans that the provider has to follow, as text: plans.h. NULL: its own. */
	const char *plan[CALLS];
	/* So many calls are made first, in one way, and end: what the provider remembers
	 * of them is there then. */
	unsigned int first;
	bool tear;	      /* single words move by themselves */
	uint32_t seconds;     /* that may pass at any moment; 0: none */
	unsigned int special; /* machines, a bit each; 0: those that are not */
	/* A bit each; 0: where a message tells them apart, all but the last. */
	unsigned int receives;
	enum habit habit;
	bool untold;   /* the initiator has not heard of the receives when it begins */
	bool trusting; /* recovery believes headers and looks at no sums */
	/* WRONG_* that must be found on that machine, and no other. NULL: none. */
	unsigned int (*expect)(const struct machine *machine);
	bool (*fits)(const struct machine *machine); /* NULL: every machine */
};

/* scenarios.c: number one after the other, or NULL behind the last. */
const struct scenario *xpv_scenario_at(unsigned int number);
unsigned int xpv_scenario_expects(const struct scenario *scenario,
				  const struct machine *machine);

static inline bool call_sends(const struct call *call)
{
	return call->kind == CALL_SEND || call->kind == CALL_INJECTSEND;
}

/* Does it take a receive? */
static inline bool call_announces(const struct call *call)
{
	return call_sends(call) || call->kind == CALL_WRITEDATA ||
	       call->kind == CALL_INJECTDATA;
}

#endif
