/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include "cairn_test.h"

/* One of each, and the bytes that it is. */
static const uint8_t all_bytes[] = {
	0x01,						/* u8 */
	0x02, 0x03,					/* be16 */
	0x04, 0x05, 0x06, 0x07,				/* be32 */
	0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, /* be64 */
	0x02, 0x03,					/* le16 */
	0x04, 0x05, 0x06, 0x07,				/* le32 */
	0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, /* le64 */
};

static void pack_all(struct crn_pack *pack)
{
	crn_pack_u8(pack, 0x01);
	crn_pack_be16(pack, 0x0203);
	crn_pack_be32(pack, 0x04050607);
	crn_pack_be64(pack, 0x08090a0b0c0d0e0f);
	crn_pack_le16(pack, 0x0302);
	crn_pack_le32(pack, 0x07060504);
	crn_pack_le64(pack, 0x0f0e0d0c0b0a0908);
}

CT_TEST(bytes, numbers_have_their_order)
{
	uint8_t out[sizeof(all_bytes)];
	struct crn_unpack in;
	struct crn_pack pack;

	crn_pack_init(&pack, out, sizeof(out));
	pack_all(&pack);
	CT_EXPECT_EQ(crn_pack_len(&pack), sizeof(all_bytes));
	CT_EXPECT_MEMEQ(out, all_bytes, sizeof(all_bytes));

	crn_unpack_init(&in, all_bytes, sizeof(all_bytes));
	CT_EXPECT_EQ(crn_unpack_u8(&in), 0x01);
	CT_EXPECT_EQ(crn_unpack_be16(&in), 0x0203);
	CT_EXPECT_EQ(crn_unpack_be32(&in), 0x04050607);
	CT_EXPECT_EQ(crn_unpack_be64(&in), 0x08090a0b0c0d0e0f);
	CT_EXPECT_FALSE(crn_unpack_done(&in));
	CT_EXPECT_EQ(crn_unpack_le16(&in), 0x0302);
	CT_EXPECT_EQ(crn_unpack_le32(&in), 0x07060504);
	CT_EXPECT_EQ(crn_unpack_le64(&in), 0x0f0e0d0c0b0a0908);
	CT_EXPECT_TRUE(crn_unpack_done(&in));
}

CT_TEST(bytes, many_numbers_have_the_order_of_one)
{
	static const uint64_t values[] = {0x0f0e0d0c0b0a0908, 1, UINT64_MAX - 1};
	uint64_t again[3];
	uint8_t out[25], want[25];

	for (size_t count = 0; count <= 3; count++) {
		memset(out, 0xa5, sizeof(out));
		memset(want, 0xa5, sizeof(want));
		memset(again, 0, sizeof(again));
		for (size_t i = 0; i < count; i++)
			crn_put_le64(want + 1 + 8 * i, values[i]);
		crn_put_le64s(out + 1, count ? values : NULL, count);
		CT_EXPECT_MEMEQ(out, want, sizeof(out));
		crn_get_le64s(out + 1, count ? again : NULL, count);
		CT_EXPECT_MEMEQ(again, values, 8 * count);
	}
}

/* In memory of exactly that size, for the sanitizer. */
CT_TEST(bytes, no_bound_is_crossed_wherever_it_is)
{
	struct crn_unpack in;
	struct crn_pack pack;
	uint64_t sum;
	uint8_t *out;

	for (size_t size = 0; size < sizeof(all_bytes); size++) {
		CT_NOTE("%zu bytes", size);
		out = malloc(size + !size);
		CT_ASSERT_NE(out, NULL);
		memset(out, 0xee, size);
		crn_pack_init(&pack, out, size);
		pack_all(&pack);
		CT_EXPECT_EQ(crn_pack_len(&pack), -FI_ETOOSMALL);
		/* What fits is there. */
		memcpy(out, all_bytes, size);
		crn_unpack_init(&in, out, size);
		sum = crn_unpack_u8(&in);
		sum += crn_unpack_be16(&in);
		sum += crn_unpack_be32(&in);
		sum += crn_unpack_be64(&in);
		sum += crn_unpack_le16(&in);
		sum += crn_unpack_le32(&in);
		CT_EXPECT_EQ(crn_unpack_le64(&in), 0);
		CT_EXPECT_TRUE(in.failed);
		CT_EXPECT_FALSE(crn_unpack_done(&in));
		if (size == 1)
			CT_EXPECT_EQ(sum, 1);
		free(out);
	}
}

