/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "states.h"
#include "way.h"

/* Bytes of the stack that code under exploration uses, and more. */
#define STACK (64u << 10)
/* And of one frame besides its variables. */
#define HEAD 1024u
/* Bytes of the stack that the search may use before the code runs deeper than else. */
#define SEARCH (3u << 19)

/* An address sanitizer would put more on the stack than is asked for. */
#define EXACT __attribute__((no_sanitize("address")))

static uintptr_t place; /* on the stack, where the code runs */

struct xpl_now xpl_now;

void xpl_open(const struct xpl_model *model)
{
	xpl_now.model = model;
	place = (uintptr_t)__builtin_frame_address(0) - SEARCH;
	xpl_states_open(model);
}

void xpl_compare(void)
{
	xpl_now.compare = true;
}

bool xpl_push(size_t *state)
{
	*state = xpl_state_push();
	if (*state == SIZE_MAX)
		xpl_note(XPL_WRONG_SEARCH);
	return *state != SIZE_MAX;
}

bool xpl_new(struct xpl_seen *seen, uint64_t hash)
{
	bool full = false, is_new = xpl_seen_new(seen, hash, &full);

	if (full)
		xpl_note(XPL_WRONG_SEARCH);
	return is_new;
}

void xpl_note(unsigned int wrong)
{
	if (wrong && !xpl_now.found->wrong) {
		xpl_now.bad_wrong = wrong;
		xpl_now.bad.length = xpl_now.way.length;
		memcpy(xpl_now.bad.event, xpl_now.way.event,
		       xpl_now.way.length * sizeof(xpl_now.way.event[0]));
	}
	xpl_now.found->wrong |= wrong;
}

static void each_outcome(const void *outcome)
{
	uint64_t hash;

	xpl_now.found->outcomes++;
	if (!xpl_now.compare)
		return;
	hash = xpl_now.model->outcome_hash(outcome);
	if (!xpl_new(&xpl_now.ends, hash))
		return;
	xpl_now.found->ends++;
	xpl_now.found->ends_sum += hash;
}

void xpl_check(void)
{
	xpl_note(xpl_now.model->check(each_outcome));
}

static struct xpl_event *go(void)
{
	if (xpl_now.way.length == XPL_DEPTH) {
		xpl_note(XPL_WRONG_SEARCH);
		return NULL;
	}
	return &xpl_now.way.event[xpl_now.way.length++];
}

bool xpl_go_step(unsigned int step)
{
	struct xpl_event *event = go();

	if (event)
		event->step = step;
	return event;
}

bool xpl_go(const struct xpl_choice *choice)
{
	struct xpl_event *event = go();

	if (event)
		*event = (struct xpl_event){XPL_CHOICE, *choice};
	return event;
}

/*
 * Code that fills a struct in part finds the rest on the stack, where what ran before has
 * left it: bytes, and pieces of addresses. They would tell equal states apart, and
 * differently each time. So it always runs at one place, where all is zero.
 */
static size_t to_place(uintptr_t here)
{
	return here - (((here < place ? here : place) - HEAD) & ~(uintptr_t)(STACK - 1));
}

#define TAKE(size) __asm__ volatile("" : : "r"(__builtin_alloca(size)))

/* Before the call of it, in the same function. The frame of clear_stack begins with bytes
 * of the compiler's: below them. */
#define GO_TO_PLACE()                                                  \
	do {                                                           \
		TAKE(to_place((uintptr_t)__builtin_frame_address(0))); \
		clear_stack();                                         \
		TAKE(HEAD);                                            \
	} while (0)

static EXACT __attribute__((noinline)) void clear_stack(void)
{
	char below[STACK];

	memset(below, 0, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
}

EXACT void xpl_apply(const struct xpl_choice *choice)
{
	GO_TO_PLACE();
	xpl_now.model->apply(choice);
}

EXACT bool xpl_step(unsigned int step, unsigned int *wrong)
{
	bool possible;

	GO_TO_PLACE();
	xpl_now.in_step = true;
	possible = xpl_now.model->step(step, wrong);
	xpl_now.in_step = false;
	return possible;
}

/* It goes on in the state it stopped in. */
static void stop(void)
{
	size_t state;

	if (!xpl_push(&state))
		return;
	xpl_now.stop();
	xpl_state_back_to(state);
	xpl_state_pop(state);
}

void xpl_stop(void)
{
	if (!xpl_now.in_step)
		return;
	xpl_heap_use(false);
	stop();
	xpl_heap_use(true);
}

EXACT void xpl_begin(void)
{
	GO_TO_PLACE();
	xpl_note(xpl_now.model->begin(xpl_now.run));
}

void xpl_prepare(const void *run, struct xpl_found *found, void (*stops)(void))
{
	*found = (struct xpl_found){0};
	xpl_now.run = run;
	xpl_now.found = found;
	xpl_now.stop = stops;
	xpl_now.way.length = 0;
	xpl_seen_clear(&xpl_now.seen);
	xpl_seen_clear(&xpl_now.stopped);
	xpl_seen_clear(&xpl_now.ends);
	xpl_begin();
}

uint64_t xpl_states_met(void)
{
	return xpl_now.seen.count + xpl_now.stopped.count;
}
