/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one place that decides when something happens and what time it is.
 *
 * A normal run lets everything happen at once and reads the clock. An explorer installs
 * its own table and then every delivery and drain is a choice of its.
 */
#ifndef SVB_STEP_H
#define SVB_STEP_H

#include <stdbool.h>
#include <stdint.h>

enum svb_step {
	SVB_STEP_EXECUTE, /* the next request of a send queue reaches its responder */
	SVB_STEP_FLUSH,	  /* a FLUSH drains what precedes it */
};

struct svb_steps {
	/* May it happen now? What may not stays where it is until the queue runs again.
	 */
	bool (*may)(enum svb_step step, uint32_t qpn, uint32_t counter);
	/* ns, never going back. */
	uint64_t (*now)(void);
};

/* NULL: at once, by the monotonic clock. Not to be changed while requests are under way.
 */
void svb_steps_install(const struct svb_steps *steps);

bool svb_step_may(enum svb_step step, uint32_t qpn, uint32_t counter);
uint64_t svb_now(void);

#endif
