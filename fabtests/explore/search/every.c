/* SPDX-License-Identifier: BSD-2-Clause */
/* Every state that can be reached, each once. */
#include "states.h"
#include "way.h"

/* The search ends: with the first that is wrong in such a way; with so many states (0:
 * any number). */
static unsigned int ends_with;
static uint64_t most;

/* What makes no difference to anybody happens at once. */
static void make_unseen(void)
{
	struct xpl_choice choice;

	while (xpl_now.model->unseen && xpl_now.model->unseen(&choice) &&
	       xpl_go(&choice)) {
		xpl_apply(&choice);
		xpl_now.found->unseen++;
	}
}

/* Each choice in turn, and what follows it. */
static void visit_choices(const struct xpl_choice *choices, uint32_t count, size_t state,
			  void (*follow)(void))
{
	for (uint32_t i = 0; i < count && xpl_go(&choices[i]); i++) {
		xpl_apply(&choices[i]);
		follow();
		xpl_state_back_to(state);
		xpl_now.way.length--;
	}
}

static void stop_visit(void);

/* The real code has stopped inside a step: only the model moves. */
static void stop_visit_here(void)
{
	struct xpl_choice choices[XPL_CHOICES];
	uint32_t count;
	size_t state;

	if (!xpl_push(&state))
		return;
	if (!xpl_new(&xpl_now.stopped, xpl_state_hash(state))) {
		xpl_state_pop(state);
		return;
	}
	count = xpl_now.model->choices(choices, XPL_CHOICES);
	xpl_check();
	xpl_state_back_to(state);
	visit_choices(choices, count, state, stop_visit);
	xpl_state_pop(state);
}

static void stop_visit(void)
{
	const uint32_t length = xpl_now.way.length;

	make_unseen();
	stop_visit_here();
	xpl_now.way.length = length;
}

static void visit(void);

/* A step of the real code. Does it change anything? */
static bool visit_step(unsigned int step, size_t state, uint64_t hash)
{
	unsigned int wrong = 0;
	bool changed = false;

	if (!xpl_go_step(step))
		return false;
	if (xpl_step(step, &wrong)) {
		xpl_now.found->runs++;
		changed = xpl_state_hash_now() != hash;
	}
	if (changed) {
		xpl_note(wrong);
		visit();
	}
	xpl_state_back_to(state);
	xpl_now.way.length--;
	return changed;
}

static bool is_cut(void)
{
	xpl_now.found->cut |= most && xpl_states_met() >= most;
	return xpl_now.found->cut;
}

static void visit_here(void)
{
	struct xpl_choice choices[XPL_CHOICES];
	bool moved = false;
	uint32_t count;
	uint64_t hash;
	size_t state;

	if ((xpl_now.found->wrong & ends_with) || is_cut() || !xpl_push(&state))
		return;
	hash = xpl_state_hash(state);
	if (!xpl_new(&xpl_now.seen, hash)) {
		xpl_state_pop(state);
		return;
	}
	count = xpl_now.model->choices(choices, XPL_CHOICES);
	if (count == XPL_CHOICES)
		xpl_note(XPL_WRONG_SEARCH);
	xpl_check();
	xpl_state_back_to(state);
	for (uint32_t i = 0; i < xpl_now.model->steps; i++)
		moved |= visit_step(i, state, hash);
	visit_choices(choices, count, state, visit);
	if (!moved && !count)
		xpl_note(xpl_now.model->check_end());
	xpl_state_pop(state);
}

static void visit(void)
{
	const uint32_t length = xpl_now.way.length;

	make_unseen();
	visit_here();
	xpl_now.way.length = length;
}

void xpl_search_first(const void *run, unsigned int expected, struct xpl_found *found)
{
	ends_with = ~expected;
	xpl_search(run, found);
	ends_with = 0;
}

void xpl_search_most(const void *run, uint64_t states, struct xpl_found *found)
{
	most = states;
	xpl_search_first(run, 0, found);
	most = 0;
}

void xpl_search(const void *run, struct xpl_found *found)
{
	xpl_prepare(run, found, stop_visit);
	visit();
	found->states = xpl_states_met();
}
