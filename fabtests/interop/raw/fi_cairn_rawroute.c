/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers of route that keep no rules, and what becomes of those that do. */
#include <arpa/inet.h>
#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "raw.h"

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_rawroute [OPTION...] serve NODE PORT\n"
	      "       fi_cairn_rawroute [OPTION...] evil ADDRESS PORT\n"
	      "       fi_cairn_rawroute [OPTION...] lend ADDRESS PORT\n"
	      "       fi_cairn_rawroute hold ADDRESS PORT client|router COUNT\n"
	      "       fi_cairn_rawroute look NODE PORT\n"
	      "       fi_cairn_rawroute [OPTION...] attack ADDRESS PORT NODE PORT\n"
	      "       fi_cairn_rawroute [OPTION...] suffer NODE PORT [NODE PORT]\n"
	      "       fi_cairn_rawroute -k FILE -K ID [OPTION...] prove ADDRESS PORT "
	      "[NODE PORT]\n"
	      "       fi_cairn_rawroute [OPTION...] go NODE PORT\n"
	      "       fi_cairn_rawroute [OPTION...] reach NODE PORT\n"
	      "       fi_cairn_rawroute border ADDRESS PORT ON FROM TO\n"
	      "       fi_cairn_rawroute intrude ADDRESS PORT ON\n"
	      "serve: a program of route that sends back what it is sent\n"
	      "evil: in a router's place, answers what makes no sense\n"
	      "lend: a target that lends its region to the last router, and regrets it\n"
	      "hold: connects to a router and says nothing, as a client or as a "
	      "router,\n"
	      "      COUNT times or as often as it may\n"
	      "look: one connection to serve that keeps the rules, and its data\n"
	      "attack: who listens there, a router or a program. NODE and PORT: "
	      "serve's,\n"
	      "        with whom connections have to work all the time\n"
	      "suffer: connects over an evil router, or to such a target, again and "
	      "again; the\n"
	      "        other NODE and PORT: serve's, as above\n"
	      "prove: a router that requires proofs of a key, to which FILE and ID "
	      "belong\n"
	      "go: connects again and again, and sends, until SIGTERM; all of it has to "
	      "work\n"
	      "reach: connects once, or says why not\n"
	      "  -i AS:SUBNET  where prove says that it is (default: by the address)\n"
	      "  -R         prove is a router\n"
	      "border: says what the router there answers a router of AS:SUBNET ON that "
	      "has a\n"
	      "        request of FROM for TO, both AS:SUBNET\n"
	      "intrude: such a router tells that one of a third one\n"
	      "  -P PID     of who is attacked: has to live, and to keep no descriptors\n"
	      "  -s SEED    of what is random (default 1)\n"
	      "  -n ROUNDS  of conversations that are random (default 100)\n"
	      "  -t CASE    only that case; repeatable\n"
	      "  -l         lists the cases\n",
	      to);
}

/* ms for what is sooner where nothing else runs. */
#define LONG 20000

static long pid;
static unsigned int rounds = 100;
static const char *only[32];
static int only_count;
static const char *node, *port;
static struct honest *steady;
static int failed;

/* --- Who is attacked --- */

