/* SPDX-License-Identifier: BSD-2-Clause */
/* The target's program, and its recovery. */
#ifndef XPV_TARGET_H
#define XPV_TARGET_H

#include "scenario.h"

void xpv_target_begin(const struct scenario *scenario);
void xpv_target_step(void);
/* Is there a receive for that call, which is the next? */
bool xpv_target_has_room(uint32_t number);
/* Messages that recovery finds in memory, a bit for each call. *wrong: WRONG_RECOVERED.
 */
uint32_t xpv_target_recover(const uint8_t *memory, unsigned int *wrong);

#endif
