/* SPDX-License-Identifier: BSD-2-Clause */
/* What routers know, and ask for. */
#include "layout.h"

static bool before(uint64_t a1, uint64_t a2, uint64_t b1, uint64_t b2)
{
	return a1 < b1 || (a1 == b1 && a2 < b2);
}

static enum rte_bad digest_check(const struct rte_digest *digest)
{
	const struct rte_digest_entry *entry = digest->entry;
	uint32_t i;

	for (i = 1; i < digest->count; i++)
		if (!before(entry[i - 1].as, entry[i - 1].router, entry[i].as,
			    entry[i].router))
			return RTE_BAD_ORDER;
	return RTE_OK;
}

static enum rte_bad lsreq_check(const struct rte_lsreq *lsreq)
{
	const struct rte_lsreq_entry *entry = lsreq->entry;
	uint32_t i;

	for (i = 1; i < lsreq->count; i++)
		if (!before(entry[i - 1].as, entry[i - 1].router, entry[i].as,
			    entry[i].router))
			return RTE_BAD_ORDER;
	return RTE_OK;
}

static enum rte_bad reach_check(const struct rte_reach *reach)
{
	const struct rte_reach_entry *entry = reach->entry;
	uint32_t i;

	if (reach->lifetime > RTE_LIFETIME_MAX)
		return RTE_BAD_LIMIT;
	if (reach->as == RTE_AS_WAN || !reach->router)
		return RTE_BAD_VALUE;
	for (i = 1; i < reach->count; i++)
		if (!before(entry[i - 1].scope_as, entry[i - 1].subnet, entry[i].scope_as,
			    entry[i].subnet))
			return RTE_BAD_ORDER;
	return RTE_OK;
}

RTE_DEFINE_LIST(digest, type == RTE_DIGEST, RTE_LIST_FIELDS, digest_entry,
		RTE_DIGEST_ENTRY_FIELDS, entry, digest_check(message))
RTE_DEFINE_LIST(lsreq, type == RTE_LSREQ, RTE_LIST_FIELDS, lsreq_entry,
		RTE_LSREQ_ENTRY_FIELDS, entry, lsreq_check(message))
RTE_DEFINE_LIST(reach, type == RTE_AS_REACH, RTE_REACH_FIELDS, reach_entry,
		RTE_REACH_ENTRY_FIELDS, entry, reach_check(message))

/* The finalizer of splitmix64: every bit of x in every bit. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

uint64_t rte_digest_hash(const struct rte_digest_entry *entry)
{
	const uint64_t words[] = {entry->as, entry->router, entry->epoch, entry->seq};
	uint64_t hash = 0;
	size_t i;

	for (i = 0; i < CRN_COUNT(words); i++)
		hash = mix(hash + words[i] + 0x9e3779b97f4a7c15);
	return hash;
}
