/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "wrong.h"

/* Options that have no letter on the command line have one here. */
enum { SCALE = 'S', FROM = 'F', TO = 'T', JSON = 'j' };

static const char usage[] =
	"Usage: fi_routectl check [--print] CONFIG...\n"
	"       fi_routectl simulate [OPTION...] CONFIG...\n"
	"       fi_routectl graph [OPTION...] CONFIG...\n"
	"       fi_routectl show|ping|trace|drain|fault --help\n"
	"Routes of the networks that the configurations of their hosts describe.\n"
	"check     finds what is wrong with them, one by one and together\n"
	"simulate  prints route tables, scores, alternatives and bottlenecks\n"
	"graph     draws subnets, routers and AS, and a route: DOT, or SVG\n"
	"  -f, --fail WHAT         a router (R4), its device on a subnet (R4/1), or a "
	"subnet\n"
	"                          (3:1; a WAN: 0:40) does not work; repeatable\n"
	"  -p, --policy METRICS    instead of the configurations': a list of bandwidth,\n"
	"                          hops, latency, native, widest\n"
	"      --metric-scale S    exact, or doc: the document's whole units\n"
	"      --from AS:SUBNET    routes from there alone\n"
	"      --to AS:SUBNET      routes to there alone\n"
	"  -a, --alternatives N    routes of each pair, 1 to 4 (default: 4)\n"
	"      --json              simulate: one JSON object\n"
	"  -o, --output FILE       graph: FILE.svg (needs graphviz) or FILE.dot\n"
	"                          (default: DOT to the standard output)\n";

static const struct option longs[] = {
	{"fail", required_argument, NULL, 'f'},
	{"policy", required_argument, NULL, 'p'},
	{"metric-scale", required_argument, NULL, SCALE},
	{"from", required_argument, NULL, FROM},
	{"to", required_argument, NULL, TO},
	{"alternatives", required_argument, NULL, 'a'},
	{"json", no_argument, NULL, JSON},
	{"print", no_argument, NULL, 'P'},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* What each command takes. */
static const struct {
	const char *name;
	const char *options;
} commands[] = {
	[RCT_CHECK] = {"check", "P"},
	[RCT_SIMULATE] = {"simulate", "fpaSFTj"},
	[RCT_GRAPH] = {"graph", "fpoSFT"},
};

static uint32_t number(const char *option, const char *text, char **end)
{
	unsigned long value;

	errno = 0;
	value = strtoul(text, end, 0);
	if (errno || *text < '0' || *text > '9' || value > UINT32_MAX)
		rct_wrong("%s %s: a number is expected", option, text);
	return (uint32_t)value;
}

static struct rte_subnet subnet(const char *option, const char *text)
{
	struct rte_subnet subnet;
	char *end;

	subnet.as = number(option, text, &end);
	if (*end != ':')
		rct_wrong("%s %s: AS:SUBNET is expected, as in 3:1", option, text);
	subnet.subnet = number(option, end + 1, &end);
	if (*end)
		rct_wrong("%s %s: AS:SUBNET is expected, as in 3:1", option, text);
	return subnet;
}

static void policy(struct rct_options *options, const char *text)
{
	const char *why;

	if (rte_policy_parse(text, &options->policy, &why))
		rct_wrong("--policy %s: %s", text, why);
	options->has_policy = true;
}

static void alternatives(struct rct_options *options, const char *text)
{
	char *end;

	options->alternatives = number("--alternatives", text, &end);
	if (*end || !options->alternatives || options->alternatives > RTE_ALTERNATIVES)
		rct_wrong("--alternatives is a number from 1 to %u", RTE_ALTERNATIVES);
}

/* "exact" or "doc", set with or without a policy. */
static const char *scale;

static void take(struct rct_options *options, int option)
{
	switch (option) {
	case 'f':
		if (options->fails == RCT_FAILS_MAX)
			rct_wrong("--fail stands there more than %d times",
				  RCT_FAILS_MAX);
		options->fail[options->fails++] = optarg;
		break;
	case 'p':
		policy(options, optarg);
		break;
	case SCALE:
		if (strcmp(optarg, "exact") && strcmp(optarg, "doc"))
			rct_wrong("--metric-scale is exact or doc");
		scale = optarg;
		break;
	case FROM:
		options->from = subnet("--from", optarg);
		options->has_from = true;
		break;
	case TO:
		options->to = subnet("--to", optarg);
		options->has_to = true;
		break;
	case 'a':
		alternatives(options, optarg);
		break;
	case JSON:
		options->json = true;
		break;
	case 'P':
		options->print = true;
		break;
	case 'o':
		options->out = optarg;
		break;
	}
}

static enum rct_command command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return (enum rct_command)i;
	rct_wrong("there is no command \"%s\"; --help names them", name);
}

void rct_options(int argc, char **argv, struct rct_options *options)
{
	int option;

	*options = (struct rct_options){.alternatives = RTE_ALTERNATIVES};
	if (argc > 1 && argv[1][0] != '-') {
		options->command = command(argv[1]);
		argv++;
		argc--;
	} else if (argc < 2 || (strcmp(argv[1], "-h") && strcmp(argv[1], "--help"))) {
		fputs(usage, stderr);
		exit(2);
	}
	while ((option = getopt_long(argc, argv, "f:p:a:Po:h", longs, NULL)) != -1) {
		if (option == 'h' || option == '?') {
			fputs(usage, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
		if (!strchr(commands[options->command].options, option))
			rct_wrong("%s takes no such option: %s",
				  commands[options->command].name, argv[optind - 1]);
		take(options, option);
	}
	if (scale) {
		if (!options->has_policy)
			policy(options, "bandwidth");
		options->policy.doc_scale = !strcmp(scale, "doc");
	}
	options->file = (const char *const *)argv + optind;
	options->files = argc - optind;
	if (!options->files)
		rct_wrong("which configurations? --help tells more");
}
