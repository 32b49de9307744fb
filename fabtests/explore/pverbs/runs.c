/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <rdma/fabric.h>
#include "check.h"
#include "machine.h"
#include "runs.h"

#define BIT(number) (1u << (number))

/* Each of them waits for memory now and then: two processors are busy with four. */
struct options xpv_options = {.jobs = 4};

void xpv_add_found(const struct xpl_found *found, struct total *total)
{
	total->searches++;
	total->states += found->states;
	total->runs += found->runs;
	total->media += found->outcomes;
	total->unseen += found->unseen;
}

static void one(const struct machine *machine, const struct scenario *scenario,
		struct total *total)
{
	char place[96], what[192], wanted[192];
	struct xpl_found found;
	double from = xpl_seconds();
	unsigned int expected = xpv_scenario_expects(scenario, machine);

	xpl_search(scenario, &found);
	xpv_machine_text(machine, place, sizeof(place));
	xpv_add_found(&found, total);
	if (xpv_options.compare)
		printf("%s; %s: %s: %llu ends, %016llx\n", place, scenario->name,
		       xpv_wrong_text(found.wrong, what, sizeof(what)),
		       (unsigned long long)found.ends,
		       (unsigned long long)found.ends_sum);
	if (xpv_options.verbose || found.wrong != expected)
		printf("%-36s %-40s %s: %llu states, %llu runs, %.2f s\n", place,
		       scenario->name, xpv_wrong_text(found.wrong, what, sizeof(what)),
		       (unsigned long long)found.states, (unsigned long long)found.runs,
		       xpl_seconds() - from);
	total->unsafe += found.wrong != 0;
	if (found.wrong == expected)
		return;
	total->bad++;
	printf("    expected: %s\n", xpv_wrong_text(expected, wanted, sizeof(wanted)));
	xpl_tell();
}

bool xpv_is_durable(const struct scenario *scenario)
{
	const struct call *call;
	bool durable = false;

	for (call = scenario->call; call < scenario->call + CALLS && call->kind; call++)
		durable |= !!(call->flags & FI_COMMIT_COMPLETE);
	return durable;
}

/* Machines differ in more than what a scenario can notice. */
bool xpv_is_chosen(const struct machine *machine, const struct scenario *scenario)
{
	const bool durable = xpv_is_durable(scenario), forced = scenario->plan[0] != NULL;
	unsigned int pairs = 1, receives = BIT(RECEIVES_VOLATILE);
	const struct call *call;

	for (call = scenario->call; call < scenario->call + CALLS && call->kind; call++) {
		if (call_sends(call))
			receives |= BIT(RECEIVES_PM);
		pairs = call->pair ? 2 : pairs;
	}
	if (scenario->receives)
		receives = scenario->receives;
	/* The message method is one, whatever there is besides. */
	if (machine->special == SPECIAL_MESSAGE && (machine->flush || !machine->ddio))
		return false;
	return (scenario->special ? scenario->special : 1u) >> machine->special & 1 &&
	       pairs == machine->pairs && receives >> machine->receives & 1 &&
	       ((durable && !forced) || machine->flush) &&
	       (!scenario->fits || scenario->fits(machine)) &&
	       (!xpv_options.only || strstr(scenario->name, xpv_options.only));
}

static void add_plans(struct total *total)
{
	size_t count, n;
	const struct plan_seen *plan = xpv_plans_seen(&count);

	for (size_t i = 0; i < count; i++) {
		for (n = 0; n < total->plans && strcmp(total->plan[n], plan[i].text); n++)
			;
		if (n == PLANS_MAX)
			continue;
		if (n == total->plans)
			total->plans++;
		memcpy(total->plan[n], plan[i].text, PLAN_TEXT);
	}
}

void xpv_run_all(const struct machine *machine, struct total *total)
{
	const struct scenario *scenario;

	for (unsigned int i = 0; (scenario = xpv_scenario_at(i)); i++)
		if (xpv_is_chosen(machine, scenario))
			one(machine, scenario, total);
	add_plans(total);
}
