/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <arpa/inet.h>
#include "search.h"
#include "program.h"
#include "world.h"

#define CALL_WORDS 11u /* RFC 5531 section 9, and which it is */
#define REPLY_WORDS 7u
#define REPLY_LEN 32u
#define WRAP_LEN 8u /* of a short message of wrap mode */
#define USED 0xee   /* what a program does with memory that is its own again */

struct program xrp_program;
const struct scenario *xrp_running;

static void note(unsigned int wrong)
{
	xrp_program.wrong |= wrong;
}

static const struct plan_call *plan_of(unsigned int side, unsigned int call)
{
	return &xrp_running->side[side].call[call];
}

bool xrp_program_may_fail(void)
{
	return xrp_program.broken || xrp_running->may_fail;
}

/* A call of an end says that the connection is over. */
static bool is_down(struct side_state *state, ssize_t ret)
{
	if (ret != -FI_ENOTCONN || !xrp_program_may_fail())
		return false;
	state->down = true;
	return true;
}

static void twice(uint8_t *count)
{
	if (++*count > 1)
		note(WRONG_TWICE);
}

/* ---- messages ---- */

static uint8_t serial_of(unsigned int side, unsigned int call)
{
	return (uint8_t)(0x10 * (side + 1) + call);
}

static size_t call_len(const struct plan_call *plan)
{
	if (plan->kind == KIND_LONG)
		return LONG_LEN;
	return xrp_running->wrap ? WRAP_LEN : SHORT_LEN;
}

static size_t reply_len(const struct plan_call *plan)
{
	return plan->kind == KIND_REPLY ? LONG_LEN : REPLY_LEN;
}

static void put(uint8_t *to, unsigned int word, uint32_t value)
{
	value = htonl(value);
	memcpy(to + 4 * word, &value, 4);
}

static uint32_t get(const uint8_t *from, unsigned int word)
{
	uint32_t value;

	memcpy(&value, from + 4 * word, 4);
	return ntohl(value);
}

static void make_call(uint8_t *to, unsigned int side, unsigned int number)
{
	const struct plan_call *plan = plan_of(side, number);
	const uint8_t serial = serial_of(side, number);

	memset(to, serial, call_len(plan));
	if (xrp_running->wrap)
		return;
	memset(to, 0, 4 * CALL_WORDS);
	put(to, 0, plan->xid);
	put(to, 2, 2);
	put(to, 3, 0x20000001);
	put(to, 4, 1);
	put(to, CALL_WORDS - 1, serial);
}

static void make_reply(uint8_t *to, unsigned int caller, unsigned int number)
{
	const struct plan_call *plan = plan_of(caller, number);
	const uint8_t serial = serial_of(caller, number);

	memset(to, ~serial, reply_len(plan));
	memset(to, 0, 4 * REPLY_WORDS);
	put(to, 0, plan->xid);
	put(to, 1, 1);
	put(to, REPLY_WORDS - 1, serial);
}

static bool filled(const uint8_t *at, size_t len, uint8_t with)
{
	while (len && *at == with) {
		at++;
		len--;
	}
	return !len;
}

/* The number of the call; CALLS: the message has none. */
static unsigned int number_of(unsigned int caller, uint32_t serial)
{
	const uint32_t number = serial - serial_of(caller, 0);

	return number < CALLS && plan_of(caller, number)->xid ? number : CALLS;
}

/* ---- Calls ---- */

static bool prepare(unsigned int side, unsigned int number)
{
	struct memory *memory = xrp_world.end[side].memory;
	const struct plan_call *plan = plan_of(side, number);
	const bool result = plan->kind == KIND_RESULT;
	const struct iovec iov = {
		.iov_base = result ? memory->result[number] : memory->reply_at[number],
		.iov_len = result ? CHUNK_LEN : LONG_LEN,
	};
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.context = context_of(result ? CONTEXT_RESULT : CONTEXT_REPLY_AT, number),
		.data = plan->xid,
	};
	struct call_state *call = &xrp_program.side[side].call[number];
	ssize_t ret;

	if ((!result && plan->kind != KIND_REPLY) || call->prepared)
		return true;
	ret = fi_recvmsg(xrp_world.end[side].ep, &msg,
			 (result ? FI_CAIRN_RPC_RESULT : FI_CAIRN_RPC_REPLY) |
				 FI_COMPLETION);
	call->prepared = !ret;
	if (ret && ret != -FI_EAGAIN && ret != -FI_EALREADY &&
	    !is_down(&xrp_program.side[side], ret))
		note(WRONG_ERROR);
	return call->prepared;
}

