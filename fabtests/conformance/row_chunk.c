/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/compat.h>
#include "row_chunk.h"

static uint8_t *item_message(uint32_t xid, size_t item, size_t tail, size_t *len,
			     void (*make)(void *buf, uint32_t xid, size_t len))
{
	const size_t round = XDR_ROUND(item);
	uint8_t *bytes;

	*len = ITEM_AT + round + tail;
	bytes = row_memory(*len);
	make(bytes, xid, *len);
	say_word(bytes, ITEM_AT / 4 - 1, (uint32_t)item);
	memset(bytes + ITEM_AT + item, 0, round - item);
	return bytes;
}

uint8_t *item_call(uint32_t xid, size_t item, size_t tail, size_t *len)
{
	return item_message(xid, item, tail, len, say_call);
}

uint8_t *item_reply(uint32_t xid, size_t item, size_t tail, size_t *len)
{
	return item_message(xid, item, tail, len, say_reply);
}

void head_read(struct rpr_header *header, uint32_t position, struct rpr_seg seg)
{
	CT_ASSERT_LT(header->read_count, RPR_READ_SEGS);
	header->read[header->read_count].position = position;
	header->read[header->read_count++].seg = seg;
}

struct rpr_chunk *head_write(struct rpr_header *header)
{
	struct rpr_chunk *chunk = &header->write[header->write_count++];

	chunk->count = 0;
	return chunk;
}

struct rpr_chunk *head_reply(struct rpr_header *header)
{
	header->has_reply = true;
	header->reply.count = 0;
	return &header->reply;
}

void chunk_add(struct rpr_chunk *chunk, struct rpr_seg seg)
{
	CT_ASSERT_LT(chunk->count, RPR_CHUNK_SEGS);
	chunk->seg[chunk->count++] = seg;
}

/* The ith of so many parts: all but the last have an odd length. */
static size_t part_len(size_t len, uint32_t parts, uint32_t i)
{
	const size_t each = (len / parts) | 1;

	return i + 1 < parts ? each : len - each * (parts - 1);
}

uint8_t *chunk_expose(struct rpr_chunk *chunk, size_t len, uint32_t segments)
{
	uint8_t *memory = row_memory(len);
	size_t at = 0;

	for (uint32_t i = 0; i < segments; i++) {
		chunk_add(chunk,
			  raw_expose(&w.raw, memory + at, part_len(len, segments, i)));
		at += part_len(len, segments, i);
	}
	return memory;
}

void read_expose(struct rpr_header *header, uint32_t position, const void *bytes,
		 size_t len, uint32_t segments)
{
	struct rpr_chunk chunk = {0};

	memcpy(chunk_expose(&chunk, len, segments), bytes, len);
	for (uint32_t i = 0; i < chunk.count; i++)
		head_read(header, position, chunk.seg[i]);
}

void raw_say_reduced(const struct rpr_header *header, const uint8_t *message, size_t len,
		     size_t item)
{
	const size_t after = ITEM_AT + XDR_ROUND(item);
	uint8_t *reduced = row_memory(len);

	memcpy(reduced, message, ITEM_AT);
	memcpy(reduced + ITEM_AT, message + after, len - after);
	raw_say(&w.raw, header, reduced, ITEM_AT + len - after);
}

void raw_call_reduced(uint32_t xid, size_t item, size_t tail, uint32_t segments)
{
	struct rpr_header header = raw_header(xid, RPR_MSG);
	size_t len;
	const uint8_t *message = item_call(xid, item, tail, &len);

	read_expose(&header, ITEM_AT, message + ITEM_AT, item, segments);
	raw_say_reduced(&header, message, len, item);
}

void raw_call_long(uint32_t xid, size_t len, uint32_t segments)
{
	struct rpr_header header = raw_header(xid, RPR_NOMSG);
	uint8_t *message = row_memory(len);

	say_call(message, xid, len);
	read_expose(&header, 0, message, len, segments);
	raw_say(&w.raw, &header, NULL, 0);
}

uint8_t *raw_call_offers_write(uint32_t xid, size_t len, uint32_t segments)
{
	struct rpr_header header = raw_header(xid, RPR_MSG);
	uint8_t *memory = chunk_expose(head_write(&header), len, segments);

	raw_call_with(&header, SAY_CALL_MIN);
	return memory;
}

