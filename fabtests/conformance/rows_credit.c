/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8167 section 4.1, RFC 8166 section 3.3.1: credits. */
#include "row.h"

/* The layer has so many Calls outstanding, of XIDs from first on, and gets no further. */
static void layer_fills(uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		layer_asks(first + i);
	CT_EXPECT_EQ(layer_call(first + i, SAY_CALL_MIN), -FI_EAGAIN);
}

static void raw_answers(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		layer_gets(first + i);
}

static void raw_fills(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		raw_asks(first + i);
}

static void layer_answers(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		raw_gets(first + i);
}

ROW_BOTH(B07)
{
	layer_asks_and_gets(1, 8);
	raw_asks_and_gets(1);
	layer_fills(10, 8);
	raw_asks_and_gets(100);
	raw_asks_and_gets(101);
	raw_answers(10, 8);
	raw_fills(200, 8);
	layer_asks_and_gets(20, 8);
	layer_asks_and_gets(21, 8);
	layer_fills(30, 8);
	layer_answers(200, 8);
	raw_answers(30, 8);
}

/* The grant is the same with reverse traffic outstanding, and with none possible. */
ROW_SERVER(B08)
{
	w.set.end.grant = 5;
	RECONNECT();
	CT_EXPECT_EQ(raw_asks_and_gets(1)->header.credit, 5);
	layer_asks_and_gets(2, 8);
	layer_fills(10, 8);
	CT_EXPECT_EQ(raw_asks_and_gets(2)->header.credit, 5);
	raw_fills(20, 5);
	CT_EXPECT_EQ(end_limits(&w.end).granted, 5);
	layer_answers(20, 5);
	w.set.marker = false;
	RECONNECT();
	CT_EXPECT_EQ(raw_asks_and_gets(1)->header.credit, 5);
	raw_fills(20, 5);
	layer_answers(20, 5);
}

static void credits(size_t calls, size_t grant)
{
	w.set.end.calls = calls;
	w.set.end.grant = grant;
	w.set.end.receives = 32;
	w.set.end.receive_size = 1024;
	RECONNECT();
	layer_calls(1, SAY_CALL_MIN);
	CT_EXPECT_EQ(raw_got_call(1, SAY_CALL_MIN)->header.credit, calls);
	raw_reply_grants(1, 1000);
	layer_got_reply(1, SAY_REPLY_MIN);
	CT_EXPECT_EQ(raw_asks_and_gets(2)->header.credit, grant);
	layer_fills(1000, (uint32_t)calls);
	raw_fills(1000, (uint32_t)grant);
	raw_answers(1000, (uint32_t)calls);
	layer_answers(1000, (uint32_t)grant);
}

ROW_BOTH(B09)
{
	down();
	credits(64, 2);
	credits(2, 64);
	credits(1, 1);
}

ROW_BOTH(B10)
{
	layer_asks_and_gets(1, 8);
	raw_call_asks(50, 1);
	layer_got_call(50, SAY_CALL_MIN);
	CT_EXPECT_EQ(end_limits(&w.end).credits, 8);
	layer_fills(10, 8);
	raw_answers(10, 8);
	/* Nor does a grant change what this end grants. */
	layer_asks_and_gets(2, 2);
	layer_replies(50, SAY_REPLY_MIN);
	CT_EXPECT_EQ(raw_got_reply(50, SAY_REPLY_MIN)->header.credit, 8);
}

/* Of a Call that is outstanding, and of one that is not. */
static void error_of(uint32_t xid, uint32_t credit)
{
	struct rpr_header header = raw_header(xid, RPR_ERROR);

	header.credit = credit;
	header.err = RPR_ERR_CHUNK;
	raw_say(&w.raw, &header, NULL, 0);
}

static void ignored(uint32_t credit)
{
	error_of(0x7777, credit);
	layer_asks(5);
	error_of(5, credit);
	layer_got_error(5, FI_EREMOTEIO, RPR_ERR_CHUNK);
	/* No list has the message: nobody knows whether it was a Call. */
	RAW_WORDS(0x7778, RPR_VERSION, credit, RPR_NOMSG, 0, 0, 0);
	raw_got_err_chunk(0x7778);
	settle();
	CT_EXPECT_EQ(end_limits(&w.end).credits, 4);
}

ROW_BOTH(B11)
{
	layer_asks_and_gets(1, 4);
	ignored(1);
	ignored(9999);
	layer_fills(10, 4);
	raw_answers(10, 4);
}

ROW_BOTH(RFC8166_3_3_1_limit)
{
	layer_asks_and_gets(1, 3);
	layer_fills(10, 3);
	raw_reply_grants(10, 5);
	layer_got_reply(10, SAY_REPLY_MIN);
	layer_fills(20, 3);
	/* Fewer: what is outstanding stays, and there is no more until it is below. */
	raw_reply_grants(11, 2);
	layer_got_reply(11, SAY_REPLY_MIN);
	CT_EXPECT_EQ(layer_call(30, SAY_CALL_MIN), -FI_EAGAIN);
	raw_reply_grants(12, 2);
	layer_got_reply(12, SAY_REPLY_MIN);
	raw_reply_grants(20, 2);
	layer_got_reply(20, SAY_REPLY_MIN);
	CT_EXPECT_EQ(layer_call(30, SAY_CALL_MIN), -FI_EAGAIN);
	raw_reply_grants(21, 2);
	layer_got_reply(21, SAY_REPLY_MIN);
	layer_asks(30);
	CT_EXPECT_EQ(layer_call(31, SAY_CALL_MIN), -FI_EAGAIN);
	CT_EXPECT_GT(stats().credit_stalls, 0);
	CT_EXPECT_EQ(w.raw.arrived, 8);
}

