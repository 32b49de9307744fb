/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: a subnet manager that begins anew. */
#include "world.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R35_after_a_restart_everything_is_joined_again)
{
	struct world_user *receiver, *sender;

	receiver = world_join(1, true, false);
	world_make(world_mgid(2));
	sender = world_join_and_serve(2, false, true);
	world_restart();
	CT_EXPECT_EQ(receiver->losses, 1);
	CT_EXPECT_EQ(receiver->err, -FI_ECONNRESET);
	CT_EXPECT_EQ(receiver->status, 0);
	/* Who sends goes on until it is known where to. */
	CT_EXPECT_EQ(sender->losses, 0);
	CT_EXPECT_EQ(sender->routes, 1);
	world_make(world_mgid(2));
	world_serve_all();
	CT_EXPECT_EQ(receiver->joins, 2);
	CT_EXPECT_EQ(receiver->record.mlid, world_find(world_mgid(1))->record.mlid);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(sender->joins, 1);
	CT_EXPECT_EQ(sender->routes, 2);
	CT_EXPECT_EQ(sender->to, world_find(world_mgid(2))->record.mlid);
	CT_EXPECT_EQ(world_find(world_mgid(2))->state, SEND_ONLY);
	world_leave(receiver);
	world_leave_and_serve(sender);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(world_find(world_mgid(2))->state, 0);
}

CT_TEST_F(groups, R35_a_route_that_is_the_same_afterwards_is_not_told)
{
	struct world_user *user = world_join_and_serve(1, false, true);

	world_restart_and_serve();
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
}

CT_TEST_F(groups, R35_answers_of_the_manager_before_count_for_nothing)
{
	struct world_request old[8];
	unsigned int count, i;
	struct pvb_mcm mcm;

	world_join(1, true, false);
	mcm = world_make(world_mgid(1))->record;
	count = w.requests;
	memcpy(old, w.request, sizeof(old));
	w.served = count;
	world_restart();
	CT_EXPECT_EQ(w.requests, count);
	for (i = 0; i < count; i++)
		world_answer(&old[i], 0, &mcm);
	CT_EXPECT_EQ(w.user[1].joins, 0);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(w.user[1].record.mlid, world_find(world_mgid(1))->record.mlid);
}

/* The new one may have done what the old one was asked for. */
CT_TEST_F(groups, R35_a_join_outstanding_at_a_restart_is_left_if_nobody_wants_it)
{
	struct world_request join;
	struct pvb_mcm mcm;

	world_join(1, true, false);
	world_serve(true);
	join = *world_next();
	w.served++;
	world_leave(&w.user[1]);
	world_restart();
	mcm = world_make(world_mgid(1))->record;
	world_find(world_mgid(1))->state = FULL;
	world_answer(&join, 0, &mcm);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_DELETE);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
}

CT_TEST_F(groups, R35_what_the_old_manager_was_to_leave_is_left)
{
	world_join_and_serve(1, true, false);
	w.served++;
	world_leave(&w.user[1]);
	world_restart();
	world_pass_and_serve(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.groups.count, 0);
}

static void spread_over(struct pvb_groups_config *config)
{
	config->spread_ms = 1000;
}

CT_TEST(groups, R35_groups_are_joined_again_one_after_the_other)
{
	const unsigned int count = 100;
	unsigned int i, ms, since, most = 0, steps = 0, sets;

	world_open_with(spread_over);
	for (i = 0; i < count; i++)
		world_join(i, true, false);
	world_serve_all();
	world_restart();
	since = w.requests;
	for (ms = 0; ms < 1000; ms += 50) {
		sets = world_count(0, PVB_SA_SET);
		world_pass_and_serve(50);
		sets = world_count(0, PVB_SA_SET) - sets;
		most = CRN_MAX(most, sets);
		steps += sets > 0;
	}
	CT_EXPECT_EQ(world_count(since, PVB_SA_SET), count);
	CT_EXPECT_LT(most, count / 4);
	CT_EXPECT_GT(steps, 10);
	for (i = 0; i < count; i++)
		CT_EXPECT_EQ(w.user[i].joins, 2);
	world_close();
}

CT_TEST(groups, R35_a_new_user_does_not_wait_until_its_group_is_joined_again)
{
	world_open_with(spread_over);
	world_join_and_serve(1, true, false);
	world_restart_and_serve();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	world_join_as_and_serve(2, world_mgid(1), true, false);
	CT_EXPECT_EQ(w.user[2].joins, 1);
	CT_EXPECT_EQ(w.user[1].joins, 2);
	world_close();
}

CT_TEST_F(groups, R35_a_manager_that_is_not_up_yet_is_asked_again_later)
{
	unsigned int since, i;
	struct world_user *user = world_join_and_serve(1, true, true);

	world_restart();
	w.silent = true;
	since = w.requests;
	/* Ten seconds: the pauses are 0.1 to 0.8 s, with 0.2 s of requests between. */
	for (i = 0; i < 200; i++)
		world_pass(50);
	CT_EXPECT_LT(w.requests - since, 80);
	CT_EXPECT_GT(w.requests - since, 20);
	CT_EXPECT_EQ(user->failures, 0);
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->routes, 1);
	w.silent = false;
	w.served = w.requests;
	for (i = 0; i < 30; i++) {
		world_pass_and_serve(50);
	}
	CT_EXPECT_EQ(user->joins, 2);
}

CT_TEST_F(groups, R35_a_manager_that_begins_anew_again_and_again_loses_no_group)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		world_join(i, i % 2, !(i % 3) || !(i % 2));
	for (i = 0; i < 50; i++) {
		if (w.served < w.requests)
			world_serve(i % 2);
		world_restart();
		world_pass(7);
	}
	w.served = w.requests;
	for (i = 0; i < 40; i++) {
		world_pass_and_serve(WORLD_WAIT_MS);
	}
	for (i = 0; i < 20; i++) {
		CT_EXPECT_TRUE(w.user[i].joined);
		CT_EXPECT_EQ(w.user[i].failures, 0);
		if (i % 2)
			CT_EXPECT_EQ(world_find(world_mgid(i))->state, FULL);
	}
}
