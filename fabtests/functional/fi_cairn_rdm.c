/* SPDX-License-Identifier: BSD-2-Clause */
/* Reliable datagram endpoints: a server and 32 peers unless told otherwise. */
#include <getopt.h>
#include <stdlib.h>

#include "rdm.h"

#define RDM_MOST 10000u

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

FCT_PROGRAM(.name = "fi_cairn_rdm",
	    .what = "Reliable datagram endpoints, and many peers of one.",
	    .ep_type = FI_EP_RDM, .options = options,
	    .help = "  -n, --count=N           peers, at the client (default 32); "
		    "both "
		    "sides need the same\n",
	    .option = option)
