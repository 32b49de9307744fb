/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8166 sections 3.5.3, 4.3.3, 6.1 and 8.2.2.3: Long Messages, and what is not
 * reduced. */
#include <string.h>
#include "row.h"
#include "row_chunk.h"

#define XID 0xc00
#define LONG 20001

ROW_BOTH(RFC8166_3_5_3_long_call)
{
	struct rpr_header header;
	uint8_t got[LONG];

	layer_calls(XID, LONG);
	header = raw_got(XID, RPR_NOMSG)->header;
	for (uint32_t i = 0; i < header.read_count; i++)
		CT_EXPECT_EQ(header.read[i].position, 0);
	raw_reads(&header, 0, got, LONG);
	CT_EXPECT_TRUE(say_is_call(got, XID, LONG));
	layer_gets(XID);
	for (uint32_t i = 1; i <= 16; i++) {
		raw_call_long(XID, LONG, i);
		layer_got_call(XID, LONG);
		raw_gets(XID);
	}
	/* Also what would have been short. */
	raw_call_long(XID, SAY_CALL_MIN, 1);
	layer_got_call(XID, SAY_CALL_MIN);
	raw_gets(XID);
	settle();
}

/* The message in one Read chunk, an item of it in another. */
ROW_BOTH(RFC8166_3_5_3_position_zero_and_chunk)
{
	struct rpr_header header = raw_header(XID, RPR_NOMSG);
	uint8_t *message, *reduced;
	size_t len;

	message = item_call(XID, 5001, 9000, &len);
	reduced = row_memory(ITEM_AT + 9000);
	memcpy(reduced, message, ITEM_AT);
	memcpy(reduced + ITEM_AT, message + len - 9000, 9000);
	read_expose(&header, 0, reduced, ITEM_AT + 9000, 2);
	read_expose(&header, ITEM_AT, message + ITEM_AT, 5001, 2);
	raw_say(&w.raw, &header, NULL, 0);
	layer_got_bytes(message, len);
	raw_gets(XID);
	settle();
}

/* The layer's own: too long although its item is gone. */
ROW_BOTH(RFC8166_3_5_3_reduced_and_long)
{
	uint8_t got[ITEM_AT + 9000], item[5001], *wanted;
	struct rpr_header header;
	size_t len;

	wanted = item_call(XID, 5001, 9000, &len);
	layer_calls_item(XID, 5001, 9000);
	header = raw_got(XID, RPR_NOMSG)->header;
	raw_reads(&header, 0, got, sizeof(got));
	raw_reads(&header, ITEM_AT, item, sizeof(item));
	CT_EXPECT_MEMEQ(got, wanted, ITEM_AT);
	CT_EXPECT_MEMEQ(got + ITEM_AT, wanted + len - 9000, 9000);
	CT_EXPECT_MEMEQ(item, wanted + ITEM_AT, 5001);
	layer_gets(XID);
}

/* Items that are not reduced travel in the Long Message with their pads: the profile of
 * Linux has one Read chunk, for an item or for a Long Call, whose servers overlook the
 * chunk of an item beside a Long Call. */
ROW_BOTH(RFC8166_3_5_3_pads)
{
	const size_t lens[4] = {64, 1001, 8, 9001}, all = 64 + 1004 + 8 + 9004;
	uint8_t *got = row_memory(all);
	struct rpr_header header;
	struct op *op;

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_LINUX;
	RECONNECT();
	op = layer_sends(XID, true, lens, 4, 1U << 1 | 1U << 3);
	header = raw_got(XID, RPR_NOMSG)->header;
	for (uint32_t i = 0; i < header.read_count; i++)
		CT_EXPECT_EQ(header.read[i].position, 0);
	raw_reads(&header, 0, got, all);
	CT_EXPECT_MEMEQ(got, op->buf, 64 + 1001);
	CT_EXPECT_MEMEQ(got + 64 + 1001, "\0\0", 3);
	CT_EXPECT_MEMEQ(got + 64 + 1004, op->buf + 64 + 1001, 8 + 9001);
	CT_EXPECT_MEMEQ(got + 64 + 1004 + 8 + 9001, "\0\0", 3);
	layer_gets(XID);
}

ROW_BOTH(RFC8166_3_5_3_long_reply)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory, got[LONG];

	w.set.end.reply_size = LONG;
	RECONNECT();
	for (uint32_t segments = 1; segments <= 16; segments++) {
		header = raw_header(XID, RPR_MSG);
		memory = chunk_expose(head_reply(&header), LONG, segments);
		raw_asks_with(&header);
		layer_replies(XID, LONG);
		message = raw_got(XID, RPR_NOMSG);
		CT_ASSERT_TRUE(message->header.has_reply);
		chunk_echoes(&message->header.reply, &header.reply, LONG);
		CT_EXPECT_TRUE(say_is_reply(memory, XID, LONG));
	}
	layer_calls(XID, SAY_CALL_MIN);
	header = raw_got(XID, RPR_MSG)->header;
	CT_ASSERT_TRUE(header.has_reply);
	CT_EXPECT_GE(chunk_length(&header.reply), LONG);
	say_reply(got, XID, LONG);
	raw_writes(&header.reply, got, LONG);
	header.reply.seg[0].length = LONG;
	header.proc = RPR_NOMSG;
	raw_say(&w.raw, &header, NULL, 0);
	layer_got_reply(XID, LONG);
}

