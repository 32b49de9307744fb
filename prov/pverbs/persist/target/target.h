/* SPDX-License-Identifier: BSD-2-Clause */
/* The target's side of durable operations, for the rest of persist/. */
#ifndef PVB_PERSIST_TARGET_TARGET_H
#define PVB_PERSIST_TARGET_TARGET_H

#include "objects/objects.h"

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

/* message_ring.c */

/* wq remembers where its receives go, of at most limit pieces each. 0 or -FI_ENOMEM. */
int pvb_bufs_open(struct pvb_wq *wq, size_t slots, size_t limit);

/* What a wq has for that; it may have nothing. */
void pvb_bufs_close(struct pvb_wq *wq);
/* Where the receive in slot goes, of a wq with bufs. 0, or -FI_EINVAL:
 * that is not where the endpoint's receives have to be. */
int pvb_bufs_note(struct pvb_wq *wq, const struct pvb_slot *slot,
		  const struct ibv_recv_wr *wr);

/* arrival.c */

/* pvb_wq.on_complete of the receives of a connection with a control queue pair. */
bool pvb_arrival(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
		 struct pvb_comp *comp);
/* Those that wait end: what was to be durable first is cancelled, what was not is
 * reported. The endpoint is about to be closed, or the device is gone. */
void pvb_arrival_abandon(struct pvb_cq *cq, struct pvb_qp *qp);
/* The same, and none waits any more. */
void pvb_arrivals_close(struct pvb_cq *cq, struct pvb_qp *qp);

void pvb_arrivals_init(struct pvb_control_qp *cqp);

/* replay.c */

void pvb_replay_learn(struct pvb_control_qp *cqp, const struct pvb_wire_message *message);

#endif
