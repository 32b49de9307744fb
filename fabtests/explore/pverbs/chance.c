/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of durable and other calls by chance, and ways through them by chance; or
 * longer programs of small calls, in every way.
 */
#include <stdio.h>
#include <rdma/fabric.h>
#include "check.h"
#include "machine.h"
#include "runs.h"
#include "world.h"

#define WAYS 12u
#define LINES 4u /* that the calls write to: they share them */

static uint64_t random_state;

/* Most states of a long program; what has more is not searched to its end. */
#define LONG_STATES 20000u

static uint16_t any_length(void)
{
	if (xpv_options.all_ways)
		return xpl_chance(&random_state, 2) ? 8 : 64;
	return (uint16_t)(8 + 8 * xpl_chance(&random_state, 16));
}

/* announced: calls that took a receive already. */
static struct call any_call(const struct machine *machine, uint32_t *announced)
{
	static const uint64_t flags[] = {0,
					 FI_COMMIT_COMPLETE,
					 FI_COMMIT_COMPLETE,
					 FI_COMMIT_COMPLETE | FI_FENCE,
					 FI_FENCE,
					 FI_DELIVERY_COMPLETE};
	struct call call = {.kind = CALL_WRITE,
			    .len = any_length(),
			    .flags = flags[xpl_chance(&random_state,
						      sizeof(flags) / sizeof(flags[0]))],
			    .wait = !xpl_chance(&random_state, 6),
			    .quiet = !xpl_chance(&random_state, 6)};

	switch (xpl_chance(&random_state, 8)) {
	case 0:
		call.kind = CALL_READ;
		call.flags = 0;
		call.quiet = false;
		break;
	case 1:
		call.kind = machine->iwarp ? CALL_WRITE : CALL_ADD;
		call.len = call.kind == CALL_ADD ? 8 : call.len;
		break;
	case 2:
		call.len = xpl_chance(&random_state, 3) ? call.len : 0;
		break;
	case 3:
		if (machine->iwarp || *announced == RECEIVES)
			break;
		call.kind = CALL_WRITEDATA;
		++*announced;
		break;
	default:
		break;
	}
	call.at = (uint16_t)(8 *
			     xpl_chance(&random_state, (LINES * 64 - call.len) / 8 + 1));
	/* In the model a write may pass an atomic, so these have a line of their own. */
	if (call.kind == CALL_ADD)
		call.at = (uint16_t)(LINES * 64 + 8 * xpl_chance(&random_state, 2));
	/* To the second region as often as to the first. */
	if (machine->special == SPECIAL_REGIONS || machine->special == SPECIAL_MIXED)
		call.at = (uint16_t)(call.at + xpl_chance(&random_state, 2) * SECOND_AT);
	return call;
}

/* Does it begin a group that the call behind it goes on with or ends? */
static bool may_group(const struct call *call)
{
	return call->kind == CALL_WRITE &&
	       (call->flags & (FI_COMMIT_COMPLETE | FI_FENCE)) == FI_COMMIT_COMPLETE &&
	       call[1].kind && !call[1].wait;
}

static unsigned int nothing(const struct machine *machine)
{
	return 0;
}

/* In the model what announces may pass an atomic too, which IBA 9.5 forbids: programs
 * have one or the other. */
static void announce_no_atomics(struct scenario *scenario)
{
	uint32_t i, atomics = 0;

	for (i = 0; i < CALLS; i++)
		atomics += scenario->call[i].kind == CALL_ADD;
	for (i = 0; i < CALLS; i++)
		if (atomics && scenario->call[i].kind == CALL_WRITEDATA)
			scenario->call[i].kind = CALL_WRITE;
}

static void any_program(const struct machine *machine, struct scenario *scenario)
{
	uint32_t calls, announced = 0;

	*scenario = (struct scenario){.name = "by chance", .expect = nothing};
	scenario->tear = !xpl_chance(&random_state, 3) && !xpv_options.all_ways;
	for (calls = xpv_options.all_ways ? 4 + xpl_chance(&random_state, 2)
					  : 2 + xpl_chance(&random_state, CALLS - 1);
	     calls--;)
		scenario->call[calls] = any_call(machine, &announced);
	announce_no_atomics(scenario);
	for (calls = 0; calls + 1 < CALLS; calls++)
		if (may_group(&scenario->call[calls]) && !xpl_chance(&random_state, 3))
			scenario->call[calls].flags |= FI_MORE;
}

void xpv_run_by_chance(const struct machine *machine, struct total *total)
{
	struct scenario scenario;
	char place[96], what[192];
	struct xpl_found found;
	uint64_t seed;

	xpv_machine_text(machine, place, sizeof(place));
	for (uint32_t i = 0; i < xpv_options.programs; i++) {
		seed = random_state = (xpv_options.seed + i) * 0x9e3779b97f4a7c15ull + 1;
		any_program(machine, &scenario);
		if (xpv_options.all_ways)
			xpl_search_most(&scenario, LONG_STATES, &found);
		else
			xpl_search_some(&scenario, WAYS, seed, &found);
		total->cut += found.cut;
		xpv_add_found(&found, total);
		if (xpv_options.verbose)
			printf("%s: program %llu: %llu states, %llu runs\n", place,
			       (unsigned long long)(xpv_options.seed + i),
			       (unsigned long long)found.states,
			       (unsigned long long)found.runs);
		if (!found.wrong)
			continue;
		total->bad++;
		printf("%s: program %llu: %s\n", place,
		       (unsigned long long)(xpv_options.seed + i),
		       xpv_wrong_text(found.wrong, what, sizeof(what)));
		for (uint32_t calls = 0; calls < CALLS && scenario.call[calls].kind;
		     calls++)
			printf("    call %u: kind %d at %u len %u flags %llx%s%s\n",
			       calls, (int)scenario.call[calls].kind,
			       scenario.call[calls].at, scenario.call[calls].len,
			       (unsigned long long)scenario.call[calls].flags,
			       scenario.call[calls].wait ? " waits" : "",
			       scenario.call[calls].quiet ? " quiet" : "");
		xpl_tell();
	}
}
