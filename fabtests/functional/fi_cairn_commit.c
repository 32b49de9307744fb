/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable writes: what FI_COMMIT_COMPLETE promises, as far as it can be seen without a
 * power failure. The server's persistent memory is what FI_CAIRN_PMEM names, a devdax or
 * a file of 2 MiB, which the provider has to take for persistent.
 */
#include <stdlib.h>

#include "durable.h"

static const struct fct_case cases[] = {
	{"forms", "every call and size, durable by its flag", fct_durable_forms},
	{"defaults", "every call, durable by the endpoint's flags", fct_durable_defaults},
	{"default_forms", "every call form without flags of its own, durable by default",
	 fct_durable_default_forms},
	{"inject", "what is injected is durable behind the next fence",
	 fct_durable_inject},
	{"atomics", "atomics that are durable", fct_durable_atomics},
	{"levels", "durable, delivered and plain writes end in order",
	 fct_durable_levels},
	{"compound", "a write that is durable only after those before it",
	 fct_durable_compound},
	{"before", "a fence makes operations of every kind before it durable",
	 fct_durable_before},
	{"before_volatile",
	 "a fence fails where something before it went to other memory",
	 fct_durable_before_volatile},
	{"before_damaged", "and where the key of something before it says nothing",
	 fct_durable_before_damaged},
	{"many", "64 of all sizes outstanding, ended in order", fct_durable_many},
	{"endpoints", "four connections of one completion queue", fct_durable_endpoints},
	{"counters", "counters count at durability", fct_durable_counters},
	{"sread", "fi_cq_sread sleeps until they are durable", fct_durable_sread},
	{"wait_fd", "a descriptor wakes up when they are durable", fct_durable_wait_fd},
	{"manual", "with manual progress on both sides", fct_durable_manual},
	{"passive", "to a target that calls nothing", fct_durable_passive},
	{"stopped", "to a target that stands still: an end in time, and others go on",
	 fct_durable_stopped},
	{"replay", "messages in receive buffers that recovery looks into",
	 fct_durable_replay},
	{"without", "where one side can do nothing for it", fct_durable_without},
	{"ordinary", "other memory is refused, and nothing of it written",
	 fct_durable_ordinary},
	{"fence_ordinary", "a fence fails behind a write to other memory",
	 fct_durable_fence_ordinary},
	{"volatile", "other memory is refused when it is posted", fct_durable_volatile},
	{"unknown_key", "a damaged key is refused when it is posted",
	 fct_durable_unknown_key},
	{"closed_region", "a region that is gone ends the write with an error",
	 fct_durable_closed_region},
	{"closed_endpoint", "each ends once when the endpoint is closed",
	 fct_durable_closed_endpoint},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_commit",
		.what = "Durable writes on connected endpoints (FI_COMMIT_COMPLETE).",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};
	const unsigned int scale = fct_time_scale();
	char timeout[16];

	/* One case waits for it; for the others a target may stand still meanwhile. */
	snprintf(timeout, sizeof(timeout), "%u", scale > 1 ? 3000 * scale : 8000);
	setenv("FI_PVERBS_COMMIT_TIMEOUT", timeout, 0);
	return fct_main(argc, argv, &prog);
}
