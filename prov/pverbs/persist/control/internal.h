/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of persist/control/. */
#ifndef PVB_PERSIST_CONTROL_INTERNAL_H
#define PVB_PERSIST_CONTROL_INTERNAL_H

struct pvb_control;
struct pvb_control_qp;

/* control.c */

/* Waits until the completions of a queue pair in ERR were taken, and no longer than till
 * the deadline: false, and some of them may still come. */
bool pvb_control_drain(struct pvb_control_qp *cqp, uint64_t deadline_ms);

/* tick.c */

/* 0 and control->timer, or a negative code. */
int pvb_tick_open(struct pvb_control *control);
/* Consumes a tick before a thread sleeps; stops the timer after the last one. */
void pvb_tick_seen(struct pvb_control *control);

/* thread.c */

void pvb_control_thread_stop(struct pvb_control *control);
/* Wakes the thread, unless it is the caller. */
void pvb_control_thread_pass(struct pvb_control *control);

/* control_qp.c */

/* Frees the memory of a closed one. */
void pvb_control_qp_free(struct pvb_control_qp *cqp);
/* Both sides have a control queue pair: it can be used. */
void pvb_control_qp_up(struct pvb_control_qp *cqp);
/* A send is free: posts answers that waited for one. */
void pvb_control_qp_answer_owed(struct pvb_control_qp *cqp);

/* window.c */

/* Allocates cqp->window if the device has memory windows of type 2. */
void pvb_window_open(struct pvb_control_qp *cqp);
void pvb_window_close(struct pvb_control_qp *cqp);
/* The key by which the peer reaches the area, with or without a window. */
uint32_t pvb_window_key(const struct pvb_control_qp *cqp);
/* With these rights (IBV_ACCESS_REMOTE_*): 0, or a negative code. */
int pvb_window_bind(struct pvb_control_qp *cqp, int access);

#endif
