/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>

ssize_t crn_pack_len(const struct crn_pack *pack)
{
	return pack->failed ? -FI_ETOOSMALL : (ssize_t)(pack->size - pack->left);
}

void crn_pack_bytes(struct crn_pack *pack, const void *src, size_t len)
{
	uint8_t *at = crn_pack_room(pack, len);

	if (at && len)
		memcpy(at, src, len);
}

void crn_pack_zero(struct crn_pack *pack, size_t len)
{
	uint8_t *at = crn_pack_room(pack, len);

	if (at && len)
		memset(at, 0, len);
}

/* RFC 4506 section 3: every item takes a multiple of four bytes. */
static size_t xdr_padding(size_t len)
{
	return -len & 3;
}

void crn_pack_xdr_fixed(struct crn_pack *pack, const void *src, size_t len)
{
	crn_pack_bytes(pack, src, len);
	crn_pack_zero(pack, xdr_padding(len));
}

void crn_pack_xdr_opaque(struct crn_pack *pack, const void *src, size_t len)
{
	if (len > UINT32_MAX)
		pack->failed = true;
	crn_pack_be32(pack, (uint32_t)len);
	crn_pack_xdr_fixed(pack, src, len);
}

void crn_unpack_bytes(struct crn_unpack *unpack, void *dst, size_t len)
{
	const uint8_t *at = crn_unpack_ref(unpack, len);

	if (at && len)
		memcpy(dst, at, len);
	else if (len)
		memset(dst, 0, len);
}

void crn_unpack_part(struct crn_unpack *unpack, size_t len, struct crn_unpack *part)
{
	const uint8_t *at = crn_unpack_ref(unpack, len);

	crn_unpack_init(part, at, unpack->failed ? 0 : len);
	part->failed = unpack->failed;
}

const uint8_t *crn_unpack_xdr_fixed(struct crn_unpack *unpack, size_t len)
{
	const uint8_t *at = crn_unpack_ref(unpack, len);

	crn_unpack_ref(unpack, xdr_padding(len));
	return unpack->failed ? NULL : at;
}

const uint8_t *crn_unpack_xdr_opaque(struct crn_unpack *unpack, size_t max, size_t *len)
{
	const uint8_t *at;

	*len = crn_unpack_be32(unpack);
	if (*len > max)
		unpack->failed = true;
	at = crn_unpack_xdr_fixed(unpack, *len);
	if (!at)
		*len = 0;
	return at;
}
