/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "key.h"

#define PVB_DESC_VERSION 1ull
#define PVB_DESC_VERSION_AT 32
#define PVB_DESC_DOMAIN_AT 36
#define PVB_DESC_DDIO (1ull << 38)
#define PVB_DESC_PERSISTENT (1ull << 39)
#define PVB_DESC_FLUSH (1ull << 40)
#define PVB_DESC_ATOMIC_WRITE (1ull << 41)
#define PVB_DESC_READABLE (1ull << 42)
#define PVB_DESC_SOFTWARE (1ull << 43)
#define PVB_DESC_RESERVED (0xfffull << 44)
#define PVB_DESC_CHECK_AT 56

/*
 * The top byte of a product depends on every bit below it. This factor has no eight equal
 * bits in a row: so whichever single bit of the 56 is turned, the top byte is another
 * one. Every durable operation parses a key, and this costs one multiplication.
 */
#define PVB_DESC_FACTOR 0x74a79428ecc64821ull

static uint64_t pvb_desc_check(uint64_t key)
{
	const uint64_t covered = key & ~(0xffull << PVB_DESC_CHECK_AT);

	return covered * PVB_DESC_FACTOR >> PVB_DESC_CHECK_AT;
}

uint64_t pvb_desc_key(uint32_t rkey, const struct pvb_desc *desc)
{
	uint64_t key = rkey;

	if (!desc || !desc->persistent)
		return key;
	key |= PVB_DESC_VERSION << PVB_DESC_VERSION_AT;
	key |= (uint64_t)desc->domain << PVB_DESC_DOMAIN_AT;
	key |= PVB_DESC_PERSISTENT;
	if (desc->ddio)
		key |= PVB_DESC_DDIO;
	if (desc->flush)
		key |= PVB_DESC_FLUSH;
	if (desc->atomic_write)
		key |= PVB_DESC_ATOMIC_WRITE;
	if (desc->readable)
		key |= PVB_DESC_READABLE;
	if (desc->software)
		key |= PVB_DESC_SOFTWARE;
	return key | pvb_desc_check(key) << PVB_DESC_CHECK_AT;
}

int pvb_desc_parse(uint64_t key, struct pvb_desc *desc)
{
	const unsigned int domain = key >> PVB_DESC_DOMAIN_AT & 3;

	if (!(key >> 32))
		return -FI_EOPNOTSUPP;
	if ((key >> PVB_DESC_VERSION_AT & 0xf) != PVB_DESC_VERSION ||
	    key >> PVB_DESC_CHECK_AT != pvb_desc_check(key) ||
	    (key & PVB_DESC_RESERVED) || !(key & PVB_DESC_PERSISTENT) || domain > PVB_WSP)
		return -FI_EKEYREJECTED;
	*desc = (struct pvb_desc){
		.domain = (enum pvb_persistence)domain,
		.ddio = key & PVB_DESC_DDIO,
		.persistent = true,
		.flush = key & PVB_DESC_FLUSH,
		.atomic_write = key & PVB_DESC_ATOMIC_WRITE,
		.readable = key & PVB_DESC_READABLE,
		.software = key & PVB_DESC_SOFTWARE,
	};
	return 0;
}
