/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that are passed on, and what has been counted. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "adjacency/adjacency.h"
#include "inside.h"
#include "sums.h"

/* Connections of one answer; of others it says that they are there. */
#define CONNECTIONS_MOST 4096u

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- Connections --- */

struct list {
	const struct frt_node *node;
	json_t *array;
	uint64_t now; /* ns */
	uint32_t count;
};

static json_t *lane_json(const struct frt_lane *lane, uint64_t now)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:b}", "messages",
			 frt_json_count(lane->messages), "pieces",
			 frt_json_count(lane->pieces), "placed",
			 frt_json_count(lane->placed), "bytes",
			 frt_json_count(lane->bytes), "queued", (json_int_t)lane->queued,
			 "stalls", frt_json_count(lane->stalls), "stall_ns",
			 frt_json_count(frt_lane_stalled(lane, now)), "stalled",
			 lane->stall_at != 0);
}

/* What the peer has sent: it is the other one that a lane of this side stalls for. */
static json_t *side_json(const struct frt_side *side, uint64_t now)
{
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "peer", side->text, "device",
			 side->device ? side->device->config->name : "", "end", side->end,
			 "requests", lane_json(&side->lane[RTE_REQUESTS], now),
			 "responses", lane_json(&side->lane[RTE_RESPONSES], now));
}

static json_t *transit_json(const struct list *list, const struct frt_transit *transit)
{
	const uint64_t since = transit->opened ? transit->opened : transit->began;

	return json_pack("{s:o, s:o, s:s, s:b, s:I, s:o, s:o, s:o}", "source",
			 frt_json_end(&transit->req.source), "target",
			 frt_json_end(&transit->req.target), "state",
			 frt_transit_state_name(transit->state), "probe",
			 (transit->req.features & RTE_FEATURE_PROBE) != 0, "worker",
			 (json_int_t)transit->worker->index, "age_ms",
			 frt_json_count(crn_now_ms() - since), "in",
			 side_json(&transit->side[FRT_IN], list->now), "out",
			 side_json(&transit->side[FRT_OUT], list->now));
}

static void add_transit(const struct frt_transit *transit, void *context)
{
	struct list *list = context;

	if (list->count++ < CONNECTIONS_MOST)
		json_array_append_new(list->array, transit_json(list, transit));
}

json_t *frt_show_connections(const struct frt_node *node)
{
	json_t *object = frt_json_self(node);
	struct list list = {.node = node, .array = json_array(), .now = now_ns()};

	frt_transit_each(node, add_transit, &list);
	json_object_set_new(object, "total", json_integer(list.count));
	json_object_set_new(object, "connections", list.array);
	return object;
}

/* --- Counters --- */

struct counter {
	const char *name;
	size_t at;
};

static json_t *counters_json(const void *counters, const struct counter *names,
			     size_t count)
{
	json_t *object = json_object();
	uint64_t value;
	size_t i;

	for (i = 0; i < count; i++) {
		memcpy(&value, (const char *)counters + names[i].at, sizeof(value));
		json_object_set_new(object, names[i].name, frt_json_count(value));
	}
	return object;
}

#define NODE(name)                                         \
	{                                                  \
#name, offsetof(struct frt_counters, name) \
	}
#define SYNC(name)                                              \
	{                                                       \
#name, offsetof(struct rte_sync_counters, name) \
	}

