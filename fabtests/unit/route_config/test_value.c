/* SPDX-License-Identifier: BSD-2-Clause */
#include "conf.h"
#include "config/value.h"

static const struct {
	const struct rte_unit *units;
	const char *text;
	uint64_t value;
	const char *printed; /* NULL: as it was read */
} right[] = {
	{rte_units_none, "0", 0, NULL},
	{rte_units_none, "18446744073709551615", UINT64_MAX, NULL},
	{rte_units_none, "007", 7, "7"},
	{rte_units_rate, "10G", 10000000000, NULL},
	{rte_units_rate, "2.5G", 2500000000, "2500M"},
	{rte_units_rate, "100", 100, NULL},
	{rte_units_rate, "0.001K", 1, "1"},
	{rte_units_rate, "1.6T", 1600000000000, "1600G"},
	{rte_units_rate, "18446744.0737095T", 18446744073709500000u,
	 "18446744073709500K"},
	{rte_units_rate, "1.0000000000G", 1000000000, "1G"},
	{rte_units_bytes, "256K", 262144, NULL},
	{rte_units_bytes, "1M", 1048576, NULL},
	{rte_units_bytes, "1.5M", 1572864, "1536K"},
	{rte_units_bytes, "4097", 4097, NULL},
	{rte_units_ns, "5us", 5000, NULL},
	{rte_units_ns, "2.5ms", 2500000, "2500us"},
	{rte_units_ns, "3s", 3000000000, NULL},
	{rte_units_ns, "0ns", 0, NULL},
	{rte_units_ms, "1500ms", 1500, NULL},
	{rte_units_ms, "2s", 2000, NULL},
	{rte_units_milli, "100", 100000, NULL},
	{rte_units_milli, "31.25", 31250, NULL},
	{rte_units_milli, "0.001", 1, NULL},
	{rte_units_milli, "0.050", 50, "0.05"},
};

CT_TEST(value, is_read_and_written_in_the_largest_unit_in_which_it_is_whole)
{
	char buf[RTE_VALUE_SIZE];
	uint64_t value;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		CT_NOTE("%s", right[i].text);
		CT_EXPECT_TRUE(rte_value_parse(right[i].text, right[i].units, &value));
		CT_EXPECT_EQ(value, right[i].value);
		CT_EXPECT_STREQ(rte_value_print(value, right[i].units, buf),
				right[i].printed ? right[i].printed : right[i].text);
	}
}

CT_TEST(value, that_is_none_is_refused)
{
	static const struct {
		const struct rte_unit *units;
		const char *text;
	} wrong[] = {
		{rte_units_none, ""},
		{rte_units_none, "-1"},
		{rte_units_none, "+1"},
		{rte_units_none, " 1"},
		{rte_units_none, "1 "},
		{rte_units_none, "0x10"},
		{rte_units_none, "1.5"},
		{rte_units_none, "18446744073709551616"},
		{rte_units_none, "99999999999999999999"},
		{rte_units_none, "1K"},
		{rte_units_rate, "10g"},
		{rte_units_rate, "10 G"},
		{rte_units_rate, "10Gb"},
		{rte_units_rate, "1.G"},
		{rte_units_rate, ".5G"},
		{rte_units_rate, "1.2345K"},
		{rte_units_rate, "1.00000000000000000000G"},
		{rte_units_rate, "18446745T"},
		{rte_units_rate, "18446744.0737096T"},
		{rte_units_ns, "5"},
		{rte_units_ns, "0"},
		{rte_units_ms, "1us"},
		{rte_units_milli, "0.0001"},
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CT_NOTE("%s", wrong[i].text);
		CT_EXPECT_FALSE(rte_value_parse(wrong[i].text, wrong[i].units, &value));
	}
}
