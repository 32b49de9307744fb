/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "persist/plan/plan.h"
#include "plans.h"
#include "state.h"
#include "wrap.h"

#define CHANGES_MAX 256u

static struct plan_seen seen[PLANS_MAX];
static size_t seen_count;
static struct plan_change changes[CHANGES_MAX];
static size_t change_count;
static const struct plan_change *change;
static struct plan_omitted omitted;
static struct pvb_plan forced[CALLS];
static bool is_forced[CALLS];

const struct plan_seen *xpv_plans_seen(size_t *count)
{
	*count = seen_count;
	return seen;
}

void xpv_plans_forget(void)
{
	seen_count = 0;
	change_count = 0;
}

struct plan_change *xpv_plans_changes(size_t *count)
{
	*count = change_count;
	return changes;
}

void xpv_plans_change(const struct plan_change *wanted)
{
	change = wanted;
}

const struct plan_omitted *xpv_plans_omitted(void)
{
	return &omitted;
}

static void describe(const struct pvb_plan_query *query, const struct pvb_plan *plan,
		     char *text)
{
	char acts[48];

	pvb_plan_text(plan, query->op, acts, sizeof(acts));
	snprintf(text, PLAN_TEXT, "%s%s%s",
		 query->op == PVB_PLAN_UPGRADE ? "upgrade " : "", acts,
		 plan->no_overtake ? " no-overtake" : "");
}

static void note(const char *text)
{
	for (size_t i = 0; i < seen_count; i++)
		if (!strcmp(seen[i].text, text)) {
			seen[i].times++;
			return;
		}
	if (seen_count == PLANS_MAX)
		return;
	snprintf(seen[seen_count].text, PLAN_TEXT, "%s", text);
	seen[seen_count++].times = 1;
}

static void note_change(const struct pvb_plan_query *query, const char *text,
			unsigned int part, const char *what)
{
	struct plan_change *at = changes,
			   now = {.call = xpv_program.called,
				  .part = part,
				  .upgrade = query->op == PVB_PLAN_UPGRADE};

	snprintf(now.text, sizeof(now.text), "%.45s, without %s", text, what);
	for (; at < changes + change_count; at++)
		if (at->call == now.call && at->part == part &&
		    at->upgrade == now.upgrade && !strcmp(at->text, now.text))
			return;
	if (change_count < CHANGES_MAX)
		changes[change_count++] = now;
}

static const char *const act_names[] = {
	[PVB_ACT_DATA] = "the data",   [PVB_ACT_DATA_FENCED] = "the fence",
	[PVB_ACT_ATOMIC_WRITE] = "AW", [PVB_ACT_SLOT] = "SLOT",
	[PVB_ACT_READ] = "F",	       [PVB_ACT_FLUSH] = "FP",
	[PVB_ACT_SEQ] = "D",	       [PVB_ACT_WAIT] = "the wait",
	[PVB_ACT_MESSAGE] = "M",       [PVB_ACT_MESSAGE_DATA] = "Mb",
};

/* The operation itself has to take place. */
static bool can_go(enum pvb_act act)
{
	return act != PVB_ACT_DATA && act != PVB_ACT_ATOMIC_WRITE &&
	       act != PVB_ACT_MESSAGE_DATA;
}

static void note_changes(const struct pvb_plan_query *query, const struct pvb_plan *plan,
			 const char *text)
{
	char what[32];

	/* It is asked for again when what it waits for has ended, and is another then. */
	if (plan->after) {
		note_change(query, text, PLAN_AFTER, "after");
		return;
	}
	for (unsigned int i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++) {
		if (!can_go(plan->act[i]))
			continue;
		snprintf(what, sizeof(what), "%s", act_names[plan->act[i]]);
		note_change(query, text, i, what);
	}
	if (plan->no_overtake)
		note_change(query, text, PLAN_NO_OVERTAKE, "no-overtake");
	if (plan->end == PVB_END_ANSWER)
		note_change(query, text, PLAN_ANSWER, "A");
}

