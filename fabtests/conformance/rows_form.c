/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8167 section 5, RFC 8166 section 4.2: the fixed fields, and the words behind them.
 */
#include "row.h"
#include "row_chunk.h"

#define LONG 9000

/* Of the layer's Call and Reply, word for word. */
static void golden(void)
{
	static const uint32_t call[] = {0x01020304, 1, 8,	   RPR_MSG, 0,
					0,	    0, 0x01020304, 0,	    2};
	static const uint32_t reply[] = {0xfffefdfc, 1, 7,	    RPR_MSG, 0,
					 0,	     0, 0xfffefdfc, 1,	     0};
	const struct raw_message *message;

	w.set.end.calls = 8;
	w.set.end.grant = 7;
	RECONNECT();
	layer_calls(0x01020304, SAY_CALL_MIN);
	message = raw_take(&w.raw);
	CT_EXPECT_EQ(message->len, RPR_HEADER_MIN + SAY_CALL_MIN);
	for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++)
		CT_EXPECT_EQ(say_read(message->bytes, i), call[i]);
	raw_asks(0xfffefdfc);
	layer_replies(0xfffefdfc, SAY_REPLY_MIN);
	message = raw_take(&w.raw);
	CT_EXPECT_EQ(message->len, RPR_HEADER_MIN + SAY_REPLY_MIN);
	for (size_t i = 0; i < sizeof(reply) / sizeof(reply[0]); i++)
		CT_EXPECT_EQ(say_read(message->bytes, i), reply[i]);
}

ROW_BOTH_IS(B17, golden())
ROW_BOTH_IS(RFC8166_4_1_fixed, golden())

/* What the program chose, whatever it is, also while the other direction has it. */
ROW_SERVER(B18)
{
	static const uint32_t xids[] = {0, 1, 0x80000000, 0xffffffff};

	layer_asks_and_gets(7, 8);
	for (size_t i = 0; i < sizeof(xids) / sizeof(xids[0]); i++) {
		raw_asks(xids[i]);
		layer_asks(xids[i]);
		layer_gets(xids[i]);
		raw_gets(xids[i]);
	}
}

ROW_SERVER(B19)
{
	uint32_t forward = raw_asks_and_gets(1)->header.vers;

	layer_calls(2, SAY_CALL_MIN);
	CT_EXPECT_EQ(raw_got_call(2, SAY_CALL_MIN)->header.vers, forward);
	CT_EXPECT_EQ(forward, RPR_VERSION);
}

ROW_SERVER(B20)
{
	w.set.end.calls = 5;
	RECONNECT();
	for (uint32_t xid = 1; xid < 4; xid++) {
		layer_calls(xid, SAY_CALL_MIN);
		CT_EXPECT_EQ(raw_got_call(xid, SAY_CALL_MIN)->header.credit, 5);
		raw_reply_grants(xid, xid);
		layer_got_reply(xid, SAY_REPLY_MIN);
	}
}

/* Calls whose message has another XID, or is nothing of RPC's. */
static void bad_calls(void)
{
	struct rpr_header header = raw_header(0x100, RPR_MSG);
	uint64_t errors = stats().err_chunk_sent;
	uint8_t message[SAY_CALL_MIN];

	say_call(message, 0x101, sizeof(message));
	raw_say(&w.raw, &header, message, sizeof(message));
	raw_got_err_chunk(0x100);
	say_call(message, 0x100, sizeof(message));
	say_word(message, 1, 2);
	raw_say(&w.raw, &header, message, sizeof(message));
	raw_got_err_chunk(0x100);
	raw_say(&w.raw, &header, message, 7);
	raw_got_err_chunk(0x100);
	/* In a chunk. */
	header = raw_header(0x100, RPR_NOMSG);
	say_call(message, 0x101, sizeof(message));
	read_expose(&header, 0, message, sizeof(message), 1);
	raw_say(&w.raw, &header, NULL, 0);
	raw_got_err_chunk(0x100);
	CT_EXPECT_EQ(stats().err_chunk_sent, errors + 4);
	CT_EXPECT_EQ(w.end.received, NULL);
	settle();
}

