/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: who sends. */
#include "world.h"

static struct world_user *send_to(unsigned int n)
{
	struct world_user *user = world_join(n, false, true);

	world_serve_all();
	return user;
}

static void expect_route(const struct world_user *user, uint16_t to, uint16_t copy)
{
	CT_EXPECT_TRUE(user->joined);
	CT_EXPECT_EQ(user->to, to);
	CT_EXPECT_EQ(user->copy, copy);
}

static uint16_t make(const uint8_t mgid[16])
{
	return world_make(mgid)->record.mlid;
}

/* And it is reported. */
static uint16_t appear(const uint8_t mgid[16])
{
	const uint16_t mlid = make(mgid);

	world_report(66, mgid);
	world_serve_all();
	return mlid;
}

static void vanish(const uint8_t mgid[16])
{
	world_unmake(mgid);
	world_report(67, mgid);
	world_serve_all();
}

CT_TEST(groups, R28_a_group_that_exists_is_sent_to_at_its_mlid)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	mlid = make(world_mgid(1));
	user = send_to(1);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(user->to_record.sl, 2);
	CT_EXPECT_EQ(user->to_record.qkey, WORLD_QKEY);
	world_close();
}

CT_TEST(groups, R28_who_only_sends_creates_none_and_is_no_full_member)
{
	unsigned int i;

	world_open();
	make(world_mgid(1));
	send_to(1);
	send_to(2);
	for (i = 0; i < w.requests; i++)
		CT_EXPECT_EQ(w.request[i].mcm.join_state & ~SEND_ONLY, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	CT_EXPECT_EQ(world_find(world_mgid(2)), NULL);
	CT_EXPECT_EQ(world_find(world_routers()), NULL);
	world_close();
}

CT_TEST(groups, R29_what_is_for_an_absent_group_goes_to_the_all_router_group)
{
	struct world_user *user;
	uint16_t routers;

	world_open();
	routers = make(world_routers());
	user = send_to(1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, routers, 0);
	CT_EXPECT_MEMEQ(user->to_record.mgid, world_routers(), 16);
	CT_EXPECT_EQ(world_find(world_routers())->state, SEND_ONLY);
	world_close();
}

CT_TEST(groups, R29_each_family_has_its_all_router_group)
{
	struct in6_addr addr = {{{0xff, 2, [15] = 2}}};
	uint8_t routers[16], mgid[16];
	struct world_user *user;
	uint16_t mlid;

	world_open();
	make(world_routers());
	CT_ASSERT_EQ(pvb_mc_map6(&w.link.map, &addr, routers), 0);
	mlid = make(routers);
	addr.s6_addr[15] = 9;
	CT_ASSERT_EQ(pvb_mc_map6(&w.link.map, &addr, mgid), 0);
	user = world_join_as(1, mgid, false, true);
	world_serve_all();
	expect_route(user, mlid, 0);
	world_close();
}

CT_TEST(groups, R30_without_an_all_router_group_it_is_dropped)
{
	struct world_user *user;

	world_open();
	user = send_to(1);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, 0, 0);
	world_close();
}

CT_TEST(groups, R30_all_routers_themselves_may_be_nobody)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = world_join_as(1, world_routers(), false, true);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 1);
	expect_route(user, 0, 0);
	mlid = appear(world_routers());
	expect_route(user, mlid, 0);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(world_find(world_routers())->state, 0);
	world_close();
}

CT_TEST(groups, R31_a_group_that_appears_is_sent_to_from_then_on)
{
	struct world_user *user;
	uint16_t mlid, routers;
	unsigned int since;

	world_open();
	routers = make(world_routers());
	user = send_to(1);
	expect_route(user, routers, 0);
	since = w.requests;
	mlid = appear(world_mgid(1));
	CT_EXPECT_EQ(user->routes, 2);
	CT_EXPECT_EQ(user->losses, 0);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	CT_EXPECT_EQ(w.requests - since, 3);
	world_close();
}

CT_TEST(groups, R31_when_it_goes_its_datagrams_go_to_the_all_router_group_again)
{
	struct world_user *user;
	uint16_t routers;

	world_open();
	routers = make(world_routers());
	make(world_mgid(1));
	user = send_to(1);
	vanish(world_mgid(1));
	expect_route(user, routers, 0);
	CT_EXPECT_EQ(user->routes, 2);
	vanish(world_routers());
	expect_route(user, 0, 0);
	routers = appear(world_routers());
	expect_route(user, routers, 0);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->losses, 0);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 1);
	world_close();
}

CT_TEST(groups, R31_the_order_and_number_of_reports_does_not_matter)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = send_to(1);
	mlid = make(world_mgid(1));
	world_report(66, world_mgid(1));
	world_report(67, world_mgid(1));
	world_report(66, world_mgid(1));
	world_serve_all();
	expect_route(user, mlid, 0);
	/* It has gone and come again before anybody looks. */
	world_unmake(world_mgid(1));
	mlid = make(world_mgid(1));
	world_report(66, world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve_all();
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	world_close();
}

