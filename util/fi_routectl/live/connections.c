/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of connections that a router passes on, and of what it has counted. */
#include <inttypes.h>
#include <stdio.h>

#include "grid/grid.h"
#include "live.h"

/* --- Connections --- */

static const char *const lanes[] = {"requests", "responses"};

/* What one peer has sent in a lane: it is the other one that it waits for. */
static void add_lane(struct grd_grid *grid, const json_t *from, const json_t *to,
		     const char *name)
{
	const json_t *lane = json_object_get(from, name);
	char text[32];

	grd_add(grid, name);
	grd_add(grid, rct_text(from, "peer"));
	grd_add(grid, rct_text(to, "peer"));
	grd_add(grid, rct_number(lane, "messages", text));
	grd_add(grid, rct_number(lane, "bytes", text));
	grd_add(grid, rct_number(lane, "queued", text));
	grd_add(grid, rct_number(lane, "stalls", text));
	snprintf(text, sizeof(text), "%" PRIu64 " ms",
		 rct_count(lane, "stall_ns") / 1000000);
	grd_add(grid, text);
	grd_add(grid, rct_true(lane, "stalled") ? rct_text(to, "peer") : "");
}

static void add_connection(struct grd_grid *grid, const json_t *connection)
{
	const json_t *in = json_object_get(connection, "in"),
		     *out = json_object_get(connection, "out");
	const bool probe = rct_true(connection, "probe");
	char text[32];
	uint32_t i;

	for (i = 0; i < 4; i++) {
		grd_add(grid, i ? "" : rct_text(connection, "source"));
		grd_add(grid, i ? "" : rct_text(connection, "target"));
		grd_add(grid, i ? "" : probe ? "probe" : rct_text(connection, "state"));
		grd_add(grid, i ? "" : rct_age(rct_count(connection, "age_ms"), text));
		grd_add(grid, i ? "" : rct_number(connection, "worker", text));
		add_lane(grid, i / 2 ? out : in, i / 2 ? in : out, lanes[i % 2]);
	}
}

int rct_sheet_connections(const json_t *document)
{
	static const char *const names[] = {
		"Source", "Target", "State",   "Age",	     "Worker",
		"Lane",	  "From",   "To",      "Messages",   "Bytes",
		"Queued", "Stalls", "Stalled", "Blocked by",
	};
	const json_t *list = json_object_get(document, "connections"), *one;
	const uint64_t total = rct_count(document, "total");
	struct grd_grid grid;
	size_t i;

	printf("%s: %" PRIu64 " connections", rct_text(document, "name"), total);
	if (total > json_array_size(list))
		printf(", of which these are %zu", json_array_size(list));
	printf("\n\n");
	grd_begin(&grid, sizeof(names) / sizeof(*names));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		grd_add(&grid, names[i]);
	json_array_foreach(list, i, one) add_connection(&grid, one);
	return grd_end(&grid, stdout);
}

/* --- Counters --- */

static void add_member(struct grd_grid *grid, const char *group, const char *name,
		       const json_t *value)
{
	char text[32];

	if (json_is_string(value))
		snprintf(text, sizeof(text), "%.31s", json_string_value(value));
	else if (json_is_boolean(value))
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "yes" : "no");
	else
		snprintf(text, sizeof(text), "%" PRIu64,
			 (uint64_t)json_integer_value(value));
	grd_add(grid, group);
	grd_add(grid, name);
	grd_add(grid, text);
}

static void add_group(struct grd_grid *grid, const char *group, const json_t *members)
{
	const char *name;
	json_t *value;

	/* The macro wants one that could be changed. */
	json_object_foreach((json_t *)members, name, value)
		add_member(grid, group, name, value);
}

int rct_sheet_counters(const json_t *document)
{
	static const char *const groups[] = {"now", "node", "sync", "arena"};
	const json_t *device;
	struct grd_grid grid;
	size_t i;

	grd_begin(&grid, 3);
	for (i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		add_group(&grid, groups[i], json_object_get(document, groups[i]));
	json_array_foreach(json_object_get(document, "devices"), i, device)
		add_group(&grid, rct_text(device, "device"), device);
	return grd_end(&grid, stdout);
}
