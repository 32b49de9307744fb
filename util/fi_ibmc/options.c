/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "sa/sa_mad.h"
#include "words/words.h"

#define TIMEOUT_MS 1000
#define TRIES 3
/* What saquery has, which is opensm's default. */
#define SM_KEY 1

/* Options that have no letter on the command line have one here. */
enum {
	PROFILE = 'f',
	SCOPE = 's',
	SMKEY = 'K',
	MTU = 'M',
	QKEY = 'Q',
	TCLASS = 'T',
	FLOW_LABEL = 'F',
	HOP_LIMIT = 'H',
	SL = 'L',
	RATE = 'R',
	STATE = 'S',
	STAY = 'y',
	STRICT = 'x',
	JSON = 'j',
	DOT = 'd',
	SVG = 'v',
};
static const char letters[] = "C:P:t:r:k:46mw:n:o:h";

static const char usage[] =
	"Usage: fi_ibmc map [OPTION...] ADDRESS|MGID...\n"
	"       fi_ibmc link [OPTION...]\n"
	"       fi_ibmc show [OPTION...] GROUP...\n"
	"       fi_ibmc list [OPTION...]\n"
	"       fi_ibmc create-link|create-routers [OPTION...]\n"
	"       fi_ibmc join|leave [OPTION...] GROUP...\n"
	"       fi_ibmc watch [OPTION...] [GROUP...]\n"
	"       fi_ibmc check [OPTION...]\n"
	"IPoIB links and their multicast groups at the subnet administrator.\n"
	"map             an IP address as MGID, and back; needs no device\n"
	"link            the link of a P_Key: its scope and attributes\n"
	"show            a group and its members\n"
	"list            all links, groups and members: text, JSON or a picture\n"
	"create-link     makes the broadcast and the all-node group of a link\n"
	"create-routers  makes its all-router groups\n"
	"join            is a member until it is ended\n"
	"leave           ends a membership of the port\n"
	"watch           prints which groups come and go\n"
	"check           names each sentence of the draft that is violated\n"
	"  -C, --ca CA          adapter (default: any)\n"
	"  -P, --port PORT      its port (default: any)\n"
	"  -t, --timeout MS     for an answer, before it is asked again (1000)\n"
	"  -r, --tries N        how often it is asked (3)\n"
	"      --smkey KEY      with which members and P_Keys are asked for (1; 0: "
	"none)\n"
	"  -k, --pkey P_KEY     partition of the link (0xffff)\n"
	"      --profile WHAT   rfc: the MGID has the full member's P_Key, as Linux;\n"
	"                       draft: as --pkey has it (rfc)\n"
	"      --scope SCOPE    1 to 14, or link-local, site-local, ... (link-local;\n"
	"                       show, leave, watch: that of the link, which is looked "
	"for)\n"
	"  -4, -6               of IPv4, of IPv6 alone\n"
	"  -m, --mgid           each GROUP is an MGID as it is, of any kind\n"
	"      --mtu BYTES --qkey Q_KEY --tclass N --flow-label N --hop-limit N --sl N\n"
	"      --rate CODE      create-link: attributes; check: what they should be\n"
	"      --state STATE    join, leave: full, non, send-only or send-only-non "
	"(full)\n"
	"      --stay           join: ends at once, and the port remains a member\n"
	"  -w, --time S         join, watch: ends after so many seconds\n"
	"  -n, --count N        watch: ends after so many notices\n"
	"      --strict         check: recommendations count, too\n"
	"      --json           one JSON object; join, watch: one a line\n"
	"      --dot, --svg     list: a picture\n"
	"  -o, --output FILE    list: to a file\n";

