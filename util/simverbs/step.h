/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time. A normal run reads the monotonic clock; an explorer installs its own, so
 * that time advances only when the explorer wants it.
 */
#ifndef SVB_STEP_H
#define SVB_STEP_H

#include <stdint.h>

/* ns, never going back. */
uint64_t svb_now(void);

/* NULL: the monotonic clock. Not to be changed while requests are under way. */
void svb_clock_install(uint64_t (*now)(void));

#endif
