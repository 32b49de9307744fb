/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proofs that both ends of a lower connection have the same key, without telling it: an
 * HMAC-SHA256 (RFC 2104) over what both have said so far. Who connected proves itself
 * first (RTE_AUTH_ACTIVE), then who accepted (RTE_AUTH_PASSIVE), by the same key: who
 * merely connects gets no HMAC to try keys on.
 *
 *	0	"cairn route auth", 16 bytes without a final 0
 *	16	step, 1 byte: of who proves itself; 3 bytes of 0
 *	20	key_id, 4 bytes, little endian
 *	24	the preamble of who connected, all 32 bytes as they were sent
 *	56	the preamble of who accepted
 *	88	SHA-256 of the HELLO, header and TLVs included, as it was sent
 *	120	SHA-256 of the HELLO_ACK
 *
 * Nonces are in the preambles, a new one of each end for each connection: a proof that
 * was heard before is none. So are versions, flags, roles, node ids and AS: what somebody
 * between the two has changed, makes the proofs wrong at both ends. The step, and that
 * the preambles have their order, keep one end's proof from being the other's.
 *
 * Any thread. Nothing here is kept but by the caller.
 */
#ifndef RTE_AUTH_H
#define RTE_AUTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "config/config.h"
#include "wire/wire.h"

#define RTE_SHA256_LEN 32u

enum rte_auth_step { RTE_AUTH_ACTIVE = 1, RTE_AUTH_PASSIVE = 2 };

/* --- Proofs (proof.c) --- */

/* What both ends have said, by who said it: 0: who connected, 1: who accepted. */
struct rte_auth_talk {
	uint8_t preamble[2][RTE_PREAMBLE_LEN];
	uint8_t hello[2][RTE_SHA256_LEN];
};

/* HELLO of 0, or HELLO_ACK of 1. False: no memory. */
bool rte_auth_hello(struct rte_auth_talk *talk, int who, const void *bytes, size_t len);

struct rte_auth_key {
	uint32_t id;
	uint32_t len; /* bytes of secret */
	uint8_t secret[RTE_CONFIG_KEY_MAX];
};

/* False: no memory. */
bool rte_auth_prove(const struct rte_auth_talk *talk, const struct rte_auth_key *key,
		    enum rte_auth_step step, uint8_t hmac[RTE_HMAC_LEN]);
/* In a time that does not depend on where they differ. */
bool rte_auth_proves(const struct rte_auth_talk *talk, const struct rte_auth_key *key,
		     enum rte_auth_step step, const uint8_t hmac[RTE_HMAC_LEN]);

/* HMAC-SHA256 alone. False: no memory. */
bool rte_hmac(const void *key, size_t key_len, const void *bytes, size_t len,
	      uint8_t hmac[RTE_HMAC_LEN]);

/* --- Keys of a device (ring.c) --- */

/* The first is used, all are accepted. */
struct rte_auth_ring {
	uint32_t keys;
	struct rte_auth_key key[RTE_CONFIG_KEYS_MAX];
};

/*
 * Reads the device's key files; *ring is NULL where it has none. -FI_ENOMEM; -FI_EINVAL:
 * a file cannot be read, or others may read or write it. why: for people then.
 */
int rte_auth_ring_read(const struct rte_config_device *device,
		       struct rte_auth_ring **ring, char why[256]);
/* The secrets are wiped out. NULL is allowed. */
void rte_auth_ring_free(struct rte_auth_ring *ring);
/* NULL: it has no such key. ring: NULL is allowed. */
const struct rte_auth_key *rte_auth_ring_find(const struct rte_auth_ring *ring,
					      uint32_t id);

/* --- Proofs that were heard (heard.c) --- */

#define RTE_AUTH_HEARD 256u

/* Of this end and of others, the newest. All 0: none. Any number of threads may use one
 * at a time. */
struct rte_auth_heard {
	_Atomic uint32_t next; /* a ring */
	_Atomic uint64_t at[RTE_AUTH_HEARD];
};

void rte_auth_hear(struct rte_auth_heard *heard, const uint8_t hmac[RTE_HMAC_LEN]);
/* A proof that was good once, or is this end's own: whoever sends it has heard it. */
bool rte_auth_was_heard(const struct rte_auth_heard *heard,
			const uint8_t hmac[RTE_HMAC_LEN]);

#endif
