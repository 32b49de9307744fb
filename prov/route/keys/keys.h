/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of a peer's regions, of who reads and writes there by the lower provider's own
 * operations: an end on the same subnet (xfer/direct.c), and the last router. A key that
 * is used again and again is asked for (MR_RESOLVE), and the peer tells the lower one
 * (MR_INFO) or that it cannot be had. It recalls a key when its region closes (MR_INVAL
 * with ACKREQ), which is answered with MR_INVAL once nothing will touch the region any
 * more: when that is, the owner knows.
 */
#ifndef RTE_KEYS_H
#define RTE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cairn/compat.h>
#include "peer/peer.h"
#include "wire/wire.h"

#define RTE_KEYS 32u /* that are remembered */

enum rte_key_state {
	RTE_KEY_COUNTED, /* used so often, and not asked for */
	RTE_KEY_ASKED,
	RTE_KEY_KNOWN,
	RTE_KEY_BARRED,	  /* it cannot be used so */
	RTE_KEY_RECALLED, /* to be returned */
};

struct rte_key {
	uint64_t key; /* the routed one */
	uint32_t uses;
	enum rte_key_state state;
	uint32_t access; /* enum rte_access */
	uint64_t lower, base, length, epoch;
};

/* All 0: none is known. */
struct rte_keys {
	struct rte_key key[RTE_KEYS];
	uint32_t recalled; /* of them, to be returned */
	/* Of keys that are asked for or known. NULL: none; the owner's, until
	 * rte_keys_drop. */
	struct rte_quota *quota;
	uint32_t counted; /* that count there */
};

CRN_INLINE struct rte_key *rte_key_place(struct rte_keys *keys, uint64_t number)
{
	return &keys->key[(number * 0x9e3779b97f4a7c15u) >> 59];
}

_Static_assert(RTE_KEYS == 1u << (64 - 59), "bits of rte_key_place");

/* NULL: it is not, or not any more. */
CRN_INLINE const struct rte_key *rte_key_known(struct rte_keys *keys, uint64_t number)
{
	const struct rte_key *key = rte_key_place(keys, number);

	return key->key == number && key->state == RTE_KEY_KNOWN ? key : NULL;
}

/* access: enum rte_access. What is not allowed goes as a message, which is refused. */
CRN_INLINE bool rte_key_allows(const struct rte_key *key, uint32_t access, uint64_t addr,
			       uint64_t length)
{
	return (key->access & access) && addr <= key->length &&
	       length <= key->length - addr;
}

/* A request with it has gone as a message. Keys that are known stay until they are
 * recalled, others make room. */
void rte_key_used(struct rte_keys *keys, struct rte_peer *peer, uint64_t number);
/* MR_INFO, and MR_INVAL with ACKREQ. False: of what was not asked for, or is not known.
 */
bool rte_key_informed(struct rte_keys *keys, const struct rte_mr_info *info);
bool rte_key_recalled(struct rte_keys *keys, const struct rte_mr_inval *inval);
/* Returns what was recalled, as far as there are credit and memory. */
void rte_keys_return(struct rte_keys *keys, struct rte_peer *peer);
/* They count in no quota any more. */
void rte_keys_drop(struct rte_keys *keys);
/* Sends MR_INVAL. False: there is no credit or memory now. */
bool rte_key_inval(struct rte_peer *peer, const struct rte_mr_inval *inval,
		   uint8_t flags);

#endif
