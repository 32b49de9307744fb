/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: who receives. */
#include "world.h"

#define ASKS_NOTHING(since) CT_EXPECT_EQ(w.requests, since)

/* The next request, which is served. */
static void expect(uint8_t method, uint64_t mask, uint8_t state)
{
	const struct world_request *request;

	CT_ASSERT_LT(w.served, w.requests);
	request = world_next();
	CT_EXPECT_EQ(request->hdr.method, method);
	CT_EXPECT_EQ(request->hdr.comp_mask & mask, mask);
	CT_EXPECT_EQ(request->mcm.join_state, state);
	world_serve(true);
}

static void expect_look(void)
{
	CT_ASSERT_EQ(w.requests - w.served, 1);
	CT_EXPECT_EQ(world_next()->hdr.comp_mask, PVB_MCM_HAS_MGID);
	expect(PVB_SA_GET, PVB_MCM_HAS_MGID, 0);
}

/* Is the port a member already? */
static void expect_check(void)
{
	CT_ASSERT_EQ(w.requests - w.served, 1);
	CT_EXPECT_EQ(world_next()->hdr.comp_mask,
		     PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID);
	expect(PVB_SA_GET, PVB_MCM_HAS_PORT_GID, 0);
}

CT_TEST(groups, R23_R24_R25_an_absent_group_is_created_with_the_attributes_of_the_link)
{
	const struct world_request *request;
	struct world_user *user;

	world_open();
	user = world_join(1, true, false);
	expect_look();
	CT_ASSERT_EQ(w.requests - w.served, 1);
	request = world_next();
	CT_EXPECT_EQ(request->mcm.mtu, WORLD_MTU);
	CT_EXPECT_EQ(request->mcm.mtu_selector, PVB_SA_EXACTLY);
	CT_EXPECT_EQ(request->mcm.qkey, WORLD_QKEY);
	CT_EXPECT_EQ(request->mcm.pkey, WORLD_PKEY);
	CT_EXPECT_EQ(request->mcm.tclass, 3);
	CT_EXPECT_EQ(request->mcm.flow_label, 5);
	CT_EXPECT_EQ(request->mcm.hop_limit, 7);
	CT_EXPECT_EQ(request->mcm.rate, 3);
	CT_EXPECT_EQ(request->mcm.rate_selector, PVB_SA_EXACTLY);
	CT_EXPECT_EQ(request->mcm.sl, 2);
	expect(PVB_SA_SET,
	       PVB_MCM_HAS_MTU_SELECTOR | PVB_MCM_HAS_MTU | PVB_MCM_HAS_QKEY |
		       PVB_MCM_HAS_PKEY | PVB_MCM_HAS_TCLASS | PVB_MCM_HAS_FLOW_LABEL |
		       PVB_MCM_HAS_HOP_LIMIT | PVB_MCM_HAS_SL | PVB_MCM_HAS_RATE |
		       PVB_MCM_HAS_RATE_SELECTOR | PVB_MCM_HAS_JOIN_STATE,
	       FULL);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 0);
	CT_EXPECT_EQ(user->record.mlid, 0xc001);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(w.served, w.requests);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
	world_close();
}

CT_TEST(groups, R26_a_group_that_exists_is_joined_by_its_mgid)
{
	struct world_user *user;

	world_open();
	world_make(world_mgid(1));
	user = world_join(1, true, false);
	expect_look();
	expect_check();
	CT_ASSERT_EQ(w.requests - w.served, 1);
	CT_EXPECT_EQ(world_next()->hdr.comp_mask,
		     PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE);
	expect(PVB_SA_SET, 0, FULL);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(w.served, w.requests);
	world_close();
}

