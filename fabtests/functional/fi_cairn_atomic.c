/* SPDX-License-Identifier: BSD-2-Clause */
/* FI_ATOMIC on connected endpoints. */
#include "atomic.h"

static const struct fct_case cases[] = {
	{"query", "fi_query_atomic and the fi_*atomicvalid calls agree",
	 fct_atomic_query},
	{"refused", "what is not offered is refused when it is called",
	 fct_atomic_refused},
	{"calls", "everything that is offered for 64 bits, with its result",
	 fct_atomic_calls},
	{"vectors", "the same with the vector calls", fct_atomic_vectors},
	{"messages", "the same with the message calls", fct_atomic_messages},
	{"injects", "fi_inject_atomic: no completion", fct_atomic_injects},
	{"count_excess", "more elements than offered are refused",
	 fct_atomic_count_excess},
	{"contend", "two connections count in one word", fct_atomic_contend},
	{"lock", "a lock taken by compare and swap", fct_atomic_lock},
	{"many", "thousands in flight, each result once", fct_atomic_many},
	{"order", "atomics, writes and reads of a word in the order posted",
	 fct_atomic_order},
	{"misaligned", "an address that is not a multiple of the size is an error",
	 fct_atomic_misaligned},
	{"bad_key", "so is an unknown key", fct_atomic_bad_key},
	{"out_of_bounds", "so is a word beyond the region", fct_atomic_out_of_bounds},
	{"forbidden", "so is a region without the rights", fct_atomic_forbidden},
};

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_atomic",
		.what = "Atomic operations (FI_ATOMIC) on connected endpoints.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
	};

	return fct_main(argc, argv, &prog);
}
