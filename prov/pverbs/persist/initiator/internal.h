/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the files that carry out durable operations: commit.c (posts them), group.c
 * (several that share a flush), plan_cache.c (one like the one before), upgrade.c (what
 * was written before), sends.c (what was sent before), request.c (the target), query.c
 * (what persist/plan/plan.c is told), outstanding.c (what has not ended). All of it with
 * tx_lock held.
 */
#ifndef PVB_PERSIST_INITIATOR_INTERNAL_H
#define PVB_PERSIST_INITIATOR_INTERNAL_H

#include <stdlib.h>
#include "persist/control/control.h"
#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "commit.h"
#include "objects.h"

struct pvb_batch;
struct pvb_op;

enum pvb_usual_way {
	PVB_USUAL_NONE,	 /* the long way */
	PVB_USUAL_WRITE, /* pvb_usual_write */
	PVB_USUAL_QUIET, /* pvb_commit_quietly, to pvb_usual.desc */
	PVB_USUAL_WORD,	 /* pvb_usual_fenced */
};

/* What a group of writes needs of the send queue's entries is kept for its end. */
#define PVB_GROUP_RESERVE (PVB_DIRTY_APART + 1)

/* outstanding.c */

/* Has what was posted before this position of the send queue not all ended? */
bool pvb_under_way(struct pvb_conn *conn, uint32_t end);
/* PVB_BEFORE_* of everything that has not ended, for an operation on memory like facts.
 */
unsigned int pvb_commit_before(struct pvb_conn *conn, uint32_t facts);
/* The newest entry leaves this under way. */
void pvb_commit_note(struct pvb_conn *conn, unsigned int leaves, uint32_t facts);
/* Would it overtake what must not be overtaken? */
bool pvb_commit_overtakes(struct pvb_ep *ep, const struct pvb_op *op);
/* What tells regions of one kind from those of another: the descriptor as it is in keys.
 */
uint32_t pvb_key_facts(uint64_t key);
uint32_t pvb_op_facts(const struct pvb_op *op);
bool pvb_op_sends(const struct pvb_op *op);
/* Does the target hear of it? */
bool pvb_op_announces(const struct pvb_op *op);

/* query.c */

/* Of a message: nothing is known of where it goes; its target takes care of it. */
extern const struct pvb_desc pvb_desc_message;

/* What the operation goes to: 0, or why it cannot be made durable. */
int pvb_commit_desc(const struct pvb_conn *conn, const struct pvb_op *op,
		    struct pvb_desc *desc);
/* Has the peer said that its recovery looks into its receives? */
bool pvb_commit_replays(const struct pvb_conn *conn);
/* What is known of both sides; without a lane only the device can help. */
void pvb_commit_query(struct pvb_ep *ep, const struct pvb_desc *desc,
		      struct pvb_plan_query *query);
enum pvb_plan_op pvb_plan_op_of(const struct pvb_op *op);
bool pvb_plan_has(const struct pvb_plan *plan, enum pvb_act act);
/* Does it need a request? */
bool pvb_plan_asks(const struct pvb_plan *plan);
unsigned int pvb_plan_leaves(const struct pvb_plan *plan);
/* What makes durable with it, for the statistics. */
enum pvb_commit_count pvb_plan_count(const struct pvb_plan *plan);
/* Entries of the send queue. */
uint32_t pvb_plan_entries(const struct pvb_plan *plan);

/* plan_cache.c */

/* Remembers this plan of an operation, if one like it may go a short way. */
void pvb_usual_learn(struct pvb_conn *conn, const struct pvb_op *op,
		     const struct pvb_plan_query *query, const struct pvb_plan *plan);
/* Which? */
enum pvb_usual_way pvb_usual_way(struct pvb_ep *ep, const struct pvb_op *op);
/* Posts it. 0, or a negative code: it never began. */
ssize_t pvb_usual_write(struct pvb_ep *ep, struct pvb_op *op);
ssize_t pvb_usual_fenced(struct pvb_ep *ep, struct pvb_op *op);

/* commit.c */

/*
 * Will nobody be told that it is durable? Then what was written is remembered, and a
 * fenced operation sees to it. What the target reports of it has to wait all the same.
 */
bool pvb_commit_unheard(const struct pvb_ep *ep, const struct pvb_op *op);
/* The newest entry is of what must not be overtaken. */
void pvb_commit_hold(struct pvb_conn *conn, const struct pvb_op *op);

/* cm/request.c */

/* May one more be asked? */
bool pvb_ask_allowed(struct pvb_conn *conn, enum pvb_ask kind);
/* The number of the next one, which is about to be posted; its deadline runs. */
uint32_t pvb_ask_next(struct pvb_lane *lane, enum pvb_ask kind);
/* The newest was not posted. */
void pvb_ask_never(struct pvb_lane *lane, enum pvb_ask kind);
/* A request whose entry of the send queue is about to be posted, and was: the entry rings
 * the doorbell. */
void pvb_ask_begin(struct pvb_lane *lane, struct pvb_wire_message *message);
void pvb_ask_send(struct pvb_lane *lane, struct pvb_wire_message *message);

/* upgrade.c */

/* How a range that was written becomes durable without writing it again. 0 or why not. */
int pvb_lift_plan(struct pvb_ep *ep, const struct pvb_dirty_range *range,
		  struct pvb_plan *plan);
/*
 * Does it, as an operation of nobody's: when it fails the connection ends, and all behind
 * it. end_state: PVB_SLOT_* of its last entry. 0 or a negative code.
 */
int pvb_lift_range(struct pvb_ep *ep, const struct pvb_dirty_range *range,
		   const struct pvb_plan *plan, unsigned int end_state);
/*
 * All that was written before query's operation, but for what that one serves. With join
 * what needs no request goes with the operation, as far as there is room: it is marked
 * (pvb_dirty_range.ahead), and pvb_lift_ahead adds it to the operation's batch. 0 and in
 * *before what of it is under way then; -FI_EAGAIN, or why not.
 */
int pvb_commit_lift(struct pvb_ep *ep, const struct pvb_plan_query *query, uint32_t facts,
		    bool join, unsigned int *before);
/* How many. */
uint32_t pvb_lift_count(const struct pvb_conn *conn);
/* 0 or a negative code. */
int pvb_lift_ahead(struct pvb_batch *batch);
/* It was posted: what that leaves under way. */
void pvb_lift_noted(struct pvb_conn *conn);

/* sends.c */

/* An operation without the flag was posted; ret: what its key says, 0 or a negative code.
 */
void pvb_sends_note(struct pvb_conn *conn, const struct pvb_op *op, int ret);
/*
 * The messages before a fenced operation on memory like facts become durable: 0 and that
 * is under way, or pvb_commit_lift sees to it; or why it cannot be done, or not now.
 */
int pvb_sends_lift(struct pvb_ep *ep, uint32_t facts);
/* Is it known that they are not? Then the fenced operation fails: what its call returns.
 */
bool pvb_sends_failed(const struct pvb_conn *conn);
ssize_t pvb_sends_fail(struct pvb_conn *conn, const struct pvb_op *op);

/* group.c */

/* May the operation be one of a group: its plan, a write and one flush, and room for it?
 */
bool pvb_group_takes(const struct pvb_ep *ep, const struct pvb_op *op,
		     const struct pvb_plan *plan);
/* Posts it as one of the group, which ends with it unless FI_MORE. 0 or a negative code:
 * then it never began. */
ssize_t pvb_group_join(struct pvb_ep *ep, struct pvb_op *op, const struct pvb_plan *plan,
		       const struct pvb_dirty_range *range);

#endif
