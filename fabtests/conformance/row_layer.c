/* SPDX-License-Identifier: BSD-2-Clause */
/* What the layer's program does in a row, and what it gets. */
#include "row.h"

static ssize_t send_one(uint32_t xid, size_t len,
			void (*make)(void *buf, uint32_t xid, size_t len),
			struct op **used)
{
	struct op *op = end_op(&w.end, len);

	make(op->buf, xid, len);
	*used = op;
	return end_send(&w.end, op, len, 0);
}

ssize_t layer_call(uint32_t xid, size_t len)
{
	struct op *op;

	return send_one(xid, len, say_call, &op);
}

ssize_t layer_reply(uint32_t xid, size_t len)
{
	struct op *op;

	return send_one(xid, len, say_reply, &op);
}

struct op *layer_calls(uint32_t xid, size_t len)
{
	struct op *op;

	CT_EXPECT_EQ(send_one(xid, len, say_call, &op), 0);
	return op;
}

struct op *layer_replies(uint32_t xid, size_t len)
{
	struct op *op;

	CT_EXPECT_EQ(send_one(xid, len, say_reply, &op), 0);
	return op;
}

struct op *layer_sends(uint32_t xid, bool call, const size_t *lens, size_t count,
		       uint64_t ddp)
{
	struct op *op;
	size_t i, len = 0;

	for (i = 0; i < count; i++)
		len += lens[i];
	op = end_op(&w.end, len);
	if (call)
		say_call(op->buf, xid, len);
	else
		say_reply(op->buf, xid, len);
	CT_EXPECT_EQ(end_sendv(&w.end, op, lens, count, ddp, 0), 0);
	return op;
}

static void got(uint32_t xid, size_t len,
		bool (*is)(const void *bytes, uint32_t xid, size_t len))
{
	struct op *op = end_take(&w.end);

	CT_EXPECT_EQ(op->err, 0);
	CT_EXPECT_EQ(op->len, len);
	if (op->err || op->len != len || len > op->size)
		return;
	CT_EXPECT_EQ(say_read(op->buf, 0), xid);
	CT_EXPECT_TRUE(is(op->buf, xid, len));
	CT_EXPECT_EQ(end_recv(&w.end, op), 0);
}

void layer_got_bytes(const void *bytes, size_t len)
{
	struct op *op = end_take(&w.end);

	CT_EXPECT_EQ(op->err, 0);
	CT_EXPECT_EQ(op->len, len);
	if (op->err || op->len != len || len > op->size)
		return;
	CT_EXPECT_MEMEQ(op->buf, bytes, len);
	CT_EXPECT_EQ(end_recv(&w.end, op), 0);
}

void layer_got_call(uint32_t xid, size_t len)
{
	got(xid, len, say_is_call);
}

void layer_got_reply(uint32_t xid, size_t len)
{
	got(xid, len, say_is_reply);
}

void layer_got_error(uint32_t xid, int err, int prov_errno)
{
	struct op *op = end_take(&w.end);

	CT_EXPECT_EQ(op->err, err);
	if (prov_errno)
		CT_EXPECT_EQ(op->prov_errno, prov_errno);
	CT_EXPECT_EQ(op->data, xid);
}

void layer_got_errors(uint32_t first, uint32_t count, int err)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct op *op = end_take(&w.end);

		CT_EXPECT_EQ(op->err, err);
		CT_ASSERT_GE(op->data, first);
		CT_ASSERT_LT(op->data, first + count);
		seen |= 1ULL << (op->data - first);
	}
	CT_EXPECT_EQ(seen, (1ULL << count) - 1);
}

struct fi_cairn_rpc_stats stats(void)
{
	return end_stats(&w.end);
}

void layer_asks(uint32_t xid)
{
	layer_calls(xid, SAY_CALL_MIN);
	raw_got_call(xid, SAY_CALL_MIN);
}

void layer_gets(uint32_t xid)
{
	raw_reply(xid);
	layer_got_reply(xid, SAY_REPLY_MIN);
}

void layer_asks_and_gets(uint32_t xid, uint32_t grant)
{
	layer_asks(xid);
	raw_reply_grants(xid, grant);
	layer_got_reply(xid, SAY_REPLY_MIN);
}

void raw_asks(uint32_t xid)
{
	raw_call(xid);
	layer_got_call(xid, SAY_CALL_MIN);
}

void raw_asks_with(const struct rpr_header *header)
{
	raw_call_with(header, SAY_CALL_MIN);
	layer_got_call(header->xid, SAY_CALL_MIN);
}

void raw_gets(uint32_t xid)
{
	layer_replies(xid, SAY_REPLY_MIN);
	raw_got_reply(xid, SAY_REPLY_MIN);
}

const struct raw_message *raw_asks_and_gets(uint32_t xid)
{
	raw_asks(xid);
	layer_replies(xid, SAY_REPLY_MIN);
	return raw_got_reply(xid, SAY_REPLY_MIN);
}

void settle(void)
{
	static uint32_t xid = 0xff000000;

	raw_asks_and_gets(++xid);
	CT_EXPECT_EQ(w.end.side.shutdowns, 0);
	CT_EXPECT_FALSE(w.raw.dead);
	CT_EXPECT_EQ(w.raw.failed, 0);
}
