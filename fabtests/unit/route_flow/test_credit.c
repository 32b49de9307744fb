/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "flow/flow.h"

CT_TEST(inlet, takes_what_its_sender_has_credits_for)
{
	struct rte_inlet inlet;

	rte_inlet_open(&inlet, 2);
	CT_EXPECT_TRUE(rte_inlet_fill(&inlet));
	CT_EXPECT_TRUE(rte_inlet_fill(&inlet));
	CT_EXPECT_FALSE(rte_inlet_fill(&inlet));
	rte_inlet_empty(&inlet);
	/* It has not been told yet. */
	CT_EXPECT_FALSE(rte_inlet_fill(&inlet));
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 1);
	CT_EXPECT_TRUE(rte_inlet_fill(&inlet));
	CT_EXPECT_FALSE(rte_inlet_fill(&inlet));
}

CT_TEST(credit, a_sender_sends_what_there_are_receives_for)
{
	struct rte_outlet outlet;

	rte_outlet_open(&outlet, 2);
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_FALSE(rte_outlet_take(&outlet));
	CT_EXPECT_TRUE(rte_outlet_told(&outlet, 1));
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_FALSE(rte_outlet_take(&outlet));
}

CT_TEST(credit, what_was_not_sent_needs_none)
{
	struct rte_outlet outlet;

	rte_outlet_open(&outlet, 1);
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	rte_outlet_undo(&outlet);
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_FALSE(rte_outlet_take(&outlet));
}

CT_TEST(credit, more_than_there_are_receives_is_an_error)
{
	struct rte_outlet outlet;

	rte_outlet_open(&outlet, 3);
	CT_EXPECT_TRUE(rte_outlet_told(&outlet, 0));
	CT_EXPECT_FALSE(rte_outlet_told(&outlet, 1));
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_FALSE(rte_outlet_told(&outlet, 3));
	CT_EXPECT_FALSE(rte_outlet_told(&outlet, UINT8_MAX));
	CT_EXPECT_TRUE(rte_outlet_told(&outlet, 2));
}

CT_TEST(credit, each_is_told_once)
{
	struct rte_inlet inlet;

	rte_inlet_open(&inlet, 4);
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 0);
	rte_inlet_empty(&inlet);
	rte_inlet_empty(&inlet);
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 2);
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 0);
}

CT_TEST(credit, a_header_tells_of_255_at_most)
{
	struct rte_inlet inlet;
	int i;

	rte_inlet_open(&inlet, 4096);
	for (i = 0; i < 300; i++)
		rte_inlet_empty(&inlet);
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 255);
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 45);
	CT_EXPECT_EQ(rte_inlet_tell(&inlet), 0);
}

CT_TEST(credit, half_of_them_are_told_without_delay)
{
	static const struct {
		uint32_t receives, most; /* that are due, and may wait */
	} rows[] = {{1, 0}, {2, 0}, {3, 0}, {4, 1}, {5, 1}, {12, 5}, {4096, 2047}};
	struct rte_inlet inlet;
	uint32_t i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%u receives", rows[i].receives);
		rte_inlet_open(&inlet, rows[i].receives);
		CT_EXPECT_FALSE(rte_inlet_overdue(&inlet));
		for (k = 0; k < rows[i].most; k++) {
			rte_inlet_empty(&inlet);
			CT_EXPECT_FALSE(rte_inlet_overdue(&inlet));
		}
		rte_inlet_empty(&inlet);
		CT_EXPECT_TRUE(rte_inlet_overdue(&inlet));
		rte_inlet_tell(&inlet);
	}
}

CT_TEST(credit, more_receives_are_more_credits)
{
	struct rte_outlet outlet;
	struct rte_inlet inlet;

	rte_inlet_open(&inlet, 1);
	rte_outlet_open(&outlet, 1);
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_TRUE(rte_inlet_fill(&inlet));
	rte_inlet_more(&inlet, 3);
	CT_EXPECT_TRUE(rte_outlet_more(&outlet, 3));
	CT_EXPECT_EQ(outlet.credits, 3);
	CT_EXPECT_EQ(inlet.credits, 3);
	CT_EXPECT_TRUE(rte_outlet_told(&outlet, 1));
	CT_EXPECT_FALSE(rte_outlet_told(&outlet, 1));
	CT_EXPECT_FALSE(rte_outlet_more(&outlet, 4093));
	CT_EXPECT_TRUE(rte_outlet_more(&outlet, 4092));
}

CT_TEST(credit, all_but_one_are_given_back_as_they_are_free)
{
	struct rte_outlet outlet;
	struct rte_inlet inlet;

	rte_inlet_open(&inlet, 3);
	rte_outlet_open(&outlet, 3);
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_TRUE(rte_outlet_take(&outlet));
	CT_EXPECT_TRUE(rte_inlet_fill(&inlet));
	CT_EXPECT_TRUE(rte_inlet_fill(&inlet));
	CT_EXPECT_FALSE(rte_inlet_given(&inlet));
	CT_EXPECT_EQ(rte_inlet_ask(&inlet, 12), 2);
	CT_EXPECT_EQ(rte_inlet_ask(&inlet, 12), 0);
	CT_EXPECT_FALSE(rte_outlet_asked(&outlet, 3));
	CT_EXPECT_TRUE(rte_outlet_asked(&outlet, 2));
	CT_EXPECT_FALSE(rte_outlet_asked(&outlet, 1));
	CT_EXPECT_TRUE(rte_outlet_give(&outlet));
	CT_EXPECT_FALSE(rte_outlet_give(&outlet));
	CT_EXPECT_TRUE(rte_inlet_given(&inlet));
	CT_EXPECT_FALSE(rte_inlet_given(&inlet));
	rte_inlet_empty(&inlet);
	CT_EXPECT_TRUE(rte_outlet_told(&outlet, rte_inlet_tell(&inlet)));
	CT_EXPECT_TRUE(rte_outlet_give(&outlet));
	CT_EXPECT_TRUE(rte_inlet_given(&inlet));
	CT_EXPECT_EQ(inlet.receives, 1);
	CT_EXPECT_EQ(outlet.receives, 1);
	/* One of them is filled still. */
	CT_EXPECT_EQ(outlet.credits, 0);
	CT_EXPECT_FALSE(rte_outlet_give(&outlet));
}