CT_TEST(groups, R17_R18_the_attributes_are_those_of_the_answer_to_the_join)
{
	struct world_group *group;
	struct world_user *user;

	world_open();
	group = world_make(world_mgid(1));
	user = world_join(1, true, true);
	world_serve(true);
	while (world_next()->hdr.method == PVB_SA_GET)
		world_serve(true);
	group->record.mlid = 0xc777;
	group->record.sl = 9;
	group->record.rate = 10;
	world_serve_all();
	CT_ASSERT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->record.mlid, 0xc777);
	CT_EXPECT_EQ(user->record.sl, 9);
	CT_EXPECT_EQ(user->record.rate, 10);
	CT_EXPECT_EQ(user->to, 0xc777);
	CT_EXPECT_EQ(user->to_record.sl, 9);
	world_close();
}

/* Of what it is as a sender no state is told either, and it is nobody else's. */
CT_TEST(groups, R27_who_sends_and_receives_later_leaves_where_states_are_not_told)
{
	struct world_user *receiver;

	world_open();
	w.mute = true;
	world_make(world_mgid(1));
	world_join(1, false, true);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	receiver = world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
	CT_EXPECT_EQ(receiver->joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(w.user[1].routes, 1);
	CT_EXPECT_EQ(w.user[1].losses, 0);
	world_leave(receiver);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, SEND_ONLY);
	world_leave(&w.user[1]);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	world_close();
}

CT_TEST(groups, R26_a_membership_of_another_program_is_seen_by_who_sends)
{
	struct world_user *receiver;

	world_open();
	w.mute = true;
	world_make(world_mgid(1));
	world_join(1, false, true);
	world_serve_all();
	world_find(world_mgid(1))->state |= FULL;
	receiver = world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
	world_leave(receiver);
	world_leave(&w.user[1]);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1))->state & FULL, FULL);
	world_close();
}

CT_TEST(groups, R26_users_of_a_group_share_one_membership)
{
	struct world_user *first, *second;
	unsigned int since;

	world_open();
	first = world_join(1, true, false);
	second = world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
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
	world_close();
}

CT_TEST(groups, R26_a_membership_that_is_there_is_used_and_not_left)
{
	struct world_user *user;

	world_open();
	world_make(world_mgid(1))->state = FULL;
	user = world_join(1, true, false);
	expect_look();
	expect_check();
	CT_EXPECT_EQ(user->joins, 1);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 0);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_close();
}

/* opensm tells the states of members to whom it trusts. */
CT_TEST(groups, R26_a_membership_of_an_untold_state_is_joined_and_not_left)
{
	struct world_user *user;

	world_open();
	w.mute = true;
	world_make(world_mgid(1))->state = SEND_ONLY;
	user = world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	world_close();
}

CT_TEST(groups, R26_a_membership_in_another_state_is_joined_and_left)
{
	struct world_group *group;
	struct world_user *user;

	world_open();
	group = world_make(world_mgid(1));
	group->state = SEND_ONLY;
	user = world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(group->state, FULL | SEND_ONLY);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(group->state, SEND_ONLY);
	world_close();
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
	user = world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), 1000);
	world_pass(1000);
	CT_EXPECT_EQ(w.requests - w.served, 1);
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 0);
	group->state = 0;
	world_pass(1000);
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->err, -FI_ECONNRESET);
	CT_EXPECT_EQ(user->joins, 2);
	CT_EXPECT_EQ(group->state, FULL);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(group->state, 0);
	world_close();
}

