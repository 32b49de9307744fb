/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds for all headers and for all bytes, tried on many; the same in every run. */
#include "headers.h"

#define HEADERS 5000
#define MUTATIONS 20

static size_t pack(const struct rpr_header *header, uint8_t *bytes, size_t size)
{
	ssize_t len = rpr_header_pack(header, bytes, size);

	CT_EXPECT_GT(len, 0);
	return len < 0 ? 0 : (size_t)len;
}

CT_TEST(rpr_random, what_is_packed_is_what_is_parsed)
{
	struct rpr_header header, again;
	uint8_t bytes[FULL_LEN];
	uint64_t state = 1;
	size_t len, used;

	for (unsigned int i = 0; i < HEADERS && !ct_failed(); i++) {
		CT_NOTE("header %u", i);
		random_header(&header, &state);
		len = pack(&header, bytes, sizeof(bytes));
		CT_EXPECT_EQ(len, rpr_header_len(&header));
		CT_ASSERT_EQ(fence_parse(&again, bytes, len, &used), RPR_OK);
		CT_EXPECT_EQ(used, len);
		expect_same(&again, &header);
	}
}

/* A word that is likely to matter, somewhere; or a byte; or another length. */
static size_t mutate(uint8_t *bytes, size_t len, uint64_t *state)
{
	static const uint32_t words[] = {
		0,	    1,	       2, 3, 4, 5, RPR_CHUNK_SEGS, RPR_CHUNK_SEGS + 1,
		0x10000000, 0xffffffff};
	const uint32_t at = random_below(state, (uint32_t)len);
	uint32_t value;

	switch (random_below(state, 3)) {
	case 0:
		value = words[random_below(state, 10)];
		bytes[at & ~3u] = (uint8_t)(value >> 24);
		bytes[(at & ~3u) + 1] = (uint8_t)(value >> 16);
		bytes[(at & ~3u) + 2] = (uint8_t)(value >> 8);
		bytes[(at & ~3u) + 3] = (uint8_t)value;
		return len;
	case 1:
		bytes[at] = (uint8_t)random_below(state, 256);
		return len;
	default:
		return at + 1;
	}
}

/* Whatever they are: nothing outside them is read, and what was understood is them. */
static enum rpr_bad check(const uint8_t *bytes, size_t len)
{
	struct rpr_header header;
	uint8_t out[FULL_LEN];
	uint32_t xid, credit;
	size_t used;
	bool brief;
	enum rpr_bad bad = fence_parse(&header, bytes, len, &used);

	brief = rpr_header_is_short(bytes, len, &xid, &credit);
	if (bad != RPR_OK) {
		CT_EXPECT_EQ(used, 12345);
		CT_EXPECT_FALSE(brief);
		return bad;
	}
	CT_EXPECT_LE(used, len);
	CT_EXPECT_EQ(rpr_header_len(&header), used);
	CT_EXPECT_EQ(pack(&header, out, sizeof(out)), used);
	CT_EXPECT_MEMEQ(out, bytes, used);
	CT_EXPECT_EQ(brief, header.proc == RPR_MSG && used == RPR_HEADER_MIN);
	if (brief) {
		CT_EXPECT_EQ(xid, header.xid);
		CT_EXPECT_EQ(credit, header.credit);
	}
	return bad;
}

CT_TEST(rpr_random, bytes_are_understood_as_what_they_are)
{
	unsigned int seen[RPR_BAD_CHUNK + 1] = {0};
	struct rpr_header header;
	uint8_t bytes[FULL_LEN + 4];
	uint64_t state = 2;
	size_t len;

	memset(bytes, 0, sizeof(bytes));
	for (unsigned int i = 0; i < HEADERS && !ct_failed(); i++) {
		CT_NOTE("header %u", i);
		random_header(&header, &state);
		len = pack(&header, bytes, sizeof(bytes));
		CT_ASSERT_GT(len, 0);
		for (unsigned int j = 0; j < MUTATIONS; j++) {
			len = mutate(bytes, len, &state);
			seen[check(bytes, len)]++;
		}
	}
	/* Otherwise it was not worth the time. */
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		CT_EXPECT_GT(seen[i], 1000);
}

CT_TEST(rpr_random, nothing_is_too_strange)
{
	uint8_t bytes[256];
	enum rpr_direction direction;
	struct rpr_private priv;
	uint64_t state = 3;
	uint32_t xid;
	size_t len;

	for (unsigned int i = 0; i < 20000 && !ct_failed(); i++) {
		const uint8_t *copy;

		len = random_below(&state, sizeof(bytes));
		/* Mostly zeros, or numbers would be beyond all bounds at once. */
		for (size_t j = 0; j < len; j++)
			bytes[j] = random_below(&state, 4)
					   ? 0
					   : (uint8_t)random_below(&state, 8);
		check(bytes, len);
		copy = ct_fence_copy(bytes, len);
		rpr_message_parse(copy, len, &xid, &direction);
		rpr_message_reducible(copy, len);
		CT_EXPECT_LE(rpr_private_find(&priv, copy, len, i & 1), len);
	}
}
