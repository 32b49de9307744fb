/* SPDX-License-Identifier: BSD-2-Clause */
/* States of everything, to come back to, the newest last; what models see of them is in
 * search.h. */
#ifndef XPL_STATES_H
#define XPL_STATES_H

#include "search.h"

/* From now on states can be saved; all of the code's is in the heap. */
void xpl_states_open(const struct xpl_model *model);
/* Forgets this one and all that are newer. */
void xpl_state_pop(size_t at);
/* Of the newest, in which nothing has happened since it was saved. */
uint64_t xpl_state_hash(size_t at);

#endif
