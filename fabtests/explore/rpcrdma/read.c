/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs read, and whether they may. */
#include <string.h>
#include "message.h"
#include "program.h"
#include "world.h"

#define USED 0xee /* what a program does with memory that is its own again */

/* A Call of the peer. */
static void take_call(unsigned int side, const uint8_t *bytes, size_t len)
{
	struct side_state *state = &xrp_program.side[side];
	const uint32_t serial = xrp_word(bytes, CALL_WORDS - 1);
	const unsigned int number = xrp_number_of(!side, serial);
	const struct plan_call *plan;
	size_t whole;

	if (number == CALLS) {
		xrp_note(WRONG_BYTES);
		return;
	}
	plan = xrp_plan_of(!side, number);
	whole = xrp_call_len(plan) + (plan->kind == KIND_DDP ? CHUNK_LEN : 0);
	if (xrp_word(bytes, 0) != plan->xid || len != whole ||
	    !xrp_filled(bytes + 4 * CALL_WORDS, len - 4 * CALL_WORDS, (uint8_t)serial))
		xrp_note(WRONG_BYTES);
	xrp_twice(&xrp_program.side[!side].call[number].delivered);
	if (state->held_count < CALLS)
		state->held[state->held_count++] = (uint8_t)number;
}

/* Who holds the XID of a Reply whose Call was cancelled has the Reply instead (RFC 8167
 * section 2.4.1). */
static struct call_state *holder(unsigned int side, unsigned int number)
{
	struct side_state *state = &xrp_program.side[side];
	const uint32_t xid = xrp_plan_of(side, number)->xid;

	if (!state->call[number].cancelled)
		return &state->call[number];
	for (unsigned int i = 0; i < CALLS; i++)
		if (xrp_plan_of(side, i)->xid == xid && state->call[i].accepted &&
		    !xrp_is_over(&state->call[i]))
			return &state->call[i];
	return NULL;
}

static void take_reply(unsigned int side, const uint8_t *bytes, size_t len)
{
	const uint32_t serial = xrp_word(bytes, REPLY_WORDS - 1);
	const unsigned int number = xrp_number_of(side, serial);
	struct call_state *call;

	if (number == CALLS || xrp_word(bytes, 0) != xrp_plan_of(side, number)->xid) {
		xrp_note(WRONG_XID);
		return;
	}
	if (len != xrp_reply_len(xrp_plan_of(side, number)) ||
	    !xrp_filled(bytes + 4 * REPLY_WORDS, len - 4 * REPLY_WORDS, (uint8_t)~serial))
		xrp_note(WRONG_BYTES);
	call = holder(side, number);
	if (!call || !call->accepted || !xrp_program.side[side].call[number].replied)
		xrp_note(WRONG_XID);
	else
		xrp_twice(&call->answers);
}

static void take_message(unsigned int side, const uint8_t *bytes, size_t len)
{
	struct side_state *state = &xrp_program.side[side];
	const unsigned int number = xrp_number_of(!side, bytes[0]);

	if (number == CALLS || len != xrp_call_len(xrp_plan_of(!side, number)) ||
	    !xrp_filled(bytes, len, bytes[0])) {
		xrp_note(WRONG_BYTES);
		return;
	}
	if (number != state->messages)
		xrp_note(WRONG_ORDER);
	state->messages++;
	xrp_twice(&xrp_program.side[!side].call[number].delivered);
}

static bool is_answered(unsigned int side)
{
	const uint8_t first = xrp_running->side[side].answers;

	return first && xrp_program.side[side].messages >= first;
}

