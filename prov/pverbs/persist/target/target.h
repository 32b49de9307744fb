/* SPDX-License-Identifier: BSD-2-Clause */
/* The target's side of durable operations, for the rest of persist/. */
#ifndef PVB_PERSIST_TARGET_TARGET_H
#define PVB_PERSIST_TARGET_TARGET_H

#include "replay_format.h"

struct pvb_control;
struct pvb_control_qp;
struct pvb_turn;
struct pvb_wire_message;

/* respond.c */

/* A request arrived in a control queue pair's empty inbox. */
void pvb_respond_begin(struct pvb_control_qp *cqp);
/* Looks again at those that wait. */
void pvb_respond_retry(struct pvb_control *control);
/* A piece of a control queue pair's oldest request: pvb_turn.run of cqp->turn. */
uint64_t pvb_respond_turn(struct pvb_turn *turn, uint64_t most);
/* Nothing more of what is in the inbox is done: waits for a piece. */
void pvb_respond_end(struct pvb_control_qp *cqp);

/* arrival.c */

void pvb_arrivals_init(struct pvb_control_qp *cqp);

/* replay.c */

void pvb_replay_learn(struct pvb_control_qp *cqp, const struct pvb_wire_message *message);

#endif