static const struct option longs[] = {
	{"ca", required_argument, NULL, 'C'},
	{"port", required_argument, NULL, 'P'},
	{"timeout", required_argument, NULL, 't'},
	{"tries", required_argument, NULL, 'r'},
	{"smkey", required_argument, NULL, SMKEY},
	{"pkey", required_argument, NULL, 'k'},
	{"profile", required_argument, NULL, PROFILE},
	{"scope", required_argument, NULL, SCOPE},
	{"mgid", no_argument, NULL, 'm'},
	{"mtu", required_argument, NULL, MTU},
	{"qkey", required_argument, NULL, QKEY},
	{"tclass", required_argument, NULL, TCLASS},
	{"flow-label", required_argument, NULL, FLOW_LABEL},
	{"hop-limit", required_argument, NULL, HOP_LIMIT},
	{"sl", required_argument, NULL, SL},
	{"rate", required_argument, NULL, RATE},
	{"state", required_argument, NULL, STATE},
	{"stay", no_argument, NULL, STAY},
	{"time", required_argument, NULL, 'w'},
	{"count", required_argument, NULL, 'n'},
	{"strict", no_argument, NULL, STRICT},
	{"json", no_argument, NULL, JSON},
	{"dot", no_argument, NULL, DOT},
	{"svg", no_argument, NULL, SVG},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* What each command takes; --json all of them. */
#define OF_DEVICE "CPtr"
#define OF_ATTRS "MQTFHLR"
static const struct {
	const char *name;
	const char *options;
	int words_least, words_most;
} commands[] = {
	[IMC_MAP] = {"map", "kfsm", 1, INT32_MAX},
	[IMC_LINK] = {"link", OF_DEVICE "kf46", 0, 0},
	[IMC_SHOW] = {"show", OF_DEVICE "kfsmK", 1, INT32_MAX},
	[IMC_LIST] = {"list", OF_DEVICE "Kdvo", 0, 0},
	[IMC_CREATE_LINK] = {"create-link", OF_DEVICE OF_ATTRS "kfs46", 0, 0},
	[IMC_CREATE_ROUTERS] = {"create-routers", OF_DEVICE "kf46", 0, 0},
	[IMC_JOIN] = {"join", OF_DEVICE "kfmSyw", 1, INT32_MAX},
	[IMC_LEAVE] = {"leave", OF_DEVICE "kfsmS", 1, INT32_MAX},
	[IMC_WATCH] = {"watch", OF_DEVICE "kfsmKwn", 0, INT32_MAX},
	[IMC_CHECK] = {"check", OF_DEVICE OF_ATTRS "Kx", 0, 0},
};

__attribute__((format(printf, 1, 2), noreturn)) static void wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("fi_ibmc: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

static uint64_t number(const char *option, uint64_t least, uint64_t most)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(optarg, &end, 0);
	if (errno || *optarg < '0' || *optarg > '9' || *end || value < least ||
	    value > most)
		wrong("%s %s: a number from %#llx to %#llx is expected", option, optarg,
		      (unsigned long long)least, (unsigned long long)most);
	return value;
}

static double seconds(void)
{
	char *end;
	const double value = strtod(optarg, &end);

	if (end == optarg || *end || !isfinite(value) || value < 0 || value > 1e9)
		wrong("--time %s: a number of seconds is expected", optarg);
	return value;
}

static enum pvb_mc_profile profile(void)
{
	if (!strcmp(optarg, "rfc"))
		return PVB_MC_RFC;
	if (strcmp(optarg, "draft") != 0)
		wrong("--profile %s: it is rfc or draft", optarg);
	return PVB_MC_DRAFT;
}

static uint8_t known(const char *option, uint8_t code, const char *expected)
{
	if (!code)
		wrong("%s %s: %s is expected", option, optarg, expected);
	return code;
}

static void take_attr(struct imc_attrs *attrs, int option)
{
	switch (option) {
	case MTU:
		attrs->set |= IMC_MTU;
		attrs->mtu =
			known("--mtu", imc_mtu_code((uint32_t)number("--mtu", 256, 4096)),
			      "256, 512, 1024, 2048 or 4096");
		break;
	case QKEY:
		attrs->set |= IMC_QKEY;
		attrs->qkey = (uint32_t)number("--qkey", 0, UINT32_MAX);
		break;
	case TCLASS:
		attrs->set |= IMC_TCLASS;
		attrs->tclass = (uint8_t)number("--tclass", 0, 255);
		break;
	case FLOW_LABEL:
		attrs->set |= IMC_FLOW_LABEL;
		attrs->flow_label = (uint32_t)number("--flow-label", 0, 0xfffff);
		break;
	case HOP_LIMIT:
		attrs->set |= IMC_HOP_LIMIT;
		attrs->hop_limit = (uint8_t)number("--hop-limit", 0, 255);
		break;
	case SL:
		attrs->set |= IMC_SL;
		attrs->sl = (uint8_t)number("--sl", 0, 15);
		break;
	case RATE:
		attrs->set |= IMC_RATE;
		attrs->rate = (uint8_t)number("--rate", 2, 63);
		break;
	}
}

static void take_link(struct imc_options *options, int option)
{
	switch (option) {
	case 'k':
		options->pkey = (uint16_t)number("--pkey", 1, 0xffff);
		if (options->pkey == 0x8000)
			wrong("--pkey 0x8000: no partition has it");
		break;
	case PROFILE:
		options->profile = profile();
		break;
	case SCOPE:
		options->scope = known("--scope", imc_scope_parse(optarg),
				       "1 to 14, or a name such as link-local");
		break;
	case '4':
		options->v4 = true;
		break;
	case '6':
		options->v6 = true;
		break;
	case 'm':
		options->mgid = true;
		break;
	}
}

static void take_device(struct imc_options *options, int option)
{
	switch (option) {
	case 'C':
		options->ca = optarg;
		break;
	case 'P':
		options->port = (int)number("--port", 1, 255);
		break;
	case 't':
		options->timeout_ms = (uint32_t)number("--timeout", 1, 3600000);
		break;
	case 'r':
		options->tries = (uint32_t)number("--tries", 1, 1000);
		break;
	case SMKEY:
		options->sm_key = number("--smkey", 0, UINT64_MAX);
		break;
	}
}

static void take_other(struct imc_options *options, int option)
{
	switch (option) {
	case STATE:
		options->state = known("--state", imc_state_parse(optarg),
				       "full, non, send-only or send-only-non");
		break;
	case STAY:
		options->stay = true;
		break;
	case 'w':
		options->seconds = seconds();
		break;
	case 'n':
		options->count = number("--count", 1, UINT64_MAX);
		break;
	case STRICT:
		options->strict = true;
		break;
	case JSON:
		options->json = true;
		break;
	case DOT:
		options->dot = true;
		break;
	case SVG:
		options->svg = true;
		break;
	case 'o':
		options->out = optarg;
		break;
	}
}

/* As it is typed, without its value. */
static const char *option_text(int option, char text[3])
{
	size_t i;

	snprintf(text, 3, "-%c", option);
	for (i = 0; longs[i].name && !strchr(letters, option); i++)
		if (longs[i].val == option)
			return longs[i].name;
	return text;
}

static int help(void)
{
	fputs(usage, stdout);
	if (!fflush(stdout))
		return IMC_DONE;
	perror("fi_ibmc: standard output");
	return IMC_FAILED;
}

static enum imc_command command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return (enum imc_command)i;
	wrong("there is no command \"%s\"; --help names them", name);
}

