/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/ud.c, verbs/ah.c, verbs/mcast.c, engine/mcast.c */
#include "subnet/subnet.h"
#include "../world.h"

CT_FIXTURE(ud, struct pair, pair_open_ud, pair_close);

CT_TEST_F(ud, datagram_arrives_behind_forty_bytes_and_can_be_answered)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1, .is_global = 1};
	struct ibv_ah *ah, *back;
	struct ibv_wc wc;

	CT_ASSERT_EQ(ibv_query_gid(t->a.ctx, 1, 0, &attr.grh.dgid), 0);
	ah = ibv_create_ah(t->a.pd, &attr);
	CT_ASSERT_NE(ah, NULL);
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 100), 0);
	strcpy(t->a.memory, "datagram");
	CT_ASSERT_EQ(world_send_to(&t->a, ah, t->b.qp->qp_num, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_ASSERT_TRUE(world_wait(t->b.cq, &wc));
	CT_EXPECT_EQ(wc.byte_len, 49);
	CT_EXPECT_EQ(wc.src_qp, t->a.qp->qp_num);
	CT_EXPECT_EQ(wc.slid, 1);
	CT_EXPECT_EQ(wc.wc_flags, IBV_WC_GRH);
	CT_EXPECT_STREQ(t->b.memory + 40, "datagram");
	back = ibv_create_ah_from_wc(t->b.pd, &wc, (struct ibv_grh *)t->b.memory, 1);
	CT_ASSERT_NE(back, NULL);
	CT_ASSERT_EQ(world_recv(&t->a, 1, 0, 100), 0);
	CT_ASSERT_EQ(world_send_to(&t->b, back, wc.src_qp, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_destroy_ah(ah), 0);
	CT_EXPECT_EQ(ibv_destroy_ah(back), 0);
}

CT_TEST_F(ud, wrong_key_no_receive_or_nobody_there_is_silence)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(t->a.pd, &attr);

	CT_ASSERT_NE(ah, NULL);
	CT_ASSERT_EQ(world_send_to(&t->a, ah, t->b.qp->qp_num, 0x1234, 9), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 1, 0, 100), 0);
	CT_ASSERT_EQ(world_send_to(&t->a, ah, t->b.qp->qp_num, 0x4321, 9), 0);
	CT_ASSERT_EQ(world_send_to(&t->a, ah, 0x00fffff0, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_quiet(t->b.cq));
	CT_EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

CT_TEST_F(ud, longer_than_the_mtu_stops_the_sends_only)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr state;
	struct ibv_ah *ah = ibv_create_ah(t->a.pd, &attr);

	CT_ASSERT_EQ(world_send_to(&t->a, ah, t->b.qp->qp_num, 0x1234, 4097), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_LOC_LEN_ERR);
	CT_ASSERT_EQ(ibv_query_qp(t->a.qp, &state, 0, &init), 0);
	CT_EXPECT_EQ(state.qp_state, IBV_QPS_SQE);
	CT_ASSERT_EQ(world_send_to(&t->a, ah, t->b.qp->qp_num, 0x1234, 8), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_WR_FLUSH_ERR);
	state.qp_state = IBV_QPS_RTS;
	CT_ASSERT_EQ(ibv_modify_qp(t->a.qp, &state, IBV_QP_STATE), 0);
	CT_ASSERT_EQ(world_send_to(&t->a, ah, t->b.qp->qp_num, 0x1234, 8), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

CT_TEST_F(ud, group_reaches_every_member)
{
	struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1};
	struct ibv_ah *ah;

	attr.grh.dgid.raw[0] = 0xff;
	attr.grh.dgid.raw[15] = 9;
	attr.dlid = world_join_group(&attr.grh.dgid);
	ah = ibv_create_ah(t->a.pd, &attr);
	CT_ASSERT_NE(ah, NULL);
	CT_ASSERT_EQ(ibv_attach_mcast(t->a.qp, &attr.grh.dgid, attr.dlid), 0);
	CT_ASSERT_EQ(ibv_attach_mcast(t->b.qp, &attr.grh.dgid, attr.dlid), 0);
	CT_ASSERT_EQ(world_recv(&t->a, 1, 0, 100), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 2, 0, 100), 0);
	CT_ASSERT_EQ(world_send_to(&t->a, ah, 0xffffff, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_destroy_qp(t->b.qp), EBUSY);
	CT_EXPECT_EQ(ibv_detach_mcast(t->a.qp, &attr.grh.dgid, attr.dlid), 0);
	CT_EXPECT_EQ(ibv_detach_mcast(t->b.qp, &attr.grh.dgid, attr.dlid), 0);
	CT_EXPECT_EQ(ibv_detach_mcast(t->b.qp, &attr.grh.dgid, attr.dlid), EINVAL);
	CT_EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

struct search {
	struct end *first, *last, *late;
	int found[2];
};

static uint32_t slot_of(const struct end *end)
{
	struct svb_mcast_sh *at;
	uint32_t i;

	for (i = 0; (at = svb_seg_mcast_try(svb_self.seg, i)); i++)
		if (at->qpn == end->qp->qp_num)
			break;
	return i;
}

static bool late_is_between(const struct search *search)
{
	const uint32_t late = slot_of(search->late);

	return late > slot_of(search->first) && late < slot_of(search->last);
}

/* The late one comes to a slot between the two others. */
static void search_found(struct svb_seg *seg, struct svb_qp_sh *qp, void *arg)
{
	const union ibv_gid other = {.raw = {0xff, [15] = 8}};
	struct search *search = arg;
	int tries = 0;

	search->found[0] += qp->qpn == search->first->qp->qp_num;
	search->found[1] += qp->qpn == search->last->qp->qp_num;
	if (qp->qpn != search->first->qp->qp_num)
		return;
	CT_ASSERT_EQ(ibv_attach_mcast(search->late->qp, &other, 0), 0);
	while (!late_is_between(search) && tries++ < 1000) {
		CT_ASSERT_EQ(ibv_detach_mcast(search->late->qp, &other, 0), 0);
		CT_ASSERT_EQ(ibv_attach_mcast(search->late->qp, &other, 0), 0);
	}
	CT_EXPECT_TRUE(late_is_between(search));
}

/* Who is attached while another looks for members hides none of them. */
CT_TEST_F(ud, a_member_is_found_while_others_come_and_go)
{
	const union ibv_gid group = {.raw = {0xff, [15] = 7}};
	const union ibv_gid other = {.raw = {0xff, [15] = 8}};
	struct end c;
	struct search search = {.first = &t->a, .last = &t->b, .late = &c};
	uint16_t lid;

	CT_ASSERT_TRUE(world_open_ud(&c));
	lid = world_join_group(&group);
	CT_ASSERT_EQ(ibv_attach_mcast(t->a.qp, &group, lid), 0);
	CT_ASSERT_EQ(ibv_attach_mcast(c.qp, &other, 0), 0);
	CT_ASSERT_EQ(ibv_attach_mcast(t->b.qp, &group, lid), 0);
	CT_ASSERT_EQ(ibv_detach_mcast(c.qp, &other, 0), 0);
	svb_mcast_each(&group, lid, search_found, &search);
	CT_EXPECT_EQ(search.found[0], 1);
	CT_EXPECT_EQ(search.found[1], 1);
	/* The last one goes. */
	CT_ASSERT_EQ(ibv_detach_mcast(t->b.qp, &group, lid), 0);
	svb_mcast_each(&group, lid, search_found, &search);
	CT_EXPECT_EQ(search.found[0], 2);
	CT_EXPECT_EQ(search.found[1], 1);
	CT_EXPECT_EQ(svb_self.seg->mcast_end, slot_of(&c) + 1);
	CT_ASSERT_EQ(ibv_detach_mcast(t->a.qp, &group, lid), 0);
	CT_ASSERT_EQ(ibv_detach_mcast(c.qp, &other, 0), 0);
	CT_EXPECT_EQ(svb_self.seg->mcast_end, 0);
	world_close(&c);
}

/* Switches carry a packet to the ports that joined the group of its DLID, and no others.
 */
CT_TEST_F(ud, who_is_attached_and_no_member_receives_nothing)
{
	struct ibv_ah_attr attr = {.dlid = 0xc123, .port_num = 1, .is_global = 1};
	struct ibv_ah *absent, *other, *group;

	attr.grh.dgid.raw[0] = 0xff;
	attr.grh.dgid.raw[15] = 77;
	CT_ASSERT_EQ(ibv_attach_mcast(t->b.qp, &attr.grh.dgid, attr.dlid), 0);
	CT_ASSERT_EQ(world_recv(&t->b, 2, 0, 100), 0);
	absent = ibv_create_ah(t->a.pd, &attr);
	CT_ASSERT_EQ(world_send_to(&t->a, absent, 0xffffff, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	attr.dlid = world_join_group(&attr.grh.dgid);
	group = ibv_create_ah(t->a.pd, &attr);
	attr.dlid++;
	other = ibv_create_ah(t->a.pd, &attr);
	CT_ASSERT_TRUE(absent && group && other);
	CT_ASSERT_EQ(world_send_to(&t->a, other, 0xffffff, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_quiet(t->b.cq));
	CT_ASSERT_EQ(world_send_to(&t->a, group, 0xffffff, 0x1234, 9), 0);
	CT_EXPECT_EQ(world_status(t->b.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(world_status(t->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(ibv_detach_mcast(t->b.qp, &attr.grh.dgid, 0), 0);
	ibv_destroy_ah(absent);
	ibv_destroy_ah(group);
	ibv_destroy_ah(other);
}

/* subnet/members.c: a port is one member, whatever joined it. */
CT_TEST_F(ud, a_leave_of_the_port_is_one_of_all_its_ids)
{
	const struct svb_group_attr attr = {.pkey = 0xffff};
	struct svb_subnet_join one = {.state = SVB_JOIN_FULL, .create = &attr}, two,
			       other;
	struct svb_group group;
	uint32_t place;

	one.mgid.raw[0] = 0xff;
	one.mgid.raw[15] = 78;
	other = one;
	other.port = 1;
	one.by_cm = true;
	two = one;
	CT_ASSERT_EQ(svb_subnet_join(&other, NULL, NULL), SVB_SA_OK);
	CT_ASSERT_EQ(svb_subnet_join(&one, NULL, NULL), SVB_SA_OK);
	CT_ASSERT_EQ(svb_subnet_join(&two, &group, &place), SVB_SA_OK);
	CT_EXPECT_EQ(group.receivers, 3);
	CT_EXPECT_EQ(svb_subnet_leave(&one.mgid, 0, SVB_JOIN_FULL, &group), SVB_SA_OK);
	svb_subnet_release(one.handle);
	CT_ASSERT_TRUE(svb_subnet_get(place, &group));
	CT_EXPECT_EQ(group.receivers, 2);
	svb_subnet_release(two.handle);
	CT_EXPECT_EQ(svb_subnet_leave(&one.mgid, 0, SVB_JOIN_FULL, &group),
		     SVB_SA_REQ_INVALID);
	CT_EXPECT_EQ(svb_subnet_leave(&one.mgid, 1, SVB_JOIN_FULL, &group), SVB_SA_OK);
	CT_EXPECT_EQ(svb_subnet_find(&one.mgid), -1);
}
