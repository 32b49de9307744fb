/* SPDX-License-Identifier: BSD-2-Clause */
/* How busy a router is, again and again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "grid/grid.h"
#include "live.h"

/* ms that a router may say nothing. */
#define PATIENCE 10000u
/* Connections that fit below the devices on a terminal. */
#define BUSIEST 10

/* To the corner, and all behind it away. */
#define CLEAR "\033[H\033[J"

static const char *bytes_text(double bytes, const char *behind, char text[32])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	size_t unit = 0;

	while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
		bytes /= 1000;
		unit++;
	}
	snprintf(text, 32, "%.*f %s%s", unit && bytes < 100 ? 1 : 0, bytes, units[unit],
		 behind);
	return text;
}

/* --- What has changed in between --- */

static double by_second(const json_t *now, const json_t *before, const char *member,
			double seconds)
{
	const uint64_t is = rct_count(now, member), was = rct_count(before, member);

	/* A device that was opened anew begins with 0. */
	return seconds > 0 && is >= was ? (double)(is - was) / seconds : 0;
}

static const json_t *device_before(const json_t *document, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(document, "devices"), i, one)
	{
		if (!strcmp(rct_text(one, "device"), name))
			return one;
	}
	return NULL;
}

/* Adds what is asked for to each device. */
static void add_rates(json_t *document, const json_t *before)
{
	const double seconds =
		(double)(rct_count(document, "at_ns") - rct_count(before, "at_ns")) / 1e9;
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(document, "devices"), i, one)
	{
		const json_t *old = device_before(before, rct_text(one, "device"));

		json_object_set_new(one, "received_bytes_per_second",
				    json_real(by_second(one, old, "received_bytes",
							seconds)));
		json_object_set_new(one, "sent_bytes_per_second",
				    json_real(
					    by_second(one, old, "sent_bytes", seconds)));
		json_object_set_new(
			one, "stalls_per_second",
			json_real(by_second(one, old, "request_stalls", seconds) +
				  by_second(one, old, "response_stalls", seconds)));
		json_object_set_new(one, "stalled_share",
				    json_real(by_second(one, old, "stall_ns", seconds) /
					      1e9));
	}
}

/* --- The sheet --- */

static double real(const json_t *object, const char *member)
{
	return json_number_value(json_object_get(object, member));
}

static void print_head(const json_t *document)
{
	const json_t *now = json_object_get(document, "now"),
		     *arena = json_object_get(document, "arena");
	char used[32], all[32], id[32];

	printf("%s, router %s: %" PRIu64 " connections of %" PRIu64 " hosts, %" PRIu64
	       " messages queued, memory %s of %s, %" PRIu64 " worker%s%s\n\n",
	       rct_text(document, "name"), rct_number(document, "router", id),
	       rct_count(now, "connections"), rct_count(now, "clients"),
	       rct_count(now, "queued"),
	       bytes_text((double)rct_count(arena, "bytes_taken"), "", used),
	       bytes_text((double)rct_count(arena, "bytes"), "", all),
	       rct_count(now, "workers"), rct_count(now, "workers") == 1 ? "" : "s",
	       rct_true(now, "drain") ? ", takes no new ones" : "");
}

static void add_device(struct grd_grid *grid, const json_t *one)
{
	char text[32];

	grd_add(grid, rct_text(one, "device"));
	grd_add(grid, rct_text(one, "subnet"));
	grd_add(grid, rct_true(one, "up") ? "up" : "down");
	grd_add(grid, bytes_text(real(one, "received_bytes_per_second"), "/s", text));
	grd_add(grid, bytes_text(real(one, "sent_bytes_per_second"), "/s", text));
	grd_add(grid, rct_number(one, "peers", text));
	grd_add(grid, rct_number(one, "queued", text));
	grd_add(grid, rct_number(one, "stalled", text));
	snprintf(text, sizeof(text), "%.0f", real(one, "stalls_per_second"));
	grd_add(grid, text);
	snprintf(text, sizeof(text), "%.2f", real(one, "stalled_share"));
	grd_add(grid, text);
}

static int print_devices(const json_t *document)
{
	static const char *const names[] = {
		"Device", "Subnet", "State",   "In",	   "Out",
		"Peers",  "Queued", "Waiting", "Stalls/s", "Stalled",
	};
	const json_t *one;
	struct grd_grid grid;
	size_t i;

	grd_begin(&grid, sizeof(names) / sizeof(*names));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		grd_add(&grid, names[i]);
	json_array_foreach(json_object_get(document, "devices"), i, one)
		add_device(&grid, one);
	return grd_end(&grid, stdout);
}

static void add_busy(struct grd_grid *grid, const json_t *one)
{
	char text[32];

	grd_add(grid, rct_text(one, "source"));
	grd_add(grid, rct_text(one, "target"));
	grd_add(grid, rct_text(one, "out"));
	grd_add(grid, rct_number(one, "worker", text));
	grd_add(grid, bytes_text((double)rct_count(one, "bytes_per_second"), "/s", text));
	grd_add(grid, rct_number(one, "queued", text));
	grd_add(grid, rct_true(one, "stalled") ? "waits" : rct_text(one, "state"));
}

static int print_busiest(const json_t *document)
{
	static const char *const names[] = {
		"Source", "Target", "To", "Worker", "Passed on", "Queued", "State",
	};
	const json_t *list = json_object_get(document, "connections"), *one;
	struct grd_grid grid;
	size_t i;

	if (!json_array_size(list))
		return 0;
	putchar('\n');
	grd_begin(&grid, sizeof(names) / sizeof(*names));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		grd_add(&grid, names[i]);
	json_array_foreach(list, i, one) add_busy(&grid, one);
	return grd_end(&grid, stdout);
}

static int print_all(const struct rct_live_options *options, const json_t *document)
{
	int ret;

	if (options->json) {
		ret = json_dumpf(document, stdout, JSON_COMPACT);
		putchar('\n');
		return ret;
	}
	fputs(isatty(STDOUT_FILENO) ? CLEAR : "", stdout);
	print_head(document);
	ret = print_devices(document);
	if (!ret)
		ret = print_busiest(document);
	if (!isatty(STDOUT_FILENO))
		putchar('\n');
	return ret;
}

/* --- Again and again --- */

static json_t *look(const char *path)
{
	return rct_ask(path, json_pack("{s:s, s:i}", "command", "top", "count", BUSIEST),
		       PATIENCE);
}

int rct_live_top(const struct rct_live_options *options, const char *path)
{
	json_t *before = look(path), *document;
	uint32_t i;
	int ret = 0;

	for (i = 0; before && !ret && (!options->count || i < options->count); i++) {
		rct_pause(options->delay);
		document = look(path);
		if (document) {
			add_rates(document, before);
			ret = print_all(options, document);
		}
		if (fflush(stdout))
			ret = -1;
		json_decref(before);
		before = document;
	}
	ret = ret || !before;
	json_decref(before);
	return ret;
}
