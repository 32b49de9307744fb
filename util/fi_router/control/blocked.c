/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waits for whom: what one peer of a connection has sent waits for credits of the
 * other. That one is the blocker; those on one host, or of one router, count together.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <cairn/compat.h>

#include "inside.h"
#include "worker/worker.h"

/* Blockers of which there may be some more, who are left out; so are connections. */
#define BLOCKERS_MOST 256u
#define WAITING_MOST 1024u

struct blocker {
	const struct frt_side *side; /* one of its */
	uint32_t stalled;	     /* lanes that wait for it now */
	uint32_t queued;	     /* messages of these */
	uint64_t longest;	     /* ns: of them */
	uint64_t stalls, stall_ns;   /* of connections that there are */
};

struct waiting {
	const struct frt_transit *transit;
	enum frt_from from;
	enum rte_lane lane;
	uint64_t ns;
};

struct blocked {
	struct blocker blocker[BLOCKERS_MOST];
	struct waiting waiting[WAITING_MOST];
	uint32_t blockers, waitings;
	uint64_t total; /* lanes that wait */
	uint64_t now;	/* ns */
};

/* 0: a program's. */
static uint64_t router_of(const struct frt_side *side)
{
	return side->peer && !side->end ? side->peer->remote.node : 0;
}

static bool same_blocker(const struct frt_side *a, const struct frt_side *b)
{
	if (a->device != b->device || a->end != b->end || !a->peer || !b->peer)
		return false;
	return a->end ? crn_addr_same_host(&a->peer->address.sa, &b->peer->address.sa)
		      : router_of(a) == router_of(b);
}

static struct blocker *blocker_of(struct blocked *blocked, const struct frt_side *side)
{
	uint32_t i;

	for (i = 0; i < blocked->blockers; i++)
		if (same_blocker(blocked->blocker[i].side, side))
			return &blocked->blocker[i];
	if (!side->peer || blocked->blockers == BLOCKERS_MOST)
		return NULL;
	blocked->blocker[blocked->blockers].side = side;
	return &blocked->blocker[blocked->blockers++];
}

static void add_waiting(struct blocked *blocked, const struct waiting *waiting)
{
	blocked->total++;
	if (blocked->waitings < WAITING_MOST)
		blocked->waiting[blocked->waitings++] = *waiting;
}

static void add_lane(struct blocked *blocked, const struct waiting *waiting)
{
	const struct frt_transit *transit = waiting->transit;
	const struct frt_lane *lane = &transit->side[waiting->from].lane[waiting->lane];
	struct blocker *blocker;

	if (!lane->stalls)
		return;
	blocker = blocker_of(blocked, &transit->side[FRT_SIDES - 1 - waiting->from]);
	if (lane->stall_at)
		add_waiting(blocked, waiting);
	if (!blocker)
		return;
	blocker->stalls += lane->stalls;
	blocker->stall_ns += frt_lane_stalled(lane, blocked->now);
	if (!lane->stall_at)
		return;
	blocker->stalled++;
	blocker->queued += lane->queued;
	blocker->longest = CRN_MAX(blocker->longest, waiting->ns);
}

static void add_transit(const struct frt_transit *transit, void *context)
{
	struct blocked *blocked = context;
	struct waiting waiting = {.transit = transit};
	uint64_t since;

	for (waiting.from = 0; waiting.from < FRT_SIDES; waiting.from++)
		for (waiting.lane = 0; waiting.lane < RTE_LANES; waiting.lane++) {
			since = transit->side[waiting.from].lane[waiting.lane].stall_at;
			waiting.ns =
				since && blocked->now > since ? blocked->now - since : 0;
			add_lane(blocked, &waiting);
		}
}

/* --- In order --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_blockers(const void *a, const void *b)
{
	const struct blocker *x = a, *y = b;
	const int ret = compare(x->stalled, y->stalled);

	return ret ? ret : compare(x->stall_ns, y->stall_ns);
}

static int compare_waiting(const void *a, const void *b)
{
	return compare(((const struct waiting *)a)->ns, ((const struct waiting *)b)->ns);
}

/* --- As JSON --- */

/* The host alone, or the router's name, which its text has. */
static json_t *blocker_name(const struct frt_side *side)
{
	const union crn_addr *addr = &side->peer->address;
	char host[INET6_ADDRSTRLEN] = "?";

	if (!side->end)
		return json_sprintf("router %" PRIu64, router_of(side));
	if (addr->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &addr->in.sin_addr, host, sizeof(host));
	else if (addr->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &addr->in6.sin6_addr, host, sizeof(host));
	return json_string(host);
}

static json_t *blocker_json(const struct frt_node *node, const struct blocker *blocker)
{
	const struct frt_side *side = blocker->side;

	return json_pack("{s:o, s:s, s:o, s:b, s:o, s:I, s:I, s:o, s:o, s:o}", "blocker",
			 blocker_name(side), "device", side->device->config->name,
			 "subnet", frt_json_net(node, side->device->id), "end", side->end,
			 "router", frt_json_id(router_of(side)), "stalled",
			 (json_int_t)blocker->stalled, "queued",
			 (json_int_t)blocker->queued, "longest_ns",
			 frt_json_count(blocker->longest), "stalls",
			 frt_json_count(blocker->stalls), "stall_ns",
			 frt_json_count(blocker->stall_ns));
}

static json_t *waiting_json(const struct waiting *waiting)
{
	const struct frt_transit *transit = waiting->transit;
	const struct frt_side *from = &transit->side[waiting->from];

	return json_pack("{s:o, s:o, s:s, s:s, s:s, s:I, s:I, s:o}", "source",
			 frt_json_end(&transit->req.source), "target",
			 frt_json_end(&transit->req.target), "lane",
			 waiting->lane == RTE_REQUESTS ? "requests" : "responses",
			 "waits", from->text, "blocked_by",
			 transit->side[FRT_SIDES - 1 - waiting->from].text, "worker",
			 (json_int_t)transit->worker->index, "queued",
			 (json_int_t)from->lane[waiting->lane].queued, "ns",
			 frt_json_count(waiting->ns));
}

json_t *frt_show_blocked(const struct frt_node *node)
{
	struct blocked *blocked = calloc(1, sizeof(*blocked));
	json_t *object, *blockers = json_array(), *waiting = json_array();
	uint32_t i;

	if (!blocked) {
		json_decref(blockers);
		json_decref(waiting);
		return NULL;
	}
	blocked->now = frt_worker_now();
	frt_transit_each(node, add_transit, blocked);
	qsort(blocked->blocker, blocked->blockers, sizeof(*blocked->blocker),
	      compare_blockers);
	qsort(blocked->waiting, blocked->waitings, sizeof(*blocked->waiting),
	      compare_waiting);
	for (i = 0; i < blocked->blockers; i++)
		json_array_append_new(blockers, blocker_json(node, &blocked->blocker[i]));
	for (i = 0; i < blocked->waitings; i++)
		json_array_append_new(waiting, waiting_json(&blocked->waiting[i]));
	object = frt_json_self(node);
	json_object_set_new(object, "total", frt_json_count(blocked->total));
	json_object_set_new(object, "blockers", blockers);
	json_object_set_new(object, "waiting", waiting);
	free(blocked);
	return object;
}
