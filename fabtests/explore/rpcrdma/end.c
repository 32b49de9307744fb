/* SPDX-License-Identifier: BSD-2-Clause */
/* Nothing can happen any more: what has to be over. */
#include "program.h"

static unsigned int end_of_call(unsigned int side, unsigned int number)
{
	const struct call_state *call = &xrp_program.side[side].call[number];
	const enum kind kind = xrp_plan_of(side, number)->kind;
	const bool lives = !xrp_program_may_fail();
	unsigned int wrong = 0;

	if (!call->accepted)
		return lives || (call->prepared && !call->results) ? WRONG_STUCK : 0;
	if (!call->sent)
		wrong |= WRONG_LOST;
	if (!xrp_running->wrap && !xrp_is_over(call))
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

	for (i = 0; i < CALLS && xrp_plan_of(side, i)->xid; i++)
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
