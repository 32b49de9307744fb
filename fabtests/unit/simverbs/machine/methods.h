/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A requester and a responder that follow scripts, on one machine, in every order that
 * its rules allow, the power failing in every state.
 *
 * The requester's script, words separated by blanks. a and b are ranges of persistent
 * memory; everything but M goes through one queue pair. With ! behind it, Wa!, a word is
 * posted with IBV_SEND_FENCE:
 *
 *	Wa Wb	write			Wc	write of other bytes over b
 *	Ia Ib	write with immediate: the responder gets a message
 *	S Sa Sb Sab	send: nothing but where to look, a, b, or both
 *	Xa Xb	atomic that changes a (of eight bytes) or b
 *	AW	ATOMIC WRITE of b
 *	F FP	1-byte read, or native FLUSH with persistent placement, of what was
 *		written last
 *	Dw Da	the doorbell, in ordinary memory: by a write, by an atomic
 *	L	slot, in ordinary memory: what the next message wants
 *	M Mb	message on another queue pair; what it carries is ordinary memory's
 *	R N	the application's read of b, and a message that says b is there
 *	C	wait for the completion of the last	A Aa Ab	wait for an answer
 *	= Ca	wait for the completion of the last before =
 *	.	a is reported from here; everything is at the script's end
 *
 * The responder's, for each message in turn, separated by "|":
 *
 *	ca cb	copy	fa fb	flush	fm	flush the message's own buffer
 *	d	wait until the doorbell rang for as many messages as say d
 *	l	read the slot: blind when it is not there
 *	ra rb	report a, b to the responder's application
 *	ack acka ackb	answer
 *
 * Behind "||" stands what it does for messages of the other queue pair, at the same time;
 * without that the first script is for all.
 */
#ifndef METHODS_H
#define METHODS_H

#include <stdbool.h>
#include <stdint.h>
#include "machine/machine.h"

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
	/* The final bytes are not those posted last, or what came behind b did not find
	 * it (I3). */
	bool stale;
	bool blind; /* a message was handled and its slot was not there */
	bool stuck; /* nothing can happen and a script has not ended */
};

struct verdict method_explore(const struct method *method,
			      const struct machine_kind *kind);

static inline bool verdict_safe(const struct verdict *verdict)
{
	return !verdict->too_early && !verdict->disorder && !verdict->blind;
}

#endif
