/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is alive. Heartbeats go to all at one time; any message shows that its sender
 * lives. They carry a hash of what is known: one that stays another one while nothing is
 * on its way calls for a repair; at first soon, and then, as long as that does not help,
 * less and less often.
 */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "state.h"

static struct rte_adjacency *adjacency_of(struct crn_list *entry)
{
	return crn_container_of(entry, struct rte_adjacency, entry);
}

static uint32_t count_on(struct rte_sync *sync, const struct rte_sync_peer *who)
{
	struct crn_list *entry;
	uint32_t count = 0;

	crn_list_for_each (entry, &sync->adjacencies)
		count += adjacency_of(entry)->who.scope_as == who->scope_as &&
			 adjacency_of(entry)->who.subnet == who->subnet;
	return count;
}

int rte_sync_up(struct rte_sync *sync, const struct rte_sync_peer *who, void *peer,
		uint64_t now, struct rte_adjacency **out)
{
	struct rte_adjacency *adjacency;

	if (who->as == RTE_AS_WAN || !who->router ||
	    (who->as == sync->options.as && who->router == sync->options.router))
		return -FI_EINVAL;
	if (sync->adjacency_count == RTE_SYNC_ADJACENCIES_MAX ||
	    count_on(sync, who) >= RTE_NEIGHBOURS_MAX)
		return -FI_ENOSPC;
	adjacency = calloc(1, sizeof(*adjacency));
	if (!adjacency)
		return -FI_ENOMEM;
	adjacency->who = *who;
	adjacency->peer = peer;
	adjacency->border = who->as != sync->options.as;
	adjacency->heard = now;
	adjacency->patience = RTE_PATIENCE_LEAST;
	if (!sync->adjacency_count++)
		sync->beat_at = now + sync->options.heartbeat;
	crn_list_add_tail(&sync->adjacencies, &adjacency->entry);
	*out = adjacency;
	if (adjacency->border) {
		rte_reach_tell(sync, adjacency);
		return 0;
	}
	rte_digest_send(sync, adjacency, now);
	rte_own_changed(sync, now);
	return 0;
}

/* It does not count any more: as a neighbour, or as one that was asked. */
static void adjacency_end(struct rte_sync *sync, struct rte_adjacency *adjacency,
			  uint64_t now)
{
	if (adjacency->dead)
		return;
	adjacency->dead = true;
	if (adjacency->border)
		return;
	rte_wanted_move(sync, adjacency, now);
	rte_own_changed(sync, now);
}

void rte_sync_down(struct rte_sync *sync, struct rte_adjacency *adjacency, uint64_t now)
{
	adjacency_end(sync, adjacency, now);
	crn_list_del(&adjacency->entry);
	sync->adjacency_count--;
	free(adjacency);
}

void rte_adjacency_lost(struct rte_sync *sync, struct rte_adjacency *adjacency, bool bye,
			uint64_t now)
{
	const struct rte_sync_event event = {
		.what = RTE_SYNC_LOST,
		.as = adjacency->who.as,
		.router = adjacency->who.router,
		.peer = adjacency->peer,
		.bye = bye,
	};

	sync->counters.lost += !bye;
	adjacency_end(sync, adjacency, now);
	sync->ops.event(sync->context, &event);
}

/* --- Heartbeats --- */

static void heartbeat_send(struct rte_sync *sync, struct rte_adjacency *to)
{
	struct rte_sync_message message = {.type = RTE_SYNC_HEARTBEAT};

	if (to->border) {
		message.heartbeat.hash = rte_reach_held(to);
		message.heartbeat.count = to->reach_seq != 0;
	} else {
		message.heartbeat.hash = rte_lsdb_hash(sync->db);
		message.heartbeat.count = (uint32_t)rte_lsdb_count(sync->db);
	}
	rte_sync_send(sync, to, &message);
}

static uint64_t expected_hash(const struct rte_sync *sync,
			      const struct rte_adjacency *from)
{
	return from->border ? rte_reach_own(sync) : rte_lsdb_hash(sync->db);
}

/* Is it what it was the last time, here and there? */
static bool is_still(struct rte_adjacency *from, uint64_t their_hash, uint64_t our_hash)
{
	const bool still = their_hash == from->their_hash && our_hash == from->our_hash;

	from->their_hash = their_hash;
	from->our_hash = our_hash;
	return still;
}

void rte_heartbeat_receive(struct rte_sync *sync, struct rte_adjacency *from,
			   const struct rte_sync_message *message, uint64_t now)
{
	const uint64_t hash = expected_hash(sync, from);
	const bool still = is_still(from, message->heartbeat.hash, hash);

	if (message->heartbeat.hash == hash) {
		from->differed = 0;
		from->patience = RTE_PATIENCE_LEAST;
		return;
	}
	from->differed += still ? RTE_STILL : 1;
	if (from->differed < from->patience)
		return;
	from->differed = 0;
	from->patience = CRN_MIN(from->patience * 2, RTE_PATIENCE_MOST);
	sync->counters.repaired++;
	if (from->border)
		rte_reach_tell(sync, from);
	else
		rte_digest_send(sync, from, now);
}

static uint64_t silent_at(const struct rte_sync *sync,
			  const struct rte_adjacency *adjacency)
{
	return adjacency->heard +
	       (uint64_t)sync->options.heartbeat * sync->options.silence;
}

void rte_adjacency_tick(struct rte_sync *sync, uint64_t late, uint64_t now)
{
	struct rte_adjacency *adjacency;
	struct crn_list *entry;

	crn_list_for_each (entry, &sync->adjacencies) {
		adjacency = adjacency_of(entry);
		adjacency->heard = CRN_MIN(adjacency->heard + late, now);
		if (!adjacency->dead && now >= silent_at(sync, adjacency))
			rte_adjacency_lost(sync, adjacency, false, now);
	}
	if (!sync->adjacency_count || now < sync->beat_at)
		return;
	sync->beat_at = now + sync->options.heartbeat;
	crn_list_for_each (entry, &sync->adjacencies)
		heartbeat_send(sync, adjacency_of(entry));
}

uint64_t rte_adjacency_deadline(const struct rte_sync *sync)
{
	uint64_t at = sync->adjacency_count ? sync->beat_at : UINT64_MAX;
	struct crn_list *entry;

	crn_list_for_each (entry, &sync->adjacencies)
		if (!adjacency_of(entry)->dead)
			at = CRN_MIN(at, silent_at(sync, adjacency_of(entry)));
	return at;
}
