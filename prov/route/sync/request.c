/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exchange of whole databases: each end lists what it has (DIGEST), and asks for what
 * the other's list has newer (LSREQ). What is listed by several neighbours is asked of
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "state.h"

#define RTE_WANTED_LEAST 16u

/* Entries of a message, sent when it is full, and in the end. */
struct rte_batch {
	struct rte_sync *sync;
	struct rte_adjacency *to;
	enum rte_sync_type type;
	uint32_t count;
	struct rte_sync_entry entry[RTE_SYNC_ENTRIES_MAX];
};

static void batch_send(struct rte_batch *batch, bool more)
{
	const struct rte_sync_message message = {
		.type = batch->type,
		.list = {.entry = batch->entry, .count = batch->count, .more = more},
	};

	rte_sync_send(batch->sync, batch->to, &message);
	batch->count = 0;
}

static void batch_add(struct rte_batch *batch, const struct rte_sync_entry *entry)
{
	if (batch->count == RTE_SYNC_ENTRIES_MAX)
		batch_send(batch, batch->type == RTE_SYNC_DIGEST);
	batch->entry[batch->count++] = *entry;
}

void rte_digest_send(struct rte_sync *sync, struct rte_adjacency *to, uint64_t now)
{
	struct rte_batch batch = {.sync = sync, .to = to, .type = RTE_SYNC_DIGEST};
	const struct rte_lsa *lsa;
	struct rte_sync_entry entry = {0};

	while ((lsa = rte_lsdb_next(sync->db, entry.as, entry.router, now))) {
		entry = (struct rte_sync_entry){.as = lsa->as,
						.router = lsa->router,
						.epoch = lsa->epoch,
						.seq = lsa->seq};
		batch_add(&batch, &entry);
	}
	batch_send(&batch, false);
}

/* --- What was asked for --- */

