/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages and writes with data with FI_COMMIT_COMPLETE, and what recovery finds of them.
 */
#include "expect.h"

const struct scenario scenarios_message[] = {
	{"durable compound, b announced",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST),
		  CALL(SEND, 0, 8)}},
	{"durable fi_writedata", .call = {CALL(WRITEDATA, A, 2 * LINE, DURABLE)},
	 .fits = fits_has_data},
	{"durable fi_writedata of nothing, outside",
	 .call = {CALL(WRITEDATA, OUTSIDE, 0, DURABLE)}, BOTH, .fits = fits_has_data},
	{"durable fi_writedata, compound",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITEDATA, B, 8, LAST)},
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_SHARED), .fits = fits_has_data},
	{"durable fi_writedata, a not durable",
	 .call = {CALL(WRITE, A, LINE), CALL(WRITEDATA, B, 8, LAST)}, BOTH,
	 .fits = fits_has_data},
	{"durable fi_send", .call = {CALL(SEND, 0, 80, DURABLE)},
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_SHARED),
	 .expect = expect_durable_message},
	{"durable fi_send, compound",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(SEND, 0, 8, LAST)},
	 .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_SHARED),
	 .expect = expect_durable_message},
	{"durable fi_send, two connections share receives",
	 .call = {CALL(SEND, 0, 8, DURABLE), CALL(SEND, 0, 8, DURABLE, .pair = 1)},
	 .special = BIT(SPECIAL_SHARED), .fits = fits_flush_data,
	 .expect = expect_durable_message},
	{"durable fi_writedata, two connections share receives",
	 .call = {CALL(WRITEDATA, A, 8, DURABLE),
		  CALL(WRITEDATA, B, 8, DURABLE, .pair = 1)},
	 .special = BIT(SPECIAL_SHARED), .fits = fits_flush_data},
	{.name = NULL},
};
