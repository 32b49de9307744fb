/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: groups that who receives has lost, and the attempts to join them
 * again. */
#include "world_receive.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R35_a_group_that_is_deleted_is_lost_and_joined_again)
{
	struct world_user *user = world_join_and_serve(1, true, false);

	world_unmake(world_mgid(1));
	world_report_and_serve(67, world_mgid(1));
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->err, -FI_ECONNRESET);
	CT_EXPECT_EQ(user->joins, 2);
	CT_EXPECT_EQ(user->record.mlid, 0xc002);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
}

/* Deleted and made again before it was looked at, also with the same MLID. */
CT_TEST_F(groups, R35_a_group_that_was_made_anew_is_joined_again)
{
	struct world_group *group;
	struct world_user *user = world_join_and_serve(1, true, false);

	world_unmake(world_mgid(1));
	group = world_make(world_mgid(1));
	world_report_and_serve(67, world_mgid(1));
	CT_EXPECT_EQ(user->joins, 2);
	CT_EXPECT_EQ(group->state, FULL);
	group->state = 0;
	world_report_and_serve(67, world_mgid(1));
	CT_EXPECT_EQ(user->joins, 3);
	CT_EXPECT_EQ(group->state, FULL);
}

CT_TEST_F(groups, R31_reports_that_say_nothing_new_are_harmless)
{
	struct world_user *user = world_join_and_serve(1, true, false);
	unsigned int since = w.requests;

	/* Of our own joining. */
	world_report(66, world_mgid(1));
	/* Of others. */
	world_report(67, world_mgid(2));
	world_report(65, world_mgid(1));
	ASKS_NOTHING(since);
	/* Nothing was deleted. */
	world_report_and_serve(67, world_mgid(1));
	CT_EXPECT_EQ(user->losses, 0);
	CT_EXPECT_EQ(world_count(since, PVB_SA_SET), 0);
}

CT_TEST_F(groups, what_was_lost_is_tried_again_after_longer_and_longer_times)
{
	static const uint64_t pauses[] = {100, 200, 400, 800, 800};
	unsigned int since;
	size_t i;
	struct world_user *user = world_join_and_serve(1, true, false);

	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_unmake(world_mgid(1));
	world_report_and_serve(67, world_mgid(1));
	CT_EXPECT_EQ(user->losses, 1);
	for (i = 0; i < CRN_COUNT(pauses); i++) {
		since = w.requests;
		CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), pauses[i]);
		world_pass(pauses[i] - 1);
		ASKS_NOTHING(since);
		world_pass_and_serve(1);
		CT_EXPECT_EQ(world_count(since, PVB_SA_SET), 1);
	}
	CT_EXPECT_EQ(user->failures, 0);
	CT_EXPECT_EQ(user->losses, 1);
	w.refuse_method = 0;
	world_pass_and_serve(800);
	CT_EXPECT_EQ(user->joins, 2);
	/* And begins with the least again. */
	w.refuse_method = PVB_SA_SET;
	world_unmake(world_mgid(1));
	world_report_and_serve(67, world_mgid(1));
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), 100);
}

/* Whoever comes meanwhile does not wait for it, and is told when that fails. */
CT_TEST_F(groups, a_new_user_of_a_group_that_failed_makes_an_attempt)
{
	struct world_user *user;

	world_join_and_serve(1, true, false);
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_unmake(world_mgid(1));
	world_report_and_serve(67, world_mgid(1));
	user = world_join_as_and_serve(2, world_mgid(1), true, false);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, -FI_ENOSPC);
	CT_EXPECT_EQ(w.user[1].losses, 1);
	w.refuse_method = 0;
	world_join_as_and_serve(2, world_mgid(1), true, false);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(w.user[1].joins, 2);
}
