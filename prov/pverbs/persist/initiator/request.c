/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking the target: requests over the lane. */
#include "persist/control/control.h"
#include "persist/persist.h"
#include "wire/wire.h"
#include "internal.h"

/* May one more be asked? The places of those whose end was not reported yet are taken. */
bool pvb_ask_allowed(struct pvb_conn *conn, enum pvb_ask kind)
{
	return atomic_load(&conn->lane->asks[kind].posted) -
		       atomic_load(&conn->hold.ended[kind]) <
	       PVB_LANE_CREDITS;
}

/* Counted before it is posted: it may be answered before posting returns. */
uint32_t pvb_ask_next(struct pvb_lane *lane, enum pvb_ask kind)
{
	struct pvb_asks *asks = &lane->asks[kind];
	const uint32_t number = atomic_load(&asks->posted) + 1;

	asks->of[number % PVB_LANE_CREDITS].messages = false;
	asks->of[number % PVB_LANE_CREDITS].deadline =
		crn_now_ms() + (uint64_t)pvb_params.commit_timeout;
	atomic_store(&asks->posted, number);
	return number;
}

void pvb_ask_never(struct pvb_lane *lane, enum pvb_ask kind)
{
	atomic_fetch_sub(&lane->asks[kind].posted, 1);
}

/* The request whose entry of the send queue is about to be posted. */
void pvb_ask_begin(struct pvb_lane *lane, struct pvb_wire_message *message)
{
	message->kind = PVB_WIRE_REQUEST;
	message->number = pvb_ask_next(lane, PVB_ASK_REQUEST);
	message->fence = message->number;
	message->bell = lane->rung;
}

/* It was posted, and rings the doorbell. */
void pvb_ask_send(struct pvb_lane *lane, struct pvb_wire_message *message)
{
	message->bell = ++lane->rung;
	if (!pvb_lane_send(lane, message))
		pvb_lane_lose(lane, "a request cannot be sent");
}
