/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's program, and whose turn it is. */
#ifndef XPV_PROGRAM_H
#define XPV_PROGRAM_H

#include "scenario.h"

void xpv_program_begin(const struct scenario *scenario);
/* Steps of processors. False: not possible now. They may change nothing. */
enum step { STEP_CALL, STEP_READ, STEP_TARGET, STEP_TIME, STEPS };
bool xpv_program_step(enum step step);
/* The call that is made now, or NULL. */
const struct call *xpv_program_call(void);
/* Is a range one of a call that the target is to refuse? Offsets in persistent memory. */
bool xpv_program_refuses(uint64_t at, uint64_t len);
/* Have so many calls been made and reported? */
bool xpv_program_made(uint32_t count);
/* Only so many calls are made from now on. */
void xpv_program_until(uint32_t count);
/* Was everything called, and has everything ended? */
bool xpv_program_done(void);

#endif
