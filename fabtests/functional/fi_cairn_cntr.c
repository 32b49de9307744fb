/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters (fi_cntr(3)) on connected endpoints. */
#include "cntr.h"

static const struct fct_case cases[] = {
	{"wait_objects", "wait objects, and waiting without one", fct_cntr_wait_objects},
	{"bind_remote", "what a peer does is counted only with FI_RMA_EVENT",
	 fct_cntr_bind_remote},
	{"messages", "messages sent and received", fct_cntr_messages},
	{"injects", "fi_inject", fct_cntr_injects},
	{"writes", "fi_write and fi_inject_write", fct_cntr_writes},
	{"reads", "fi_read", fct_cntr_reads},
	{"errors", "failures are counted apart", fct_cntr_errors},
	{"wait_ping_pong", "both sides sleep in turn", fct_cntr_wait_ping_pong},
	{"wait_error", "a failure ends the wait", fct_cntr_wait_error},
	{"wait_fd", "a descriptor to poll", fct_cntr_wait_fd},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_cntr",
		.what = "Counters.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
