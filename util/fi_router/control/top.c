/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How busy the router is. Devices tell what they have done since the start, who asks
 * subtracts; of the busiest connections this end does, for to tell of all would take
 * long: each remembers when it was looked at last.
 */
#include <stdlib.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "worker/worker.h"

struct busy {
	struct frt_transit *transit;
	uint64_t bytes; /* of payload, in a second */
};

struct top {
	struct busy busy[FRT_TOP_COUNT_MAX]; /* the busiest first */
	uint32_t count, most;
	uint64_t now; /* ns */
};

static uint64_t bytes_of(const struct frt_transit *transit)
{
	uint64_t sum = 0;
	enum frt_from from;
	enum rte_lane lane;

	for (from = 0; from < FRT_SIDES; from++)
		for (lane = 0; lane < RTE_LANES; lane++)
			sum += transit->side[from].lane[lane].bytes;
	return sum;
}

static uint64_t look(struct frt_transit *transit, uint64_t now)
{
	const uint64_t age = (crn_now_ms() - transit->began) * 1000000u;
	const uint64_t since = transit->looked ? now - transit->looked : age;
	const uint64_t bytes = bytes_of(transit), more = bytes - transit->looked_bytes;

	transit->looked = now;
	transit->looked_bytes = bytes;
	return since ? (uint64_t)((double)more * 1e9 / (double)since) : 0;
}

static void add_busy(const struct frt_transit *transit, void *context)
{
	struct top *top = context;
	/* It is ours to remember what was told. */
	struct busy one = {.transit = (struct frt_transit *)(uintptr_t)transit};
	uint32_t at;

	one.bytes = look(one.transit, top->now);
	if (top->count < top->most)
		top->count++;
	for (at = top->count;
	     at && (!top->busy[at - 1].transit || top->busy[at - 1].bytes < one.bytes);
	     at--)
		if (at < top->count)
			top->busy[at] = top->busy[at - 1];
	if (at < top->count)
		top->busy[at] = one;
}

static void add_side(json_t *object, const struct frt_side *side, const char *name)
{
	json_object_set_new(object, name, json_string(side->text));
}

static json_t *busy_json(const struct busy *busy)
{
	const struct frt_transit *transit = busy->transit;
	uint32_t queued = 0, stalled = 0;
	enum frt_from from;
	enum rte_lane lane;
	json_t *object;

	for (from = 0; from < FRT_SIDES; from++)
		for (lane = 0; lane < RTE_LANES; lane++) {
			queued += transit->side[from].lane[lane].queued;
			stalled += transit->side[from].lane[lane].stall_at != 0;
		}
	object = json_pack("{s:o, s:o, s:s, s:I, s:o, s:I, s:b}", "source",
			   frt_json_end(&transit->req.source), "target",
			   frt_json_end(&transit->req.target), "state",
			   frt_transit_state_name(transit->state), "worker",
			   (json_int_t)transit->worker->index, "bytes_per_second",
			   frt_json_count(busy->bytes), "queued", (json_int_t)queued,
			   "stalled", stalled != 0);
	add_side(object, &transit->side[FRT_IN], "in");
	add_side(object, &transit->side[FRT_OUT], "out");
	return object;
}

json_t *frt_show_top(const struct frt_node *node, uint32_t busiest)
{
	struct top top = {.most = busiest, .now = frt_worker_now()};
	json_t *object = frt_json_self(node), *array = json_array();
	uint64_t now = top.now;
	uint32_t i;

	frt_transit_each(node, add_busy, &top);
	for (i = 0; i < top.count; i++)
		json_array_append_new(array, busy_json(&top.busy[i]));
	json_object_set_new(object, "now", frt_show_now(node));
	json_object_set_new(object, "arena", frt_show_arena(node));
	json_object_set_new(object, "devices", frt_show_devices(node, &now));
	json_object_set_new(object, "at_ns", frt_json_count(now));
	json_object_set_new(object, "connections", array);
	return object;
}
