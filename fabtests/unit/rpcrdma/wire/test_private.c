/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>
#include "headers.h"

#define MAGIC 0xf6, 0xab, 0x0e, 0x18
#define MESSAGE MAGIC, 1, 1, 3, 7 /* 4096 bytes sent, 8192 received */

static size_t find(struct rpr_private *priv, const void *bytes, size_t len, bool tail)
{
	memset(priv, 0xa5, sizeof(*priv));
	return rpr_private_find(priv, ct_fence_copy(bytes, len), len, tail);
}

static void expect_message(const struct rpr_private *priv)
{
	CT_EXPECT_TRUE(priv->remote_invalidate);
	CT_EXPECT_EQ(priv->send_size, 4096);
	CT_EXPECT_EQ(priv->recv_size, 8192);
}

/* RFC 8797 section 5.1 */
static void expect_none(const void *bytes, size_t len, bool tail)
{
	struct rpr_private priv;

	CT_EXPECT_EQ(find(&priv, bytes, len, tail), 0);
	CT_EXPECT_FALSE(priv.remote_invalidate);
	CT_EXPECT_EQ(priv.send_size, 1024);
	CT_EXPECT_EQ(priv.recv_size, 1024);
}

CT_TEST(rpr_private, sizes_are_rounded_down_to_what_can_be_said)
{
	static const struct {
		uint32_t size;
		uint8_t byte;
	} rows[] = {{0, 0},	      {1, 0},	     {1023, 0},	    {1024, 0},
		    {1025, 0},	      {2047, 0},     {2048, 1},	    {4095, 2},
		    {4096, 3},	      {65536, 63},   {261120, 254}, {262143, 254},
		    {262144, 255},    {262145, 255}, {263168, 255}, {0x80000000, 255},
		    {0xffffffff, 255}};
	struct rpr_private priv;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		uint8_t *room = ct_fence_room(RPR_PRIVATE_LEN);

		CT_NOTE("%u bytes", rows[i].size);
		priv = (struct rpr_private){.send_size = rows[i].size, .recv_size = 5120};
		rpr_private_pack(&priv, room);
		CT_EXPECT_EQ(room[5], 0);
		CT_EXPECT_EQ(room[6], rows[i].byte);
		CT_EXPECT_EQ(room[7], 4);
		priv = (struct rpr_private){true, 5120, rows[i].size};
		rpr_private_pack(&priv, room);
		CT_EXPECT_EQ(room[5], 1);
		CT_EXPECT_EQ(room[6], 4);
		CT_EXPECT_EQ(room[7], rows[i].byte);
	}
}

CT_TEST(rpr_private, every_size_is_understood)
{
	struct rpr_private priv;

	for (uint32_t i = 0; i < 256; i++) {
		const uint8_t bytes[] = {MAGIC, 1, 0, (uint8_t)i, (uint8_t)(255 - i)};

		CT_ASSERT_EQ(find(&priv, bytes, sizeof(bytes), false), sizeof(bytes));
		CT_EXPECT_FALSE(priv.remote_invalidate);
		CT_EXPECT_EQ(priv.send_size, 1024 + 1024 * i);
		CT_EXPECT_EQ(priv.recv_size, 262144 - 1024 * i);
	}
}

/* RFC 8797 section 4: receivers ignore the seven bits beside R. */
CT_TEST(rpr_private, reserved_bits_are_ignored)
{
	struct rpr_private priv;

	for (uint32_t flags = 0; flags < 256; flags++) {
		const uint8_t bytes[] = {MAGIC, 1, (uint8_t)flags, 3, 7};

		CT_ASSERT_EQ(find(&priv, bytes, sizeof(bytes), false), sizeof(bytes));
		CT_EXPECT_EQ(priv.remote_invalidate, flags & 1);
		CT_EXPECT_EQ(priv.send_size, 4096);
	}
}

/* Section 5.2; what follows, such as the rest of a buffer in zeros, does not matter. */
CT_TEST(rpr_private, is_found_at_any_offset)
{
	static const uint8_t message[] = {MESSAGE};
	struct rpr_private priv;
	uint8_t bytes[64];

	for (size_t at = 0; at + sizeof(message) <= sizeof(bytes); at++) {
		CT_NOTE("offset %zu", at);
		memset(bytes, 0xf6, at);
		memset(bytes + at, 0, sizeof(bytes) - at);
		memcpy(bytes + at, message, sizeof(message));
		CT_EXPECT_EQ(find(&priv, bytes, sizeof(bytes), false), at + 8);
		expect_message(&priv);
		CT_EXPECT_EQ(find(&priv, bytes, at + sizeof(message), true), at + 8);
		expect_message(&priv);
		for (size_t cut = 1; cut <= sizeof(message); cut++)
			expect_none(bytes, at + sizeof(message) - cut, true);
	}
}

CT_TEST(rpr_private, other_bytes_mean_the_defaults)
{
	static const uint8_t rows[][16] = {
		{0},
		{MAGIC, 0, 1, 3, 7},
		{MAGIC, 2, 1, 3, 7},
		{MAGIC, 255, 1, 3, 7},
		{0x18, 0x0e, 0xab, 0xf6, 1, 1, 3, 7},
		{0xf6, 0xab, 0x0e, 0x19, 1, 1, 3, 7},
		{0xf6, 0xab, 0x0f, 0x18, 1, 1, 3, 7},
		{0xf6, 0xaa, 0x0e, 0x18, 1, 1, 3, 7},
		{0xf7, 0xab, 0x0e, 0x18, 1, 1, 3, 7},
		{0xf6, 0xab, 0x0e, 1, 1, 3, 7},
	};

	expect_none(NULL, 0, false);
	expect_none(NULL, 0, true);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		expect_none(rows[i], sizeof(rows[i]), false);
		expect_none(rows[i], sizeof(rows[i]), true);
	}
}

CT_TEST(rpr_private, the_first_of_version_1_counts)
{
	static const uint8_t twice[] = {MESSAGE, MAGIC, 1, 0, 9, 9};
	static const uint8_t later[] = {MAGIC, 2, MESSAGE, 0};
	struct rpr_private priv;

	CT_EXPECT_EQ(find(&priv, twice, sizeof(twice), true), 8);
	expect_message(&priv);
	CT_EXPECT_EQ(find(&priv, later, sizeof(later), true), 13);
	expect_message(&priv);
}

CT_TEST(rpr_private, the_tail_is_for_who_asks_at_the_beginning)
{
	static const uint8_t tail[] = {0xab, 0x0e, 0x18, 1, 1, 3, 7, 0, 0};
	static const uint8_t further[] = {0, 0xab, 0x0e, 0x18, 1, 1, 3, 7};
	static const uint8_t version[] = {0xab, 0x0e, 0x18, 2, 1, 3, 7};
	static const uint8_t both[] = {0xab, 0x0e, 0x18, 1, 0, 9, 9, MESSAGE};
	struct rpr_private priv;

	for (size_t len = 0; len < 7; len++)
		expect_none(tail, len, true);
	for (size_t len = 7; len <= sizeof(tail); len++) {
		CT_EXPECT_EQ(find(&priv, tail, len, true), 7);
		expect_message(&priv);
		expect_none(tail, len, false);
	}
	expect_none(further, sizeof(further), true);
	expect_none(version, sizeof(version), true);
	/* All eight bytes are the better match. */
	CT_EXPECT_EQ(find(&priv, both, sizeof(both), true), 15);
	expect_message(&priv);
}
