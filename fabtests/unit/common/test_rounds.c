/* SPDX-License-Identifier: BSD-2-Clause */
/* cairn_test.h: how many of the random runs are made. */
#include <stdlib.h>
#include <cairn/compat.h>
#include "cairn_test.h"

CT_TEST(rounds, are_all_or_a_part_and_never_none)
{
	static const struct {
		const char *part;
		unsigned int most, expected;
	} rows[] = {
		{"10", 300, 30}, {"10", 299, 29}, {"10", 3, 1},
		{"1", 300, 300}, {"0", 300, 300}, {"", 300, 300},
	};
	const char *text = getenv("CT_PART");
	char *before = text ? strdup(text) : NULL;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("CT_PART=%s", rows[i].part);
		setenv("CT_PART", rows[i].part, 1);
		CT_EXPECT_EQ(ct_rounds(rows[i].most), rows[i].expected);
	}
	unsetenv("CT_PART");
	CT_EXPECT_EQ(ct_rounds(300), 300);
	if (before)
		setenv("CT_PART", before, 1);
	free(before);
}
