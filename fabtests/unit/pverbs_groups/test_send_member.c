/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: as which member the port sends, with receivers or without, and
 * joins of who sends that fail. */
#include "world_send.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R28_a_member_sends_as_what_it_is)
{
	struct world_user *user = world_join_and_serve(1, true, true);

	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, user->record.mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
}

/* Of one that receives too, and is the last member. */
CT_TEST_F(groups, R29_when_the_receivers_leave_the_senders_change_over)
{
	struct world_user *sender, *receiver;
	uint16_t routers = world_make_lid(world_routers());

	sender = world_send_to(1);
	receiver = world_join_as_and_serve(2, world_mgid(1), true, false);
	expect_route(sender, receiver->record.mlid, 0);
	CT_EXPECT_EQ(sender->losses, 0);
	world_leave_and_serve(receiver);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	expect_route(sender, routers, 0);
}

CT_TEST_F(groups, R28_when_the_receivers_leave_the_port_goes_on_as_a_sender)
{
	struct world_user *sender, *receiver;
	uint16_t mlid = world_make_lid(world_mgid(1));

	receiver = world_join(1, true, false);
	sender = world_join_as_and_serve(2, world_mgid(1), false, true);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_leave_and_serve(receiver);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	expect_route(sender, mlid, 0);
	CT_EXPECT_EQ(sender->routes, 1);
	world_leave_and_serve(sender);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
}

CT_TEST_F(groups, R27_what_was_joined_for_senders_and_receivers_is_left_for_each)
{
	struct world_group *group = world_make(world_mgid(1));
	struct world_user *sender = world_send_to(1);

	world_join_as_and_serve(2, world_mgid(1), true, false);
	CT_EXPECT_EQ(group->state, FULL);
	world_leave_and_serve(sender);
	CT_EXPECT_EQ(group->state, FULL);
	CT_EXPECT_TRUE(w.user[2].joined);
	CT_EXPECT_EQ(w.user[2].losses, 0);
	world_leave_and_serve(&w.user[2]);
	CT_EXPECT_EQ(group->state, 0);
}

CT_TEST_F(groups, R24_a_group_that_cannot_be_used_is_not_sent_to)
{
	struct world_user *user;
	uint16_t routers = world_make_lid(world_routers());
	struct world_group *group = world_make(world_mgid(1));

	group->record.mtu--;
	user = world_send_to(1);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(group->state, 0);
	world_unmake(world_mgid(1));
	/* One that appears like that, later. */
	user = world_send_to(1);
	expect_route(user, routers, 0);
	group = world_make(world_mgid(1));
	group->record.mtu--;
	world_report_and_serve(66, world_mgid(1));
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(user->to, routers);
	CT_EXPECT_EQ(group->state, 0);
	/* It is tried again, and told of once. */
	world_pass_and_serve(WORLD_AGAIN_MS);
	CT_EXPECT_EQ(user->losses, 1);
	group->record.mtu++;
	world_pass_and_serve(2 * WORLD_AGAIN_MS);
	CT_EXPECT_EQ(user->joins, 2);
	expect_route(user, group->record.mlid, 0);
}

CT_TEST_F(groups, R28_a_join_that_is_refused_fails_who_only_sends)
{
	struct world_user *user;
	uint16_t mlid = world_make_lid(world_mgid(1));

	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_REQ_INVALID;
	user = world_send_to(1);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, -FI_EINVAL);
	CT_EXPECT_EQ(user->status, PVB_SA_REQ_INVALID);
	/* One that is joined already has it later. */
	w.refuse_method = 0;
	world_unmake(world_mgid(1));
	user = world_send_to(1);
	w.refuse_method = PVB_SA_SET;
	mlid = world_appear(world_mgid(1));
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->to, 0);
	w.refuse_method = 0;
	world_pass_and_serve(WORLD_AGAIN_MS);
	CT_EXPECT_EQ(user->joins, 2);
	expect_route(user, mlid, 0);
}

CT_TEST_F(groups, R26_who_sends_uses_a_membership_that_is_there)
{
	struct world_user *user;
	uint16_t mlid = world_make_lid(world_mgid(1));

	world_find(world_mgid(1))->state = SEND_ONLY;
	user = world_send_to(1);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 0);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
}
