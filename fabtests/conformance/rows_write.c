/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8166 sections 3.4.6 and 4.3.2: results by RDMA Write. */
#include <string.h>
#include "row.h"
#include "row_chunk.h"

#define XID 0xb00

/* The chunk is filled in the order of its segments, and returned with what is in each. */
static void fills(size_t item, uint32_t segments)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory, *wanted;
	size_t len;

	CT_NOTE("%zu bytes in %u segments", item, segments);
	memory = chunk_expose(head_write(&header), 4000, segments);
	raw_asks_with(&header);
	wanted = item_reply(XID, item, 12, &len);
	layer_replies_item(XID, item, 12);
	message = raw_got(XID, RPR_MSG);
	CT_ASSERT_EQ(message->header.write_count, 1);
	chunk_echoes(&message->header.write[0], &header.write[0], item);
	CT_EXPECT_MEMEQ(memory, wanted + ITEM_AT, item);
	CT_ASSERT_EQ(message->payload_len, ITEM_AT + 12);
	CT_EXPECT_MEMEQ(message->payload, wanted, ITEM_AT);
	CT_EXPECT_MEMEQ(message->payload + ITEM_AT, wanted + len - 12, 12);
}

ROW_BOTH(RFC8166_3_4_6_order)
{
	for (uint32_t segments = 1; segments <= 16; segments++)
		fills(4000, segments);
	CT_EXPECT_EQ(stats().written_bytes, 16 * 4000);
}

ROW_BOTH(RFC8166_3_4_6_echo)
{
	static const size_t items[] = {1, 2, 3, 4, 1000, 1333, 1334, 2666, 2667, 3999};

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		fills(items[i], 3);
}

/* A Reply without an item leaves it as it was, with all lengths 0. */
ROW_BOTH(RFC8166_3_4_6_unused)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory = chunk_expose(head_write(&header), 4000, 3);

	raw_asks_with(&header);
	layer_replies(XID, 100);
	message = raw_got_reply(XID, 100);
	CT_ASSERT_EQ(message->header.write_count, 1);
	chunk_echoes(&message->header.write[0], &header.write[0], 0);
	CT_EXPECT_EQ(memory[0], 0);
}

/* Of no segment: the item stays in the message. */
ROW_BOTH(RFC8166_3_4_6_empty)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *wanted;
	size_t len;

	head_write(&header);
	raw_asks_with(&header);
	wanted = item_reply(XID, 501, 12, &len);
	layer_replies_item(XID, 501, 12);
	message = raw_got(XID, RPR_MSG);
	CT_ASSERT_EQ(message->header.write_count, 1);
	CT_EXPECT_EQ(message->header.write[0].count, 0);
	CT_ASSERT_EQ(message->payload_len, len);
	CT_EXPECT_MEMEQ(message->payload, wanted, len);
}

/* No pad is written, though there would be room. */
ROW_BOTH(RFC8166_3_4_6_2_roundup)
{
	const struct raw_message *message;
	uint8_t *memory;

	for (size_t item = 1001; item < 1004; item++) {
		struct rpr_header header = raw_header(XID, RPR_MSG);

		memory = chunk_expose(head_write(&header), 1100, 1);
		memset(memory, 0xaa, 1100);
		raw_asks_with(&header);
		layer_replies_item(XID, item, 4);
		message = raw_got(XID, RPR_MSG);
		CT_EXPECT_EQ(chunk_length(&message->header.write[0]), item);
		CT_EXPECT_EQ(memory[item], 0xaa);
		CT_ASSERT_EQ(message->payload_len, ITEM_AT + 4);
	}
}

/* What the layer offers: of the result's size, without room for a pad; told before the
 * Reply, with what was written. */
static void gets_result(size_t offered, size_t written)
{
	uint8_t *bytes = row_memory(offered + 1);
	struct rpr_header header;
	struct op *result, *reply;

	say_body(bytes, XID, 0, written);
	result = layer_result(XID, offered);
	layer_calls(XID, SAY_CALL_MIN);
	header = raw_got(XID, RPR_MSG)->header;
	CT_ASSERT_EQ(header.write_count, 1);
	CT_EXPECT_EQ(chunk_length(&header.write[0]), offered);
	if (written)
		raw_writes(&header.write[0], bytes, written);
	header.write[0].seg[0].length = (uint32_t)written;
	raw_reply_with(&header, SAY_REPLY_MIN);
	reply = end_take(&w.end);
	CT_EXPECT_EQ(reply->err, 0);
	CT_EXPECT_TRUE(say_is_reply(reply->buf, XID, SAY_REPLY_MIN));
	CT_EXPECT_EQ(reply->len, SAY_REPLY_MIN);
	CT_EXPECT_EQ(end_recv(&w.end, reply), 0);
	CT_EXPECT_TRUE(result->done);
	CT_EXPECT_EQ(result->err, 0);
	CT_EXPECT_LT(result->when, reply->when);
	CT_EXPECT_EQ(result->len, written);
	CT_EXPECT_MEMEQ(result->buf, bytes, written);
}

ROW_BOTH(RFC8166_3_4_6_result)
{
	gets_result(4000, 4000);
	gets_result(4001, 4001);
}

ROW_BOTH(RFC8166_3_4_6_result_short)
{
	gets_result(4000, 1);
	gets_result(4000, 3999);
}

ROW_BOTH_IS(RFC8166_3_4_6_result_unused, gets_result(4000, 0))

