/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "map.h"
#include "topo.h"

#define PAIRS 4000u

CT_TEST(map, keeps_what_was_added_and_not_removed)
{
	struct rte_map map = {0};
	uint32_t i, seed = 1;

	CT_EXPECT_EQ(rte_map_get(&map, 1, 2), RTE_NONE);
	for (i = 0; i < PAIRS; i++)
		CT_ASSERT_EQ(rte_map_add(&map, i % 7, i / 7, i), 0);
	for (i = 0; i < PAIRS; i++) {
		seed = seed * 1664525u + 1013904223u;
		if (seed >> 31)
			rte_map_del(&map, i % 7, i / 7);
	}
	rte_map_del(&map, 7, 1);
	for (i = 0, seed = 1; i < PAIRS; i++) {
		seed = seed * 1664525u + 1013904223u;
		CT_ASSERT_EQ(rte_map_get(&map, i % 7, i / 7), seed >> 31 ? RTE_NONE : i);
	}
	rte_map_free(&map);
}
