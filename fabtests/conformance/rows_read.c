/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8166 sections 3.4.4, 3.4.5, 3.5.1, 3.5.2 and 4.3.1: arguments by RDMA Read. */
#include <string.h>
#include "row.h"
#include "row_chunk.h"

#define XID 0xa00

/* An item leaves the message with its pad, which no chunk has. */
ROW_BOTH(RFC8166_3_4_4_pads)
{
	const struct raw_message *message;
	uint8_t *wanted, got[2008];
	size_t len;

	layer_asks_and_gets(1, 8);
	for (size_t item = 2000; item < 2008; item++) {
		CT_NOTE("%zu bytes", item);
		wanted = item_call(XID, item, 20, &len);
		layer_calls_item(XID, item, 20);
		message = raw_got(XID, RPR_MSG);
		CT_ASSERT_EQ(message->payload_len, ITEM_AT + 20);
		CT_EXPECT_MEMEQ(message->payload, wanted, ITEM_AT);
		CT_EXPECT_MEMEQ(message->payload + ITEM_AT, wanted + len - 20, 20);
		raw_reads(&message->header, ITEM_AT, got, item);
		CT_EXPECT_MEMEQ(got, wanted + ITEM_AT, item);
		layer_gets(XID);
		/* What comes gets its pad back. */
		raw_call_reduced(XID, item, 20, 1);
		layer_got_bytes(wanted, len);
		raw_gets(XID);
	}
}

/* Two items: the second one's position counts the first with its pad. */
static void two_items(void)
{
	const size_t lens[4] = {64, 1001, 8, 2001}, second = 64 + 1004 + 8;
	uint8_t got[2001];
	struct op *op = layer_sends(XID, true, lens, 4, 1U << 1 | 1U << 3);
	const struct raw_message *message = raw_got(XID, RPR_MSG);

	CT_ASSERT_EQ(message->payload_len, 64 + 8);
	CT_EXPECT_MEMEQ(message->payload, op->buf, 64);
	CT_EXPECT_MEMEQ(message->payload + 64, op->buf + 64 + 1001, 8);
	raw_reads(&message->header, 64, got, 1001);
	CT_EXPECT_MEMEQ(got, op->buf + 64, 1001);
	raw_reads(&message->header, (uint32_t)second, got, 2001);
	CT_EXPECT_MEMEQ(got, op->buf + 64 + 1001 + 8, 2001);
	layer_gets(XID);
}

/* The same from the raw peer, in any order in the list. */
static void two_chunks(bool swapped)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const size_t second = 64 + 1004 + 8, len = second + 2004;
	uint8_t *message = row_memory(len), reduced[72];

	say_call(message, XID, len);
	memset(message + 64 + 1001, 0, 3);
	memset(message + second + 2001, 0, 3);
	if (swapped)
		read_expose(&header, (uint32_t)second, message + second, 2001, 2);
	read_expose(&header, 64, message + 64, 1001, 2);
	if (!swapped)
		read_expose(&header, (uint32_t)second, message + second, 2001, 2);
	memcpy(reduced, message, 64);
	memcpy(reduced + 64, message + 64 + 1004, 8);
	raw_say(&w.raw, &header, reduced, sizeof(reduced));
	layer_got_bytes(message, len);
	raw_gets(XID);
}

ROW_BOTH(RFC8166_3_4_5_position)
{
	layer_asks_and_gets(1, 8);
	two_items();
	two_chunks(false);
	two_chunks(true);
	settle();
}

/* A position in the midst of a word, beyond the message, or in the midst of another item.
 */
ROW_BOTH(RFC8166_3_4_5_position_bad)
{
	/* 0: that of a message which is not inline. */
	static const uint32_t positions[] = {0,	  61,	      62,	  63,	     65,
					     128, 0x7ffffffc, 0xfffffffc, 0xffffffff};
	struct rpr_header header;
	uint8_t item[100] = {0};

	raw_asks_and_gets(1);
	for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
		CT_NOTE("position %u", positions[i]);
		header = raw_header(XID, RPR_MSG);
		read_expose(&header, positions[i], item, sizeof(item), 1);
		raw_call_with(&header, 64);
		raw_got_err_chunk(XID);
	}
	header = raw_header(XID, RPR_MSG);
	read_expose(&header, 48, item, sizeof(item), 1);
	read_expose(&header, 64, item, sizeof(item), 1);
	raw_call_with(&header, 64);
	raw_got_err_chunk(XID);
	settle();
}

/* Segments of a chunk follow each other in the order of the list, however odd. */
/* Of the first item a segment is empty; the second is right behind it. */
static void side_by_side(void)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	uint8_t wanted[64 + 100 + 60];
	struct rpr_seg empty;

	say_call(wanted, XID, sizeof(wanted));
	read_expose(&header, 64, wanted + 64, 40, 1);
	empty = header.read[0].seg;
	empty.length = 0;
	head_read(&header, 64, empty);
	read_expose(&header, 64, wanted + 104, 60, 1);
	read_expose(&header, 164, wanted + 164, 60, 1);
	raw_call_with(&header, 64);
	layer_got_bytes(wanted, sizeof(wanted));
	raw_gets(XID);
}