uint8_t *raw_call_offers_reply(uint32_t xid, size_t len, uint32_t segments)
{
	struct rpr_header header = raw_header(xid, RPR_MSG);
	uint8_t *memory = chunk_expose(head_reply(&header), len, segments);

	raw_call_with(&header, SAY_CALL_MIN);
	return memory;
}

uint64_t chunk_length(const struct rpr_chunk *chunk)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < chunk->count; i++)
		len += chunk->seg[i].length;
	return len;
}

void chunk_echoes(const struct rpr_chunk *chunk, const struct rpr_chunk *offered,
		  uint64_t len)
{
	uint64_t part;

	CT_ASSERT_EQ(chunk->count, offered->count);
	for (uint32_t i = 0; i < chunk->count; i++) {
		part = CRN_MIN(len, (uint64_t)offered->seg[i].length);
		CT_EXPECT_EQ(chunk->seg[i].handle, offered->seg[i].handle);
		CT_EXPECT_EQ(chunk->seg[i].offset, offered->seg[i].offset);
		CT_EXPECT_EQ(chunk->seg[i].length, part);
		len -= part;
	}
	CT_EXPECT_EQ(len, 0);
}

void raw_reads(const struct rpr_header *header, uint32_t position, void *buf, size_t len)
{
	uint8_t *out = buf;
	size_t at = 0;

	for (uint32_t i = 0; i < header->read_count; i++) {
		const struct rpr_read *read = &header->read[i];

		if (read->position != position)
			continue;
		CT_ASSERT_LE(at + read->seg.length, len);
		CT_ASSERT_EQ(raw_read(&w.raw, &read->seg, out + at), 0);
		at += read->seg.length;
	}
	CT_EXPECT_EQ(at, len);
}

void raw_writes(const struct rpr_chunk *chunk, const void *buf, size_t len)
{
	const uint8_t *in = buf;
	struct rpr_seg seg;

	for (uint32_t i = 0; i < chunk->count && len; i++) {
		seg = chunk->seg[i];
		seg.length = (uint32_t)CRN_MIN(len, (size_t)seg.length);
		CT_ASSERT_EQ(raw_write(&w.raw, &seg, in), 0);
		in += seg.length;
		len -= seg.length;
	}
	CT_EXPECT_EQ(len, 0);
}

void raw_read_is_refused(const struct rpr_seg *seg)
{
	uint8_t *buf = row_memory(seg->length);

	CT_EXPECT_GT(seg->length, 0);
	CT_EXPECT_NE(raw_read(&w.raw, seg, buf), 0);
}

void raw_write_is_refused(const struct rpr_seg *seg)
{
	uint8_t *buf = row_memory(seg->length);

	CT_EXPECT_GT(seg->length, 0);
	memset(buf, 0xee, seg->length);
	CT_EXPECT_NE(raw_write(&w.raw, seg, buf), 0);
}

ssize_t layer_sends_item(uint32_t xid, bool call, size_t item, size_t tail,
			 struct op **used)
{
	const size_t lens[3] = {ITEM_AT, item, tail};
	size_t len, round = XDR_ROUND(item);
	const uint8_t *message = call ? item_call(xid, item, tail, &len)
				      : item_reply(xid, item, tail, &len);
	struct op *op = end_op(&w.end, len);

	/* Its data alone: the pad is the layer's to add, or to leave out. */
	memcpy(op->buf, message, ITEM_AT + item);
	memcpy(op->buf + ITEM_AT + item, message + ITEM_AT + round, tail);
	*used = op;
	return end_sendv(&w.end, op, lens, tail ? 3 : 2, 1U << 1, 0);
}

struct op *layer_calls_item(uint32_t xid, size_t item, size_t tail)
{
	struct op *op;

	CT_EXPECT_EQ(layer_sends_item(xid, true, item, tail, &op), 0);
	return op;
}

struct op *layer_replies_item(uint32_t xid, size_t item, size_t tail)
{
	struct op *op;

	CT_EXPECT_EQ(layer_sends_item(xid, false, item, tail, &op), 0);
	return op;
}

struct op *layer_result(uint32_t xid, size_t len)
{
	struct op *op = end_op(&w.end, len);

	CT_EXPECT_EQ(end_recv_for(&w.end, op, xid, FI_CAIRN_RPC_RESULT), 0);
	return op;
}

struct op *layer_reply_buffer(uint32_t xid, size_t len)
{
	struct op *op = end_op(&w.end, len);

	CT_EXPECT_EQ(end_recv_for(&w.end, op, xid, FI_CAIRN_RPC_REPLY), 0);
	return op;
}
