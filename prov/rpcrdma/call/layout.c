/* SPDX-License-Identifier: BSD-2-Clause */
/* A message put together from its inline part and Read chunks. */
#include <stdlib.h>
#include "call.h"

/* An inline part before each entry of the list and one behind, and the entries. */
#define LAYOUT_PIECES (2 * RPR_READ_SEGS + 1)

struct builder {
	struct rpr_layout *layout;
	size_t limit;
	/* Where what is not in chunks comes from: bytes, or entries of position zero. */
	const uint8_t *bytes;
	size_t left;
	const struct rpr_read *zero;
	uint32_t zero_left; /* entries, the first of which has been used up to zero_at */
	uint32_t zero_at;
};

static int build_add(struct builder *b, const struct rpr_piece *piece)
{
	struct rpr_layout *layout = b->layout;

	if (piece->len > b->limit - layout->total)
		return -FI_EINVAL;
	/* Splitting the chunk at position zero makes a piece more for each chunk. */
	if (layout->count == LAYOUT_PIECES)
		return -FI_EINVAL;
	layout->piece[layout->count] = *piece;
	layout->piece[layout->count++].at = layout->total;
	layout->total += piece->len;
	return 0;
}

static int build_zero(struct builder *b, size_t len)
{
	const struct rpr_seg *seg;
	struct rpr_piece piece;
	int ret = 0;

	while (!ret && len && b->zero_left) {
		seg = &b->zero->seg;
		piece = (struct rpr_piece){
			.len = CRN_MIN(len, (size_t)(seg->length - b->zero_at)),
			.handle = seg->handle,
			.offset = seg->offset + b->zero_at,
		};
		if (piece.len)
			ret = build_add(b, &piece);
		len -= piece.len;
		b->zero_at += (uint32_t)piece.len;
		if (b->zero_at == seg->length) {
			b->zero++;
			b->zero_left--;
			b->zero_at = 0;
		}
	}
	return ret || len ? -FI_EINVAL : 0;
}

/* The next len bytes of what is not in chunks. */
static int build_body(struct builder *b, size_t len)
{
	struct rpr_piece piece = {.len = len, .bytes = b->bytes};

	if (!len)
		return 0;
	if (!b->bytes)
		return build_zero(b, len);
	if (len > b->left)
		return -FI_EINVAL;
	b->bytes += len;
	b->left -= len;
	return build_add(b, &piece);
}

static size_t build_body_left(const struct builder *b)
{
	size_t left = b->left;
	uint32_t i;

	for (i = 0; !b->bytes && i < b->zero_left; i++)
		left += b->zero[i].seg.length;
	return left - (b->bytes ? 0 : b->zero_at);
}

/* XDR round-up of a chunk that comes without (RFC 8166 section 3.4.5.2). */
static int build_pad(struct builder *b)
{
	static const uint8_t zeros[4];
	const struct rpr_piece piece = {.len = -b->layout->total & 3, .bytes = zeros};

	return piece.len ? build_add(b, &piece) : 0;
}

/* Entries [from, to) of one position. */
static int build_chunk(struct builder *b, const struct rpr_read *read, uint32_t count)
{
	const uint32_t position = read->position;
	struct rpr_piece piece;
	uint32_t i;
	int ret;

	if (position % 4 || position < b->layout->total)
		return -FI_EINVAL;
	ret = build_body(b, position - b->layout->total);
	for (i = 0; !ret && i < count; i++) {
		piece = (struct rpr_piece){
			.len = read[i].seg.length,
			.handle = read[i].seg.handle,
			.offset = read[i].seg.offset,
		};
		ret = piece.len ? build_add(b, &piece) : 0;
	}
	return ret ? ret : build_pad(b);
}

static uint32_t build_run(const struct rpr_read *read, uint32_t count)
{
	uint32_t i;

	for (i = 1; i < count && read[i].position == read->position; i++)
		;
	return i;
}

static int build(struct builder *b, const struct rpr_read *read, uint32_t count)
{
	uint32_t run;
	int ret = 0;

	for (; !ret && count; read += run, count -= run) {
		run = build_run(read, count);
		ret = build_chunk(b, read, run);
	}
	return ret ? ret : build_body(b, build_body_left(b));
}

/* Entries of one position keep their order, which is that of the chunk. */
static void read_sort(struct rpr_read *to, const struct rpr_read *read, uint32_t count)
{
	uint32_t i, j;

	for (i = 0; i < count; i++) {
		for (j = i; j && to[j - 1].position > read[i].position; j--)
			to[j] = to[j - 1];
		to[j] = read[i];
	}
}

int rpr_layout(const struct rpr_header *header, bool nomsg, const uint8_t *bytes,
	       size_t len, size_t limit, struct rpr_layout **layout)
{
	struct builder b = {.limit = limit};
	struct rpr_read sorted[RPR_READ_SEGS];
	const struct rpr_read *read = sorted;
	uint32_t count = header->read_count;
	int ret;

	read_sort(sorted, header->read, count);
	b.layout =
		calloc(1, sizeof(*b.layout) + LAYOUT_PIECES * sizeof(struct rpr_piece));
	if (!b.layout)
		return -FI_ENOMEM;
	if (nomsg) {
		b.zero = read;
		b.zero_left = count && !read->position ? build_run(read, count) : 0;
		read += b.zero_left;
		count -= b.zero_left;
		ret = b.zero_left ? build(&b, read, count) : -FI_EINVAL;
	} else {
		b.bytes = bytes;
		b.left = len;
		/* Position zero is that of a whole message. */
		ret = count && !read->position ? -FI_EINVAL : build(&b, read, count);
	}
	if (ret)
		free(b.layout);
	else
		*layout = b.layout;
	return ret;
}