/* Joins one group that is as change makes it, and looks that it was refused. */
static void expect_unusable(void (*change)(struct pvb_mcm *record), int err)
{
	struct world_group *group;
	struct world_user *user;

	world_open();
	group = world_make(world_mgid(1));
	change(&group->record);
	user = world_join(1, true, true);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 0);
	CT_EXPECT_EQ(user->routes, 0);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, err);
	CT_EXPECT_EQ(user->status, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

static void smaller_mtu(struct pvb_mcm *record)
{
	record->mtu = WORLD_MTU - 1;
}

static void larger_mtu(struct pvb_mcm *record)
{
	record->mtu = 5;
}

static void no_mtu(struct pvb_mcm *record)
{
	record->mtu = 0;
}

static void other_qkey(struct pvb_mcm *record)
{
	record->qkey++;
}

static void other_pkey(struct pvb_mcm *record)
{
	record->pkey++;
}

static void unicast_lid(struct pvb_mcm *record)
{
	record->mlid = 0xbfff;
}

static void no_lid(struct pvb_mcm *record)
{
	record->mlid = 0xffff;
}

CT_TEST(groups, R24_a_group_with_a_smaller_mtu_than_the_link_is_not_joined)
{
	expect_unusable(smaller_mtu, -FI_EMSGSIZE);
	expect_unusable(no_mtu, -FI_EINVAL);
	/* A router has said that less is enough. */
	world_open();
	w.link.mtu = 1024;
	smaller_mtu(&world_make(world_mgid(1))->record);
	world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	world_close();
}

CT_TEST(groups, R16_a_group_with_an_mtu_above_the_ports_is_not_joined)
{
	world_open();
	larger_mtu(&world_make(world_mgid(1))->record);
	world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	w.link.config.port_mtu = WORLD_MTU;
	larger_mtu(&world_make(world_mgid(2))->record);
	world_join(2, true, false);
	world_serve_all();
	CT_EXPECT_EQ(w.user[2].failures, 1);
	CT_EXPECT_EQ(w.user[2].err, -FI_EMSGSIZE);
	world_close();
}

CT_TEST(groups, R9_a_group_with_another_q_key_is_not_joined)
{
	expect_unusable(other_qkey, -FI_EINVAL);
}

CT_TEST(groups, R4_a_group_of_another_partition_is_not_joined)
{
	expect_unusable(other_pkey, -FI_EINVAL);
}

CT_TEST(groups, R3_a_group_without_a_multicast_lid_is_not_joined)
{
	expect_unusable(unicast_lid, -FI_EINVAL);
	expect_unusable(no_lid, -FI_EINVAL);
}

/* It was another one when it was looked for. */
CT_TEST(groups, R24_what_the_join_has_found_is_left_if_it_cannot_be_used)
{
	struct world_group *group;

	world_open();
	group = world_make(world_mgid(1));
	world_join(1, true, false);
	world_serve(true);
	world_serve(true);
	smaller_mtu(&group->record);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 0);
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(group->state, 0);
	world_close();
}

CT_TEST(groups, R24_what_cannot_be_used_any_more_is_left)
{
	struct world_group *group;

	world_open();
	world_make(world_mgid(1));
	world_join(1, true, true);
	world_serve_all();
	world_unmake(world_mgid(1));
	group = world_make(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve(true);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_SET);
	other_qkey(&group->record);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joined, false);
	CT_EXPECT_EQ(w.user[1].err, -FI_ECONNRESET);
	CT_EXPECT_EQ(w.user[1].losses, 1);
	CT_EXPECT_EQ(w.user[1].to, 0);
	CT_EXPECT_EQ(group->state, 0);
	world_close();
}

/* Somebody else's were there when we were not. */
CT_TEST(groups, R26_who_joins_again_checks_again)
{
	struct world_group *group;
	struct world_user *user;

	world_open();
	group = world_make(world_mgid(1));
	/* It keeps the group. */
	world_join_as(2, world_mgid(1), false, true);
	user = world_join(1, true, false);
	world_serve_all();
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(group->state, SEND_ONLY);
	group->state |= FULL;
	user = world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 1);
	world_leave(user);
	world_serve_all();
	CT_EXPECT_EQ(group->state, SEND_ONLY | FULL);
	world_close();
}