static ssize_t send_call(unsigned int side, unsigned int number)
{
	struct memory *memory = xrp_world.end[side].memory;
	const struct plan_call *plan = plan_of(side, number);
	const bool ddp = plan->kind == KIND_DDP;
	const struct iovec iov[2] = {
		{memory->call[number], call_len(plan)},
		{memory->call_item[number], CHUNK_LEN},
	};
	const struct fi_msg msg = {
		.msg_iov = iov,
		.iov_count = ddp ? 2 : 1,
		.context = context_of(CONTEXT_CALL, number),
		.data = ddp ? 2 : 0,
	};

	make_call(memory->call[number], side, number);
	memset(memory->call_item[number], serial_of(side, number), CHUNK_LEN);
	return fi_sendmsg(xrp_world.end[side].ep, &msg,
			  FI_COMPLETION | (ddp ? FI_CAIRN_RPC_DDP : 0) |
				  (plan->delivery ? FI_DELIVERY_COMPLETE : 0));
}

static bool step_call(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];
	const unsigned int number = state->called;
	ssize_t ret;

	if (number == CALLS || !plan_of(side, number)->xid || state->down)
		return false;
	if (!prepare(side, number))
		return true;
	xrp_wire_calls(side, number);
	ret = send_call(side, number);
	xrp_wire_calls(side, CALLS);
	if (!ret) {
		state->call[number].accepted = true;
		state->called++;
	} else if (ret != -FI_EAGAIN && ret != -FI_EALREADY && !is_down(state, ret)) {
		note(WRONG_ERROR);
	}
	return true;
}

/* Does the program know of the Call's end? */
static bool is_over(const struct call_state *call)
{
	return call->cancelled || call->answers;
}

static bool step_cancel(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];
	struct call_state *call = state->call;
	ssize_t ret;

	while (call < state->call + CALLS &&
	       (!plan_of(side, (unsigned int)(call - state->call))->cancel ||
		!call->accepted || call->cancel_tried))
		call++;
	if (call == state->call + CALLS)
		return false;
	call->cancel_tried = true;
	ret = fi_cancel(&xrp_world.end[side].ep->fid,
			context_of(CONTEXT_CALL, (unsigned int)(call - state->call)));
	call->cancelled = !ret;
	if (ret && ret != -FI_ENOENT)
		note(WRONG_ERROR);
	return true;
}

/* ---- Replies ---- */

static ssize_t send_reply(unsigned int side, unsigned int number)
{
	struct memory *memory = xrp_world.end[side].memory;
	const struct plan_call *plan = plan_of(!side, number);
	const bool ddp = plan->kind == KIND_RESULT;
	const struct iovec iov[2] = {
		{memory->reply[number], reply_len(plan)},
		{memory->reply_item[number], CHUNK_LEN},
	};
	const struct fi_msg msg = {
		.msg_iov = iov,
		.iov_count = ddp ? 2 : 1,
		.context = context_of(CONTEXT_REPLY, number),
		.data = ddp ? 2 : 0,
	};

	make_reply(memory->reply[number], !side, number);
	memset(memory->reply_item[number], serial_of(!side, number), CHUNK_LEN);
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
	else if (!is_down(state, ret))
		note(WRONG_ERROR);
	state->held_count--;
	memmove(state->held + at, state->held + at + 1, state->held_count - at);
	return true;
}

/* ---- receives ---- */