ROW_BOTH(RFC8166_3_4_5_order)
{
	size_t len;
	uint8_t *wanted = item_call(XID, 3333, 40, &len);

	for (uint32_t segments = 1; segments <= 16; segments++) {
		CT_NOTE("%u segments", segments);
		raw_call_reduced(XID, 3333, 40, segments);
		layer_got_bytes(wanted, len);
		raw_gets(XID);
	}
	CT_EXPECT_EQ(stats().read_bytes, 16 * 3333);
	side_by_side();
}

/* Until the Reply the memory is the peer's to read, as often as it likes. */
ROW_BOTH(RFC8166_3_4_5_release)
{
	struct rpr_header header;
	uint8_t got[5000];
	struct op *op = layer_calls_item(XID, 5000, 0);

	header = raw_got(XID, RPR_MSG)->header;
	raw_reads(&header, ITEM_AT, got, sizeof(got));
	settle();
	raw_reads(&header, ITEM_AT, got, sizeof(got));
	CT_EXPECT_MEMEQ(got, op->buf + ITEM_AT, sizeof(got));
	layer_gets(XID);
	raw_read_is_refused(&header.read[0].seg);
}

/* A pad in the chunk, in its last segment or one of its own, changes nothing. */
ROW_BOTH(RFC8166_3_4_5_2_roundup)
{
	struct rpr_header header;
	size_t len;
	uint8_t *message = item_call(XID, 1001, 20, &len);

	header = raw_header(XID, RPR_MSG);
	read_expose(&header, ITEM_AT, message + ITEM_AT, 1004, 1);
	raw_say_reduced(&header, message, len, 1001);
	layer_got_bytes(message, len);
	raw_gets(XID);
	header = raw_header(XID, RPR_MSG);
	read_expose(&header, ITEM_AT, message + ITEM_AT, 1001, 1);
	read_expose(&header, ITEM_AT, message + ITEM_AT + 1001, 3, 1);
	raw_say_reduced(&header, message, len, 1001);
	layer_got_bytes(message, len);
	raw_gets(XID);
}

/* What fits is one Send, and nothing else. */
ROW_BOTH(RFC8166_3_5_1_short)
{
	const struct raw_message *message;
	size_t len;

	layer_calls(XID, 500);
	message = raw_got_call(XID, 500);
	CT_EXPECT_EQ(message->len, RPR_HEADER_MIN + 500);
	layer_gets(XID);
	raw_asks(XID);
	layer_replies(XID, 600);
	message = raw_got_reply(XID, 600);
	CT_EXPECT_EQ(message->len, RPR_HEADER_MIN + 600);
	len = raw_inline() - RPR_HEADER_MIN;
	raw_call_of(XID, len);
	layer_got_call(XID, len);
	raw_gets(XID);
	CT_EXPECT_EQ(stats().read_bytes + stats().written_bytes, 0);
}

/* A Call and its Reply that are both reduced. */
ROW_BOTH(RFC8166_3_5_2_chunked)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *call, *reply, *memory;
	size_t len;

	call = item_call(XID, 7001, 8, &len);
	read_expose(&header, ITEM_AT, call + ITEM_AT, 7001, 2);
	memory = chunk_expose(head_write(&header), 8000, 2);
	raw_say_reduced(&header, call, len, 7001);
	layer_got_bytes(call, len);
	reply = item_reply(XID, 7999, 8, &len);
	layer_replies_item(XID, 7999, 8);
	message = raw_got(XID, RPR_MSG);
	CT_ASSERT_EQ(message->payload_len, ITEM_AT + 8);
	CT_EXPECT_MEMEQ(message->payload, reply, ITEM_AT);
	CT_EXPECT_MEMEQ(memory, reply + ITEM_AT, 7999);
	CT_EXPECT_EQ(stats().read_bytes, 7001);
	CT_EXPECT_EQ(stats().written_bytes, 7999);
}

/* A Reply's Read list is empty; one that is not makes it no Reply. */
ROW_BOTH(RFC8166_4_3_1_replies)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	uint8_t item[64] = {0};

	raw_call_reduced(XID, 1001, 20, 2);
	CT_EXPECT_EQ(end_take(&w.end)->err, 0);
	layer_replies(XID, SAY_REPLY_MIN);
	CT_EXPECT_EQ(raw_got_reply(XID, SAY_REPLY_MIN)->header.read_count, 0);
	layer_asks(XID);
	read_expose(&header, 24, item, sizeof(item), 1);
	raw_reply_with(&header, SAY_REPLY_MIN);
	EXPECT_SOON(stats().drop_reply == 1);
	settle();
	layer_gets(XID);
}

/* The profile of Linux: one Read chunk, and what else is eligible goes along. */
ROW_BOTH(RFC8166_3_5_2_profile)
{
	const size_t lens[4] = {64, 1001, 8, 501}, len = 64 + 1004 + 8 + 504;
	const struct raw_message *message;
	uint8_t got[1001];
	struct op *op;

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_LINUX;
	RECONNECT();
	op = layer_sends(XID, true, lens, 4, 1U << 1 | 1U << 3);
	message = raw_got(XID, RPR_MSG);
	CT_ASSERT_EQ(message->payload_len, len - 1004);
	raw_reads(&message->header, 64, got, 1001);
	CT_EXPECT_MEMEQ(got, op->buf + 64, 1001);
	CT_EXPECT_MEMEQ(message->payload + 72, op->buf + 64 + 1001 + 8, 501);
	CT_EXPECT_MEMEQ(message->payload + 72 + 501, "\0\0", 3);
	layer_gets(XID);
}