/* Too long to be short, and no chunk for it. */
ROW_BOTH(RFC8166_3_5_3_long_reply_without)
{
	size_t most = layer_inline() - RPR_HEADER_MIN;

	raw_asks(XID);
	CT_EXPECT_EQ(layer_reply(XID, most + 1), -FI_EMSGSIZE);
	layer_replies(XID, most);
	raw_got_reply(XID, most);
	settle();
}

/* A Reply and its result, each in its chunk. */
ROW_BOTH(RFC8166_3_5_3_reduced_and_long_reply)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *result, *reply, *wanted;
	size_t len;

	result = chunk_expose(head_write(&header), 6000, 2);
	reply = chunk_expose(head_reply(&header), 10000, 2);
	raw_asks_with(&header);
	wanted = item_reply(XID, 5001, 9000, &len);
	layer_replies_item(XID, 5001, 9000);
	message = raw_got(XID, RPR_NOMSG);
	chunk_echoes(&message->header.write[0], &header.write[0], 5001);
	chunk_echoes(&message->header.reply, &header.reply, ITEM_AT + 9000);
	CT_EXPECT_MEMEQ(result, wanted + ITEM_AT, 5001);
	CT_EXPECT_MEMEQ(reply, wanted, ITEM_AT);
	CT_EXPECT_MEMEQ(reply + ITEM_AT, wanted + len - 9000, 9000);
}

/* A Reply chunk is offered if the largest Reply needs one, and only then. */
ROW_BOTH(RFC8166_4_3_3_offered)
{
	struct rpr_header header;

	layer_calls(XID, SAY_CALL_MIN);
	CT_EXPECT_FALSE(raw_got(XID, RPR_MSG)->header.has_reply);
	w.set.end.reply_size = raw_inline() - RPR_HEADER_MIN;
	RECONNECT();
	layer_calls(XID, SAY_CALL_MIN);
	CT_EXPECT_FALSE(raw_got(XID, RPR_MSG)->header.has_reply);
	w.set.end.reply_size++;
	RECONNECT();
	layer_calls(XID, SAY_CALL_MIN);
	header = raw_got(XID, RPR_MSG)->header;
	CT_EXPECT_TRUE(header.has_reply);
	CT_EXPECT_GE(chunk_length(&header.reply), w.set.end.reply_size);
	/* The peer may answer in a Send nevertheless. */
	header.reply.seg[0].length = 0;
	raw_reply_with(&header, SAY_REPLY_MIN);
	layer_got_reply(XID, SAY_REPLY_MIN);
}

/* What fits is short, although there is a chunk: that is returned with all lengths 0. */
ROW_BOTH(RFC8166_4_3_3_short)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t *memory = chunk_expose(head_reply(&header), 9000, 2);

	raw_asks_with(&header);
	layer_replies(XID, 100);
	message = raw_got_reply(XID, 100);
	CT_ASSERT_TRUE(message->header.has_reply);
	chunk_echoes(&message->header.reply, &header.reply, 0);
	CT_EXPECT_EQ(memory[0], 0);
}

/* A Long Reply whose chunk is not what was offered, or says more than there is room for.
 */
ROW_BOTH(RFC8166_4_3_3_echo_bad)
{
	uint8_t *reply = row_memory(LONG);
	struct rpr_header header, bad;

	w.set.end.reply_size = LONG;
	RECONNECT();
	layer_calls(XID, SAY_CALL_MIN);
	header = raw_got(XID, RPR_MSG)->header;
	CT_ASSERT_TRUE(header.has_reply);
	/* The Reply itself is there. */
	say_reply(reply, XID, LONG);
	raw_writes(&header.reply, reply, LONG);
	header.proc = RPR_NOMSG;
	bad = header;
	bad.reply.seg[0].length++;
	raw_say(&w.raw, &bad, NULL, 0);
	EXPECT_SOON(stats().drop_reply == 1);
	bad.reply.seg[0].length = 0xffffffff;
	raw_say(&w.raw, &bad, NULL, 0);
	EXPECT_SOON(stats().drop_reply == 2);
	bad = header;
	bad.reply.seg[0].handle++;
	raw_say(&w.raw, &bad, NULL, 0);
	EXPECT_SOON(stats().drop_reply == 3);
	/* No room for two words. */
	bad = header;
	bad.reply.seg[0].length = 7;
	raw_say(&w.raw, &bad, NULL, 0);
	EXPECT_SOON(stats().drop_reply == 4);
	/* Nor does any of them grant something. */
	CT_EXPECT_EQ(end_limits(&w.end).credits, 1);
	settle();
	header.proc = RPR_MSG;
	header.reply.seg[0].length = 0;
	raw_reply_with(&header, SAY_REPLY_MIN);
	layer_got_reply(XID, SAY_REPLY_MIN);
}

