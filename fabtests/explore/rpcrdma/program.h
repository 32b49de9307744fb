/* SPDX-License-Identifier: BSD-2-Clause */
/* The two programs: their steps, and what they and the wire know so far. */
#ifndef XRP_PROGRAM_H
#define XRP_PROGRAM_H

#include <sys/types.h>
#include "scenario.h"
#include "wire.h"

enum step {
	STEP_CALL,	/* sends the next Call */
	STEP_READ,	/* reads all completions */
	STEP_REPLY,	/* answers the oldest Call */
	STEP_REPLY_NEW, /* answers the newest */
	STEP_CANCEL,	/* a Call */
	STEP_EVENT,	/* reads the event queue */
	STEP_RECEIVE,	/* posts a receive that is late */
	STEP_SHUT,	/* fi_shutdown */
	STEPS
};

struct call_state {
	bool prepared; /* its receives are posted */
	bool accepted;
	bool cancelled, cancel_tried;
	uint8_t sent;	 /* completions of its send */
	uint8_t answers; /* its Reply, or that there is none */
	uint8_t results;
	uint8_t delivered; /* at the peer */
	bool replied;	   /* by the peer: accepted */
	uint8_t reply_sent;
	uint8_t handles;
	uint32_t handle[HANDLES];
};

struct side_state {
	struct call_state call[CALLS];
	struct wire_side wire;
	uint8_t called;
	uint8_t held[CALLS], held_count; /* of the peer, delivered, not answered */
	uint8_t receives;		 /* given to the layer for the first time */
	bool posted[RECEIVES];
	uint8_t shutdowns;
	bool down;	  /* a call said so */
	bool shut;	  /* fi_shutdown was called */
	uint8_t messages; /* wrap mode: delivered */
};

struct program {
	struct side_state side[SIDES];
	bool broken; /* the network lost the connection, or a program ended it */
	uint8_t calling_side, calling; /* xrp_wire_calls */
	unsigned int wrong;
};
extern struct program xrp_program;
extern const struct scenario *xrp_running;

void xrp_program_begin(const struct scenario *scenario);
/* False: not possible now. */
bool xrp_program_step(unsigned int side, enum step step);
/* Nothing can happen any more. */
unsigned int xrp_program_end(void);
/* May the connection be lost by now? */
bool xrp_program_may_fail(void);

/* ---- what program.c, read.c and end.c share ---- */

static inline void xrp_note(unsigned int wrong)
{
	xrp_program.wrong |= wrong;
}
static inline void xrp_twice(uint8_t *count)
{
	if (++*count > 1)
		xrp_note(WRONG_TWICE);
}
static inline const struct plan_call *xrp_plan_of(unsigned int side, unsigned int call)
{
	return &xrp_running->side[side].call[call];
}
/* Does the program know of the Call's end? */
static inline bool xrp_is_over(const struct call_state *call)
{
	return call->cancelled || call->answers;
}
/* A call of an end says that the connection is over. */
bool xrp_is_down(struct side_state *state, ssize_t ret);
void xrp_post_receive(unsigned int side, unsigned int number);
/* program.c: sends the next Call. False: there is none. */
bool xrp_call(unsigned int side);
/* read.c: all completions, an event. True. */
bool xrp_read(unsigned int side);
bool xrp_read_event(unsigned int side);

/* Whose a completion is: the context of an operation. */
enum context {
	CONTEXT_CALL = 1,
	CONTEXT_REPLY,
	CONTEXT_RESULT,
	CONTEXT_REPLY_AT,
	CONTEXT_RECEIVE
};
static inline void *context_of(enum context kind, unsigned int number)
{
	return (void *)(uintptr_t)((unsigned int)kind << 8 | number);
}
static inline enum context context_kind(const void *context)
{
	return (enum context)((uintptr_t)context >> 8);
}
static inline unsigned int context_number(const void *context)
{
	return (unsigned int)((uintptr_t)context & 0xff);
}

#endif