static void post_receive(unsigned int side, unsigned int number)
{
	struct side_state *state = &xrp_program.side[side];
	struct end *end = &xrp_world.end[side];
	ssize_t ret = fi_recv(end->ep, end->memory->receive[number], LONG_LEN + CHUNK_LEN,
			      NULL, 0, context_of(CONTEXT_RECEIVE, number));

	state->posted[number] = !ret;
	if (ret && !is_down(state, ret))
		note(WRONG_ERROR);
}

static bool step_receive(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];

	if (state->receives == xrp_running->side[side].receives || state->down)
		return false;
	post_receive(side, state->receives++);
	return true;
}

/* A Call of the peer. */
static void take_call(unsigned int side, const uint8_t *bytes, size_t len)
{
	struct side_state *state = &xrp_program.side[side];
	const uint32_t serial = get(bytes, CALL_WORDS - 1);
	const unsigned int number = number_of(!side, serial);
	const struct plan_call *plan;
	size_t whole;

	if (number == CALLS) {
		note(WRONG_BYTES);
		return;
	}
	plan = plan_of(!side, number);
	whole = call_len(plan) + (plan->kind == KIND_DDP ? CHUNK_LEN : 0);
	if (get(bytes, 0) != plan->xid || len != whole ||
	    !filled(bytes + 4 * CALL_WORDS, len - 4 * CALL_WORDS, (uint8_t)serial))
		note(WRONG_BYTES);
	twice(&xrp_program.side[!side].call[number].delivered);
	if (state->held_count < CALLS)
		state->held[state->held_count++] = (uint8_t)number;
}

/* Who holds the XID of a Reply whose Call was cancelled has the Reply instead (RFC 8167
 * section 2.4.1). */
static struct call_state *holder(unsigned int side, unsigned int number)
{
	struct side_state *state = &xrp_program.side[side];
	const uint32_t xid = plan_of(side, number)->xid;
	unsigned int i;

	if (!state->call[number].cancelled)
		return &state->call[number];
	for (i = 0; i < CALLS; i++)
		if (plan_of(side, i)->xid == xid && state->call[i].accepted &&
		    !is_over(&state->call[i]))
			return &state->call[i];
	return NULL;
}

static void take_reply(unsigned int side, const uint8_t *bytes, size_t len)
{
	const uint32_t serial = get(bytes, REPLY_WORDS - 1);
	const unsigned int number = number_of(side, serial);
	struct call_state *call;

	if (number == CALLS || get(bytes, 0) != plan_of(side, number)->xid) {
		note(WRONG_XID);
		return;
	}
	if (len != reply_len(plan_of(side, number)) ||
	    !filled(bytes + 4 * REPLY_WORDS, len - 4 * REPLY_WORDS, (uint8_t)~serial))
		note(WRONG_BYTES);
	call = holder(side, number);
	if (!call || !call->accepted || !xrp_program.side[side].call[number].replied)
		note(WRONG_XID);
	else
		twice(&call->answers);
}

static void take_message(unsigned int side, const uint8_t *bytes, size_t len)
{
	struct side_state *state = &xrp_program.side[side];
	const unsigned int number = number_of(!side, bytes[0]);

	if (number == CALLS || len != call_len(plan_of(!side, number)) ||
	    !filled(bytes, len, bytes[0])) {
		note(WRONG_BYTES);
		return;
	}
	if (number != state->messages)
		note(WRONG_ORDER);
	state->messages++;
	twice(&xrp_program.side[!side].call[number].delivered);
}

static void received(unsigned int side, unsigned int number, size_t len)
{
	uint8_t *bytes = xrp_world.end[side].memory->receive[number];

	if (!xrp_program.side[side].posted[number])
		note(WRONG_TWICE);
	if (len < (xrp_running->wrap ? WRAP_LEN : REPLY_LEN))
		note(WRONG_BYTES);
	else if (xrp_running->wrap)
		take_message(side, bytes, len);
	else if (get(bytes, 1))
		take_reply(side, bytes, len);
	else
		take_call(side, bytes, len);
	memset(bytes, 0, LONG_LEN);
	post_receive(side, number);
}