/* What nobody called eligible is never an item, however large: the whole Call is long. */
ROW_BOTH(RFC8166_6_1_eligible)
{
	const size_t lens[3] = {ITEM_AT, 5000, 100};
	struct rpr_header header;
	uint8_t got[ITEM_AT + 5100];
	struct op *op = layer_sends(XID, true, lens, 3, 0);

	header = raw_got(XID, RPR_NOMSG)->header;
	for (uint32_t i = 0; i < header.read_count; i++)
		CT_EXPECT_EQ(header.read[i].position, 0);
	raw_reads(&header, 0, got, sizeof(got));
	CT_EXPECT_MEMEQ(got, op->buf, sizeof(got));
	layer_gets(XID);
	/* Nor is a result, though there is a chunk for one. */
	raw_call_offers_write(XID, 1000, 1);
	layer_got_call(XID, SAY_CALL_MIN);
	layer_replies(XID, 900);
	CT_EXPECT_EQ(chunk_length(&raw_got_reply(XID, 900)->header.write[0]), 0);
}

/* An item for which there is no chunk travels in the message, with its pad. */
ROW_BOTH(RFC8166_6_1_not_offered)
{
	const struct raw_message *message;
	uint8_t *wanted;
	size_t len;

	raw_asks(XID);
	wanted = item_reply(XID, 501, 12, &len);
	layer_replies_item(XID, 501, 12);
	message = raw_got(XID, RPR_MSG);
	CT_EXPECT_EQ(message->header.write_count, 0);
	CT_ASSERT_EQ(message->payload_len, len);
	CT_EXPECT_MEMEQ(message->payload, wanted, len);
}

/* A bit for an entry that the message does not have. */
ROW_BOTH(RFC8166_6_1_mask)
{
	const size_t lens[2] = {ITEM_AT, 100};
	struct op *op = end_op(&w.end, ITEM_AT + 100);

	say_call(op->buf, XID, ITEM_AT + 100);
	CT_EXPECT_EQ(end_sendv(&w.end, op, lens, 2, 1U << 2, 0), -FI_EINVAL);
	settle();
}

/* A Reply with a Write or Reply chunk that nobody offered. */
ROW_BOTH(RFC8166_6_1_violation)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);

	layer_asks(XID);
	chunk_expose(head_write(&header), 100, 1);
	raw_reply_with(&header, SAY_REPLY_MIN);
	EXPECT_SOON(stats().drop_reply == 1);
	header = raw_header(XID, RPR_NOMSG);
	chunk_expose(head_reply(&header), 100, 1);
	raw_say(&w.raw, &header, NULL, 0);
	EXPECT_SOON(stats().drop_reply == 2);
	settle();
	layer_gets(XID);
}

/* Sends a Call under RPCSEC_GSS with an item, and what is left of it on the wire. */
static const struct raw_message *calls_as(enum say_service service, struct op **op)
{
	const size_t lens[3] = {ITEM_AT, 1000, 20};

	*op = end_op(&w.end, ITEM_AT + 1020);
	say_call_as((*op)->buf, XID, SAY_RPCSEC_GSS, service, ITEM_AT + 1020);
	CT_EXPECT_EQ(end_sendv(&w.end, *op, lens, 3, 1U << 1, 0), 0);
	return raw_got(XID, RPR_MSG);
}

/* Integrity and privacy are of the whole message: nothing leaves it. */
ROW_BOTH(RFC8166_8_2_2_3_call)
{
	const struct raw_message *message;
	struct op *op;

	for (int service = SAY_GSS_INTEGRITY; service <= SAY_GSS_PRIVACY; service++) {
		message = calls_as(service, &op);
		CT_EXPECT_EQ(message->header.read_count, 0);
		CT_ASSERT_EQ(message->payload_len, op->size);
		CT_EXPECT_MEMEQ(message->payload, op->buf, op->size);
		layer_gets(XID);
	}
	message = calls_as(SAY_GSS_NONE, &op);
	CT_EXPECT_NE(message->header.read_count, 0);
	CT_ASSERT_EQ(message->payload_len, op->size - 1000);
	layer_gets(XID);
}

ROW_BOTH(RFC8166_8_2_2_3_reply)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	const struct raw_message *message;
	uint8_t call[100], *wanted;
	size_t len;

	chunk_expose(head_write(&header), 1000, 1);
	say_call_as(call, XID, SAY_RPCSEC_GSS, SAY_GSS_PRIVACY, sizeof(call));
	raw_say(&w.raw, &header, call, sizeof(call));
	layer_got_bytes(call, sizeof(call));
	wanted = item_reply(XID, 501, 12, &len);
	layer_replies_item(XID, 501, 12);
	message = raw_got(XID, RPR_MSG);
	CT_EXPECT_EQ(chunk_length(&message->header.write[0]), 0);
	CT_ASSERT_EQ(message->payload_len, len);
	CT_EXPECT_MEMEQ(message->payload, wanted, len);
}
