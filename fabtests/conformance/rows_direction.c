/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8167 sections 2 and 7: who calls whom, and which Reply belongs to which Call. */
#include <stdlib.h>
#include <string.h>
#include "row.h"
#include "row_chunk.h"

ROW_BOTH(B01)
{
	CT_EXPECT_EQ(w.raw.side.pep != NULL, w.connects);
	layer_asks_and_gets(1, 8);
	raw_asks_and_gets(2);
	layer_asks_and_gets(3, 8);
}

/* Calls of both ends, as many at a time as are granted. */
#define WINDOW 8

struct stream {
	uint32_t sent, done, count;
};

/* How many; a check under valgrind asks for fewer. */
static uint32_t many(void)
{
	const char *text = getenv("RPC_CALLS");

	return text && *text ? (uint32_t)strtoul(text, NULL, 0) : 100000;
}

/* A buffer whose last message has left; NULL: none yet. */
static struct op *reusable(struct op *ops[4 * WINDOW])
{
	for (int i = 0; i < 4 * WINDOW; i++) {
		if (!ops[i]) {
			ops[i] = end_op(&w.end, SAY_CALL_MIN);
			return ops[i];
		}
		if (ops[i]->done) {
			CT_EXPECT_EQ(ops[i]->err, 0);
			ops[i]->done = false;
			return ops[i];
		}
	}
	return NULL;
}

static ssize_t layer_says(struct op *ops[4 * WINDOW], bool call, uint32_t xid)
{
	struct op *op = reusable(ops);
	ssize_t ret;

	if (!op)
		return -FI_EAGAIN;
	if (call)
		say_call(op->buf, xid, SAY_CALL_MIN);
	else
		say_reply(op->buf, xid, SAY_REPLY_MIN);
	ret = end_send(&w.end, op, call ? SAY_CALL_MIN : SAY_REPLY_MIN, 0);
	op->done = ret != 0;
	return ret;
}

static void layer_step(struct op *ops[4 * WINDOW], struct stream *calls)
{
	struct op *op;
	uint32_t xid;

	while (calls->sent < calls->count && !layer_says(ops, true, calls->sent + 1))
		calls->sent++;
	while (w.end.received && !ct_failed()) {
		op = end_take(&w.end);
		xid = say_read(op->buf, 0);
		CT_EXPECT_EQ(op->err, 0);
		if (say_read(op->buf, 1) == RPR_REPLY) {
			CT_EXPECT_TRUE(say_is_reply(op->buf, xid, op->len));
			calls->done++;
		} else {
			CT_EXPECT_TRUE(say_is_call(op->buf, xid, op->len));
			EXPECT_SOON(!layer_says(ops, false, xid));
		}
		CT_EXPECT_EQ(end_recv(&w.end, op), 0);
	}
}

static void raw_step(struct stream *calls)
{
	const struct raw_message *message;

	/* One until the first Reply says how many there may be. */
	while (calls->sent < calls->count &&
	       calls->sent - calls->done < (calls->done ? WINDOW : 1))
		raw_call(++calls->sent);
	while (w.raw.first && !ct_failed()) {
		message = raw_take(&w.raw);
		CT_EXPECT_EQ(message->bad, RPR_OK);
		CT_EXPECT_GE(message->payload_len, 8);
		if (say_read(message->payload, 1) == RPR_REPLY)
			calls->done++;
		else
			raw_reply(message->header.xid);
	}
}

static void exchange(uint32_t from_layer, uint32_t from_raw)
{
	struct stream layer = {.count = from_layer}, raw = {.count = from_raw};
	struct op *ops[4 * WINDOW] = {0};
	struct fi_cairn_rpc_stats end;

	RECONNECT();
	while ((layer.done < layer.count || raw.done < raw.count) && !ct_failed()) {
		const uint32_t before = layer.done + raw.done + layer.sent + raw.sent;

		layer_step(ops, &layer);
		raw_step(&raw);
		pump();
		if (layer.done + raw.done + layer.sent + raw.sent == before)
			EXPECT_SOON(w.end.received || w.raw.first || reusable(ops));
	}
	end = stats();
	CT_EXPECT_EQ(end.calls_sent, from_layer);
	CT_EXPECT_EQ(end.replies_received, from_layer);
	CT_EXPECT_EQ(end.calls_received, from_raw);
	CT_EXPECT_EQ(end.replies_sent, from_raw);
}

ROW_BOTH(B02)
{
	exchange(many(), 0);
	exchange(0, many());
	exchange(many(), many());
}

ROW_BOTH(B03)
{
	layer_asks_and_gets(1, 8);
	layer_asks(5);
	CT_EXPECT_EQ(layer_call(5, SAY_CALL_MIN), -FI_EALREADY);
	settle();
	layer_gets(5);
	layer_asks_and_gets(5, 8);
}