/* What of the line does not go together. */
static void settle(const struct imc_options *options)
{
	const char *const name = commands[options->command].name;

	if (options->words < commands[options->command].words_least)
		wrong("%s: which %s? --help tells more", name,
		      options->command == IMC_MAP ? "address" : "group");
	if (options->words > commands[options->command].words_most)
		wrong("%s takes no argument: %s", name, options->word[0]);
	if (options->json + options->dot + options->svg > 1)
		wrong("--json, --dot and --svg exclude each other");
	if (options->stay && isfinite(options->seconds))
		wrong("--stay ends at once: there is no --time");
}

void imc_options(int argc, char **argv, struct imc_options *options)
{
	char text[3];
	int option;

	*options = (struct imc_options){.timeout_ms = TIMEOUT_MS,
					.tries = TRIES,
					.sm_key = SM_KEY,
					.profile = PVB_MC_RFC,
					.pkey = 0xffff,
					.state = PVB_MCM_FULL,
					.seconds = INFINITY,
					.count = UINT64_MAX};
	if (argc > 1 && argv[1][0] != '-') {
		options->command = command(argv[1]);
		argv++;
		argc--;
	} else if (argc < 2 || (strcmp(argv[1], "-h") && strcmp(argv[1], "--help"))) {
		fputs(usage, stderr);
		exit(2);
	}
	while ((option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (option == 'h')
			exit(help());
		if (option == '?') {
			fputs(usage, stderr);
			exit(IMC_USAGE);
		}
		if (option != JSON && !strchr(commands[options->command].options, option))
			wrong("%s takes no such option: %s%s",
			      commands[options->command].name,
			      strchr(letters, option) ? "" : "--",
			      option_text(option, text));
		take_device(options, option);
		take_link(options, option);
		take_attr(&options->attrs, option);
		take_other(options, option);
	}
	options->word = (const char *const *)argv + optind;
	options->words = argc - optind;
	settle(options);
}
