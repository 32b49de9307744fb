/* SPDX-License-Identifier: BSD-2-Clause */
/* The two functions of the fast path agree with the others. */
#include "headers.h"

CT_TEST(rpr_short, is_packed_as_any_other)
{
	const struct rpr_header header = {
		.xid = 0x01020304, .vers = 1, .credit = 0x05060708, .proc = RPR_MSG};
	uint8_t want[RPR_HEADER_MIN], *room = ct_fence_room(RPR_HEADER_MIN);

	CT_ASSERT_EQ(rpr_header_pack(&header, want, sizeof(want)), RPR_HEADER_MIN);
	memset(room, 0xa5, RPR_HEADER_MIN);
	rpr_header_pack_short(room, 0x01020304, 0x05060708);
	CT_EXPECT_MEMEQ(room, want, sizeof(want));
}

/* Each bit of it turned: every one of XID and credits is free, and no other. */
CT_TEST(rpr_short, is_known_by_five_words)
{
	uint8_t bytes[RPR_HEADER_MIN];
	uint32_t xid, credit;

	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		const size_t word = bit / 32;
		const bool free_word = word == 0 || word == 2;
		const uint32_t turned = 0x80000000u >> bit % 32;

		CT_NOTE("bit %zu", bit);
		rpr_header_pack_short(bytes, 0x01020304, 0x05060708);
		bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		xid = credit = 12345;
		CT_EXPECT_EQ(rpr_header_is_short(ct_fence_copy(bytes, sizeof(bytes)),
						 sizeof(bytes), &xid, &credit),
			     free_word);
		if (!free_word) {
			CT_EXPECT_EQ(xid, 12345);
			CT_EXPECT_EQ(credit, 12345);
			continue;
		}
		CT_EXPECT_EQ(xid, 0x01020304 ^ (word ? 0 : turned));
		CT_EXPECT_EQ(credit, 0x05060708 ^ (word ? turned : 0));
	}
}

CT_TEST(rpr_short, has_all_its_bytes_and_may_be_followed)
{
	uint8_t bytes[RPR_HEADER_MIN + 8];
	uint32_t xid, credit;

	memset(bytes, 0xff, sizeof(bytes));
	rpr_header_pack_short(bytes, 1, 2);
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(rpr_header_is_short(ct_fence_copy(bytes, len), len, &xid,
						 &credit),
			     len >= RPR_HEADER_MIN);
	}
}