ROW_BOTH(B04)
{
	CT_EXPECT_EQ(layer_reply(7, SAY_REPLY_MIN), -FI_ENOENT);
	raw_reply(7);
	EXPECT_SOON(stats().drop_xid == 1);
	CT_EXPECT_EQ(stats().replies_received, 0);
	settle();
	/* A second one for the same Call. */
	raw_asks_and_gets(8);
	CT_EXPECT_EQ(layer_reply(8, SAY_REPLY_MIN), -FI_ENOENT);
	layer_asks_and_gets(9, 8);
	raw_reply(9);
	EXPECT_SOON(stats().drop_xid == 2);
	settle();
}

static void same_xid(uint32_t xid, bool layer_first)
{
	layer_asks(xid);
	raw_asks(xid);
	if (layer_first) {
		layer_gets(xid);
	}
	raw_gets(xid);
	if (!layer_first) {
		layer_gets(xid);
	}
}

/* The Reply to a Call that was given up comes while nobody, or another Call, has its XID.
 */
static void given_up(uint32_t xid, bool again)
{
	const uint64_t dropped = stats().drop_xid;
	struct op *op = layer_calls(xid, SAY_CALL_MIN);

	raw_got_call(xid, SAY_CALL_MIN);
	CT_EXPECT_EQ(fi_cancel(&w.end.side.ep->fid, op), 0);
	if (again)
		layer_asks(xid);
	raw_reply(xid);
	if (again) {
		layer_got_reply(xid, SAY_REPLY_MIN);
		raw_reply(xid);
	}
	EXPECT_SOON(stats().drop_xid == dropped + 1);
	settle();
}

/* The peer gave its Call up, and uses the XID again: the first Reply is that Call's. */
static void given_up_by_peer(uint32_t xid)
{
	const size_t len = 9000;
	uint8_t *memory = raw_call_offers_reply(xid, len, 1);

	layer_got_call(xid, SAY_CALL_MIN);
	raw_asks(xid);
	layer_replies(xid, len);
	raw_got(xid, RPR_NOMSG);
	CT_EXPECT_TRUE(say_is_reply(memory, xid, len));
	raw_gets(xid);
}

ROW_BOTH(B05)
{
	layer_asks_and_gets(1, 8);
	same_xid(5, true);
	same_xid(5, false);
	given_up(6, false);
	given_up(6, true);
	given_up(6, false);
	given_up_by_peer(8);
}

/* Two programs, in both directions at once, with items that are eligible. */
ROW_BOTH(B37)
{
	const struct raw_message *message;
	uint8_t *wanted[2], got[2][1001];
	size_t len[2], i;

	layer_asks_and_gets(1, 8);
	raw_asks_and_gets(1);
	for (i = 0; i < 2; i++) {
		wanted[i] = item_call((uint32_t)(10 + i), 1001, 8, &len[i]);
		layer_calls_item((uint32_t)(10 + i), 1001, 8);
		raw_call_reduced((uint32_t)(10 + i), 1001, 8, 2);
	}
	for (i = 0; i < 2; i++) {
		message = raw_got((uint32_t)(10 + i), RPR_MSG);
		raw_reads(&message->header, ITEM_AT, got[i], 1001);
		CT_EXPECT_MEMEQ(got[i], wanted[i] + ITEM_AT, 1001);
		CT_ASSERT_EQ(message->payload_len, len[i] - XDR_ROUND(1001));
		layer_got_bytes(wanted[i], len[i]);
	}
	CT_EXPECT_NE(say_read(wanted[0], 3), say_read(wanted[1], 3));
	for (i = 2; i-- > 0;) {
		layer_gets((uint32_t)(10 + i));
		raw_gets((uint32_t)(10 + i));
	}
}

/* AUTH_SYS forward and AUTH_NONE in reverse, which nobody mixes up or adds to. */
ROW_BOTH(B38)
{
	const enum say_flavor from_layer = w.connects ? SAY_AUTH_SYS : SAY_AUTH_NONE;
	const enum say_flavor from_raw = w.connects ? SAY_AUTH_NONE : SAY_AUTH_SYS;
	const struct raw_message *message;
	struct rpr_header header;
	uint8_t call[200];
	struct op *op = end_op(&w.end, sizeof(call));

	say_call_as(op->buf, 5, from_layer, 0, sizeof(call));
	CT_EXPECT_EQ(end_send(&w.end, op, sizeof(call), 0), 0);
	message = raw_got(5, RPR_MSG);
	CT_ASSERT_EQ(message->payload_len, sizeof(call));
	CT_EXPECT_MEMEQ(message->payload, op->buf, sizeof(call));
	header = raw_header(5, RPR_MSG);
	say_call_as(call, 5, from_raw, 0, sizeof(call));
	raw_say(&w.raw, &header, call, sizeof(call));
	layer_got_bytes(call, sizeof(call));
	raw_gets(5);
	layer_gets(5);
}

/* A fresh connection on which the end that listened alone calls. */
ROW_BOTH(RFC8167_7_reverse_only)
{
	for (uint32_t xid = 1; xid < 20; xid++) {
		if (w.connects)
			raw_asks_and_gets(xid);
		else
			layer_asks_and_gets(xid, 8);
	}
	CT_EXPECT_EQ(w.connects ? stats().calls_sent : stats().calls_received, 0);
}
