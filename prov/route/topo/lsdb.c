/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link-state database: an array in the order of (AS, router), which is also the order
 * of a digest. Of each router the newest is kept until its life ends.
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "topo.h"

#define RTE_LSDB_LEAST 16u

/* Neighbours whose entries are counted one by one; those of more have one share. */
#define RTE_SHARES 1024u

struct rte_entry {
	struct rte_lsa *lsa;
	uint64_t ends;	 /* ms */
	uint64_t number; /* entries are numbered as routers become known */
	uint32_t share;	 /* index, of the neighbour that advertised it last */
};

/* What a neighbour has advertised. */
struct rte_share {
	uint64_t from;
	size_t count;
};

struct rte_lsdb {
	struct rte_entry *entry;
	size_t count;
	size_t size;
	uint64_t deadline; /* ms; no entry ends before */
	uint64_t hash;
	uint64_t number; /* of the entry that is put in next */
	/* The first is of entries without a neighbour, the last of all neighbours that
	 * have none of their own. */
	struct rte_share share[RTE_SHARES + 1];
};

struct rte_lsdb *rte_lsdb_open(void)
{
	struct rte_lsdb *db = calloc(1, sizeof(*db));

	if (db)
		db->deadline = UINT64_MAX;
	return db;
}

void rte_lsdb_close(struct rte_lsdb *db)
{
	while (db->count)
		free(db->entry[--db->count].lsa);
	free(db->entry);
	free(db);
}

