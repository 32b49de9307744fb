/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "flow/flow.h"

CT_TEST(credit, the_escape_slot_is_granted_first_and_again)
{
	struct rte_pool pool = {.size = 1, .free = 1};
	struct rte_inlet inlet;

	rte_inlet_open(&inlet, 4);
	CT_EXPECT_EQ(rte_inlet_grant(&inlet, &pool), RTE_ROOM_ESCAPE);
	CT_EXPECT_EQ(rte_inlet_grant(&inlet, &pool), RTE_ROOM_POOL);
	CT_EXPECT_EQ(rte_inlet_grant(&inlet, &pool), RTE_ROOM_NONE);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_ESCAPE), 0);
	/* While something is in it, it is nobody's. */
	CT_EXPECT_EQ(rte_inlet_grant(&inlet, &pool), RTE_ROOM_NONE);
	rte_inlet_empty(&inlet, RTE_ROOM_ESCAPE, &pool);
	CT_EXPECT_EQ(pool.free, 0);
	CT_EXPECT_EQ(rte_inlet_grant(&inlet, &pool), RTE_ROOM_ESCAPE);
}

CT_TEST(credit, without_a_pool_each_lane_has_one_slot)
{
	struct rte_pool pool = {0};
	struct rte_inlet one, other;

	rte_inlet_open(&one, 4);
	rte_inlet_open(&other, 4);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_ESCAPE);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_NONE);
	CT_EXPECT_EQ(rte_inlet_grant(&other, &pool), RTE_ROOM_ESCAPE);
}

CT_TEST(credit, a_lane_has_its_share_of_the_pool_at_most)
{
	struct rte_pool pool = {.size = 5, .free = 5};
	struct rte_inlet one, other;

	rte_inlet_open(&one, 2);
	rte_inlet_open(&other, 4);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_ESCAPE);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_POOL);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_POOL);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_NONE);
	/* Filled ones count. */
	CT_EXPECT_EQ(rte_inlet_fill(&one, RTE_ROOM_POOL), 0);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_NONE);
	CT_EXPECT_EQ(pool.free, 3);
	rte_inlet_empty(&one, RTE_ROOM_POOL, &pool);
	CT_EXPECT_EQ(pool.free, 4);
	CT_EXPECT_EQ(rte_inlet_grant(&one, &pool), RTE_ROOM_POOL);
	CT_EXPECT_EQ(rte_inlet_fill(&one, RTE_ROOM_POOL), 0);
	rte_inlet_close(&one, &pool);
	CT_EXPECT_EQ(pool.free, pool.size);
}

CT_TEST(credit, what_comes_without_a_slot_is_an_error)
{
	struct rte_pool pool = {.size = 1, .free = 1};
	struct rte_inlet inlet;

	rte_inlet_open(&inlet, 4);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_ESCAPE), -FI_EOVERRUN);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_POOL), -FI_EOVERRUN);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_NONE), -FI_EOVERRUN);
	CT_EXPECT_EQ(rte_inlet_grant(&inlet, &pool), RTE_ROOM_ESCAPE);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_POOL), -FI_EOVERRUN);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_ESCAPE), 0);
	CT_EXPECT_EQ(rte_inlet_fill(&inlet, RTE_ROOM_ESCAPE), -FI_EOVERRUN);
}

CT_TEST(credit, a_sender_sends_what_it_has_slots_for)
{
	struct rte_outlet outlet;

	rte_outlet_open(&outlet, 2);
	CT_EXPECT_EQ(rte_outlet_take(&outlet), RTE_ROOM_NONE);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_ESCAPE), 0);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_POOL), 0);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_POOL), 0);
	CT_EXPECT_EQ(rte_outlet_take(&outlet), RTE_ROOM_POOL);
	CT_EXPECT_EQ(rte_outlet_take(&outlet), RTE_ROOM_POOL);
	CT_EXPECT_EQ(rte_outlet_take(&outlet), RTE_ROOM_ESCAPE);
	CT_EXPECT_EQ(rte_outlet_take(&outlet), RTE_ROOM_NONE);
}

CT_TEST(credit, a_receiver_that_grants_too_much_is_an_error)
{
	struct rte_outlet outlet;

	rte_outlet_open(&outlet, 1);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_ESCAPE), 0);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_ESCAPE), -FI_EOVERRUN);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_POOL), 0);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_POOL), -FI_EOVERRUN);
	CT_EXPECT_EQ(rte_outlet_granted(&outlet, RTE_ROOM_NONE), -FI_EOVERRUN);
}
