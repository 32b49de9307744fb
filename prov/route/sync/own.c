/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this router says of itself. A change is said at once; one that comes soon after
 * waits for the end of the hold-down, which doubles while changes go on.
 */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "state.h"

static int id_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint16_t ids_unique(uint64_t *id, uint32_t count)
{
	uint32_t i, kept = 0;

	qsort(id, count, sizeof(*id), id_compare);
	for (i = 0; i < count; i++)
		if (!kept || id[kept - 1] != id[i])
			id[kept++] = id[i];
	return (uint16_t)kept;
}

/* Those that are alive on a link, in id: their number. */
static uint16_t neighbours(struct rte_sync *sync, const struct rte_link *link,
			   uint64_t *id)
{
	const struct rte_adjacency *adjacency;
	struct crn_list *entry;
	uint32_t count = 0;

	crn_list_for_each (entry, &sync->adjacencies) {
		adjacency = crn_container_of(entry, struct rte_adjacency, entry);
		if (!adjacency->border && !adjacency->dead &&
		    adjacency->who.scope_as == link->scope_as &&
		    adjacency->who.subnet == link->subnet)
			id[count++] = adjacency->who.router;
	}
	return ids_unique(id, count);
}

static int originate_lsa(struct rte_sync *sync, struct rte_lsa *lsa, uint64_t now)
{
	const bool is_last = sync->seq + 1 == RTE_NUMBER_TOP;
	int ret;

	lsa->as = sync->options.as;
	lsa->router = sync->options.router;
	lsa->lifetime = sync->options.refresh * RTE_LIVES;
	lsa->epoch = sync->epoch + is_last;
	lsa->seq = is_last ? 1 : sync->seq + 1;
	ret = rte_flood(sync, lsa, NULL, now);
	if (ret < 0)
		return ret;
	sync->epoch = lsa->epoch;
	sync->seq = lsa->seq;
	sync->refresh_at = now + sync->options.refresh;
	sync->counters.originated++;
	return 0;
}

static int originate(struct rte_sync *sync, uint64_t now)
{
	struct rte_link link[RTE_LINKS_MAX];
	struct rte_lsa lsa = *sync->self;
	/* An adjacency is on one link. */
	uint64_t *ids = malloc((sync->adjacency_count + 1) * sizeof(*ids));
	uint64_t *id = ids;
	uint32_t i;
	int ret;

	if (!ids)
		return -FI_ENOMEM;
	for (i = 0; i < lsa.links; i++) {
		link[i] = lsa.link[i];
		link[i].neighbour = id;
		link[i].neighbours = neighbours(sync, &link[i], id);
		id += link[i].neighbours;
	}
	lsa.link = link;
	ret = originate_lsa(sync, &lsa, now);
	free(ids);
	return ret;
}

/* Without memory it is tried again after the hold-down. */
static void say(struct rte_sync *sync, uint64_t now)
{
	/* Changes go on: this one waited, or came within as long again. */
	const bool goes_on = sync->refresh_at && now <= sync->hold_until + sync->hold;

	sync->changed = originate(sync, now);
	sync->counters.memory += sync->changed;
	sync->hold = goes_on ? CRN_MIN(sync->hold * 2, sync->options.hold_most)
			     : sync->options.hold_least;
	sync->hold_until = now + sync->hold;
}

/* --- In, or out: another router has this one's id --- */

static void out_event(struct rte_sync *sync)
{
	const struct rte_sync_event event = {
		.what = RTE_SYNC_OUT,
		.as = sync->options.as,
		.router = sync->options.router,
	};

	sync->ops.event(sync->context, &event);
}

static void come_back(struct rte_sync *sync, uint64_t now)
{
	sync->out = false;
	sync->contests = 0;
	sync->hold_until = now;
	out_event(sync);
	rte_own_changed(sync, now);
}

void rte_own_changed(struct rte_sync *sync, uint64_t now)
{
	sync->changed = true;
	rte_own_tick(sync, now);
}

void rte_own_tick(struct rte_sync *sync, uint64_t now)
{
	if (now < rte_own_deadline(sync))
		return;
	if (sync->out)
		come_back(sync, now);
	else
		say(sync, now);
}

