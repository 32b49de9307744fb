/* SPDX-License-Identifier: BSD-2-Clause */
/* The object, and what goes in and out of it. */
#include <errno.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "state.h"

static const struct rte_sync_options defaults = {
	.refresh = 60000,
	.hold_least = 50,
	.hold_most = 1000,
	.heartbeat = 1000,
	.silence = 3,
	.routers_max = 4096,
};

static uint32_t or_default(uint32_t value, uint32_t by_default)
{
	return value ? value : by_default;
}

static int options_take(struct rte_sync_options *to, const struct rte_sync_options *from)
{
	*to = *from;
	to->refresh = or_default(from->refresh, defaults.refresh);
	to->hold_least = or_default(from->hold_least, defaults.hold_least);
	to->hold_most = or_default(from->hold_most, defaults.hold_most);
	to->heartbeat = or_default(from->heartbeat, defaults.heartbeat);
	to->silence = or_default(from->silence, defaults.silence);
	to->routers_max = or_default(from->routers_max, defaults.routers_max);
	return to->as == RTE_AS_WAN || !to->router || to->epoch >= RTE_NUMBER_TOP ||
			       to->refresh > RTE_LIFETIME_MAX / RTE_LIVES ||
			       to->hold_least > to->hold_most
		       ? -FI_EINVAL
		       : 0;
}

int rte_sync_open(const struct rte_sync_options *options, const struct rte_sync_ops *ops,
		  void *context, uint64_t now, struct rte_sync **out)
{
	struct rte_sync *sync = calloc(1, sizeof(*sync));
	int ret;

	if (!sync)
		return -FI_ENOMEM;
	ret = options_take(&sync->options, options);
	if (ret)
		goto free_sync;
	sync->db = rte_lsdb_open();
	if (!sync->db) {
		ret = -FI_ENOMEM;
		goto free_sync;
	}
	sync->ops = *ops;
	sync->context = context;
	sync->epoch = options->epoch;
	sync->hold = sync->options.hold_least;
	sync->hold_until = now;
	crn_list_init(&sync->adjacencies);
	*out = sync;
	return 0;

free_sync:
	free(sync);
	return ret;
}

void rte_sync_close(struct rte_sync *sync)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&sync->adjacencies)))
		free(crn_container_of(entry, struct rte_adjacency, entry));
	rte_lsdb_close(sync->db);
	free(sync->self);
	free(sync->wanted);
	free(sync->reach);
	free(sync);
}

void rte_sync_bye(struct rte_sync *sync, uint64_t now)
{
	const struct rte_sync_message bye = {.type = RTE_SYNC_BYE};
	struct crn_list *entry;

	if (sync->over)
		return;
	rte_own_withdraw(sync, now);
	crn_list_for_each (entry, &sync->adjacencies)
		rte_sync_send(sync, crn_container_of(entry, struct rte_adjacency, entry),
			      &bye);
	sync->over = true;
}

void rte_sync_send(struct rte_sync *sync, struct rte_adjacency *adjacency,
		   const struct rte_sync_message *message)
{
	if (adjacency->dead || sync->over)
		return;
	sync->counters.sent++;
	sync->ops.send(sync->context, adjacency->peer, message);
}

/* What neighbours and what borders may say. */
static bool is_expected(const struct rte_adjacency *from, enum rte_sync_type type)
{
	switch (type) {
	case RTE_SYNC_DIGEST:
	case RTE_SYNC_LSREQ:
	case RTE_SYNC_LSA:
		return !from->border;
	case RTE_SYNC_AS_REACH:
		return from->border;
	default:
		return true;
	}
}

static int handle(struct rte_sync *sync, struct rte_adjacency *from,
		  const struct rte_sync_message *message, uint64_t now)
{
	switch (message->type) {
	case RTE_SYNC_DIGEST:
		return rte_digest_receive(sync, from, message, now);
	case RTE_SYNC_LSREQ:
		return rte_lsreq_receive(sync, from, message, now);
	case RTE_SYNC_LSA:
		return rte_flood_receive(sync, from, message->lsa, now);
	case RTE_SYNC_AS_REACH:
		return rte_reach_receive(sync, from, message);
	case RTE_SYNC_HEARTBEAT:
		rte_heartbeat_receive(sync, from, message, now);
		return 0;
	case RTE_SYNC_BYE:
		rte_adjacency_lost(sync, from, true, now);
		return 0;
	}
	return -FI_EINVAL;
}

int rte_sync_receive(struct rte_sync *sync, struct rte_adjacency *adjacency,
		     const struct rte_sync_message *message, uint64_t now)
{
	struct rte_sync_counters *counters = &sync->counters;
	int ret;

	counters->received++;
	if (adjacency->dead || sync->over) {
		counters->dead++;
		return 0;
	}
	adjacency->heard = now;
	if (!is_expected(adjacency, message->type)) {
		counters->unexpected++;
		return -FI_EACCES;
	}
	ret = handle(sync, adjacency, message, now);
	counters->malformed += ret == -FI_EINVAL;
	counters->range += ret == -ERANGE;
	counters->full += ret == -FI_ENOSPC;
	counters->memory += ret == -FI_ENOMEM;
	return ret;
}

static bool age(struct rte_sync *sync, uint64_t now)
{
	struct rte_sync_event event = {.what = RTE_SYNC_GONE};

	if (!rte_lsdb_age(sync->db, now, &event.as, &event.router))
		return false;
	sync->ops.event(sync->context, &event);
	return true;
}

void rte_sync_tick(struct rte_sync *sync, uint64_t now)
{
	const uint64_t due = rte_sync_deadline(sync);
	const uint64_t late = now > due ? now - due : 0;

	if (sync->over)
		return;
	sync->counters.late += late;
	rte_own_tick(sync, now);
	while (age(sync, now))
		;
	rte_adjacency_tick(sync, late, now);
}

uint64_t rte_sync_deadline(const struct rte_sync *sync)
{
	uint64_t at;

	if (sync->over)
		return UINT64_MAX;
	at = CRN_MIN(rte_own_deadline(sync), rte_adjacency_deadline(sync));
	return CRN_MIN(at, rte_lsdb_deadline(sync->db));
}

struct rte_lsdb *rte_sync_db(struct rte_sync *sync)
{
	return sync->db;
}

const struct rte_sync_counters *rte_sync_counters(const struct rte_sync *sync)
{
	return &sync->counters;
}
