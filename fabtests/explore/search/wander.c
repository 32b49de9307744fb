/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways to the end, picked by chance. */
#include "search.h"

/* xorshift64*. */
static uint32_t chance(uint64_t *seed, uint32_t most)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (uint32_t)((*seed * 0x2545f4914f6cdd1dull >> 33) % most);
}

static void wander_step(enum step step)
{
	struct svb_choice way = {.kind = WAY_STEP + step};

	if (!search_go(&way))
		return;
	now.in_step = true;
	now.found->runs += program_step(step);
	now.in_step = false;
	search_note(program.wrong);
}

/* The device has nothing to do: does no processor change anything? */
static bool wander_ends(uint64_t before)
{
	uint32_t i;

	/* All of them: one that tries again, and counts that, must not keep the others
	 * off. */
	for (i = 0; i < STEPS; i++)
		wander_step((enum step)i);
	return state_hash_now() == before;
}

/* Moves of the device at a place where the real code has stopped, at most. */
#define STOP_MOVES 12u

void wander_stop(void)
{
	const uint32_t length = now.way.length;
	struct svb_choice choices[CHOICES];
	uint32_t count, pick, moves;
	size_t state;

	for (moves = 0; moves < STOP_MOVES && search_push(&state); moves++) {
		if (search_new(&now.stopped, state_hash(state))) {
			search_power();
			state_back_to(state);
		}
		state_pop(state);
		count = svb_model_enabled(choices, CHOICES);
		if (!count)
			break;
		pick = chance(now.chance, count);
		if (!search_go(&choices[pick]))
			break;
		svb_model_apply(&choices[pick]);
	}
	now.way.length = length;
}

/* One way to the end. */
static void wander(uint64_t *seed)
{
	struct svb_choice choices[CHOICES];
	uint32_t count, pick;
	size_t state;
	uint64_t hash;

	while (!now.found->wrong) {
		if (!search_push(&state))
			return;
		hash = state_hash(state);
		if (search_new(&now.seen, hash)) {
			search_power();
			state_back_to(state);
		}
		state_pop(state);
		count = svb_model_enabled(choices, CHOICES);
		if (!count) {
			if (!wander_ends(hash))
				continue;
			search_note(check_end());
			return;
		}
		pick = chance(seed, count + STEPS);
		if (pick >= count)
			wander_step((enum step)(pick - count));
		else if (search_go(&choices[pick]))
			svb_model_apply(&choices[pick]);
	}
}

void search_some(const struct scenario *scenario, uint32_t ways, uint64_t seed,
		 struct found *found)
{
	search_prepare(scenario, found);
	now.chance = &seed;
	while (ways-- && !found->wrong) {
		now.way.length = 0;
		search_begin();
		wander(&seed);
	}
	now.chance = NULL;
	found->states = now.seen.count + now.stopped.count;
}
