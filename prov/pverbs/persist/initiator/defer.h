/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deferred completions: an operation that the device has completed, but that is durable
 * only once the target answers, completes with the answer, and operations behind it
 * complete after it. Deferred operations keep their slots, so there are never more than
 * the send queue has. With pvb_cq.lock held.
 */
#ifndef PVB_PERSIST_INITIATOR_DEFER_H
#define PVB_PERSIST_INITIATOR_DEFER_H

#include "objects/objects.h"

/* Interval at which, while an operation waits for its target, a reader of the queue
 * checks whether the connection has ended, ms. */
#define PVB_DEFER_LOOK_MS 20
/* Nothing will make durable what is open of a group (group.c): each of its writes ends
 * with err, FI_E*. Takes the lock, with pvb_qp.tx_lock held. */
void pvb_defer_abandon(struct pvb_qp *qp, int err);

#endif
