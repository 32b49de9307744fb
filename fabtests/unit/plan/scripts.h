/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans as scripts of a requester and a responder (methods.h): what pverbs does at both
 * sides when it carries a plan out, for every different plan that pvb_plan makes.
 */
#ifndef PLAN_SCRIPTS_H
#define PLAN_SCRIPTS_H

#include <stdbool.h>
#include <stdint.h>
#include "machine/methods.h"
#include "vg.h"
#include "wire/key.h"

struct plan_script {
	char requester[160], responder[160];
	/* For a fenced operation that waits (plan.after): the same without waiting. */
	char hasty[160];
	/* Behind what is posted at once, and behind the end: "%s" there. */
	char early[160], late[160];
	bool compound, after;
	bool no_overtake; /* the last of the operations */
	bool at_b;	  /* and that it changes b where b is */
	bool small;	  /* a is of eight bytes */
	bool rq_pm, weak, ddio;
	enum crn_persistence domain;
};

/* Every different one of every query, singleton or pair, in any order. Valid until the
 * program ends. */
const struct plan_script *plan_scripts(uint32_t *count);

/* The machines it must be safe on: iWARP and relaxed ordering differ in two ways. */
uint32_t plan_script_machines(const struct plan_script *script,
			      struct machine_kind machines[3]);

/* Under valgrind some of them are enough: it looks for errors of the programs. */
static inline uint32_t plan_stride(void)
{
	return svb_vg_runs() ? 23 : 1;
}

#endif
