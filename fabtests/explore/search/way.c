/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "states.h"
#include "way.h"

struct xpl_now xpl_now;

void xpl_open(const struct xpl_model *model)
{
	xpl_now.model = model;
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

bool xpl_step(unsigned int step, unsigned int *wrong)
{
	bool possible;

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

void xpl_begin(void)
{
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
