/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges that are not taken together: of a region, far from each other (SPECIAL_WIDE), of
 * two regions (SPECIAL_REGIONS: what is below B, and what is not), and of two about which
 * different things are known (SPECIAL_MIXED).
 */
#include "expect.h"

#define WIDE .special = BIT(SPECIAL_WIDE)
#define REGIONS .special = BIT(SPECIAL_REGIONS) | BIT(SPECIAL_MIXED)
#define MIXED .special = BIT(SPECIAL_MIXED)
#define QUIET .flags = FI_COMMIT_COMPLETE, .quiet = true
#define A2 (A + 2 * LINE)

const struct scenario scenarios_regions[] = {
	{"durable compound, a two ranges apart",
	 .call = {CALL(WRITE, A, LINE), CALL(WRITE, FAR, LINE), CALL(WRITE, B, 8, LAST)},
	 WIDE},
	{"durable barrier, a two ranges apart",
	 .call = {CALL(WRITE, A, 8), CALL(WRITE, FAR, 8), CALL(WRITE, B, 0, LAST)}, WIDE},
	{"durable compound, a two ranges apart and quiet",
	 .call = {CALL(WRITE, A, LINE, QUIET), CALL(WRITE, FAR, LINE, QUIET),
		  CALL(WRITE, B, 8, LAST)},
	 WIDE, .fits = fits_fast},
	{"fence, two ranges apart and quiet",
	 .call = {CALL(WRITE, A, 8, QUIET), CALL(WRITE, FAR, 8, QUIET),
		  CALL(WRITE, B, 8, .flags = FI_FENCE)},
	 WIDE},
	{"durable group, two ranges apart",
	 .call = {CALL(WRITE, A, LINE, MORE), CALL(WRITE, FAR, LINE, DURABLE)}, WIDE,
	 .fits = fits_groups},
	{"durable compound, of two regions",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, 8, LAST)}, REGIONS},
	{"durable compound, a of the second region",
	 .call = {CALL(WRITE, B, LINE, DURABLE), CALL(WRITE, A, 8, LAST)}, MIXED},
	{"durable compound, of two regions, a not durable",
	 .call = {CALL(WRITE, A, LINE), CALL(WRITE, B, 8, LAST)}, REGIONS},
	{"durable compound, a of the second region and not durable",
	 .call = {CALL(WRITE, B, LINE), CALL(WRITE, A, 8, LAST)}, MIXED},
	{"durable compound, a of two regions and not durable",
	 .call = {CALL(WRITE, A, 8), CALL(WRITE, B, 8), CALL(WRITE, A2, 8, LAST)},
	 REGIONS},
	{"durable compound, a of two regions",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, B, LINE, DURABLE),
		  CALL(WRITE, A2, 8, LAST)},
	 REGIONS, .fits = fits_fast},
	{"durable group, of two regions",
	 .call = {CALL(WRITE, A, LINE, MORE), CALL(WRITE, B, LINE, DURABLE)}, REGIONS,
	 .fits = fits_groups},
	{"durable group, the second region between",
	 .call = {CALL(WRITE, A, 8, MORE), CALL(WRITE, B, 8, MORE),
		  CALL(WRITE, A2, 8, DURABLE)},
	 REGIONS, .fits = fits_groups},
	{"cached write and word, the second region between",
	 .call = {CALL(WRITE, A, LINE, DURABLE), CALL(WRITE, A2, 8, LAST),
		  CALL(WRITE, B, 8, DURABLE), CALL(WRITE, A + LINE, LINE, DURABLE),
		  CALL(WRITE, A2 + LINE, 8, LAST)},
	 REGIONS, .first = 2, .fits = fits_short_word},
	{"durable, two connections to two regions",
	 .call = {CALL(WRITE, A, 8, DURABLE), CALL(WRITE, B, 8, DURABLE, .pair = 1)},
	 MIXED},
	{"durable compound, the other connection's peer has no sequence word",
	 .call = {CALL(WRITE, A, LINE, DURABLE, .pair = 1),
		  CALL(WRITE, B, 8, LAST, .pair = 1)},
	 MIXED},
	{.name = NULL},
};
