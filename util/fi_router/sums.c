/* SPDX-License-Identifier: BSD-2-Clause */
/* What each device has sent and received: its connections now, and those before. */
#include <string.h>

#include "adjacency/adjacency.h"
#include "sums.h"
#include "transit/transit.h"
#include "worker/worker.h"

static struct frt_sum *sum_of(struct frt_sums *sums, const struct frt_device *device)
{
	uint32_t i;

	for (i = 0; i < sums->count; i++)
		if (sums->sum[i].device == device)
			return &sums->sum[i];
	return NULL;
}

static void add_peer(struct frt_sum *sum, const struct rte_peer *peer)
{
	sum->peers++;
	frt_past_peer(&sum->all, peer);
}

/* What has come from the other side waits for this one's credits. */
static void add_lanes(struct frt_sums *sums, struct frt_sum *sum,
		      const struct frt_side *other)
{
	const struct frt_lane *lane;
	enum rte_lane at;

	for (at = 0; at < RTE_LANES; at++) {
		lane = &other->lane[at];
		sum->queued[at] += lane->queued;
		sum->stalled[at] += lane->stall_at != 0;
		sum->all.stalls[at] += lane->stalls;
		sum->all.stall_ns[at] += frt_lane_stalled(lane, sums->now);
	}
}

static void add_transit(const struct frt_transit *transit, void *context)
{
	struct frt_sums *sums = context;
	const struct frt_side *side;
	struct frt_sum *sum;
	enum frt_from from;

	for (from = 0; from < FRT_SIDES; from++) {
		side = &transit->side[from];
		sum = sum_of(sums, side->device);
		if (!sum)
			continue;
		if (side->peer)
			add_peer(sum, side->peer);
		add_lanes(sums, sum, &transit->side[FRT_SIDES - 1 - from]);
	}
}

static void add_neighbour(const struct frt_adjacency_view *view, void *context)
{
	struct frt_sum *sum = sum_of(context, view->device);

	if (sum)
		add_peer(sum, view->peer);
}

static void add_past(const struct frt_node *node, struct frt_sum *sum)
{
	uint32_t i;

	for (i = 0; i < node->workers; i++)
		frt_past_add(&sum->all, &sum->device->at[i].past);
}

void frt_sums(const struct frt_node *node, struct frt_sums *sums)
{
	uint32_t i;

	memset(sums, 0, sizeof(*sums));
	sums->count = node->devices;
	sums->now = frt_worker_now();
	for (i = 0; i < node->devices; i++) {
		sums->sum[i].device = node->device[i];
		add_past(node, &sums->sum[i]);
	}
	frt_transit_each(node, add_transit, sums);
	frt_adjacencies_each(node, add_neighbour, sums);
}

static void add_use(struct rte_arena_use *all, const struct rte_arena *arena)
{
	struct rte_arena_use use;

	rte_arena_use(arena, &use);
	all->lands += use.lands;
	all->lands_taken += use.lands_taken;
	all->messages += use.messages;
	all->messages_taken += use.messages_taken;
	all->bytes += use.bytes;
	all->bytes_taken += use.bytes_taken;
}

void frt_sums_memory(const struct frt_node *node, struct rte_arena_use *use)
{
	uint32_t i;

	memset(use, 0, sizeof(*use));
	for (i = 0; i < node->workers; i++)
		if (node->worker[i]->arena)
			add_use(use, node->worker[i]->arena);
}