static void received(unsigned int side, unsigned int number, size_t len)
{
	uint8_t *bytes = xrp_world.end[side].memory->receive[number];

	if (!xrp_program.side[side].posted[number])
		xrp_note(WRONG_TWICE);
	if (len < (xrp_running->wrap ? WRAP_LEN : REPLY_LEN))
		xrp_note(WRONG_BYTES);
	else if (xrp_running->wrap)
		take_message(side, bytes, len);
	else if (xrp_word(bytes, 1))
		take_reply(side, bytes, len);
	else
		take_call(side, bytes, len);
	memset(bytes, 0, LONG_LEN);
	xrp_post_receive(side, number);
	if (is_answered(side))
		xrp_call(side);
}

/* ---- completions ---- */

static void done(unsigned int side, const struct fi_cq_data_entry *entry)
{
	const unsigned int number = context_number(entry->op_context);
	struct memory *memory = xrp_world.end[side].memory;
	struct call_state *call = &xrp_program.side[side].call[number];

	switch (context_kind(entry->op_context)) {
	case CONTEXT_CALL:
		xrp_twice(&call->sent);
		memset(memory->call[number], USED, LONG_LEN);
		memset(memory->call_item[number], USED, CHUNK_LEN);
		break;
	case CONTEXT_REPLY:
		xrp_twice(&xrp_program.side[!side].call[number].reply_sent);
		memset(memory->reply[number], USED, LONG_LEN);
		memset(memory->reply_item[number], USED, CHUNK_LEN);
		break;
	case CONTEXT_RESULT:
		xrp_twice(&call->results);
		if (call->answers)
			xrp_note(WRONG_ORDER);
		if (entry->len != CHUNK_LEN ||
		    !xrp_filled(memory->result[number], CHUNK_LEN,
				xrp_serial_of(side, number)))
			xrp_note(WRONG_BYTES);
		break;
	case CONTEXT_REPLY_AT:
		xrp_twice(&call->results);
		take_reply(side, memory->reply_at[number], entry->len);
		break;
	case CONTEXT_RECEIVE:
		received(side, number, entry->len);
		break;
	default:
		xrp_note(WRONG_BYTES);
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

	for (unsigned int i = 0; i < CALLS; i++)
		if (xrp_plan_of(side, i)->xid == xid && state->call[i].accepted &&
		    !xrp_is_over(&state->call[i])) {
			xrp_twice(&state->call[i].answers);
			return;
		}
	xrp_note(WRONG_XID);
}

static void failed(unsigned int side, const struct fi_cq_err_entry *err)
{
	const unsigned int number = context_number(err->op_context);
	struct side_state *state = &xrp_program.side[side];

	if (!is_explained(side, err))
		xrp_note(WRONG_ERROR);
	switch (context_kind(err->op_context)) {
	case CONTEXT_CALL:
		xrp_twice(&state->call[number].sent);
		/* The Reply's end is not reported beside it. */
		if (xrp_running->wrap)
			state->call[number].answers = 1;
		break;
	case CONTEXT_REPLY:
		xrp_twice(&xrp_program.side[!side].call[number].reply_sent);
		break;
	case CONTEXT_RESULT:
		xrp_twice(&state->call[number].results);
		break;
	case CONTEXT_REPLY_AT:
		xrp_twice(&state->call[number].results);
		if (!state->call[number].cancelled)
			take_lost(side, err->data);
		break;
	case CONTEXT_RECEIVE:
		if (!state->posted[number])
			xrp_note(WRONG_TWICE);
		state->posted[number] = false;
		if (err->data)
			take_lost(side, err->data);
		if (err->err == FI_EREMOTEIO)
			xrp_post_receive(side, number);
		break;
	}
}

bool xrp_read(unsigned int side)
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
			xrp_note(WRONG_ERROR);
			return true;
		}
		failed(side, &err);
	}
	return true;
}

bool xrp_read_event(unsigned int side)
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
			xrp_note(WRONG_ERROR);
		take_lost(side, err.data);
		return true;
	}
	if (ret < 0 || event != FI_SHUTDOWN || !xrp_program_may_fail())
		xrp_note(WRONG_ERROR);
	else
		xrp_twice(&xrp_program.side[side].shutdowns);
	return true;
}
