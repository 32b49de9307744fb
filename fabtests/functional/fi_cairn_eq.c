/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues, in one process. */
#include "eq.h"

static const struct fct_case cases[] = {
	{"too_small", "a buffer too small is -FI_ETOOSMALL and costs no event",
	 fct_eq_too_small},
	{"no_write", "without FI_WRITE fi_eq_write is refused", fct_eq_no_write},
	{"close_busy", "a queue in use cannot be closed", fct_eq_close_busy},
	{"close_ep", "closing an endpoint removes its events", fct_eq_close_ep},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_eq",
		.what = "Event queues.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.single = true,
	};

	return fct_main(argc, argv, &prog);
}
