/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packing and unpacking bytes within bounds: numbers of 8 to 64 bits, big and little
 * endian, and opaque data, also as XDR has it (RFC 4506). Parsers read through these
 * functions only and do no bounds checks of their own.
 *
 * Errors are sticky: once something does not fit, every later call fails, nothing is
 * read or written beyond the bounds, and one check at the end (crn_pack_len,
 * crn_unpack_done, failed) reports it. A number that cannot be unpacked is 0.
 *
 *	struct crn_unpack in;
 *	uint32_t xid, count;
 *
 *	crn_unpack_init(&in, bytes, len);
 *	xid = crn_unpack_be32(&in);
 *	count = crn_unpack_be32(&in);
 *	if (!crn_unpack_done(&in) || count > LIMIT)
 *		return -FI_EINVAL;
 */
#ifndef CRN_BYTES_H
#define CRN_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <cairn/compat.h>

struct crn_pack {
	uint8_t *at; /* where the next byte goes */
	size_t left; /* bytes of room from there */
	size_t size; /* of all */
	bool failed;
};

struct crn_unpack {
	const uint8_t *at; /* the next byte */
	size_t left;	   /* bytes from there */
	bool failed;
};

static inline void crn_pack_init(struct crn_pack *pack, void *buf, size_t size)
{
	*pack = (struct crn_pack){.at = buf, .left = size, .size = size};
}

/* The bytes packed so far, or -FI_ETOOSMALL when something did not fit. */
ssize_t crn_pack_len(const struct crn_pack *pack);

/* Room for len bytes, to be filled by the caller; NULL: there is not as much. */
CRN_INLINE uint8_t *crn_pack_room(struct crn_pack *pack, size_t len)
{
	uint8_t *at = pack->at;

	if (crn_unlikely(pack->failed || len > pack->left)) {
		pack->failed = true;
		return NULL;
	}
	pack->at += len;
	pack->left -= len;
	return at;
}

/* len bytes from src, and len bytes of 0. */
void crn_pack_bytes(struct crn_pack *pack, const void *src, size_t len);
void crn_pack_zero(struct crn_pack *pack, size_t len);

/*
 * Opaque data of XDR. Fixed length (RFC 4506 section 4.9): the bytes, and zeros up to a
 * multiple of four. Variable length (section 4.10): the length as 32 bits before that;
 * what is longer than that can say does not fit.
 */
void crn_pack_xdr_fixed(struct crn_pack *pack, const void *src, size_t len);
void crn_pack_xdr_opaque(struct crn_pack *pack, const void *src, size_t len);

static inline void crn_unpack_init(struct crn_unpack *unpack, const void *bytes,
				   size_t len)
{
	*unpack = (struct crn_unpack){.at = bytes, .left = len};
}

/* Nothing failed, and nothing is left. */
static inline bool crn_unpack_done(const struct crn_unpack *unpack)
{
	return !unpack->failed && !unpack->left;
}

/* The next len bytes where they are, valid as long as the caller's; NULL: there are not
 * as many. Also for skipping some. */
CRN_INLINE const uint8_t *crn_unpack_ref(struct crn_unpack *unpack, size_t len)
{
	const uint8_t *at = unpack->at;

	if (crn_unlikely(unpack->failed || len > unpack->left)) {
		unpack->failed = true;
		return NULL;
	}
	unpack->at += len;
	unpack->left -= len;
	return at;
}

/* The next len bytes copied to dst; dst is all zero when there are not as many. */
void crn_unpack_bytes(struct crn_unpack *unpack, void *dst, size_t len);

/* The next len bytes as bounds of their own, for what is inside: fails as unpack does. */
void crn_unpack_part(struct crn_unpack *unpack, size_t len, struct crn_unpack *part);

/*
 * Opaque data of XDR where it is; NULL: there is not as much. What fills it up to a
 * multiple of four is passed over and not looked at. Variable length: *len becomes its
 * length, 0 on failure; more than max fails.
 */
const uint8_t *crn_unpack_xdr_fixed(struct crn_unpack *unpack, size_t len);
const uint8_t *crn_unpack_xdr_opaque(struct crn_unpack *unpack, size_t max, size_t *len);

static inline void crn_pack_u8(struct crn_pack *pack, uint8_t value)
{
	uint8_t *at = crn_pack_room(pack, 1);

	if (at)
		*at = value;
}

static inline uint8_t crn_unpack_u8(struct crn_unpack *unpack)
{
	const uint8_t *at = crn_unpack_ref(unpack, 1);

	return at ? *at : 0;
}

/*
 * crn_pack_be16(pack, value), crn_unpack_be16(unpack), and so on; and crn_put_be16(at,
 * value), crn_get_be16(at) for bytes whose bounds were looked at together, of which
 * crn_pack_room and crn_unpack_ref gave the place.
 */
#define CRN_BYTES_NUMBER(bits, order, to_order, to_host)                                 \
	static inline void crn_put_##order##bits(uint8_t *at, uint##bits##_t value)      \
	{                                                                                \
		value = to_order(value);                                                 \
		memcpy(at, &value, sizeof(value));                                       \
	}                                                                                \
                                                                                         \
	static inline uint##bits##_t crn_get_##order##bits(const uint8_t *at)            \
	{                                                                                \
		uint##bits##_t value;                                                    \
                                                                                         \
		memcpy(&value, at, sizeof(value));                                       \
		return to_host(value);                                                   \
	}                                                                                \
                                                                                         \
	static inline void crn_pack_##order##bits(struct crn_pack *pack,                 \
						  uint##bits##_t value)                  \
	{                                                                                \
		uint8_t *at = crn_pack_room(pack, sizeof(value));                        \
                                                                                         \
		if (at)                                                                  \
			crn_put_##order##bits(at, value);                                \
	}                                                                                \
                                                                                         \
	static inline uint##bits##_t crn_unpack_##order##bits(struct crn_unpack *unpack) \
	{                                                                                \
		const uint8_t *at = crn_unpack_ref(unpack, sizeof(uint##bits##_t));      \
                                                                                         \
		return at ? crn_get_##order##bits(at) : 0;                               \
	}

CRN_BYTES_NUMBER(16, be, htobe16, be16toh)
CRN_BYTES_NUMBER(32, be, htobe32, be32toh)
CRN_BYTES_NUMBER(64, be, htobe64, be64toh)
CRN_BYTES_NUMBER(16, le, htole16, le16toh)
CRN_BYTES_NUMBER(32, le, htole32, le32toh)
CRN_BYTES_NUMBER(64, le, htole64, le64toh)

#undef CRN_BYTES_NUMBER

/* count numbers one after the other. */
static inline void crn_put_le64s(uint8_t *at, const uint64_t *values, size_t count)
{
	size_t i;

	if (htole64(1) == 1 && count)
		memcpy(at, values, count * sizeof(*values));
	else
		for (i = 0; i < count; i++)
			crn_put_le64(at + i * sizeof(*values), values[i]);
}

static inline void crn_get_le64s(const uint8_t *at, uint64_t *values, size_t count)
{
	size_t i;

	if (htole64(1) == 1 && count)
		memcpy(values, at, count * sizeof(*values));
	else
		for (i = 0; i < count; i++)
			values[i] = crn_get_le64(at + i * sizeof(*values));
}

#endif
