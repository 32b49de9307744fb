/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults of the provider that are not of a plan: the linker puts these where one of its
 * files calls another. A search has to find each.
 */
#ifndef XPV_MUTANTS_H
#define XPV_MUTANTS_H

#include "scenario.h"

/* By number; NULL: there is none any more. */
const char *xpv_mutant_name(unsigned int number);
/* Could it make a difference to that program on that machine? */
bool xpv_mutant_fits(unsigned int number, const struct scenario *scenario,
		     const struct machine *machine);
/* From now on the provider has this fault. */
void xpv_mutant_use(unsigned int number);
/* It has none again. How often the fault made a difference. */
uint64_t xpv_mutant_end(void);

#endif
