/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between control_conn.c, a second connection, and cookie.c, how the listener finds the
 * lane that a request is for.
 */
#ifndef PVB_PERSIST_CONTROL_COOKIE_H
#define PVB_PERSIST_CONTROL_COOKIE_H

#include "control_conn.h"
#include "objects.h"

/* Of objects. */
void pvb_second_init(struct pvb_second *second);

/* What came for it, to be accepted; NULL: nothing yet, and if *lost nothing will. */
struct rdma_cm_id *pvb_ticket_came(struct pvb_second *second, bool *lost);
/* The ticket is good for nothing any more. Returns what came and was not accepted. */
struct rdma_cm_id *pvb_ticket_withdraw(struct pvb_second *second);

struct pvb_ep *pvb_second_ep(struct pvb_second *second);
/* With cm_lock held: the event queue has its timer. 0 or a negative code. */
int pvb_second_timer(struct pvb_eq *eq);
/* A thread that waits for the event queue, which has one, has something to do. */
void pvb_second_wake(struct pvb_eq *eq);
/* With cm_lock held. */
void pvb_second_enter(struct pvb_second *second, enum pvb_second_state state);
bool pvb_second_on_device(struct pvb_second *second, const struct rdma_cm_id *id);

#endif
