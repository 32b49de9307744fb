/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plans that the provider chose, and what becomes of it when it follows another one:
 * the linker puts these where it asks for a plan (prov/pverbs/persist/plan/plan.h).
 */
#ifndef XPV_PLANS_H
#define XPV_PLANS_H

#include <stdbool.h>
#include <stddef.h>

#define PLANS_MAX 48u
#define PLAN_TEXT 72u

/* A plan as text, and how often it was asked for. */
struct plan_seen {
	char text[PLAN_TEXT];
	unsigned long times;
};

/* What is left out of a plan: one of its acts, by number, or one of these. */
enum plan_part {
	PLAN_AFTER = 16,  /* to begin after what is outstanding has ended */
	PLAN_NO_OVERTAKE, /* to let nothing overtake it */
	PLAN_ANSWER,	  /* to wait for the answer */
	PLAN_PARTS,
};

/* Something left out: of the plan for that call of the program, or of one that makes
 * durable what was written before it. */
struct plan_change {
	char text[PLAN_TEXT]; /* of the whole plan, and what of it */
	unsigned int call, part;
	bool upgrade;
	bool caught;
};

/* Plans asked for since xpv_plans_forget; *count of them. */
const struct plan_seen *xpv_plans_seen(size_t *count);
void xpv_plans_forget(void);

/* All that can be left out of the plans seen since xpv_plans_forget. */
struct plan_change *xpv_plans_changes(size_t *count);
/* From now on it is left out; NULL: nothing is. */
void xpv_plans_change(const struct plan_change *change);

/* What is left out of the plan that is carried out now: the provider does some things
 * whether or not the plan says so (omit.c). */
struct plan_omitted {
	unsigned int what; /* enum pvb_act, or PLAN_AFTER and behind it; 0: nothing */
	bool upgrade;
};
const struct plan_omitted *xpv_plans_omitted(void);
/* omit.c: before states are saved, with memory that they include. */
void xpv_omit_open(void);

/*
 * From now on the provider follows text for that call: as pvb_plan_text has it, words
 * separated by spaces, and "after" and "no-overtake". NULL: its own plan. False: this is
 * none.
 */
bool xpv_plans_force(unsigned int call, const char *text);

#endif
