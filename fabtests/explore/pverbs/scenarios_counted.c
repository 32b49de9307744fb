/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FI_COMMIT_COMPLETE by the endpoint's default, and counters that tell of it. fi_cq(3),
 * fi_cntr(3): a counter counts at the level that a completion would mean; inject calls
 * have no completion, but are counted.
 */
#include "expect.h"

#define COUNTED .special = BIT(SPECIAL_COUNTED)

const struct scenario scenarios_counted[] = {
	{"counted, fi_inject_write", .call = {CALL(INJECT, A, LINE, DURABLE)}, COUNTED},
	{"counted, fi_inject_write, torn", .call = {CALL(INJECT, A + 8, 24, DURABLE)},
	 COUNTED, .tear = true},
	{"counted, fi_inject_write, the same bytes",
	 .call = {CALL(INJECT, A, LINE, DURABLE), CALL(INJECT, A + 32, LINE, DURABLE)},
	 COUNTED, .fits = fits_fast},
	{"counted, fi_inject_write, compound",
	 .call = {CALL(INJECT, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST)}, COUNTED},
	{"counted, compound, b overwritten by fi_inject_write",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST),
		  CALL(INJECT, B, 8, DURABLE)},
	 COUNTED, .fits = fits_fast},
	{"counted, fi_inject_writedata", .call = {CALL(INJECTDATA, A, LINE, DURABLE)},
	 COUNTED, .fits = fits_has_data},
	{"counted, fi_inject_writedata behind fi_inject_write",
	 .call = {CALL(INJECT, A, LINE, DURABLE), CALL(INJECTDATA, B, 8, DURABLE)},
	 COUNTED, .fits = fits_has_data},
	{"counted, fi_inject", .call = {CALL(INJECTSEND, 0, 48, DURABLE)}, COUNTED,
	 .expect = expect_durable_message},
	{"counted, replay, fi_inject",
	 .call = {CALL(INJECTSEND, 0, 48, DURABLE), CALL(INJECTSEND, 0, 48, DURABLE)},
	 COUNTED, REPLAY},
	{"counted, durable compound",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST)}, COUNTED},
	{"counted, durable group",
	 .call = {CALL(WRITE, A, LINE, MORE), CALL(WRITE, B, LINE, DURABLE)}, COUNTED},
	{"counted, a request lost",
	 .call = {CALL(INJECT, A, LINE, DURABLE, .lost = true), CALL(WRITE, B, 8, LAST)},
	 COUNTED, .fits = fits_has_atomics, .expect = expect_fails, .seconds = 2},
	{"durable FI_INJECT",
	 .call = {CALL(WRITE, A, LINE, .flags = FI_COMMIT_COMPLETE | FI_INJECT),
		  CALL(WRITE, B, 8, .flags = FI_COMMIT_COMPLETE | FI_FENCE | FI_INJECT)},
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_COUNTED)},
	{"durable FI_INJECT, quiet",
	 .call = {CALL(WRITE, A, LINE, .flags = FI_COMMIT_COMPLETE | FI_INJECT,
		       .quiet = true),
		  CALL(WRITE, B, 8, LAST)}},
	{.name = NULL},
};
