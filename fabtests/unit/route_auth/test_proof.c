/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/compat.h>
#include "auth/auth.h"
#include "cairn_test.h"

/* --- HMAC-SHA256: RFC 4231, section 4 --- */

static const struct {
	const char *key;
	size_t key_len; /* of so many of the first byte of key where it is one long */
	bool repeats;
	const char *data;
	size_t len;
	uint8_t hmac[RTE_HMAC_LEN];
} rfc4231[] = {
	/* 4.2 */
	{"\x0b", 20, true, "Hi There", 8, {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38,
					   0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b,
					   0xf1, 0x2b, 0x88, 0x1d, 0xc2, 0x00, 0xc9,
					   0x83, 0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c,
					   0x2e, 0x32, 0xcf, 0xf7}},
	/* 4.3 */
	{"Jefe",
	 4,
	 false,
	 "what do ya want for nothing?",
	 28,
	 {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24,
	  0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27,
	  0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43}},
	/* 4.7: a key longer than a block of the hash */
	{"\xaa",
	 131,
	 true,
	 "Test Using Larger Than Block-Size Key - Hash Key First",
	 54,
	 {0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f, 0x0d, 0x8a, 0x26,
	  0xaa, 0xcb, 0xf5, 0xb7, 0x7f, 0x8e, 0x0b, 0xc6, 0x21, 0x37, 0x28,
	  0xc5, 0x14, 0x05, 0x46, 0x04, 0x0f, 0x0e, 0xe3, 0x7f, 0x54}},
	/* 4.8: and data longer than one */
	{"\xaa",
	 131,
	 true,
	 "This is a test using a larger than block-size key and a larger than "
	 "block-size data. The key needs to be hashed before being used by the HMAC "
	 "algorithm.",
	 152,
	 {0x9b, 0x09, 0xff, 0xa7, 0x1b, 0x94, 0x2f, 0xcb, 0x27, 0x63, 0x5f,
	  0xbc, 0xd5, 0xb0, 0xe9, 0x44, 0xbf, 0xdc, 0x63, 0x64, 0x4f, 0x07,
	  0x13, 0x93, 0x8a, 0x7f, 0x51, 0x53, 0x5c, 0x3a, 0x35, 0xe2}},
};

CT_TEST(proof, hmac_is_that_of_rfc_4231)
{
	uint8_t key[200], hmac[RTE_HMAC_LEN];
	size_t i;

	for (i = 0; i < sizeof(rfc4231) / sizeof(rfc4231[0]); i++) {
		memset(key, rfc4231[i].key[0], sizeof(key));
		if (!rfc4231[i].repeats)
			memcpy(key, rfc4231[i].key, rfc4231[i].key_len);
		CT_ASSERT_TRUE(rte_hmac(key, rfc4231[i].key_len, rfc4231[i].data,
					rfc4231[i].len, hmac));
		CT_EXPECT_MEMEQ(hmac, rfc4231[i].hmac, sizeof(hmac));
	}
}

/* --- What is proven --- */

static struct rte_auth_key key_of(uint32_t id, const char *secret)
{
	struct rte_auth_key key = {.id = id, .len = (uint32_t)strlen(secret)};

	memcpy(key.secret, secret, key.len);
	return key;
}

static struct rte_auth_talk talk_of(void)
{
	static const uint8_t hello[] = "HELLO", ack[] = "HELLO_ACK";
	struct rte_auth_talk talk;
	size_t i;

	for (i = 0; i < RTE_PREAMBLE_LEN; i++) {
		talk.preamble[0][i] = (uint8_t)i;
		talk.preamble[1][i] = (uint8_t)(0x80 + i);
	}
	CT_EXPECT_TRUE(rte_auth_hello(&talk, 0, hello, 5));
	CT_EXPECT_TRUE(rte_auth_hello(&talk, 1, ack, 9));
	return talk;
}

