/* SPDX-License-Identifier: BSD-2-Clause */
/* The initiator's side of durable operations, for the rest of persist/. */
#ifndef PVB_PERSIST_INITIATOR_INITIATOR_H
#define PVB_PERSIST_INITIATOR_INITIATOR_H

#include "commit.h"
#include "objects/objects.h"

struct pvb_op;

/* commit.c */

/* 0 or -FI_ENOMEM: qp has a pvb_commit. */
int pvb_commit_open(struct pvb_qp *qp);
void pvb_commit_close(struct pvb_qp *qp);

/*
 * pvb_tx for an operation with FI_COMMIT_COMPLETE. -FI_EOPNOTSUPP: the
 * memory is not persistent, or there is no way to make sure; -FI_EKEYREJECTED: its key is
 * damaged. Takes the lock.
 */
ssize_t pvb_tx_committed(struct pvb_ep *ep, struct pvb_op *op);
/* The same for an operation without the flag on a connection with persistent memory:
 * records what it writes, and refuses it with -FI_EAGAIN while it would overtake a
 * hazard. Takes the lock. */
ssize_t pvb_tx_tracked(struct pvb_ep *ep, struct pvb_op *op);

/* initiator/group.c */

/* Is there one that has not ended? */
bool pvb_group_open(const struct pvb_qp *qp);
/* Posts what makes all of the group durable. 0 or a negative code. */
int pvb_group_close(struct pvb_ep *ep);

/* initiator/defer.c */

/* Is it to be deferred? Then all is noted, and the completion is the program's later. */
bool pvb_defer(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot);
/* Without the lock: a program that reads no event queue learns of the end of a connection
 * by the operations that wait for its target. */
void pvb_defer_look(struct pvb_cq *cq);
/* The endpoint is closed. */
void pvb_defer_forget(struct pvb_qp *qp);

#endif
