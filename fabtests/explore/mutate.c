/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "runs.h"

#define PARTS_MAX 512u

/* A part of a plan, whatever the call. */
static struct part {
	char text[PLAN_TEXT];
	unsigned int tried;
	unsigned int wrong; /* WRONG_* it was caught by; 0: it was not */
} parts[PARTS_MAX];
static size_t part_count;

static struct part *part_of(const char *text)
{
	size_t i;

	for (i = 0; i < part_count; i++)
		if (!strcmp(parts[i].text, text))
			return &parts[i];
	if (part_count == PARTS_MAX)
		return NULL;
	snprintf(parts[part_count].text, PLAN_TEXT, "%s", text);
	return &parts[part_count++];
}

static void mutate(const struct scenario *scenario, struct total *total)
{
	const struct plan_change *changes;
	struct found found;
	struct part *part;
	size_t count, i;

	plans_forget();
	search(scenario, &found);
	add_found(&found, total);
	changes = plans_changes(&count);
	for (i = 0; i < count; i++) {
		part = part_of(changes[i].text);
		if (!part || part->wrong)
			continue;
		plans_change(&changes[i]);
		search_first(scenario, &found);
		plans_change(NULL);
		add_found(&found, total);
		part->tried++;
		part->wrong = found.wrong;
	}
}

void run_mutated(const struct machine *machine, struct total *total)
{
	const struct scenario *scenario;
	char place[96], what[192];
	size_t i;

	for (scenario = scenarios; scenario->name; scenario++)
		if (chosen(machine, scenario) && is_durable(scenario) &&
		    !scenario->plan[0] && !scenario->expect(machine))
			mutate(scenario, total);
	machine_text(machine, place, sizeof(place));
	total->changes = part_count;
	for (i = 0; i < part_count; i++) {
		total->survivors += !parts[i].wrong;
		if (!parts[i].wrong || options.verbose)
			printf("%-36s %-40s %s\n", place, parts[i].text,
			       parts[i].wrong
				       ? wrong_text(parts[i].wrong, what, sizeof(what))
				       : "SURVIVES");
	}
}
