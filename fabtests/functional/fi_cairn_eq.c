/* SPDX-License-Identifier: BSD-2-Clause */
/* Event queues, in one process. */
#include "eq.h"

static const struct fct_case cases[] = {
	{"sizes", "sizes 0 to 65536", fct_eq_sizes},
	{"many", "many queues at once", fct_eq_many},
	{"wait_objects", "wait objects NONE, UNSPEC and FD", fct_eq_wait_objects},
	{"unspec_fd", "FI_WAIT_UNSPEC yields a file descriptor (ofi_rxm needs one)",
	 fct_eq_unspec_fd},
	{"empty", "reading from an empty queue is -FI_EAGAIN", fct_eq_empty},
	{"write_read", "events come out as and in the order they went in",
	 fct_eq_write_read},
	{"peek", "FI_PEEK leaves the event where it is", fct_eq_peek},
	{"too_small", "a buffer too small is -FI_ETOOSMALL and costs no event",
	 fct_eq_too_small},
	{"no_write", "without FI_WRITE fi_eq_write is refused", fct_eq_no_write},
	{"overrun", "more events than the size: kept or refused, never lost",
	 fct_eq_overrun},
	{"strerror", "fi_eq_strerror has a text", fct_eq_strerror},
	{"sread_timeout", "fi_eq_sread waits as long as told", fct_eq_sread_timeout},
	{"sread_wakes", "fi_eq_write wakes a thread in fi_eq_sread without timeout",
	 fct_eq_sread_wakes},
	{"sread_peek", "the same with FI_PEEK, as ofi_rxm does", fct_eq_sread_peek},
	{"fd", "the descriptor is readable if, and only if, there is an event",
	 fct_eq_fd},
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
