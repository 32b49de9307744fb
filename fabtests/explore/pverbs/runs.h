/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with a machine: every scenario, every mutation, or programs by chance. */
#ifndef XPV_RUNS_H
#define XPV_RUNS_H

#include <limits.h>
#include "scenario.h"
#include "plans.h"

struct options {
	const char *only; /* part of a scenario's name; NULL: all */
	bool verbose;
	bool mutate;
	bool faults;  /* and no parts of plans */
	bool drains;  /* lines drain by choice: nothing is pruned */
	bool compare; /* what both ways find is told */
	unsigned int jobs;
	uint32_t programs; /* by chance, for each machine */
	bool all_ways;	   /* of them, and they are longer */
	uint64_t seed;
	char dir[64];
};
extern struct options xpv_options;

/* What a process tells the one that started it. */
struct total {
	uint64_t searches, states, runs, media, unseen, unsafe, bad;
	uint64_t changes, survivors; /* of a mutation run */
	uint64_t faults;
	uint64_t cut; /* searches that met too many states */
	size_t plans;
	char plan[PLANS_MAX][PLAN_TEXT];
};
_Static_assert(sizeof(struct total) <= PIPE_BUF, "written at once");

/* runs.c */
bool xpv_is_chosen(const struct machine *machine, const struct scenario *scenario);
void xpv_run_all(const struct machine *machine, struct total *total);
void xpv_add_found(const struct xpl_found *found, struct total *total);
bool xpv_is_durable(const struct scenario *scenario);

/* mutate.c: leaves out each part of each plan. */
bool xpv_run_mutated(const struct machine *machine, unsigned int number,
		     struct total *total);
/* In the process that started all: a part without which nothing is ever wrong, and which
 * no reason excuses, is a survivor. */
bool xpv_judge_mutated(struct total *total);

/* faults.c: gives the provider each fault of mutants.h: every one has to be found. */
bool xpv_run_faults(const struct machine *machine, unsigned int number,
		    struct total *total);
bool xpv_judge_faults(struct total *total);

/* chance.c */
void xpv_run_by_chance(const struct machine *machine, struct total *total);

#endif
