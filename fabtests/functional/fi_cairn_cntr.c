/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters (fi_cntr(3)) on connected endpoints. */
#include "cntr.h"

static const struct fct_case cases[] = {
	{"values", "set, add, seterr and adderr are exact", fct_cntr_values},
	{"wait_objects", "wait objects, and waiting without one", fct_cntr_wait_objects},
	{"several", "many counters at once", fct_cntr_several},
	{"close_busy", "a counter of an open endpoint cannot be closed",
	 fct_cntr_close_busy},
	{"bind_twice", "one counter for each kind of operation", fct_cntr_bind_twice},
	{"bind_remote", "what a peer does is counted only with FI_RMA_EVENT",
	 fct_cntr_bind_remote},
	{"messages", "messages sent and received", fct_cntr_messages},
	{"injects", "fi_inject", fct_cntr_injects},
	{"writes", "fi_write and fi_inject_write", fct_cntr_writes},
	{"reads", "fi_read", fct_cntr_reads},
	{"apart", "a counter counts only what it was bound for", fct_cntr_apart},
	{"beside_cq", "completions stay to be read", fct_cntr_beside_cq},
	{"errors", "failures are counted apart", fct_cntr_errors},
	{"wait_timeout", "fi_cntr_wait gives up in time", fct_cntr_wait_timeout},
	{"wait_wakes", "fi_cntr_wait returns when the threshold is reached",
	 fct_cntr_wait_wakes},
	{"wait_ping_pong", "both sides sleep in turn", fct_cntr_wait_ping_pong},
	{"wait_error", "a failure ends the wait", fct_cntr_wait_error},
	{"wait_add", "fi_cntr_add by another thread ends the wait", fct_cntr_wait_add},
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
