/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions that the device has given and the target has not: an operation that is
 * durable once the target answered ends with the answer, and what was posted behind it
 * ends after it. Deferred operations keep their slots, so there are never more than the
 * send queue has. With pvb_cq.lock held.
 */
#ifndef PVB_PERSIST_INITIATOR_DEFER_H
#define PVB_PERSIST_INITIATOR_DEFER_H

#include "objects.h"

/* Interval at which, while an operation waits for its target, a reader of the queue
 * checks whether the connection has ended, ms. */
#define PVB_DEFER_LOOK_MS 20
/* Nothing will make durable what is open of a group (group.c): each of its writes ends
 * with err, FI_E*. Takes the lock, with pvb_qp.tx_lock held. */
void pvb_defer_abandon(struct pvb_qp *qp, int err);

#endif
