/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The initiator's side of FI_COMMIT_COMPLETE: posts what persist/plan/plan.c chose,
 * remembers what is outstanding and what was written without being made durable, and lets
 * nothing overtake an operation that is carried out off the write path. With
 * pvb_qp.tx_lock held.
 */
#ifndef PVB_PERSIST_INITIATOR_COMMIT_H
#define PVB_PERSIST_INITIATOR_COMMIT_H

#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "objects/objects.h"

/* Ranges that must not be overtaken, at most; more have to wait. */
#define PVB_COMMIT_HAZARDS 16u
/* Kinds of outstanding operations: PVB_PENDING_* are bits with these numbers. */
#define PVB_COMMIT_KINDS 6u

/* For ep/stats.c. */
enum pvb_commit_count {
	PVB_COMMIT_ARRIVED,
	PVB_COMMIT_READ,
	PVB_COMMIT_FLUSH,
	PVB_COMMIT_REQUEST,
	PVB_COMMIT_MESSAGE,
	PVB_COMMIT_LATER,
	PVB_COMMIT_UPGRADES,
	PVB_COMMIT_COUNTS,
};

struct pvb_hazard {
	uint64_t from, to;
	uint32_t end; /* position behind its last entry of the send queue */
};

/* The write before, whose plan serves one like it. */
struct pvb_plan_cache {
	uint64_t key; /* 0: there is none */
	struct pvb_key_attr key_attr;
	uint32_t attr_bits; /* pvb_op_attr_bits */
	uint8_t then;	    /* enum pvb_act behind the data, or PVB_ACT_END */
	uint8_t kind;	    /* the bit of pvb_plan.pending */
	uint8_t count;	    /* enum pvb_commit_count */
	uint8_t behind; /* PVB_PENDING_* that a fenced word by ATOMIC WRITE and FLUSH may
			   have outstanding before it; 0: not known */
};

/* Completions of a send queue that wait for the target: defer.c. */
struct pvb_defer {
	struct pvb_defer_source source;
	struct pvb_qp *qp;
	bool active;
	uint32_t done;		  /* position up to which the device has completed */
	_Atomic uint32_t grouped; /* writes of groups that were not reported */
	uint32_t flushed;	  /* position up to which groups are durable, */
	bool flushing;		  /* which means something while some are not reported */
	atomic_bool failed;	  /* what a fenced operation had to see to was not done */
	/* FI_E*, why messages sent before a fenced operation are not durable; 0: they
	 * are, or no request was sent. */
	atomic_int undurable;
	bool marked;   /* the marker of pvb_tx_close is among them */
	bool broken;   /* no group will be from now on */
	uint64_t look; /* ms: when it wonders again */
	uint32_t seen; /* requests whose entries of the send queue completed */
	_Atomic uint32_t ended[2]; /* requests and ring entries answered or given up */
};

struct pvb_commit {
	struct pvb_defer defer;
	struct pvb_dirty dirty;
	/* Positions behind the newest of each kind, which is outstanding until it
	 * retires.
	 */
	uint32_t end[PVB_COMMIT_KINDS];
	unsigned int kinds; /* PVB_PENDING_*: end means something */
	uint32_t newest;    /* of end, which means something when kinds is not 0 */
	uint32_t attr_bits; /* of the memory that the newest of all went to */
	struct pvb_hazard hazards[PVB_COMMIT_HAZARDS];
	uint32_t hazard_count;
	struct pvb_plan_cache plan_cache;
	bool closing; /* group.c: its end is being posted */
	uint64_t counts[PVB_COMMIT_COUNTS];
	uint32_t messages; /* sends and writes with data posted: what the peer counts */
	bool half; /* the entry of a message that was not posted is in the peer's ring */
	/* What earlier operations mean for fenced ones: sends.c. */
	bool sends;	/* messages that nothing made durable since */
	bool requested; /* on behalf of a fenced one that has not begun yet */
	int never;	/* -FI_E*, why something will never be durable; 0: all can be */
};

#endif
