/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections over routers that somebody kills: each operation is accounted for. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "failover.h"

volatile sig_atomic_t fvo_ends;

static const char usage[] =
	"Usage: fi_cairn_failover serve NODE PORT LEDGER [OPTION...]\n"
	"       fi_cairn_failover run NODE PORT LEDGER [OPTION...]\n"
	"       fi_cairn_failover try NODE PORT LEDGER [OPTION...]\n"
	"       fi_cairn_failover await LEDGER WHAT NUMBER\n"
	"       fi_cairn_failover show LEDGER\n"
	"serve: the target, until SIGTERM; its memory is LEDGER, a file, which it makes\n"
	"run: the client; connects again whenever a connection is lost, until SIGTERM, "
	"and\n"
	"     prints what has become of all operations\n"
	"try: connects once, however many attempts that takes, and prints how long it "
	"took\n"
	"await: until WHAT (up, ok, failed, lost, refused) is NUMBER, or, with + before "
	"it, so\n"
	"     much more than now; prints how long that took\n"
	"The status of serve and run is 1 if anything was lost in silence, came twice, "
	"or was\n"
	"not what it was said to be; of await: it takes too long.\n"
	"  -n, --connections N    of run (default 4)\n"
	"  -d, --seconds N        of run: ends by itself\n"
	"  -s, --seed N           of what it does (default 1)\n"
	"  -i, --idle US          sleeps between two looks in which nothing happened "
	"(default 100)\n"
	"  -S, --small            no operation has more than 1000 bytes\n";

static const struct option longs[] = {
	{"connections", required_argument, NULL, 'n'},
	{"seconds", required_argument, NULL, 'd'},
	{"seed", required_argument, NULL, 's'},
	{"idle", required_argument, NULL, 'i'},
	{"small", no_argument, NULL, 'S'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void on_term(int signal)
{
	fvo_ends = 1;
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	const uint64_t value = strtoull(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && value <= most)
		return value;
	fprintf(stderr, "fi_cairn_failover: '%s' is not a number up to %" PRIu64 "\n",
		text, most);
	exit(2);
}

static uint64_t field(const struct fvo_ledger *ledger, const char *what)
{
	const volatile struct fvo_ledger *now = ledger;

	if (!strcmp(what, "up"))
		return now->up;
	if (!strcmp(what, "ok"))
		return now->ok;
	if (!strcmp(what, "failed"))
		return now->failed;
	if (!strcmp(what, "lost"))
		return now->lost;
	if (!strcmp(what, "refused"))
		return now->refused;
	fputs(usage, stderr);
	exit(2);
}

static int await(const char *path, const char *what, const char *text)
{
	const struct fvo_ledger *ledger = fvo_ledger_open(path, false);
	const uint64_t begun = fvo_now(), end = begun + fvo_patience();
	uint64_t least;

	if (!ledger)
		return 1;
	least = *text == '+' ? field(ledger, what) + number(text + 1, UINT64_MAX)
			     : number(text, UINT64_MAX);
	while (field(ledger, what) < least && fvo_now() < end)
		usleep(1000);
	printf("%s: %" PRIu64 " after %" PRIu64 " ms\n", what, field(ledger, what),
	       fvo_now() - begun);
	return field(ledger, what) < least;
}

static int show(const char *path)
{
	const struct fvo_ledger *ledger = fvo_ledger_open(path, false);

	if (!ledger)
		return 1;
	printf("up %u, ok %" PRIu64 ", failed %" PRIu64 ", lost %" PRIu64
	       ", refused %" PRIu64 ", bad %u and %u\n",
	       ledger->up, ledger->ok, ledger->failed, ledger->lost, ledger->refused,
	       ledger->target_bad, ledger->client_bad);
	return ledger->target_bad || ledger->client_bad;
}

static void take(struct fvo_options *options, int option)
{
	switch (option) {
	case 'n':
		options->conns = (uint32_t)number(optarg, FVO_CONNS - 1);
		break;
	case 'd':
		options->seconds = (uint32_t)number(optarg, 1000000);
		break;
	case 's':
		options->seed = number(optarg, UINT64_MAX);
		break;
	case 'i':
		options->idle = (uint32_t)number(optarg, 1000000);
		break;
	case 'S':
		options->small = true;
		break;
	default:
		fputs(usage, option == 'h' ? stdout : stderr);
		exit(option == 'h' ? 0 : 2);
	}
}

int main(int argc, char **argv)
{
	struct fvo_options options = {.conns = 4, .seed = 1, .idle = 100};
	const struct sigaction term = {.sa_handler = on_term};
	int option;
	char **word;

	while ((option = getopt_long(argc, argv, "n:d:s:i:Sh", longs, NULL)) != -1)
		take(&options, option);
	word = argv + optind;
	sigaction(SIGTERM, &term, NULL);
	if (argc - optind == 2 && !strcmp(word[0], "show"))
		return show(word[1]);
	if (argc - optind == 4 && !strcmp(word[0], "await"))
		return await(word[1], word[2], word[3]);
	if (argc - optind == 4) {
		options.node = word[1];
		options.port = word[2];
		options.ledger = word[3];
		if (!strcmp(word[0], "serve"))
			return fvo_serve(&options);
		if (!strcmp(word[0], "run"))
			return fvo_run(&options);
		if (!strcmp(word[0], "try"))
			return fvo_try(&options);
	}
	fputs(usage, stderr);
	return 2;
}
