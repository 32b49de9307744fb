/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "link.h"
#include "config.h"
#include "options.h"

static const char rlg_usage[] =
	"Usage: fi_remotelog --log FILE [OPTION...] [ADDRESS]   server, has the log\n"
	"       fi_remotelog [OPTION...] ADDRESS                client, appends\n"
	"       fi_remotelog --recover FILE [--list] [--acknowledged N]\n"
	"       fi_remotelog --report [--json FILE] [--plot FILE] RUNS...\n"
	"Both sides:\n"
	"  --provider NAME     libfabric provider (pverbs)\n"
	"  --port N            of the server (7471); 0: a free one, which it prints\n"
	"  --timeout S         without any completion (10)\n"
	"Server:\n"
	"  --size BYTES        of a FILE to be made, or of a devdax; k, M, G\n"
	"  --clients N         to serve, one after the other (1); 0: without end\n"
	"Client:\n"
	"  --kind KIND         singleton or compound: a record, or record and tail\n"
	"  --op OP             write, writedata or send\n"
	"  --method METHOD     auto, message: the provider makes appends durable;\n"
	"                      none, read, pipeline, rpc: by hand;\n"
	"                      librpma: over librpma, if it is installed\n"
	"  --appends N         to measure (10000)\n"
	"  --warmup N          appends before (100)\n"
	"  --bytes N           payload of a record (100)\n"
	"  --depth N           appends in flight (1)\n"
	"  --new               the server makes a new log\n"
	"  --tell              says on stdout, while it runs, what is acknowledged\n"
	"  --json FILE         adds a line of figures to FILE; -: standard output\n"
	"  --plot FILE         gnuplot script: distribution of latencies\n"
	"  --label NAME=VALUE  for the JSON line\n"
	"--help, --version\n";

/* Those whose value goes somewhere; what is not there has a case of its own. */
enum {
	OPT_LOG = 256,
	OPT_RECOVER,
	OPT_REPORT,
	OPT_PROVIDER,
	OPT_PORT,
	OPT_TIMEOUT,
	OPT_SIZE,
	OPT_CLIENTS,
	OPT_KIND,
	OPT_OP,
	OPT_METHOD,
	OPT_APPENDS,
	OPT_WARMUP,
	OPT_BYTES,
	OPT_DEPTH,
	OPT_NEW,
	OPT_TELL,
	OPT_JSON,
	OPT_PLOT,
	OPT_LABEL,
	OPT_LIST,
	OPT_ACKNOWLEDGED,
	OPT_HELP,
	OPT_VERSION,
};

#define IN(mode) (1u << (mode))
#define BOTH (IN(RLG_CLIENT) | IN(RLG_SERVER))

static const struct option rlg_long[] = {
	{"log", required_argument, NULL, OPT_LOG},
	{"recover", required_argument, NULL, OPT_RECOVER},
	{"report", no_argument, NULL, OPT_REPORT},
	{"provider", required_argument, NULL, OPT_PROVIDER},
	{"port", required_argument, NULL, OPT_PORT},
	{"timeout", required_argument, NULL, OPT_TIMEOUT},
	{"size", required_argument, NULL, OPT_SIZE},
	{"clients", required_argument, NULL, OPT_CLIENTS},
	{"kind", required_argument, NULL, OPT_KIND},
	{"op", required_argument, NULL, OPT_OP},
	{"method", required_argument, NULL, OPT_METHOD},
	{"appends", required_argument, NULL, OPT_APPENDS},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"bytes", required_argument, NULL, OPT_BYTES},
	{"depth", required_argument, NULL, OPT_DEPTH},
	{"new", no_argument, NULL, OPT_NEW},
	{"tell", no_argument, NULL, OPT_TELL},
	{"json", required_argument, NULL, OPT_JSON},
	{"plot", required_argument, NULL, OPT_PLOT},
	{"label", required_argument, NULL, OPT_LABEL},
	{"list", no_argument, NULL, OPT_LIST},
	{"acknowledged", required_argument, NULL, OPT_ACKNOWLEDGED},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

