/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers without a chunk, as most are: each send and each receive comes here. */
#include <endian.h>
#include <string.h>
#include "wire.h"

/* The words of the header. */
enum { XID, VERS, CREDIT, PROC, READ_LIST, WRITE_LIST, REPLY_CHUNK, WORDS };

_Static_assert(WORDS * sizeof(uint32_t) == RPR_HEADER_MIN, "the shortest header");

void rpr_header_pack_short(uint8_t buf[RPR_HEADER_MIN], uint32_t xid, uint32_t credit)
{
	const uint32_t words[WORDS] = {
		[XID] = htobe32(xid),
		[VERS] = htobe32(RPR_VERSION),
		[CREDIT] = htobe32(credit),
		[PROC] = htobe32(RPR_MSG),
	};

	memcpy(buf, words, sizeof(words));
}

bool rpr_header_is_short(const void *bytes, size_t len, uint32_t *xid, uint32_t *credit)
{
	uint32_t words[WORDS];

	if (len < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	if (words[VERS] != htobe32(RPR_VERSION) || words[PROC] != htobe32(RPR_MSG) ||
	    words[READ_LIST] || words[WRITE_LIST] || words[REPLY_CHUNK])
		return false;
	*xid = be32toh(words[XID]);
	*credit = be32toh(words[CREDIT]);
	return true;
}
