/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of util/nfs against any NFSv4.1 server over RDMA: data in Read and Write
 * chunks, directories in Reply chunks, Calls in reverse, connections that are lost. It
 * writes to a folder of the server that is there for it.
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
	{"recall", nfs_case_recall},
	{"reconnect", nfs_case_reconnect},
	{"recall_reconnected", nfs_case_recall_reconnected},
};

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_nfs [OPTION...] ADDRESS FOLDER\n"
	      "The client of NFSv4.1 against the server at ADDRESS, in its FOLDER.\n"
	      "  -p STACK  libfabric's provider (default: pverbs;rpcrdma)\n"
	      "  -P PORT   default: 20049\n"
	      "  -t CASE   that one alone\n",
	      to);
}

/* False: it failed. */
static bool run(size_t i, struct nfs_place *place, int *passed, int *skipped)
{
	const enum nfs_verdict verdict = cases[i].run(place);

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

int main(int argc, char **argv)
{
	static struct nfs_place place = {
		.where = {.provider = "pverbs;rpcrdma", .port = "20049", .slots = 4},
	};
	int option, passed = 0, failed = 0, skipped = 0;
	const char *only = NULL;
	size_t i;

	while ((option = getopt(argc, argv, "p:P:t:h")) != -1) {
		switch (option) {
		case 'p':
			place.where.provider = optarg;
			break;
		case 'P':
			place.where.port = optarg;
			break;
		case 't':
			only = optarg;
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 2 != argc) {
		usage(stderr);
		return 2;
	}
	place.where.host = argv[optind];
	place.where.timeout = 20;
	place.folder = argv[optind + 1];
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!only || !strcmp(only, cases[i].name))
			failed += !run(i, &place, &passed, &skipped);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}
