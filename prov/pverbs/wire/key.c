/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "key.h"

#define PVB_KEY_VERSION 1ull
#define PVB_KEY_VERSION_AT 32
#define PVB_KEY_DOMAIN_AT 36
#define PVB_KEY_DDIO (1ull << 38)
#define PVB_KEY_PERSISTENT (1ull << 39)
#define PVB_KEY_FLUSH (1ull << 40)
#define PVB_KEY_ATOMIC_WRITE (1ull << 41)
#define PVB_KEY_READABLE (1ull << 42)
#define PVB_KEY_SOFTWARE (1ull << 43)
#define PVB_KEY_RESERVED (0xfffull << 44)
#define PVB_KEY_CHECK_AT 56

/*
 * The top byte of a product depends on every bit below it. This factor has no eight equal
 * bits in a row: so whichever single bit of the 56 is turned, the top byte is another
 * one. Every durable operation parses a key, and this costs one multiplication.
 */
#define PVB_KEY_FACTOR 0x74a79428ecc64821ull

static uint64_t pvb_key_check(uint64_t key)
{
	const uint64_t covered = key & ~(0xffull << PVB_KEY_CHECK_AT);

	return covered * PVB_KEY_FACTOR >> PVB_KEY_CHECK_AT;
}

uint64_t pvb_key_pack(uint32_t rkey, const struct pvb_key_attr *attr)
{
	uint64_t key = rkey;

	if (!attr || !attr->persistent)
		return key;
	key |= PVB_KEY_VERSION << PVB_KEY_VERSION_AT;
	key |= (uint64_t)attr->domain << PVB_KEY_DOMAIN_AT;
	key |= PVB_KEY_PERSISTENT;
	if (attr->ddio)
		key |= PVB_KEY_DDIO;
	if (attr->flush)
		key |= PVB_KEY_FLUSH;
	if (attr->atomic_write)
		key |= PVB_KEY_ATOMIC_WRITE;
	if (attr->readable)
		key |= PVB_KEY_READABLE;
	if (attr->software)
		key |= PVB_KEY_SOFTWARE;
	return key | pvb_key_check(key) << PVB_KEY_CHECK_AT;
}

int pvb_key_parse(uint64_t key, struct pvb_key_attr *attr)
{
	const unsigned int domain = key >> PVB_KEY_DOMAIN_AT & 3;

	if (!(key >> 32))
		return -FI_EOPNOTSUPP;
	if ((key >> PVB_KEY_VERSION_AT & 0xf) != PVB_KEY_VERSION ||
	    key >> PVB_KEY_CHECK_AT != pvb_key_check(key) || (key & PVB_KEY_RESERVED) ||
	    !(key & PVB_KEY_PERSISTENT) || domain > CRN_WSP)
		return -FI_EKEYREJECTED;
	*attr = (struct pvb_key_attr){
		.domain = (enum crn_persistence)domain,
		.ddio = key & PVB_KEY_DDIO,
		.persistent = true,
		.flush = key & PVB_KEY_FLUSH,
		.atomic_write = key & PVB_KEY_ATOMIC_WRITE,
		.readable = key & PVB_KEY_READABLE,
		.software = key & PVB_KEY_SOFTWARE,
	};
	return 0;
}
