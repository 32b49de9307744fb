/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A requester and a responder that follow scripts, on one machine, in every order that
 * its rules allow, the power failing in every state.
 *
 * The requester's script, words separated by blanks. a and b are ranges of persistent
 * memory; everything but M goes through one queue pair:
 *
 *	Wa Wb	write		Wb!	write with IBV_SEND_FENCE
 *	Ia Ib	write with immediate: the responder gets a message
 *	S Sa Sb Sab	send: nothing but where to look, a, b, or both
 *	F FP	1-byte read, or native FLUSH with persistent placement, of what was
 *		written last
 *	AW	ATOMIC WRITE of b	Wc	write of other bytes over b
 *	Dw Da	the doorbell, in ordinary memory: by a write, by an atomic
 *	M	message on another queue pair
 *	C	wait for the completion of the last	A	wait for an
 *acknowledgement
 *
 * The responder's, for each message in turn, separated by "|":
 *
 *	ca cb	copy	fa fb	flush	ack	d	wait for the doorbell
 */
#ifndef METHODS_H
#define METHODS_H

#include <stdbool.h>
#include <stdint.h>
#include "machine.h"

struct method {
	const char *requester;
	const char *responder;
	bool compound; /* b durable implies a durable */
};

/* What differs between runs. */
struct machine_kind {
	struct svb_machine_config config;
	bool rq_pm; /* receive buffers lie in persistent memory, and recovery replays */
	uint32_t a_size; /* bytes, 8 to 256 */
	bool shared;	 /* b lies in the line where a ends */
};

struct verdict {
	uint64_t states;
	uint64_t runs;	/* scripts that came to their end */
	bool too_early; /* reported and not durable (I1) */
	bool disorder;	/* b without a (I2) */
	bool stale;	/* the final bytes are not those posted last (I3) */
	bool stuck;	/* nothing can happen and a script has not ended */
};

struct verdict method_explore(const struct method *method,
			      const struct machine_kind *kind);

static inline bool verdict_safe(const struct verdict *verdict)
{
	return !verdict->too_early && !verdict->disorder;
}

#endif
