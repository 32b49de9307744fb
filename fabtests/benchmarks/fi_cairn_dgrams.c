/* SPDX-License-Identifier: BSD-2-Clause */
/* What datagrams cost (FI_EP_DGRAM), for any provider; a line of result for each. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dgrams.h"

#define MOST_ROUNDS 1001
#define MOST_WAYS 64
#define MOST_SIZE 4096
#define MOST_RECEIVES 16384
#define MOST 1000000000

static struct dgrams_wish wish = {.provider = "pverbs",
				  .threading = FI_THREAD_DOMAIN,
				  .size = 64,
				  .receives = DGRAMS_RX_DEPTH};
static long count = 10000, rounds = 31, ways = 1, batch = 100;

static void op(void)
{
	dgrams_op(&wish, count, rounds);
}

static void vector(void)
{
	dgrams_vector(&wish, count);
}

static void fan(void)
{
	dgrams_fan(&wish, count, ways);
}

static void pingpong(void)
{
	dgrams_pingpong(&wish, count, batch);
}

static void rate(void)
{
	dgrams_rate(&wish, count);
}

static const struct measurement {
	const char *name;
	void (*run)(void);
} measurements[] = {
	{"op", op},	    {"pingpong", pingpong}, {"rate", rate},
	{"vector", vector}, {"fan", fan},
};
#define MEASUREMENTS (sizeof(measurements) / sizeof(measurements[0]))

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_dgrams [OPTION...] ADDRESS\n"
	      "What datagrams cost. ADDRESS is one of this machine's that the provider "
	      "can "
	      "use.\n"
	      "  -p PROVIDER  default: pverbs\n"
	      "  -o WHAT      op (default): one with its receive and both completions, "
	      "both ends in this process;\n"
	      "               pingpong: half a round trip between two processes; rate: "
	      "one process sends, and does not\n"
	      "               wait for the other; vector: COUNT addresses are inserted; "
	      "fan: one to each of WAYS receivers\n"
	      "  -z BYTES     of a datagram (default 64)\n"
	      "  -m BYTES     of a receive, if that is more (the link's MTU takes "
	      "anything)\n"
	      "  -t LEVEL     threading: domain (default) or safe\n"
	      "  -n COUNT     datagrams, of a round (default 10000)\n"
	      "  -r ROUNDS    op: of which the median and the fastest are taken (default "
	      "31)\n"
	      "  -d COUNT     receives that are posted at most (default 512)\n"
	      "  -b COUNT     pingpong: round trips per sample (default 100)\n"
	      "  -g GROUP     fan: a multicast group, to which one datagram is sent\n"
	      "  -k WAYS      fan: receivers, 1 to 64 (default 1)\n",
	      to);
}

static long number(const char *text, long most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || value < 1 || value > most) {
		fprintf(stderr, "fi_cairn_dgrams: %s is no number from 1 to %ld\n", text,
			most);
		exit(2);
	}
	return value;
}

static const struct measurement *measurement(const char *name)
{
	size_t i;

	for (i = 0; i < MEASUREMENTS; i++)
		if (!strcmp(measurements[i].name, name))
			return &measurements[i];
	fprintf(stderr, "fi_cairn_dgrams: there is no measurement %s\n", name);
	exit(2);
}

static enum fi_threading threading(const char *text)
{
	if (!strcmp(text, "domain"))
		return FI_THREAD_DOMAIN;
	if (!strcmp(text, "safe"))
		return FI_THREAD_SAFE;
	fputs("fi_cairn_dgrams: threading is domain or safe\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	const struct measurement *chosen = &measurements[0];
	int option;

	while ((option = getopt(argc, argv, "p:o:g:z:m:t:n:r:d:b:k:h")) != -1) {
		switch (option) {
		case 'p':
			wish.provider = optarg;
			break;
		case 'o':
			chosen = measurement(optarg);
			break;
		case 'g':
			wish.group = optarg;
			break;
		case 'z':
			wish.size = (size_t)number(optarg, MOST_SIZE);
			break;
		case 'm':
			wish.room = (size_t)number(optarg, MOST_SIZE);
			break;
		case 't':
			wish.threading = threading(optarg);
			break;
		case 'n':
			count = number(optarg, MOST);
			break;
		case 'r':
			rounds = number(optarg, MOST_ROUNDS);
			break;
		case 'd':
			wish.receives = (size_t)number(optarg, MOST_RECEIVES);
			break;
		case 'b':
			batch = number(optarg, MOST);
			break;
		case 'k':
			ways = number(optarg, MOST_WAYS);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	wish.address = argv[optind];
	if (wish.room < wish.size)
		wish.room = wish.size;
	chosen->run();
	return 0;
}
