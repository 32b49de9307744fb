/* SPDX-License-Identifier: BSD-2-Clause */
/* Drains a router, and shows how far it is. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live.h"
#include "wrong.h"

/* ms that a router may say nothing; us between looks. */
#define PATIENCE 10000u
#define LOOK 250000u
#define DEADLINE_MOST 86400u

enum { JSON = 1, UNDO, EXIT };

struct drain {
	struct rct_live_options live; /* socket, config, json */
	const char *action;
	uint32_t deadline; /* ms; 0: none */
	bool wait;
};

static const char usage[] =
	"Usage: fi_routectl drain [OPTION...]\n"
	"The router takes no new connections; those that it has go on.\n"
	"      --undo              it takes new ones again\n"
	"      --exit[=SECONDS]    it ends when it has none, or after so many seconds\n"
	"  -w, --wait              waits until it has none; with --exit, until it ends\n"
	"  -s, --socket SOCKET     its control socket\n"
	"  -c, --config CONFIG     its configuration, which names that\n"
	"                          (default: " RCT_CONFIG ")\n"
	"      --json              what it has said, as JSON\n";

static const struct option longs[] = {
	{"socket", required_argument, NULL, 's'},
	{"config", required_argument, NULL, 'c'},
	{"wait", no_argument, NULL, 'w'},
	{"json", no_argument, NULL, JSON},
	{"undo", no_argument, NULL, UNDO},
	{"exit", optional_argument, NULL, EXIT},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* --- The command line --- */

static _Noreturn void help(bool asked)
{
	fputs(usage, asked ? stdout : stderr);
	exit(asked ? 0 : 2);
}

static void set_action(struct drain *drain, const char *action)
{
	if (drain->action)
		rct_wrong("--undo or --exit, not both");
	drain->action = action;
}

static void set_deadline(struct drain *drain, const char *text)
{
	char *end;
	unsigned long seconds;

	errno = 0;
	seconds = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !seconds ||
	    seconds > DEADLINE_MOST)
		rct_wrong("--exit is a number of seconds from 1 to 86400");
	drain->deadline = (uint32_t)seconds * 1000;
}

static void take(struct drain *drain, int option)
{
	switch (option) {
	case 's':
		drain->live.socket = optarg;
		break;
	case 'c':
		drain->live.config = optarg;
		break;
	case 'w':
		drain->wait = true;
		break;
	case JSON:
		drain->live.json = true;
		break;
	case UNDO:
		set_action(drain, "undo");
		break;
	case EXIT:
		set_action(drain, "exit");
		if (optarg)
			set_deadline(drain, optarg);
		break;
	default:
		help(option == 'h');
	}
}

static void options(struct drain *drain, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "s:c:wh", longs, NULL)) != -1)
		take(drain, option);
	if (optind != argc)
		rct_wrong("drain takes no word: --help tells more");
	if (drain->live.socket && drain->live.config)
		rct_wrong("--socket or --config, not both");
	if (!drain->live.socket && !drain->live.config)
		drain->live.config = RCT_CONFIG;
	if (!drain->action)
		drain->action = "begin";
	else if (drain->wait && *drain->action == 'u')
		rct_wrong("--undo has nothing to wait for");
}

/* --- The router's answers --- */

static json_t *ask(const char *path, const char *action, uint32_t deadline)
{
	json_t *request = json_pack("{s:s, s:s}", "command", "drain", "action", action);

	if (deadline)
		json_object_set_new(request, "deadline", json_integer(deadline));
	return rct_ask(path, request, PATIENCE);
}

void rct_print_draining(const json_t *draining)
{
	const uint64_t left = rct_count(draining, "connections");
	char age[32], ends[32];

	printf("drains for %s: %" PRIu64 " connection%s left",
	       rct_age(rct_count(draining, "age_ms"), age), left,
	       left == 1 ? " is" : "s are");
	if (json_object_get(draining, "ends_ms"))
		printf(", it ends in %s at most",
		       rct_age(rct_count(draining, "ends_ms"), ends));
	else if (rct_true(draining, "exit"))
		printf(", then it ends");
	putchar('\n');
}

static void print(const struct drain *drain, const json_t *document)
{
	const json_t *draining = json_object_get(document, "draining");

	if (drain->live.json) {
		json_dumpf(document, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		printf("%s ", rct_text(document, "name"));
		if (draining)
			rct_print_draining(draining);
		else
			printf("takes new connections\n");
	}
	fflush(stdout);
}

/* What it says is printed when the number of its connections has changed. */
static int wait_for_it(const struct drain *drain, const char *path, json_t *document)
{
	const bool ends = *drain->action == 'e';
	const json_t *draining;
	uint64_t left = UINT64_MAX, now;

	while (document) {
		draining = json_object_get(document, "draining");
		now = rct_count(draining, "connections");
		if (now != left)
			print(drain, document);
		left = now;
		json_decref(document);
		if (!draining) {
			fprintf(stderr, "fi_routectl: the drain was undone\n");
			return 1;
		}
		if (!left && !ends)
			return 0;
		usleep(LOOK);
		if (ends && access(path, F_OK))
			return 0;
		document = ask(path, "look", 0);
	}
	/* One that has ended meanwhile has removed its socket. */
	return ends && access(path, F_OK) ? 0 : 1;
}

int rct_live_drain(int argc, char **argv)
{
	struct drain drain = {0};
	const char *path;
	json_t *document;

	options(&drain, argc, argv);
	path = rct_live_path(&drain.live);
	if (!path)
		return 1;
	document = ask(path, drain.action, drain.deadline);
	if (drain.wait)
		return wait_for_it(&drain, path, document);
	if (!document)
		return 1;
	print(&drain, document);
	json_decref(document);
	return 0;
}
