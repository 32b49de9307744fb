/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "flow/flow.h"

CT_TEST(rules, responses_wait_for_slots_of_their_lane_and_nothing_else)
{
	enum rte_flow_place place;
	enum rte_flow_kind kind;

	for (kind = 0; kind < RTE_FLOW_KINDS; kind++) {
		if (rte_flow_lane(kind) != RTE_FLOW_RESPONSES)
			continue;
		CT_NOTE("kind %u", kind);
		for (place = 0; place < RTE_FLOW_PLACES; place++)
			CT_EXPECT_EQ(rte_flow_needs(kind, place) & ~RTE_FLOW_SLOT, 0);
		CT_EXPECT_EQ(rte_flow_needs(kind, RTE_FLOW_END), 0);
	}
}

CT_TEST(rules, only_a_message_waits_for_a_receive_and_only_at_the_end)
{
	enum rte_flow_place place;
	enum rte_flow_kind kind;

	for (kind = 0; kind < RTE_FLOW_KINDS; kind++)
		for (place = 0; place < RTE_FLOW_PLACES; place++)
			CT_EXPECT_EQ(rte_flow_needs(kind, place) & RTE_FLOW_RECEIVE,
				     kind == RTE_FLOW_MSG && place == RTE_FLOW_END
					     ? RTE_FLOW_RECEIVE
					     : 0);
}

CT_TEST(rules, the_last_router_has_room_for_an_answer_before_it_acts)
{
	enum rte_flow_kind kind;

	for (kind = 0; kind < RTE_FLOW_KINDS; kind++)
		CT_EXPECT_EQ(!(rte_flow_needs(kind, RTE_FLOW_LAST) & RTE_FLOW_ANSWER),
			     rte_flow_lane(kind) == RTE_FLOW_RESPONSES);
	CT_EXPECT_EQ(rte_flow_lane(RTE_FLOW_MSG), RTE_FLOW_REQUESTS);
	CT_EXPECT_EQ(rte_flow_lane(RTE_FLOW_WRITE), RTE_FLOW_REQUESTS);
	CT_EXPECT_EQ(rte_flow_lane(RTE_FLOW_READ_REQ), RTE_FLOW_REQUESTS);
}
