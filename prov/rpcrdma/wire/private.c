/* SPDX-License-Identifier: BSD-2-Clause */
#include <cairn/bytes.h>
#include "wire.h"

/* RFC 8797 section 4. */
#define MAGIC 0xf6ab0e18u
#define MAGIC_TAIL (MAGIC & 0xffffff)
#define FORMAT_VERSION 1
#define REMOTE_INVALIDATE 1
#define SIZE_LEAST 1024u
#define SIZE_LIMIT 262144u

/* RFC 8797 section 4.2: in steps of 1024 bytes, beyond the first. */
static uint8_t pack_size(uint32_t size)
{
	if (size < SIZE_LEAST)
		size = SIZE_LEAST;
	if (size > SIZE_LIMIT)
		size = SIZE_LIMIT;
	return (uint8_t)(size / 1024 - 1);
}

static uint32_t parse_size(uint8_t value)
{
	return (value + 1u) * 1024;
}

void rpr_private_pack(const struct rpr_private *priv, uint8_t buf[RPR_PRIVATE_LEN])
{
	struct crn_pack out;

	crn_pack_init(&out, buf, RPR_PRIVATE_LEN);
	crn_pack_be32(&out, MAGIC);
	crn_pack_u8(&out, FORMAT_VERSION);
	crn_pack_u8(&out, priv->remote_invalidate ? REMOTE_INVALIDATE : 0);
	crn_pack_u8(&out, pack_size(priv->send_size));
	crn_pack_u8(&out, pack_size(priv->recv_size));
}

/* What follows the magic; the reserved bits are ignored. */
static bool parse_after_magic(struct crn_unpack *in, struct rpr_private *priv)
{
	uint8_t version = crn_unpack_u8(in), flags = crn_unpack_u8(in);
	uint8_t send_size = crn_unpack_u8(in), recv_size = crn_unpack_u8(in);

	if (in->failed || version != FORMAT_VERSION)
		return false;
	priv->remote_invalidate = flags & REMOTE_INVALIDATE;
	priv->send_size = parse_size(send_size);
	priv->recv_size = parse_size(recv_size);
	return true;
}

static bool parse_tail(struct crn_unpack *in, struct rpr_private *priv)
{
	uint32_t magic = (uint32_t)crn_unpack_u8(in) << 16;

	magic |= crn_unpack_be16(in);
	return magic == MAGIC_TAIL && parse_after_magic(in, priv);
}

size_t rpr_private_find(struct rpr_private *priv, const void *bytes, size_t len,
			bool tail)
{
	struct crn_unpack from, in;

	for (crn_unpack_init(&from, bytes, len); from.left; crn_unpack_u8(&from)) {
		in = from;
		if (crn_unpack_be32(&in) == MAGIC && parse_after_magic(&in, priv))
			return len - in.left;
	}
	crn_unpack_init(&in, bytes, len);
	if (tail && parse_tail(&in, priv))
		return len - in.left;
	*priv = (struct rpr_private){.send_size = SIZE_LEAST, .recv_size = SIZE_LEAST};
	return 0;
}