/* ---- completions ---- */

static void done(unsigned int side, const struct fi_cq_data_entry *entry)
{
	const unsigned int number = context_number(entry->op_context);
	struct memory *memory = xrp_world.end[side].memory;
	struct call_state *call = &xrp_program.side[side].call[number];

	switch (context_kind(entry->op_context)) {
	case CONTEXT_CALL:
		twice(&call->sent);
		memset(memory->call[number], USED, LONG_LEN);
		memset(memory->call_item[number], USED, CHUNK_LEN);
		break;
	case CONTEXT_REPLY:
		twice(&xrp_program.side[!side].call[number].reply_sent);
		memset(memory->reply[number], USED, LONG_LEN);
		memset(memory->reply_item[number], USED, CHUNK_LEN);
		break;
	case CONTEXT_RESULT:
		twice(&call->results);
		if (call->answers)
			note(WRONG_ORDER);
		if (entry->len != CHUNK_LEN ||
		    !filled(memory->result[number], CHUNK_LEN, serial_of(side, number)))
			note(WRONG_BYTES);
		break;
	case CONTEXT_REPLY_AT:
		twice(&call->results);
		take_reply(side, memory->reply_at[number], entry->len);
		break;
	case CONTEXT_RECEIVE:
		received(side, number, entry->len);
		break;
	default:
		note(WRONG_BYTES);
	}
}

/* Is there a reason for it? */
static bool is_explained(unsigned int side, const struct fi_cq_err_entry *err)
{
	const struct side_state *state = &xrp_program.side[side];
	const unsigned int number = context_number(err->op_context);

	if (xrp_program_may_fail())
		return true;
	if (context_kind(err->op_context) == CONTEXT_RECEIVE)
		return err->err == FI_EREMOTEIO && xrp_running->side[!side].chunkless;
	return context_kind(err->op_context) != CONTEXT_REPLY &&
	       ((err->err == FI_ECANCELED && state->call[number].cancelled) ||
		(err->err == FI_EREMOTEIO && xrp_running->side[!side].chunkless));
}

/* The Call with that XID has no Reply. */
static void take_lost(unsigned int side, uint64_t xid)
{
	struct side_state *state = &xrp_program.side[side];
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		if (plan_of(side, i)->xid == xid && state->call[i].accepted &&
		    !is_over(&state->call[i])) {
			twice(&state->call[i].answers);
			return;
		}
	note(WRONG_XID);
}

static void failed(unsigned int side, const struct fi_cq_err_entry *err)
{
	const unsigned int number = context_number(err->op_context);
	struct side_state *state = &xrp_program.side[side];

	if (!is_explained(side, err))
		note(WRONG_ERROR);
	switch (context_kind(err->op_context)) {
	case CONTEXT_CALL:
		twice(&state->call[number].sent);
		/* The Reply's end is not reported beside it. */
		if (xrp_running->wrap)
			state->call[number].answers = 1;
		break;
	case CONTEXT_REPLY:
		twice(&xrp_program.side[!side].call[number].reply_sent);
		break;
	case CONTEXT_RESULT:
		twice(&state->call[number].results);
		break;
	case CONTEXT_REPLY_AT:
		twice(&state->call[number].results);
		if (!state->call[number].cancelled)
			take_lost(side, err->data);
		break;
	case CONTEXT_RECEIVE:
		if (!state->posted[number])
			note(WRONG_TWICE);
		state->posted[number] = false;
		if (err->data)
			take_lost(side, err->data);
		if (err->err == FI_EREMOTEIO)
			post_receive(side, number);
		break;
	}
}

static bool step_read(unsigned int side)
{
	struct fid_cq *cq = xrp_world.end[side].cq;
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err;
	ssize_t ret;

	while ((ret = fi_cq_read(cq, &entry, 1)) != -FI_EAGAIN) {
		if (ret == 1) {
			done(side, &entry);
			continue;
		}
		memset(&err, 0, sizeof(err));
		if (ret != -FI_EAVAIL || fi_cq_readerr(cq, &err, 0) != 1) {
			note(WRONG_ERROR);
			return true;
		}
		failed(side, &err);
	}
	return true;
}

