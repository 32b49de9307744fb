/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "message.h"
#include "program.h"
#include "search.h"
#include "world.h"

struct program xrp_program;
const struct scenario *xrp_running;

bool xrp_program_may_fail(void)
{
	return xrp_program.broken || xrp_running->may_fail;
}

bool xrp_is_down(struct side_state *state, ssize_t ret)
{
	if (ret != -FI_ENOTCONN || !xrp_program_may_fail())
		return false;
	state->down = true;
	return true;
}

/* ---- Calls ---- */

static bool prepare(unsigned int side, unsigned int number)
{
	struct memory *memory = xrp_world.end[side].memory;
	const struct plan_call *plan = xrp_plan_of(side, number);
	const bool result = plan->kind == KIND_RESULT;
	const struct iovec iov = {.iov_base = result ? memory->result[number]
						     : memory->reply_at[number],
				  .iov_len = result ? CHUNK_LEN : LONG_LEN};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.context = context_of(result ? CONTEXT_RESULT : CONTEXT_REPLY_AT, number),
		.data = plan->xid};
	struct call_state *call = &xrp_program.side[side].call[number];
	ssize_t ret;

	if ((!result && plan->kind != KIND_REPLY) || call->prepared)
		return true;
	ret = fi_recvmsg(xrp_world.end[side].ep, &msg,
			 (result ? FI_CAIRN_RPC_RESULT : FI_CAIRN_RPC_REPLY) |
				 FI_COMPLETION);
	call->prepared = !ret;
	if (ret && ret != -FI_EAGAIN && ret != -FI_EALREADY &&
	    !xrp_is_down(&xrp_program.side[side], ret))
		xrp_note(WRONG_ERROR);
	return call->prepared;
}

static ssize_t send_call(unsigned int side, unsigned int number)
{
	struct memory *memory = xrp_world.end[side].memory;
	const struct plan_call *plan = xrp_plan_of(side, number);
	const bool ddp = plan->kind == KIND_DDP;
	const struct iovec iov[2] = {
		{memory->call[number], xrp_call_len(plan)},
		{memory->call_item[number], CHUNK_LEN},
	};
	const struct fi_msg msg = {.msg_iov = iov,
				   .iov_count = ddp ? 2 : 1,
				   .context = context_of(CONTEXT_CALL, number),
				   .data = ddp ? 2 : 0};

	xrp_make_call(memory->call[number], side, number);
	memset(memory->call_item[number], xrp_serial_of(side, number), CHUNK_LEN);
	return fi_sendmsg(xrp_world.end[side].ep, &msg,
			  FI_COMPLETION | (ddp ? FI_CAIRN_RPC_DDP : 0) |
				  (plan->delivery ? FI_DELIVERY_COMPLETE : 0));
}

bool xrp_call(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];
	const unsigned int number = state->called;
	ssize_t ret;

	if (number == CALLS || !xrp_plan_of(side, number)->xid || state->down)
		return false;
	if (!prepare(side, number))
		return true;
	xrp_wire_calls(side, number);
	ret = send_call(side, number);
	xrp_wire_calls(side, CALLS);
	if (!ret) {
		state->call[number].accepted = true;
		state->called++;
	} else if (ret != -FI_EAGAIN && ret != -FI_EALREADY && !xrp_is_down(state, ret)) {
		xrp_note(WRONG_ERROR);
	}
	return true;
}

static bool step_cancel(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];
	struct call_state *call = state->call;
	ssize_t ret;

	while (call < state->call + CALLS &&
	       (!xrp_plan_of(side, (unsigned int)(call - state->call))->cancel ||
		!call->accepted || call->cancel_tried))
		call++;
	if (call == state->call + CALLS)
		return false;
	call->cancel_tried = true;
	ret = fi_cancel(&xrp_world.end[side].ep->fid,
			context_of(CONTEXT_CALL, (unsigned int)(call - state->call)));
	call->cancelled = !ret;
	if (ret && ret != -FI_ENOENT)
		xrp_note(WRONG_ERROR);
	return true;
}

/* ---- Replies ---- */

