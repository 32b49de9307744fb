/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: how who sends notices groups that appear and go, by reports and
 * by looking for them. */
#include "world_send.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R31_a_group_that_appears_is_sent_to_from_then_on)
{
	struct world_user *user;
	uint16_t mlid, routers;
	unsigned int since;

	routers = world_make_lid(world_routers());
	user = world_send_to(1);
	expect_route(user, routers, 0);
	since = w.requests;
	mlid = world_appear(world_mgid(1));
	CT_EXPECT_EQ(user->routes, 2);
	CT_EXPECT_EQ(user->losses, 0);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	CT_EXPECT_EQ(w.requests - since, 3);
}

CT_TEST_F(groups, R31_when_it_goes_its_datagrams_go_to_the_all_router_group_again)
{
	struct world_user *user;
	uint16_t routers = world_make_lid(world_routers());

	world_make_lid(world_mgid(1));
	user = world_send_to(1);
	world_vanish(world_mgid(1));
	expect_route(user, routers, 0);
	CT_EXPECT_EQ(user->routes, 2);
	world_vanish(world_routers());
	expect_route(user, 0, 0);
	routers = world_appear(world_routers());
	expect_route(user, routers, 0);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->losses, 0);
	world_leave_and_serve(user);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 1);
}

CT_TEST_F(groups, R31_the_order_and_number_of_reports_does_not_matter)
{
	struct world_user *user = world_send_to(1);
	uint16_t mlid = world_make_lid(world_mgid(1));

	world_report(66, world_mgid(1));
	world_report(67, world_mgid(1));
	world_report_and_serve(66, world_mgid(1));
	expect_route(user, mlid, 0);
	/* It has gone and come again before anybody looks. */
	world_unmake(world_mgid(1));
	mlid = world_make_lid(world_mgid(1));
	world_report(66, world_mgid(1));
	world_report_and_serve(67, world_mgid(1));
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
}

/* The answer is of the time before the report. */
CT_TEST_F(groups, R31_a_report_during_a_look_is_not_missed)
{
	struct world_request request;
	struct pvb_mcm mcm = {0};
	uint16_t mlid;
	struct world_user *user = world_send_to(1);

	world_report(66, world_mgid(1));
	request = *world_next();
	w.served++;
	mlid = world_make_lid(world_mgid(1));
	world_report(66, world_mgid(1));
	world_answer(&request, PVB_SA_NO_RECORDS, &mcm);
	world_serve_all();
	expect_route(user, mlid, 0);
}

CT_TEST_F(groups, R31_what_happened_before_the_subscription_is_looked_for)
{
	uint16_t mlid;
	struct world_user *user = world_send_to(1);

	world_restart_and_serve();
	mlid = world_make_lid(world_mgid(1));
	pvb_groups_subscribed(&w.groups, w.now);
	world_serve_all();
	expect_route(user, mlid, 0);
}

/* Nor is what happens while a look is outstanding. */
CT_TEST_F(groups, R31_a_look_from_before_the_subscription_is_repeated)
{
	struct pvb_mcm mcm = {0};
	uint16_t mlid;
	struct world_user *user = world_join_as(1, world_routers(), false, true);
	struct world_request request = *world_next();

	w.served = w.requests;
	mlid = world_make_lid(world_routers());
	pvb_groups_subscribed(&w.groups, w.now);
	world_answer(&request, PVB_SA_NO_RECORDS, &mcm);
	world_serve_all();
	world_pass_and_serve(WORLD_WAIT_MS);
	expect_route(user, mlid, 0);
}

static void look_often(struct pvb_groups_config *config)
{
	config->look_ms = 1000;
}

CT_TEST(groups, R31_without_reports_it_is_looked_for_now_and_then)
{
	struct world_user *user;
	uint16_t mlid;

	world_open_with(look_often);
	w.groups.subscribed = false;
	user = world_send_to(1);
	expect_route(user, 0, 0);
	mlid = world_make_lid(world_mgid(1));
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), 1000);
	world_pass_and_serve(1000);
	expect_route(user, mlid, 0);
	world_unmake(world_mgid(1));
	world_pass_and_serve(1000);
	expect_route(user, 0, 0);
	pvb_groups_subscribed(&w.groups, w.now);
	world_serve_all();
	world_pass(1000);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
	CT_EXPECT_EQ(w.served, w.requests);
	world_close();
}

/* Nobody has told that it went in between. */
CT_TEST(groups, R31_a_group_that_was_made_anew_is_joined_at_its_new_mlid)
{
	struct world_user *user;
	uint16_t mlid;

	world_open_with(look_often);
	w.groups.subscribed = false;
	world_make_lid(world_mgid(1));
	user = world_send_to(1);
	world_unmake(world_mgid(1));
	mlid = world_make_lid(world_mgid(1));
	world_pass_and_serve(1000);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	world_close();
}

CT_TEST_F(groups, R31_without_reports_a_new_user_makes_it_be_looked_for)
{
	struct world_user *user = world_send_to(1);
	uint16_t mlid = world_make_lid(world_mgid(1));

	world_join_as_and_serve(2, world_mgid(1), false, true);
	expect_route(user, 0, 0);
	w.groups.subscribed = false;
	world_join_as_and_serve(3, world_mgid(1), false, true);
	expect_route(user, mlid, 0);
	expect_route(&w.user[3], mlid, 0);
}

CT_TEST_F(groups, R31_a_group_that_appears_during_a_pause_is_not_waited_for)
{
	uint16_t mlid;
	struct world_user *user = world_send_to(1);

	world_make_lid(world_mgid(1));
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_report_and_serve(66, world_mgid(1));
	CT_EXPECT_EQ(user->losses, 1);
	w.refuse_method = 0;
	world_unmake(world_mgid(1));
	mlid = world_appear(world_mgid(1));
	CT_EXPECT_EQ(user->joins, 2);
	expect_route(user, mlid, 0);
}

/* What is asked for next gets lost, with all its repeats. */
static void lose_all(void)
{
	int i;

	for (i = 0; i < WORLD_TRIES; i++) {
		w.served = w.requests;
		world_pass(WORLD_WAIT_MS);
	}
	w.served = w.requests;
}

CT_TEST_F(groups, R31_a_look_that_is_lost_is_repeated)
{
	struct world_user *user = world_send_to(1);
	uint16_t mlid = world_make_lid(world_mgid(1));

	world_report(66, world_mgid(1));
	lose_all();
	expect_route(user, 0, 0);
	world_pass_and_serve(WORLD_AGAIN_MS);
	expect_route(user, mlid, 0);
}

CT_TEST_F(groups, R31_a_check_that_is_lost_is_repeated)
{
	struct world_group *group = world_make(world_mgid(1));
	struct world_user *user = world_send_to(1);

	/* As if it were made anew with the same MLID. */
	group->state = 0;
	world_report(67, world_mgid(1));
	world_serve(true);
	lose_all();
	CT_EXPECT_EQ(group->state, 0);
	world_pass_and_serve(WORLD_AGAIN_MS);
	CT_EXPECT_EQ(group->state, SEND_ONLY);
	expect_route(user, group->record.mlid, 0);
}
