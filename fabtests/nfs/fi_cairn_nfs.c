/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of util/nfs against any NFSv4.1 server over RDMA: data in Read and Write
 * chunks, directories in Reply chunks, Long Calls, Calls in reverse, connections that are
 * lost. It writes to a folder of the server that is there for it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

static const struct {
	const char *name;
	nfs_case *run;
} cases[] = {
	{"write", nfs_case_write},
	{"read", nfs_case_read},
	{"list", nfs_case_list},
	{"list_chunk", nfs_case_list_chunk},
	{"long_call", nfs_case_long_call},
	{"long_item", nfs_case_long_item},
	{"calls", nfs_case_calls},
	{"recall", nfs_case_recall},
	{"reconnect", nfs_case_reconnect},
	{"recall_reconnected", nfs_case_recall_reconnected},
	{"recall_idle", nfs_case_recall_idle},
	{"blocked_recall", nfs_case_blocked_recall},
	{"blocked_lost", nfs_case_blocked_lost},
	{"again", nfs_case_again},
	{"bind_back", nfs_case_bind_back},
	{"bind_both", nfs_case_bind_both},
	{"bind_tcp", nfs_case_bind_tcp},
};

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_nfs [OPTION...] ADDRESS FOLDER\n"
	      "The client of NFSv4.1 against the server at ADDRESS, in its FOLDER.\n"
	      "  -p STACK  libfabric's provider (default: pverbs;rpcrdma)\n"
	      "  -P PORT   default: 20049\n"
	      "  -T PORT   of the server's TCP (default: 2049)\n"
	      "  -t CASE   that one alone; may be given more than once\n"
	      "  -z PATH=FOLDER  the server's FOLDER is a file system that is PATH "
	      "here:\n"
	      "            it is frozen to block a WRITE\n"
	      "  -i TIME   seconds without a Call before a recall (default: 2)\n"
	      "  -l TIME   the server's lease (default: 90)\n"
	      "  -n CALLS  of the case calls (default: 1000)\n"
	      "  -r TIMES  that the case reconnect loses its connection (default: 10)\n",
	      to);
}

#define CASES (sizeof(cases) / sizeof(cases[0]))

/* False: it failed. */
static bool run(size_t i, struct nfs_place *place, int *passed, int *skipped)
{
	enum nfs_verdict verdict;

	place->why[0] = '\0';
	verdict = cases[i].run(place);
	if (verdict == NFS_PASSED)
		printf("ok %s\n", cases[i].name);
	else if (verdict == NFS_SKIPPED)
		printf("skip %s: %s\n", cases[i].name, place->why);
	else
		printf("not ok %s: %s\n", cases[i].name, place->why);
	fflush(stdout);
	*passed += verdict == NFS_PASSED;
	*skipped += verdict == NFS_SKIPPED;
	return verdict != NFS_FAILED;
}

/* PATH=FOLDER */
static bool take_frozen(char *text, struct nfs_place *place)
{
	char *equals = strchr(text, '=');

	if (!equals)
		return false;
	*equals = '\0';
	place->frozen_at = text;
	place->frozen_folder = equals + 1;
	return true;
}

static bool take_option(int option, struct nfs_place *place)
{
	switch (option) {
	case 'p':
		place->where.provider = optarg;
		return true;
	case 'P':
		place->where.port = optarg;
		return true;
	case 'T':
		place->tcp_port = optarg;
		return true;
	case 'z':
		return take_frozen(optarg, place);
	case 'i':
		place->idle = (unsigned int)atoi(optarg);
		return true;
	case 'l':
		place->lease = (unsigned int)atoi(optarg);
		return place->lease > 0;
	case 'n':
		place->calls = (unsigned int)atoi(optarg);
		return true;
	case 'r':
		place->losses = (unsigned int)atoi(optarg);
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	static struct nfs_place place = {.where = {.provider = "pverbs;rpcrdma",
						   .port = "20049",
						   .timeout = 60,
						   .slots = 4},
					 .tcp_port = "2049",
					 .idle = 2,
					 .lease = 90,
					 .calls = 1000,
					 .losses = 10};
	int option, passed = 0, failed = 0, skipped = 0;
	bool wanted[CASES] = {false}, all = true;

	while ((option = getopt(argc, argv, "p:P:T:t:z:i:l:n:r:h")) != -1) {
		if (option == 't') {
			all = false;
			for (size_t i = 0; i < CASES; i++)
				wanted[i] |= !strcmp(optarg, cases[i].name);
		} else if (!take_option(option, &place)) {
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 2 != argc) {
		usage(stderr);
		return 2;
	}
	place.where.host = argv[optind];
	place.folder = argv[optind + 1];
	for (size_t i = 0; i < CASES; i++)
		if (all || wanted[i])
			failed += !run(i, &place, &passed, &skipped);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}
