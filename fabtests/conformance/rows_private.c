/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 8797: private data. */
#include <string.h>
#include "lower.h"
#include "row.h"
#include "row_chunk.h"

#define XID 0xe00

/* The raw peer's private data: len bytes at that offset, of which the first are those of
 * RFC 8797. */
static void says(size_t at, uint8_t version, uint8_t flags, uint8_t send, uint8_t receive,
		 size_t len)
{
	const uint8_t all[RPR_PRIVATE_LEN] = {0xf6,    0xab,  0x0e, 0x18,
					      version, flags, send, receive};

	memset(w.set.data, 0x5a, sizeof(w.set.data));
	w.set.len = at + len;
	memcpy(w.set.data + at, all, len < sizeof(all) ? len : sizeof(all));
}

/* Both thresholds are these, as far as the layer's own sizes allow. */
static void thresholds_are(size_t layer, size_t raw)
{
	struct rpr_private own;

	rpr_private_find(&own, w.raw.side.private, w.raw.side.private_len, false);
	CT_EXPECT_EQ(end_limits(&w.end).send_inline,
		     layer < own.send_size ? layer : own.send_size);
	CT_EXPECT_EQ(end_limits(&w.end).recv_inline,
		     raw < own.recv_size ? raw : own.recv_size);
}

/* And hold, with Calls and Replies of just that size both ways. */
static void thresholds_hold(void)
{
	const size_t to_raw = end_limits(&w.end).send_inline - RPR_HEADER_MIN;
	const size_t to_layer = end_limits(&w.end).recv_inline - RPR_HEADER_MIN;

	if (!w.connects)
		CT_EXPECT_EQ(end_set(&w.end, FI_OPT_CAIRN_RPC_READY, 1), 0);
	CT_EXPECT_EQ(layer_call(XID, to_raw + 1), -FI_EMSGSIZE);
	layer_calls(XID, to_raw);
	raw_got_call(XID, to_raw);
	raw_reply_of(XID, to_layer);
	layer_got_reply(XID, to_layer);
	raw_call_of(XID, to_layer);
	layer_got_call(XID, to_layer);
	layer_replies(XID, to_raw);
	raw_got_reply(XID, to_raw);
}

static void are_1024(void)
{
	RECONNECT();
	thresholds_are(1024, 1024);
	thresholds_hold();
}

/* What the layer itself says. */
ROW_BOTH(RFC8797_4_format)
{
	static const uint8_t magic[4] = {0xf6, 0xab, 0x0e, 0x18};

	CT_ASSERT_GE(w.raw.side.private_len, RPR_PRIVATE_LEN);
	CT_EXPECT_MEMEQ(w.raw.side.private, magic, sizeof(magic));
	CT_EXPECT_EQ(w.raw.side.private[4], 1);
	CT_EXPECT_EQ(w.raw.side.private[5], 0);
	CT_EXPECT_EQ((w.raw.side.private[6] + 1) * 1024U, layer_inline());
	CT_EXPECT_EQ((w.raw.side.private[7] + 1) * 1024U, raw_inline());
}

ROW_BOTH(RFC8797_4_version)
{
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	says(0, 2, 0, 3, 3, 16);
	are_1024();
	says(0, 0, 0, 3, 3, 8);
	are_1024();
	says(0, 255, 0, 3, 3, 8);
	are_1024();
}

/* Bits that mean nothing are not looked at. */
ROW_BOTH(RFC8797_4_reserved)
{
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	says(0, 1, 0xfe, 1, 3, 8);
	RECONNECT();
	thresholds_are(4096, 2048);
	thresholds_hold();
}

ROW_BOTH(RFC8797_4_reconnect)
{
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	says(0, 1, 0, 3, 1, 8);
	RECONNECT();
	thresholds_are(2048, 4096);
	thresholds_hold();
	says(0, 1, 0, 0, 3, 8);
	RECONNECT();
	thresholds_are(4096, 1024);
	thresholds_hold();
	w.set.silent = true;
	are_1024();
}

/* The layer has R = 0 whatever the peer has, and so nobody's handle is invalidated. */
ROW_BOTH(RFC8797_4_1)
{
	struct rpr_header header = raw_header(XID, RPR_MSG);
	struct rpr_private own;
	uint8_t *memory, *wanted;
	size_t len;

	w.set.priv.remote_invalidate = true;
	RECONNECT();
	rpr_private_find(&own, w.raw.side.private, w.raw.side.private_len, false);
	CT_EXPECT_FALSE(own.remote_invalidate);
	memory = chunk_expose(head_write(&header), 1000, 1);
	wanted = item_reply(XID, 1000, 0, &len);
	for (int i = 0; i < 3; i++) {
		memset(memory, 0, 1000);
		raw_asks_with(&header);
		layer_replies_item(XID, 1000, 0);
		raw_got(XID, RPR_MSG);
		CT_EXPECT_MEMEQ(memory, wanted + ITEM_AT, 1000);
	}
}

ROW_BOTH(RFC8797_4_2)
{
	static const uint8_t sizes[][2] = {{0, 0}, {1, 2}, {2, 1}, {3, 3}, {255, 255}};

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CT_NOTE("sizes %u, %u", sizes[i][0], sizes[i][1]);
		says(0, 1, 0, sizes[i][0], sizes[i][1], 8);
		RECONNECT();
		thresholds_are((sizes[i][1] + 1) * 1024U, (sizes[i][0] + 1) * 1024U);
		thresholds_hold();
	}
}

ROW_BOTH(RFC8797_5_1)
{
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	w.set.silent = true;
	are_1024();
	w.set.silent = false;
	memset(w.set.data, 0x5a, sizeof(w.set.data));
	w.set.len = 24;
	are_1024();
}

ROW_BOTH(RFC8797_5_2)
{
	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	for (size_t at = 0; at <= 16; at++) {
		CT_NOTE("at %zu", at);
		says(at, 1, 0, 1, 3, 8 + at % 3 * 4);
		RECONNECT();
		thresholds_are(4096, 2048);
		thresholds_hold();
	}
}

/*
 * It begins, and is cut off. The private data of rdma_cm is of a fixed length, zeros at
 * its end: it cuts off at the end of a request, and behind the version a reply says the
 * same as none.
 */
ROW_BOTH(RFC8797_5_2_overrun)
{
	const bool fixed = !strcmp(lower_name(), "pverbs");
	const size_t most = fixed && w.connects ? 6 : RPR_PRIVATE_LEN - 1;
	size_t at;

	w.set.end.chunks = FI_CAIRN_RPC_CHUNKS_NONE;
	for (size_t len = 4; len <= most; len++) {
		at = fixed && !w.connects ? sizeof(w.set.data) - len : 5;
		says(at, 1, 0, 3, 3, len);
		are_1024();
	}
}
