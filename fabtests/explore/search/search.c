/* SPDX-License-Identifier: BSD-2-Clause */
/* Every state that can be reached, each once. */
#include <stdlib.h>
#include <string.h>
#include "heap.h"
#include "plans.h"
#include "search.h"
#include "world.h"

/* To make the first calls of a scenario. */
#define TRIES 1000u

struct search now;
static struct svb_maybes maybes;

bool search_push(size_t *state)
{
	*state = state_push();
	if (*state == SIZE_MAX || maybes.full)
		search_note(WRONG_EXPLORER);
	return *state != SIZE_MAX;
}

bool search_new(struct seen *seen, uint64_t hash)
{
	bool full = false, is_new = seen_new(seen, hash, &full);

	if (full)
		search_note(WRONG_EXPLORER);
	return is_new;
}

void search_note(unsigned int wrong)
{
	if (wrong && !now.found->wrong) {
		now.bad_wrong = wrong;
		now.bad.length = now.way.length;
		memcpy(now.bad.step, now.way.step,
		       now.way.length * sizeof(now.way.step[0]));
	}
	now.found->wrong |= wrong;
}

static void each_medium(const uint8_t *medium)
{
	uint64_t hash;

	now.found->media++;
	if (!now.media)
		return;
	hash = svb_machine_hash(medium, world.pm_size) * 3 +
	       svb_machine_hash(&program, sizeof(program));
	if (!search_new(&now.ends, hash))
		return;
	now.found->ends++;
	now.found->ends_sum += hash;
}

void search_power(void)
{
	search_note(check_power(each_medium));
}

bool search_go(const struct svb_choice *choice)
{
	if (now.way.length == DEPTH) {
		search_note(WRONG_EXPLORER);
		return false;
	}
	now.way.step[now.way.length++] = *choice;
	return true;
}

/*
 * What makes no difference to anybody happens at once (machine_unseen.c). Not where time
 * passes: queue pairs end then.
 */
static void make_unseen(void)
{
	struct svb_choice choices[CHOICES];
	uint32_t count, i;

	if (now.drains || now.scenario->seconds)
		return;
	do {
		count = svb_model_enabled(choices, CHOICES);
		for (i = 0; i < count && !svb_model_unseen(&choices[i]); i++)
			;
		if (i == count || !search_go(&choices[i]))
			return;
		svb_model_apply(&choices[i]);
		now.found->unseen++;
	} while (true);
}

static void stop_visit(void);

/* The real code has stopped inside a step: only the device moves. */
static void stop_visit_here(void)
{
	struct svb_choice choices[CHOICES];
	uint32_t count, i;
	size_t state;

	if (!search_push(&state))
		return;
	if (!search_new(&now.stopped, state_hash(state))) {
		state_pop(state);
		return;
	}
	count = svb_model_enabled(choices, CHOICES);
	search_power();
	state_back_to(state);
	for (i = 0; i < count && search_go(&choices[i]); i++) {
		svb_model_apply(&choices[i]);
		stop_visit();
		state_back_to(state);
		now.way.length--;
	}
	state_pop(state);
}

static void stop_visit(void)
{
	const uint32_t length = now.way.length;

	make_unseen();
	stop_visit_here();
	now.way.length = length;
}

/* It goes on in the state it stopped in. */
static void stop(void)
{
	size_t state;

	if (!search_push(&state))
		return;
	if (now.chance)
		wander_stop();
	else
		stop_visit();
	state_back_to(state);
	state_pop(state);
}

/* The linker puts it where the processor's flushes end up. */
bool __real_svb_medium_flush(const void *addr, size_t len);
bool __wrap_svb_medium_flush(const void *addr, size_t len);

bool __wrap_svb_medium_flush(const void *addr, size_t len)
{
	if (now.in_step) {
		heap_use(false);
		stop();
		heap_use(true);
	}
	return __real_svb_medium_flush(addr, len);
}

static void visit(void);

/* A step of a processor. Does it change anything? */
static bool visit_step(enum step step, size_t state, uint64_t hash)
{
	struct svb_choice way = {.kind = WAY_STEP + step};
	bool changed = false;

	if (!search_go(&way))
		return false;
	now.in_step = true;
	if (program_step(step)) {
		now.found->runs++;
		changed = state_hash_now() != hash;
	}
	now.in_step = false;
	if (changed) {
		search_note(program.wrong);
		visit();
	}
	state_back_to(state);
	now.way.length--;
	return changed;
}

