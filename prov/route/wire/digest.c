/* SPDX-License-Identifier: BSD-2-Clause */
/* What routers know, and ask for. */
#include "layout.h"

static bool key_before(const struct rte_lsa_key *a, const struct rte_lsa_key *b)
{
	return a->as < b->as || (a->as == b->as && a->router < b->router);
}

static enum rte_bad keys_check(const struct rte_lsa_keys *keys)
{
	uint32_t i;

	for (i = 1; i < keys->count; i++)
		if (!key_before(&keys->key[i - 1], &keys->key[i]))
			return RTE_BAD_ORDER;
	return RTE_OK;
}

static enum rte_bad reach_check(const struct rte_reach *reach)
{
	return reach->as == RTE_AS_WAN || !reach->router ? RTE_BAD_VALUE : RTE_OK;
}

RTE_DEFINE_LIST(lsa_keys, type == RTE_DIGEST || type == RTE_LSREQ, RTE_LSA_KEYS_FIELDS,
		lsa_key, RTE_LSA_KEY_FIELDS, key, keys_check(message))
RTE_DEFINE_LIST(reach, type == RTE_AS_REACH, RTE_REACH_FIELDS, reach_entry,
		RTE_REACH_ENTRY_FIELDS, entry, reach_check(message))