uint64_t rte_own_deadline(const struct rte_sync *sync)
{
	if (!sync->self || sync->over)
		return UINT64_MAX;
	if (sync->out)
		return sync->out_until;
	return sync->changed ? sync->hold_until : sync->refresh_at;
}

void rte_sync_yield(struct rte_sync *sync, uint32_t ms, uint64_t now)
{
	sync->out_until = CRN_MAX(sync->out_until, now + ms);
	if (sync->out)
		return;
	sync->out = true;
	out_event(sync);
}

bool rte_sync_is_out(const struct rte_sync *sync)
{
	return sync->out;
}

/* Whether the router that answers is alive, and was started later than this one. It has
 * its own epoch; one that was started earlier has taken over this one's. */
static bool yields(struct rte_sync *sync, const struct rte_lsa *lsa, uint64_t now)
{
	const uint64_t series = (uint64_t)RTE_CONTEST_TIMES *
				CRN_MAX(sync->options.hold_most, sync->options.heartbeat);

	sync->contests = now - sync->contested_at <= series ? sync->contests + 1 : 1;
	sync->contested_at = now;
	return sync->contests >= RTE_CONTESTS && lsa->epoch > sync->options.epoch;
}

/* The other router's LSA is kept and forwarded as any other router's. */
static int take_other(struct rte_sync *sync, const struct rte_adjacency *from,
		      const struct rte_lsa *lsa, uint64_t now)
{
	/* After a withdrawal nobody has the id any more. */
	const uint32_t ms = lsa->flags & RTE_LSA_WITHDRAW
				    ? sync->options.hold_most
				    : sync->options.refresh * RTE_LIVES;
	const int ret = rte_flood(sync, lsa, from, now);

	if (ret <= 0)
		return ret;
	if (lsa->flags & RTE_LSA_WITHDRAW)
		sync->out_until = now;
	rte_sync_yield(sync, ms, now);
	return 0;
}

int rte_own_ahead(struct rte_sync *sync, const struct rte_adjacency *from,
		  const struct rte_lsa *lsa, uint64_t now)
{
	const bool above =
		rte_number_compare(lsa->epoch, lsa->seq, sync->epoch, sync->seq) > 0;
	const struct rte_sync_event event = {
		.what = RTE_SYNC_CONTESTED,
		.as = lsa->as,
		.router = lsa->router,
		.lsa = lsa,
		.peer = from->peer,
	};

	sync->counters.ahead++;
	sync->ops.event(sync->context, &event);
	if (above) {
		sync->epoch = lsa->epoch;
		sync->seq = lsa->seq;
	}
	if (sync->out || (above && yields(sync, lsa, now)))
		return take_other(sync, from, lsa, now);
	rte_own_changed(sync, now);
	return 0;
}

void rte_own_withdraw(struct rte_sync *sync, uint64_t now)
{
	struct rte_lsa lsa = {.flags = RTE_LSA_WITHDRAW};

	/* The id is the other router's. */
	if (sync->self && !sync->out)
		sync->counters.memory += originate_lsa(sync, &lsa, now) != 0;
}

static bool same_words(const struct rte_lsa *a, const struct rte_lsa *b)
{
	return a && !rte_lsa_compare(a, b);
}

int rte_sync_set(struct rte_sync *sync, const struct rte_lsa *self, uint64_t now)
{
	struct rte_link link[RTE_LINKS_MAX];
	struct rte_lsa lsa = *self, *copy;
	uint32_t i;

	if (lsa.links > RTE_LINKS_MAX || (lsa.flags & RTE_LSA_WITHDRAW))
		return -FI_EINVAL;
	for (i = 0; i < lsa.links; i++) {
		link[i] = lsa.link[i];
		link[i].neighbours = 0;
		link[i].neighbour = NULL;
	}
	lsa.link = link;
	lsa.as = sync->options.as;
	lsa.router = sync->options.router;
	lsa.epoch = lsa.seq = lsa.lifetime = 0;
	if (rte_lsa_check(&lsa))
		return -FI_EINVAL;
	if (same_words(sync->self, &lsa))
		return 0;
	copy = rte_lsa_copy(&lsa);
	if (!copy)
		return -FI_ENOMEM;
	free(sync->self);
	sync->self = copy;
	rte_own_changed(sync, now);
	return 0;
}
