/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What time it is. A normal run reads the clock; who explores sets its own, so that time
 * passes only when it says so. What happens when is machine/machine.h's.
 */
#ifndef SVB_STEP_H
#define SVB_STEP_H

#include <stdint.h>

/* ns, never going back. */
uint64_t svb_now(void);

/* NULL: the monotonic clock. Not to be changed while requests are under way. */
void svb_clock_install(uint64_t (*now)(void));

#endif