CT_TEST(bytes, an_error_stays_although_something_smaller_would_fit)
{
	uint8_t out[4] = {0xee, 0xee, 0xee, 0xee}, copy[2] = {0xee, 0xee};
	struct crn_unpack in, part;
	struct crn_pack pack;
	size_t len = 7;

	crn_pack_init(&pack, out, sizeof(out));
	crn_pack_be16(&pack, 0x0102);
	crn_pack_be32(&pack, 1);
	crn_pack_be16(&pack, 1);
	crn_pack_u8(&pack, 1);
	crn_pack_bytes(&pack, copy, 1);
	crn_pack_zero(&pack, 1);
	CT_EXPECT_EQ(crn_pack_room(&pack, 0), NULL);
	CT_EXPECT_EQ(crn_pack_len(&pack), -FI_ETOOSMALL);
	CT_EXPECT_MEMEQ(out, "\x01\x02\xee\xee", 4);

	crn_unpack_init(&in, "\1\2\3\4\5\6\7", 7);
	CT_EXPECT_EQ(crn_unpack_be64(&in), 0);
	CT_EXPECT_EQ(crn_unpack_u8(&in), 0);
	CT_EXPECT_EQ(crn_unpack_le16(&in), 0);
	CT_EXPECT_EQ(crn_unpack_ref(&in, 0), NULL);
	crn_unpack_bytes(&in, copy, 2);
	CT_EXPECT_MEMEQ(copy, "\0\0", 2);
	CT_EXPECT_EQ(crn_unpack_xdr_fixed(&in, 0), NULL);
	CT_EXPECT_EQ(crn_unpack_xdr_opaque(&in, 100, &len), NULL);
	CT_EXPECT_EQ(len, 0);
	crn_unpack_part(&in, 1, &part);
	CT_EXPECT_TRUE(part.failed);
	CT_EXPECT_EQ(part.left, 0);
	CT_EXPECT_EQ(in.left, 7);
}

CT_TEST(bytes, opaque_bytes_are_copied_or_shown_where_they_are)
{
	uint8_t out[8], copy[3];
	struct crn_unpack in;
	struct crn_pack pack;

	memset(out, 0xee, sizeof(out));
	crn_pack_init(&pack, out, sizeof(out));
	crn_pack_bytes(&pack, "abc", 3);
	crn_pack_bytes(&pack, NULL, 0);
	crn_pack_zero(&pack, 2);
	crn_pack_zero(&pack, 0);
	CT_EXPECT_EQ(crn_pack_len(&pack), 5);
	CT_EXPECT_MEMEQ(out, "abc\0\0\xee\xee\xee", 8);
	CT_EXPECT_EQ(crn_pack_room(&pack, 3), out + 5);
	CT_EXPECT_EQ(crn_pack_len(&pack), 8);
	CT_EXPECT_EQ(crn_pack_room(&pack, 0), out + 8);
	CT_EXPECT_EQ(crn_pack_room(&pack, 1), NULL);

	crn_unpack_init(&in, "abcde", 5);
	crn_unpack_bytes(&in, copy, 3);
	CT_EXPECT_MEMEQ(copy, "abc", 3);
	crn_unpack_bytes(&in, NULL, 0);
	CT_EXPECT_EQ(*crn_unpack_ref(&in, 2), 'd');
	CT_EXPECT_TRUE(crn_unpack_done(&in));
	CT_EXPECT_EQ(crn_unpack_ref(&in, SIZE_MAX), NULL);
}

CT_TEST(bytes, nothing_at_all_is_done_at_once)
{
	struct crn_unpack in;
	struct crn_pack pack;

	crn_unpack_init(&in, NULL, 0);
	CT_EXPECT_TRUE(crn_unpack_done(&in));
	crn_pack_init(&pack, NULL, 0);
	CT_EXPECT_EQ(crn_pack_len(&pack), 0);
	crn_pack_u8(&pack, 1);
	CT_EXPECT_EQ(crn_pack_len(&pack), -FI_ETOOSMALL);
}

CT_TEST(bytes, a_part_has_bounds_of_its_own)
{
	struct crn_unpack in, part;

	crn_unpack_init(&in, "\1\2\3\4", 4);
	crn_unpack_part(&in, 2, &part);
	CT_EXPECT_EQ(crn_unpack_u8(&part), 1);
	CT_EXPECT_EQ(crn_unpack_be16(&part), 0);
	CT_EXPECT_TRUE(part.failed);
	CT_EXPECT_FALSE(in.failed);
	CT_EXPECT_EQ(crn_unpack_u8(&in), 3);
	crn_unpack_part(&in, 2, &part);
	CT_EXPECT_TRUE(part.failed);
	CT_EXPECT_TRUE(in.failed);
}

