/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers that are wrong, each in one way. */
#include <cairn/compat.h>
#include "headers.h"

#define FIXED(vers, proc) W(0x01020304), W(vers), W(0x05060708), W(proc)
#define ALL 0xffffffffu

static void expect_fixed(const struct rpr_header *header, uint32_t vers, uint32_t proc)
{
	CT_EXPECT_EQ(header->xid, 0x01020304);
	CT_EXPECT_EQ(header->vers, vers);
	CT_EXPECT_EQ(header->credit, 0x05060708);
	CT_EXPECT_EQ(header->proc, proc);
}

static void expect_bad(const uint8_t *bytes, size_t len, enum rpr_bad want)
{
	struct rpr_header header;
	size_t used;

	CT_EXPECT_EQ(fence_parse(&header, bytes, len, &used), want);
	CT_EXPECT_EQ(used, 12345);
}

CT_TEST(rpr_parse, less_than_the_shortest_header_is_dropped)
{
	static const uint8_t messages[][RPR_HEADER_MIN] = {
		{FIXED(1, RPR_MSG), W(0), W(0), W(0)},
		{FIXED(1, RPR_NOMSG), W(0), W(0), W(1)},
		{FIXED(1, RPR_MSGP), W(0), W(0), W(0)},
		{FIXED(1, RPR_DONE), W(2), W(0), W(0)},
		{FIXED(2, RPR_MSG), W(0), W(0), W(0)},
		{FIXED(2, RPR_ERROR), W(2), W(0), W(0)},
		{FIXED(1, RPR_ERROR), W(1), W(1), W(1)},
		{FIXED(1, 5), W(2), W(0), W(0)},
	};

	for (size_t i = 0; i < CRN_COUNT(messages); i++)
		for (size_t len = 0; len < RPR_HEADER_MIN; len++) {
			CT_NOTE("message %zu, %zu bytes", i, len);
			expect_bad(messages[i], len, RPR_BAD_SHORT);
		}
}

CT_TEST(rpr_parse, an_err_chunk_has_twenty_bytes)
{
	static const uint8_t message[64] = {FIXED(1, RPR_ERROR), W(2)};
	struct rpr_header header;
	size_t used, len;

	for (len = 0; len < RPR_ERR_CHUNK_LEN; len++)
		expect_bad(message, len, RPR_BAD_SHORT);
	for (; len <= sizeof(message); len++) {
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(fence_parse(&header, message, len, &used), RPR_OK);
		CT_EXPECT_EQ(used, RPR_ERR_CHUNK_LEN);
		expect_fixed(&header, 1, RPR_ERROR);
		CT_EXPECT_EQ(header.err, RPR_ERR_CHUNK);
	}
}

CT_TEST(rpr_parse, an_error_of_another_kind_is_dropped)
{
	static const uint32_t kinds[] = {0, 3, 0x100, 0x01000000, 0x02000000, ALL};

	for (size_t i = 0; i < CRN_COUNT(kinds); i++) {
		const uint8_t message[32] = {FIXED(1, RPR_ERROR), W(kinds[i])};

		CT_NOTE("rdma_err %u", kinds[i]);
		expect_bad(message, RPR_ERR_CHUNK_LEN, RPR_BAD_SHORT);
		expect_bad(message, sizeof(message), RPR_BAD_SHORT);
	}
}

/* Whatever follows: the fixed words are all that versions have in common. */
CT_TEST(rpr_parse, another_version_shows_its_fixed_words)
{
	static const uint32_t versions[] = {0, 2, 0x01000000, 0x0101, ALL};
	static const uint32_t procs[] = {RPR_MSG,   RPR_NOMSG, RPR_MSGP, RPR_DONE,
					 RPR_ERROR, 5,	       ALL};
	struct rpr_header header;
	size_t used;

	for (size_t i = 0; i < CRN_COUNT(versions); i++)
		for (size_t j = 0; j < CRN_COUNT(procs); j++) {
			const uint8_t message[RPR_HEADER_MIN] = {FIXED(versions[i],
								       procs[j]),
								 W(ALL), W(ALL), W(ALL)};

			CT_NOTE("version %u, rdma_proc %u", versions[i], procs[j]);
			memset(&header, 0xa5, sizeof(header));
			CT_EXPECT_EQ(fence_parse(&header, message, sizeof(message),
						 &used),
				     RPR_BAD_VERS);
			CT_EXPECT_EQ(used, 12345);
			expect_fixed(&header, versions[i], procs[j]);
		}
}