static ssize_t send_reply(unsigned int side, unsigned int number)
{
	struct memory *memory = xrp_world.end[side].memory;
	const struct plan_call *plan = xrp_plan_of(!side, number);
	const bool ddp = plan->kind == KIND_RESULT;
	const struct iovec iov[2] = {
		{memory->reply[number], xrp_reply_len(plan)},
		{memory->reply_item[number], CHUNK_LEN},
	};
	const struct fi_msg msg = {.msg_iov = iov,
				   .iov_count = ddp ? 2 : 1,
				   .context = context_of(CONTEXT_REPLY, number),
				   .data = ddp ? 2 : 0};

	xrp_make_reply(memory->reply[number], !side, number);
	memset(memory->reply_item[number], xrp_serial_of(!side, number), CHUNK_LEN);
	return fi_sendmsg(xrp_world.end[side].ep, &msg,
			  FI_COMPLETION | (ddp ? FI_CAIRN_RPC_DDP : 0));
}

/* The layer never makes a Reply wait for credits. */
static bool step_reply(unsigned int side, bool newest)
{
	struct side_state *state = &xrp_program.side[side];
	unsigned int at = newest ? state->held_count - 1u : 0, number;
	ssize_t ret;

	if (state->held_count < (newest ? 2 : 1) || state->down)
		return false;
	number = state->held[at];
	ret = send_reply(side, number);
	if (!ret)
		xrp_program.side[!side].call[number].replied = true;
	else if (!xrp_is_down(state, ret))
		xrp_note(WRONG_ERROR);
	state->held_count--;
	memmove(state->held + at, state->held + at + 1, state->held_count - at);
	return true;
}

/* ---- receives ---- */

void xrp_post_receive(unsigned int side, unsigned int number)
{
	struct side_state *state = &xrp_program.side[side];
	struct end *end = &xrp_world.end[side];
	ssize_t ret = fi_recv(end->ep, end->memory->receive[number], LONG_LEN + CHUNK_LEN,
			      NULL, 0, context_of(CONTEXT_RECEIVE, number));

	state->posted[number] = !ret;
	if (ret && !xrp_is_down(state, ret))
		xrp_note(WRONG_ERROR);
}

static bool step_receive(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];

	if (state->receives == xrp_running->side[side].receives || state->down)
		return false;
	xrp_post_receive(side, state->receives++);
	return true;
}

/* ---- all steps ---- */

static bool step_shut(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];

	if (!xrp_running->side[side].shuts || state->shut || xrp_program.broken)
		return false;
	state->shut = true;
	xrp_program.broken = true;
	if (fi_shutdown(xrp_world.end[side].ep, 0))
		xrp_note(WRONG_ERROR);
	return true;
}

/* Who answers does not send whenever it likes. */
static bool is_time(unsigned int side)
{
	const struct plan_side *plan = &xrp_running->side[side];

	return !plan->answers || xrp_program.side[side].called < plan->starts;
}

static bool make_step(unsigned int side, enum step step)
{
	switch (step) {
	case STEP_CALL:
		return is_time(side) && xrp_call(side);
	case STEP_READ:
		return xrp_read(side);
	case STEP_REPLY:
		return step_reply(side, false);
	case STEP_REPLY_NEW:
		return step_reply(side, true);
	case STEP_CANCEL:
		return step_cancel(side);
	case STEP_EVENT:
		return xrp_read_event(side);
	case STEP_RECEIVE:
		return step_receive(side);
	default:
		return step_shut(side);
	}
}

bool xrp_program_step(unsigned int side, enum step step)
{
	bool possible;

	xpl_heap_use(true);
	xpl_heap_room(1 + side);
	possible = make_step(side, step);
	xpl_heap_room(0);
	xpl_heap_use(false);
	return possible;
}

void xrp_program_begin(const struct scenario *scenario)
{
	xrp_running = scenario;
	memset(&xrp_program, 0, sizeof(xrp_program));
	xrp_wire_begin(scenario);
	xpl_heap_use(true);
	for (unsigned int side = 0; side < SIDES; side++)
		for (size_t i = scenario->side[side].late;
		     i < scenario->side[side].receives; i++)
			xrp_post_receive(side, xrp_program.side[side].receives++);
	xpl_heap_use(false);
}
