/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's program, and whose turn it is. */
#ifndef XPV_PROGRAM_H
#define XPV_PROGRAM_H

#include "scenario.h"

void program_begin(const struct scenario *scenario);
/* Steps of processors. False: not possible now. They may change nothing. */
enum step { STEP_CALL, STEP_READ, STEP_TARGET, STEP_TIME, STEPS };
bool program_step(enum step step);
/* The call that is made now, or NULL. */
const struct call *program_call(void);
/* Is a range one of a call that the target is to refuse? Offsets in persistent memory. */
bool program_refuses(uint64_t at, uint64_t len);
/* Have so many calls been made and reported? */
bool program_made(uint32_t count);
/* Only so many calls are made from now on. */
void program_until(uint32_t count);
/* Was everything called, and has everything ended? */
bool program_done(void);

#endif
