/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "session.h"

#define NFG_PORT "20049" /* RFC 8267 section 6 */

static const struct option longs[] = {
	{"provider", required_argument, NULL, 'p'},
	{"block", required_argument, NULL, 'b'},
	{"reads", required_argument, NULL, 'n'},
	{"timeout", required_argument, NULL, 't'},
	{"continue", no_argument, NULL, 'c'},
	{"quiet", no_argument, NULL, 'q'},
	{"progress", no_argument, NULL, 'P'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void usage(FILE *to)
{
	fputs("Usage: fi_nfsget [OPTION...] nfs://HOST[:PORT]/PATH [FILE]\n"
	      "Fetches a file from an NFSv4.1 server over RDMA. FILE: the name it gets\n"
	      "here (default: its own). PORT: default " NFG_PORT ".\n"
	      "  -p, --provider STACK   of libfabric (default: pverbs;rpcrdma)\n"
	      "  -b, --block BYTES      of one READ; k or M may follow (default: 1M)\n"
	      "  -n, --reads N          READs outstanding, at most 32 (default: 8)\n"
	      "  -t, --timeout S        of each wait for the server (default: 30)\n"
	      "  -c, --continue         go on with FILE.part of an earlier run\n"
	      "  -q, --quiet            errors alone\n"
	      "      --progress         the bar also where stderr is no terminal\n",
	      to);
}

static long number(const char *what, const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 10);
	bool over = false;

	if (*end && strchr("kM", *end) && !end[1])
		over = __builtin_mul_overflow(value, *end++ == 'k' ? 1024 : 1048576,
					      &value);
	if (end != text && !*end && !over && value >= least && value <= most)
		return value;
	fprintf(stderr, "fi_nfsget: --%s is a number from %ld to %ld\n", what, least,
		most);
	exit(2);
}

static void names(int count, char **values, struct nfg_options *options)
{
	const char *file;

	if (count < 1 || count > 2) {
		usage(stderr);
		exit(2);
	}
	if (!nfg_url(values[0], options)) {
		fprintf(stderr, "fi_nfsget: %s is not nfs://HOST[:PORT]/PATH\n",
			values[0]);
		exit(2);
	}
	file = count == 2 ? values[1] : strrchr(options->path, '/') + 1;
	if (!*file || strlen(file) + sizeof(".part.from") > sizeof(options->file)) {
		fprintf(stderr, "fi_nfsget: no name of a file: \"%s\"\n", file);
		exit(2);
	}
	strcpy(options->file, file);
}

void nfg_options(int argc, char **argv, struct nfg_options *options)
{
	int option;

	*options = (struct nfg_options){
		.provider = "pverbs;rpcrdma",
		.port = NFG_PORT,
		.block = 1u << 20,
		.reads = 8,
		.timeout = 30,
	};
	while ((option = getopt_long(argc, argv, "p:b:n:t:cqh", longs, NULL)) != -1) {
		switch (option) {
		case 'p':
			options->provider = optarg;
			break;
		case 'b':
			options->block = (uint32_t)number("block", optarg, 512, 1 << 20);
			break;
		case 'n':
			options->reads =
				(unsigned int)number("reads", optarg, 1, NFC_SLOTS);
			break;
		case 't':
			options->timeout = (int)number("timeout", optarg, 1, 3600);
			break;
		case 'c':
			options->goes_on = true;
			break;
		case 'q':
			options->quiet = true;
			break;
		case 'P':
			options->progress = true;
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	names(argc - optind, argv + optind, options);
}
