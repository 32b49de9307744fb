/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of the exchange: the linker puts these where one of its files calls another. */
#include "flood.h"
#include "sync/state.h"
#include "wrap.h"

enum mutant {
	ALWAYS_NEWER,
	KNOWN_GOES_ON,
	BACK_TO_SENDER,
	ONE_END,
	LEAKS_LSA,
	LEAKS_REACH,
	OWN_LEFT,
	OWN_EPOCH_LEFT,
	NO_DIGEST,
	NO_ANSWER,
	NO_REPAIR,
	HASH_OF_ROUTERS,
	LOST_UNSAID,
	NO_WITHDRAWAL,
	MUTANTS
};

static enum mutant mutant = MUTANTS; /* MUTANTS: none */

static bool is(enum mutant which)
{
	return mutant == which;
}

static bool in_put;

WRAP(int, rte_lsa_compare, const struct rte_lsa *a, const struct rte_lsa *b)
{
	const int order = __real_rte_lsa_compare(a, b);

	return is(ALWAYS_NEWER) && in_put && order < 0 ? 1 : order;
}

WRAP(int, rte_lsdb_put, struct rte_lsdb *db, const struct rte_lsa *lsa, uint64_t now)
{
	int ret;

	in_put = true;
	ret = __real_rte_lsdb_put(db, lsa, now);
	in_put = false;
	return is(KNOWN_GOES_ON) && !ret ? 1 : ret;
}

WRAP(uint64_t, rte_lsdb_hash, const struct rte_lsdb *db)
{
	return is(HASH_OF_ROUTERS) ? rte_lsdb_count(db) : __real_rte_lsdb_hash(db);
}

static void mark_borders(struct rte_sync *sync, bool borders)
{
	struct rte_adjacency *adjacency;
	struct crn_list *entry;

	crn_list_for_each (entry, &sync->adjacencies) {
		adjacency = crn_container_of(entry, struct rte_adjacency, entry);
		adjacency->border = borders && adjacency->who.as != sync->options.as;
	}
}

WRAP(int, rte_flood, struct rte_sync *sync, const struct rte_lsa *lsa,
     const struct rte_adjacency *from, uint64_t now)
{
	int ret;

	if (is(LEAKS_LSA))
		mark_borders(sync, false);
	ret = __real_rte_flood(sync, lsa, from, now);
	if (is(LEAKS_LSA))
		mark_borders(sync, true);
	return ret;
}

WRAP(int, rte_flood_receive, struct rte_sync *sync, struct rte_adjacency *from,
     const struct rte_lsa *lsa, uint64_t now)
{
	const struct rte_sync_message again = {.type = RTE_SYNC_LSA, .lsa = lsa};
	const uint64_t before = __real_rte_lsdb_hash(sync->db);
	const int ret = __real_rte_flood_receive(sync, from, lsa, now);

	if (is(BACK_TO_SENDER) && __real_rte_lsdb_hash(sync->db) != before)
		rte_sync_send(sync, from, &again);
	return ret;
}

WRAP(bool, rte_link_names, const struct rte_link *link, uint64_t router)
{
	return is(ONE_END) || __real_rte_link_names(link, router);
}

WRAP(int, rte_reach_receive, struct rte_sync *sync, struct rte_adjacency *from,
     const struct rte_sync_message *message)
{
	const int ret = __real_rte_reach_receive(sync, from, message);
	struct rte_adjacency *to;
	struct crn_list *entry;

	if (!is(LEAKS_REACH) || ret)
		return ret;
	crn_list_for_each (entry, &sync->adjacencies) {
		to = crn_container_of(entry, struct rte_adjacency, entry);
		if (to->border && to != from)
			rte_sync_send(sync, to, message);
	}
	return ret;
}

WRAP(void, rte_own_ahead, struct rte_sync *sync, const struct rte_lsa *lsa, uint64_t now)
{
	struct rte_lsa other = *lsa;

	if (is(OWN_EPOCH_LEFT))
		other.epoch = sync->epoch;
	if (!is(OWN_LEFT))
		__real_rte_own_ahead(sync, &other, now);
}

WRAP(void, rte_digest_send, struct rte_sync *sync, struct rte_adjacency *to, uint64_t now)
{
	if (!is(NO_DIGEST))
		__real_rte_digest_send(sync, to, now);
}

WRAP(int, rte_lsreq_receive, struct rte_sync *sync, struct rte_adjacency *from,
     const struct rte_sync_message *message, uint64_t now)
{
	return is(NO_ANSWER) ? 0 : __real_rte_lsreq_receive(sync, from, message, now);
}

WRAP(void, rte_heartbeat_receive, struct rte_sync *sync, struct rte_adjacency *from,
     const struct rte_sync_message *message, uint64_t now)
{
	if (!is(NO_REPAIR))
		__real_rte_heartbeat_receive(sync, from, message, now);
}

static bool is_losing(const struct rte_sync *sync)
{
	const struct crn_list *entry;

	crn_list_for_each (entry, &sync->adjacencies)
		if (crn_container_of(entry, struct rte_adjacency, entry)->dead)
			return true;
	return false;
}

WRAP(void, rte_own_changed, struct rte_sync *sync, uint64_t now)
{
	if (!is(LOST_UNSAID) || !is_losing(sync))
		__real_rte_own_changed(sync, now);
}

WRAP(void, rte_own_withdraw, struct rte_sync *sync, uint64_t now)
{
	if (!is(NO_WITHDRAWAL))
		__real_rte_own_withdraw(sync, now);
}

static const char *const names[MUTANTS] = {
	[ALWAYS_NEWER] = "an older LSA replaces a newer one",
	[KNOWN_GOES_ON] = "what is known is handed on",
	[BACK_TO_SENDER] = "LSAs go back to whom they come from",
	[ONE_END] = "one end's word makes an edge",
	[LEAKS_LSA] = "LSAs go to borders of other AS",
	[LEAKS_REACH] = "the reach of one AS is told to another",
	[OWN_LEFT] = "a router does not go above what it said earlier",
	[OWN_EPOCH_LEFT] = "a router raises its number, and not its epoch",
	[NO_DIGEST] = "no digests are sent",
	[NO_ANSWER] = "requests are not answered",
	[NO_REPAIR] = "hashes are not compared",
	[HASH_OF_ROUTERS] = "the hash says how many routers there are",
	[LOST_UNSAID] = "a neighbour that is lost is still named",
	[NO_WITHDRAWAL] = "a router that ends withdraws nothing",
};

const char *flood_mutant(unsigned int number)
{
	return number < MUTANTS ? names[number] : NULL;
}

bool flood_mutant_fits(unsigned int number, const void *of)
{
	const struct flood_run *run = of;

	switch ((enum mutant)number) {
	case BACK_TO_SENDER:
		return run->changes == 2;
	case ONE_END:
	case LOST_UNSAID:
		return run->kills;
	case LEAKS_LSA:
	case LEAKS_REACH:
		return run->reaches;
	case OWN_LEFT:
	case OWN_EPOCH_LEFT:
		return run->epoch_step < 0;
	case NO_WITHDRAWAL:
		return run->byes;
	default:
		return true;
	}
}

void flood_mutant_use(unsigned int number)
{
	mutant = (enum mutant)number;
}
