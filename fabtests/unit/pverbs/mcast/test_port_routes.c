/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of an IPoIB link: where datagrams go, to the group, to the routers or nowhere,
 * and how groups that appear and go are noticed. */
#include "../fake_queue.h"
#include "world_port.h"

#define ROUTERS "ff12:401b:ffff::2"
#define BROADCAST "ff12:401b:ffff::ffff:ffff"
#define GROUP_V6 "ff05::1:3"
#define MGID_V6 "ff12:601b:ffff::1:3"
#define ROUTERS_V6 "ff12:601b:ffff::2"

CT_FIXTURE(mc_port, struct port_world, port_start, port_close);

CT_TEST_F(mc_port, R29_R31_an_absent_group_is_sent_to_the_routers_until_it_appears)
{
	struct fid_mc *mc;

	fake_sa_create(ROUTERS);
	mc = port_join(t, 0, FI_SEND);
	CT_EXPECT_EQ(fake_sa.joins, 0);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 0);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(ROUTERS)->mcm.mlid);
	fake_sa_create(PORT_MGID);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(PORT_MGID)->mcm.mlid);
	fake_sa_delete(PORT_MGID);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(ROUTERS)->mcm.mlid);
	CT_EXPECT_EQ(port_dropped(t), 0);
	mcast_left(mc);
	port_settle(t);
	CT_EXPECT_EQ(fake_sa.leaves, 0);
}

static void create_large(const char *mgid)
{
	fake_sa_create(mgid)->mcm.mtu = IBV_MTU_2048;
}

CT_TEST_F(mc_port, R31_groups_of_ipv6_appear_and_go_as_well)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.large = true}));
	fake_sa_find(BROADCAST)->mcm.mtu = IBV_MTU_2048;
	create_large(ROUTERS_V6);
	mc = port_join_text(t, 0, GROUP_V6, FI_SEND);
	port_settled_joined(t, mc);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(ROUTERS_V6)->mcm.mlid);
	create_large(MGID_V6);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(MGID_V6)->mcm.mlid);
	fake_sa_delete(MGID_V6);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(ROUTERS_V6)->mcm.mlid);
	mcast_left(mc);
}

CT_TEST_F(mc_port, R30_without_routers_it_is_dropped_and_counted)
{
	struct fid_mc *mc;

	mc = port_join(t, 0, FI_SEND);
	CT_EXPECT_EQ(port_sent_to(t, mc), DGRAM_LID);
	CT_EXPECT_EQ(port_dropped(t), 1);
	fake_sa_create(ROUTERS);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(ROUTERS)->mcm.mlid);
	CT_EXPECT_EQ(port_dropped(t), 1);
	mcast_left(mc);
}

CT_TEST_F(mc_port, R32_a_copy_goes_to_the_routers)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.copy = 1}));
	fake_sa_create(ROUTERS);
	mc = port_join(t, 0, 0);
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, fi_mc_addr(mc)), 0);
	CT_ASSERT_EQ(t->qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 0)->ah->attr.dlid,
		     fake_sa_find(PORT_MGID)->mcm.mlid);
	CT_EXPECT_EQ(fake_wr(&t->qp->sq, 1)->ah->attr.dlid,
		     fake_sa_find(ROUTERS)->mcm.mlid);
	fake_complete_all(t->qp);
	mcast_left(mc);
}

CT_TEST_F(mc_port, R31_groups_that_nobody_reports_are_looked_for)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.reports_used = true}));
	ct_time_stop();
	mc = port_join(t, 0, FI_SEND);
	CT_EXPECT_EQ(fake_sa.informs, 0);
	fake_sa_create(PORT_MGID);
	CT_EXPECT_EQ(port_sent_to(t, mc), DGRAM_LID);
	ct_time_pass(5000);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(PORT_MGID)->mcm.mlid);
	mcast_left(mc);
}

CT_TEST_F(mc_port, groups_that_are_reported_are_not_looked_for)
{
	struct fid_mc *mc;
	int gets;

	ct_time_stop();
	mc = port_join(t, 0, FI_SEND);
	gets = fake_sa.gets;
	ct_time_pass(5000);
	port_settle(t);
	CT_EXPECT_EQ(fake_sa.gets, gets);
	mcast_left(mc);
}
