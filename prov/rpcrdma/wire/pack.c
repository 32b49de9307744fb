/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include "wire.h"

#define WORD 4u
#define SEG_LEN 16u

/* With the word before it; 0: beyond the bounds. */
static size_t chunk_len(const struct rpr_chunk *chunk)
{
	return chunk->count > RPR_CHUNK_SEGS ? 0 : 2 * WORD + chunk->count * SEG_LEN;
}

static size_t lists_len(const struct rpr_header *header)
{
	size_t len = RPR_HEADER_MIN, chunk;
	uint32_t i;

	if (header->read_count > RPR_READ_SEGS || header->write_count > RPR_WRITE_CHUNKS)
		return 0;
	len += header->read_count * (2 * WORD + SEG_LEN);
	for (i = 0; i < header->write_count; i++) {
		chunk = chunk_len(&header->write[i]);
		if (!chunk)
			return 0;
		len += chunk;
	}
	if (!header->has_reply)
		return len;
	chunk = chunk_len(&header->reply);
	/* The Reply chunk's own word is one of the three of the shortest header. */
	return chunk ? len + chunk - WORD : 0;
}

size_t rpr_header_len(const struct rpr_header *header)
{
	switch (header->proc) {
	case RPR_NOMSG:
		/* RFC 8166 sections 4.2.4 and 4.5.2: one of the three is present. */
		if (!header->read_count && !header->write_count && !header->has_reply)
			return 0;
		return lists_len(header);
	case RPR_MSG:
		return lists_len(header);
	case RPR_ERROR:
		if (header->err == RPR_ERR_VERS)
			return RPR_ERR_VERS_LEN;
		return header->err == RPR_ERR_CHUNK ? RPR_ERR_CHUNK_LEN : 0;
	default:
		return 0;
	}
}

static void pack_seg(struct crn_pack *out, const struct rpr_seg *seg)
{
	crn_pack_be32(out, seg->handle);
	crn_pack_be32(out, seg->length);
	crn_pack_be64(out, seg->offset);
}

/* And the word that says that it is there. */
static void pack_chunk(struct crn_pack *out, const struct rpr_chunk *chunk)
{
	uint32_t i;

	crn_pack_be32(out, 1);
	crn_pack_be32(out, chunk->count);
	for (i = 0; i < chunk->count; i++)
		pack_seg(out, &chunk->seg[i]);
}

static void pack_lists(struct crn_pack *out, const struct rpr_header *header)
{
	uint32_t i;

	for (i = 0; i < header->read_count; i++) {
		crn_pack_be32(out, 1);
		crn_pack_be32(out, header->read[i].position);
		pack_seg(out, &header->read[i].seg);
	}
	crn_pack_be32(out, 0);
	for (i = 0; i < header->write_count; i++)
		pack_chunk(out, &header->write[i]);
	crn_pack_be32(out, 0);
	if (header->has_reply)
		pack_chunk(out, &header->reply);
	else
		crn_pack_be32(out, 0);
}

static void pack_error(struct crn_pack *out, const struct rpr_header *header)
{
	crn_pack_be32(out, header->err);
	if (header->err != RPR_ERR_VERS)
		return;
	crn_pack_be32(out, header->vers_low);
	crn_pack_be32(out, header->vers_high);
}

ssize_t rpr_header_pack(const struct rpr_header *header, void *buf, size_t size)
{
	struct crn_pack out;

	if (!rpr_header_len(header))
		return -FI_EINVAL;
	crn_pack_init(&out, buf, size);
	crn_pack_be32(&out, header->xid);
	crn_pack_be32(&out, header->vers);
	crn_pack_be32(&out, header->credit);
	crn_pack_be32(&out, header->proc);
	if (header->proc == RPR_ERROR)
		pack_error(&out, header);
	else
		pack_lists(&out, header);
	return crn_pack_len(&out);
}
