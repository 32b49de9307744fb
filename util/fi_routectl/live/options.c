/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "wrong.h"

#define COUNT 4u
#define COUNT_MOST 1000000u
#define TIMEOUT 1000u
#define TIMEOUT_MOST 10000u

#define WAIT_MOST 3600000u
#define DELAY 1000u
#define DELAY_MOST 3600.0

/* Options that have no letter on the command line have one here. */
enum { JSON = 'j', DOT = 'D', FROM = 'F' };

static const char usage[] =
	"Usage: fi_routectl show WHAT [OPTION...]\n"
	"       fi_routectl ping AS:SUBNET:ADDRESS [OPTION...]\n"
	"       fi_routectl trace AS:SUBNET:ADDRESS [OPTION...]\n"
	"       fi_routectl why AS:SUBNET[:ADDRESS] [OPTION...]\n"
	"       fi_routectl top [OPTION...]\n"
	"       fi_routectl ready [OPTION...]\n"
	"       fi_routectl drain [OPTION...]\n"
	"What a running router says.\n"
	"show      topology, routes, connections, counters, adjacencies or blocked\n"
	"ping      asks the last router before the target how it is\n"
	"trace     asks each router on the way there\n"
	"drain     it takes no new connections: drain --help tells more\n"
	"why       what decides which way a connection goes there, and what else there "
	"is\n"
	"top       how busy it is, again and again\n"
	"ready     status 0 if it is ready, 1 and the reason if not\n"
	"  -s, --socket SOCKET     its control socket\n"
	"  -c, --config CONFIG     its configuration, which names that\n"
	"                          (default: " RCT_CONFIG ")\n"
	"      --json              what it has said, as JSON\n"
	"      --dot               topology: a picture, for dot(1)\n"
	"  -n, --count N           ping, top: so many times (default: 4; without end)\n"
	"  -d, --delay S           top: seconds in between (default: 1)\n"
	"      --from AS:SUBNET    why: of clients there (default: the router's own)\n"
	"  -w, --timeout MS        ping, trace: for each answer, up to 10000\n"
	"                          (default: 1000); ready: until it is, up to 3600000\n"
	"                          (default: asks once)\n";

static const struct option longs[] = {
	{"socket", required_argument, NULL, 's'},
	{"config", required_argument, NULL, 'c'},
	{"json", no_argument, NULL, JSON},
	{"dot", no_argument, NULL, DOT},
	{"count", required_argument, NULL, 'n'},
	{"timeout", required_argument, NULL, 'w'},
	{"delay", required_argument, NULL, 'd'},
	{"from", required_argument, NULL, FROM},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct {
	const char *name;
	const char *options;
	int words; /* behind it */
	uint32_t count, timeout, timeout_most;
} commands[] = {
	[RCT_SHOW] = {"show", "scjD", 1, 0, 0, 0},
	[RCT_PING] = {"ping", "scnwj", 1, COUNT, TIMEOUT, TIMEOUT_MOST},
	[RCT_TRACE] = {"trace", "scwj", 1, 0, TIMEOUT, TIMEOUT_MOST},
	[RCT_READY] = {"ready", "scwj", 0, 0, 0, WAIT_MOST},
	[RCT_TOP] = {"top", "scndj", 0, 0, 0, 0},
	[RCT_WHY] = {"why", "scjF", 1, 0, 0, 0},
	[RCT_FAULT] = {"fault", "", 0, 0, 0, 0}, /* fault.c reads its line itself */
};

static const char *const shows[] = {
	"topology", "routes", "connections", "counters", "adjacencies", "blocked",
};

static size_t command_find(const char *name)
{
	size_t i = 0;

	while (i < sizeof(commands) / sizeof(*commands) && strcmp(name, commands[i].name))
		i++;
	return i;
}

bool rct_live_is(const char *command)
{
	return command_find(command) < sizeof(commands) / sizeof(*commands) ||
	       !strcmp(command, "drain");
}

static uint32_t number(const char *option, const char *text, uint32_t most)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !value || value > most)
		rct_wrong("%s is a number from 1 to %u", option, most);
	return (uint32_t)value;
}

static uint32_t seconds(const char *option, const char *text)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (errno || *text < '0' || *text > '9' || *end || !(value >= 0.1) ||
	    value > DELAY_MOST)
		rct_wrong("%s is a number of seconds from 0.1 to 3600", option);
	return (uint32_t)(value * 1000);
}

static void take(struct rct_live_options *options, int option)
{
	switch (option) {
	case 's':
		options->socket = optarg;
		break;
	case 'c':
		options->config = optarg;
		break;
	case JSON:
		options->json = true;
		break;
	case DOT:
		options->dot = true;
		break;
	case 'n':
		options->count = number("--count", optarg, COUNT_MOST);
		break;
	case 'w':
		options->timeout = number("--timeout", optarg,
					  commands[options->command].timeout_most);
		break;
	case 'd':
		options->delay = seconds("--delay", optarg);
		break;
	case FROM:
		options->from = optarg;
		break;
	}
}

static void check_what(const struct rct_live_options *options)
{
	size_t i;

	if (options->command != RCT_SHOW)
		return;
	for (i = 0; i < sizeof(shows) / sizeof(*shows); i++)
		if (!strcmp(options->what, shows[i]))
			break;
	if (i == sizeof(shows) / sizeof(*shows))
		rct_wrong(
			"show what? topology, routes, connections, counters, adjacencies "
			"or "
			"blocked");
	if (options->dot && i)
		rct_wrong("--dot is for the topology alone");
	if (options->dot && options->json)
		rct_wrong("--dot or --json, not both");
}

void rct_live_options(int argc, char **argv, struct rct_live_options *options)
{
	int option;

	*options = (struct rct_live_options){
		.command = (enum rct_live_command)command_find(argv[0]),
		.delay = DELAY,
	};
	options->count = commands[options->command].count;
	options->timeout = commands[options->command].timeout;
	while ((option = getopt_long(argc, argv, "s:c:n:w:d:h", longs, NULL)) != -1) {
		if (option == 'h' || option == '?') {
			fputs(usage, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
		if (!strchr(commands[options->command].options, option))
			rct_wrong("%s takes no such option: %s", argv[0],
				  argv[optind - 1]);
		take(options, option);
	}
	if (argc - optind != commands[options->command].words)
		rct_wrong("%s takes %s: --help tells more", argv[0],
			  commands[options->command].words ? "one word" : "no word");
	options->what = argv[optind];
	if (options->socket && options->config)
		rct_wrong("--socket or --config, not both");
	if (!options->socket && !options->config)
		options->config = RCT_CONFIG;
	check_what(options);
}
