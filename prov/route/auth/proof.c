/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <cairn/bytes.h>
#include "auth.h"

static const char label[16] = {'c', 'a', 'i', 'r', 'n', ' ', 'r', 'o',
			       'u', 't', 'e', ' ', 'a', 'u', 't', 'h'};

#define AT_STEP 16
#define AT_KEY_ID 20
#define AT_PREAMBLES 24
#define AT_HELLOS (AT_PREAMBLES + 2 * RTE_PREAMBLE_LEN)
#define PROVEN (AT_HELLOS + 2 * RTE_SHA256_LEN)

_Static_assert(PROVEN == 152, "the table of auth.h");

bool rte_auth_hello(struct rte_auth_talk *talk, int who, const void *bytes, size_t len)
{
	return EVP_Digest(bytes, len, talk->hello[who], NULL, EVP_sha256(), NULL) == 1;
}

bool rte_hmac(const void *key, size_t key_len, const void *bytes, size_t len,
	      uint8_t hmac[RTE_HMAC_LEN])
{
	return HMAC(EVP_sha256(), key, (int)key_len, bytes, len, hmac, NULL) != NULL;
}

bool rte_auth_prove(const struct rte_auth_talk *talk, const struct rte_auth_key *key,
		    enum rte_auth_step step, uint8_t hmac[RTE_HMAC_LEN])
{
	uint8_t bytes[PROVEN] = {0};

	memcpy(bytes, label, sizeof(label));
	bytes[AT_STEP] = (uint8_t)step;
	crn_put_le32(bytes + AT_KEY_ID, key->id);
	memcpy(bytes + AT_PREAMBLES, talk->preamble, sizeof(talk->preamble));
	memcpy(bytes + AT_HELLOS, talk->hello, sizeof(talk->hello));
	return rte_hmac(key->secret, key->len, bytes, sizeof(bytes), hmac);
}

bool rte_auth_proves(const struct rte_auth_talk *talk, const struct rte_auth_key *key,
		     enum rte_auth_step step, const uint8_t hmac[RTE_HMAC_LEN])
{
	uint8_t right[RTE_HMAC_LEN];

	return rte_auth_prove(talk, key, step, right) &&
	       !CRYPTO_memcmp(right, hmac, sizeof(right));
}
