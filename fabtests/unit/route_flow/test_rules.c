/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "flow/flow.h"

CT_TEST(rules, responses_wait_for_slots_of_their_lane_and_nothing_else)
{
	enum rte_flow_place place;
	uint8_t type;

	for (type = 0; type < RTE_TYPES; type++) {
		if (rte_message_lane(type) != RTE_RESPONSES)
			continue;
		CT_NOTE("%s", rte_message_name(type));
		for (place = 0; place < RTE_FLOW_PLACES; place++)
			CT_EXPECT_EQ(rte_flow_needs(type, place) & ~RTE_FLOW_SLOT, 0);
		CT_EXPECT_EQ(rte_flow_needs(type, RTE_FLOW_END), 0);
	}
}

CT_TEST(rules, only_a_message_waits_for_a_receive_and_only_at_the_end)
{
	enum rte_flow_place place;
	unsigned int type;

	for (type = 0; type <= UINT8_MAX; type++)
		for (place = 0; place < RTE_FLOW_PLACES; place++)
			CT_EXPECT_EQ(rte_flow_needs((uint8_t)type, place) &
					     RTE_FLOW_RECEIVE,
				     type == RTE_MSG && place == RTE_FLOW_END
					     ? RTE_FLOW_RECEIVE
					     : 0);
}

CT_TEST(rules, the_last_router_has_room_for_an_answer_before_it_acts)
{
	uint8_t type;

	for (type = 0; type < RTE_TYPES; type++)
		CT_EXPECT_EQ(!(rte_flow_needs(type, RTE_FLOW_LAST) & RTE_FLOW_ANSWER),
			     rte_message_lane(type) != RTE_REQUESTS);
}
