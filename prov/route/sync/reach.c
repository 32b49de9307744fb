/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What borders of two AS tell each other: over which WANs their own AS is reached, and at
 * what cost. Nothing passes through an AS (section IV.C.3), so nobody tells what it has
 * heard of others, and nobody else's private WAN is named.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "state.h"

static bool is_for(const struct rte_sync_reach *link, uint32_t as)
{
	return link->scope_as == RTE_AS_WAN || link->scope_as == as;
}

void rte_reach_tell(struct rte_sync *sync, struct rte_adjacency *to)
{
	struct rte_sync_reach link[RTE_SYNC_REACH_MAX];
	struct rte_sync_message message = {
		.type = RTE_SYNC_AS_REACH,
		.reach = {.key = {.as = sync->options.as,
				  .router = sync->options.router,
				  .epoch = sync->options.epoch,
				  .seq = sync->reach_seq},
			  .link = link},
	};
	uint32_t i;

	if (!sync->reach_seq)
		return;
	for (i = 0; i < sync->reach_count; i++)
		if (is_for(&sync->reach[i], to->who.as))
			link[message.reach.count++] = sync->reach[i];
	rte_sync_send(sync, to, &message);
}

static bool reach_same(const struct rte_sync *sync, const struct rte_sync_reach *link,
		       uint32_t count)
{
	uint32_t i;

	if (!sync->reach_seq || count != sync->reach_count)
		return false;
	for (i = 0; i < count; i++)
		if (link[i].scope_as != sync->reach[i].scope_as ||
		    link[i].subnet != sync->reach[i].subnet ||
		    link[i].cost != sync->reach[i].cost ||
		    link[i].hops != sync->reach[i].hops)
			return false;
	return true;
}

int rte_sync_set_reach(struct rte_sync *sync, const struct rte_sync_reach *link,
		       uint32_t count, uint64_t now)
{
	struct rte_adjacency *adjacency;
	struct rte_sync_reach *copy;
	struct crn_list *entry;

	if (count > RTE_SYNC_REACH_MAX)
		return -FI_EINVAL;
	if (reach_same(sync, link, count))
		return 0;
	copy = malloc((count + 1) * sizeof(*copy));
	if (!copy)
		return -FI_ENOMEM;
	if (count)
		memcpy(copy, link, count * sizeof(*copy));
	free(sync->reach);
	sync->reach = copy;
	sync->reach_count = count;
	sync->reach_seq++;
	crn_list_for_each (entry, &sync->adjacencies) {
		adjacency = crn_container_of(entry, struct rte_adjacency, entry);
		if (adjacency->border)
			rte_reach_tell(sync, adjacency);
	}
	return 0;
}

uint64_t rte_reach_held(const struct rte_adjacency *from)
{
	return from->reach_seq ? rte_key_hash(from->who.as, from->who.router,
					      from->reach_epoch, from->reach_seq)
			       : 0;
}

uint64_t rte_reach_own(const struct rte_sync *sync)
{
	return sync->reach_seq ? rte_key_hash(sync->options.as, sync->options.router,
					      sync->options.epoch, sync->reach_seq)
			       : 0;
}

/* Of the sender alone; of public WANs, and those between the two. */
static bool is_its_own(const struct rte_sync *sync, const struct rte_adjacency *from,
		       const struct rte_sync_message *message)
{
	uint32_t i;

	if (message->reach.key.as != from->who.as ||
	    message->reach.key.router != from->who.router)
		return false;
	for (i = 0; i < message->reach.count; i++)
		if (!is_for(&message->reach.link[i], sync->options.as))
			return false;
	return true;
}

int rte_reach_receive(struct rte_sync *sync, struct rte_adjacency *from,
		      const struct rte_sync_message *message)
{
	const struct rte_sync_entry *key = &message->reach.key;
	const struct rte_sync_event event = {
		.what = RTE_SYNC_REACHES,
		.as = key->as,
		.router = key->router,
		.peer = from->peer,
		.reach = message->reach.link,
		.reach_count = message->reach.count,
	};

	if (message->reach.count > RTE_SYNC_REACH_MAX || !key->seq)
		return -FI_EINVAL;
	if (!is_its_own(sync, from, message)) {
		sync->counters.third_party++;
		return -FI_EACCES;
	}
	if (rte_number_compare(key->epoch, key->seq, from->reach_epoch,
			       from->reach_seq) <= 0) {
		sync->counters.known++;
		return 0;
	}
	from->reach_epoch = key->epoch;
	from->reach_seq = key->seq;
	sync->ops.event(sync->context, &event);
	return 0;
}
