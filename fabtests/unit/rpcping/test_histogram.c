/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "cairn_test.h"
#include "histogram.h"

static struct png_histogram times;

static void begin(void)
{
	memset(&times, 0, sizeof(times));
}

CT_TEST(rpcping_histogram, without_times_all_is_zero)
{
	begin();
	CT_EXPECT_EQ(png_percentile(&times, 500), 0);
	CT_EXPECT_EQ(png_percentile(&times, 1000), 0);
	CT_EXPECT_EQ(png_mean(&times), 0);
}

/* The nearest rank: the smallest time that so many are not above. */
CT_TEST(rpcping_histogram, short_times_are_exact)
{
	begin();
	for (uint64_t ns = 1; ns <= 200; ns++)
		png_histogram_add(&times, ns);
	CT_EXPECT_EQ(png_percentile(&times, 500), 100);
	CT_EXPECT_EQ(png_percentile(&times, 900), 180);
	CT_EXPECT_EQ(png_percentile(&times, 990), 198);
	CT_EXPECT_EQ(png_percentile(&times, 999), 200);
	CT_EXPECT_EQ(png_percentile(&times, 1), 1);
	CT_EXPECT_EQ(times.least, 1);
	CT_EXPECT_EQ(times.most, 200);
	CT_EXPECT_EQ(png_mean(&times), 100);
	begin();
	png_histogram_add(&times, 1000);
	png_histogram_add(&times, 4000);
	CT_EXPECT_EQ(png_mean(&times), 2500);
}

/* Of any time, alone below one that is larger: never too low, 1/128 too high at most. */
CT_TEST(rpcping_histogram, a_percentile_is_within_its_class)
{
	static const int64_t around[] = {-1, 0, 1};
	uint64_t ns, got;

	for (unsigned int bit = 1; bit < 63; bit++) {
		for (unsigned int i = 0; i < 6; i++) {
			ns = (i < 3 ? UINT64_C(1) << bit : UINT64_C(3) << (bit - 1)) +
			     (uint64_t)around[i % 3];
			begin();
			png_histogram_add(&times, ns);
			png_histogram_add(&times, UINT64_MAX);
			got = png_percentile(&times, 500);
			CT_NOTE("%llu", (unsigned long long)ns);
			CT_EXPECT_TRUE(got >= ns);
			CT_EXPECT_TRUE(got - ns <= ns / 128);
			CT_EXPECT_EQ(png_percentile(&times, 1000), UINT64_MAX);
		}
	}
}

CT_TEST(rpcping_histogram, no_percentile_is_above_the_largest_time)
{
	begin();
	png_histogram_add(&times, 1000001);
	CT_EXPECT_EQ(png_percentile(&times, 500), 1000001);
	CT_EXPECT_EQ(png_percentile(&times, 999), 1000001);
	CT_EXPECT_EQ(times.least, 1000001);
}
