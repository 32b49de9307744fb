/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: memberships of who receives, those of other users and programs
 * of the port, and the leaving of what was joined. */
#include "world_receive.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R26_users_of_a_group_share_one_membership)
{
	struct world_user *first, *second;
	unsigned int since;

	first = world_join(1, true, false);
	second = world_join_as_and_serve(2, world_mgid(1), true, false);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
	CT_EXPECT_EQ(first->joins, 1);
	CT_EXPECT_EQ(second->joins, 1);
	since = w.requests;
	CT_EXPECT_EQ(world_join_as(3, world_mgid(1), true, false)->joins, 1);
	world_leave(first);
	world_leave(second);
	ASKS_NOTHING(since);
	world_leave(&w.user[3]);
	CT_ASSERT_EQ(w.requests, since + 1);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_DELETE);
}

/* Of what it is as a sender no state is told either, and it is nobody else's. */
CT_TEST_F(groups, R27_who_sends_and_receives_later_leaves_where_states_are_not_told)
{
	struct world_user *receiver;

	w.mute = true;
	world_make(world_mgid(1));
	world_join_and_serve(1, false, true);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	receiver = world_join_as_and_serve(2, world_mgid(1), true, false);
	CT_EXPECT_EQ(receiver->joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(w.user[1].routes, 1);
	CT_EXPECT_EQ(w.user[1].losses, 0);
	world_leave_and_serve(receiver);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	world_leave_and_serve(&w.user[1]);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
}

CT_TEST_F(groups, R26_a_membership_of_another_program_is_seen_by_who_sends)
{
	struct world_user *receiver;

	w.mute = true;
	world_make(world_mgid(1));
	world_join_and_serve(1, false, true);
	world_find(world_mgid(1))->state |= FULL;
	receiver = world_join_as_and_serve(2, world_mgid(1), true, false);
	world_leave(receiver);
	world_leave_and_serve(&w.user[1]);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state & FULL, FULL);
}

CT_TEST_F(groups, R26_a_membership_that_is_there_is_used_and_not_left)
{
	struct world_user *user;

	world_make(world_mgid(1))->state = FULL;
	user = world_join(1, true, false);
	expect_look();
	expect_check();
	CT_EXPECT_EQ(user->joins, 1);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 0);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
}

/* opensm tells the states of members to whom it trusts. */
CT_TEST_F(groups, R26_a_membership_of_an_untold_state_is_joined_and_not_left)
{
	struct world_user *user;

	w.mute = true;
	world_make(world_mgid(1))->state = SEND_ONLY;
	user = world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
}

CT_TEST_F(groups, R26_a_membership_in_another_state_is_joined_and_left)
{
	struct world_user *user;
	struct world_group *group = world_make(world_mgid(1));

	group->state = SEND_ONLY;
	user = world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(group->state, FULL | SEND_ONLY);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(group->state, SEND_ONLY);
}

static void check_members(struct pvb_groups_config *config)
{
	config->check_ms = 1000;
}

CT_TEST(groups, R26_a_membership_of_somebody_else_is_looked_after_and_taken_over)
{
	struct world_group *group;
	struct world_user *user;

	world_open_with(check_members);
	group = world_make(world_mgid(1));
	group->state = FULL;
	user = world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), 1000);
	world_pass(1000);
	CT_EXPECT_EQ(w.requests - w.served, 1);
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 0);
	group->state = 0;
	world_pass_and_serve(1000);
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->err, -FI_ECONNRESET);
	CT_EXPECT_EQ(user->joins, 2);
	CT_EXPECT_EQ(group->state, FULL);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(group->state, 0);
	world_close();
}

/* Somebody else's were there when we were not. */
CT_TEST_F(groups, R26_who_joins_again_checks_again)
{
	struct world_user *user;
	struct world_group *group = world_make(world_mgid(1));

	/* It keeps the group. */
	world_join_as(2, world_mgid(1), false, true);
	user = world_join_and_serve(1, true, false);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(group->state, SEND_ONLY);
	group->state |= FULL;
	user = world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(user->joins, 1);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(group->state, SEND_ONLY | FULL);
}

CT_TEST_F(groups, R27_who_leaves_deletes_what_was_joined)
{
	struct world_user *user = world_join_and_serve(1, true, false);
	unsigned int since = w.requests;

	world_leave(user);
	CT_ASSERT_EQ(w.requests, since + 1);
	expect_request(PVB_SA_DELETE,
		       PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE,
		       FULL);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.groups.leaves, 1);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
	world_leave(user);
}

CT_TEST_F(groups, R27_who_leaves_before_anything_was_joined_asks_for_no_more)
{
	world_leave_and_serve(world_join(1, true, false));
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 0);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.user[1].joins, 0);
}

CT_TEST_F(groups, R27_who_leaves_while_the_join_is_outstanding_leaves_when_it_is_answered)
{
	world_leave(world_join_half());
	CT_EXPECT_EQ(w.requests - w.served, 1);
	CT_EXPECT_FALSE(pvb_groups_idle(&w.groups));
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 1);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.user[1].joins, 0);
}

/* Nobody knows whether it was done. */
CT_TEST_F(groups, R27_a_join_that_is_not_answered_is_left)
{
	world_leave(world_join_half());
	world_serve(false);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_pass(WORLD_WAIT_MS);
	world_serve(false);
	world_pass_and_serve(WORLD_WAIT_MS);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 1);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(w.groups.count, 0);
}

CT_TEST_F(groups, R27_a_join_that_is_refused_is_not_left)
{
	world_leave(world_join_half());
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_REQ_INVALID;
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	CT_EXPECT_EQ(w.groups.count, 0);
}

CT_TEST_F(groups, R27_who_joins_again_while_leaving_is_joined_after_it)
{
	world_join_and_serve(1, true, false);
	world_leave(&w.user[1]);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_DELETE);
	world_join(1, true, false);
	CT_EXPECT_EQ(w.user[1].joins, 0);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_leave_and_serve(&w.user[1]);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
}

CT_TEST_F(groups, R27_who_joins_again_before_the_join_is_answered_needs_no_other)
{
	world_leave(world_join_half());
	world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
}

CT_TEST_F(groups, R27_leaving_is_given_up_when_nobody_answers)
{
	world_join_and_serve(1, true, false);
	w.silent = true;
	world_leave(&w.user[1]);
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.groups.count, 1);
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.groups.unanswered, 1);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
}
