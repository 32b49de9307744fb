/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an operation is made durable: a pure function from what is known of both sides and
 * of the operation to a short sequence of acts. It allocates nothing and looks at nothing
 * else; the tables of the taxonomy of remote persistence (singleton and compound updates)
 * and the methods E1 to E4 beyond it are its test vectors.
 *
 * A plan for a singleton is made with before 0. For the second part of a compound update
 * (FI_FENCE: b durable implies everything before it durable) before says what earlier
 * operations to that peer left under way; the plan then contains only what b adds.
 */
#ifndef PVB_PLAN_H
#define PVB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "desc.h"

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
	PVB_ACT_RING,  /* atomic on the target's doorbell word, same queue pair */
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
	PVB_PLAN_ATOMIC, /* fetch-and-add, compare-and-swap */
};

/* What earlier operations to the peer left that a fenced one must find durable. */
#define PVB_BEFORE_PLACED 1u   /* written; durable as soon as it is visible or arrived */
#define PVB_BEFORE_READ 2u     /* an F is under way behind it */
#define PVB_BEFORE_FLUSH 4u    /* an FP is under way behind it */
#define PVB_BEFORE_MESSAGE 8u  /* a control message is under way for it */
#define PVB_BEFORE_UNKNOWN 16u /* under way in a way that nothing orders behind */

struct pvb_plan_query {
	struct pvb_desc target; /* region written to; of a Send: of the receive buffers */
	bool rq_pm; /* Send: receive buffers are persistent, and recovery replays them */
	bool weak; /* iWARP: completions say nothing of the target, placement unordered */
	bool native_flush; /* both queue pairs take FLUSH */
	bool native_write; /* both queue pairs take ATOMIC WRITE */
	bool doorbell;	   /* the target's word takes our atomics */
	bool control;	   /* a control queue pair stands */
	enum pvb_plan_op op;
	uint64_t addr;	     /* at the target */
	size_t len;	     /* bytes */
	size_t inline_max;   /* bytes that a control message carries */
	unsigned int before; /* PVB_BEFORE_*; 0: not fenced, or nothing before */
	bool force_message;  /* the user wants no one-sided method */
};

enum pvb_plan_end {
	PVB_END_COMPLETION, /* C: the last work completion */
	PVB_END_ANSWER,	    /* A: the target's answer */
};

struct pvb_plan {
	uint8_t act[PVB_PLAN_ACTS]; /* enum pvb_act, then PVB_ACT_END */
	uint8_t end;		    /* enum pvb_plan_end */
	bool after; /* must not begin before what is under way has ended */
	/* Until it ended, operations that overlap it or that the endpoint promised an
	 * order to must not begin: something later posted could overtake it. */
	bool hold;
	uint8_t round_trips; /* from its begin to its end; after adds the one waited for
			      */
};

/*
 * The cheapest plan that is correct. 0; -FI_EOPNOTSUPP: there is none (volatile memory,
 * no control queue pair where one is needed). *plan is set on success only.
 */
int pvb_plan(const struct pvb_plan_query *query, struct pvb_plan *plan);

/* In the notation of the tables, "W F C", for people. buf is returned. */
const char *pvb_plan_text(const struct pvb_plan *plan, enum pvb_plan_op op, char *buf,
			  size_t size);

#endif
