/* SPDX-License-Identifier: BSD-2-Clause */
#include "headers.h"

static void number_seg(struct rpr_seg *seg, uint32_t *number)
{
	seg->handle = ++*number * 0x01020305u;
	seg->length = ++*number * 0x01020305u;
	seg->offset = ++*number * 0x0102030506070809ull;
}

static void number_chunk(struct rpr_chunk *chunk, uint32_t *number)
{
	chunk->count = RPR_CHUNK_SEGS;
	for (uint32_t i = 0; i < RPR_CHUNK_SEGS; i++)
		number_seg(&chunk->seg[i], number);
}

void full_header(struct rpr_header *header)
{
	uint32_t number = 0;

	memset(header, 0, sizeof(*header));
	header->xid = 0xf1f2f3f4;
	header->vers = RPR_VERSION;
	header->credit = 0xe1e2e3e4;
	header->proc = RPR_MSG;
	header->read_count = RPR_READ_SEGS;
	for (uint32_t i = 0; i < RPR_READ_SEGS; i++) {
		header->read[i].position = ++number * 0x01020305u;
		number_seg(&header->read[i].seg, &number);
	}
	header->write_count = RPR_WRITE_CHUNKS;
	for (uint32_t i = 0; i < RPR_WRITE_CHUNKS; i++)
		number_chunk(&header->write[i], &number);
	header->has_reply = true;
	number_chunk(&header->reply, &number);
}

static uint32_t random_word(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return random_word(state) % limit;
}

/* The ends as often as all between them. */
static uint32_t random_count(uint64_t *state, uint32_t most)
{
	switch (random_below(state, 4)) {
	case 0:
		return 0;
	case 1:
		return most;
	default:
		return random_below(state, most + 1);
	}
}

void random_header(struct rpr_header *header, uint64_t *state)
{
	static const uint32_t procs[] = {RPR_MSG, RPR_MSG, RPR_NOMSG, RPR_NOMSG,
					 RPR_ERROR};
	uint8_t *bytes = (uint8_t *)header;

	for (size_t i = 0; i < sizeof(*header); i++)
		bytes[i] = (uint8_t)random_word(state);
	header->vers = RPR_VERSION;
	header->proc = procs[random_below(state, 5)];
	header->has_reply = random_below(state, 2);
	if (header->proc == RPR_ERROR) {
		header->err = random_below(state, 2) ? RPR_ERR_VERS : RPR_ERR_CHUNK;
		return;
	}
	header->read_count = random_count(state, RPR_READ_SEGS);
	header->write_count = random_count(state, RPR_WRITE_CHUNKS);
	for (uint32_t i = 0; i < header->write_count; i++)
		header->write[i].count = random_count(state, RPR_CHUNK_SEGS);
	if (header->proc == RPR_NOMSG && !header->read_count && !header->write_count)
		header->has_reply = true;
	if (header->has_reply)
		header->reply.count = random_count(state, RPR_CHUNK_SEGS);
}

static void expect_same_seg(const struct rpr_seg *a, const struct rpr_seg *b)
{
	CT_EXPECT_EQ(a->handle, b->handle);
	CT_EXPECT_EQ(a->length, b->length);
	CT_EXPECT_EQ(a->offset, b->offset);
}

static void expect_same_chunk(const struct rpr_chunk *a, const struct rpr_chunk *b)
{
	CT_ASSERT_EQ(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++)
		expect_same_seg(&a->seg[i], &b->seg[i]);
}

static void expect_same_error(const struct rpr_header *a, const struct rpr_header *b)
{
	CT_ASSERT_EQ(a->err, b->err);
	if (a->err != RPR_ERR_VERS)
		return;
	CT_EXPECT_EQ(a->vers_low, b->vers_low);
	CT_EXPECT_EQ(a->vers_high, b->vers_high);
}

void expect_same(const struct rpr_header *a, const struct rpr_header *b)
{
	CT_EXPECT_EQ(a->xid, b->xid);
	CT_EXPECT_EQ(a->vers, b->vers);
	CT_EXPECT_EQ(a->credit, b->credit);
	CT_ASSERT_EQ(a->proc, b->proc);
	if (a->proc == RPR_ERROR) {
		expect_same_error(a, b);
		return;
	}
	CT_ASSERT_EQ(a->read_count, b->read_count);
	CT_ASSERT_EQ(a->write_count, b->write_count);
	CT_ASSERT_EQ(a->has_reply, b->has_reply);
	for (uint32_t i = 0; i < a->read_count; i++) {
		CT_EXPECT_EQ(a->read[i].position, b->read[i].position);
		expect_same_seg(&a->read[i].seg, &b->read[i].seg);
	}
	for (uint32_t i = 0; i < a->write_count; i++)
		expect_same_chunk(&a->write[i], &b->write[i]);
	if (a->has_reply)
		expect_same_chunk(&a->reply, &b->reply);
}

enum rpr_bad fence_parse(struct rpr_header *header, const void *bytes, size_t len,
			 size_t *used)
{
	*used = 12345;
	return rpr_header_parse(header, ct_fence_copy(bytes, len), len, used);
}
