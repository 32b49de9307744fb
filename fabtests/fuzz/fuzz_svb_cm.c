/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of simverbs' connection manager: what is accepted packs to the same bytes. */
#include <string.h>
#include "cm/wire.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t again[SVB_CM_MSG_MAX];
	struct svb_cm_msg msg;

	if (!svb_cm_parse(&msg, data, size))
		return 0;
	FUZZ_CHECK(size <= SVB_CM_MSG_MAX);
	FUZZ_CHECK(msg.type > 0 && msg.type < SVB_CM_TYPES);
	FUZZ_CHECK(svb_cm_pack(again, &msg) == size);
	FUZZ_CHECK(!memcmp(again, data, size));
	return 0;
}
