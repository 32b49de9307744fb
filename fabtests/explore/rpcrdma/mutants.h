/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the provider: the linker puts these where one of its files calls another. A
 * search has to find each. */
#ifndef XRP_MUTANTS_H
#define XRP_MUTANTS_H

#include "scenario.h"

struct rpr_ep;
struct rpr_rx;

/* Part of a state. */
struct mutant_state {
	struct rpr_rx *late; /* a receive that is to be posted again */
};
extern struct mutant_state xrp_mutant_state;

/* An endpoint has what it needs for a connection. */
void xrp_mutant_opened(struct rpr_ep *ep);

/* By number; NULL: there is none any more. */
const char *xrp_mutant_name(unsigned int number);
/* Could it make a difference there? */
bool xrp_mutant_fits(unsigned int number, const struct scenario *scenario);
/* From now on the provider has this fault. */
void xrp_mutant_use(unsigned int number);
/* It has none again. */
void xrp_mutant_end(void);

#endif
