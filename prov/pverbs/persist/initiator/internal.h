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
#include "objects/objects.h"

struct pvb_batch;
struct pvb_op;

enum pvb_plan_cache_hit {
	PVB_PLAN_CACHE_MISS,	/* the long way */
	PVB_PLAN_CACHE_WRITE,	/* pvb_plan_cache_write */
	PVB_PLAN_CACHE_NO_COMP, /* pvb_commit_post_no_comp, to pvb_plan_cache.key_attr */
	PVB_PLAN_CACHE_WORD,	/* pvb_plan_cache_fenced */
};

/* What a group of writes needs of the send queue's entries is kept for its end. */
#define PVB_GROUP_RESERVE (PVB_DIRTY_APART + 1)

/* outstanding.c */

/* Has what was posted before this position of the send queue not all ended? */
bool pvb_outstanding(struct pvb_qp *qp, uint32_t end);
/* PVB_PENDING_* of everything that has not ended, for an operation on memory like
 * attr_bits.
 */
unsigned int pvb_commit_pending(struct pvb_qp *qp, uint32_t attr_bits);
/* The newest entry leaves this outstanding. */
void pvb_commit_note(struct pvb_qp *qp, unsigned int pending, uint32_t attr_bits);
/* Would the operation overtake a hazard? */
bool pvb_commit_overtakes(struct pvb_ep *ep, const struct pvb_op *op);
/* What tells regions of one kind from those of another: their attributes as they are in
 * keys.
 */
uint32_t pvb_key_attr_bits(uint64_t key);
uint32_t pvb_op_attr_bits(const struct pvb_op *op);
bool pvb_op_sends(const struct pvb_op *op);
/* Does it cause a completion at the target? */
bool pvb_op_announces(const struct pvb_op *op);

/* query.c */

/*
 * Of a message: the initiator does not know where it is received; its target makes it
 * durable.
 */
extern const struct pvb_key_attr pvb_key_attr_message;

/* What the operation goes to: 0, or why it cannot be made durable. */
int pvb_commit_key_attr(const struct pvb_qp *qp, const struct pvb_op *op,
			struct pvb_key_attr *attr);
/* Did the peer announce receives that its recovery replays? */
bool pvb_commit_replays(const struct pvb_qp *qp);
/* What is known of both sides; without a control queue pair only the device can help. */
void pvb_commit_query(struct pvb_ep *ep, const struct pvb_key_attr *attr,
		      struct pvb_plan_query *query);
enum pvb_plan_op pvb_plan_op_of(const struct pvb_op *op);
bool pvb_plan_has(const struct pvb_plan *plan, enum pvb_act act);
/* Does it need a request? */
bool pvb_plan_needs_request(const struct pvb_plan *plan);
unsigned int pvb_plan_pending(const struct pvb_plan *plan);
/* The method of a plan, for the statistics. */
enum pvb_commit_count pvb_plan_count(const struct pvb_plan *plan);
/* Entries of the send queue. */
uint32_t pvb_plan_entries(const struct pvb_plan *plan);

/* plan_cache.c */

/* Remembers this plan of an operation, if one like it may go a short way. */
void pvb_plan_cache_learn(struct pvb_qp *qp, const struct pvb_op *op,
			  const struct pvb_plan_query *query,
			  const struct pvb_plan *plan);
/* Which short way may the operation go? */
enum pvb_plan_cache_hit pvb_plan_cache_hit(struct pvb_ep *ep, const struct pvb_op *op);
/* Posts it. 0, or a negative code: it never began. */
ssize_t pvb_plan_cache_write(struct pvb_ep *ep, struct pvb_op *op);
ssize_t pvb_plan_cache_fenced(struct pvb_ep *ep, struct pvb_op *op);

/* commit.c */

/*
 * Does its success generate no completion? Then the range becomes dirty, and a fenced
 * operation makes it durable. What the target reports is still deferred until it is
 * durable.
 */
bool pvb_commit_no_comp(const struct pvb_ep *ep, const struct pvb_op *op);
/* The newest entry is of what must not be overtaken. */
void pvb_commit_add_hazard(struct pvb_qp *qp, const struct pvb_op *op);

/* cm/request.c */

/* May one more be asked? 0, -FI_EAGAIN, or why not. */
int pvb_control_request_allowed(struct pvb_qp *qp, enum pvb_request_kind kind);
/* The number of the next one, which is about to be posted; its deadline runs. */
uint32_t pvb_control_request_next(struct pvb_control_qp *cqp, enum pvb_request_kind kind);
/* The newest was not posted. */
void pvb_control_request_cancel(struct pvb_control_qp *cqp, enum pvb_request_kind kind);
/* A request whose entry of the send queue is about to be posted, and was: the entry
 * advances the sequence word. */
void pvb_control_request_begin(struct pvb_control_qp *cqp,
			       struct pvb_wire_message *message);
void pvb_control_request_send(struct pvb_control_qp *cqp,
			      struct pvb_wire_message *message);

/* upgrade.c */

/* How a range that was written becomes durable without writing it again. 0 or why not. */
int pvb_upgrade_plan(struct pvb_ep *ep, const struct pvb_dirty_range *range,
		     struct pvb_plan *plan);
/*
 * Posts it as an internal operation: its failure ends the connection, with all that is
 * posted behind it. end_state: PVB_SLOT_* of its last entry. 0 or a negative code.
 */
int pvb_upgrade_range(struct pvb_ep *ep, const struct pvb_dirty_range *range,
		      const struct pvb_plan *plan, unsigned int end_state);
/*
 * All that was written before query's operation, but for what that one serves. With join
 * what needs no request goes with the operation, as far as there is room: it is marked
 * (pvb_dirty_range.ahead), and pvb_upgrade_ahead adds it to the operation's batch. 0 and
 * in *before what of it is outstanding then; -FI_EAGAIN, or why not.
 */
int pvb_commit_upgrade(struct pvb_ep *ep, const struct pvb_plan_query *query,
		       uint32_t attr_bits, bool join, unsigned int *before);
/* How many. */
uint32_t pvb_upgrade_count(const struct pvb_qp *qp);
/* 0 or a negative code. */
int pvb_upgrade_ahead(struct pvb_batch *batch);
/* It was posted: what that leaves outstanding. */
void pvb_upgrade_noted(struct pvb_qp *qp);

/* sends.c */

/* An operation without the flag was posted; ret: what its key says, 0 or a negative code.
 */
void pvb_sends_note(struct pvb_qp *qp, const struct pvb_op *op, int ret);
/*
 * The messages before a fenced operation on memory like attr_bits become durable: 0 and
 * that is outstanding, or pvb_commit_upgrade sees to it; or why it cannot be done, or not
 * now.
 */
int pvb_sends_upgrade(struct pvb_ep *ep, uint32_t attr_bits);
/* Is it known that they are not? Then the fenced operation fails: what its call returns.
 */
bool pvb_sends_failed(const struct pvb_qp *qp);
ssize_t pvb_sends_fail(struct pvb_qp *qp, const struct pvb_op *op);

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