/* The layer's Calls, inline and as a chunk. */
static void good_calls(void)
{
	const struct raw_message *message;
	uint8_t got[9000];

	layer_calls(0x200, 100);
	message = raw_got_call(0x200, 100);
	CT_EXPECT_EQ(say_read(message->payload, 0), 0x200);
	CT_EXPECT_EQ(say_read(message->payload, 1), RPR_CALL);
	layer_gets(0x200);
	layer_calls(0x201, sizeof(got));
	message = raw_got(0x201, RPR_NOMSG);
	raw_reads(&message->header, 0, got, sizeof(got));
	CT_EXPECT_TRUE(say_is_call(got, 0x201, sizeof(got)));
	layer_gets(0x201);
}

static void says_no_rpc(void)
{
	struct op *op = end_op(&w.end, 40);

	say_call(op->buf, 5, 40);
	CT_EXPECT_EQ(end_send(&w.end, op, 7, 0), -FI_EINVAL);
	say_word(op->buf, 1, 2);
	CT_EXPECT_EQ(end_send(&w.end, op, 40, 0), -FI_EINVAL);
	say_word(op->buf, 1, 0xffffffff);
	CT_EXPECT_EQ(end_send(&w.end, op, 40, 0), -FI_EINVAL);
	settle();
}

ROW_BOTH(B21)
{
	if (w.connects) {
		bad_calls();
	} else {
		good_calls();
		says_no_rpc();
	}
}

ROW_BOTH(RFC8166_4_2_1_call)
{
	if (w.connects) {
		good_calls();
		says_no_rpc();
	} else {
		bad_calls();
	}
}

ROW_CLIENT(B22)
{
	raw_asks_and_gets(1);
	raw_asks(0x300);
	raw_asks(0x301);
	layer_replies(0x301, SAY_REPLY_MIN);
	CT_EXPECT_EQ(raw_take(&w.raw)->header.xid, 0x301);
	layer_replies(0x300, SAY_REPLY_MIN);
	CT_EXPECT_EQ(raw_take(&w.raw)->header.xid, 0x300);
}

ROW_CLIENT(B23)
{
	CT_EXPECT_EQ(raw_asks_and_gets(1)->header.vers, RPR_VERSION);
}

/* The layer grants in reverse; and takes a reverse grant of 0 for 1. */
ROW_BOTH(B24)
{
	w.set.end.grant = 3;
	RECONNECT();
	if (w.connects) {
		CT_EXPECT_EQ(raw_asks_and_gets(1)->header.credit, 3);
	} else {
		layer_asks_and_gets(1, 0);
		CT_EXPECT_EQ(stats().zero_grants, 1);
		CT_EXPECT_EQ(end_limits(&w.end).credits, 1);
		layer_asks_and_gets(2, 3);
		CT_EXPECT_EQ(end_limits(&w.end).credits, 3);
	}
}

/* Replies whose message has another XID are dropped; the Call waits on. */
static void bad_replies(void)
{
	struct rpr_header header = raw_header(0x400, RPR_MSG);
	uint8_t message[SAY_REPLY_MIN];

	layer_asks(0x400);
	say_reply(message, 0x401, sizeof(message));
	raw_say(&w.raw, &header, message, sizeof(message));
	EXPECT_SOON(stats().drop_reply == 1);
	raw_say(&w.raw, &header, message, 7);
	settle();
	CT_EXPECT_EQ(w.end.received, NULL);
	layer_gets(0x400);
}