/* The answer is of the time before the report. */
CT_TEST(groups, R31_a_report_during_a_look_is_not_missed)
{
	struct world_request request;
	struct world_user *user;
	struct pvb_mcm mcm = {0};
	uint16_t mlid;

	world_open();
	user = send_to(1);
	world_report(66, world_mgid(1));
	request = *world_next();
	w.served++;
	mlid = make(world_mgid(1));
	world_report(66, world_mgid(1));
	world_answer(&request, PVB_SA_NO_RECORDS, &mcm);
	world_serve_all();
	expect_route(user, mlid, 0);
	world_close();
}

CT_TEST(groups, R31_what_happened_before_the_subscription_is_looked_for)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = send_to(1);
	world_restart();
	world_serve_all();
	mlid = make(world_mgid(1));
	pvb_groups_subscribed(&w.groups, w.now);
	world_serve_all();
	expect_route(user, mlid, 0);
	world_close();
}

/* Nor is what happens while a look is outstanding. */
CT_TEST(groups, R31_a_look_from_before_the_subscription_is_repeated)
{
	struct world_request request;
	struct pvb_mcm mcm = {0};
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = world_join_as(1, world_routers(), false, true);
	request = *world_next();
	w.served = w.requests;
	mlid = make(world_routers());
	pvb_groups_subscribed(&w.groups, w.now);
	world_answer(&request, PVB_SA_NO_RECORDS, &mcm);
	world_serve_all();
	world_pass(WORLD_WAIT_MS);
	world_serve_all();
	expect_route(user, mlid, 0);
	world_close();
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
	user = send_to(1);
	expect_route(user, 0, 0);
	mlid = make(world_mgid(1));
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), 1000);
	world_pass(1000);
	world_serve_all();
	expect_route(user, mlid, 0);
	world_unmake(world_mgid(1));
	world_pass(1000);
	world_serve_all();
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
	make(world_mgid(1));
	user = send_to(1);
	world_unmake(world_mgid(1));
	mlid = make(world_mgid(1));
	world_pass(1000);
	world_serve_all();
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	world_close();
}

CT_TEST(groups, R31_without_reports_a_new_user_makes_it_be_looked_for)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = send_to(1);
	mlid = make(world_mgid(1));
	world_join_as(2, world_mgid(1), false, true);
	world_serve_all();
	expect_route(user, 0, 0);
	w.groups.subscribed = false;
	world_join_as(3, world_mgid(1), false, true);
	world_serve_all();
	expect_route(user, mlid, 0);
	expect_route(&w.user[3], mlid, 0);
	world_close();
}

CT_TEST(groups, R31_a_group_that_appears_during_a_pause_is_not_waited_for)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = send_to(1);
	make(world_mgid(1));
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_report(66, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 1);
	w.refuse_method = 0;
	world_unmake(world_mgid(1));
	mlid = appear(world_mgid(1));
	CT_EXPECT_EQ(user->joins, 2);
	expect_route(user, mlid, 0);
	world_close();
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

CT_TEST(groups, R31_a_look_that_is_lost_is_repeated)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	user = send_to(1);
	mlid = make(world_mgid(1));
	world_report(66, world_mgid(1));
	lose_all();
	expect_route(user, 0, 0);
	world_pass(WORLD_AGAIN_MS);
	world_serve_all();
	expect_route(user, mlid, 0);
	world_close();
}

CT_TEST(groups, R31_a_check_that_is_lost_is_repeated)
{
	struct world_group *group;
	struct world_user *user;

	world_open();
	group = world_make(world_mgid(1));
	user = send_to(1);
	/* As if it were made anew with the same MLID. */
	group->state = 0;
	world_report(67, world_mgid(1));
	world_serve(true);
	lose_all();
	CT_EXPECT_EQ(group->state, 0);
	world_pass(WORLD_AGAIN_MS);
	world_serve_all();
	CT_EXPECT_EQ(group->state, SEND_ONLY);
	expect_route(user, group->record.mlid, 0);
	world_close();
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
	routers = make(world_routers());
	mlid = make(world_mgid(1));
	user = send_to(1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, mlid, routers);
	vanish(world_routers());
	expect_route(user, mlid, 0);
	routers = appear(world_routers());
	expect_route(user, mlid, routers);
	vanish(world_mgid(1));
	expect_route(user, routers, 0);
	world_close();
}

CT_TEST(groups, R32_what_is_for_all_routers_has_no_copy)
{
	struct world_user *user;
	uint16_t routers;

	world_open_with(copy_all);
	routers = make(world_routers());
	user = world_join_as(1, world_routers(), true, true);
	world_serve_all();
	expect_route(user, routers, 0);
	world_close();
}

CT_TEST(groups, R32_the_first_route_has_its_copy)
{
	struct world_user *user;
	uint16_t mlid, routers;

	world_open_with(copy_all);
	routers = make(world_routers());
	mlid = make(world_mgid(1));
	user = world_join(1, true, true);
	/* All but the look for the all-router group, which was asked first. */
	w.served++;
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 0);
	CT_EXPECT_EQ(user->routes, 0);
	world_pass(WORLD_WAIT_MS);
	world_serve_all();
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, mlid, routers);
	world_close();
}