/* The peer still has a Call that was given up: it counts until its Reply comes, however
 * malformed, and what nobody asked for counts for nothing. */
ROW_BOTH(RFC8166_3_3_1_given_up)
{
	uint8_t reply[SAY_REPLY_MIN];
	struct rpr_header header;
	struct op *calls[3];

	layer_asks_and_gets(1, 3);
	for (uint32_t i = 0; i < 3; i++) {
		calls[i] = layer_calls(10 + i, SAY_CALL_MIN);
		raw_got_call(10 + i, SAY_CALL_MIN);
	}
	for (uint32_t i = 0; i < 3; i++)
		CT_EXPECT_EQ(fi_cancel(&w.end.side.ep->fid, calls[i]), 0);
	CT_EXPECT_EQ(layer_call(20, SAY_CALL_MIN), -FI_EAGAIN);
	raw_reply_grants(10, 3);
	EXPECT_SOON(stats().drop_xid == 1);
	layer_fills(20, 1);
	header = raw_header(11, RPR_MSG);
	say_reply(reply, 0x1011, sizeof(reply));
	raw_say(&w.raw, &header, reply, sizeof(reply));
	EXPECT_SOON(stats().drop_reply == 1);
	/* One whose XID is in use again, with a Read list. */
	layer_fills(12, 1);
	header = raw_header(12, RPR_MSG);
	header.read_count = 1;
	header.read[0] = (struct rpr_read){.seg = {.handle = 1, .length = 4}};
	raw_reply_with(&header, SAY_REPLY_MIN);
	EXPECT_SOON(stats().drop_reply == 2);
	layer_fills(30, 1);
	for (uint32_t i = 0; i < 10; i++)
		raw_reply_grants(100 + i, 3);
	EXPECT_SOON(stats().drop_xid == 11);
	CT_EXPECT_EQ(layer_call(40, SAY_CALL_MIN), -FI_EAGAIN);
}

ROW_BOTH(RFC8166_3_3_1_requested)
{
	w.set.end.calls = 3;
	RECONNECT();
	layer_asks_and_gets(1, 64);
	layer_fills(10, 3);
	raw_answers(10, 3);
}

ROW_BOTH(RFC8166_3_3_1_zero)
{
	layer_asks_and_gets(1, 0);
	CT_EXPECT_EQ(stats().zero_grants, 1);
	layer_asks(2);
	CT_EXPECT_EQ(layer_call(3, SAY_CALL_MIN), -FI_EAGAIN);
	layer_gets(2);
	layer_fills(10, 8);
}

/* What the layer says itself, whatever the raw peer asks for. */
ROW_BOTH(RFC8166_3_3_1_never_zero)
{
	static const uint32_t asked[] = {0, 1, 8, 0xffffffff};

	w.set.end.grant = 3;
	w.set.end.calls = 1;
	RECONNECT();
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		raw_call_asks(10, asked[i]);
		layer_got_call(10, SAY_CALL_MIN);
		layer_replies(10, SAY_REPLY_MIN);
		CT_EXPECT_EQ(raw_got_reply(10, SAY_REPLY_MIN)->header.credit, 3);
	}
	layer_calls(11, SAY_CALL_MIN);
	CT_EXPECT_EQ(raw_got_call(11, SAY_CALL_MIN)->header.credit, 1);
}

/* Receives for the Replies are there before the Calls are sent: all come at once. */
ROW_BOTH(RFC8166_3_3_1_replies)
{
	layer_asks_and_gets(1, 8);
	layer_fills(10, 8);
	for (uint32_t i = 0; i < 8; i++)
		raw_reply_of(10 + i, raw_inline() - RPR_HEADER_MIN);
	for (uint32_t i = 0; i < 8; i++)
		layer_got_reply(10 + i, raw_inline() - RPR_HEADER_MIN);
	settle();
}

/* A grant far beyond what is asked for is no number to trust. */
ROW_BOTH(RFC8166_3_3_1_huge)
{
	layer_asks_and_gets(1, 0xffffffff);
	layer_fills(10, 8);
	raw_answers(10, 8);
	layer_asks_and_gets(2, 0x80000000);
	layer_fills(20, 8);
	raw_answers(20, 8);
}

/* A peer that sends more Calls than it may hurts its own connection alone. */
ROW_BOTH(RFC8166_3_3_1_exceeded)
{
	w.set.end.grant = 2;
	RECONNECT();
	raw_asks_and_gets(1);
	raw_call(10);
	raw_call(11);
	layer_got_call(10, SAY_CALL_MIN);
	layer_got_call(11, SAY_CALL_MIN);
	CT_EXPECT_FALSE(w.raw.dead);
	raw_call(12);
	EXPECT_SOON(w.raw.dead);
	CT_EXPECT_EQ(stats().calls_received, 3);
	RECONNECT();
	raw_asks_and_gets(1);
	for (uint32_t xid = 10; xid < 30 && !w.raw.failed; xid++)
		raw_call(xid);
	EXPECT_SOON(w.raw.dead || stats().calls_received >= 3);
	RECONNECT();
	raw_asks_and_gets(1);
	layer_asks_and_gets(1, 8);
}

ROW_BOTH(RFC8166_3_3_3_first)
{
	layer_asks(1);
	CT_EXPECT_EQ(layer_call(2, SAY_CALL_MIN), -FI_EAGAIN);
	layer_gets(1);
	layer_fills(10, 8);
	RECONNECT();
	layer_asks(1);
	CT_EXPECT_EQ(layer_call(2, SAY_CALL_MIN), -FI_EAGAIN);
}
