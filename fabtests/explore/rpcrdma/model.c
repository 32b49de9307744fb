/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"
#include "mutants.h"
#include "program.h"
#include "world.h"

/* Of a choice's first word. */
enum kind_of_choice { CHOICE_LET_GO, CHOICE_BREAK };

#define HELD_MAX 64u

static size_t start; /* before a connection is made */

/* What of a state is neither in the heap nor the scripted provider's. */
static const struct {
	void *at;
	size_t size;
} own[] = {
	{&xrp_program, sizeof(xrp_program)},
	{&xrp_world, sizeof(xrp_world)},
	{&xrp_mutant_state, sizeof(xrp_mutant_state)},
};
#define OWN (sizeof(own) / sizeof(own[0]))

static size_t save(void *to, size_t size)
{
	const size_t all = sizeof(xrp_program) + sizeof(xrp_world) +
			   sizeof(xrp_mutant_state) + scr_save(NULL, 0);
	char *at = to;

	if (size < all)
		return all;
	for (size_t i = 0; i < OWN; at += own[i++].size)
		memcpy(at, own[i].at, own[i].size);
	scr_save(at, size - (size_t)(at - (char *)to));
	return all;
}

static void restore(const void *from)
{
	const char *at = from;

	for (size_t i = 0; i < OWN; at += own[i++].size)
		memcpy(own[i].at, at, own[i].size);
	scr_restore(at);
}

static void tidy(void)
{
	if (xrp_world.end[0].ep && xrp_world.end[1].ep)
		xrp_world_tidy();
}

/* May what is held go before what was held earlier, of the same endpoint? */
static bool overtakes(const struct scr_held_item *item, const struct scr_held_item *first)
{
	if (item->what != first->what || item->fid != first->fid)
		return true;
	if (item->what == SCR_ARRIVALS)
		return item->op != SCR_SEND || first->op == SCR_READ;
	if (item->what == SCR_COMPLETIONS)
		return item->op != first->op || item->op != SCR_RECV;
	return false;
}

static bool may_go(const struct scr_held_item *items, unsigned int i)
{
	for (unsigned int first = 0; first < i; first++)
		if (!overtakes(&items[i], &items[first]))
			return false;
	return true;
}

/* With what it is for people, and is the same whenever it is told. */
static struct xpl_choice let_go(unsigned int i, const struct scr_held_item *item)
{
	return (struct xpl_choice){
		.word = {CHOICE_LET_GO, i, item->what | (uint64_t)item->op << 32,
			 item->len << 1 | (item->fid != &xrp_world_lower(0)->fid)}};
}

static uint32_t choices(struct xpl_choice *to, uint32_t max)
{
	struct scr_held_item items[HELD_MAX];
	uint32_t count = 0;

	for (unsigned int i = 0; i < HELD_MAX && scr_held_at(i, &items[i]) && count < max;
	     i++)
		if (may_go(items, i))
			to[count++] = let_go(i, &items[i]);
	if (xrp_running->breaks && !xrp_program.broken && count < max)
		to[count++] = (struct xpl_choice){.word = {CHOICE_BREAK}};
	return count;
}

/* Whose the event or operation is. */
static unsigned int side_of(const struct xpl_choice *choice)
{
	return choice->word[3] & 1;
}

/* The programs read of what there is. */
static void read_at_once(unsigned int side)
{
	if (xrp_running->reads_late)
		return;
	xrp_program_step(side, STEP_EVENT);
	xrp_program_step(side, STEP_READ);
}

static void apply(const struct xpl_choice *choice)
{
	/* As before the choices were looked at. */
	scr_held_sort();
	xpl_heap_use(true);
	if (choice->word[0] == CHOICE_LET_GO) {
		scr_let_go((unsigned int)choice->word[1]);
		xrp_program.wrong |= xrp_wire_check();
	} else {
		xrp_program.broken = true;
		scr_break(&xrp_world_lower(0)->fid);
	}
	xpl_heap_use(false);
	if (choice->word[0] == CHOICE_LET_GO && (uint32_t)choice->word[2] != SCR_ARRIVALS)
		read_at_once(side_of(choice));
}

