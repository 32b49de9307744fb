/* SPDX-License-Identifier: BSD-2-Clause */
/* What recovery must find. */
#include <string.h>
#include <rdma/fabric.h>
#include "model/model.h"
#include "world.h"

/* Persistent memory when so many calls are done, one after the other. */
static uint8_t image[CALLS + 1][PM_WIDE];
/* What each call changes. */
static struct {
	uint32_t at, len;
	uint32_t claims, after; /* other calls, bits */
	uint32_t pair;
	bool fleeting; /* what it sends is in no persistent memory at the target */
	bool refused;
	bool sealed; /* recovery finds it, wherever it is */
} range[CALLS];
static uint32_t count;
static uint32_t found; /* sealed ones that recovery found, bits */

/* Earlier calls of the same connection, and itself. */
static uint32_t all_before(const struct call *call, uint32_t number)
{
	uint32_t i, bits = 0;

	for (i = 0; i <= number; i++)
		bits |= (uint32_t)(call[i].pair == call[number].pair) << i;
	return bits;
}

static uint32_t durable_before(const struct call *call, uint32_t number)
{
	uint32_t i, bits = 0;

	for (i = 0; i < number; i++)
		bits |= (uint32_t)(call[i].pair == call[number].pair &&
				   call[i].flags & FI_COMMIT_COMPLETE)
			<< i;
	return bits;
}

static void apply(const struct call *call, uint32_t number, uint8_t *to)
{
	const uint8_t *from = world.source[number];
	uint64_t sum, more;

	if (call->kind != CALL_ADD) {
		memcpy(to, from, range[number].len);
		return;
	}
	memcpy(&sum, to, sizeof(sum));
	memcpy(&more, from, sizeof(more));
	sum += more;
	memcpy(to, &sum, sizeof(sum));
}

/* Where in persistent memory it goes. */
static void place(const struct call *call, uint32_t number, uint32_t *sent)
{
	const uint32_t p = call->pair,
		       receive = world.srx ? sent[0] + sent[1] : p * RECEIVES + sent[p];

	range[number].at = call->at;
	range[number].len = call->kind == CALL_READ ? 0 : call->len;
	range[number].fleeting = false;
	range[number].sealed = false;
	if (call_sends(call)) {
		range[number].at = RECEIVE_AT + receive * LEN_MAX;
		range[number].fleeting = world.machine->receives == RECEIVES_VOLATILE;
		range[number].sealed = world.machine->receives == RECEIVES_REPLAY;
	}
	if (range[number].fleeting || range[number].sealed)
		range[number].len = 0;
	sent[p] += call_announces(call);
}

void check_begin(const struct scenario *scenario)
{
	const struct call *call = scenario->call;
	uint32_t sent[PAIRS] = {0}, i;

	memset(image[0], 0, world.pm_size);
	for (i = 0; i < CALLS && call[i].kind; i++) {
		place(&call[i], i, sent);
		range[i].pair = call[i].pair;
		range[i].refused = call[i].refused;
		range[i].claims = call[i].claims;
		range[i].after = call[i].after;
		if (call[i].flags & FI_COMMIT_COMPLETE) {
			range[i].claims |= 1u << i;
			if (call[i].flags & FI_FENCE) {
				range[i].claims |= all_before(call, i);
				range[i].after |= all_before(call, i) & ~(1u << i);
			}
		} else if (call[i].flags & FI_FENCE) {
			/* It begins when those before it have ended: durable, if that is
			 * what they were to be. */
			range[i].after |= durable_before(call, i);
		}
		memcpy(image[i + 1], image[i], world.pm_size);
		apply(&call[i], i, image[i + 1] + range[i].at);
	}
	count = i;
}

/* Is a byte as it is after some number of calls in a row? */
static bool is_one_of(uint32_t at, uint8_t byte, uint32_t first, uint32_t last)
{
	for (; first <= last; first++)
		if (image[first][at] == byte)
			return true;
	return false;
}

static bool all_there(const uint8_t *medium, uint32_t number)
{
	uint32_t at = range[number].at, end = at + range[number].len;

	if (range[number].sealed)
		return found >> number & 1;
	for (; at < end; at++)
		if (!is_one_of(at, medium[at], number + 1, count))
			return false;
	return !range[number].fleeting;
}

static bool some_there(const uint8_t *medium, uint32_t number)
{
	uint32_t at = range[number].at, end = at + range[number].len;

	if (range[number].sealed)
		return found >> number & 1;
	for (; at < end; at++)
		if (is_one_of(at, medium[at], number + 1, count) &&
		    !is_one_of(at, medium[at], 0, number))
			return true;
	return false;
}

static bool each_there(const uint8_t *medium, uint32_t numbers)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (numbers >> i & 1 && !all_there(medium, i))
			return false;
	return true;
}

/* Has the target been told of something that it does not have? It knows by itself which
 * of its receives are not persistent, and what it refused; what recovery looks for it has
 * when it sees it. */
static bool told_early(const uint8_t *medium, uint32_t number)
{
	return program.received >> number & 1 && !range[number].fleeting &&
	       !range[number].refused &&
	       (range[number].claims >> number & 1 ||
		(range[number].sealed && world_asks())) &&
	       !all_there(medium, number);
}

/* What is wrong when recovery finds that. */
static unsigned int check_medium(const uint8_t *medium)
{
	unsigned int wrong = 0;
	uint32_t i;

	found = target_recover(medium, &wrong);
	for (i = 0; i < count; i++) {
		if (program.reported >> i & 1 &&
		    !each_there(medium, range[i].claims & ~program.known[i]))
			wrong |= WRONG_EARLY;
		if (told_early(medium, i))
			wrong |= WRONG_TARGET;
		if (range[i].after && some_there(medium, i) &&
		    !each_there(medium, range[i].after & ~program.known[i]))
			wrong |= WRONG_COMPOUND;
	}
	return wrong;
}

unsigned int check_power(void (*each)(const uint8_t *medium))
{
	unsigned int wrong = 0;

	svb_model_fail();
	do {
		wrong |= check_medium(svb_model_medium());
		each(svb_model_medium());
	} while (svb_model_fail_next());
	return wrong;
}

unsigned int check_end(void)
{
	const bool replay = world.machine->receives == RECEIVES_REPLAY;
	unsigned int wrong;
	uint32_t i;

	if (!program_done())
		return WRONG_STUCK;
	/* What failed may have happened or not. */
	if (program.failed)
		return 0;
	/* Behind that is the target's own. */
	if (memcmp(world.pm, image[count], replay ? APPLIED_AT : world.pm_size) != 0)
		return WRONG_END;
	found = target_recover(world.pm, &wrong);
	for (i = 0; i < count; i++)
		if (range[i].sealed && !(found >> i & 1))
			wrong |= WRONG_END;
	return wrong;
}

bool check_seen(unsigned int number)
{
	uint32_t i, at;

	for (i = 0; i < number; i++)
		for (at = range[i].at; range[i].pair == range[number].pair &&
				       at < range[i].at + range[i].len;
		     at++)
			if (!is_one_of(at, world.pm[at], i + 1, count))
				return false;
	return true;
}

bool check_read(unsigned int number, const uint8_t *result, unsigned int len)
{
	uint32_t at = range[number].at, i;

	for (i = 0; i < len; i++)
		if (!is_one_of(at + i, result[i], number, count))
			return false;
	return true;
}