CT_TEST(groups, R20_only_groups_of_the_link_are_joined)
{
	struct pvb_group_user user = {0};
	uint8_t mgid[16];
	unsigned int i;
	/* Flags, scope, signature, partition. */
	static const uint8_t at[] = {0, 1, 2, 5};

	world_open();
	for (i = 0; i < CRN_COUNT(at); i++) {
		memcpy(mgid, world_mgid(1), sizeof(mgid));
		mgid[at[i]] ^= 4;
		CT_EXPECT_EQ(pvb_groups_join(&w.groups, &user, mgid, true, true, w.now),
			     -FI_EINVAL);
	}
	CT_EXPECT_EQ(pvb_groups_join(&w.groups, &user, world_mgid(1), false, false,
				     w.now),
		     -FI_EINVAL);
	CT_EXPECT_EQ(w.requests, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

CT_TEST(groups, R22_the_broadcast_group_is_joined_as_others_are)
{
	const struct in_addr broadcast = {INADDR_BROADCAST};
	uint8_t mgid[16];

	world_open();
	CT_ASSERT_EQ(pvb_mc_map4(&w.link.map, broadcast, mgid), 0);
	world_make(mgid);
	world_join_as(1, mgid, true, true);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(w.user[1].to, w.user[1].record.mlid);
	world_close();
}

CT_TEST(groups, R27_who_leaves_deletes_what_was_joined)
{
	struct world_user *user;
	unsigned int since;

	world_open();
	user = world_join(1, true, false);
	world_serve_all();
	since = w.requests;
	world_leave(user);
	CT_ASSERT_EQ(w.requests, since + 1);
	expect(PVB_SA_DELETE,
	       PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE, FULL);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.groups.leaves, 1);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
	world_leave(user);
	world_close();
}

CT_TEST(groups, R27_who_leaves_before_anything_was_joined_asks_for_no_more)
{
	world_open();
	world_leave(world_join(1, true, false));
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 0);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.user[1].joins, 0);
	world_close();
}

/* User 1, whose join is outstanding, and whose answer is not here. */
static struct world_user *join_half(void)
{
	struct world_user *user = world_join(1, true, false);

	while (world_next()->hdr.method == PVB_SA_GET)
		world_serve(true);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_SET);
	return user;
}

CT_TEST(groups, R27_who_leaves_while_the_join_is_outstanding_leaves_when_it_is_answered)
{
	world_open();
	world_leave(join_half());
	CT_EXPECT_EQ(w.requests - w.served, 1);
	CT_EXPECT_FALSE(pvb_groups_idle(&w.groups));
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 1);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.user[1].joins, 0);
	world_close();
}

/* Nobody knows whether it was done. */
CT_TEST(groups, R27_a_join_that_is_not_answered_is_left)
{
	world_open();
	world_leave(join_half());
	world_serve(false);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_pass(WORLD_WAIT_MS);
	world_serve(false);
	world_pass(WORLD_WAIT_MS);
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 1);
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

CT_TEST(groups, R27_a_join_that_is_refused_is_not_left)
{
	world_open();
	world_leave(join_half());
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_REQ_INVALID;
	world_serve_all();
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

CT_TEST(groups, R27_who_joins_again_while_leaving_is_joined_after_it)
{
	world_open();
	world_join(1, true, false);
	world_serve_all();
	world_leave(&w.user[1]);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_DELETE);
	world_join(1, true, false);
	CT_EXPECT_EQ(w.user[1].joins, 0);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_leave(&w.user[1]);
	world_serve_all();
	CT_EXPECT_EQ(world_find(world_mgid(1)), NULL);
	world_close();
}

CT_TEST(groups, R27_who_joins_again_before_the_join_is_answered_needs_no_other)
{
	world_open();
	world_leave(join_half());
	world_join(1, true, false);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 1);
	CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
	world_close();
}

CT_TEST(groups, R27_leaving_is_given_up_when_nobody_answers)
{
	world_open();
	world_join(1, true, false);
	world_serve_all();
	w.silent = true;
	world_leave(&w.user[1]);
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.groups.count, 1);
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.groups.count, 0);
	CT_EXPECT_EQ(w.groups.unanswered, 1);
	CT_EXPECT_TRUE(pvb_groups_idle(&w.groups));
	world_close();
}

