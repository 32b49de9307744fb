/* SPDX-License-Identifier: BSD-2-Clause */
/* Between rte_sync and everything else. */
#include <inttypes.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"
#include "self.h"

static void on_send(void *context, void *peer, const struct rte_sync_message *message)
{
	(void)context;
	frt_queue_say(peer, message);
}

/* What a border says of the WAN that it is met on. */
static void hear_reach(struct frt_node *node, struct frt_adjacency *adjacency,
		       const struct rte_sync_event *event)
{
	const struct rte_config_device *config = adjacency->device->config;
	const uint64_t before = adjacency->border.cost;
	uint32_t i;

	for (i = 0; i < event->reach_count; i++)
		if (event->reach[i].subnet == config->at.subnet)
			adjacency->border.cost = event->reach[i].cost;
	/* A WAN behind which nobody takes connections leads nowhere. */
	node->changed |= (before == FRT_REACH_DRAIN) !=
			 (adjacency->border.cost == FRT_REACH_DRAIN);
	frt_routes_forget(node);
}

/* A kind of lines about a peer, beside the error numbers (log.h). */
#define KIND_EVICTED 0x10001u

/* The neighbour may be connected over several devices, or no longer. */
static void log_evicted(const struct frt_node *node, const struct rte_sync_event *event)
{
	const struct frt_adjacency *adjacency = NULL;
	uint32_t i;

	for (i = 0; i < node->devices && !adjacency; i++)
		adjacency = frt_adjacency_find(node->device[i], event->as, event->of);
	if (adjacency)
		frt_log_peer(
			frt_log_first(FRT_WARN, &adjacency->peer->address.sa,
				      KIND_EVICTED),
			"%s: router %s has advertised so many routers that there is no "
			"room for those of others: %" PRIu64
			", and maybe more, are dropped; are there so many?",
			adjacency->device->config->name, adjacency->peer->text,
			event->router);
}

static void on_event(void *context, const struct rte_sync_event *event)
{
	struct frt_node *node = context;
	struct frt_adjacency *adjacency = event->peer;

	switch (event->what) {
	case RTE_SYNC_CHANGED:
		frt_routes_put(node, event->lsa);
		node->news = node->changed = node->retarget = true;
		break;
	case RTE_SYNC_GONE:
		frt_routes_del(node, event->as, event->router);
		node->news = node->changed = node->retarget = true;
		frt_log(FRT_INFO,
			"router %" PRIu64 " has not been heard of for too long, and is "
			"forgotten: is it running?",
			event->router);
		break;
	case RTE_SYNC_EVICTED:
		frt_routes_del(node, event->as, event->router);
		node->news = node->changed = node->retarget = true;
		log_evicted(node, event);
		break;
	case RTE_SYNC_LOST:
		if (!adjacency->failed)
			adjacency->failed = event->bye ? FI_ECONNABORTED : FI_ETIMEDOUT;
		break;
	case RTE_SYNC_CONTESTED:
		frt_duplicate_contested(adjacency, event->lsa);
		break;
	case RTE_SYNC_OUT:
		frt_duplicate_out(node);
		break;
	case RTE_SYNC_REACHES:
		hear_reach(node, adjacency, event);
		break;
	}
}

static uint64_t on_time(void *context)
{
	(void)context;
	return frt_time_of_day();
}

static const struct rte_sync_ops ops = {
	.send = on_send,
	.event = on_event,
	.time = on_time,
};

static void on_tick(struct crn_deadline *deadline)
{
	struct frt_node *node = crn_container_of(deadline, struct frt_node, tick);

	node->moved = true;
	rte_sync_tick(node->sync, crn_now_ms());
}

int frt_sync_open(struct frt_node *node)
{
	const struct rte_config *config = frt_config(node);
	const struct rte_sync_options options = {
		.as = config->router.as,
		.router = config->router.id,
		.epoch = node->epoch,
		.refresh = config->router.refresh,
		.hold_least = config->router.hold_first,
		.hold_most = config->router.hold_last,
		.heartbeat = config->routing.heartbeat,
		.silence = config->routing.heartbeat_loss,
	};
	int ret = rte_sync_open(&options, &ops, node, crn_now_ms(), &node->sync);

	if (ret)
		return ret;
	node->tick.expired = on_tick;
	ret = frt_routes_open(node, rte_sync_db(node->sync));
	if (ret) {
		rte_sync_close(node->sync);
		node->sync = NULL;
	}
	return ret;
}

void frt_sync_close(struct frt_node *node)
{
	if (!node->sync)
		return;
	crn_deadline_remove(&node->deadlines, &node->tick);
	frt_routes_close(node);
	rte_sync_close(node->sync);
	node->sync = NULL;
}

/* --- A turn of the loop --- */

static struct frt_adjacency *one_that_failed(const struct frt_device *device)
{
	struct frt_adjacency *adjacency;
	struct crn_list *entry;

	crn_list_for_each (entry, &device->adjacencies) {
		adjacency = crn_container_of(entry, struct frt_adjacency, entry);
		if (adjacency->failed ||
		    (adjacency->ending && crn_list_empty(&adjacency->queue)))
			return adjacency;
	}
	return NULL;
}

/* To close a peer makes progress, in which others may end, or begin: from the first one
 * again. */
static void end_those_that_failed(struct frt_device *device)
{
	struct frt_adjacency *adjacency;

	while ((adjacency = one_that_failed(device))) {
		if (!adjacency->ending)
			frt_log(FRT_INFO, "%s: router %s is given up: %s; trying again",
				device->config->name, adjacency->peer->text,
				fi_strerror(adjacency->failed));
		frt_adjacency_end(adjacency, adjacency->ending ? 0 : adjacency->failed);
	}
}

static void tell_news(struct frt_node *node)
{
	struct rte_lsdb *db = rte_sync_db(node->sync);

	node->news = false;
	frt_log(FRT_DEBUG, "link states: %zu routers, %016" PRIx64, rte_lsdb_count(db),
		rte_lsdb_hash(db));
}

void frt_sync_turn(struct frt_node *node, uint64_t now)
{
	uint32_t i;

	node->moved = false;
	for (i = 0; i < node->devices; i++)
		end_those_that_failed(node->device[i]);
	if (node->changed && !node->stopping) {
		node->changed = false;
		frt_node_trim(node);
		frt_self_tell(node, now);
	}
	if (node->retarget && !node->stopping) {
		node->retarget = false;
		for (i = 0; i < node->devices; i++)
			frt_targets_update(node->device[i]);
	}
	if (node->news)
		tell_news(node);
	if (rte_sync_deadline(node->sync) != UINT64_MAX)
		crn_deadline_add(&node->deadlines, &node->tick,
				 rte_sync_deadline(node->sync));
	else
		crn_deadline_remove(&node->deadlines, &node->tick);
}

void frt_sync_bye(struct frt_node *node, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < node->devices; i++)
		frt_targets_close(node->device[i]);
	rte_sync_bye(node->sync, now);
	node->moved = true;
}

bool frt_sync_silent(const struct frt_node *node)
{
	return !frt_adjacencies_count(node);
}
