/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong in this state, WRONG_*. */
#ifndef XPV_CHECK_H
#define XPV_CHECK_H

#include "scenario.h"

/* The power fails, which changes memory, and each sees every medium that recovery may
 * find. */
unsigned int xpv_check_power(void (*each)(const void *medium));
/* Everything was called and has ended. */
unsigned int xpv_check_end(void);
/* All that is wrong, in words. */
const char *xpv_wrong_text(unsigned int wrong, char *text, size_t size);

#endif