CT_TEST(groups, R34_each_status_of_a_join_has_its_error)
{
	static const struct {
		uint16_t status;
		int err;
	} rows[] = {
		{PVB_SA_REQ_INVALID, -FI_EINVAL},
		{PVB_SA_NO_RECORDS, -FI_EADDRNOTAVAIL},
		{PVB_SA_NO_RESOURCES, -FI_ENOSPC},
		{PVB_SA_INSUFFICIENT_COMPONENTS, -FI_EINVAL},
		{0x7f00, -FI_EIO},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		world_open();
		w.refuse_method = PVB_SA_SET;
		w.refuse = rows[i].status;
		world_join(1, true, false);
		world_serve_all();
		CT_EXPECT_EQ(w.user[1].failures, 1);
		CT_EXPECT_EQ(w.user[1].err, rows[i].err);
		CT_EXPECT_EQ(w.user[1].status, rows[i].status);
		CT_EXPECT_EQ(w.groups.count, 0);
		CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
		world_close();
	}
}

CT_TEST(groups, R23_a_refused_look_fails_with_its_error)
{
	world_open();
	w.refuse_method = PVB_SA_GET;
	w.refuse = PVB_SA_REQ_DENIED;
	world_join(1, true, true);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EINVAL);
	CT_EXPECT_EQ(w.user[1].status, PVB_SA_REQ_DENIED);
	world_close();
}

CT_TEST(groups, silence_fails_with_a_timeout)
{
	world_open();
	w.silent = true;
	world_join(1, true, false);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), WORLD_JOIN_MS);
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.user[1].failures, 0);
	world_pass(WORLD_WAIT_MS);
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_ETIMEDOUT);
	CT_EXPECT_EQ(w.user[1].status, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

/* An answer that is no record, or one of another group. */
static void expect_broken(const uint8_t mgid[16], size_t len)
{
	const struct pvb_sa_hdr *hdr;
	struct pvb_sa_hdr answer;
	uint8_t mad[PVB_MAD_SIZE];
	struct pvb_mcm mcm;

	world_open();
	world_join(1, true, false);
	hdr = &world_next()->hdr;
	answer = *hdr;
	answer.method |= PVB_SA_RESPONSE;
	mcm = world_make(world_mgid(1))->record;
	memcpy(mcm.mgid, mgid, sizeof(mcm.mgid));
	pvb_sa_pack(mad, &answer);
	pvb_mcm_pack(pvb_sa_data(mad), &mcm);
	pvb_sa_arrived(&w.client, mad, len, w.now);
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EINVAL);
	world_close();
}

CT_TEST(groups, R23_a_broken_answer_is_an_error)
{
	uint8_t mgid[16];

	world_open();
	memcpy(mgid, world_mgid(1), sizeof(mgid));
	world_close();
	expect_broken(mgid, PVB_SA_DATA_AT + PVB_MCM_SIZE - 1);
	mgid[15]++;
	expect_broken(mgid, PVB_MAD_SIZE);
}

CT_TEST(groups, R17_a_join_that_grants_another_state_is_an_error_and_is_left)
{
	struct world_request request;
	struct pvb_mcm mcm;

	world_open();
	join_half();
	request = *world_next();
	mcm = world_make(world_mgid(1))->record;
	mcm.join_state = SEND_ONLY;
	w.served++;
	world_answer(&request, 0, &mcm);
	CT_EXPECT_EQ(w.user[1].err, -FI_EINVAL);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_DELETE);
	world_close();
}

