/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "stats.h"

CT_TEST(stats, a_percentile_is_the_smallest_that_so_many_do_not_exceed)
{
	uint64_t sample[1000];

	for (unsigned int i = 0; i < 1000; i++)
		sample[i] = 1000 - i;
	rlg_sort(sample, 1000);
	CT_EXPECT_EQ(rlg_percentile(sample, 1000, 500), 500u);
	CT_EXPECT_EQ(rlg_percentile(sample, 1000, 990), 990u);
	CT_EXPECT_EQ(rlg_percentile(sample, 1000, 999), 999u);
	CT_EXPECT_EQ(rlg_percentile(sample, 1000, 1000), 1000u);
	CT_EXPECT_EQ(rlg_percentile(sample, 1, 999), 1u);
	CT_EXPECT_EQ(rlg_percentile(sample, 10, 990), 10u);
}

CT_TEST(stats, of_an_even_number_the_lower_middle_is_the_median)
{
	uint64_t sample[] = {4, 1, 3, 2};

	CT_EXPECT_EQ(rlg_median(sample, 4), 2u);
}

CT_TEST(stats, few_figures_lie_between_the_smallest_and_the_largest)
{
	double value[] = {3, 1, 2, 5, 4};
	const struct rlg_interval got = rlg_interval(value, 5);

	CT_EXPECT_TRUE(got.median == 3 && got.from == 1 && got.to == 5);
	/* 1 - 2 / 2^5 */
	CT_EXPECT_TRUE(got.confidence > 0.937 && got.confidence < 0.938);
}

CT_TEST(stats, an_interval_is_that_of_the_sign_test)
{
	double value[30];
	struct rlg_interval got;

	for (int i = 0; i < 30; i++)
		value[i] = i + 1;
	got = rlg_interval(value, 30);
	/* Tables of the sign test: the 10th and the 21st of 30, 0.957. */
	CT_EXPECT_TRUE(got.median == 15.5);
	CT_EXPECT_TRUE(got.from == 10 && got.to == 21);
	CT_EXPECT_TRUE(got.confidence > 0.957 && got.confidence < 0.958);
}