static int descriptors(void)
{
	char path[64];
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* KiB */
static long resident(void)
{
	char path[64], line[128];
	long kib = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* Those of connections that were open are gone after a while. */
static bool gives_back(int before)
{
	const uint64_t end = raw_now() + 15000;

	while (descriptors() > before && raw_now() < end)
		usleep(20000);
	return descriptors() <= before;
}

/* --- Who keeps the rules --- */

static int steps(struct honest *honest)
{
	static const size_t lens[] = {1, 9000, 200000};
	int ret = 0;
	size_t i;

	for (i = 0; i < 3 && !ret; i++)
		ret = honest_echo(honest, lens[i], LONG);
	return ret ? ret : honest_rma(honest, 100000, LONG);
}

static void complain(const char *what, int ret)
{
	printf("#   %s: %s\n", what, fi_strerror(-ret));
	failed = 1;
}

static void look(void)
{
	struct honest *honest;
	int ret = steps(steady);

	if (ret)
		complain("the connection that was there before", ret);
	honest = honest_connect(node, port, LONG, &ret);
	if (!honest) {
		complain("a new connection", ret);
		return;
	}
	ret = steps(honest);
	if (ret)
		complain("a new connection's data", ret);
	honest_close(honest);
}

/* --- All of it --- */

static bool chosen(const char *name)
{
	int i;

	for (i = 0; i < only_count; i++)
		if (!strcmp(only[i], name))
			return true;
	return !only_count;
}

static void attack_one(struct raw_attack *attack, const struct raw_case *it)
{
	const int before = pid ? descriptors() : 0;
	const long memory = pid ? resident() : 0;
	const uint64_t began = raw_now();

	failed = 0;
	attack->complaint[0] = 0;
	it->run(attack);
	if (attack->complaint[0]) {
		printf("#   %s\n", attack->complaint);
		failed = 1;
	}
	look();
	if (pid && kill((pid_t)pid, 0)) {
		printf("#   it is dead\n");
		failed = 1;
	} else if (pid && !gives_back(before)) {
		printf("#   it has %d descriptors, and had %d\n", descriptors(), before);
		failed = 1;
	}
	printf("%s %s (%.1f s, %ld -> %ld KiB)\n", failed ? "not ok" : "ok", it->name,
	       (double)(raw_now() - began) / 1000, memory, pid ? resident() : 0);
	fflush(stdout);
}

static struct sockaddr_in address(const char *host, const char *service)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(service))};

	if (inet_pton(AF_INET, host, &at.sin_addr) != 1) {
		usage(stderr);
		exit(2);
	}
	return at;
}

/* Test networks: subnet N of AS 1 is 10.0.N.0/24. */
static struct raw_place place(const struct sockaddr_in *at)
{
	const uint32_t host = ntohl(at->sin_addr.s_addr);

	return (struct raw_place){.as = 1,
				  .subnet = host >> 8 & 255,
				  .host = host,
				  .port = ntohs(at->sin_port)};
}

/* AS:SUBNET */
static struct raw_place place_of(const char *text)
{
	struct raw_place place = {.host = 0x0a000001, .port = 7471};

	if (sscanf(text, "%u:%u", &place.as, &place.subnet) != 2) {
		usage(stderr);
		exit(2);
	}
	return place;
}

static void count(int good, int bad)
{
	printf("%d passed, %d failed, 0 skipped\n", good, bad);
}

static int attack(char **args)
{
	struct raw_attack attack = {.at = address(args[0], args[1]),
				    .rounds = rounds,
				    .meanwhile = look};
	const struct sockaddr_in to = address(args[2], args[3]);
	int ret, good = 0, bad = 0;
	size_t i;

	node = args[2];
	port = args[3];
	attack.to = place(&to);
	attack.from = place(&attack.at);
	if (raw_open(&attack.raw, NULL))
		return 1;
	steady = honest_connect(node, port, LONG, &ret);
	if (!steady) {
		complain("the first connection", ret);
		return 1;
	}
	for (i = 0; i < raw_cases_count; i++) {
		if (!chosen(raw_cases[i].name))
			continue;
		attack_one(&attack, &raw_cases[i]);
		bad += failed;
		good += !failed;
	}
	honest_close(steady);
	raw_close(&attack.raw);
	count(good, bad);
	return bad != 0;
}

static int look_once(char **args)
{
	const uint64_t began = raw_now();
	struct honest *honest;
	int ret;

	honest = honest_connect(args[0], args[1], LONG, &ret);
	if (!honest) {
		printf("no connection: %s\n", fi_strerror(-ret));
		return 1;
	}
	ret = steps(honest);
	printf("a connection and its data: %s, %d ms\n", ret ? fi_strerror(-ret) : "good",
	       (int)(raw_now() - began));
	honest_close(honest);
	return ret != 0;
}