/* Several items go into several chunks in their order; what is left over is unused. */
ROW_BOTH(RFC8166_4_3_2_several)
{
	const size_t lens[4] = {64, 1001, 8, 2001};
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory[3];
	struct op *op;

	for (int i = 0; i < 3; i++)
		memory[i] = chunk_expose(head_write(&header), 2500, 2);
	raw_asks_with(&header);
	op = layer_sends(XID, false, lens, 4, 1U << 1 | 1U << 3);
	message = raw_got(XID, RPR_MSG);
	CT_ASSERT_EQ(message->header.write_count, 3);
	chunk_echoes(&message->header.write[0], &header.write[0], 1001);
	chunk_echoes(&message->header.write[1], &header.write[1], 2001);
	chunk_echoes(&message->header.write[2], &header.write[2], 0);
	CT_EXPECT_MEMEQ(memory[0], op->buf + 64, 1001);
	CT_EXPECT_MEMEQ(memory[1], op->buf + 64 + 1001 + 8, 2001);
	CT_EXPECT_EQ(memory[2][0], 0);
	CT_ASSERT_EQ(message->payload_len, 72);
}

/* An empty chunk keeps its item inline, the next item has the next chunk. */
ROW_BOTH(RFC8166_4_3_2_3_empty)
{
	const size_t lens[4] = {64, 101, 8, 2001};
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory;
	struct op *op;

	head_write(&header);
	memory = chunk_expose(head_write(&header), 2500, 1);
	raw_asks_with(&header);
	op = layer_sends(XID, false, lens, 4, 1U << 1 | 1U << 3);
	message = raw_got(XID, RPR_MSG);
	CT_ASSERT_EQ(message->header.write_count, 2);
	CT_EXPECT_EQ(message->header.write[0].count, 0);
	chunk_echoes(&message->header.write[1], &header.write[1], 2001);
	CT_EXPECT_MEMEQ(memory, op->buf + 64 + 101 + 8, 2001);
	CT_ASSERT_EQ(message->payload_len, 64 + 104 + 8);
	CT_EXPECT_MEMEQ(message->payload + 64, op->buf + 64, 101);
}

/* Two buffers for results of one Call are two chunks, in their order. */
ROW_BOTH(RFC8166_4_3_2_1_results)
{
	struct rpr_header header;
	struct op *results[2];
	uint8_t bytes[700];

	say_body(bytes, XID, 0, sizeof(bytes));
	results[0] = layer_result(XID, 1000);
	results[1] = layer_result(XID, 2000);
	layer_calls(XID, SAY_CALL_MIN);
	header = raw_got(XID, RPR_MSG)->header;
	CT_ASSERT_EQ(header.write_count, 2);
	CT_EXPECT_EQ(chunk_length(&header.write[0]), 1000);
	CT_EXPECT_EQ(chunk_length(&header.write[1]), 2000);
	raw_writes(&header.write[1], bytes, sizeof(bytes));
	header.write[0].seg[0].length = 0;
	header.write[1].seg[0].length = sizeof(bytes);
	raw_reply_with(&header, SAY_REPLY_MIN);
	layer_got_reply(XID, SAY_REPLY_MIN);
	CT_EXPECT_EQ(results[0]->len, 0);
	CT_EXPECT_EQ(results[1]->len, sizeof(bytes));
	CT_EXPECT_MEMEQ(results[1]->buf, bytes, sizeof(bytes));
}

/* An item larger than its chunk is not sent at all. */
ROW_BOTH(RFC8166_4_3_2_1_too_small)
{
	struct op *op;

	raw_call_offers_write(XID, 1000, 2);
	layer_got_call(XID, SAY_CALL_MIN);
	CT_EXPECT_EQ(layer_sends_item(XID, false, 1001, 4, &op), -FI_EMSGSIZE);
	layer_replies_item(XID, 1000, 4);
	raw_got(XID, RPR_MSG);
	settle();
}

/* A Reply whose Write list is not what was offered, in one thing each. */
static void bad_echo(const struct rpr_header *offered, int what)
{
	struct rpr_header header = *offered;
	struct rpr_chunk *chunk = &header.write[0];

	switch (what) {
	case 0:
		chunk->seg[0].length++;
		break;
	case 1:
		chunk->seg[0].length = 0xffffffff;
		break;
	case 2:
		chunk->seg[0].handle++;
		break;
	case 3:
		chunk->seg[0].offset++;
		break;
	case 4:
		chunk->seg[chunk->count++] = chunk->seg[0];
		break;
	case 5:
		chunk->count = 0;
		break;
	case 6:
		header.write_count = 0;
		break;
	case 7:
		header.write[header.write_count++] = *chunk;
		break;
	case 8:
		header.has_reply = true;
		header.reply = *chunk;
		break;
	}
	raw_reply_with(&header, SAY_REPLY_MIN);
}

ROW_BOTH(RFC8166_3_4_6_echo_bad)
{
	struct rpr_header header;
	struct op *result = layer_result(XID, 1000);

	layer_calls(XID, SAY_CALL_MIN);
	header = raw_got(XID, RPR_MSG)->header;
	for (int what = 0; what <= 8; what++) {
		CT_NOTE("wrong in %d", what);
		bad_echo(&header, what);
		EXPECT_SOON(stats().drop_reply == (uint64_t)what + 1);
		CT_EXPECT_FALSE(result->done);
	}
	settle();
	raw_reply_with(&header, SAY_REPLY_MIN);
	layer_got_reply(XID, SAY_REPLY_MIN);
	CT_EXPECT_EQ(result->len, 1000);
}
