/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <time.h>
#include "step.h"

static uint64_t (*svb_clock)(void);

void svb_clock_install(uint64_t (*now)(void))
{
	svb_clock = now;
}

uint64_t svb_now(void)
{
	struct timespec now;

	if (svb_clock)
		return svb_clock();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