#define DENIED(why, what)                                                     \
	{                                                                     \
		why, offsetof(struct frt_counters, denied[RTE_DENIED_##what]) \
	}

static const struct counter node_counters[] = {
	NODE(requests),
	NODE(delivered),
	NODE(forwarded),
	NODE(redirected),
	NODE(refused),
	NODE(unreached),
	NODE(accepted),
	NODE(rejected),
	NODE(silent),
	NODE(mute),
	DENIED("no_proof", NO_PROOF),
	DENIED("no_key", NO_KEY),
	DENIED("unknown_key", KEY_ID),
	DENIED("wrong_key", KEY),
	DENIED("replayed", REPLAY),
	NODE(unknown_as),
	NODE(acl),
	NODE(quota_connections),
	NODE(quota_slots),
	NODE(quota_resolves),
	NODE(adjacencies_up),
	NODE(adjacencies_down),
	NODE(malformed),
	NODE(queue_full),
	NODE(duplicate_id),
};

static const struct counter sync_counters[] = {
	SYNC(received),	  SYNC(sent),	     SYNC(dead),       SYNC(unexpected),
	SYNC(foreign),	  SYNC(third_party), SYNC(malformed),  SYNC(known),
	SYNC(full),	  SYNC(memory),	     SYNC(unanswered), SYNC(ahead),
	SYNC(originated), SYNC(repaired),    SYNC(lost),       SYNC(late),
	SYNC(range),	  SYNC(capped),	     SYNC(evicted),
};

/* A field more is a line more here. */
_Static_assert(sizeof(struct frt_counters) ==
		       sizeof(node_counters) / sizeof(*node_counters) * 8,
	       "all of them");
_Static_assert(sizeof(struct rte_sync_counters) ==
		       sizeof(sync_counters) / sizeof(*sync_counters) * 8,
	       "all of them");

static json_t *device_json(const struct frt_node *node, const struct frt_sum *sum)
{
	const struct frt_device *device = sum->device;
	const struct frt_past *all = &sum->all;

	return json_pack(
		"{s:s, s:o, s:b, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:I, s:I, s:o}",
		"device", device->config->name, "subnet", frt_json_net(node, device->id),
		"up", device->up, "uri", device->uri_text, "rate",
		frt_json_count(device->rate), "peers", (json_int_t)sum->peers, "received",
		frt_json_count(all->rx), "received_bytes", frt_json_count(all->rx_bytes),
		"sent", frt_json_count(all->tx), "sent_bytes",
		frt_json_count(all->tx_bytes), "request_stalls",
		frt_json_count(all->stalls[RTE_REQUESTS]), "response_stalls",
		frt_json_count(all->stalls[RTE_RESPONSES]), "stalled",
		(json_int_t)sum->stalled[RTE_REQUESTS] + sum->stalled[RTE_RESPONSES],
		"queued",
		(json_int_t)sum->queued[RTE_REQUESTS] + sum->queued[RTE_RESPONSES],
		"stall_ns",
		frt_json_count(all->stall_ns[RTE_REQUESTS] +
			       all->stall_ns[RTE_RESPONSES]));
}

json_t *frt_show_devices(const struct frt_node *node, uint64_t *now)
{
	struct frt_sums *sums = malloc(sizeof(*sums));
	json_t *devices = json_array();
	uint32_t i;

	if (!sums)
		return devices;
	frt_sums(node, sums);
	*now = sums->now;
	for (i = 0; i < sums->count; i++)
		json_array_append_new(devices, device_json(node, &sums->sum[i]));
	free(sums);
	return devices;
}

json_t *frt_show_arena(const struct frt_node *node)
{
	struct rte_arena_use use;

	frt_sums_memory(node, &use);
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "lands", (json_int_t)use.lands,
			 "lands_taken", (json_int_t)use.lands_taken, "messages",
			 (json_int_t)use.messages, "messages_taken",
			 (json_int_t)use.messages_taken, "bytes",
			 frt_json_count(use.bytes), "bytes_taken",
			 frt_json_count(use.bytes_taken));
}

static uint32_t clients(const struct frt_node *node)
{
	const struct crn_list *entry;
	uint32_t count = 0;

	crn_list_for_each (entry, &node->clients)
		count++;
	return count;
}

json_t *frt_show_now(const struct frt_node *node)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "workers",
			 (json_int_t)frt_workers_count(node), "connections",
			 (json_int_t)frt_transit_count(node), "queued",
			 (json_int_t)frt_transits_queued(node), "clients",
			 (json_int_t)clients(node), "guests", (json_int_t)node->guests,
			 "adjacencies", (json_int_t)frt_adjacencies_count(node), "drain",
			 node->drain);
}

json_t *frt_show_counters(const struct frt_node *node)
{
	json_t *object = frt_json_self(node);
	struct frt_counters counters = node->counters;
	uint64_t now;

	frt_clients_count(node, &counters);
	json_object_set_new(object, "now", frt_show_now(node));
	json_object_set_new(object, "node",
			    counters_json(&counters, node_counters,
					  CRN_COUNT(node_counters)));
	json_object_set_new(object, "sync",
			    counters_json(rte_sync_counters(node->sync), sync_counters,
					  CRN_COUNT(sync_counters)));
	json_object_set_new(object, "devices", frt_show_devices(node, &now));
	json_object_set_new(object, "arena", frt_show_arena(node));
	return object;
}
