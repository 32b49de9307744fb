/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_COMMIT_COMPLETE by the endpoint's default, and counters that tell of it. fi_cq(3),
 * fi_cntr(3): a counter counts at the level that a completion would mean; inject calls
 * have no completion, but are counted.
 */
#include "expect.h"

#define COUNTED .special = BIT(SPECIAL_COUNTED)

const struct scenario scenarios_counted[] = {
	{"counted, fi_inject_write",
	 {
		 CALL(INJECT, A, LINE, DURABLE),
	 },
	 COUNTED,
	 .expect = expect_durable},
	{"counted, fi_inject_write, torn",
	 {
		 CALL(INJECT, A + 8, 24, DURABLE),
	 },
	 COUNTED,
	 .tear = true,
	 .expect = expect_durable},
	{"counted, fi_inject_write, the same bytes",
	 {
		 CALL(INJECT, A, LINE, DURABLE),
		 CALL(INJECT, A + 32, LINE, DURABLE),
	 },
	 COUNTED,
	 .fits = fits_fast,
	 .expect = expect_durable},
	{"counted, fi_inject_write, compound",
	 {
		 CALL(INJECT, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 COUNTED,
	 .expect = expect_durable},
	{"counted, compound, b overwritten by fi_inject_write",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
		 CALL(INJECT, B, 8, DURABLE),
	 },
	 COUNTED,
	 .fits = fits_fast,
	 .expect = expect_durable},
	{"counted, fi_inject_writedata",
	 {
		 CALL(INJECTDATA, A, LINE, DURABLE),
	 },
	 COUNTED,
	 .fits = fits_has_data,
	 .expect = expect_durable},
	{"counted, fi_inject_writedata behind fi_inject_write",
	 {
		 CALL(INJECT, A, LINE, DURABLE),
		 CALL(INJECTDATA, B, 8, DURABLE),
	 },
	 COUNTED,
	 .fits = fits_has_data,
	 .expect = expect_durable},
	{"counted, fi_inject",
	 {
		 CALL(INJECTSEND, 0, 48, DURABLE),
	 },
	 COUNTED,
	 .expect = expect_durable_message},
	{"counted, replay, fi_inject",
	 {
		 CALL(INJECTSEND, 0, 48, DURABLE),
		 CALL(INJECTSEND, 0, 48, DURABLE),
	 },
	 COUNTED,
	 REPLAY,
	 .expect = expect_durable},
	{"counted, durable compound",
	 {
		 CALL(WRITE, A, LINE, DURABLE),
		 CALL(WRITE, B, 8, LAST),
	 },
	 COUNTED,
	 .expect = expect_durable},
	{"counted, durable group",
	 {
		 CALL(WRITE, A, LINE, MORE),
		 CALL(WRITE, B, LINE, DURABLE),
	 },
	 COUNTED,
	 .expect = expect_durable},
	{"counted, a request lost",
	 {
		 CALL(INJECT, A, LINE, DURABLE, .lost = true),
		 CALL(WRITE, B, 8, LAST),
	 },
	 COUNTED,
	 .fits = fits_has_atomics,
	 .expect = expect_fails,
	 .seconds = 2},
	{"durable FI_INJECT",
	 {
		 CALL(WRITE, A, LINE, .flags = FI_COMMIT_COMPLETE | FI_INJECT),
		 CALL(WRITE, B, 8, .flags = FI_COMMIT_COMPLETE | FI_FENCE | FI_INJECT),
	 },
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_COUNTED),
	 .expect = expect_durable},
	{"durable FI_INJECT, quiet",
	 {
		 CALL(WRITE, A, LINE, .flags = FI_COMMIT_COMPLETE | FI_INJECT,
		      .quiet = true),
		 CALL(WRITE, B, 8, LAST),
	 },
	 .expect = expect_durable},
	{.name = NULL},
};