/* The first that is not before it. */
static uint32_t wanted_place(const struct rte_sync *sync, uint64_t router)
{
	uint32_t low = 0, high = sync->wanted_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (sync->wanted[middle].router < router)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct rte_wanted *wanted_find(struct rte_sync *sync, uint64_t router)
{
	const uint32_t at = wanted_place(sync, router);

	return at < sync->wanted_count && sync->wanted[at].router == router
		       ? &sync->wanted[at]
		       : NULL;
}

static uint32_t wanted_of(const struct rte_sync *sync, const struct rte_adjacency *from)
{
	uint32_t i, count = 0;

	for (i = 0; i < sync->wanted_count; i++)
		count += sync->wanted[i].from == from;
	return count;
}

/* A neighbour that lists routers without end leaves room for what others list. */
static bool wanted_full(const struct rte_sync *sync, const struct rte_adjacency *from)
{
	const uint32_t most = sync->options.routers_max;

	return sync->wanted_count >= most &&
	       (sync->wanted_count >= 2 * most || wanted_of(sync, from) >= most);
}

static int wanted_room(struct rte_sync *sync, const struct rte_adjacency *from)
{
	const uint32_t size =
		sync->wanted_size ? sync->wanted_size * 2 : RTE_WANTED_LEAST;
	struct rte_wanted *wanted;

	if (wanted_full(sync, from))
		return -FI_ENOSPC;
	if (sync->wanted_count < sync->wanted_size)
		return 0;
	wanted = realloc(sync->wanted, size * sizeof(*wanted));
	if (!wanted)
		return -FI_ENOMEM;
	sync->wanted = wanted;
	sync->wanted_size = size;
	return 0;
}

static int wanted_add(struct rte_sync *sync, const struct rte_wanted *wanted)
{
	uint32_t at;
	int ret = wanted_room(sync, wanted->from);

	if (ret)
		return ret;
	at = wanted_place(sync, wanted->router);
	memmove(&sync->wanted[at + 1], &sync->wanted[at],
		(sync->wanted_count++ - at) * sizeof(*wanted));
	sync->wanted[at] = *wanted;
	return 0;
}

/* Those that were asked for too long ago. */
static void wanted_expire(struct rte_sync *sync, uint64_t now)
{
	uint32_t i, kept = 0;

	for (i = 0; i < sync->wanted_count; i++)
		if (sync->wanted[i].until > now)
			sync->wanted[kept++] = sync->wanted[i];
	sync->wanted_count = kept;
}

void rte_wanted_came(struct rte_sync *sync, const struct rte_lsa *lsa)
{
	struct rte_wanted *wanted = wanted_find(sync, lsa->router);

	if (!wanted ||
	    rte_number_compare(lsa->epoch, lsa->seq, wanted->epoch, wanted->seq) < 0)
		return;
	memmove(wanted, wanted + 1,
		(size_t)(&sync->wanted[--sync->wanted_count] - wanted) * sizeof(*wanted));
}

static struct rte_adjacency *any_other(struct rte_sync *sync,
				       const struct rte_adjacency *than)
{
	struct rte_adjacency *adjacency;
	struct crn_list *entry;

	crn_list_for_each (entry, &sync->adjacencies) {
		adjacency = crn_container_of(entry, struct rte_adjacency, entry);
		if (adjacency != than && !adjacency->border && !adjacency->dead)
			return adjacency;
	}
	return NULL;
}

void rte_wanted_move(struct rte_sync *sync, const struct rte_adjacency *from,
		     uint64_t now)
{
	struct rte_adjacency *to = any_other(sync, from);
	struct rte_batch batch = {.sync = sync, .to = to, .type = RTE_SYNC_LSREQ};
	struct rte_sync_entry entry = {.as = sync->options.as};
	struct rte_wanted *wanted;
	uint32_t i, kept = 0;

	for (i = 0; i < sync->wanted_count; i++) {
		wanted = &sync->wanted[i];
		if (wanted->from == from && to) {
			wanted->from = to;
			wanted->until = now + sync->options.heartbeat;
			entry.router = wanted->router;
			entry.epoch = wanted->epoch;
			entry.seq = wanted->seq;
			batch_add(&batch, &entry);
		}
		if (wanted->from != from)
			sync->wanted[kept++] = *wanted;
	}
	sync->wanted_count = kept;
	if (batch.count)
		batch_send(&batch, false);
}

/* --- What the other has, or asks for --- */

static int list_check(struct rte_sync *sync, const struct rte_sync_message *message)
{
	const struct rte_sync_entry *entry;
	uint32_t i;

	if (message->list.count > RTE_SYNC_ENTRIES_MAX)
		return -FI_EINVAL;
	for (i = 0; i < message->list.count; i++) {
		entry = &message->list.entry[i];
		if (!entry->router)
			return -FI_EINVAL;
		if (entry->epoch >= RTE_NUMBER_TOP || entry->seq >= RTE_NUMBER_TOP)
			return -ERANGE;
		if (entry->as != sync->options.as) {
			sync->counters.foreign++;
			return -FI_EACCES;
		}
	}
	return 0;
}

/* 1: it has to be asked for. 0: it is known, or has been asked for. */
static int is_wanted(struct rte_sync *sync, struct rte_adjacency *from,
		     const struct rte_sync_entry *entry, uint64_t now)
{
	const struct rte_lsa *known =
		rte_lsdb_get(sync->db, entry->as, entry->router, now);
	struct rte_wanted *wanted, new = {.router = entry->router,
					  .epoch = entry->epoch,
					  .seq = entry->seq,
					  .until = now + sync->options.heartbeat,
					  .from = from};
	int ret = rte_number_check(sync, entry->epoch, entry->seq);

	if (ret)
		return ret;
	if (known &&
	    rte_number_compare(entry->epoch, entry->seq, known->epoch, known->seq) <= 0)
		return 0;
	if (!known && rte_lsdb_count(sync->db) >= sync->options.routers_max &&
	    !rte_lsdb_has_share(sync->db, from->who.router))
		return -FI_ENOSPC;
	wanted = wanted_find(sync, entry->router);
	if (!wanted) {
		ret = wanted_add(sync, &new);
		return ret ? ret : 1;
	}
	if (rte_number_compare(entry->epoch, entry->seq, wanted->epoch, wanted->seq) <= 0)
		return 0;
	*wanted = new;
	return 1;
}

int rte_digest_receive(struct rte_sync *sync, struct rte_adjacency *from,
		       const struct rte_sync_message *message, uint64_t now)
{
	struct rte_batch batch = {.sync = sync, .to = from, .type = RTE_SYNC_LSREQ};
	int ret = list_check(sync, message), one;
	uint32_t i;

	if (ret)
		return ret;
	wanted_expire(sync, now);
	for (i = 0; i < message->list.count; i++) {
		one = is_wanted(sync, from, &message->list.entry[i], now);
		if (one > 0)
			batch_add(&batch, &message->list.entry[i]);
		else if (one)
			ret = one;
	}
	if (batch.count)
		batch_send(&batch, false);
	return ret;
}

/* What is newer than what the digest said was flooded after it: it is on its way. */
static const struct rte_lsa *answer(struct rte_sync *sync,
				    const struct rte_sync_entry *entry, uint64_t now)
{
	const struct rte_lsa *lsa = rte_lsdb_get(sync->db, entry->as, entry->router, now);

	if (!lsa || !lsa->lifetime)
		return NULL;
	if ((entry->epoch || entry->seq) &&
	    rte_number_compare(lsa->epoch, lsa->seq, entry->epoch, entry->seq) > 0)
		return NULL;
	return lsa;
}

int rte_lsreq_receive(struct rte_sync *sync, struct rte_adjacency *from,
		      const struct rte_sync_message *message, uint64_t now)
{
	struct rte_sync_message lsa = {.type = RTE_SYNC_LSA};
	const int ret = list_check(sync, message);
	uint32_t i;

	for (i = 0; !ret && i < message->list.count; i++) {
		lsa.lsa = answer(sync, &message->list.entry[i], now);
		if (lsa.lsa)
			rte_sync_send(sync, from, &lsa);
		else
			sync->counters.unanswered++;
	}
	return ret;
}
