/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: where datagrams go, to the group, to the all-router group, to
 * both or nowhere. */
#include "world_send.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R28_a_group_that_exists_is_sent_to_at_its_mlid)
{
	uint16_t mlid = world_make_lid(world_mgid(1));
	struct world_user *user = world_send_to(1);

	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(user->to_record.sl, 2);
	CT_EXPECT_EQ(user->to_record.qkey, WORLD_QKEY);
}

CT_TEST_F(groups, R28_who_only_sends_creates_none_and_is_no_full_member)
{
	unsigned int i;

	world_make_lid(world_mgid(1));
	world_send_to(1);
	world_send_to(2);
	for (i = 0; i < w.requests; i++)
		CT_EXPECT_EQ(w.request[i].mcm.join_state & ~SEND_ONLY, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	CT_EXPECT_EQ(world_find(world_mgid(2)), NULL);
	CT_EXPECT_EQ(world_find(world_routers()), NULL);
}

CT_TEST_F(groups, R29_what_is_for_an_absent_group_goes_to_the_all_router_group)
{
	uint16_t routers = world_make_lid(world_routers());
	struct world_user *user = world_send_to(1);

	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, routers, 0);
	CT_EXPECT_MEMEQ(user->to_record.mgid, world_routers(), 16);
	CT_EXPECT_EQ(world_find(world_routers())->state, SEND_ONLY);
}

CT_TEST_F(groups, R29_each_family_has_its_all_router_group)
{
	struct in6_addr addr = {{{0xff, 2, [15] = 2}}};
	uint8_t routers[16], mgid[16];
	struct world_user *user;
	uint16_t mlid;

	world_make_lid(world_routers());
	CT_ASSERT_EQ(pvb_mc_map6(&w.link.map, &addr, routers), 0);
	mlid = world_make_lid(routers);
	addr.s6_addr[15] = 9;
	CT_ASSERT_EQ(pvb_mc_map6(&w.link.map, &addr, mgid), 0);
	user = world_join_as_and_serve(1, mgid, false, true);
	expect_route(user, mlid, 0);
}

CT_TEST_F(groups, R30_without_an_all_router_group_it_is_dropped)
{
	struct world_user *user = world_send_to(1);

	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, 0, 0);
}

CT_TEST_F(groups, R30_all_routers_themselves_may_be_nobody)
{
	struct world_user *user;
	uint16_t mlid;

	user = world_join_as_and_serve(1, world_routers(), false, true);
	CT_EXPECT_EQ(user->joins, 1);
	expect_route(user, 0, 0);
	mlid = world_appear(world_routers());
	expect_route(user, mlid, 0);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(world_find(world_routers())->state, 0);
}

CT_TEST_F(groups, R24_all_routers_whose_group_cannot_be_used_are_none)
{
	struct world_user *user;

	world_make(world_routers())->record.qkey++;
	user = world_send_to(1);
	CT_EXPECT_EQ(user->joins, 1);
	expect_route(user, 0, 0);
	CT_EXPECT_EQ(user->failures, 0);
}

CT_TEST_F(groups, R29_an_all_router_group_that_nobody_tells_of_is_none_until_it_is_there)
{
	uint16_t routers = world_make_lid(world_routers());
	struct world_user *user = world_join(1, false, true);

	/* The look for it gets lost. */
	w.served = 1;
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 0);
	world_pass(WORLD_WAIT_MS);
	w.served = w.requests;
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(user->joins, 1);
	expect_route(user, 0, 0);
	world_pass_and_serve(WORLD_AGAIN_MS);
	expect_route(user, routers, 0);
}

static void copy_all(struct pvb_groups_config *config)
{
	config->copy = true;
}

CT_TEST(groups, R32_a_copy_goes_to_the_all_router_group)
{
	struct world_user *user;
	uint16_t mlid, routers;

	world_open_with(copy_all);
	routers = world_make_lid(world_routers());
	mlid = world_make_lid(world_mgid(1));
	user = world_send_to(1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, mlid, routers);
	world_vanish(world_routers());
	expect_route(user, mlid, 0);
	routers = world_appear(world_routers());
	expect_route(user, mlid, routers);
	world_vanish(world_mgid(1));
	expect_route(user, routers, 0);
	world_close();
}

CT_TEST(groups, R32_what_is_for_all_routers_has_no_copy)
{
	struct world_user *user;
	uint16_t routers;

	world_open_with(copy_all);
	routers = world_make_lid(world_routers());
	user = world_join_as_and_serve(1, world_routers(), true, true);
	expect_route(user, routers, 0);
	world_close();
}

CT_TEST(groups, R32_the_first_route_has_its_copy)
{
	struct world_user *user;
	uint16_t mlid, routers;

	world_open_with(copy_all);
	routers = world_make_lid(world_routers());
	mlid = world_make_lid(world_mgid(1));
	user = world_join(1, true, true);
	/* All but the look for the all-router group, which was asked first. */
	w.served++;
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 0);
	CT_EXPECT_EQ(user->routes, 0);
	world_pass_and_serve(WORLD_WAIT_MS);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, mlid, routers);
	world_close();
}