/* In which modes an option means something, in the order of OPT_*. */
static const unsigned int rlg_modes[] = {
	IN(RLG_SERVER),
	IN(RLG_RECOVER),
	IN(RLG_REPORT),
	BOTH,
	BOTH,
	BOTH,
	IN(RLG_SERVER),
	IN(RLG_SERVER),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT),
	IN(RLG_CLIENT) | IN(RLG_REPORT),
	IN(RLG_CLIENT) | IN(RLG_REPORT),
	IN(RLG_CLIENT),
	IN(RLG_RECOVER),
	IN(RLG_RECOVER),
};

static const char *rlg_name(int option)
{
	return rlg_long[option - OPT_LOG].name;
}

static uint64_t rlg_unit(const char *end)
{
	static const char units[] = "kMG";
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (!*end)
		return 1;
	return unit && !end[1] ? 1ull << (10 * (unit - units + 1)) : 0;
}

static int rlg_number(int option, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long number;
	uint64_t unit;
	char *end;

	errno = 0;
	number = strtoull(optarg, &end, 10);
	unit = rlg_unit(end);
	if (errno || end == optarg || *optarg == '-' || !unit || number > max / unit ||
	    number * unit < min) {
		rlg_say("--%s: %s is no number from %llu to %llu", rlg_name(option),
			optarg, (unsigned long long)min, (unsigned long long)max);
		return 2;
	}
	*value = number * unit;
	return 0;
}

static int rlg_small(int option, uint64_t min, uint64_t max, uint32_t *value)
{
	uint64_t number;
	const int ret = rlg_number(option, min, max, &number);

	if (!ret)
		*value = (uint32_t)number;
	return ret;
}

/* Position of optarg among count names. */
static int rlg_word(int option, const char *(*name)(int), int count, int *value)
{
	char known[128] = "";
	size_t len = 0;
	int i;

	for (i = 0; i < count; i++) {
		if (strcmp(name(i), optarg) == 0) {
			*value = i;
			return 0;
		}
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
					i ? ", " : "", name(i));
	}
	rlg_say("--%s: there is no %s, but %s", rlg_name(option), optarg, known);
	return 2;
}

static const char *rlg_kind_word(int i)
{
	return rlg_kind_name((enum rlg_kind)(i + RLG_SINGLETON));
}

static const char *rlg_op_word(int i)
{
	return rlg_op_name((enum rlg_op)i);
}

static const char *rlg_method_word(int i)
{
	return rlg_method_name((enum rlg_method)i);
}

static int rlg_label(struct rlg_options *options)
{
	const char *equals = strchr(optarg, '=');

	if (!equals || equals == optarg || options->labels == RLG_LABELS) {
		rlg_say("--label: %s is not NAME=VALUE, or the %dth label", optarg,
			RLG_LABELS + 1);
		return 2;
	}
	options->label[options->labels++] = optarg;
	return 0;
}

static int rlg_set_text(struct rlg_options *options, int option)
{
	switch (option) {
	case OPT_LOG:
	case OPT_RECOVER:
		options->log = optarg;
		return 0;
	case OPT_PROVIDER:
		options->provider = optarg;
		return 0;
	case OPT_JSON:
		options->json = optarg;
		return 0;
	case OPT_PLOT:
		options->plot = optarg;
		return 0;
	default:
		return rlg_label(options);
	}
}

static int rlg_set_word(struct rlg_options *options, int option)
{
	int word = 0, ret;

	switch (option) {
	case OPT_KIND:
		ret = rlg_word(option, rlg_kind_word, 2, &word);
		options->kind = (enum rlg_kind)(word + RLG_SINGLETON);
		return ret;
	case OPT_OP:
		ret = rlg_word(option, rlg_op_word, RLG_OPS, &word);
		options->op = (enum rlg_op)word;
		return ret;
	default:
		ret = rlg_word(option, rlg_method_word, RLG_METHODS, &word);
		options->method = (enum rlg_method)word;
		return ret;
	}
}

