/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters (fi_cntr(3)) on connected endpoints. */
#include "cntr.h"

static const struct fct_case cases[] = {
	{"values", "set, add, seterr and adderr are exact", cntr_values},
	{"wait_objects", "wait objects, and waiting without one", cntr_wait_objects},
	{"several", "many counters at once", cntr_several},
	{"close_busy", "a counter of an open endpoint cannot be closed", cntr_close_busy},
	{"bind_twice", "one counter for each kind of operation", cntr_bind_twice},
	{"bind_remote", "what a peer does is counted only with FI_RMA_EVENT",
	 cntr_bind_remote},
	{"messages", "messages sent and received", cntr_messages},
	{"injects", "fi_inject", cntr_injects},
	{"writes", "fi_write and fi_inject_write", cntr_writes},
	{"reads", "fi_read", cntr_reads},
	{"apart", "a counter counts only what it was bound for", cntr_apart},
	{"beside_cq", "completions stay to be read", cntr_beside_cq},
	{"errors", "failures are counted apart", cntr_errors},
	{"wait_timeout", "fi_cntr_wait gives up in time", cntr_wait_timeout},
	{"wait_wakes", "fi_cntr_wait returns when the threshold is reached",
	 cntr_wait_wakes},
	{"wait_ping_pong", "both sides sleep in turn", cntr_wait_ping_pong},
	{"wait_error", "a failure ends the wait", cntr_wait_error},
	{"wait_add", "fi_cntr_add by another thread ends the wait", cntr_wait_add},
	{"wait_fd", "a descriptor to poll", cntr_wait_fd},
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