/* Between the look and the join. */
CT_TEST(groups, R23_a_group_that_goes_in_between_is_created)
{
	world_open();
	world_make(world_mgid(1));
	join_half();
	world_unmake(world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_close();
}

CT_TEST(groups, R23_a_group_that_somebody_makes_in_between_is_joined_or_refused)
{
	world_open();
	join_half();
	world_make(world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	world_close();
	world_open();
	join_half();
	smaller_mtu(&world_make(world_mgid(1))->record);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	world_close();
}

CT_TEST(groups, R23_a_group_that_comes_and_goes_forever_is_given_up)
{
	int i;

	world_open();
	join_half();
	for (i = 0; i < 20 && !w.user[1].failures; i++) {
		if (world_next()->hdr.method == PVB_SA_SET) {
			w.refuse_method = PVB_SA_SET;
			w.refuse = PVB_SA_REQ_INVALID;
			world_serve(true);
			w.refuse_method = 0;
			if (world_find(world_mgid(1)))
				world_unmake(world_mgid(1));
			else
				world_make(world_mgid(1));
		} else
			world_serve(true);
	}
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EINVAL);
	CT_EXPECT_EQ(world_count(0, PVB_SA_SET), 3);
	world_close();
}

CT_TEST(groups, R35_a_group_that_is_deleted_is_lost_and_joined_again)
{
	struct world_user *user;

	world_open();
	user = world_join(1, true, false);
	world_serve_all();
	world_unmake(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 1);
	CT_EXPECT_EQ(user->err, -FI_ECONNRESET);
	CT_EXPECT_EQ(user->joins, 2);
	CT_EXPECT_EQ(user->record.mlid, 0xc002);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	world_close();
}

/* Deleted and made again before it was looked at, also with the same MLID. */
CT_TEST(groups, R35_a_group_that_was_made_anew_is_joined_again)
{
	struct world_user *user;
	struct world_group *group;

	world_open();
	user = world_join(1, true, false);
	world_serve_all();
	world_unmake(world_mgid(1));
	group = world_make(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 2);
	CT_EXPECT_EQ(group->state, FULL);
	group->state = 0;
	world_report(67, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 3);
	CT_EXPECT_EQ(group->state, FULL);
	world_close();
}

CT_TEST(groups, R31_reports_that_say_nothing_new_are_harmless)
{
	struct world_user *user;
	unsigned int since;

	world_open();
	user = world_join(1, true, false);
	world_serve_all();
	since = w.requests;
	/* Of our own joining. */
	world_report(66, world_mgid(1));
	/* Of others. */
	world_report(67, world_mgid(2));
	world_report(65, world_mgid(1));
	ASKS_NOTHING(since);
	/* Nothing was deleted. */
	world_report(67, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 0);
	CT_EXPECT_EQ(world_count(since, PVB_SA_SET), 0);
	world_close();
}

CT_TEST(groups, what_was_lost_is_tried_again_after_longer_and_longer_times)
{
	static const uint64_t pauses[] = {100, 200, 400, 800, 800};
	struct world_user *user;
	unsigned int since;
	size_t i;

	world_open();
	user = world_join(1, true, false);
	world_serve_all();
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_unmake(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(user->losses, 1);
	for (i = 0; i < CRN_COUNT(pauses); i++) {
		since = w.requests;
		CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), pauses[i]);
		world_pass(pauses[i] - 1);
		ASKS_NOTHING(since);
		world_pass(1);
		world_serve_all();
		CT_EXPECT_EQ(world_count(since, PVB_SA_SET), 1);
	}
	CT_EXPECT_EQ(user->failures, 0);
	CT_EXPECT_EQ(user->losses, 1);
	w.refuse_method = 0;
	world_pass(800);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 2);
	/* And begins with the least again. */
	w.refuse_method = PVB_SA_SET;
	world_unmake(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), 100);
	world_close();
}

/* Whoever comes meanwhile does not wait for it, and is told when that fails. */
CT_TEST(groups, a_new_user_of_a_group_that_failed_makes_an_attempt)
{
	struct world_user *user;

	world_open();
	world_join(1, true, false);
	world_serve_all();
	w.refuse_method = PVB_SA_SET;
	w.refuse = PVB_SA_NO_RESOURCES;
	world_unmake(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve_all();
	user = world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, -FI_ENOSPC);
	CT_EXPECT_EQ(w.user[1].losses, 1);
	w.refuse_method = 0;
	world_join_as(2, world_mgid(1), true, false);
	world_serve_all();
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(w.user[1].joins, 2);
	world_close();
}
