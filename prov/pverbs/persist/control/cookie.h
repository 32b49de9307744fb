/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between control_conn.c, a control connection, and cookie.c, how the listener finds the
 * control queue pair that a request is for.
 */
#ifndef PVB_PERSIST_CONTROL_COOKIE_H
#define PVB_PERSIST_CONTROL_COOKIE_H

#include "control_conn.h"
#include "objects/objects.h"

/* Of objects. */
void pvb_control_conn_init(struct pvb_control_conn *control_conn);

/*
 * Returns the request that arrived with the cookie, to be accepted; NULL: none yet, and
 * if *lost none will.
 */
struct rdma_cm_id *pvb_cookie_came(struct pvb_control_conn *control_conn, bool *lost);
/* Invalidates the cookie. Returns a request that arrived and was not accepted. */
struct rdma_cm_id *pvb_cookie_withdraw(struct pvb_control_conn *control_conn);

struct pvb_ep *pvb_control_conn_ep(struct pvb_control_conn *control_conn);
/* With cm_lock held: the event queue has its timer. 0 or a negative code. */
int pvb_control_conn_timer(struct pvb_eq *eq);
/* Wakes the thread that waits for the event queue. */
void pvb_control_conn_wake(struct pvb_eq *eq);
/* With cm_lock held. */
void pvb_control_conn_enter(struct pvb_control_conn *control_conn,
			    enum pvb_control_conn_state state);
bool pvb_control_conn_on_device(struct pvb_control_conn *control_conn,
				const struct rdma_cm_id *id);

#endif