/* ---- steps ---- */

/* What the scenario may need, in turn. */
static struct {
	unsigned int side;
	enum step step;
} steps[SIDES * STEPS];
static const char *names[SIDES * STEPS];
static struct xpl_model model;

static bool is_needed(unsigned int side, enum step step)
{
	const struct plan_side *plan = &xrp_running->side[side];
	const struct plan_side *peer = &xrp_running->side[!side];
	bool cancels = false;

	for (unsigned int i = 0; i < CALLS; i++)
		cancels |= plan->call[i].cancel;
	switch (step) {
	case STEP_CALL:
		return plan->call[0].xid && (!plan->answers || plan->starts);
	case STEP_REPLY:
		return peer->call[0].xid && !xrp_running->wrap;
	case STEP_REPLY_NEW:
		return peer->call[1].xid && peer->credits > 1 && !xrp_running->wrap;
	case STEP_CANCEL:
		return cancels;
	case STEP_RECEIVE:
		return plan->late;
	case STEP_SHUT:
		return plan->shuts;
	default:
		return xrp_running->reads_late;
	}
}

static void choose_steps(void)
{
	static const char *const texts[SIDES * STEPS] = {
		"0 calls",
		"1 calls",
		"0 reads",
		"1 reads",
		"0 replies",
		"1 replies",
		"0 replies (newest)",
		"1 replies (newest)",
		"0 cancels",
		"1 cancels",
		"0 reads events",
		"1 reads events",
		"0 posts a receive",
		"1 posts a receive",
		"0 shuts down",
		"1 shuts down",
	};

	model.steps = 0;
	for (unsigned int i = 0; i < SIDES * STEPS; i++) {
		if (!is_needed(i % SIDES, (enum step)(i / SIDES)))
			continue;
		steps[model.steps].side = i % SIDES;
		steps[model.steps].step = (enum step)(i / SIDES);
		names[model.steps++] = texts[i];
	}
}

static bool step(unsigned int number, unsigned int *wrong)
{
	const bool possible = xrp_program_step(steps[number].side, steps[number].step);

	if (possible)
		read_at_once(steps[number].side);
	*wrong = xrp_program.wrong;
	return possible;
}

static unsigned int begin(const void *run)
{
	xpl_state_back_to(start);
	xrp_world_connect(run);
	xrp_program_begin(run);
	choose_steps();
	return xrp_program.wrong;
}

static unsigned int check(void (*each)(const void *outcome))
{
	return xrp_program.wrong;
}

static uint64_t outcome_hash(const void *outcome)
{
	return 0;
}

static void tell(const struct xpl_choice *choice)
{
	static const char *const whats[] = {[SCR_ARRIVALS] = "arrives",
					    [SCR_COMPLETIONS] = "completes",
					    [SCR_EVENTS] = "comes"};
	const uint32_t what = (uint32_t)choice->word[2];

	if (choice->word[0] == CHOICE_BREAK)
		printf("    the connection is lost\n");
	else
		printf("    %s of end %d (%d bytes) %s\n",
		       what == SCR_EVENTS
			       ? "an event"
			       : scr_call_name((enum scr_call)(choice->word[2] >> 32)),
		       (int)(choice->word[3] & 1), (int)(choice->word[3] >> 1),
		       whats[what]);
}

void xrp_model_open(void)
{
	model = (struct xpl_model){.save = save,
				   .restore = restore,
				   .tidy = tidy,
				   .begin = begin,
				   .choices = choices,
				   .apply = apply,
				   .step_name = names,
				   .step = step,
				   .check = check,
				   .check_end = xrp_program_end,
				   .outcome_hash = outcome_hash,
				   .tell = tell};
	xrp_world_open();
	xpl_open(&model);
	start = xpl_state_push();
	if (start == SIZE_MAX)
		abort();
}
