/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <time.h>
#include "step.h"
#include "svb.h"

static const struct svb_steps *svb_steps;

void svb_steps_install(const struct svb_steps *steps)
{
	svb_steps = steps;
	svb_self.slow |= steps != NULL;
}

bool svb_step_may(enum svb_step step, uint32_t qpn, uint32_t counter)
{
	return !svb_steps || svb_steps->may(step, qpn, counter);
}

uint64_t svb_now(void)
{
	struct timespec now;

	if (svb_steps)
		return svb_steps->now();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
