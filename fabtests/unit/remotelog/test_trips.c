/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "trips.h"

/* From the tables of the taxonomy: round trips, two latencies each where a message asks.
 */
/* clang-format off */
static const struct {
	struct rlg_case is;
	unsigned int latencies;
} cases[] = {
	{{"dmp", "on", "off", "singleton", "write", "auto"}, 2},
	{{"dmp", "on", "off", "compound", "write", "auto"}, 2},	/* E2 */
	{{"dmp", "on", "on", "singleton", "write", "auto"}, 1},	/* E1 */
	{{"dmp", "on", "on", "compound", "write", "auto"}, 1},
	{{"dmp", "off", "off", "singleton", "write", "auto"}, 1},
	{{"dmp", "off", "off", "compound", "write", "auto"}, 2}, /* E3 */
	{{"dmp", "off", "on", "compound", "write", "auto"}, 1},	/* W F AW F */
	{{"mhp", "on", "off", "compound", "write", "auto"}, 1},
	{{"wsp", "off", "off", "compound", "writedata", "auto"}, 1},
	{{"dmp", "on", "off", "compound", "writedata", "auto"}, 4},
	{{"dmp", "on", "off", "compound", "send", "rpc"}, 2},
	{{"dmp", "on", "off", "compound", "write", "rpc"}, 4},
	{{"mhp", "on", "off", "compound", "write", "pipeline"}, 1},
	{{"dmp", "off", "off", "compound", "write", "read"}, 2},
	{{"dmp", "off", "off", "compound", "write", "librpma"}, 2},
	{{"wsp", "on", "off", "compound", "write", "message"}, 2},
	{{"wsp", "on", "off", "singleton", "send", "auto"}, 2},
};
/* clang-format on */

CT_TEST(trips, an_append_takes_the_round_trips_of_the_tables)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CT_NOTE("%zu", i);
		CT_EXPECT_EQ(rlg_trips(&cases[i].is), cases[i].latencies);
	}
}

CT_TEST(trips, what_depends_on_librpmas_version_is_not_judged)
{
	const struct rlg_case is = {"dmp", "off", "on", "compound", "write", "librpma"};

	CT_EXPECT_EQ(rlg_trips(&is), 0);
}
