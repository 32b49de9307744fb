/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: how who receives joins a group that is there or not, and what
 * ends in an error. */
#include "world_receive.h"

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST_F(groups, R23_R24_R25_an_absent_group_is_created_with_the_attributes_of_the_link)
{
	const struct world_request *request;
	struct world_user *user = world_join(1, true, false);

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
	expect_request(PVB_SA_SET,
		       PVB_MCM_HAS_MTU_SELECTOR | PVB_MCM_HAS_MTU | PVB_MCM_HAS_QKEY |
			       PVB_MCM_HAS_PKEY | PVB_MCM_HAS_TCLASS |
			       PVB_MCM_HAS_FLOW_LABEL | PVB_MCM_HAS_HOP_LIMIT |
			       PVB_MCM_HAS_SL | PVB_MCM_HAS_RATE |
			       PVB_MCM_HAS_RATE_SELECTOR | PVB_MCM_HAS_JOIN_STATE,
		       FULL);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(user->routes, 0);
	CT_EXPECT_EQ(user->record.mlid, 0xc001);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
	CT_EXPECT_EQ(w.served, w.requests);
	CT_EXPECT_EQ(pvb_groups_timeout(&w.groups, w.now), -1);
}

CT_TEST_F(groups, R26_a_group_that_exists_is_joined_by_its_mgid)
{
	struct world_user *user;

	world_make(world_mgid(1));
	user = world_join(1, true, false);
	expect_look();
	expect_check();
	CT_ASSERT_EQ(w.requests - w.served, 1);
	CT_EXPECT_EQ(world_next()->hdr.comp_mask,
		     PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID | PVB_MCM_HAS_JOIN_STATE);
	expect_request(PVB_SA_SET, 0, FULL);
	CT_EXPECT_EQ(user->joins, 1);
	CT_EXPECT_EQ(w.served, w.requests);
}

CT_TEST_F(groups, R17_R18_the_attributes_are_those_of_the_answer_to_the_join)
{
	struct world_group *group = world_make(world_mgid(1));
	struct world_user *user = world_join(1, true, true);

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
}

CT_TEST_F(groups, R20_only_groups_of_the_link_are_joined)
{
	struct pvb_group_user user = {0};
	uint8_t mgid[16];
	unsigned int i;
	/* Flags, scope, signature, partition. */
	static const uint8_t at[] = {0, 1, 2, 5};

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
}

CT_TEST_F(groups, R22_the_broadcast_group_is_joined_as_others_are)
{
	const struct in_addr broadcast = {INADDR_BROADCAST};
	uint8_t mgid[16];

	CT_ASSERT_EQ(pvb_mc_map4(&w.link.map, broadcast, mgid), 0);
	world_make(mgid);
	world_join_as_and_serve(1, mgid, true, true);
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(w.user[1].to, w.user[1].record.mlid);
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
		world_join_and_serve(1, true, false);
		CT_EXPECT_EQ(w.user[1].failures, 1);
		CT_EXPECT_EQ(w.user[1].err, rows[i].err);
		CT_EXPECT_EQ(w.user[1].status, rows[i].status);
		CT_EXPECT_EQ(w.groups.count, 0);
		CT_EXPECT_EQ(world_count(0, PVB_SA_DELETE), 0);
		world_close();
	}
}

CT_TEST_F(groups, R23_a_refused_look_fails_with_its_error)
{
	w.refuse_method = PVB_SA_GET;
	w.refuse = PVB_SA_REQ_DENIED;
	world_join_and_serve(1, true, true);
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EINVAL);
	CT_EXPECT_EQ(w.user[1].status, PVB_SA_REQ_DENIED);
}

CT_TEST_F(groups, silence_fails_with_a_timeout)
{
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

CT_TEST_F(groups, R17_a_join_that_grants_another_state_is_an_error_and_is_left)
{
	struct world_request request;
	struct pvb_mcm mcm;

	world_join_half();
	request = *world_next();
	mcm = world_make(world_mgid(1))->record;
	mcm.join_state = SEND_ONLY;
	w.served++;
	world_answer(&request, 0, &mcm);
	CT_EXPECT_EQ(w.user[1].err, -FI_EINVAL);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_DELETE);
}

/* Between the look and the join. */
CT_TEST_F(groups, R23_a_group_that_goes_in_between_is_created)
{
	world_make(world_mgid(1));
	world_join_half();
	world_unmake(world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, FULL);
}

CT_TEST(groups, R23_a_group_that_somebody_makes_in_between_is_joined_or_refused)
{
	world_open();
	world_join_half();
	world_make(world_mgid(1));
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 1);
	world_close();
	world_open();
	world_join_half();
	world_make(world_mgid(1))->record.mtu = WORLD_MTU - 1;
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	world_close();
}

CT_TEST_F(groups, R23_a_group_that_comes_and_goes_forever_is_given_up)
{
	int i;

	world_join_half();
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
}
