/* SPDX-License-Identifier: BSD-2-Clause */
/* What a peer says that is none of ours. */
#ifndef SAY_H
#define SAY_H

#include "fake.h"

/* A message that the other end might send; type 0: there are no more. */
struct said {
	uint8_t type, flags;
	uint64_t seq, length, offset, request, key, addr, cq_data, router;
	uint32_t plen, frag;
	uint64_t ack; /* 0: no TLV */
};

#define WHOLE (RTE_FIRST | RTE_LAST)

void say(struct fake_end *to, const struct said *said);

#endif
