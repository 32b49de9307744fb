/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives in persistent memory whose messages recovery applies again:
 * FI_OPT_CAIRN_REPLAY and FI_CAIRN_REPLAY of rdma/fi_ext_cairn.h. What was reported
 * recovery finds, whole and in order, in the receives or where the target's program put
 * it before it posted them again; what is torn it does not take for a message.
 */
#include "expect.h"

/* No plan for a message has a FLUSH: which receive it took the target alone knows. */
#define ONE REPLAY, .special = BIT(SPECIAL_ONE)
#define RECYCLED ONE, .fits = fits_flush

const struct scenario scenarios_replay[] = {
	{"replay, durable fi_send",
	 {
		 CALL(SEND, 0, 72, DURABLE),
	 },
	 REPLAY,
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE),
	 .expect = expect_durable},
	{"replay, durable fi_send, 3 lines",
	 {
		 CALL(SEND, 0, 132, DURABLE),
	 },
	 REPLAY,
	 .expect = expect_durable},
	{"replay, durable fi_send, torn",
	 {
		 CALL(SEND, 0, 48, DURABLE),
	 },
	 REPLAY,
	 .fits = fits_flush_data,
	 .tear = true,
	 .expect = expect_durable},
	{"replay, durable fi_send, initiator not told yet",
	 {
		 CALL(SEND, 0, 72, DURABLE),
	 },
	 REPLAY,
	 .untold = true,
	 .expect = expect_durable},
	{"replay, durable fi_send, compound",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(SEND, 0, 72, LAST),
	 },
	 REPLAY,
	 .expect = expect_durable},
	{"replay, durable fi_send, b a write",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 REPLAY,
	 .expect = expect_durable},
	{"replay, durable fi_send, both",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(SEND, 0, 72, LAST),
	 },
	 REPLAY,
	 .expect = expect_durable},
	{"replay, fi_send, durable fi_send",
	 {
		 CALL(SEND, 0, 72),
		 CALL(SEND, 0, 72, DURABLE),
	 },
	 REPLAY,
	 .expect = expect_durable},
	{"replay, durable fi_send, two connections",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(SEND, 0, 72, DURABLE, .pair = 1),
	 },
	 REPLAY,
	 .fits = fits_flush_data,
	 .expect = expect_durable},
	{"replay, fi_send",
	 {
		 CALL(SEND, 0, 72, .claims = BIT(0)),
	 },
	 REPLAY,
	 .expect = expect_completion},
	{"replay, fi_send, fi_read",
	 {
		 CALL(SEND, 0, 72),
		 CALL(READ, B, 1, .claims = BIT(0)),
	 },
	 REPLAY,
	 .expect = expect_read_back},
	/* No plan for a message has a FLUSH: which receive it took the target alone
	   knows. */
	{"replay, recycled",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(SEND, 0, 72, DURABLE, .room = true),
	 },
	 RECYCLED,
	 .habit = HABIT_APPLIES,
	 .expect = expect_durable},
	{"replay, recycled twice",
	 {
		 CALL(SEND, 0, 40, DURABLE),
		 CALL(SEND, 0, 40, DURABLE, .room = true),
		 CALL(SEND, 0, 40, DURABLE, .room = true),
	 },
	 ONE,
	 .fits = fits_flush_drained,
	 .habit = HABIT_APPLIES,
	 .expect = expect_durable},
	/* On iWARP that ends the connection (RFC 5041 section 7.2). */
	{"replay, recycled, no receive yet",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(SEND, 0, 72, DURABLE),
	 },
	 ONE,
	 .fits = fits_flush_data,
	 .habit = HABIT_APPLIES,
	 .expect = expect_durable},
	{"replay, recycled, torn",
	 {
		 CALL(SEND, 0, 40, DURABLE),
		 CALL(SEND, 0, 40, DURABLE, .room = true),
	 },
	 ONE,
	 .fits = fits_flush_drained,
	 .habit = HABIT_APPLIES,
	 .tear = true,
	 .expect = expect_durable},
	{"replay, fi_read, recycled",
	 {
		 CALL(SEND, 0, 72),
		 CALL(READ, B, 1, .claims = BIT(0)),
		 CALL(SEND, 0, 40, .room = true),
		 CALL(READ, B, 1, .claims = BIT(0) | BIT(2)),
	 },
	 RECYCLED,
	 .habit = HABIT_APPLIES,
	 .expect = expect_read_back},
	{"replay, posted again before applied",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(SEND, 0, 72, DURABLE, .room = true),
	 },
	 ONE,
	 .fits = fits_flush_data,
	 .habit = HABIT_POSTS_FIRST,
	 .expect = expect_posted_first},
	{"replay, applied without a flush",
	 {
		 CALL(SEND, 0, 72, DURABLE),
		 CALL(SEND, 0, 40, DURABLE, .room = true),
	 },
	 ONE,
	 .fits = fits_flush_data,
	 .habit = HABIT_NO_FLUSH,
	 .expect = expect_not_flushed},
	{"replay, noted before applied",
	 {
		 CALL(SEND, 0, 40, DURABLE),
		 CALL(SEND, 0, 40, DURABLE, .room = true),
	 },
	 ONE,
	 .fits = fits_flush_data,
	 .habit = HABIT_NOTES_FIRST,
	 .expect = expect_noted_first},
	{"replay, recovery without sums",
	 {
		 CALL(SEND, 0, 72),
	 },
	 REPLAY,
	 .trusting = true,
	 .expect = expect_torn},
	{.name = NULL},
};