/* In the Reply chunk: a Reply of another XID, and a Call. */
static void bad_long_reply(uint32_t xid, bool call)
{
	uint8_t *message = row_memory(LONG);
	struct op *op = layer_reply_buffer(xid, LONG);
	const uint64_t dropped = stats().drop_reply;
	struct rpr_header header;

	layer_calls(xid, SAY_CALL_MIN);
	header = raw_got(xid, RPR_MSG)->header;
	CT_ASSERT_TRUE(header.has_reply);
	if (call)
		say_call(message, xid, LONG);
	else
		say_reply(message, xid + 0x80, LONG);
	raw_writes(&header.reply, message, LONG);
	header.proc = RPR_NOMSG;
	raw_say(&w.raw, &header, NULL, 0);
	EXPECT_SOON(stats().drop_reply == dropped + 1);
	CT_EXPECT_FALSE(op->done);
	raw_reply(xid);
	EXPECT_SOON(op->done);
	CT_EXPECT_EQ(op->err, 0);
	CT_EXPECT_EQ(op->len, SAY_REPLY_MIN);
}

static void all_bad_replies(void)
{
	bad_replies();
	bad_long_reply(0x410, false);
	bad_long_reply(0x411, true);
}

/* The layer's Replies, inline and in a chunk. */
static void good_replies(void)
{
	const struct raw_message *message;
	uint8_t *memory;

	raw_asks(0x500);
	layer_replies(0x500, 100);
	message = raw_got_reply(0x500, 100);
	CT_EXPECT_EQ(say_read(message->payload, 0), 0x500);
	CT_EXPECT_EQ(say_read(message->payload, 1), RPR_REPLY);
	memory = raw_call_offers_reply(0x501, 9000, 1);
	layer_got_call(0x501, SAY_CALL_MIN);
	layer_replies(0x501, 9000);
	message = raw_got(0x501, RPR_NOMSG);
	CT_EXPECT_EQ(chunk_length(&message->header.reply), 9000);
	CT_EXPECT_TRUE(say_is_reply(memory, 0x501, 9000));
}

ROW_BOTH(B25)
{
	if (w.connects)
		good_replies();
	else
		all_bad_replies();
}

ROW_BOTH(RFC8166_4_2_1_reply)
{
	if (w.connects)
		all_bad_replies();
	else
		good_replies();
}

/* A procedure that there is not, in what can only be a Call. */
ROW_BOTH(RFC8166_4_2_4_unknown)
{
	static const uint32_t procs[] = {5, 6, 0x80000000, 0xffffffff};

	for (size_t i = 0; i < sizeof(procs) / sizeof(procs[0]); i++) {
		RAW_WORDS(0x600, RPR_VERSION, 8, procs[i], 0, 0, 0, 0x600, RPR_CALL, 2);
		raw_got_err_chunk(0x600);
	}
	CT_EXPECT_EQ(stats().err_chunk_sent, 4);
	settle();
}

/* Where it may be a Reply it is dropped, for a Requester sends no error. */
ROW_BOTH(RFC8166_4_2_4_unknown_reply)
{
	layer_asks(0x600);
	RAW_WORDS(0x600, RPR_VERSION, 8, 5, 0, 0, 0, 0x600, RPR_REPLY, 0);
	EXPECT_SOON(stats().drop_proc == 1);
	settle();
	layer_gets(0x600);
}

/* RDMA_ERROR is never answered, least of all with another one. */
ROW_BOTH(RFC8166_4_2_4_error)
{
	RAW_WORDS(0x700, RPR_VERSION, 8, RPR_ERROR, RPR_ERR_CHUNK);
	RAW_WORDS(0x700, RPR_VERSION, 8, RPR_ERROR, RPR_ERR_VERS, 1, 1);
	RAW_WORDS(0x700, RPR_VERSION, 8, RPR_ERROR, 3, 1, 1);
	RAW_WORDS(0x700, 2, 8, RPR_ERROR, RPR_ERR_VERS, 1, 1);
	settle();
	CT_EXPECT_EQ(stats().drop_xid, 2);
	CT_EXPECT_EQ(stats().err_vers_sent + stats().err_chunk_sent, 0);
}
