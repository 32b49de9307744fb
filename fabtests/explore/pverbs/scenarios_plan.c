/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans other than the provider's: what would be wrong with them. */
#include "expect.h"

const struct scenario scenarios_plan[] = {
	{"W C", .call = {CALL(WRITE, A, LINE, DURABLE)}, .expect = expect_completion,
	 .plan = {"W C"}},
	{"W F C", .call = {CALL(WRITE, A, LINE, DURABLE)}, .expect = expect_read_back,
	 .plan = {"W F C"}},
	{"W C, W F C", .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST)},
	 .expect = expect_cheap_first, .plan = {"W C", "W F C"}},
	{"W F C, W F C without the wait",
	 .call = {CALL(WRITE, A, LINE, DURABLE),
		  CALL(WRITE, B, 8, DURABLE, .after = BIT(0))},
	 .expect = expect_no_wait, .plan = {"W F C", "W F C"}},
	{"W D M A twice",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST)},
	 .expect = expect_two_messages, .plan = {"W D M A", "W D M A"},
	 .fits = fits_message_alone},
	{"DDIO declared off", .call = {CALL(WRITE, A, LINE, DURABLE)},
	 .expect = expect_read_back, .special = BIT(SPECIAL_LIAR), .fits = fits_no_flush},
	{"S C", .call = {CALL(SEND, 0, 72, DURABLE)}, .expect = expect_sent,
	 .plan = {"W C"}},
	{"replay, S C", .call = {CALL(SEND, 0, 72, DURABLE)}, REPLAY,
	 .expect = expect_completion, .plan = {"W C"}, .fits = fits_has_atomics},
	{"replay, S F C", .call = {CALL(SEND, 0, 72, DURABLE)}, REPLAY,
	 .expect = expect_read_back, .plan = {"W F C"}, .fits = fits_has_atomics},
	{"replay, W F C, S F C without the wait",
	 .call = {CALL(WRITE, A, LINE, DURABLE),
		  CALL(SEND, 0, 72, DURABLE, .after = BIT(0))},
	 REPLAY, .expect = expect_no_wait, .plan = {"W F C", "W F C"},
	 .fits = fits_has_atomics},
	{.name = NULL},
};
