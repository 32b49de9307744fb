/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider has a fault: which search finds it? */
#include <stdio.h>
#include <unistd.h>
#include "check.h"
#include "machine.h"
#include "mutants.h"
#include "runs.h"

/* Enough to meet what a fault is about. */
#define WAYS 8u

static const char *fault_file(unsigned int fault, char *path, size_t size)
{
	snprintf(path, size, "%s/fault.%u", xpv_options.dir, fault);
	return path;
}

/* By this process or another one. */
static bool is_found(unsigned int fault)
{
	char path[96];

	return !access(fault_file(fault, path, sizeof(path)), F_OK);
}

static bool tell_found(unsigned int fault, const struct machine *machine,
		       const struct scenario *scenario, unsigned int wrong)
{
	char path[96], place[96], what[192];
	FILE *file = fopen(fault_file(fault, path, sizeof(path)), "w");

	if (!file)
		return false;
	xpv_machine_text(machine, place, sizeof(place));
	fprintf(file, "%s: %s: %s", place, scenario->name,
		xpv_wrong_text(wrong, what, sizeof(what)));
	return !fclose(file);
}

/* WRONG_* that a search finds and should not. */
static unsigned int look(unsigned int fault, const struct machine *machine,
			 const struct scenario *scenario, struct total *total)
{
	const unsigned int expected = xpv_scenario_expects(scenario, machine);
	struct xpl_found found;

	xpv_mutant_use(fault);
	xpl_search_some(scenario, WAYS, 1, &found);
	xpv_add_found(&found, total);
	/* It made a difference: somewhere that may be wrong. */
	if (xpv_mutant_end() && !(found.wrong & ~expected)) {
		xpv_mutant_use(fault);
		xpl_search_first(scenario, expected, &found);
		xpv_mutant_end();
		xpv_add_found(&found, total);
	}
	return found.wrong & ~expected;
}

bool xpv_run_faults(const struct machine *machine, unsigned int number,
		    struct total *total)
{
	const struct scenario *scenario;
	unsigned int wrong;

	for (unsigned int fault = 0; xpv_mutant_name(fault); fault++)
		for (unsigned int n = 0;
		     (scenario = xpv_scenario_at(n)) && !is_found(fault); n++) {
			if (!xpv_is_chosen(machine, scenario) || scenario->plan[0] ||
			    !xpv_mutant_fits(fault, scenario, machine))
				continue;
			wrong = look(fault, machine, scenario, total);
			if (wrong && !tell_found(fault, machine, scenario, wrong))
				return false;
		}
	return true;
}

bool xpv_judge_faults(struct total *total)
{
	char path[96], found[320];
	FILE *file;

	for (unsigned int fault = 0; xpv_mutant_name(fault); fault++) {
		snprintf(found, sizeof(found), "SURVIVES");
		file = fopen(fault_file(fault, path, sizeof(path)), "r");
		if (file && !fgets(found, sizeof(found), file))
			return false;
		if (file)
			fclose(file);
		else
			total->survivors++;
		total->faults++;
		printf("fault: %s\n    %s\n", xpv_mutant_name(fault), found);
	}
	return true;
}