static int rlg_set(struct rlg_options *options, int option)
{
	uint32_t small = 0;
	int ret;

	switch (option) {
	case OPT_PORT:
		return rlg_small(option, 0, 65535, &options->port);
	case OPT_TIMEOUT:
		ret = rlg_small(option, 1, 86400, &small);
		options->timeout = (int)small;
		return ret;
	case OPT_SIZE:
		return rlg_number(option, RLG_SLOTS + 64, 1ull << 46, &options->size);
	case OPT_CLIENTS:
		return rlg_small(option, 0, UINT32_MAX, &options->clients);
	case OPT_APPENDS:
		return rlg_number(option, 1, 1000000000, &options->appends);
	case OPT_WARMUP:
		return rlg_number(option, 0, 1000000000, &options->warmup);
	case OPT_BYTES:
		return rlg_small(option, 1, RLG_PAYLOAD_MAX, &options->payload);
	case OPT_DEPTH:
		return rlg_small(option, 1, RLG_DEPTH_MAX, &options->depth);
	case OPT_ACKNOWLEDGED:
		return rlg_number(option, 0, 1ull << 62, &options->acknowledged);
	case OPT_NEW:
		options->anew = true;
		return 0;
	case OPT_TELL:
		options->tell = true;
		return 0;
	case OPT_LIST:
		options->list = true;
		return 0;
	case OPT_REPORT:
		return 0;
	case OPT_KIND:
	case OPT_OP:
	case OPT_METHOD:
		return rlg_set_word(options, option);
	default:
		return rlg_set_text(options, option);
	}
}

/* An option of another mode is a mistake, not to be ignored. */
static int rlg_check_modes(const struct rlg_options *options, const bool *given)
{
	static const char *const modes[] = {"the client", "the server", "--recover",
					    "--report"};
	int i;

	for (i = 0; i < OPT_HELP - OPT_LOG; i++) {
		if (given[i] && !(rlg_modes[i] & IN(options->mode))) {
			rlg_say("--%s is no option of %s", rlg_name(OPT_LOG + i),
				modes[options->mode]);
			return 2;
		}
	}
	return 0;
}

static int rlg_operands(struct rlg_options *options, int argc, char **argv)
{
	const int count = argc - optind;

	switch (options->mode) {
	case RLG_REPORT:
		options->files = argv + optind;
		options->file_count = count;
		if (!count)
			rlg_say("--report needs the files that --json wrote");
		return count ? 0 : 2;
	case RLG_RECOVER:
		if (count)
			rlg_say("--recover takes one file");
		return count ? 2 : 0;
	default:
		break;
	}
	if (count > 1 || (options->mode == RLG_CLIENT && count != 1)) {
		rlg_say(count ? "more than one address"
			      : "no address of a server, and no --log to be one");
		return 2;
	}
	if (options->mode == RLG_CLIENT && !options->port) {
		rlg_say("--port 0 is for the server, which prints the one it has");
		return 2;
	}
	options->address = argv[optind];
	snprintf(options->port_text, sizeof(options->port_text), "%u", options->port);
	return 0;
}

static void rlg_choose_mode(struct rlg_options *options, const bool *given)
{
	options->mode = given[OPT_RECOVER - OPT_LOG]  ? RLG_RECOVER
			: given[OPT_REPORT - OPT_LOG] ? RLG_REPORT
			: given[OPT_LOG - OPT_LOG]    ? RLG_SERVER
						      : RLG_CLIENT;
}

int rlg_options_parse(struct rlg_options *options, int argc, char **argv)
{
	bool given[OPT_VERSION - OPT_LOG + 1] = {false};
	int option, ret;

	*options = (struct rlg_options){
		.provider = "pverbs",
		.port = 7471,
		.timeout = 10,
		.clients = 1,
		.kind = RLG_SINGLETON,
		.appends = 10000,
		.warmup = 100,
		.payload = 100,
		.depth = 1,
	};
	while ((option = getopt_long(argc, argv, "h", rlg_long, NULL)) != -1) {
		if (option == '?') {
			fputs("fi_remotelog --help tells\n", stderr);
			return 2;
		}
		if (option == 'h' || option == OPT_HELP) {
			fputs(rlg_usage, stdout);
			return 1;
		}
		if (option == OPT_VERSION) {
			puts("fi_remotelog (Cairn) " PACKAGE_VERSION);
			return 1;
		}
		given[option - OPT_LOG] = true;
		if (rlg_set(options, option))
			return 2;
	}
	rlg_choose_mode(options, given);
	ret = rlg_check_modes(options, given);
	return ret ? ret : rlg_operands(options, argc, argv);
}
