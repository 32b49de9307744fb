/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>

#include "keys.h"

/* Regions that are used less often are not worth the messages: many are for one read. */
#define KEY_USES 4u

static void key_uncounted(struct rte_keys *keys)
{
	if (!keys->counted)
		return;
	rte_quota_put(keys->quota, 1);
	keys->counted--;
}

void rte_keys_drop(struct rte_keys *keys)
{
	rte_quota_put(keys->quota, keys->counted);
	keys->quota = NULL;
	keys->counted = 0;
}

/* False: not now. */
static bool key_ask(struct rte_key *key, struct rte_peer *peer)
{
	const struct rte_mr_resolve resolve = {.key = key->key};
	const struct rte_packet packet = {.head = {.type = RTE_MR_RESOLVE}};
	struct rte_tx *tx = rte_tx_get(peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	ssize_t len;

	if (!tx)
		return false;
	len = rte_mr_resolve_pack(&packet, &resolve, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	key->state = RTE_KEY_ASKED;
	rte_tx_post(tx);
	return true;
}

/* Beyond the quota its region is reached by messages. */
static void key_ask_counted(struct rte_keys *keys, struct rte_key *key,
			    struct rte_peer *peer)
{
	if (!rte_quota_take(keys->quota))
		return;
	keys->counted++;
	if (!key_ask(key, peer))
		key_uncounted(keys);
}

void rte_key_used(struct rte_keys *keys, struct rte_peer *peer, uint64_t number)
{
	struct rte_key *key = rte_key_place(keys, number);

	if (key->state != RTE_KEY_COUNTED && key->state != RTE_KEY_BARRED)
		return;
	if (key->key != number)
		*key = (struct rte_key){.key = number};
	if (key->state == RTE_KEY_COUNTED && ++key->uses >= KEY_USES)
		key_ask_counted(keys, key, peer);
}

bool rte_key_informed(struct rte_keys *keys, const struct rte_mr_info *info)
{
	struct rte_key *key = rte_key_place(keys, info->key);

	if (key->key != info->key || key->state != RTE_KEY_ASKED)
		return false;
	key->state = info->status ? RTE_KEY_BARRED : RTE_KEY_KNOWN;
	if (info->status)
		key_uncounted(keys);
	key->access = info->access;
	key->lower = info->lower_key;
	key->base = info->base;
	key->length = info->length;
	key->epoch = info->epoch;
	return true;
}

bool rte_key_recalled(struct rte_keys *keys, const struct rte_mr_inval *inval)
{
	struct rte_key *key = rte_key_place(keys, inval->key);

	if (!rte_key_known(keys, inval->key) || key->epoch != inval->epoch)
		return false;
	key->state = RTE_KEY_RECALLED;
	keys->recalled++;
	return true;
}

bool rte_key_inval(struct rte_peer *peer, const struct rte_mr_inval *inval, uint8_t flags)
{
	const struct rte_packet packet = {
		.head = {.type = RTE_MR_INVAL, .flags = flags},
	};
	struct rte_tx *tx = rte_tx_get(peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	ssize_t len;

	if (!tx)
		return false;
	len = rte_mr_inval_pack(&packet, inval, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	rte_tx_post(tx);
	return true;
}

void rte_keys_return(struct rte_keys *keys, struct rte_peer *peer)
{
	struct rte_key *key;

	for (key = keys->key; key < keys->key + RTE_KEYS && keys->recalled; key++) {
		const struct rte_mr_inval inval = {.key = key->key, .epoch = key->epoch};

		if (key->state != RTE_KEY_RECALLED)
			continue;
		if (!rte_key_inval(peer, &inval, 0))
			return;
		*key = (struct rte_key){0};
		keys->recalled--;
		key_uncounted(keys);
	}
}
