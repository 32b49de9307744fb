/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fi_rpcping/ping.h"
#include "options.h"

#define PNG_PORT "17234"
#define NFS_PORT "20049" /* RFC 8267 section 6 */
#define NFS_PROGRAM 100003u

enum { VERSION = 1, REPLY_SIZE, CREDITS, LOWER, JSON };

static const struct option longs[] = {
	{"provider", required_argument, NULL, 'p'},
	{"lower", required_argument, NULL, LOWER},
	{"bind", required_argument, NULL, 'b'},
	{"port", required_argument, NULL, 'P'},
	{"size", required_argument, NULL, 's'},
	{"reply-size", required_argument, NULL, REPLY_SIZE},
	{"depth", required_argument, NULL, 'd'},
	{"credits", required_argument, NULL, CREDITS},
	{"both", no_argument, NULL, 'B'},
	{"count", required_argument, NULL, 'n'},
	{"duration", required_argument, NULL, 'D'},
	{"events", no_argument, NULL, 'e'},
	{"timeout", required_argument, NULL, 't'},
	{"one", no_argument, NULL, '1'},
	{"program", required_argument, NULL, 'g'},
	{"version", required_argument, NULL, VERSION},
	{"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void usage(FILE *to)
{
	fputs("Usage: fi_rpcping [OPTION...]         the server\n"
	      "       fi_rpcping [OPTION...] HOST    the client\n"
	      "Calls per second and latency of RPC-over-RDMA between two hosts.\n"
	      "  -p, --provider STACK   of libfabric (default: pverbs;rpcrdma)\n"
	      "      --lower NAME       the same as -p \"NAME;rpcrdma\"\n"
	      "  -b, --bind ADDRESS     server: listens there alone\n"
	      "  -P, --port PORT        (default: " PNG_PORT ", of NFS " NFS_PORT ")\n"
	      "  -s, --size BYTES       data of a Call; k or M may follow (default: 64)\n"
	      "      --reply-size BYTES data of a Reply (default: as the Call)\n"
	      "  -d, --depth N          Calls outstanding (default: 1)\n"
	      "      --credits N        Calls that the peer may have outstanding\n"
	      "                         (default: server 128, client as --depth)\n"
	      "  -B, --both             the server calls, too, at the same time\n"
	      "  -n, --count N          Calls (default: as many as --duration allows)\n"
	      "  -D, --duration S       seconds (default: 5)\n"
	      "  -g, --program PROGRAM  calls the NULL procedure of any RPC server, "
	      "number\n"
	      "                         or name of rpc(5)\n"
	      "      --version N        of that program (default: nfs 4, others 1)\n"
	      "  -e, --events           sleeps until something comes instead of polling\n"
	      "  -t, --timeout S        of each wait for the peer (default: 10)\n"
	      "  -1, --one              server: ends after one client\n"
	      "      --json             prints one JSON object\n",
	      to);
}

static void wrong(const char *why)
{
	fprintf(stderr, "fi_rpcping: %s\n", why);
	exit(2);
}

static unsigned long number(const char *what, const char *text, unsigned long least,
			    unsigned long most)
{
	unsigned long value, unit = 1;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (*end && strchr("kM", *end) && !end[1])
		unit = *end++ == 'k' ? 1024 : 1048576;
	if (!errno && end != text && !*end && *text != '-' && value <= most / unit &&
	    value * unit >= least)
		return value * unit;
	fprintf(stderr, "fi_rpcping: --%s is a number from %lu to %lu\n", what, least,
		most);
	exit(2);
}

static double duration(const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0 || value > 1e6)
		wrong("--duration is a number of seconds");
	return value;
}

static uint32_t program(const char *text)
{
	const struct rpcent *entry = getrpcbyname(text);

	if (entry)
		return (uint32_t)entry->r_number;
	return (uint32_t)number("program", text, 0, UINT32_MAX);
}

/* suffix: of a stack that is named by its lower provider. */
static void stack(struct png_options *options, const char *name, const char *suffix)
{
	if (snprintf(options->provider, sizeof(options->provider), "%s%s", name,
		     suffix) >= (int)sizeof(options->provider))
		wrong("the name of the provider is too long");
}

/* What of the line does not go together, and defaults that depend on it. */
static void settle(struct png_options *options, bool sized, bool versioned)
{
	if (options->foreign && (sized || options->both))
		wrong("--program calls the NULL procedure, which has no data and is not "
		      "called back");
	if (versioned && !options->foreign)
		wrong("--version is that of --program");
	if (!options->host && (options->foreign || options->both))
		wrong("--program and --both are the client's");
	if (!options->host && options->json)
		wrong("--json is the client's");
	if (options->host && (options->bind || options->one))
		wrong("--bind and --one are the server's");
	if (!options->foreign) {
		options->program = PNG_PROGRAM;
		options->version = PNG_VERSION;
	} else if (!versioned) {
		options->version = options->program == NFS_PROGRAM ? 4 : 1;
	}
	if (!options->port)
		options->port = options->program == NFS_PROGRAM ? NFS_PORT : PNG_PORT;
	if (options->reply_size == UINT32_MAX)
		options->reply_size = options->size;
	if (options->seconds == 0)
		options->seconds = options->count == UINT64_MAX ? 5 : INFINITY;
	if (!options->credits)
		options->credits = options->host ? options->depth : 128;
}

void png_options(int argc, char **argv, struct png_options *options)
{
	bool sized = false, versioned = false;
	int option;

	*options = (struct png_options){
		.provider = "pverbs;rpcrdma",
		.size = 64,
		.reply_size = UINT32_MAX,
		.depth = 1,
		.count = UINT64_MAX,
		.timeout = 10,
	};
	while ((option = getopt_long(argc, argv, "p:b:P:s:d:Bn:D:et:1g:h", longs,
				     NULL)) != -1) {
		switch (option) {
		case 'p':
			stack(options, optarg, "");
			break;
		case LOWER:
			stack(options, optarg, ";rpcrdma");
			break;
		case 'b':
			options->bind = optarg;
			break;
		case 'P':
			number("port", optarg, 0, 65535);
			options->port = optarg;
			break;
		case 's':
			options->size =
				(uint32_t)number("size", optarg, 0, PNG_MOST_SIZE);
			sized = true;
			break;
		case REPLY_SIZE:
			options->reply_size =
				(uint32_t)number("reply-size", optarg, 0, PNG_MOST_SIZE);
			sized = true;
			break;
		case 'd':
			options->depth =
				(unsigned int)number("depth", optarg, 1, PNG_MOST_CALLS);
			break;
		case CREDITS:
			options->credits = (unsigned int)number("credits", optarg, 1,
								PNG_MOST_CALLS);
			break;
		case 'B':
			options->both = true;
			break;
		case 'n':
			options->count = number("count", optarg, 1, LONG_MAX);
			break;
		case 'D':
			options->seconds = duration(optarg);
			break;
		case 'g':
			options->program = program(optarg);
			options->foreign = true;
			break;
		case VERSION:
			options->version =
				(uint32_t)number("version", optarg, 0, UINT32_MAX);
			versioned = true;
			break;
		case 'e':
			options->events = true;
			break;
		case 't':
			options->timeout = (int)number("timeout", optarg, 1, 3600);
			break;
		case '1':
			options->one = true;
			break;
		case JSON:
			options->json = true;
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (argc - optind > 1) {
		usage(stderr);
		exit(2);
	}
	options->host = argv[optind];
	settle(options, sized, versioned);
}