CT_TEST(rpr_parse, reserved_and_unknown_procedures_show_their_number)
{
	static const uint32_t procs[] = {RPR_MSGP, RPR_DONE, 5, 0x100, 0x01000000, ALL};
	struct rpr_header header;
	size_t used;

	for (size_t i = 0; i < CRN_COUNT(procs); i++) {
		const uint8_t message[64] = {FIXED(1, procs[i]), W(0), W(0), W(0)};

		CT_NOTE("rdma_proc %u", procs[i]);
		CT_EXPECT_EQ(fence_parse(&header, message, RPR_HEADER_MIN, &used),
			     RPR_BAD_PROC);
		expect_fixed(&header, 1, procs[i]);
		expect_bad(message, sizeof(message), RPR_BAD_PROC);
	}
}

CT_TEST(rpr_parse, a_list_may_end_nowhere_early)
{
	struct rpr_header header, again;
	uint8_t bytes[FULL_LEN];
	size_t used;

	full_header(&header);
	CT_ASSERT_EQ(rpr_header_pack(&header, bytes, sizeof(bytes)), FULL_LEN);
	for (size_t len = RPR_HEADER_MIN; len < FULL_LEN; len++) {
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(fence_parse(&again, bytes, len, &used), RPR_BAD_CHUNK);
		CT_EXPECT_EQ(used, 12345);
		CT_EXPECT_EQ(again.xid, header.xid);
		CT_EXPECT_EQ(again.vers, header.vers);
		CT_EXPECT_EQ(again.credit, header.credit);
		CT_EXPECT_EQ(again.proc, header.proc);
	}
	CT_EXPECT_EQ(fence_parse(&again, bytes, FULL_LEN, &used), RPR_OK);
	expect_same(&again, &header);
}

CT_TEST(rpr_parse, the_rpc_message_is_not_looked_at)
{
	struct rpr_header header, again;
	uint8_t bytes[FULL_LEN + 9];
	size_t used;

	full_header(&header);
	memset(bytes, 0xff, sizeof(bytes));
	CT_ASSERT_EQ(rpr_header_pack(&header, bytes, sizeof(bytes)), FULL_LEN);
	for (size_t more = 0; more <= 9; more++) {
		CT_EXPECT_EQ(fence_parse(&again, bytes, FULL_LEN + more, &used), RPR_OK);
		CT_EXPECT_EQ(used, FULL_LEN);
		expect_same(&again, &header);
	}
}

/* Words of a header, with room for what they promise. */
struct words {
	uint8_t bytes[8192];
	size_t len;
};

static void word(struct words *words, uint32_t value)
{
	const uint8_t bytes[] = {W(value)};

	memcpy(words->bytes + words->len, bytes, sizeof(bytes));
	words->len += sizeof(bytes);
}

static void begin(struct words *words, uint32_t proc)
{
	words->len = 0;
	word(words, 0x01020304);
	word(words, 1);
	word(words, 0x05060708);
	word(words, proc);
}

static void seg(struct words *words)
{
	for (uint32_t i = 0; i < 4; i++)
		word(words, 1);
}

/* A list of entries, each a Read segment. */
static void read_list(struct words *words, uint32_t entries)
{
	for (uint32_t i = 0; i < entries; i++) {
		word(words, 1);
		word(words, i);
		seg(words);
	}
	word(words, 0);
}

static void chunk(struct words *words, uint32_t count, uint32_t segs)
{
	word(words, 1);
	word(words, count);
	for (uint32_t i = 0; i < segs; i++)
		seg(words);
}

static enum rpr_bad parse(const struct words *words)
{
	struct rpr_header header;
	size_t used;
	enum rpr_bad bad = fence_parse(&header, words->bytes, words->len, &used);

	CT_EXPECT_EQ(used, bad == RPR_OK ? words->len : 12345);
	if (bad == RPR_BAD_CHUNK)
		expect_fixed(&header, 1, header.proc);
	return bad;
}

