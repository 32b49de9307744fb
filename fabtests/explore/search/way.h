/* SPDX-License-Identifier: BSD-2-Clause */
/* What every.c (every way), some.c (ways by chance) and tell.c share: the way to the
 * present state, and what was found on it. */
#ifndef XPL_WAY_H
#define XPL_WAY_H

#include "search.h"
#include "seen.h"

#define XPL_DEPTH 4096u

/* One step further: of the model's choices, or of the real code. */
struct xpl_event {
	uint32_t step; /* of the real code; XPL_CHOICE: the choice */
	struct xpl_choice choice;
};
#define XPL_CHOICE UINT32_MAX

struct xpl_way {
	uint32_t length;
	struct xpl_event event[XPL_DEPTH];
};

struct xpl_now {
	const struct xpl_model *model;
	const void *run;
	struct xpl_found *found;
	struct xpl_seen seen, stopped; /* states: between steps, inside of one */
	struct xpl_way way, bad;       /* to here; to what was wrong first */
	unsigned int bad_wrong;
	bool compare; /* found.ends is counted: */
	struct xpl_seen ends;
	bool in_step;
	/* Where the real code has stopped: searches from there. */
	void (*stop)(void);
};
extern struct xpl_now xpl_now;

/* A search of that run begins, with nothing found. */
void xpl_prepare(const void *run, struct xpl_found *found, void (*stops)(void));
/* Back to where the run begins. */
void xpl_begin(void);
/* How many states were met. */
uint64_t xpl_states_met(void);
/* What is wrong in this state; the first time the way to it is kept. */
void xpl_note(unsigned int wrong);
/* One step further. False: too far. */
bool xpl_go_step(unsigned int step);
bool xpl_go(const struct xpl_choice *choice);
/* The state is saved. False: there is no room. */
bool xpl_push(size_t *state);
/* Was a state not there? */
bool xpl_new(struct xpl_seen *seen, uint64_t hash);
/* The model checks this state, which has to be taken back. */
void xpl_check(void);
/* The model makes that choice. */
void xpl_apply(const struct xpl_choice *choice);
/* The real code makes that step. False: not possible now. *wrong as the model has it. */
bool xpl_step(unsigned int step, unsigned int *wrong);

#endif