/* RFC 4506 sections 4.9 and 4.10. */
CT_TEST(bytes, opaque_data_of_XDR_is_filled_up_to_four)
{
	static const struct {
		size_t len;
		const char *bytes;
		size_t size;
	} rows[] = {
		{0, "\0\0\0\0", 4},	  {1, "\0\0\0\1a\0\0\0", 8},
		{2, "\0\0\0\2ab\0\0", 8}, {3, "\0\0\0\3abc\0", 8},
		{4, "\0\0\0\4abcd", 8},	  {5, "\0\0\0\5abcde\0\0\0", 12},
	};
	struct crn_unpack in;
	struct crn_pack pack;
	const uint8_t *data;
	uint8_t out[16];
	size_t len;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		memset(out, 0xee, sizeof(out));
		crn_pack_init(&pack, out, sizeof(out));
		crn_pack_xdr_opaque(&pack, "abcdefg", rows[i].len);
		CT_EXPECT_EQ(crn_pack_len(&pack), rows[i].size);
		CT_EXPECT_MEMEQ(out, rows[i].bytes, rows[i].size);
		CT_EXPECT_EQ(out[rows[i].size], 0xee);
		crn_pack_init(&pack, out, sizeof(out));
		crn_pack_xdr_fixed(&pack, "abcdefg", rows[i].len);
		CT_EXPECT_EQ(crn_pack_len(&pack), rows[i].size - 4);
		CT_EXPECT_MEMEQ(out, rows[i].bytes + 4, rows[i].size - 4);

		crn_unpack_init(&in, rows[i].bytes, rows[i].size);
		data = crn_unpack_xdr_opaque(&in, rows[i].len, &len);
		CT_EXPECT_EQ(len, rows[i].len);
		CT_EXPECT_EQ((const char *)data, rows[i].bytes + 4);
		CT_EXPECT_TRUE(crn_unpack_done(&in));
		crn_unpack_init(&in, rows[i].bytes + 4, rows[i].size - 4);
		data = crn_unpack_xdr_fixed(&in, rows[i].len);
		CT_EXPECT_EQ((const char *)data, rows[i].bytes + 4);
		CT_EXPECT_TRUE(crn_unpack_done(&in));

		/* One byte of the padding short, and longer than wanted. */
		crn_pack_init(&pack, out, rows[i].size - 1);
		crn_pack_xdr_opaque(&pack, "abcdefg", rows[i].len);
		CT_EXPECT_EQ(crn_pack_len(&pack), -FI_ETOOSMALL);
		crn_unpack_init(&in, rows[i].bytes, rows[i].size - 1);
		CT_EXPECT_EQ(crn_unpack_xdr_opaque(&in, rows[i].len, &len), NULL);
		CT_EXPECT_EQ(len, 0);
		if (!rows[i].len)
			continue;
		crn_unpack_init(&in, rows[i].bytes, rows[i].size);
		CT_EXPECT_EQ(crn_unpack_xdr_opaque(&in, rows[i].len - 1, &len), NULL);
		CT_EXPECT_EQ(len, 0);
		CT_EXPECT_TRUE(in.failed);
	}
}

CT_TEST(bytes, lengths_that_wrap_around_fit_nowhere)
{
	struct crn_unpack in;
	struct crn_pack pack;
	uint8_t out[16];
	size_t len;

	crn_unpack_init(&in, "\xff\xff\xff\xff\0\0\0\0", 8);
	CT_EXPECT_EQ(crn_unpack_xdr_opaque(&in, SIZE_MAX, &len), NULL);
	CT_EXPECT_EQ(len, 0);
	crn_unpack_init(&in, "\0\0\0\0", 4);
	CT_EXPECT_EQ(crn_unpack_xdr_fixed(&in, SIZE_MAX), NULL);
	CT_EXPECT_EQ(in.left, 4);
	/* Would be 0 in 32 bits; refused before any byte of it is looked at. */
	crn_pack_init(&pack, out, sizeof(out));
	crn_pack_xdr_opaque(&pack, NULL, 1ull << 32);
	CT_EXPECT_EQ(crn_pack_len(&pack), -FI_ETOOSMALL);
	CT_EXPECT_EQ(pack.left, sizeof(out));
}

/* As other implementations of XDR have it. */
CT_TEST(bytes, what_fills_opaque_data_up_is_not_looked_at)
{
	struct crn_unpack in;
	size_t len;

	crn_unpack_init(&in, "\0\0\0\1axyz", 8);
	CT_EXPECT_EQ(*crn_unpack_xdr_opaque(&in, 4, &len), 'a');
	CT_EXPECT_TRUE(crn_unpack_done(&in));
}
