/* SPDX-License-Identifier: BSD-2-Clause */
/* Many connections at once: 1,000 unless told otherwise. */
#include <getopt.h>
#include <stdlib.h>

#include "many.h"

#define MANY_MOST 100000u

static const struct fct_case cases[] = {
	{"between", "between two processes, messages on each, closed from either side",
	 fct_many_between},
	{"within", "within one process", fct_many_within},
	{"again", "life after life nothing is left behind", fct_many_again},
	{"storm", "all at once, half of them rejected or abandoned", fct_many_storm},
	{"backlog", "more requests than the listener has room for", fct_many_backlog},
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
	if (*end || n < 16 || n > MANY_MOST) {
		fprintf(stderr, "fi_cairn_many: '%s' is not a number from 16 to %u\n",
			arg, MANY_MOST);
		return -1;
	}
	fct_many_count = (uint32_t)n;
	return 0;
}

int main(int argc, char **argv)
{
	const struct fct_prog prog = {
		.name = "fi_cairn_many",
		.what = "Many connections at once.",
		.cases = cases,
		.n_cases = sizeof(cases) / sizeof(cases[0]),
		.options = options,
		.help = "  -n, --count=N           connections (default 1000); both "
			"sides "
			"need the same\n",
		.option = option,
	};

	return fct_main(argc, argv, &prog);
}