/* Made by another program from the table in auth.h. */
static const uint8_t golden[2][RTE_HMAC_LEN] = {
	{0x9d, 0x36, 0xc7, 0x73, 0xb7, 0x69, 0x76, 0xe8, 0xc0, 0xd4, 0x5c,
	 0xbc, 0xba, 0x60, 0x04, 0xf5, 0x19, 0xc1, 0x30, 0xfa, 0xc6, 0x18,
	 0xa6, 0xf0, 0xa1, 0xbf, 0xe8, 0x73, 0x6e, 0x2f, 0x2c, 0x6f},
	{0x05, 0x7e, 0x3e, 0x63, 0xad, 0x05, 0xfd, 0x01, 0x67, 0xef, 0x2a,
	 0xee, 0xd8, 0x86, 0xf7, 0x53, 0x6b, 0xe6, 0xb6, 0x14, 0x65, 0xb3,
	 0xb0, 0x9c, 0x29, 0xb0, 0xb1, 0x9c, 0xbe, 0x2c, 0x8c, 0x89},
};

CT_TEST(proof, is_these_bytes)
{
	const struct rte_auth_key key = key_of(0x01020304, "sixteen bytes...");
	const struct rte_auth_talk talk = talk_of();
	uint8_t hmac[RTE_HMAC_LEN];

	CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_MEMEQ(hmac, golden[0], sizeof(hmac));
	CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, RTE_AUTH_PASSIVE, hmac));
	CT_EXPECT_MEMEQ(hmac, golden[1], sizeof(hmac));
}

/* The same of other keys, by Python's hmac. Byte i of a secret is 7 i + 3 + i / 256. */
static const struct {
	uint32_t len, id;
	enum rte_auth_step step;
	uint8_t hmac[RTE_HMAC_LEN];
} by_python[] = {
	{16, 0x00000001, RTE_AUTH_ACTIVE, {0x88, 0xf1, 0x3b, 0xdf, 0x76, 0xd8, 0x9d,
					   0xb5, 0x04, 0x88, 0x76, 0xf2, 0x82, 0xa1,
					   0xc5, 0xbd, 0xbb, 0xe9, 0x89, 0xba, 0x41,
					   0x05, 0x1f, 0xc0, 0xa4, 0x84, 0x7f, 0xff,
					   0xa9, 0xbf, 0x2e, 0x08}},
	{64, 0x00000002, RTE_AUTH_PASSIVE, {0x74, 0x39, 0xbe, 0x03, 0x25, 0x64, 0x74,
					    0xcf, 0xe9, 0xc1, 0xdd, 0x05, 0x6b, 0xd6,
					    0x32, 0x92, 0xf4, 0x20, 0x51, 0x8b, 0xa3,
					    0x9d, 0xcf, 0xd1, 0x25, 0xa4, 0xdc, 0x6e,
					    0x8c, 0x87, 0xfe, 0xe9}},
	{65, 0xffffffff, RTE_AUTH_ACTIVE, {0xa8, 0xce, 0x10, 0x00, 0x95, 0x66, 0xa4,
					   0xb7, 0xb5, 0xf9, 0x54, 0xa0, 0x0e, 0x57,
					   0xc9, 0xe8, 0x31, 0x95, 0xf5, 0xd0, 0x4f,
					   0xd8, 0x7b, 0xf5, 0xa2, 0x05, 0x8b, 0x92,
					   0xc8, 0x77, 0x55, 0xea}},
	{4096, 0x80000001, RTE_AUTH_PASSIVE, {0xf1, 0xc8, 0xc8, 0x88, 0xb8, 0xcc, 0x7c,
					      0xf1, 0xc6, 0x25, 0xc2, 0x29, 0xb2, 0xdd,
					      0x01, 0xa9, 0x99, 0x77, 0xd7, 0xce, 0x7a,
					      0x8d, 0xf8, 0xcf, 0x12, 0x92, 0x7d, 0xa2,
					      0xc6, 0x72, 0x43, 0xd5}},
};

CT_TEST(proof, is_these_bytes_with_keys_of_all_lengths)
{
	const struct rte_auth_talk talk = talk_of();
	static struct rte_auth_key key;
	uint8_t hmac[RTE_HMAC_LEN];
	size_t i, k;

	for (i = 0; i < CRN_COUNT(by_python); i++) {
		key.id = by_python[i].id;
		key.len = by_python[i].len;
		for (k = 0; k < key.len; k++)
			key.secret[k] = (uint8_t)(7 * k + 3 + k / 256);
		CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, by_python[i].step, hmac));
		CT_EXPECT_MEMEQ(hmac, by_python[i].hmac, sizeof(hmac));
	}
}

