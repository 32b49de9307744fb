/* SPDX-License-Identifier: BSD-2-Clause */
/* How the routers on the way to a target are, and how long their answers take. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "grid/grid.h"
#include "live.h"

#define TTL_MOST 16u
/* ms that the router has beyond its own deadline; and between two of ping. */
#define PATIENCE 2000u
#define PAUSE 200u

static json_t *probe(const struct rct_live_options *options, const char *path,
		     uint32_t ttl)
{
	json_t *request = json_pack("{s:s, s:s, s:I, s:I}", "command", "probe", "target",
				    options->what, "ttl", (json_int_t)ttl, "timeout",
				    (json_int_t)options->timeout);

	return rct_ask(path, request, options->timeout + PATIENCE);
}

static int status_of(const json_t *answer)
{
	return (int)rct_count(answer, "status");
}

static uint64_t us_of(const json_t *answer)
{
	return rct_count(answer, "ns") / 1000;
}

static void print_why(FILE *out, const json_t *answer)
{
	const char *why = rct_text(answer, "why");
	char id[32];

	fprintf(out, "router %s: %s", rct_number(answer, "answered_by", id),
		*why ? why : strerror(status_of(answer)));
	if (*why)
		fprintf(out, " (%s)", strerror(status_of(answer)));
	fputc('\n', out);
}

/* --- ping --- */

struct pings {
	uint32_t sent, reached;
	uint64_t least, most, sum; /* ns */
};

static void count(struct pings *pings, const json_t *answer)
{
	const uint64_t ns = rct_count(answer, "ns");

	pings->sent++;
	if (!rct_true(answer, "reached"))
		return;
	if (!pings->reached++ || ns < pings->least)
		pings->least = ns;
	if (ns > pings->most)
		pings->most = ns;
	pings->sum += ns;
}

static void print_reply(const json_t *answer, uint32_t number)
{
	const json_t *at = json_object_get(answer, "at");
	char id[32];

	printf("%" PRIu32 ": ", number);
	if (!rct_true(answer, "reached")) {
		print_why(stdout, answer);
		return;
	}
	printf("router %s: %" PRIu64 " us, %" PRIu64 " queued, %" PRIu64
	       " connections, %" PRIu64 " bytes of memory\n",
	       rct_number(answer, "answered_by", id), us_of(answer),
	       rct_count(at, "queued"), rct_count(at, "connections"),
	       rct_count(at, "arena_bytes"));
	fflush(stdout);
}

static void print_pings(const struct pings *pings, const char *target)
{
	printf("%s: %" PRIu32 " sent, %" PRIu32 " answered, %" PRIu32 "%% lost", target,
	       pings->sent, pings->reached,
	       (uint32_t)(100 * (uint64_t)(pings->sent - pings->reached) / pings->sent));
	if (pings->reached)
		printf("; least/average/most %" PRIu64 "/%" PRIu64 "/%" PRIu64 " us",
		       pings->least / 1000, pings->sum / pings->reached / 1000,
		       pings->most / 1000);
	putchar('\n');
}

static void dump_pings(const struct pings *pings, const char *target, json_t *replies)
{
	const uint64_t average = pings->reached ? pings->sum / pings->reached : 0;
	json_t *object =
		json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "target", target, "sent",
			  (json_int_t)pings->sent, "answered", (json_int_t)pings->reached,
			  "min_ns", (json_int_t)pings->least, "avg_ns",
			  (json_int_t)average, "max_ns", (json_int_t)pings->most,
			  "replies", replies);

	json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static void pause_between(void)
{
	const struct timespec time = {.tv_nsec = PAUSE * 1000000};

	nanosleep(&time, NULL);
}

int rct_live_ping(const struct rct_live_options *options, const char *path)
{
	struct pings pings = {0};
	json_t *replies = json_array(), *answer;
	uint32_t i;

	for (i = 0; i < options->count; i++) {
		if (i)
			pause_between();
		answer = probe(options, path, TTL_MOST);
		if (!answer) {
			json_decref(replies);
			return 1;
		}
		count(&pings, answer);
		if (options->json)
			json_array_append(replies, answer);
		else
			print_reply(answer, i + 1);
		json_decref(answer);
	}
	if (options->json) {
		dump_pings(&pings, options->what, replies);
	} else {
		print_pings(&pings, options->what);
		json_decref(replies);
	}
	return pings.reached ? 0 : 1;
}

/* --- trace --- */

/* The subnet that the router which answered sends it to. */
static const char *goes_to(const json_t *answer)
{
	const json_t *path = json_object_get(answer, "path"), *hop;
	char id[32], mine[32];
	size_t i;

	rct_number(answer, "answered_by", mine);
	json_array_foreach(path, i, hop) if (!strcmp(rct_number(hop, "router", id),
						     mine)) return rct_text(hop,
									    "subnet");
	return "";
}

static void add_hop(struct grd_grid *grid, const json_t *answer, uint32_t ttl)
{
	const json_t *at = json_object_get(answer, "at");
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu32, ttl);
	grd_add(grid, text);
	grd_add(grid, rct_number(answer, "answered_by", text));
	grd_add(grid, goes_to(answer));
	snprintf(text, sizeof(text), "%" PRIu64, us_of(answer));
	grd_add(grid, ttl && us_of(answer) ? text : "-");
	grd_add(grid, at ? rct_number(at, "queued", text) : "-");
	grd_add(grid, at ? rct_number(at, "connections", text) : "-");
	grd_add(grid, at ? rct_number(at, "arena_bytes", text) : "-");
}

/* Every router until one answers otherwise than that the ttl ends there; its answer, or
 * NULL: the router does not say. */
static json_t *trace(const struct rct_live_options *options, const char *path,
		     struct grd_grid *grid, json_t *hops)
{
	json_t *answer = NULL;
	uint32_t ttl;

	for (ttl = 0; ttl <= TTL_MOST; ttl++) {
		json_decref(answer);
		answer = probe(options, path, ttl);
		if (!answer)
			return NULL;
		if (rct_true(answer, "reached") || status_of(answer) == ETIME)
			add_hop(grid, answer, ttl);
		json_array_append(hops, answer);
		if (status_of(answer) != ETIME)
			break;
	}
	return answer;
}

static int print_trace(const struct rct_live_options *options, struct grd_grid *grid,
		       json_t *hops, bool reached)
{
	json_t *object;
	int ret = 0;

	if (!options->json)
		return grd_end(grid, stdout);
	grd_drop(grid);
	object = json_pack("{s:s, s:b, s:O}", "target", options->what, "reached", reached,
			   "hops", hops);
	ret = json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
	return ret;
}

int rct_live_trace(const struct rct_live_options *options, const char *path)
{
	static const char *const names[] = {"Hop",    "Router",	     "To",    "us",
					    "Queued", "Connections", "Memory"};
	json_t *hops = json_array(), *last;
	struct grd_grid grid;
	bool reached;
	size_t i;
	int ret;

	grd_begin(&grid, sizeof(names) / sizeof(*names));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		grd_add(&grid, names[i]);
	last = trace(options, path, &grid, hops);
	if (!last) {
		grd_drop(&grid);
		json_decref(hops);
		return 1;
	}
	reached = rct_true(last, "reached");
	ret = print_trace(options, &grid, hops, reached);
	if (!reached)
		print_why(stderr, last);
	json_decref(last);
	json_decref(hops);
	return ret || !reached ? 1 : 0;
}