/* The first entry that is not before it. */
static size_t lsdb_place(const struct rte_lsdb *db, uint32_t as, uint64_t router)
{
	size_t low = 0, high = db->count, middle;
	const struct rte_lsa *lsa;

	while (low < high) {
		middle = (low + high) / 2;
		lsa = db->entry[middle].lsa;
		if (lsa->as < as || (lsa->as == as && lsa->router < router))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool lsdb_is(const struct rte_lsdb *db, size_t at, uint32_t as, uint64_t router)
{
	return at < db->count && db->entry[at].lsa->as == as &&
	       db->entry[at].lsa->router == router;
}

static int lsdb_room(struct rte_lsdb *db)
{
	const size_t size = db->size ? db->size * 2 : RTE_LSDB_LEAST;
	struct rte_entry *entry;

	if (db->count < db->size)
		return 0;
	entry = realloc(db->entry, size * sizeof(*entry));
	if (!entry)
		return -FI_ENOMEM;
	db->entry = entry;
	db->size = size;
	return 0;
}

/* Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014), section 4.
 */
static uint64_t splitmix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

uint64_t rte_key_hash(uint32_t as, uint64_t router, uint64_t epoch, uint64_t seq)
{
	return splitmix(splitmix(splitmix(splitmix(as) ^ router) ^ epoch) ^ seq);
}

static uint64_t lsa_hash(const struct rte_lsa *lsa)
{
	return rte_key_hash(lsa->as, lsa->router, lsa->epoch, lsa->seq);
}

int rte_lsdb_put(struct rte_lsdb *db, const struct rte_lsa *lsa, uint64_t now)
{
	const size_t at = lsdb_place(db, lsa->as, lsa->router);
	const bool known = lsdb_is(db, at, lsa->as, lsa->router);
	struct rte_lsa *copy;

	if (rte_lsa_check(lsa))
		return -FI_EINVAL;
	if (!lsa->lifetime || (known && rte_lsa_compare(lsa, db->entry[at].lsa) <= 0))
		return 0;
	if (!known && lsdb_room(db))
		return -FI_ENOMEM;
	copy = rte_lsa_copy(lsa);
	if (!copy)
		return -FI_ENOMEM;
	if (known) {
		db->hash -= lsa_hash(db->entry[at].lsa);
		free(db->entry[at].lsa);
	} else {
		memmove(&db->entry[at + 1], &db->entry[at],
			(db->count++ - at) * sizeof(*db->entry));
		db->entry[at] = (struct rte_entry){.number = db->number++};
		db->share[0].count++;
	}
	db->entry[at].lsa = copy;
	db->entry[at].ends = now + lsa->lifetime;
	db->hash += lsa_hash(copy);
	db->deadline = CRN_MIN(db->deadline, db->entry[at].ends);
	return 1;
}

/* Its lifetime is what is left of it. */
static const struct rte_lsa *lsdb_show(struct rte_lsdb *db, size_t at, uint64_t now)
{
	struct rte_entry *entry = &db->entry[at];

	entry->lsa->lifetime = entry->ends > now ? (uint32_t)(entry->ends - now) : 0;
	return entry->lsa;
}

const struct rte_lsa *rte_lsdb_get(struct rte_lsdb *db, uint32_t as, uint64_t router,
				   uint64_t now)
{
	const size_t at = lsdb_place(db, as, router);

	return lsdb_is(db, at, as, router) ? lsdb_show(db, at, now) : NULL;
}

const struct rte_lsa *rte_lsdb_next(struct rte_lsdb *db, uint32_t as, uint64_t router,
				    uint64_t now)
{
	size_t at = lsdb_place(db, as, router);

	at += lsdb_is(db, at, as, router);
	return at < db->count ? lsdb_show(db, at, now) : NULL;
}

static void lsdb_remove(struct rte_lsdb *db, size_t at)
{
	db->share[db->entry[at].share].count--;
	db->hash -= lsa_hash(db->entry[at].lsa);
	free(db->entry[at].lsa);
	memmove(&db->entry[at], &db->entry[at + 1],
		(--db->count - at) * sizeof(*db->entry));
}

/* --- Shares of neighbours --- */

/* A neighbour's share, or the first one that is empty. */
static uint32_t share_of(const struct rte_lsdb *db, uint64_t from)
{
	uint32_t i, empty = RTE_SHARES;

	if (!from)
		return 0;
	for (i = 1; i < RTE_SHARES; i++) {
		if (db->share[i].count && db->share[i].from == from)
			return i;
		if (!db->share[i].count && empty == RTE_SHARES)
			empty = i;
	}
	return empty;
}

void rte_lsdb_set_from(struct rte_lsdb *db, uint32_t as, uint64_t router, uint64_t from)
{
	const size_t at = lsdb_place(db, as, router);
	const uint32_t share = share_of(db, from);

	if (!lsdb_is(db, at, as, router))
		return;
	db->share[db->entry[at].share].count--;
	db->entry[at].share = share;
	db->share[share].from = from;
	db->share[share].count++;
}

/* Of entries of no neighbour none is evicted. */
static uint32_t share_largest(const struct rte_lsdb *db)
{
	uint32_t i, largest = 1;

	for (i = 2; i <= RTE_SHARES; i++)
		if (db->share[i].count > db->share[largest].count)
			largest = i;
	return largest;
}

/* The entry of that share, which is not empty, that became known last. */
static size_t share_newest(const struct rte_lsdb *db, uint32_t share)
{
	size_t i, newest = db->count;

	for (i = 0; i < db->count; i++)
		if (db->entry[i].share == share &&
		    (newest == db->count ||
		     db->entry[i].number > db->entry[newest].number))
			newest = i;
	return newest;
}

bool rte_lsdb_has_share(const struct rte_lsdb *db, uint64_t from)
{
	return db->share[share_largest(db)].count >
	       db->share[share_of(db, from)].count + 1;
}

void rte_lsdb_evict(struct rte_lsdb *db, uint32_t *as, uint64_t *router, uint64_t *of)
{
	const uint32_t largest = share_largest(db);
	const size_t at = share_newest(db, largest);

	*as = db->entry[at].lsa->as;
	*router = db->entry[at].lsa->router;
	*of = db->share[largest].from;
	lsdb_remove(db, at);
}

bool rte_lsdb_age(struct rte_lsdb *db, uint64_t now, uint32_t *as, uint64_t *router)
{
	uint64_t deadline = UINT64_MAX;
	size_t i;

	if (now < db->deadline)
		return false;
	for (i = 0; i < db->count && db->entry[i].ends > now; i++)
		deadline = CRN_MIN(deadline, db->entry[i].ends);
	if (i == db->count) {
		db->deadline = deadline;
		return false;
	}
	*as = db->entry[i].lsa->as;
	*router = db->entry[i].lsa->router;
	lsdb_remove(db, i);
	return true;
}

uint64_t rte_lsdb_deadline(const struct rte_lsdb *db)
{
	return db->deadline;
}

size_t rte_lsdb_count(const struct rte_lsdb *db)
{
	return db->count;
}

uint64_t rte_lsdb_hash(const struct rte_lsdb *db)
{
	return db->hash;
}
