/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

#define CONFIG "/etc/cairn/fi_router.conf"
/* us; where there are fewer processors it keeps those from working that it waits for. */
#define BUSY 50u
#define BUSY_PROCESSORS 4
#define BUSY_MOST 1000000u

enum { CHECK = 1 };

static const char usage[] =
	"Usage: fi_router [OPTION...]\n"
	"Passes connections of libfabric's programs on from one network to another, as\n"
	"fi_route(7) describes it; in the foreground, until SIGTERM.\n"
	"  -c, --config FILE     the configuration (default: " CONFIG ")\n"
	"      --check           says what is wrong with it, and ends\n"
	"  -b, --busy-poll US    looks for work so long before it sleeps, in us, up to\n"
	"                        1000000 (default: 50 with 4 processors or more, else "
	"0)\n"
	"  -v, --verbose         tells more\n"
	"  -V, --version\n"
	"  -h, --help\n";

static const struct option longs[] = {
	{"config", required_argument, NULL, 'c'},
	{"check", no_argument, NULL, CHECK},
	{"busy-poll", required_argument, NULL, 'b'},
	{"verbose", no_argument, NULL, 'v'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static uint32_t busy_default(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) &&
			       CPU_COUNT(&set) >= BUSY_PROCESSORS
		       ? BUSY
		       : 0;
}

static uint32_t microseconds(const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value > BUSY_MOST) {
		fprintf(stderr, "fi_router: --busy-poll is a number from 0 to %u\n",
			BUSY_MOST);
		exit(2);
	}
	return (uint32_t)value;
}

void frt_options(int argc, char **argv, struct frt_options *options)
{
	int option;

	*options = (struct frt_options){.config = CONFIG, .busy = busy_default()};
	while ((option = getopt_long(argc, argv, "c:b:vVh", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			options->config = optarg;
			break;
		case CHECK:
			options->check = true;
			break;
		case 'b':
			options->busy = microseconds(optarg);
			break;
		case 'v':
			options->verbose++;
			break;
		case 'V':
			puts("fi_router (Cairn) " PACKAGE_VERSION);
			exit(0);
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "fi_router: what is \"%s\"?\n%s", argv[optind], usage);
		exit(2);
	}
}