CT_TEST(rpr_parse, a_read_list_has_its_bound)
{
	struct words words;

	for (uint32_t entries = 0; entries < RPR_READ_SEGS + 20; entries++) {
		CT_NOTE("%u entries", entries);
		begin(&words, RPR_MSG);
		read_list(&words, entries);
		word(&words, 0);
		word(&words, 0);
		CT_EXPECT_EQ(parse(&words),
			     entries <= RPR_READ_SEGS ? RPR_OK : RPR_BAD_CHUNK);
	}
}

CT_TEST(rpr_parse, a_write_list_has_its_bound)
{
	struct words words;

	for (uint32_t chunks = 0; chunks < RPR_WRITE_CHUNKS + 20; chunks++) {
		CT_NOTE("%u chunks", chunks);
		begin(&words, RPR_MSG);
		word(&words, 0);
		for (uint32_t i = 0; i < chunks; i++)
			chunk(&words, 0, 0);
		word(&words, 0);
		word(&words, 0);
		CT_EXPECT_EQ(parse(&words),
			     chunks <= RPR_WRITE_CHUNKS ? RPR_OK : RPR_BAD_CHUNK);
	}
}

/* Nor is what lies behind its array in the header written. */
CT_TEST(rpr_parse, a_list_beyond_its_bound_stays_in_its_place)
{
	struct rpr_header header, before;
	struct words words;
	size_t used;

	memset(&header, 0xa5, sizeof(header));
	before = header;
	begin(&words, RPR_MSG);
	read_list(&words, RPR_READ_SEGS + 1);
	CT_ASSERT_EQ(fence_parse(&header, words.bytes, words.len, &used), RPR_BAD_CHUNK);
	CT_EXPECT_MEMEQ(&header.write, &before.write, sizeof(header.write));

	memset(&header, 0xa5, sizeof(header));
	begin(&words, RPR_MSG);
	word(&words, 0);
	for (uint32_t i = 0; i <= RPR_WRITE_CHUNKS; i++)
		chunk(&words, 1, 1);
	CT_ASSERT_EQ(fence_parse(&header, words.bytes, words.len, &used), RPR_BAD_CHUNK);
	CT_EXPECT_MEMEQ(&header.reply, &before.reply, sizeof(header.reply));

	memset(&header, 0xa5, sizeof(header));
	begin(&words, RPR_MSG);
	word(&words, 0);
	chunk(&words, RPR_CHUNK_SEGS + 1, RPR_CHUNK_SEGS + 1);
	CT_ASSERT_EQ(fence_parse(&header, words.bytes, words.len, &used), RPR_BAD_CHUNK);
	CT_EXPECT_MEMEQ(&header.write[1], &before.write[1], sizeof(header.write[1]));
}

/* The bytes of more segments than the bound are there; of the last two, none could be. */
static const struct {
	uint32_t count;
	uint32_t segs;
	enum rpr_bad want;
} chunks[] = {
	{0, 0, RPR_OK},
	{1, 1, RPR_OK},
	{RPR_CHUNK_SEGS - 1, RPR_CHUNK_SEGS - 1, RPR_OK},
	{RPR_CHUNK_SEGS, RPR_CHUNK_SEGS, RPR_OK},
	{RPR_CHUNK_SEGS + 1, RPR_CHUNK_SEGS + 1, RPR_BAD_CHUNK},
	{100, 100, RPR_BAD_CHUNK},
	/* 16 times it is 0 in 32 bits. */
	{0x10000000, 0, RPR_BAD_CHUNK},
	{0x10000001, 1, RPR_BAD_CHUNK},
	{0x80000000, 0, RPR_BAD_CHUNK},
	{ALL, 100, RPR_BAD_CHUNK},
	{ALL, 0, RPR_BAD_CHUNK},
};

CT_TEST(rpr_parse, a_write_chunk_has_its_bound)
{
	struct words words;

	for (size_t i = 0; i < CRN_COUNT(chunks); i++)
		for (uint32_t before = 0; before < RPR_WRITE_CHUNKS; before++) {
			CT_NOTE("row %zu after %u chunks", i, before);
			begin(&words, RPR_MSG);
			word(&words, 0);
			for (uint32_t j = 0; j < before; j++)
				chunk(&words, 1, 1);
			chunk(&words, chunks[i].count, chunks[i].segs);
			word(&words, 0);
			word(&words, 0);
			CT_EXPECT_EQ(parse(&words), chunks[i].want);
		}
}

