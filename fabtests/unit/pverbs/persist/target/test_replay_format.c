/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages that recovery finds again in persistent receive buffers. */
#include <string.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include <rdma/fi_ext_cairn.h>
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

#define STRIDE 64
#define COUNT 8

struct seen {
	uint64_t number[COUNT];
	char first[COUNT]; /* byte of the payload */
	int count;
	int stop_at; /* apply refuses this one, from 1 */
};

static int apply(void *ctx, const struct fi_cairn_replay_message *message)
{
	struct seen *seen = ctx;

	if (seen->count + 1 == seen->stop_at)
		return -FI_EIO;
	seen->number[seen->count] = message->number;
	seen->first[seen->count++] = message->len ? *(const char *)message->payload : 0;
	return 0;
}

/* A message whose payload is len times letter. */
static void put(uint8_t *bufs, int at, uint64_t number, char letter, size_t len)
{
	uint8_t *buf = bufs + (size_t)at * STRIDE;

	memset(buf + FI_CAIRN_REPLAY_HEADER, letter, len);
	CT_EXPECT_EQ(pvb_replay_ops.write_header(buf, buf + FI_CAIRN_REPLAY_HEADER, len,
						 number),
		     0);
}

static ssize_t replay(const uint8_t *bufs, uint64_t first, struct seen *seen)
{
	return pvb_replay_ops.replay(bufs, STRIDE, COUNT, first, apply, seen);
}

CT_TEST(replay_format, messages_are_applied_in_their_order_wherever_they_lie)
{
	uint8_t bufs[COUNT * STRIDE] = {0};
	struct seen seen = {0};

	put(bufs, 5, 7, 'a', 10);
	put(bufs, 0, 8, 'b', 32);
	put(bufs, 2, 9, 'c', 0);
	put(bufs, 1, 6, 'x', 4); /* applied before the failure */
	CT_EXPECT_EQ(replay(bufs, 7, &seen), 3);
	CT_EXPECT_EQ(seen.count, 3);
	CT_EXPECT_EQ(seen.number[0], 7);
	CT_EXPECT_EQ(seen.first[0], 'a');
	CT_EXPECT_EQ(seen.first[1], 'b');
	CT_EXPECT_EQ(seen.number[2], 9);
}

CT_TEST(replay_format, what_is_behind_a_gap_or_there_twice_is_not_applied_again)
{
	uint8_t bufs[COUNT * STRIDE] = {0};
	struct seen seen = {0};

	put(bufs, 0, 1, 'a', 8);
	put(bufs, 3, 1, 'a', 8);
	put(bufs, 4, 3, 'c', 8);
	CT_EXPECT_EQ(replay(bufs, 1, &seen), 1);
	CT_EXPECT_EQ(seen.count, 1);
}

CT_TEST(replay_format, a_torn_message_is_none_whichever_bit_is_wrong)
{
	uint8_t bufs[COUNT * STRIDE] = {0};
	struct seen seen = {0};
	unsigned int bit;

	put(bufs, 0, 1, 'a', STRIDE - FI_CAIRN_REPLAY_HEADER);
	for (bit = 0; bit < STRIDE * 8; bit++) {
		bufs[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CT_EXPECT_EQ(replay(bufs, 1, &seen), 0);
		bufs[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	CT_EXPECT_EQ(replay(bufs, 1, &seen), 1);
}

CT_TEST(replay_format, a_length_beyond_the_buffer_is_no_message)
{
	uint8_t bufs[2 * COUNT * STRIDE] = {0};
	struct seen seen = {0};

	put(bufs, 0, 1, 'a', STRIDE); /* reaches into the next */
	CT_EXPECT_EQ(replay(bufs, 1, &seen), 0);
}

CT_TEST(replay_format, the_programs_refusal_ends_it_and_is_told)
{
	uint8_t bufs[COUNT * STRIDE] = {0};
	struct seen seen = {.stop_at = 2};

	put(bufs, 0, 1, 'a', 8);
	put(bufs, 1, 2, 'b', 8);
	put(bufs, 2, 3, 'c', 8);
	CT_EXPECT_EQ(replay(bufs, 1, &seen), -FI_EIO);
	CT_EXPECT_EQ(seen.count, 1);
}

CT_TEST(replay_format, arguments_that_cannot_be_are_refused)
{
	uint8_t buf[STRIDE] = {0};
	struct seen seen = {0};

	CT_EXPECT_EQ(pvb_replay_ops.write_header(NULL, buf, 1, 1), -FI_EINVAL);
	CT_EXPECT_EQ(pvb_replay_ops.write_header(buf, NULL, 1, 1), -FI_EINVAL);
	CT_EXPECT_EQ(pvb_replay_ops.write_header(buf, NULL, (size_t)INT32_MAX + 1, 1),
		     -FI_EINVAL);
	CT_EXPECT_EQ(pvb_replay_ops.write_header(buf, NULL, 0, 1), 0);
	CT_EXPECT_EQ(pvb_replay_ops.replay(buf, FI_CAIRN_REPLAY_HEADER - 1, 1, 1, apply,
					   &seen),
		     -FI_EINVAL);
	CT_EXPECT_EQ(pvb_replay_ops.replay(buf, STRIDE, 0, 1, apply, &seen), 0);
}