CT_TEST(groups, R28_a_member_sends_as_what_it_is)
{
	struct world_user *user;

	world_open();
	user = world_join(1, true, true);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 1);
	expect_route(user, user->record.mlid, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
	world_close();
}

/* Of one that receives too, and is the last member. */
CT_TEST(groups, R29_when_the_receivers_leave_the_senders_change_over)
{
	struct world_user *sender, *receiver;
	uint16_t routers;

	world_open();
	routers = make(world_routers());
	sender = send_to(1);
	receiver = world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
	expect_route(sender, receiver->record.mlid, 0);
	CT_EXPECT_EQ(sender->losses, 0);
	world_leave(receiver);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	expect_route(sender, routers, 0);
	world_close();
}

CT_TEST(groups, R28_when_the_receivers_leave_the_port_goes_on_as_a_sender)
{
	struct world_user *sender, *receiver;
	uint16_t mlid;

	world_open();
	mlid = make(world_mgid(1));
	receiver = world_join(1, true, false);
	sender = world_join_as(2, world_mgid(1), false, true);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_leave(receiver);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	expect_route(sender, mlid, 0);
	CT_EXPECT_EQ(sender->routes, 1);
	world_leave(sender);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

CT_TEST(groups, R27_what_was_joined_for_senders_and_receivers_is_left_for_each)
{
	struct world_user *sender;
	struct world_group *group;

	world_open();
	group = world_make(world_mgid(1));
	sender = send_to(1);
	world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
	CT_EXPECT_EQ(group->state, FULL);
	world_leave(sender);
	world_serve_all();
	CT_EXPECT_EQ(group->state, FULL);
	CT_EXPECT_TRUE(w.user[2].joined);
	CT_EXPECT_EQ(w.user[2].losses, 0);
	world_leave(&w.user[2]);
	world_serve_all();
	CT_EXPECT_EQ(group->state, 0);
	world_close();
}

CT_TEST(groups, R24_a_group_that_cannot_be_used_is_not_sent_to)
{
	struct world_group *group;
	struct world_user *user;
	uint16_t routers;

	world_open();
	routers = make(world_routers());
	group = world_make(world_mgid(1));
	group->record.mtu--;
	user = send_to(1);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(group->state, 0);
	world_unmake(world_mgid(1));
	/* One that appears like that, later. */
	user = send_to(1);
	expect_route(user, routers, 0);
	group = world_make(world_mgid(1));
	group->record.mtu--;
	world_report(66, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(user->to, routers);
	CT_EXPECT_EQ(group->state, 0);
	/* It is tried again, and told of once. */
	world_pass(WORLD_AGAIN_MS);
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 1);
	group->record.mtu++;
	world_pass(2 * WORLD_AGAIN_MS);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 2);
	expect_route(user, group->record.mlid, 0);
	world_close();
}

CT_TEST(groups, R24_all_routers_whose_group_cannot_be_used_are_none)
{
	struct world_user *user;

	world_open();
	world_make(world_routers())->record.qkey++;
	user = send_to(1);
	CT_EXPECT_EQ(user->joins, 1);
	expect_route(user, 0, 0);
	CT_EXPECT_EQ(user->failures, 0);
	world_close();
}

CT_TEST(groups, R29_an_all_router_group_that_nobody_tells_of_is_none_until_it_is_there)
{
	struct world_user *user;
	uint16_t routers;

	world_open();
	routers = make(world_routers());
	user = world_join(1, false, true);
	/* The look for it gets lost. */
	w.served = 1;
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 0);
	world_pass(WORLD_WAIT_MS);
	w.served = w.requests;
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(user->joins, 1);
	expect_route(user, 0, 0);
	world_pass(WORLD_AGAIN_MS);
	world_serve_all();
	expect_route(user, routers, 0);
	world_close();
}

CT_TEST(groups, R28_a_join_that_is_refused_fails_who_only_sends)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	mlid = make(world_mgid(1));
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_REQ_INVALID;
	user = send_to(1);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, -FI_EINVAL);
	CT_EXPECT_EQ(user->status, PVB_SA_REQ_INVALID);
	/* One that is joined already has it later. */
	w.refuse_method = 0;
	world_unmake(world_mgid(1));
	user = send_to(1);
	w.refuse_method = PVB_SA_SET;
	mlid = appear(world_mgid(1));
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->to, 0);
	w.refuse_method = 0;
	world_pass(WORLD_AGAIN_MS);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 2);
	expect_route(user, mlid, 0);
	world_close();
}

CT_TEST(groups, R26_who_sends_uses_a_membership_that_is_there)
{
	struct world_user *user;
	uint16_t mlid;

	world_open();
	mlid = make(world_mgid(1));
	world_find(world_mgid(1))->state = SEND_ONLY;
	user = send_to(1);
	expect_route(user, mlid, 0);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 0);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	world_close();
}
