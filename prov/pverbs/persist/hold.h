/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions that the device has given and the target has not: an operation that is
 * durable once the target answered ends with the answer, and what was posted behind it
 * ends after it. Held back operations keep their slots, so there are never more than the
 * send queue has. With pvb_cq.lock held.
 */
#ifndef PVB_HOLD_H
#define PVB_HOLD_H

#include "../pverbs.h"

/* Ms that an operation waits for its target before somebody looks whether the connection
 * has ended, and from one look to the next. */
#define PVB_HOLD_LOOK_MS 20

/* Is it to be held back? Then all is noted, and the completion is the program's later. */
bool pvb_hold(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot);
/* What may be reported now goes to the stash, as far as it has room. */
void pvb_hold_release(struct pvb_cq *cq);
/* Without the lock: a program that reads no event queue learns of the end of a connection
 * by the operations that wait for its target. */
void pvb_hold_look(struct pvb_cq *cq);
/* The endpoint is closed. */
void pvb_hold_forget(struct pvb_conn *conn);
/* Nothing will make durable what is open of a group (group.c): each of its writes ends
 * with err, FI_E*. Takes the lock, with pvb_conn.tx_lock held. */
void pvb_hold_abandon(struct pvb_conn *conn, int err);

#endif
