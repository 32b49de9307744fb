/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. */
#include "cq.h"

static const struct fct_case cases[] = {
	{"sizes", "sizes 0 to 65536", fct_cq_sizes},
	{"close_busy", "a queue in use cannot be closed", fct_cq_close_busy},
	{"format_msg", "FI_CQ_FORMAT_MSG", fct_cq_format_msg},
	{"readfrom", "fi_cq_readfrom without source addresses", fct_cq_readfrom},
	{"mixed", "good entries before and after an error are all readable",
	 fct_cq_mixed},
	{"sread_loop", "thousands of round trips by fi_cq_sread", fct_cq_sread_loop},
	{"sread_threshold", "FI_CQ_COND_THRESHOLD", fct_cq_sread_threshold},
	{"signal_fd", "and one that polls the descriptor, once", fct_cq_signal_fd},
	{"asleep_first", "a thread sleeps before its first endpoint is enabled",
	 fct_cq_asleep_first},
	{"fd_loop", "thousands of round trips by epoll and fi_trywait, no wake-up lost",
	 fct_cq_fd_loop},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_cq",
		.what = "Completion queues.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