static bool needs_request(const struct pvb_plan *plan)
{
	for (unsigned int i = 0; i < PVB_PLAN_ACTS && plan->act[i]; i++)
		if (plan->act[i] == PVB_ACT_MESSAGE ||
		    plan->act[i] == PVB_ACT_MESSAGE_DATA || plan->act[i] == PVB_ACT_SLOT)
			return true;
	return false;
}

static void leave_out(struct pvb_plan *plan, unsigned int part)
{
	switch (part) {
	case PLAN_AFTER:
		plan->after = false;
		return;
	case PLAN_NO_OVERTAKE:
		plan->no_overtake = false;
		return;
	case PLAN_ANSWER:
		plan->end = PVB_END_COMPLETION;
		return;
	}
	if (plan->act[part] == PVB_ACT_DATA_FENCED) {
		plan->act[part] = PVB_ACT_DATA;
		return;
	}
	memmove(&plan->act[part], &plan->act[part + 1], PVB_PLAN_ACTS - 1 - part);
	plan->act[PVB_PLAN_ACTS - 1] = PVB_ACT_END;
	/* Nobody was asked, so nobody answers. */
	if (!needs_request(plan))
		plan->end = PVB_END_COMPLETION;
}

static const struct {
	const char *word;
	enum pvb_act act;
} words[] = {
	{"W", PVB_ACT_DATA},	      {"W!", PVB_ACT_DATA_FENCED},
	{"AW", PVB_ACT_ATOMIC_WRITE}, {"SLOT", PVB_ACT_SLOT},
	{"F", PVB_ACT_READ},	      {"FP", PVB_ACT_FLUSH},
	{"D", PVB_ACT_SEQ},	      {"wait", PVB_ACT_WAIT},
	{"M", PVB_ACT_MESSAGE},	      {"Mb", PVB_ACT_MESSAGE_DATA},
};

static bool force_word(struct pvb_plan *plan, unsigned int *act, const char *word)
{
	if (!strcmp(word, "C") || !strcmp(word, "A")) {
		plan->end = *word == 'A' ? PVB_END_ANSWER : PVB_END_COMPLETION;
		return true;
	}
	if (!strcmp(word, "after") || !strcmp(word, "no-overtake")) {
		plan->after |= *word == 'a';
		plan->no_overtake |= *word == 'n';
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].word, word) && *act < PVB_PLAN_ACTS) {
			plan->act[(*act)++] = (uint8_t)words[i].act;
			return true;
		}
	return false;
}

bool xpv_plans_force(unsigned int call, const char *text)
{
	struct pvb_plan plan = {.pending = PVB_PENDING_READ};
	char copy[PLAN_TEXT], *word, *rest = copy;
	unsigned int acts_used = 0;

	is_forced[call] = text != NULL;
	if (!text)
		return true;
	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " ")))
		if (!force_word(&plan, &acts_used, word))
			return false;
	forced[call] = plan;
	return true;
}

WRAP(int, pvb_plan, const struct pvb_plan_query *query, struct pvb_plan *plan)
{
	int ret = __real_pvb_plan(query, plan);
	char text[PLAN_TEXT];

	omitted.what = 0;
	if (is_forced[xpv_program.called] && query->op != PVB_PLAN_UPGRADE) {
		*plan = forced[xpv_program.called];
		return 0;
	}
	if (ret)
		return ret;
	describe(query, plan, text);
	if (!change) {
		note(text);
		note_changes(query, plan, text);
		return 0;
	}
	if (change->call == xpv_program.called &&
	    change->upgrade == (query->op == PVB_PLAN_UPGRADE) &&
	    !strncmp(change->text, text, strlen(text)) &&
	    !strncmp(change->text + strlen(text), ", without", 9)) {
		omitted.what = change->part < PLAN_AFTER ? plan->act[change->part]
							 : change->part;
		omitted.upgrade = change->upgrade;
		leave_out(plan, change->part);
	}
	return 0;
}
