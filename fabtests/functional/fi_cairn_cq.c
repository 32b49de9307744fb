/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues. */
#include "cq.h"

static const struct fct_case cases[] = {
	{"sizes", "sizes 0 to 65536", fct_cq_sizes},
	{"many", "many queues at once", fct_cq_many},
	{"wait_objects",
	 "wait objects NONE, UNSPEC and FD, and what fi_control says of them",
	 fct_cq_wait_objects},
	{"close_busy", "a queue in use cannot be closed", fct_cq_close_busy},
	{"empty", "reading from an empty queue is -FI_EAGAIN", fct_cq_empty},
	{"format_context", "FI_CQ_FORMAT_CONTEXT", fct_cq_format_context},
	{"format_msg", "FI_CQ_FORMAT_MSG", fct_cq_format_msg},
	{"format_data", "FI_CQ_FORMAT_DATA", fct_cq_format_data},
	{"format_unspec", "FI_CQ_FORMAT_UNSPEC", fct_cq_format_unspec},
	{"bulk", "many entries in one read, in order", fct_cq_bulk},
	{"readfrom", "fi_cq_readfrom without source addresses", fct_cq_readfrom},
	{"readerr", "error entries: context, code and text", fct_cq_readerr},
	{"mixed", "good entries before and after an error are all readable",
	 fct_cq_mixed},
	{"sread_timeout", "fi_cq_sread waits as long as told", fct_cq_sread_timeout},
	{"sread_wakes", "a completion wakes fi_cq_sread", fct_cq_sread_wakes},
	{"sread_loop", "thousands of round trips by fi_cq_sread", fct_cq_sread_loop},
	{"sread_threshold", "FI_CQ_COND_THRESHOLD", fct_cq_sread_threshold},
	{"signal", "fi_cq_signal wakes a thread in fi_cq_sread", fct_cq_signal},
	{"signal_fd", "and one that polls the descriptor, once", fct_cq_signal_fd},
	{"asleep_first", "a thread sleeps before its first endpoint is enabled",
	 fct_cq_asleep_first},
	{"fd_event", "the file descriptor tells of a completion", fct_cq_fd_event},
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
