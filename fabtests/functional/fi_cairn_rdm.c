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
	(void)val;
	fct_rdm_count = (uint32_t)fct_number(arg, 1, RDM_MOST);
	return fct_rdm_count ? 0 : -1;
}

FCT_PROGRAM(.name = "fi_cairn_rdm",
	    .what = "Reliable datagram endpoints, and many peers of one.",
	    .ep_type = FI_EP_RDM, .options = options,
	    .help = "  -n, --count=N           peers, at the client (default 32); "
		    "both "
		    "sides need the same\n",
	    .option = option)
