/* SPDX-License-Identifier: BSD-2-Clause */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "nfd.h"

static volatile sig_atomic_t over;

static void end(int signal)
{
	over = 1;
}

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_nfsd [OPTION...] FOLDER ADDRESS\n"
	      "Serves FOLDER by NFSv4.1 over RDMA to tests, until SIGTERM.\n"
	      "  -p STACK  libfabric's provider (default: pverbs;rpcrdma)\n"
	      "  -P PORT   default: one that is free, which it prints\n"
	      "  -i FAULT  OP:N:WHAT[=VALUE]: what the Nth operation OP does (0: all).\n"
	      "            OP: sequence, lookup, open, read, write, getattr,\n"
	      "            exchange_id, create_session, bind, ... WHAT: status=NUMBER,\n"
	      "            short=BYTES, drop (the connection), mute, garbage, "
	      "system_err,\n"
	      "            denied, change (of the file), callbacks=NUMBER, hold (the\n"
	      "            Reply, until a Call of the server is answered), eof=BYTES\n"
	      "            (short, and the end), more (a byte, says READ or WRITE),\n"
	      "            other (slot, says SEQUENCE)\n"
	      "At the end it prints how often each operation has come, and how often\n"
	      "a client broke a rule of RFC 8881 (\"broken\"). The exit status is 1\n"
	      "if the client did not answer all callbacks.\n",
	      to);
}

int main(int argc, char **argv)
{
	const char *provider = "pverbs;rpcrdma", *port = "0";
	struct sigaction action = {.sa_handler = end};
	int option, ret = 0;

	while ((option = getopt(argc, argv, "p:P:i:h")) != -1) {
		switch (option) {
		case 'p':
			provider = optarg;
			break;
		case 'P':
			port = optarg;
			break;
		case 'i':
			if (nfd_fault_add(optarg))
				break;
			fprintf(stderr, "fi_cairn_nfsd: there is no fault %s\n", optarg);
			return 2;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 2 != argc || !nfd_tree_open(argv[optind])) {
		usage(stderr);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	if (!nfd_listen(provider, argv[optind + 1], port))
		ret = 1;
	while (!ret && !over)
		ret = !nfd_turn();
	nfd_counts_print();
	if (!ret && !nfd_callbacks_over()) {
		fprintf(stderr, "fi_cairn_nfsd: callbacks without an answer\n");
		ret = 1;
	}
	nfd_end();
	return ret;
}
