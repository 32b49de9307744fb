/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8167 sections 4.2, 4.3, 5.4 and 6; RFC 8166 sections 3.3.2 and 3.3.3: receives. */
#include <time.h>
#include "row.h"
#include "row_chunk.h"

static void goes_up_to(size_t most)
{
	for (size_t len = most - 1; len <= most; len++) {
		layer_calls(5, len);
		raw_got_call(5, len);
		layer_gets(5);
		raw_asks(6);
		layer_replies(6, len);
		raw_got_reply(6, len);
	}
	CT_EXPECT_EQ(layer_call(7, most + 1), -FI_EMSGSIZE);
	raw_asks(8);
	CT_EXPECT_EQ(layer_reply(8, most + 1), -FI_EMSGSIZE);
	layer_replies(8, most);
	raw_got_reply(8, most);
}

static void comes_up_to(size_t most)
{
	for (size_t len = most - 1; len <= most; len++) {
		raw_call_of(5, len);
		layer_got_call(5, len);
		raw_gets(5);
		layer_asks(6);
		raw_reply_of(6, len);
		layer_got_reply(6, len);
	}
}

static void thresholds(uint32_t sends, uint32_t receives)
{
	w.set.priv.send_size = sends;
	w.set.priv.recv_size = receives;
	RECONNECT();
	CT_EXPECT_EQ(end_limits(&w.end).send_inline, layer_inline());
	CT_EXPECT_EQ(end_limits(&w.end).recv_inline, raw_inline());
	goes_up_to(layer_inline() - RPR_HEADER_MIN);
	comes_up_to(raw_inline() - RPR_HEADER_MIN);
}

/* Calls of one direction and Replies of the other share a threshold. */
ROW_BOTH(B12)
{
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	thresholds(1024, 4096);
	thresholds(4096, 1024);
	thresholds(4096, 4096);
}

/* All that the layer has credits for, and has given credits for, comes at once. */
static void bursts(void)
{
	layer_asks_and_gets(1, 8);
	raw_asks_and_gets(1);
	for (uint32_t i = 0; i < 8; i++)
		layer_asks(10 + i);
	for (uint32_t i = 0; i < 8; i++) {
		raw_call(100 + i);
		raw_reply(10 + i);
	}
	for (uint32_t i = 0; i < 8; i++) {
		layer_got_call(100 + i, SAY_CALL_MIN);
		layer_got_reply(10 + i, SAY_REPLY_MIN);
	}
	for (uint32_t i = 0; i < 8; i++)
		raw_gets(100 + i);
	settle();
}

ROW_CLIENT(B13)
{
	bursts();
}

ROW_SERVER(B16)
{
	bursts();
}

/* A lost connection with Calls both ways; what is left of it is counted. */
static void loses(bool layer_leaves)
{
	layer_asks_and_gets(1, 8);
	raw_asks(2);
	layer_asks(3);
	layer_asks(4);
	if (layer_leaves) {
		end_drop(&w.end);
		EXPECT_SOON(w.raw.dead);
	} else {
		raw_drop(&w.raw);
		layer_got_errors(3, 2, FI_ECANCELED);
		EXPECT_SOON(w.end.side.shutdowns == 1);
		CT_EXPECT_EQ(layer_call(5, SAY_CALL_MIN), -FI_ENOTCONN);
		CT_EXPECT_EQ(layer_reply(2, SAY_REPLY_MIN), -FI_ENOTCONN);
	}
	down();
}

ROW_BOTH(B14)
{
	unsigned int descriptors = 0;

	for (int i = 0; i < 8 && !ct_failed(); i++) {
		bursts();
		loses(i % 2);
		if (i == 1)
			descriptors = ct_fds_open();
		if (i > 1 && i % 2)
			CT_EXPECT_EQ(ct_fds_open(), descriptors);
		RECONNECT();
	}
	bursts();
}

ROW_SERVER(B15)
{
	const uint32_t granted = 8;

	CT_EXPECT_EQ(raw_asks_and_gets(1)->header.credit, granted);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < granted; i++)
			raw_call_of(10 + i, raw_inline() - RPR_HEADER_MIN);
		CT_EXPECT_EQ(w.raw.failed, 0);
		for (uint32_t i = 0; i < granted; i++)
			layer_got_call(10 + i, raw_inline() - RPR_HEADER_MIN);
		for (uint32_t i = 0; i < granted; i++)
			raw_gets(10 + i);
	}
}

/* A retransmission has the XID of the Call that it repeats. */
ROW_BOTH(B30)
{
	layer_asks_and_gets(1, 8);
	/* Without a loss: not while the first is outstanding. */
	layer_asks(5);
	CT_EXPECT_EQ(layer_call(5, SAY_CALL_MIN), -FI_EALREADY);
	raw_drop(&w.raw);
	layer_got_error(5, FI_ECANCELED, 0);
	RECONNECT();
	layer_asks_and_gets(5, 8);
	layer_asks_and_gets(5, 8);
	/* What the peer repeats is the program's to know again, with a Reply or without.
	 */
	raw_asks_and_gets(6);
	raw_asks_and_gets(6);
	raw_asks(7);
	raw_asks(7);
	layer_replies(7, SAY_REPLY_MIN);
	raw_gets(7);
	raw_got_reply(7, SAY_REPLY_MIN);
	CT_EXPECT_EQ(layer_reply(7, SAY_REPLY_MIN), -FI_ENOENT);
}

