/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any sequence of unpacking and packing: pairs of an operation and its argument, up to an
 * operation of 0xff, and the bytes that they are about.
 */
#include <stdlib.h>
#include <string.h>
#include <cairn/bytes.h>
#include "fuzz.h"

enum {
	OP_U8,
	OP_BE16,
	OP_BE32,
	OP_BE64,
	OP_LE16,
	OP_LE32,
	OP_LE64,
	OP_BYTES,
	OP_PART,
	OP_FIXED,
	OP_OPAQUE,
	OPS
};
#define OP_END 0xff

/* Takes one thing out of in, and puts the same into out. */
static void step(uint8_t op, uint8_t arg, struct crn_unpack *in, struct crn_pack *out)
{
	struct crn_unpack part;
	const uint8_t *data;
	uint8_t copy[256];
	size_t len;

	switch (op % OPS) {
	case OP_U8:
		crn_pack_u8(out, crn_unpack_u8(in));
		break;
	case OP_BE16:
		crn_pack_be16(out, crn_unpack_be16(in));
		break;
	case OP_BE32:
		crn_pack_be32(out, crn_unpack_be32(in));
		break;
	case OP_BE64:
		crn_pack_be64(out, crn_unpack_be64(in));
		break;
	case OP_LE16:
		crn_pack_le16(out, crn_unpack_le16(in));
		break;
	case OP_LE32:
		crn_pack_le32(out, crn_unpack_le32(in));
		break;
	case OP_LE64:
		crn_pack_le64(out, crn_unpack_le64(in));
		break;
	case OP_BYTES:
		crn_unpack_bytes(in, copy, arg);
		crn_pack_bytes(out, copy, arg);
		break;
	case OP_PART:
		crn_unpack_part(in, arg, &part);
		FUZZ_CHECK(part.failed == in->failed);
		while (part.left)
			crn_pack_u8(out, crn_unpack_u8(&part));
		if (in->failed)
			crn_pack_zero(out, arg);
		break;
	case OP_FIXED:
		data = crn_unpack_xdr_fixed(in, arg);
		FUZZ_CHECK(!data == in->failed);
		if (data)
			crn_pack_xdr_fixed(out, data, arg);
		break;
	case OP_OPAQUE:
		data = crn_unpack_xdr_opaque(in, arg, &len);
		FUZZ_CHECK(!data == in->failed && len <= arg);
		if (data)
			crn_pack_xdr_opaque(out, data, len);
		break;
	}
}

/* Fills up opaque data with what pack does: the rest of the bytes comes back. */
static bool is_filled(uint8_t op)
{
	return op % OPS == OP_FIXED || op % OPS == OP_OPAQUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *bytes = data, *end = data + size;
	bool same = true, failed = false;
	struct crn_unpack in;
	struct crn_pack out;
	uint8_t *copy;
	size_t len;

	while (end - bytes >= 2 && *bytes != OP_END)
		bytes += 2;
	if (bytes != end)
		bytes++;
	len = (size_t)(end - bytes);
	/* Of exactly that size: a sanitizer sees one byte more. */
	copy = malloc(len + !len);
	crn_unpack_init(&in, bytes, len);
	crn_pack_init(&out, copy, len);
	for (; end - data >= 2 && *data != OP_END; data += 2) {
		step(data[0], data[1], &in, &out);
		/* What failed does not work again, and takes no more. */
		FUZZ_CHECK(in.failed || !failed);
		failed = in.failed;
		FUZZ_CHECK(in.left <= len && out.left <= len);
		FUZZ_CHECK(in.at + in.left == bytes + len || !len);
		same = same && !is_filled(data[0]);
		if (failed)
			break;
		FUZZ_CHECK(!out.failed && in.left == out.left);
	}
	if (!failed) {
		FUZZ_CHECK(crn_pack_len(&out) == (ssize_t)(len - in.left));
		if (same && len)
			FUZZ_CHECK(!memcmp(copy, bytes, len - in.left));
	}
	free(copy);
	return 0;
}