static int hold(char **args)
{
	const struct sockaddr_in at = address(args[0], args[1]);
	const struct raw_place on = place(&at);

	return raw_hold(&at, &on, *args[2] == 'c' ? RAW_CLIENT : RAW_ROUTER,
			(unsigned int)atoi(args[3]));
}

static void suffer_one(struct honest *honest, unsigned int round)
{
	static const size_t lens[] = {8, 9000, 100000, 400000};

	if (round % 2)
		honest_echo(honest, 100, 300);
	honest_writes(honest, 3 + round % 8, lens[round % 4], 300);
	honest_rma(honest, 100000, 300);
	honest_close(honest);
}

/* Every attempt ends, one way or another. */
static bool suffer_all(char **args)
{
	unsigned int i, up = 0;
	struct honest *honest;
	bool good = true;
	uint64_t began;
	int ret;

	for (i = 0; i < rounds; i++) {
		began = raw_now();
		honest = honest_connect(args[0], args[1], 10000, &ret);
		if (honest) {
			up++;
			suffer_one(honest, i);
		}
		if (ret == -FI_ETIMEDOUT && raw_now() - began >= 10000) {
			printf("#   an attempt has no end\n");
			good = false;
		}
	}
	printf("%u attempts, %u connections\n", i, up);
	return good;
}

/* --- Keys --- */

static const char *key_file, *identity;
static bool as_router;
static uint32_t key_id;

static bool key_read(struct raw_prover *prover)
{
	FILE *file = key_file ? fopen(key_file, "re") : NULL;

	if (!file)
		return false;
	prover->id = key_id;
	prover->key_len = fread(prover->key, 1, sizeof(prover->key), file);
	fclose(file);
	return true;
}

static bool prover_open(struct raw_prover *prover, char **args)
{
	prover->at = address(args[0], args[1]);
	prover->from = place(&prover->at);
	prover->role = as_router ? RAW_ROUTER : RAW_CLIENT;
	prover->rounds = rounds;
	if (identity)
		sscanf(identity, "%u:%u", &prover->from.as, &prover->from.subnet);
	prover->claims = prover->from;
	return key_read(prover) && !raw_open(&prover->raw, NULL);
}

/* ADDRESS PORT ON, and FROM TO. */
static int border(char **args, bool asks)
{
	static struct raw_prover prover;
	int ret;

	prover.at = address(args[0], args[1]);
	prover.from = place_of(args[2]);
	prover.role = RAW_ROUTER;
	if ((key_file && !key_read(&prover)) || raw_open(&prover.raw, NULL))
		return 1;
	if (asks) {
		prover.claims = place_of(args[3]);
		prover.to = place_of(args[4]);
	}
	ret = asks ? raw_border(&prover) : raw_intrude(&prover);
	raw_close(&prover.raw);
	return ret;
}

static int prove(char **args, bool others)
{
	static struct raw_prover prover;
	struct sockaddr_in to;
	int ret, good = 0, bad = 0;
	uint64_t began;
	size_t i;

	if (!prover_open(&prover, args))
		return 1;
	if (others) {
		node = args[2];
		port = args[3];
		to = address(node, port);
		prover.to = place(&to);
		steady = honest_connect(node, port, LONG, &ret);
		if (!steady) {
			complain("the first connection", ret);
			return 1;
		}
	}
	for (i = 0; i < raw_proofs_count; i++) {
		if (!chosen(raw_proofs[i].name))
			continue;
		began = raw_now();
		failed = !raw_proofs[i].run(&prover);
		if (others)
			look();
		bad += failed;
		good += !failed;
		printf("%s %s (%.1f s)\n", failed ? "not ok" : "ok", raw_proofs[i].name,
		       (double)(raw_now() - began) / 1000);
		fflush(stdout);
	}
	if (steady)
		honest_close(steady);
	raw_close(&prover.raw);
	count(good, bad);
	return bad != 0;
}

