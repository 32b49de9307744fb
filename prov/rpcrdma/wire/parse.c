/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/bytes.h>
#include "wire.h"

static void parse_seg(struct crn_unpack *in, struct rpr_seg *seg)
{
	seg->handle = crn_unpack_be32(in);
	seg->length = crn_unpack_be32(in);
	seg->offset = crn_unpack_be64(in);
}

/*
 * The word before optional data (RFC 4506 section 4.19): is there an item? Neither 0 nor
 * 1 fails as what ends too early does, so that a list of them ends in either case.
 */
static bool another(struct crn_unpack *in)
{
	uint32_t present = crn_unpack_be32(in);

	if (present > 1)
		in->failed = true;
	return present == 1;
}

static void parse_chunk(struct crn_unpack *in, struct rpr_chunk *chunk)
{
	uint32_t i;

	chunk->count = crn_unpack_be32(in);
	if (chunk->count > RPR_CHUNK_SEGS)
		in->failed = true;
	for (i = 0; i < chunk->count && !in->failed; i++)
		parse_seg(in, &chunk->seg[i]);
}

static void parse_read_list(struct crn_unpack *in, struct rpr_header *header)
{
	struct rpr_read *read;

	header->read_count = 0;
	while (another(in)) {
		if (header->read_count == RPR_READ_SEGS) {
			in->failed = true;
			return;
		}
		read = &header->read[header->read_count++];
		read->position = crn_unpack_be32(in);
		parse_seg(in, &read->seg);
	}
}

static void parse_write_list(struct crn_unpack *in, struct rpr_header *header)
{
	header->write_count = 0;
	while (another(in)) {
		if (header->write_count == RPR_WRITE_CHUNKS) {
			in->failed = true;
			return;
		}
		parse_chunk(in, &header->write[header->write_count++]);
	}
}

static enum rpr_bad parse_lists(struct crn_unpack *in, struct rpr_header *header)
{
	parse_read_list(in, header);
	parse_write_list(in, header);
	header->has_reply = another(in);
	if (header->has_reply)
		parse_chunk(in, &header->reply);
	/* What may not be packed is not accepted: an RPR_NOMSG without any of the three.
	 */
	return in->failed || !rpr_header_len(header) ? RPR_BAD_CHUNK : RPR_OK;
}

static enum rpr_bad parse_error(struct crn_unpack *in, struct rpr_header *header)
{
	header->err = crn_unpack_be32(in);
	if (header->err == RPR_ERR_VERS) {
		header->vers_low = crn_unpack_be32(in);
		header->vers_high = crn_unpack_be32(in);
	} else if (header->err != RPR_ERR_CHUNK) {
		in->failed = true;
	}
	return in->failed ? RPR_BAD_SHORT : RPR_OK;
}

static enum rpr_bad parse_body(struct crn_unpack *in, struct rpr_header *header)
{
	switch (header->proc) {
	case RPR_MSG:
	case RPR_NOMSG:
		return parse_lists(in, header);
	case RPR_ERROR:
		return parse_error(in, header);
	default:
		return RPR_BAD_PROC;
	}
}

enum rpr_bad rpr_header_parse(struct rpr_header *header, const void *bytes, size_t len,
			      size_t *used)
{
	struct crn_unpack in;
	enum rpr_bad bad;

	crn_unpack_init(&in, bytes, len);
	header->xid = crn_unpack_be32(&in);
	header->vers = crn_unpack_be32(&in);
	header->credit = crn_unpack_be32(&in);
	header->proc = crn_unpack_be32(&in);
	/* RFC 8166 section 4.5 drops everything below 28 bytes; ERR_CHUNK has 20. */
	if (len < RPR_HEADER_MIN &&
	    (header->vers != RPR_VERSION || header->proc != RPR_ERROR))
		return RPR_BAD_SHORT;
	if (header->vers != RPR_VERSION)
		return RPR_BAD_VERS;
	bad = parse_body(&in, header);
	if (bad == RPR_OK)
		*used = len - in.left;
	return bad;
}
