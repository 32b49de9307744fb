/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LSAs are handed on once, when they are news: over each link each goes at most once each
 * way. The document's routers forward all that is "newly received" (section VII.B); here
 * that is what has a higher number than what is known.
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include "state.h"

static void send_on(struct rte_sync *sync, const struct rte_lsa *lsa,
		    const struct rte_adjacency *from)
{
	const struct rte_sync_message message = {.type = RTE_SYNC_LSA, .lsa = lsa};
	struct rte_adjacency *to;
	struct crn_list *entry;

	crn_list_for_each (entry, &sync->adjacencies) {
		to = crn_container_of(entry, struct rte_adjacency, entry);
		/* By whichever of its devices. */
		if (!to->border && (!from || to->who.router != from->who.router))
			rte_sync_send(sync, to, &message);
	}
}

/* Or does it only live longer? */
static bool says_something_else(struct rte_sync *sync, const struct rte_lsa *lsa,
				uint64_t now)
{
	const struct rte_lsa *known = rte_lsdb_get(sync->db, lsa->as, lsa->router, now);
	struct rte_lsa same;

	if (!known)
		return true;
	same = *lsa;
	same.epoch = known->epoch;
	same.seq = known->seq;
	return rte_lsa_compare(&same, known) != 0;
}

int rte_flood(struct rte_sync *sync, const struct rte_lsa *lsa,
	      const struct rte_adjacency *from, uint64_t now)
{
	struct rte_sync_event event = {.what = RTE_SYNC_CHANGED,
				       .router = lsa->router,
				       .as = lsa->as};
	bool changed;
	int ret;

	if (rte_lsa_check(lsa))
		return -FI_EINVAL;
	changed = says_something_else(sync, lsa, now);
	ret = rte_lsdb_put(sync->db, lsa, now);
	if (ret <= 0)
		return ret;
	event.lsa = rte_lsdb_get(sync->db, lsa->as, lsa->router, now);
	send_on(sync, event.lsa, from);
	if (changed)
		sync->ops.event(sync->context, &event);
	return 1;
}

/* In this router's name: its own, or an older one, comes back in a loop; anything else is
 * of an earlier start, of another router with its id, or forged. */
static int receive_own(struct rte_sync *sync, const struct rte_adjacency *from,
		       const struct rte_lsa *lsa, uint64_t now)
{
	const struct rte_lsa *own = rte_lsdb_get(sync->db, lsa->as, lsa->router, now);

	if (rte_number_compare(lsa->epoch, lsa->seq, sync->epoch, sync->seq) >= 0 &&
	    (!own || rte_lsa_compare(lsa, own)))
		return rte_own_ahead(sync, from, lsa, now);
	sync->counters.known++;
	return 0;
}

int rte_number_check(const struct rte_sync *sync, uint64_t epoch, uint64_t seq)
{
	if (epoch >= RTE_NUMBER_TOP || seq >= RTE_NUMBER_TOP)
		return -ERANGE;
	return sync->ops.time && epoch > sync->ops.time(sync->context) + RTE_EPOCH_AHEAD
		       ? -ERANGE
		       : 0;
}

/* A router that has gone without a word is forgotten after this long, ms, whoever has
 * advertised it. */
static uint32_t lifetime_most(const struct rte_sync *sync)
{
	return CRN_MAX(sync->options.refresh * RTE_LIVES, RTE_LIFETIME_KEPT);
}

static struct rte_lsa lifetime_cap(struct rte_sync *sync, const struct rte_lsa *lsa)
{
	struct rte_lsa capped = *lsa;

	capped.lifetime = CRN_MIN(lsa->lifetime, lifetime_most(sync));
	sync->counters.capped += capped.lifetime != lsa->lifetime;
	return capped;
}

/* Whether the database is full for a router that is new to it. */
static bool is_full(struct rte_sync *sync, const struct rte_lsa *lsa, uint64_t now)
{
	return rte_lsdb_count(sync->db) >= sync->options.routers_max &&
	       !rte_lsdb_get(sync->db, lsa->as, lsa->router, now);
}

/* A neighbour that advertises more routers than there is room for does not keep the
 * routers of other neighbours out. */
static bool make_room(struct rte_sync *sync, const struct rte_adjacency *from)
{
	struct rte_sync_event event = {.what = RTE_SYNC_EVICTED};

	if (!rte_lsdb_has_share(sync->db, from->who.router))
		return false;
	rte_lsdb_evict(sync->db, &event.as, &event.router, &event.of);
	sync->counters.evicted++;
	sync->ops.event(sync->context, &event);
	return true;
}

int rte_flood_receive(struct rte_sync *sync, struct rte_adjacency *from,
		      const struct rte_lsa *lsa, uint64_t now)
{
	struct rte_lsa capped;
	int ret;

	if (lsa->as != sync->options.as) {
		sync->counters.foreign++;
		return -FI_EACCES;
	}
	if (rte_lsa_check(lsa))
		return -FI_EINVAL;
	ret = rte_number_check(sync, lsa->epoch, lsa->seq);
	if (ret)
		return ret;
	rte_wanted_came(sync, lsa);
	capped = lifetime_cap(sync, lsa);
	if (lsa->router == sync->options.router)
		return receive_own(sync, from, &capped, now);
	if (lsa->lifetime && is_full(sync, lsa, now) && !make_room(sync, from))
		return -FI_ENOSPC;
	ret = rte_flood(sync, &capped, from, now);
	if (ret > 0)
		rte_lsdb_set_from(sync->db, lsa->as, lsa->router, from->who.router);
	sync->counters.known += !ret;
	return CRN_MIN(ret, 0);
}
