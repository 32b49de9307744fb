/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways to the end, picked by chance. */
#include "states.h"
#include "way.h"

static uint64_t *chance;

/* xorshift64*. */
uint32_t xpl_chance(uint64_t *state, uint32_t most)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 0x2545f4914f6cdd1dull >> 33) % most);
}

static void make_step(unsigned int step)
{
	unsigned int wrong = 0;

	if (!xpl_go_step(step))
		return;
	xpl_now.found->runs += xpl_step(step, &wrong);
	xpl_note(wrong);
}

/* The model has no choice: does no step of the real code change anything? */
static bool has_ended(uint64_t before)
{
	/* All of them: one that tries again, and counts that, must not keep the others
	 * off. */
	for (uint32_t i = 0; i < xpl_now.model->steps; i++)
		make_step(i);
	return xpl_state_hash_now() == before;
}

/* Checks the present state if it is new. *hash: its own. False: there is no room. */
static bool look(struct xpl_seen *seen, uint64_t *hash)
{
	size_t state;

	if (!xpl_push(&state))
		return false;
	*hash = xpl_state_hash(state);
	if (xpl_new(seen, *hash)) {
		xpl_check();
		xpl_state_back_to(state);
	}
	xpl_state_pop(state);
	return true;
}

/* Choices of the model at a place where the real code has stopped, at most. */
#define STOP_MOVES 12u

static void stop_wander(void)
{
	const uint32_t length = xpl_now.way.length;
	struct xpl_choice choices[XPL_CHOICES];
	uint32_t count, pick;
	uint64_t hash;

	for (uint32_t moves = 0; moves < STOP_MOVES && look(&xpl_now.stopped, &hash);
	     moves++) {
		count = xpl_now.model->choices(choices, XPL_CHOICES);
		if (!count)
			break;
		pick = xpl_chance(chance, count);
		if (!xpl_go(&choices[pick]))
			break;
		xpl_apply(&choices[pick]);
	}
	xpl_now.way.length = length;
}

/* One way to the end. */
static void wander(void)
{
	const unsigned int steps = xpl_now.model->steps;
	struct xpl_choice choices[XPL_CHOICES];
	uint32_t count, pick;
	uint64_t hash;

	while (!xpl_now.found->wrong && look(&xpl_now.seen, &hash)) {
		count = xpl_now.model->choices(choices, XPL_CHOICES);
		if (!count) {
			if (!has_ended(hash))
				continue;
			xpl_note(xpl_now.model->check_end());
			return;
		}
		pick = xpl_chance(chance, count + steps);
		if (pick >= count)
			make_step(pick - count);
		else if (xpl_go(&choices[pick]))
			xpl_apply(&choices[pick]);
	}
}

void xpl_search_some(const void *run, uint32_t ways, uint64_t seed,
		     struct xpl_found *found)
{
	chance = &seed;
	xpl_prepare(run, found, stop_wander);
	while (ways-- && !found->wrong) {
		xpl_now.way.length = 0;
		xpl_begin();
		wander();
	}
	chance = NULL;
	found->states = xpl_states_met();
}