static bool step_event(unsigned int side)
{
	struct fid_eq *eq = xrp_world.end[side].eq;
	struct fi_eq_cm_entry entry;
	struct fi_eq_err_entry err = {0};
	uint32_t event;
	ssize_t ret = fi_eq_read(eq, &event, &entry, sizeof(entry), 0);

	if (ret == -FI_EAGAIN)
		return true;
	if (ret == -FI_EAVAIL && fi_eq_readerr(eq, &err, 0) > 0) {
		if (err.err != FI_EREMOTEIO && !xrp_program_may_fail())
			note(WRONG_ERROR);
		take_lost(side, err.data);
		return true;
	}
	if (ret < 0 || event != FI_SHUTDOWN || !xrp_program_may_fail())
		note(WRONG_ERROR);
	else
		twice(&xrp_program.side[side].shutdowns);
	return true;
}

static bool step_shut(unsigned int side)
{
	struct side_state *state = &xrp_program.side[side];

	if (!xrp_running->side[side].shuts || state->shut || xrp_program.broken)
		return false;
	state->shut = true;
	xrp_program.broken = true;
	if (fi_shutdown(xrp_world.end[side].ep, 0))
		note(WRONG_ERROR);
	return true;
}

static bool make_step(unsigned int side, enum step step)
{
	switch (step) {
	case STEP_CALL:
		return step_call(side);
	case STEP_READ:
		return step_read(side);
	case STEP_REPLY:
		return step_reply(side, false);
	case STEP_REPLY_NEW:
		return step_reply(side, true);
	case STEP_CANCEL:
		return step_cancel(side);
	case STEP_EVENT:
		return step_event(side);
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
	unsigned int side;
	size_t i;

	xrp_running = scenario;
	memset(&xrp_program, 0, sizeof(xrp_program));
	xrp_wire_begin(scenario);
	xpl_heap_use(true);
	for (side = 0; side < SIDES; side++)
		for (i = scenario->side[side].late; i < scenario->side[side].receives;
		     i++)
			post_receive(side, xrp_program.side[side].receives++);
	xpl_heap_use(false);
}

/* ---- the end ---- */

static unsigned int end_of_call(unsigned int side, unsigned int number)
{
	const struct call_state *call = &xrp_program.side[side].call[number];
	const enum kind kind = plan_of(side, number)->kind;
	const bool lives = !xrp_program_may_fail();
	unsigned int wrong = 0;

	if (!call->accepted)
		return lives || (call->prepared && !call->results) ? WRONG_STUCK : 0;
	if (!call->sent)
		wrong |= WRONG_LOST;
	if (!xrp_running->wrap && !is_over(call))
		wrong |= WRONG_STUCK;
	if ((kind == KIND_RESULT || kind == KIND_REPLY) && !call->results)
		wrong |= WRONG_LOST;
	if (call->replied && !call->reply_sent)
		wrong |= WRONG_LOST;
	if (lives && !call->cancelled && !call->delivered &&
	    !xrp_running->side[!side].chunkless)
		wrong |= WRONG_LOST;
	return wrong;
}

static unsigned int end_of_side(unsigned int side)
{
	const struct side_state *state = &xrp_program.side[side];
	unsigned int i, wrong = 0;

	for (i = 0; i < CALLS && plan_of(side, i)->xid; i++)
		wrong |= end_of_call(side, i);
	/* Both ends learn of the end, if there is one. */
	if (state->shutdowns != xrp_program.side[!side].shutdowns ||
	    (xrp_program.broken && !state->shutdowns))
		wrong |= WRONG_LOST;
	for (i = 0; i < state->receives; i++)
		if (state->posted[i] == state->shutdowns)
			wrong |= WRONG_LOST;
	return wrong;
}

unsigned int xrp_program_end(void)
{
	return end_of_side(0) | end_of_side(1) |
	       (xrp_running->may_fail ? 0 : xrp_wire_regions());
}
