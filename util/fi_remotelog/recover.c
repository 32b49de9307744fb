/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include "link.h"
#include "medium.h"
#include "recover.h"

static const char *const rlg_stop_text[] = {
	[RLG_VALID] = "whole, but not part of the log",
	[RLG_MISSING] = "missing",
	[RLG_TORN] = "torn",
};

static void rlg_recover_print(const struct rlg_options *options,
			      const struct rlg_layout *layout,
			      const struct rlg_recovery *found, const uint8_t *file)
{
	uint64_t number;

	printf("%s log of %llu slots, records of %u bytes\n", rlg_kind_name(layout->kind),
	       (unsigned long long)layout->slots, layout->payload);
	printf("consumed: %llu records\n", (unsigned long long)(found->first - 1));
	for (number = found->first; options->list && number < found->next; number++)
		printf("record %llu at %zu\n", (unsigned long long)number,
		       rlg_slot_at(layout, number));
	if (found->next == found->first)
		printf("valid: none\n");
	else
		printf("valid: %llu to %llu\n", (unsigned long long)found->first,
		       (unsigned long long)found->next - 1);
	if (layout->kind == RLG_COMPOUND)
		printf("tail: %llu\n", (unsigned long long)rlg_get64(file + RLG_TAIL));
	if (found->next - found->first < layout->slots)
		printf("record %llu: %s\n", (unsigned long long)found->next,
		       rlg_stop_text[found->stop]);
	if (found->beyond)
		printf("whole records behind the end: %llu\n",
		       (unsigned long long)found->beyond);
}

int rlg_recover_file(const struct rlg_options *options)
{
	struct rlg_recovery found;
	struct rlg_medium medium;
	struct rlg_layout layout;
	const char *problem;
	int status = 0;

	if (rlg_medium_open(&medium, options->log, 0, false))
		return 1;
	problem = rlg_header_parse(medium.at, medium.size, &layout);
	if (problem) {
		rlg_say("%s: %s", options->log, problem);
		rlg_medium_close(&medium);
		return 1;
	}
	rlg_recover(medium.at, &layout, &found);
	rlg_recover_print(options, &layout, &found, medium.at);
	if (found.damage) {
		rlg_say("%s: %s", options->log, found.damage);
		status = 3;
	}
	if (options->acknowledged >= found.next) {
		rlg_say("%s: record %llu was acknowledged and is lost", options->log,
			(unsigned long long)found.next);
		status = 3;
	}
	rlg_medium_close(&medium);
	return status;
}