static bool search_is_cut(void)
{
	now.found->cut |= now.most && now.seen.count + now.stopped.count >= now.most;
	return now.found->cut;
}

static void visit_here(void)
{
	struct svb_choice choices[CHOICES];
	bool moved = false;
	uint32_t count, i;
	uint64_t hash;
	size_t state;

	if ((now.found->wrong & now.ends_with) || search_is_cut() || !search_push(&state))
		return;
	hash = state_hash(state);
	if (!search_new(&now.seen, hash)) {
		state_pop(state);
		return;
	}
	count = svb_model_enabled(choices, CHOICES);
	if (count == CHOICES)
		now.found->wrong |= WRONG_EXPLORER;
	search_power();
	state_back_to(state);
	for (i = 0; i < STEPS; i++)
		moved |= visit_step((enum step)i, state, hash);
	for (i = 0; i < count && search_go(&choices[i]); i++) {
		svb_model_apply(&choices[i]);
		visit();
		state_back_to(state);
		now.way.length--;
	}
	if (!moved && !count)
		search_note(check_end());
	state_pop(state);
}

static void visit(void)
{
	const uint32_t length = now.way.length;

	make_unseen();
	visit_here();
	now.way.length = length;
}

/* All that is under way arrives, and the initiator looks at it. */
static void settle(void)
{
	struct svb_choice choices[CHOICES];
	struct fi_cq_data_entry entry;
	uint64_t before;

	do {
		before = state_hash_now();
		while (svb_model_enabled(choices, CHOICES))
			svb_model_apply(&choices[0]);
		heap_use(true);
		fi_cq_read(world.cq[INITIATOR], &entry, 1);
		fi_cq_read(world.cq[TARGET], &entry, 1);
		heap_use(false);
	} while (state_hash_now() != before);
}

void search_media(void)
{
	now.media = true;
}

void search_init(bool drains)
{
	struct found none = {0};

	now.found = &none;
	now.drains = drains;
	states_init();
	svb_model_maybes(drains ? NULL : &maybes);
	if (!search_push(&now.start))
		abort();
	settle();
	if (!search_push(&now.told))
		abort();
}

/* The first calls, in one way: all that can happen happens, and everybody looks. */
static void make_first(uint32_t count)
{
	struct svb_choice choices[CHOICES];
	uint32_t tries;

	program_until(count);
	for (tries = 0; count && tries < TRIES && !program_made(count); tries++) {
		while (program.called < count && program_step(STEP_CALL))
			if (++tries == TRIES)
				break;
		while (svb_model_enabled(choices, CHOICES))
			svb_model_apply(&choices[0]);
		program_step(STEP_READ);
		program_step(STEP_TARGET);
	}
	if (tries == TRIES)
		search_note(WRONG_EXPLORER);
	program_until(CALLS);
}

void search_begin(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		if (!plans_force(i, now.scenario->plan[i]))
			now.found->wrong |= WRONG_EXPLORER;
	state_back_to(now.scenario->untold ? now.start : now.told);
	svb_model_tear(now.scenario->tear);
	program_begin(now.scenario);
	target_begin(now.scenario);
	check_begin(now.scenario);
	make_first(now.scenario->first);
}

void search_prepare(const struct scenario *scenario, struct found *found)
{
	*found = (struct found){0};
	now.scenario = scenario;
	now.found = found;
	now.way.length = 0;
	seen_clear(&now.seen);
	seen_clear(&now.stopped);
	seen_clear(&now.ends);
	search_begin();
}

void search_first(const struct scenario *scenario, unsigned int expected,
		  struct found *found)
{
	now.ends_with = ~expected;
	search(scenario, found);
	now.ends_with = 0;
}

void search_most(const struct scenario *scenario, uint64_t states, struct found *found)
{
	now.most = states;
	search_first(scenario, 0, found);
	now.most = 0;
}

void search(const struct scenario *scenario, struct found *found)
{
	search_prepare(scenario, found);
	visit();
	found->states = now.seen.count + now.stopped.count;
}
