/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/compat.h>
#include "cairn_test.h"
#include "wire/message.h"

static const uint8_t bytes[PVB_WIRE_INLINE] = {1, 2, 3, [PVB_WIRE_INLINE - 1] = 255};

static struct pvb_wire_message request(uint8_t ranges, uint16_t copy)
{
	struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.ranges = ranges,
		.copy = copy,
		.number = 0x01020304,
		.seq_word = 0xfffefdfc,
		.fence = 0x01020303,
		.to = {0xaaaa, copy, 0xbbbb},
		.bytes = bytes,
	};

	for (uint8_t i = 0; i < ranges; i++)
		message.range[i] = (struct pvb_wire_range){~0ull - i, 1ull << 40, 7u + i};
	return message;
}

CT_TEST(wire, what_is_packed_is_what_is_parsed)
{
	static const struct {
		uint8_t ranges;
		uint16_t copy;
	} rows[] = {{0, 0}, {1, 0}, {PVB_WIRE_RANGES, 0},
		    {0, 1}, {3, 8}, {PVB_WIRE_RANGES, PVB_WIRE_INLINE}};
	struct pvb_wire_message in, out;
	uint8_t message[PVB_WIRE_SIZE];
	size_t len;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		in = request(rows[i].ranges, rows[i].copy);
		len = pvb_wire_pack(message, &in);
		CT_ASSERT_LE(len, sizeof(message));
		CT_ASSERT_TRUE(pvb_wire_parse(&out, message, len));
		CT_EXPECT_EQ(out.kind, in.kind);
		CT_EXPECT_EQ(out.ranges, in.ranges);
		CT_EXPECT_EQ(out.copy, in.copy);
		CT_EXPECT_EQ(out.number, in.number);
		CT_EXPECT_EQ(out.seq_word, in.seq_word);
		CT_EXPECT_EQ(out.fence, in.fence);
		CT_EXPECT_MEMEQ(out.range, in.range, in.ranges * sizeof(in.range[0]));
		if (!in.copy)
			continue;
		CT_EXPECT_EQ(out.to.addr, in.to.addr);
		CT_EXPECT_EQ(out.to.len, in.copy);
		CT_EXPECT_EQ(out.to.rkey, in.to.rkey);
		CT_EXPECT_MEMEQ(out.bytes, in.bytes, in.copy);
	}
}

CT_TEST(wire, a_request_is_of_one_length_only)
{
	struct pvb_wire_message in = request(2, 5), out;
	uint8_t message[PVB_WIRE_SIZE + 1] = {0};
	const size_t len = pvb_wire_pack(message, &in);

	for (size_t i = 0; i <= sizeof(message); i++) {
		CT_NOTE("%zu bytes", i);
		CT_EXPECT_EQ(pvb_wire_parse(&out, message, i), i == len);
	}
}

CT_TEST(wire, limits_are_those_of_the_receiver)
{
	struct pvb_wire_message in = request(1, 5), out;
	uint8_t message[65536] = {0};

	pvb_wire_pack(message, &in);
	message[1] = PVB_WIRE_RANGES + 1;
	for (size_t i = 0; i < 1024; i++)
		CT_EXPECT_FALSE(pvb_wire_parse(&out, message, i));
	message[1] = 0;
	message[3] = 255;
	CT_EXPECT_FALSE(pvb_wire_parse(&out, message, 16 + 24 + 0xff05));
}

CT_TEST(wire, bytes_to_copy_fill_where_they_go)
{
	struct pvb_wire_message in = request(0, 5), out;
	uint8_t message[PVB_WIRE_SIZE];
	size_t len;

	in.to.len = 6;
	len = pvb_wire_pack(message, &in);
	CT_EXPECT_FALSE(pvb_wire_parse(&out, message, len));
}

CT_TEST(wire, answers_are_eight_bytes_in_little_endian)
{
	const struct pvb_wire_message in = {.kind = PVB_WIRE_ANSWER,
					    .status = 0x0102,
					    .number = 0x03040506};
	static const uint8_t want[] = {2, 0, 2, 1, 6, 5, 4, 3};
	struct pvb_wire_message out;
	uint8_t message[PVB_WIRE_SIZE];

	CT_ASSERT_EQ(pvb_wire_pack(message, &in), 8);
	CT_EXPECT_MEMEQ(message, want, 8);
	CT_ASSERT_TRUE(pvb_wire_parse(&out, message, 8));
	CT_EXPECT_EQ(out.status, in.status);
	CT_EXPECT_EQ(out.number, in.number);
	CT_EXPECT_FALSE(pvb_wire_parse(&out, message, 7));
	CT_EXPECT_FALSE(pvb_wire_parse(&out, message, 9));
	message[0] = PVB_WIRE_RING_ANSWER;
	CT_EXPECT_TRUE(pvb_wire_parse(&out, message, 8));
}

CT_TEST(wire, other_kinds_are_nothing)
{
	uint8_t message[PVB_WIRE_SIZE] = {0};
	struct pvb_wire_message out;

	for (unsigned int kind = 0; kind < 256; kind++) {
		message[0] = (uint8_t)kind;
		CT_NOTE("kind %u", kind);
		CT_EXPECT_EQ(pvb_wire_parse(&out, message, 8), kind == 2 || kind == 3);
		CT_EXPECT_EQ(pvb_wire_parse(&out, message, 16), kind == 1 || kind == 5);
		CT_EXPECT_EQ(pvb_wire_parse(&out, message, 24), kind == 4);
	}
}

CT_TEST(wire, a_request_for_messages_is_of_sixteen_bytes)
{
	const struct pvb_wire_message in = {.kind = PVB_WIRE_MESSAGES,
					    .number = 0x01020304,
					    .seq_word = 0xfffefdfc,
					    .messages = 0x80000001};
	static const uint8_t want[] = {5,    0,	   0,	 0,    4, 3, 2, 1,
				       0xfc, 0xfd, 0xfe, 0xff, 1, 0, 0, 0x80};
	struct pvb_wire_message out;
	uint8_t message[PVB_WIRE_SIZE];

	CT_ASSERT_EQ(pvb_wire_pack(message, &in), sizeof(want));
	CT_EXPECT_MEMEQ(message, want, sizeof(want));
	CT_EXPECT_FALSE(pvb_wire_parse(&out, message, 15));
	CT_EXPECT_FALSE(pvb_wire_parse(&out, message, 17));
	CT_ASSERT_TRUE(pvb_wire_parse(&out, message, 16));
	CT_EXPECT_TRUE(pvb_wire_is_request(&out));
	CT_EXPECT_EQ(out.number, in.number);
	CT_EXPECT_EQ(out.seq_word, in.seq_word);
	CT_EXPECT_EQ(out.messages, in.messages);
	CT_EXPECT_EQ(out.fence, in.number);
}

CT_TEST(wire, an_entry_comes_back)
{
	const struct pvb_wire_entry in = {1, 0x80000000, {~0ull, 1ull << 63, 0xdeadbeef}};
	uint8_t entry[PVB_WIRE_ENTRY];
	struct pvb_wire_entry out;

	pvb_wire_pack_entry(entry, &in);
	pvb_wire_parse_entry(&out, entry);
	CT_EXPECT_EQ(out.message, in.message);
	CT_EXPECT_EQ(out.number, in.number);
	CT_EXPECT_EQ(out.range.addr, in.range.addr);
	CT_EXPECT_EQ(out.range.len, in.range.len);
	CT_EXPECT_EQ(out.range.rkey, in.range.rkey);
	CT_EXPECT_EQ(entry[0], 1);
	CT_EXPECT_EQ(entry[7], 0x80);
}