CT_TEST(rpr_parse, a_reply_chunk_has_its_bound)
{
	struct words words;

	for (size_t i = 0; i < CRN_COUNT(chunks); i++) {
		CT_NOTE("row %zu", i);
		begin(&words, RPR_NOMSG);
		word(&words, 0);
		word(&words, 0);
		chunk(&words, chunks[i].count, chunks[i].segs);
		CT_EXPECT_EQ(parse(&words), chunks[i].want);
	}
}

/* The same message with each of its discriminators turned into value. */
CT_TEST(rpr_parse, a_discriminator_is_0_or_1)
{
	static const uint32_t values[] = {2,	      3,	  0x100, 0x10000,
					  0x01000000, 0x80000001, ALL};
	/* In words: each entry of the Read list and its end, and so on. */
	static const size_t places[] = {4, 10, 16, 17, 23, 29, 30};
	struct words words;

	for (size_t i = 0; i < CRN_COUNT(places); i++)
		for (size_t j = 0; j < CRN_COUNT(values); j++) {
			const uint8_t value[] = {W(values[j])};

			CT_NOTE("word %zu: %u", places[i], values[j]);
			begin(&words, RPR_MSG);
			read_list(&words, 2);
			chunk(&words, 1, 1);
			chunk(&words, 1, 1);
			word(&words, 0);
			chunk(&words, 1, 1);
			CT_ASSERT_EQ(parse(&words), RPR_OK);
			memcpy(words.bytes + 4 * places[i], value, sizeof(value));
			CT_EXPECT_EQ(parse(&words), RPR_BAD_CHUNK);
		}
}

/* RFC 8166 section 4.5.2 */
CT_TEST(rpr_parse, an_rdma_nomsg_has_a_chunk)
{
	static const struct {
		uint8_t bytes[60];
		size_t len;
		enum rpr_bad want;
	} rows[] = {
		{{FIXED(1, RPR_NOMSG), W(0), W(0), W(0)}, 28, RPR_BAD_CHUNK},
		{{FIXED(1, RPR_NOMSG), W(0), W(0), W(0)}, 60, RPR_BAD_CHUNK},
		{{FIXED(1, RPR_NOMSG), W(1), W(0), SEG(1, 2, 3), W(0), W(0), W(0)},
		 52,
		 RPR_OK},
		{{FIXED(1, RPR_NOMSG), W(0), W(1), W(0), W(0), W(0)}, 36, RPR_OK},
		{{FIXED(1, RPR_NOMSG), W(0), W(0), W(1), W(0)}, 32, RPR_OK},
	};
	struct rpr_header header;
	size_t used;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(fence_parse(&header, rows[i].bytes, rows[i].len, &used),
			     rows[i].want);
		expect_fixed(&header, 1, RPR_NOMSG);
	}
}

/* A header is large; most messages have next to nothing in it. */
CT_TEST(rpr_parse, elements_beyond_a_count_are_left_alone)
{
	static const uint8_t message[] = {
		FIXED(1, RPR_MSG), W(1), W(4), SEG(1, 2, 3), W(0), W(1), W(1),
		SEG(4, 5, 6),	   W(0), W(0)};
	struct rpr_header header, before;
	size_t used;

	memset(&header, 0xa5, sizeof(header));
	before = header;
	CT_ASSERT_EQ(fence_parse(&header, message, sizeof(message), &used), RPR_OK);
	CT_EXPECT_MEMEQ(&header.read[1], &before.read[1],
			sizeof(header.read) - sizeof(header.read[0]));
	CT_EXPECT_MEMEQ(&header.write[0].seg[1], &before.write[0].seg[1],
			sizeof(header.write[0].seg) - sizeof(header.write[0].seg[0]));
	CT_EXPECT_MEMEQ(&header.write[1], &before.write[1],
			sizeof(header.write) - sizeof(header.write[0]));
	CT_EXPECT_MEMEQ(&header.reply, &before.reply, sizeof(header.reply));
}
