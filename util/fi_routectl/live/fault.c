/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults that a running router is told to inject. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid/grid.h"
#include "live.h"
#include "wrong.h"

#define CONFIG "/etc/cairn/fi_router.conf"
/* ms that a router may say nothing. */
#define PATIENCE 10000u

enum { JSON = 1, DEVICE, PEER, WAY, CLASS, CHANCE, SEED, COUNT, DELAY };

static const char usage[] =
	"Usage: fi_routectl fault set drop|delay|duplicate|blackhole [OPTION...]\n"
	"       fi_routectl fault show [OPTION...]\n"
	"       fi_routectl fault clear [ID] [OPTION...]\n"
	"Lets a running router do wrong on purpose, to see what comes of it.\n"
	"      --device NAME       messages of that device alone\n"
	"      --peer WHO          of one peer: a router's id, or a host's address\n"
	"      --way in|out|both   that it receives, or sends (default: both)\n"
	"      --class CLASS       all, data, acks, control, links, keepalives,\n"
	"                          grants (default: all)\n"
	"      --chance P          not each, but with that probability (default: 1)\n"
	"      --seed N            which of them, then (default: 0)\n"
	"      --count N           so many at most (default: without end)\n"
	"      --delay MS          of a delay, up to 60000\n"
	"  -s, --socket SOCKET     its control socket\n"
	"  -c, --config CONFIG     its configuration, which names that\n"
	"                          (default: " CONFIG ")\n"
	"      --json              what it has said, as JSON\n";

static const struct option longs[] = {
	{"socket", required_argument, NULL, 's'},
	{"config", required_argument, NULL, 'c'},
	{"json", no_argument, NULL, JSON},
	{"device", required_argument, NULL, DEVICE},
	{"peer", required_argument, NULL, PEER},
	{"way", required_argument, NULL, WAY},
	{"class", required_argument, NULL, CLASS},
	{"chance", required_argument, NULL, CHANCE},
	{"seed", required_argument, NULL, SEED},
	{"count", required_argument, NULL, COUNT},
	{"delay", required_argument, NULL, DELAY},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static json_t *number(const char *what, const char *text)
{
	long long value;
	char *end;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end)
		rct_wrong("%s is a number", what);
	return json_integer(value);
}

static json_t *fraction(const char *what, const char *text)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	/* Not "nan" and "inf", which JSON does not have. */
	if (errno || strspn(text, "0123456789.") != strlen(text) || end == text || *end)
		rct_wrong("%s is a number from 0.000001 to 1", what);
	return json_real(value);
}

/* What a word of the request may be, the router knows. */
static void add(json_t *request, int option)
{
	switch (option) {
	case DEVICE:
		json_object_set_new(request, "device", json_string(optarg));
		break;
	case PEER:
		json_object_set_new(request, "peer", json_string(optarg));
		break;
	case WAY:
		json_object_set_new(request, "way", json_string(optarg));
		break;
	case CLASS:
		json_object_set_new(request, "class", json_string(optarg));
		break;
	case CHANCE:
		json_object_set_new(request, "chance", fraction("--chance", optarg));
		break;
	case SEED:
		json_object_set_new(request, "seed", number("--seed", optarg));
		break;
	case COUNT:
		json_object_set_new(request, "count", number("--count", optarg));
		break;
	case DELAY:
		json_object_set_new(request, "delay", number("--delay", optarg));
		break;
	}
}

static void take(struct rct_live_options *options, json_t *request, int option)
{
	switch (option) {
	case 'h':
	case '?':
		fputs(usage, option == 'h' ? stdout : stderr);
		exit(option == 'h' ? 0 : 2);
	case 's':
		options->socket = optarg;
		break;
	case 'c':
		options->config = optarg;
		break;
	case JSON:
		options->json = true;
		break;
	default:
		add(request, option);
		break;
	}
}

/* What is to be done, and with what. */
static void words(json_t *request, int count, char **word)
{
	const bool clears = count && !strcmp(word[0], "clear");
	const bool sets = count && !strcmp(word[0], "set");

	if (!count || (!sets && !clears && strcmp(word[0], "show")))
		rct_wrong("fault set, show or clear? --help tells more");
	if (sets && count != 2)
		rct_wrong("fault set drop, delay, duplicate or blackhole?");
	if (count > (sets || clears ? 2 : 1))
		rct_wrong("fault %s takes no %s", word[0], word[count - 1]);
	if (!sets && json_object_size(request) > 1)
		rct_wrong("fault %s takes no such option", word[0]);
	json_object_set_new(request, "do", json_string(word[0]));
	if (sets)
		json_object_set_new(request, "act", json_string(word[1]));
	else if (count == 2)
		json_object_set_new(request, "id", number("an id", word[1]));
}

/* --- What the router injects then --- */

static void add_fault(struct grd_grid *grid, const json_t *fault)
{
	static const char *const texts[] = {"act", "class", "way", "device", "peer"};
	char text[64];
	size_t i;

	grd_add(grid, rct_number(fault, "id", text));
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		grd_add(grid, rct_text(fault, texts[i]));
	snprintf(text, sizeof(text), "%g",
		 json_number_value(json_object_get(fault, "chance")));
	grd_add(grid, text);
	snprintf(text, sizeof(text), "%" PRIu64, rct_count(fault, "seed"));
	grd_add(grid, text);
	snprintf(text, sizeof(text), "%" PRIu64, rct_count(fault, "count"));
	grd_add(grid, rct_count(fault, "count") ? text : "");
	snprintf(text, sizeof(text), "%" PRIu64, rct_count(fault, "delay"));
	grd_add(grid, rct_count(fault, "delay") ? text : "");
	snprintf(text, sizeof(text), "%" PRIu64, rct_count(fault, "hits"));
	grd_add(grid, text);
}

static int print_faults(const json_t *document)
{
	static const char *const names[] = {"Fault",  "Act",  "Class",	 "Way",
					    "Device", "Peer", "Chance",	 "Seed",
					    "Count",  "ms",   "Messages"};
	const json_t *faults = json_object_get(document, "faults"), *fault;
	struct grd_grid grid;
	size_t i;

	if (!json_array_size(faults)) {
		printf("no faults are injected\n");
		return 0;
	}
	grd_begin(&grid, sizeof(names) / sizeof(*names));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		grd_add(&grid, names[i]);
	json_array_foreach(faults, i, fault) add_fault(&grid, fault);
	return grd_end(&grid, stdout);
}

int rct_live_fault(int argc, char **argv)
{
	json_t *request = json_pack("{s:s}", "command", "fault"), *document;
	struct rct_live_options options = {0};
	const char *path;
	int option, ret;

	while ((option = getopt_long(argc, argv, "s:c:h", longs, NULL)) != -1)
		take(&options, request, option);
	words(request, argc - optind, argv + optind);
	if (options.socket && options.config)
		rct_wrong("--socket or --config, not both");
	if (!options.socket && !options.config)
		options.config = CONFIG;
	path = rct_live_path(&options);
	document = path ? rct_ask(path, request, PATIENCE) : NULL;
	if (!document)
		return 1;
	if (options.json)
		ret = json_dumpf(document, stdout, JSON_INDENT(2)) || putchar('\n') < 0;
	else
		ret = print_faults(document);
	json_decref(document);
	return ret ? 1 : 0;
}
