/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What passes between the layer and the scripted provider, looked at by the transport
 * headers: credits are counted here, and each region that a Call offers is known. The
 * linker puts these functions where messages are posted and completed, and where the
 * layer reports to its program.
 */
#ifndef XRP_WIRE_H
#define XRP_WIRE_H

#include "scenario.h"

#define HANDLES 4u /* of a Call */

struct wire_side {
	uint32_t in_flight; /* Calls without a Reply that has reached this end */
	uint32_t limit;	    /* granted by the last Reply that has; 1 before */
	uint32_t taken;	    /* Calls of the peer that have reached this end */
	uint32_t answered;  /* of them, those answered */
};

/* A scenario begins. */
void xrp_wire_begin(const struct scenario *scenario);
/* The call whose memory the next Call is about; CALLS: none. */
void xrp_wire_calls(unsigned int side, unsigned int call);
/* Has every message that arrived met a receive? */
unsigned int xrp_wire_check(void);
/* All is over: regions that peers reach. */
unsigned int xrp_wire_regions(void);

#endif
