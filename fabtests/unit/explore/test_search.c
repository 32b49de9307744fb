/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search, by a model of two threads that each add one to a word: load and store are
 * its choices, and a step of "real code", which may stop inside, looks at the word.
 */
#include <string.h>
#include "cairn_test.h"
#include "search.h"
#include "vg.h"

#define WRONG_LOST 1u	/* in the end */
#define WRONG_BEFORE 2u /* begin said so */
#define WRONG_STOPPED 4u

struct run {
	bool atomic; /* load and store are one */
	bool looks, stops, unseen, bad;
	bool in_part; /* choices and steps fill structs in part, and keep all of them */
};

/* What is filled in part: the rest is what the stack has there. */
struct note {
	uint32_t said;
	uint32_t unsaid[13];
	uintptr_t at; /* where it was filled */
};

struct threads {
	uint32_t at[2], has[2]; /* 2: has stored */
	uint32_t looked, stopped;
	struct note note[2]; /* of a choice, of a step */
};

static const struct run *running;
static struct run kept; /* xpl_tell runs it again */
static struct threads threads;
static uint32_t *word; /* in the heap */
static size_t start;

static size_t save(void *to, size_t size)
{
	if (size >= sizeof(threads))
		memcpy(to, &threads, sizeof(threads));
	return sizeof(threads);
}

static void restore(const void *from)
{
	memcpy(&threads, from, sizeof(threads));
}

static unsigned int begin(const void *run)
{
	running = run;
	xpl_state_back_to(start);
	return running->bad ? WRONG_BEFORE : 0;
}

