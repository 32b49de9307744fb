/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of connections over routers; of others, as far as they have them. */
#include <getopt.h>

#include "routed.h"

#define MOST_CONNECTIONS 4096u

struct routed_options fct_routed = {.connections = 64, .iterations = 2000};

static const struct option options[] = {
	{"connections", required_argument, NULL, 'n'},
	{"iterations", required_argument, NULL, 'i'},
	{"router", required_argument, NULL, 'r'},
	{"end", required_argument, NULL, 'e'},
	{"quota", required_argument, NULL, 'q'},
	{"full", no_argument, NULL, 'F'},
	{0},
};

/* N@ID */
static int quota(const char *arg)
{
	unsigned int n;
	unsigned long long id;
	char more;

	if (sscanf(arg, "%u@%llu%c", &n, &id, &more) != 2 || !n || n > MOST_CONNECTIONS) {
		fprintf(stderr, "fi_cairn_routed: '%s' is not CONNECTIONS@ROUTER\n", arg);
		return -1;
	}
	fct_routed.quota = n;
	fct_routed.quota_router = id;
	return 0;
}

static int option(int val, const char *arg)
{
	pid_t n;

	switch (val) {
	case 'n':
		fct_routed.connections = (uint32_t)fct_number(arg, 2, MOST_CONNECTIONS);
		return fct_routed.connections ? 0 : -1;
	case 'i':
		fct_routed.iterations = fct_number(arg, 1, UINT64_MAX);
		return fct_routed.iterations ? 0 : -1;
	case 'r':
		if (fct_routed.routers == ROUTED_ROUTERS)
			return -1;
		n = (pid_t)fct_number(arg, 1, INT32_MAX);
		fct_routed.router[fct_routed.routers++] = n;
		return n ? 0 : -1;
	case 'q':
		return quota(arg);
	case 'F':
		fct_routed.full = true;
		return 0;
	default:
		fct_routed.end = arg;
		return 0;
	}
}

FCT_PROGRAM(.name = "fi_cairn_routed", .what = "Limits of connections over routers.",
	    .options = options,
	    .help = "  -n, --connections=N     beside each other (default 64); both "
		    "sides "
		    "need the same,\n"
		    "                          as of the next one\n"
		    "  -i, --iterations=N      items of \"mixed\" each way (default "
		    "2000)\n"
		    "  -r, --router=PID        a router on the way, whose memory is "
		    "looked "
		    "at; repeatable\n"
		    "  -e, --end=COMMAND       ends a router: for \"router_lost\";\n"
		    "                          drains them: for \"drained\"\n"
		    "  -q, --quota=N@ID        connections of a client, and the id "
		    "of the "
		    "router that counts them\n"
		    "  -F, --full              what takes long, too\n",
	    .option = option)