CT_TEST(proof, of_one_step_is_none_of_the_other)
{
	const struct rte_auth_key key = key_of(1, "sixteen bytes...");
	const struct rte_auth_talk talk = talk_of();
	uint8_t hmac[RTE_HMAC_LEN];

	CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_TRUE(rte_auth_proves(&talk, &key, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_FALSE(rte_auth_proves(&talk, &key, RTE_AUTH_PASSIVE, hmac));
}

CT_TEST(proof, has_every_bit_of_what_was_said_in_it)
{
	const struct rte_auth_key key = key_of(1, "sixteen bytes...");
	const struct rte_auth_talk talk = talk_of();
	struct rte_auth_talk other;
	uint8_t hmac[RTE_HMAC_LEN];
	size_t i;

	CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, RTE_AUTH_ACTIVE, hmac));
	for (i = 0; i < sizeof(talk) * 8; i++) {
		other = talk;
		((uint8_t *)&other)[i / 8] ^= (uint8_t)(1 << i % 8);
		CT_EXPECT_FALSE(rte_auth_proves(&other, &key, RTE_AUTH_ACTIVE, hmac));
	}
}

CT_TEST(proof, with_roles_exchanged_is_none)
{
	const struct rte_auth_key key = key_of(1, "sixteen bytes...");
	const struct rte_auth_talk talk = talk_of();
	struct rte_auth_talk other = talk;
	uint8_t hmac[RTE_HMAC_LEN];

	memcpy(other.preamble[0], talk.preamble[1], RTE_PREAMBLE_LEN);
	memcpy(other.preamble[1], talk.preamble[0], RTE_PREAMBLE_LEN);
	CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_FALSE(rte_auth_proves(&other, &key, RTE_AUTH_ACTIVE, hmac));
}

CT_TEST(proof, is_of_one_key_and_its_number)
{
	const struct rte_auth_key key = key_of(1, "sixteen bytes..."),
				  number = key_of(2, "sixteen bytes..."),
				  secret = key_of(1, "sixteen bytes.,."),
				  longer = key_of(1, "sixteen bytes... and one");
	const struct rte_auth_talk talk = talk_of();
	uint8_t hmac[RTE_HMAC_LEN];
	size_t i;

	CT_ASSERT_TRUE(rte_auth_prove(&talk, &key, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_FALSE(rte_auth_proves(&talk, &number, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_FALSE(rte_auth_proves(&talk, &secret, RTE_AUTH_ACTIVE, hmac));
	CT_EXPECT_FALSE(rte_auth_proves(&talk, &longer, RTE_AUTH_ACTIVE, hmac));
	for (i = 0; i < RTE_HMAC_LEN * 8; i++) {
		hmac[i / 8] ^= (uint8_t)(1 << i % 8);
		CT_EXPECT_FALSE(rte_auth_proves(&talk, &key, RTE_AUTH_ACTIVE, hmac));
		hmac[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

/* --- Proofs that were heard --- */

CT_TEST(heard, is_what_was_heard_and_nothing_else)
{
	static struct rte_auth_heard heard;
	uint8_t hmac[RTE_HMAC_LEN] = {0};

	CT_EXPECT_FALSE(rte_auth_was_heard(&heard, hmac));
	memset(hmac, 7, sizeof(hmac));
	CT_EXPECT_FALSE(rte_auth_was_heard(&heard, hmac));
	rte_auth_hear(&heard, hmac);
	CT_EXPECT_TRUE(rte_auth_was_heard(&heard, hmac));
	hmac[9] ^= 1;
	CT_EXPECT_FALSE(rte_auth_was_heard(&heard, hmac));
}

CT_TEST(heard, is_the_newest_256)
{
	static struct rte_auth_heard heard;
	uint8_t hmac[RTE_HMAC_LEN] = {1};
	unsigned int i;

	for (i = 1; i <= RTE_AUTH_HEARD + 10; i++) {
		hmac[8] = (uint8_t)i;
		hmac[9] = (uint8_t)(i >> 8);
		rte_auth_hear(&heard, hmac);
	}
	for (i = 1; i <= RTE_AUTH_HEARD + 10; i++) {
		hmac[8] = (uint8_t)i;
		hmac[9] = (uint8_t)(i >> 8);
		CT_EXPECT_EQ(rte_auth_was_heard(&heard, hmac), i > 10);
	}
}
