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
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	(void)val;
	if (*end || n < 16 || n > MANY_MOST) {
		fprintf(stderr, "fi_cairn_many: '%s' is not a number from 16 to %u\n",
			arg, MANY_MOST);
		return -1;
	}
	fct_many_count = (uint32_t)n;
	return 0;
}

FCT_PROGRAM(.name = "fi_cairn_many", .what = "Many connections at once.",
	    .options = options,
	    .help = "  -n, --count=N           connections (default 1000); both "
		    "sides "
		    "need the same\n",
	    .option = option)
