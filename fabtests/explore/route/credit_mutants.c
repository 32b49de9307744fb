/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of flow control: rules that the model leaves out, and others that the linker
 * puts where the model calls the code. */
#include "credit.h"
#include "wrap.h"

enum mutant {
	WAITS_FOR_SLOT,
	RESPONSE_WAITS,
	ACK_RIDES,
	ACK_OF_ONE,
	READ_DROPPED,
	ONE_LANE,
	TOLD_TWICE,
	NEVER_TOLD,
	NO_KEEPALIVE,
	NO_CREDIT,
	SLEEPS_ON,
	FEWER_SLEEP,
	LAST_ASKED,
	STILL_COUNTED,
	MUTANTS
};

static enum mutant mutant = MUTANTS; /* MUTANTS: none */

static bool is(enum mutant which)
{
	return mutant == which;
}

bool credit_holds(enum credit_rule rule)
{
	static const enum mutant without[] = {
		[CREDIT_SENDS] = WAITS_FOR_SLOT, [CREDIT_ANSWERS] = RESPONSE_WAITS,
		[CREDIT_APART] = ACK_RIDES,	 [CREDIT_UP_TO] = ACK_OF_ONE,
		[CREDIT_SERVICE] = READ_DROPPED, [CREDIT_WAKES] = SLEEPS_ON,
		[CREDIT_LOOKS] = FEWER_SLEEP,
	};

	return !is(without[rule]);
}

WRAP(enum rte_lane, rte_message_lane, uint8_t kind)
{
	return is(ONE_LANE) ? RTE_REQUESTS : __real_rte_message_lane(kind);
}

WRAP(void, rte_inlet_empty, struct rte_inlet *inlet)
{
	__real_rte_inlet_empty(inlet);
	if (is(TOLD_TWICE))
		__real_rte_inlet_empty(inlet);
}

WRAP(uint8_t, rte_inlet_tell, struct rte_inlet *inlet)
{
	const uint8_t credits = __real_rte_inlet_tell(inlet);

	return is(NEVER_TOLD) ? 0 : credits;
}

WRAP(bool, rte_inlet_overdue, const struct rte_inlet *inlet)
{
	return !is(NO_KEEPALIVE) && __real_rte_inlet_overdue(inlet);
}

WRAP(bool, rte_outlet_take, struct rte_outlet *outlet)
{
	return __real_rte_outlet_take(outlet) || is(NO_CREDIT);
}

WRAP(uint32_t, rte_inlet_ask, struct rte_inlet *inlet, uint32_t fewer)
{
	if (!is(LAST_ASKED))
		return __real_rte_inlet_ask(inlet, fewer);
	inlet->asked = inlet->receives;
	return inlet->asked;
}

WRAP(bool, rte_outlet_asked, struct rte_outlet *outlet, uint32_t credits)
{
	if (!is(LAST_ASKED))
		return __real_rte_outlet_asked(outlet, credits);
	outlet->asked = credits;
	return true;
}

WRAP(bool, rte_inlet_given, struct rte_inlet *inlet)
{
	const bool given = __real_rte_inlet_given(inlet);

	inlet->receives += given && is(STILL_COUNTED);
	return given;
}

static const char *const names[MUTANTS] = {
	[WAITS_FOR_SLOT] = "what is longer than a Send waits for a landing slot",
	[RESPONSE_WAITS] = "responses wait for a receive of the application",
	[ACK_RIDES] = "an ACK rides on a request that goes through routers",
	[ACK_OF_ONE] = "the last router acknowledges one message and forgets another",
	[READ_DROPPED] = "a read beyond those in service is dropped",
	[ONE_LANE] = "requests and responses share a lane",
	[TOLD_TWICE] = "a receive is told of twice",
	[NEVER_TOLD] = "credits are lost",
	[NO_KEEPALIVE] = "credits wait for a message that goes their way",
	[NO_CREDIT] = "senders do not wait for credits",
	[SLEEPS_ON] = "who waits for a credit is not told of more receives",
	[FEWER_SLEEP] = "fewer receives leave credits untold",
	[LAST_ASKED] = "the last receive of a lane is asked back",
	[STILL_COUNTED] = "a receive that was given back is still counted",
};

const char *credit_mutant(unsigned int number)
{
	return number < MUTANTS ? names[number] : NULL;
}

bool credit_mutant_fits(unsigned int number, const void *of)
{
	const struct credit_run *run = of;

	if (number >= SLEEPS_ON)
		return run->changes;
	return !run->changes && !run->pool == (number != WAITS_FOR_SLOT);
}

void credit_mutant_use(unsigned int number)
{
	mutant = (enum mutant)number;
}
