/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8167 section 5.3: chunks in reverse, and ends that have none. */
#include "row.h"
#include "row_chunk.h"

#define LONG 9000 /* longer than any inline threshold here */

/* The raw peer is the Requester. */
static void raw_uses_chunks(void)
{
	const struct raw_message *message;
	uint8_t *memory, *wanted;
	size_t len;

	raw_asks_and_gets(1);
	raw_call_long(2, LONG, 3);
	layer_got_call(2, LONG);
	raw_gets(2);
	wanted = item_call(3, 5001, 12, &len);
	raw_call_reduced(3, 5001, 12, 2);
	layer_got_bytes(wanted, len);
	raw_gets(3);
	memory = raw_call_offers_write(4, 6000, 2);
	layer_got_call(4, SAY_CALL_MIN);
	wanted = item_reply(4, 5001, 12, &len);
	layer_replies_item(4, 5001, 12);
	message = raw_got(4, RPR_MSG);
	CT_ASSERT_EQ(message->payload_len, ITEM_AT + 12);
	CT_EXPECT_MEMEQ(memory, wanted + ITEM_AT, 5001);
	memory = raw_call_offers_reply(5, LONG, 2);
	layer_got_call(5, SAY_CALL_MIN);
	layer_replies(5, LONG);
	message = raw_got(5, RPR_NOMSG);
	CT_EXPECT_EQ(chunk_length(&message->header.reply), LONG);
	CT_EXPECT_TRUE(say_is_reply(memory, 5, LONG));
	settle();
}

/* The layer is. */
static void layer_uses_chunks(void)
{
	struct rpr_header header;
	uint8_t got[LONG], *wanted;
	struct op *result;
	size_t len;

	layer_calls(2, LONG);
	header = raw_got(2, RPR_NOMSG)->header;
	raw_reads(&header, 0, got, LONG);
	CT_EXPECT_TRUE(say_is_call(got, 2, LONG));
	layer_gets(2);
	wanted = item_call(3, 5001, 12, &len);
	layer_calls_item(3, 5001, 12);
	header = raw_got(3, RPR_MSG)->header;
	raw_reads(&header, ITEM_AT, got, 5001);
	CT_EXPECT_MEMEQ(got, wanted + ITEM_AT, 5001);
	layer_gets(3);
	result = layer_result(4, 6000);
	layer_calls(4, SAY_CALL_MIN);
	header = raw_got(4, RPR_MSG)->header;
	CT_ASSERT_EQ(header.write_count, 1);
	raw_writes(&header.write[0], wanted, 5001);
	header.write[0].seg[0].length = 5001;
	raw_reply_with(&header, SAY_REPLY_MIN);
	layer_got_reply(4, SAY_REPLY_MIN);
	CT_EXPECT_TRUE(result->done);
	CT_EXPECT_EQ(result->len, 5001);
	CT_EXPECT_MEMEQ(result->buf, wanted, 5001);
	layer_reply_buffer(5, LONG);
	layer_calls(5, SAY_CALL_MIN);
	header = raw_got(5, RPR_MSG)->header;
	CT_ASSERT_TRUE(header.has_reply);
	say_reply(got, 5, LONG);
	raw_writes(&header.reply, got, LONG);
	header.proc = RPR_NOMSG;
	raw_say(&w.raw, &header, NULL, 0);
	layer_got_reply(5, LONG);
	settle();
}

ROW_BOTH(B26)
{
	if (w.connects)
		raw_uses_chunks();
	else
		layer_uses_chunks();
}

ROW_BOTH(B27)
{
	size_t most;

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	RECONNECT();
	most = layer_inline() - RPR_HEADER_MIN;
	if (w.connects) {
		raw_asks(1);
		CT_EXPECT_EQ(layer_reply(1, most + 1), -FI_EMSGSIZE);
		layer_replies(1, most);
		raw_got_reply(1, most);
	} else {
		CT_EXPECT_EQ(layer_call(1, most + 1), -FI_EMSGSIZE);
		layer_calls(1, most);
		raw_got_call(1, most);
	}
	settle();
}

ROW_CLIENT(B28)
{
	struct rpr_header header;

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	RECONNECT();
	raw_call_long(1, LONG, 1);
	raw_got_err_chunk(1);
	raw_call_reduced(2, 100, 0, 1);
	raw_got_err_chunk(2);
	raw_call_offers_write(3, 100, 1);
	raw_got_err_chunk(3);
	raw_call_offers_reply(4, LONG, 1);
	raw_got_err_chunk(4);
	header = raw_header(5, RPR_MSG);
	head_write(&header);
	raw_call_with(&header, SAY_CALL_MIN);
	raw_got_err_chunk(5);
	CT_EXPECT_EQ(w.end.received, NULL);
	settle();
}

ROW_SERVER(B29)
{
	size_t threshold;
	ssize_t ret;

	w.set.priv.recv_size = 1024;
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	RECONNECT();
	threshold = layer_inline();
	for (size_t len = 0; len <= 2 * threshold && !ct_failed(); len++) {
		CT_NOTE("%zu bytes", len);
		ret = layer_call(5, len);
		if (len < 8) {
			CT_EXPECT_EQ(ret, -FI_EINVAL);
		} else if (RPR_HEADER_MIN + len > threshold) {
			CT_EXPECT_EQ(ret, -FI_EMSGSIZE);
		} else {
			CT_EXPECT_EQ(ret, 0);
			raw_got_call(5, len);
			layer_gets(5);
		}
	}
	settle();
}
