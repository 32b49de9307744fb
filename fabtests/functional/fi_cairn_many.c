/* SPDX-License-Identifier: BSD-2-Clause */
/* Many connections at once: 1,000 unless told otherwise. */
#include <getopt.h>
#include <stdlib.h>

#include "many.h"

#define MANY_MOST 100000u

static const struct option options[] = {
	{"count", required_argument, NULL, 'n'},
	{0},
};

static int option(int val, const char *arg)
{
	(void)val;
	fct_many_count = (uint32_t)fct_number(arg, 16, MANY_MOST);
	return fct_many_count ? 0 : -1;
}

FCT_PROGRAM(.name = "fi_cairn_many", .what = "Many connections at once.",
	    .options = options,
	    .help = "  -n, --count=N           connections (default 1000); both "
		    "sides "
		    "need the same\n",
	    .option = option)
