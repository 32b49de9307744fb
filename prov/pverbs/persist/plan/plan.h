/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an operation is made durable: a pure function from what is known of both sides and
 * of the operation to a short sequence of acts. It allocates nothing and looks at nothing
 * else; the tables of the taxonomy of remote persistence (singleton and compound updates)
 * and the methods E1 to E4 beyond it are its test vectors.
 *
 * A plan for a singleton is made with before 0. For the second part of a compound update
 * (FI_FENCE: b durable implies everything before it durable) before says what earlier
 * operations to that peer left outstanding; the plan then contains only what b adds.
 *
 * How a plan is executed, and what its correctness rests on:
 *
 * - The acts are posted in order, MESSAGE and MESSAGE_DATA on the control queue pair, all
 *   others on the data queue pair. WAIT stops until what this operation posted so far has
 *   completed; nothing else stops.
 * - The target handles the control messages of a connection in their order, the message
 *   of a plan with SEQ no earlier than its sequence word shows the message's number.
 *   Under DMP it writes the range back to memory before it answers; else it answers. The
 *   buffers of control messages are ordinary memory.
 * - SLOT, the data behind it and their receive completion reach the target in this order.
 *   Under DMP it writes the range back before it reports the completion and answers.
 * - Where rq_pm is set the target under DMP writes each message back before it reports or
 *   applies it, and posts a buffer again when what it held is durable elsewhere: else b
 *   may become durable before the message that brings a and b (erratum 6 of the tables).
 */
#ifndef PVB_PERSIST_PLAN_PLAN_H
#define PVB_PERSIST_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/wire.h"
#include "dirty.h"

enum pvb_act {
	PVB_ACT_END,
	PVB_ACT_DATA,	     /* W, WI or S: the operation itself */
	PVB_ACT_DATA_FENCED, /* the same with IBV_SEND_FENCE: after earlier reads, atomics
			      */
	PVB_ACT_ATOMIC_WRITE, /* AW: in place of the operation */
	PVB_ACT_SLOT,	      /* tells the target what the message behind it wants (Send,
				 WriteImm) */
	PVB_ACT_READ, /* F: 1-byte read of the last byte written, or of the receive region
		       */
	PVB_ACT_FLUSH, /* FP: native FLUSH of the range, persistent */
	PVB_ACT_SEQ,   /* fetch-and-add of the target's sequence word, same queue pair */
	PVB_ACT_WAIT,  /* for the completion of everything so far, before the next act */
	PVB_ACT_MESSAGE,      /* control queue pair: flush the range, answer */
	PVB_ACT_MESSAGE_DATA, /* control queue pair: copy these bytes there, flush, answer
			       */
};

#define PVB_PLAN_ACTS 6

enum pvb_plan_op {
	PVB_PLAN_WRITE,
	PVB_PLAN_WRITE_IMM,
	PVB_PLAN_SEND,
	PVB_PLAN_ATOMIC,  /* fetch-and-add, compare-and-swap */
	PVB_PLAN_UPGRADE, /* nothing of its own: a range that earlier operations wrote;
		     before is ignored */
};

/*
 * What earlier operations to the peer left that a fenced one must find durable: of those
 * outstanding, plan.pending, all together. An operation that stands at a WAIT, and one to
 * a region with other attributes (struct pvb_key_attr) than this one's, counts as
 * UNKNOWN. What was written at a lower level of completion is made durable by a
 * PVB_PLAN_UPGRADE first.
 */
#define PVB_PENDING_PLACED 1u	/* written; durable as soon as it is visible or arrived */
#define PVB_PENDING_READ 2u	/* an F is outstanding behind it */
#define PVB_PENDING_FLUSH 4u	/* an FP is outstanding behind it */
#define PVB_PENDING_MESSAGE 8u	/* a control message is outstanding for it */
#define PVB_PENDING_UNKNOWN 16u /* outstanding in a way that nothing orders behind */
#define PVB_PENDING_ATOMIC 32u	/* not posted: later writes and sends may pass it */

struct pvb_plan_query {
	struct pvb_key_attr
		target; /* region written to; of a Send: of the receive buffers */
	bool rq_pm; /* Send: receive buffers are persistent, and recovery replays them */
	/* iWARP, relaxed ordering, unknown: completions say nothing of the target, data
	 * is placed in any order. */
	bool weak;
	bool native_flush; /* both queue pairs take FLUSH */
	bool native_write; /* both queue pairs take ATOMIC WRITE */
	bool seq_word;	   /* the target's word takes our atomics */
	bool control;	   /* a control queue pair stands */
	enum pvb_plan_op op;
	uint64_t addr;	     /* at the target */
	size_t len;	     /* bytes */
	size_t inline_max;   /* bytes that a control message carries */
	unsigned int before; /* PVB_PENDING_*; 0: not fenced, or nothing before */
	bool force_message;  /* the user wants the message method where there is one */
};

enum pvb_plan_end {
	PVB_END_COMPLETION, /* C: the last work completion */
	PVB_END_ANSWER,	    /* A: the target's answer */
};

struct pvb_plan {
	uint8_t act[PVB_PLAN_ACTS]; /* enum pvb_act, then PVB_ACT_END */
	uint8_t end;		    /* enum pvb_plan_end */
	/* Must not begin before everything durable that is outstanding has ended. */
	bool after;
	/* Until it ended, operations that overlap it or that the endpoint promised an
	 * order to must not begin: something later posted could overtake it. A fenced one
	 * that does not overlap begins as its own plan says. */
	bool no_overtake;
	uint8_t pending;     /* PVB_PENDING_*, while it is outstanding */
	uint8_t round_trips; /* from its begin to its end; after adds the one waited for
			      */
};

/*
 * The cheapest plan that is correct. 0; -FI_EOPNOTSUPP: there is none (volatile memory,
 * no control queue pair where one is needed); -FI_EINVAL: before says what cannot be with
 * this target: PLACED under DMP, READ under DMP with DDIO. *plan is set on success only.
 */
int pvb_plan(const struct pvb_plan_query *query, struct pvb_plan *plan);

/*
 * In the notation of the tables, for people: W, WI, S, AT the operation (with ! fenced),
 * AW, F, FP as above, SLOT, D the sequence word, M and Mb control messages, C completion,
 * A answer; "after" in front where plan->after. buf is returned; 48 bytes are enough.
 */
const char *pvb_plan_text(const struct pvb_plan *plan, enum pvb_plan_op op, char *buf,
			  size_t size);

#endif
