/* SPDX-License-Identifier: BSD-2-Clause */
/* Every state that can be reached, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "heap.h"
#include "plans.h"
#include "search.h"
#include "world.h"

struct search now;

bool search_push(size_t *state)
{
	*state = state_push();
	if (*state == SIZE_MAX)
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

bool search_go(const struct svb_choice *choice)
{
	if (now.way.length == DEPTH) {
		search_note(WRONG_EXPLORER);
		return false;
	}
	now.way.step[now.way.length++] = *choice;
	return true;
}

/* The real code has stopped inside a step: only the device moves. */
static void stop_visit(void)
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
	search_note(check_power());
	state_back_to(state);
	for (i = 0; i < count && search_go(&choices[i]); i++) {
		svb_model_apply(&choices[i]);
		stop_visit();
		state_back_to(state);
		now.way.length--;
	}
	state_pop(state);
}

/* The linker puts it where the processor's flushes end up. */
bool __real_svb_medium_flush(const void *addr, size_t len);
bool __wrap_svb_medium_flush(const void *addr, size_t len);

bool __wrap_svb_medium_flush(const void *addr, size_t len)
{
	if (now.in_step) {
		heap_use(false);
		stop_visit();
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

static void visit(void)
{
	struct svb_choice choices[CHOICES];
	bool moved = false;
	uint32_t count, i;
	uint64_t hash;
	size_t state;

	if ((now.found->wrong & now.ends_with) || !search_push(&state))
		return;
	hash = state_hash(state);
	if (!search_new(&now.seen, hash)) {
		state_pop(state);
		return;
	}
	count = svb_model_enabled(choices, CHOICES);
	if (count == CHOICES)
		now.found->wrong |= WRONG_EXPLORER;
	search_note(check_power());
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

void search_init(void)
{
	struct found none = {0};

	now.found = &none;
	states_init();
	if (!search_push(&now.start))
		abort();
	settle();
	if (!search_push(&now.told))
		abort();
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
}

void search_prepare(const struct scenario *scenario, struct found *found)
{
	*found = (struct found){0};
	now.scenario = scenario;
	now.found = found;
	now.way.length = 0;
	seen_clear(&now.seen);
	seen_clear(&now.stopped);
	search_begin();
}

void search_first(const struct scenario *scenario, unsigned int expected,
		  struct found *found)
{
	now.ends_with = ~expected;
	search(scenario, found);
	now.ends_with = 0;
}

void search(const struct scenario *scenario, struct found *found)
{
	search_prepare(scenario, found);
	visit();
	found->states = now.seen.count + now.stopped.count;
}

static void tell(const struct svb_choice *step)
{
	static const char *const steps[STEPS] = {"the initiator calls",
						 "the initiator reads completions",
						 "the target reads completions",
						 "time passes"};
	static const char *const kinds[] = {
		[SVB_CHOICE_ARRIVE] = "arrives",
		[SVB_CHOICE_PLACE] = "is placed",
		[SVB_CHOICE_EXECUTE] = "is executed",
		[SVB_CHOICE_DELIVER] = "is delivered",
		[SVB_CHOICE_DRAIN] = "drains",
	};

	if (step->kind >= WAY_STEP)
		printf("    %s\n", steps[step->kind - WAY_STEP]);
	else if (step->kind == SVB_CHOICE_DRAIN)
		printf("    line %llu (words %02x) drains\n",
		       (unsigned long long)step->line, step->words);
	else if (step->kind == SVB_CHOICE_PLACE)
		printf("    queue pair %x, request %u: line %llx (words %02x) is "
		       "placed\n",
		       step->qp, step->seq, (unsigned long long)step->line, step->words);
	else
		printf("    queue pair %x, request %u %s\n", step->qp, step->seq,
		       kinds[step->kind]);
}

/* The same steps from the beginning: what is wrong then? Something else if a state was
 * not taken back as it was. */
static unsigned int again(void)
{
	const struct svb_choice *step;
	unsigned int wrong = 0;
	uint32_t i;

	search_begin();
	for (i = 0; i < now.bad.length; i++) {
		step = &now.bad.step[i];
		if (step->kind < WAY_STEP)
			svb_model_apply(step);
		else
			program_step((enum step)(step->kind - WAY_STEP));
		wrong |= program.wrong;
	}
	return wrong | check_end() | check_power();
}

void search_tell(void)
{
	uint32_t i;

	for (i = 0; i < now.bad.length; i++)
		tell(&now.bad.step[i]);
	if (!(again() & now.bad_wrong))
		printf("    and the second time nothing is wrong: the explorer is\n");
}
