/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "orderings.h"

static const struct rlg_interval low = {2, 1, 3, 0.95}, high = {5, 4, 6, 0.95},
				 between = {3.5, 2.5, 4.5, 0.95};

CT_TEST(orderings, one_that_takes_less_is_so_only_without_overlap)
{
	const struct rlg_ordering less = {.text = "a < b"};

	CT_EXPECT_STREQ(rlg_verdict(&less, &low, &high), "holds");
	CT_EXPECT_STREQ(rlg_verdict(&less, &high, &low), "fails");
	CT_EXPECT_STREQ(rlg_verdict(&less, &low, &between), "undecided");
	CT_EXPECT_STREQ(rlg_verdict(&less, &between, &low), "undecided");
}

CT_TEST(orderings, two_that_take_the_same_time_overlap)
{
	const struct rlg_ordering same = {.text = "a = b", .same = true};

	CT_EXPECT_STREQ(rlg_verdict(&same, &low, &between), "holds");
	CT_EXPECT_STREQ(rlg_verdict(&same, &low, &high), "fails");
	CT_EXPECT_STREQ(rlg_verdict(&same, &high, &low), "fails");
}

CT_TEST(orderings, few_runs_decide_nothing)
{
	const struct rlg_ordering less = {.text = "a < b"};
	const struct rlg_interval few = {2, 2, 2, 0};

	CT_EXPECT_STREQ(rlg_verdict(&less, &few, &high), "undecided");
	CT_EXPECT_STREQ(rlg_verdict(&less, &high, &few), "undecided");
}

CT_TEST(orderings, each_compares_two_cases_of_one_kind)
{
	const struct rlg_ordering *ordering;

	for (ordering = rlg_orderings; ordering->text; ordering++) {
		CT_NOTE("%s", ordering->text);
		CT_EXPECT_FALSE(rlg_case_same(&ordering->a, &ordering->b));
		CT_EXPECT_STREQ(ordering->a.kind, ordering->b.kind);
	}
}
