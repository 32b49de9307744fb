/* SPDX-License-Identifier: BSD-2-Clause */
/* Reliable datagram endpoints: a server and 32 peers unless told otherwise. */
#include <getopt.h>
#include <stdlib.h>

#include "rdm.h"

#define RDM_MOST 10000u

static const struct fct_case cases[] = {
	{"messages", "every peer and the server send to each other", fct_rdm_messages},
	{"tagged", "tagged messages, for receives with ignored bits and for wildcards",
	 fct_rdm_tagged},
	{"tagged_late", "the same, with all messages there before the receives",
	 fct_rdm_tagged_late},
	{"rma", "remote writes and reads in both directions", fct_rdm_rma},
	{"atomics", "sums, exchanges and a maximum at the server", fct_rdm_atomics},
};

static const struct option options[] = {
	{"count", required_argument, NULL, 'n'},
	{0},
};

static int option(int val, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	(void)val;
	if (*end || n < 1 || n > RDM_MOST) {
		fprintf(stderr, "fi_cairn_rdm: '%s' is not a number from 1 to %u\n", arg,
			RDM_MOST);
		return -1;
	}
	fct_rdm_count = (uint32_t)n;
	return 0;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_rdm",
		.what = "Reliable datagram endpoints, and many peers of one.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.ep_type = FI_EP_RDM,
		.options = options,
		.help = "  -n, --count=N           peers, at the client (default 32); "
			"both "
			"sides need the same\n",
		.option = option,
	};

	return fct_main(argc, argv, &prog);
}