static int reach(char **args)
{
	int ret;
	struct honest *honest = honest_connect(args[0], args[1], 10000, &ret);

	if (!honest) {
		puts(fi_strerror(-ret));
		return 1;
	}
	/* The server has one region for all: "go" may be reading what it has written. */
	ret = honest_echo(honest, 200000, LONG);
	puts(ret ? fi_strerror(-ret) : "reached");
	honest_close(honest);
	return ret != 0;
}

static volatile sig_atomic_t told_to_end;

static void on_term(int sig)
{
	(void)sig;
	told_to_end = 1;
}

static int go(char **args)
{
	unsigned int all = 0, bad = 0;
	int ret;

	signal(SIGTERM, on_term);
	node = args[0];
	port = args[1];
	steady = honest_connect(node, port, LONG, &ret);
	if (!steady) {
		complain("the first connection", ret);
		return 1;
	}
	puts("goes");
	for (fflush(stdout); !told_to_end; all++) {
		failed = 0;
		look();
		bad += (unsigned int)failed;
		fflush(stdout);
	}
	honest_close(steady);
	printf("%u connections, %u failed\n", all, bad);
	return bad != 0 || !all;
}

/* Others, if there are any, have nothing of it. */
static int suffer(char **args, bool others)
{
	int ret, before = 0;

	if (others) {
		node = args[2];
		port = args[3];
		steady = honest_connect(node, port, LONG, &ret);
		if (!steady) {
			complain("the first connection", ret);
			return 1;
		}
		look();
		before = pid ? descriptors() : 0;
	}
	if (!suffer_all(args))
		failed = 1;
	if (others)
		look();
	if (pid && !gives_back(before)) {
		printf("#   it has %d descriptors, and had %d\n", descriptors(), before);
		failed = 1;
	}
	if (steady)
		honest_close(steady);
	count(!failed, failed);
	return failed;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at;
	struct raw_place on;
	int option;
	size_t i;

	while ((option = getopt(argc, argv, "P:s:n:t:k:K:i:Rlh")) != -1) {
		switch (option) {
		case 'P':
			pid = atol(optarg);
			break;
		case 's':
			raw_seed = strtoull(optarg, NULL, 0) * 0x9e3779b97f4a7c15 | 1;
			break;
		case 'n':
			rounds = (unsigned int)atoi(optarg);
			break;
		case 't':
			if (only_count < 32)
				only[only_count++] = optarg;
			break;
		case 'k':
			key_file = optarg;
			break;
		case 'K':
			key_id = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'i':
			identity = optarg;
			break;
		case 'R':
			as_router = true;
			break;
		case 'l':
			for (i = 0; i < raw_cases_count; i++)
				puts(raw_cases[i].name);
			return 0;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	argc -= optind;
	argv += optind;
	if (argc == 3 && !strcmp(argv[0], "serve"))
		return honest_serve(argv[1], argv[2]);
	if ((argc == 3 || argc == 5) && !strcmp(argv[0], "suffer"))
		return suffer(argv + 1, argc == 5);
	if ((argc == 3 || argc == 5) && !strcmp(argv[0], "prove"))
		return prove(argv + 1, argc == 5);
	if (argc == 3 && !strcmp(argv[0], "go"))
		return go(argv + 1);
	if (argc == 3 && !strcmp(argv[0], "reach"))
		return reach(argv + 1);
	if (argc == 5 && !strcmp(argv[0], "attack"))
		return attack(argv + 1);
	if (argc == 6 && !strcmp(argv[0], "border"))
		return border(argv + 1, true);
	if (argc == 4 && !strcmp(argv[0], "intrude"))
		return border(argv + 1, false);
	if (argc == 5 && !strcmp(argv[0], "hold"))
		return hold(argv + 1);
	if (argc == 3 && !strcmp(argv[0], "look"))
		return look_once(argv + 1);
	if (argc == 3 && (!strcmp(argv[0], "evil") || !strcmp(argv[0], "lend"))) {
		at = address(argv[1], argv[2]);
		on = place(&at);
		return *argv[0] == 'e' ? raw_evil(&at, &on) : raw_lend(&at, &on);
	}
	usage(stderr);
	return 2;
}
