/* SPDX-License-Identifier: BSD-2-Clause */
/* What recovery finds in receive buffers after a power failure. The first byte says how
 * large they are. */
#include "fuzz.h"
#include <rdma/fi_ext_cairn.h>
#include "persist/persist.h"

struct walk {
	const uint8_t *from, *to;
	uint64_t next;
};

static int apply(void *ctx, const struct fi_cairn_replay_message *message)
{
	struct walk *walk = ctx;
	const uint8_t *payload = message->payload;

	FUZZ_CHECK(message->number == walk->next++);
	FUZZ_CHECK(payload >= walk->from && message->len <= (size_t)(walk->to - payload));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const size_t stride = FI_CAIRN_REPLAY_HEADER + (size ? bytes[0] : 0);
	const size_t count = size ? (size - 1) / stride : 0;
	struct walk walk = {bytes + 1, bytes + 1 + count * stride, 1};
	ssize_t applied;

	if (!size)
		return 0;
	applied = pvb_replay_ops.replay(bytes + 1, stride, count, 1, apply, &walk);
	FUZZ_CHECK(applied >= 0 && (uint64_t)applied == walk.next - 1);
	return 0;
}