/* The search and the model use the stack, too, and not always in the same way. */
static __attribute__((noinline, no_sanitize("address"))) void litter(void)
{
	static uint64_t state = 1;
	uint8_t bytes[1 << 14];

	memset(bytes, (int)xpl_chance(&state, 3), sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
}

static __attribute__((noinline, no_sanitize("address"))) void keep(struct note *to,
								   uint32_t said)
{
	struct note note;

	if (!running->in_part)
		return;
	/* To the compiler, and to valgrind, it is filled. */
	__asm__ volatile("" : "=m"(note));
	svb_vg_show(&note, sizeof(note));
	note.said = said;
	note.at = (uintptr_t)&note;
	*to = note;
}

static uint32_t choices(struct xpl_choice *to, uint32_t max)
{
	uint32_t i, count = 0;

	litter();
	for (i = 0; i < 2; i++)
		if (threads.at[i] < 2 && count < max)
			to[count++] = (struct xpl_choice){{i}};
	return count;
}

static void apply(const struct xpl_choice *choice)
{
	const uint64_t i = choice->word[0];

	if (!threads.at[i]++)
		threads.has[i] = *word;
	if (running->atomic)
		threads.at[i] = 2;
	if (threads.at[i] == 2)
		*word = threads.has[i] + 1;
	keep(&threads.note[0], 0);
}

/* With one thread left nobody notices what it does when. */
static bool unseen(struct xpl_choice *choice)
{
	struct xpl_choice left[2];

	if (!running->unseen || choices(left, 2) != 1)
		return false;
	*choice = left[0];
	return true;
}

static bool step(unsigned int number, unsigned int *wrong)
{
	*wrong = threads.stopped ? WRONG_STOPPED : 0;
	if (!running->looks || threads.looked)
		return false;
	threads.looked = 1 + *word;
	keep(&threads.note[1], 1);
	if (running->stops) {
		threads.stopped = 1;
		xpl_stop();
		threads.stopped = 0;
	}
	return true;
}

static unsigned int check(void (*each)(const void *outcome))
{
	each(word);
	*word = 100; /* it is taken back */
	return threads.stopped && threads.at[0] == 2 && threads.at[1] == 2 ? WRONG_STOPPED
									   : 0;
}

static unsigned int check_end(void)
{
	return *word == 2 ? 0 : WRONG_LOST;
}

static uint64_t outcome_hash(const void *outcome)
{
	uint32_t value;

	memcpy(&value, outcome, sizeof(value));
	return value + 1;
}

static void tell(const struct xpl_choice *choice)
{
}

static void find(void (*how)(const struct run *run, struct xpl_found *found),
		 struct run run, struct xpl_found *found)
{
	static const char *const names[] = {"looks"};
	static const struct xpl_model model = {
		.save = save,
		.restore = restore,
		.begin = begin,
		.choices = choices,
		.apply = apply,
		.unseen = unseen,
		.steps = 1,
		.step_name = names,
		.step = step,
		.check = check,
		.check_end = check_end,
		.outcome_hash = outcome_hash,
		.tell = tell,
	};

	if (!word) {
		word = xpl_heap_take(sizeof(*word), 1);
		xpl_open(&model);
		/* The first write to its page: valgrind does not keep registers there. */
		*(volatile uint32_t *)word = 0;
		xpl_compare();
		start = xpl_state_push();
	}
	kept = run;
	how(&kept, found);
}

static void every(const struct run *run, struct xpl_found *found)
{
	xpl_search(run, found);
}

static void first(const struct run *run, struct xpl_found *found)
{
	xpl_search_first(run, 0, found);
}

static void most(const struct run *run, struct xpl_found *found)
{
	xpl_search_most(run, 3, found);
}

static void some(const struct run *run, struct xpl_found *found)
{
	xpl_search_some(run, 50, 1, found);
}

CT_FIXTURE(search, struct xpl_found, NULL, NULL);

CT_TEST_F(search, finds_a_lost_update)
{
	find(every, (struct run){0}, t);
	CT_EXPECT_EQ(t->wrong, WRONG_LOST);
	xpl_tell();
}

/* 9 pairs of places; after both have loaded their words may differ in two ways, and so
 * may what is stored last. */
CT_TEST_F(search, looks_at_each_state_once)
{
	find(every, (struct run){0}, t);
	CT_EXPECT_EQ(t->states, 13);
	CT_EXPECT_EQ(t->outcomes, 13);
	CT_EXPECT_EQ(t->ends, 3);
	CT_EXPECT_EQ(t->ends_sum, 1 + 2 + 3);
	find(every, (struct run){.atomic = true}, t);
	CT_EXPECT_EQ(t->states, 5);
}

CT_TEST_F(search, finds_nothing_where_nothing_is_wrong)
{
	find(every, (struct run){.atomic = true, .looks = true}, t);
	CT_EXPECT_EQ(t->wrong, 0);
	CT_EXPECT_EQ(t->cut, false);
	CT_EXPECT_GT(t->runs, 0);
}

CT_TEST_F(search, ends_with_the_first_that_is_wrong)
{
	find(first, (struct run){0}, t);
	CT_EXPECT_EQ(t->wrong, WRONG_LOST);
	CT_EXPECT_LT(t->states, 13);
}

CT_TEST_F(search, is_cut_when_there_are_too_many_states)
{
	find(most, (struct run){.atomic = true}, t);
	CT_EXPECT_EQ(t->cut, true);
	CT_EXPECT_LT(t->states, 5);
}

CT_TEST_F(search, goes_ways_by_chance)
{
	struct xpl_found again;

	find(some, (struct run){0}, t);
	CT_EXPECT_EQ(t->wrong, WRONG_LOST);
	find(some, (struct run){0}, &again);
	CT_EXPECT_EQ(again.states, t->states);
}

CT_TEST_F(search, finds_the_same_when_it_is_spared_choices)
{
	struct xpl_found all, spared;

	find(every, (struct run){0}, &all);
	find(every, (struct run){.unseen = true}, &spared);
	CT_EXPECT_EQ(spared.wrong, all.wrong);
	CT_EXPECT_GT(spared.unseen, 0);
	CT_EXPECT_LT(spared.states, all.states);
}

CT_TEST_F(search, looks_where_the_code_stops)
{
	find(every, (struct run){.atomic = true, .looks = true, .stops = true}, t);
	CT_EXPECT_EQ(t->wrong, WRONG_STOPPED);
}

CT_TEST_F(search, tells_what_is_wrong_before_it_begins)
{
	find(every, (struct run){.atomic = true, .bad = true}, t);
	CT_EXPECT_EQ(t->wrong, WRONG_BEFORE);
}

CT_TEST_F(search, finds_the_same_each_time_whatever_lies_on_the_stack)
{
	struct xpl_found whole, again;

	find(every, (struct run){.looks = true}, &whole);
	find(every, (struct run){.looks = true, .in_part = true}, t);
	find(every, (struct run){.looks = true, .in_part = true}, &again);
	CT_EXPECT_EQ(again.states, t->states);
	CT_EXPECT_EQ(again.runs, t->runs);
	CT_EXPECT_EQ(again.outcomes, t->outcomes);
	/* One more: nothing is in the notes when the run begins. */
	CT_EXPECT_EQ(t->states, whole.states);
}
