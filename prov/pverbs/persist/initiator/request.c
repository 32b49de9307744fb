/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to the target over the control queue pair. */
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "initiator.h"
#include "internal.h"

/* The places of those whose end was not reported yet are taken. */
int pvb_control_request_allowed(struct pvb_qp *qp, enum pvb_request_kind kind)
{
	struct pvb_control_qp *cqp = qp->control_qp;

	crn_lock_assert_held(&qp->tx_lock);
	if (atomic_load(&cqp->requests[kind].posted) -
		    atomic_load(&qp->commit->defer.ended[kind]) >=
	    PVB_CONTROL_CREDITS)
		return -FI_EAGAIN;
	return kind == PVB_REQUEST_CONTROL ? pvb_control_qp_ready(cqp) : 0;
}

/* Counted before it is posted: it may be answered before posting returns. */
uint32_t pvb_control_request_next(struct pvb_control_qp *cqp, enum pvb_request_kind kind)
{
	struct pvb_control_requests *requests = &cqp->requests[kind];
	const uint32_t number = atomic_load(&requests->posted) + 1;

	crn_lock_assert_held(&cqp->qp->tx_lock);
	requests->of[number % PVB_CONTROL_CREDITS].messages = false;
	requests->of[number % PVB_CONTROL_CREDITS].deadline =
		crn_now_ms() + (uint64_t)pvb_params.commit_timeout;
	atomic_store(&requests->posted, number);
	return number;
}

void pvb_control_request_cancel(struct pvb_control_qp *cqp, enum pvb_request_kind kind)
{
	crn_lock_assert_held(&cqp->qp->tx_lock);
	atomic_fetch_sub(&cqp->requests[kind].posted, 1);
}

/* The request whose entry of the send queue is about to be posted. */
void pvb_control_request_begin(struct pvb_control_qp *cqp,
			       struct pvb_wire_message *message)
{
	crn_lock_assert_held(&cqp->qp->tx_lock);
	message->kind = PVB_WIRE_REQUEST;
	message->number = pvb_control_request_next(cqp, PVB_REQUEST_CONTROL);
	message->fence = message->number;
	message->seq_word = cqp->seq_posted;
}

/* It was posted, and advances the sequence word. */
void pvb_control_request_send(struct pvb_control_qp *cqp,
			      struct pvb_wire_message *message)
{
	crn_lock_assert_held(&cqp->qp->tx_lock);
	message->seq_word = ++cqp->seq_posted;
	if (!pvb_control_qp_send(cqp, message))
		pvb_control_qp_lose(cqp, "a request cannot be sent");
}