/* The end that listened does not connect: its Call fails at once on a dead connection. */
ROW_SERVER(B31)
{
	layer_asks_and_gets(1, 8);
	raw_drop(&w.raw);
	EXPECT_SOON(w.end.side.shutdowns == 1);
	CT_EXPECT_EQ(layer_call(2, SAY_CALL_MIN), -FI_ENOTCONN);
	CT_EXPECT_EQ(layer_call(2, SAY_CALL_MIN), -FI_ENOTCONN);
	pump();
	CT_EXPECT_EQ(w.end.side.shutdowns, 1);
	CT_EXPECT_EQ(w.raw.side.request, NULL);
	RECONNECT();
	layer_asks_and_gets(2, 8);
}

/* Given up: its memory is nobody's any more, and what comes late is dropped. */
ROW_SERVER(B32)
{
	struct op *call, *result;
	struct rpr_seg seg;

	layer_asks_and_gets(1, 8);
	result = layer_result(5, 512);
	call = layer_calls(5, SAY_CALL_MIN);
	seg = raw_got(5, RPR_MSG)->header.write[0].seg[0];
	CT_EXPECT_EQ(fi_cancel(&w.end.side.ep->fid, call), 0);
	EXPECT_SOON(result->done);
	CT_EXPECT_EQ(result->err, FI_ECANCELED);
	raw_reply(5);
	EXPECT_SOON(stats().drop_xid == 1);
	settle();
	layer_asks_and_gets(6, 8);
	raw_write_is_refused(&seg);
	CT_EXPECT_EQ(result->buf[0], 0);
}

/* Nothing ends a connection that is silent. */
ROW_CLIENT(B33)
{
	const time_t end = time(NULL) + 4;
	const struct timespec moment = {.tv_nsec = 10000000};

	layer_asks_and_gets(1, 8);
	raw_asks_and_gets(1);
	while (time(NULL) < end) {
		nanosleep(&moment, NULL);
		pump();
	}
	raw_asks_and_gets(2);
	layer_asks_and_gets(2, 8);
}

/* A client of which nobody knows what it is has to say that it takes Calls. */
ROW_SERVER(B34)
{
	w.set.marker = false;
	RECONNECT();
	CT_EXPECT_EQ(layer_call(1, SAY_CALL_MIN), -FI_EOPNOTSUPP);
	settle();
	CT_EXPECT_EQ(layer_call(1, SAY_CALL_MIN), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(end_set(&w.end, FI_OPT_CAIRN_RPC_READY, 1), 0);
	layer_asks_and_gets(1, 8);
	w.set.marker = true;
	RECONNECT();
	layer_asks_and_gets(1, 8);
}

/* NULL Calls to a client that takes none. */
ROW_CLIENT(B35)
{
	w.set.end.grant = 0;
	RECONNECT();
	for (uint32_t i = 1; i <= 3; i++) {
		raw_call(i);
		EXPECT_SOON(stats().drop_unready == i);
	}
	layer_asks_and_gets(1, 8);
	raw_call(4);
	EXPECT_SOON(stats().drop_unready == 4);
	layer_asks_and_gets(2, 8);
	CT_EXPECT_FALSE(w.raw.dead);
	CT_EXPECT_EQ(w.end.received, NULL);
}

/* Who says nothing of sizes sends and gets up to 1024 bytes. */
ROW_BOTH(RFC8166_3_3_2_default)
{
	const size_t most = 1024 - RPR_HEADER_MIN;

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	w.set.data[0] = 'x';
	w.set.len = 1;
	RECONNECT();
	if (!w.connects)
		CT_EXPECT_EQ(end_set(&w.end, FI_OPT_CAIRN_RPC_READY, 1), 0);
	CT_EXPECT_EQ(end_limits(&w.end).send_inline, 1024);
	CT_EXPECT_EQ(end_limits(&w.end).recv_inline, 1024);
	layer_asks_and_gets(1, 8);
	goes_up_to(most);
	comes_up_to(most);
}

/* Whatever is sent, the header with it is never longer. */
ROW_BOTH(RFC8166_3_3_2_never_exceeded)
{
	size_t threshold;
	ssize_t ret;

	w.set.priv.recv_size = 1024;
	RECONNECT();
	layer_asks_and_gets(1, 8);
	threshold = layer_inline();
	CT_EXPECT_EQ(threshold, 1024);
	for (size_t len = 8; len <= 2 * threshold && !ct_failed(); len += 7) {
		CT_NOTE("%zu bytes", len);
		ret = layer_call(5, len);
		CT_EXPECT_EQ(ret, 0);
		CT_EXPECT_LE(raw_take(&w.raw)->len, threshold);
		layer_gets(5);
	}
}

/* More than the layer has room for hurts the connection that it comes on. */
ROW_BOTH(RFC8166_3_3_2_exceeded)
{
	raw_call_of(1, raw_inline() - RPR_HEADER_MIN + 1);
	EXPECT_SOON(w.raw.dead || w.raw.failed);
	EXPECT_SOON(w.end.side.shutdowns == 1);
	CT_EXPECT_FALSE(end_got_message(&w.end));
	RECONNECT();
	settle();
	layer_asks_and_gets(1, 8);
}

/* Before a grant is given its receives are there; the first Call needs no grant. */
ROW_BOTH(RFC8166_3_3_3_receives)
{
	uint32_t credit;

	raw_call_of(1, 1024 - RPR_HEADER_MIN);
	layer_got_call(1, 1024 - RPR_HEADER_MIN);
	layer_replies(1, SAY_REPLY_MIN);
	credit = raw_got_reply(1, SAY_REPLY_MIN)->header.credit;
	CT_EXPECT_EQ(credit, 8);
	for (uint32_t i = 0; i < credit; i++)
		raw_call(10 + i);
	CT_EXPECT_EQ(w.raw.failed, 0);
	for (uint32_t i = 0; i < credit; i++)
		layer_got_call(10 + i, SAY_CALL_MIN);
	for (uint32_t i = 0; i < credit; i++)
		raw_gets(10 + i);
}
