/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of an IPoIB link: memberships at the subnet administrator, what they have of the
 * link, and what is told of joins that fail. */
#include <arpa/inet.h>
#include <errno.h>
#include "../fake_queue.h"
#include "world_port.h"

CT_FIXTURE(mc_port, struct port_world, port_start, port_close);

CT_TEST_F(mc_port, R26_who_receives_is_a_member_at_the_administrator)
{
	const struct fake_sa_group *group;
	const struct ibv_ah_attr *ah;
	struct fid_mc *mc;

	mc = port_join(t, 0, 0);
	group = fake_sa_find(PORT_MGID);
	CT_ASSERT_NE(group, NULL);
	CT_EXPECT_TRUE(group->state & PVB_MCM_FULL);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 0);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 1);
	CT_EXPECT_EQ(port_sent_to(t, mc), group->mcm.mlid);
	/* As the link's groups are. */
	ah = &fake_newest(&t->qp->sq)->ah->attr;
	CT_EXPECT_EQ(memcmp(&ah->grh.dgid, group->mcm.mgid, 16), 0);
	CT_EXPECT_EQ(ah->sl, 2);
	CT_EXPECT_EQ(ah->static_rate, group->mcm.rate);
	CT_EXPECT_EQ(ah->grh.traffic_class, 3);
	CT_EXPECT_EQ(ah->grh.flow_label, 5);
	CT_EXPECT_EQ(ah->grh.hop_limit, 7);
	CT_EXPECT_EQ(fake_newest(&t->qp->sq)->remote_qkey, PORT_QKEY);
	mcast_left(mc);
	port_settle(t);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	CT_EXPECT_EQ(fake_sa_find(PORT_MGID), NULL);
}

CT_TEST_F(mc_port, endpoints_share_a_membership_and_the_port)
{
	struct fid_mc *mc[3];
	int i;

	/* For the Q_Key. */
	CT_EXPECT_EQ(fake.opened, 1);
	CT_EXPECT_EQ(fake.closed, 1);
	mc[0] = port_join(t, 0, 0);
	mc[1] = port_join(t, 1, FI_RECV);
	mc[2] = port_join(t, 1, FI_SEND);
	CT_EXPECT_EQ(fake_sa.joins, 1);
	CT_EXPECT_EQ(fake.opened, 2);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	CT_EXPECT_EQ(fi_mc_addr(mc[1]), FI_ADDR_NOTAVAIL);
	for (i = 2; i >= 0; i--) {
		CT_EXPECT_EQ(fake_sa.leaves, 0);
		mcast_left(mc[i]);
		port_settle(t);
	}
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	CT_EXPECT_EQ(fake.closed, 1);
}

/* Neither by its own Q_Key, nor as one that only sends (draft section 10). */
CT_TEST_F(mc_port, R9_a_link_with_another_q_key_is_refused)
{
	const uint64_t flags[] = {0, FI_SEND};
	struct fid_mc *mc;
	size_t i;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.qkey = 0x11}));
	for (i = 0; i < CRN_COUNT(flags); i++) {
		mc = port_join_text(t, 0, PORT_GROUP, flags[i]);
		port_settle(t);
		expect_eq_error(t->m.eq, &mc->fid, FI_EINVAL, 0);
		CT_EXPECT_WARNED("FI_PVERBS_QKEY=0xb1b");
		mcast_left(mc);
	}
	CT_EXPECT_EQ(fake_sa.joins, 0);
}

CT_TEST_F(mc_port, R9_endpoints_have_the_q_key_of_the_link)
{
	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.link_qkey = 0x80000b1b}));
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].qkey, 0x80000b1b);
	mcast_left(port_join(t, 0, 0));
	CT_EXPECT_EQ(fake_sa.joins, 1);
}

CT_TEST_F(mc_port, R9_of_a_silent_administrator_nothing_is_learnt)
{
	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.link_qkey = 0x80000b1b,
							     .silent = true}));
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_INIT].qkey, PORT_QKEY);
	CT_EXPECT_EQ(fake.closed, 1);
}

CT_TEST_F(mc_port, what_the_administrator_says_is_told)
{
	static const struct {
		uint16_t status;
		int err;
	} rows[] = {
		{PVB_SA_NO_RESOURCES, FI_ENOSPC},
		{PVB_SA_REQ_INVALID, FI_EINVAL},
		{0x7f00, FI_EIO},
	};
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		fake_sa.status = rows[i].status;
		mc = port_join_text(t, 0, PORT_GROUP, 0);
		port_settle(t);
		expect_eq_error(t->m.eq, &mc->fid, rows[i].err, rows[i].status);
		CT_EXPECT_EQ(fi_mc_addr(mc), FI_ADDR_NOTAVAIL);
		mcast_left(mc);
	}
}

CT_TEST_F(mc_port, R13_without_a_link_nothing_is_joined)
{
	struct fid_mc *mc;

	fake_sa.group[0].used = false;
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	port_settle(t);
	expect_eq_error(t->m.eq, &mc->fid, FI_EADDRNOTAVAIL, PVB_SA_NO_RECORDS);
	CT_EXPECT_WARNED("0xffff");
	mcast_left(mc);
	/* The next one looks again. */
	fake_sa.group[0].used = true;
	mcast_left(port_join(t, 0, 0));
}

/* IPv6 needs 1280 bytes (draft section 6.1); IPv4 does not. */
CT_TEST_F(mc_port, R7_a_link_too_small_for_ipv6_has_none)
{
	struct fid_mc *mc;

	mc = port_join_text(t, 0, "ff05::1234", 0);
	port_settle(t);
	expect_eq_error(t->m.eq, &mc->fid, FI_EMSGSIZE, 0);
	mcast_left(mc);
	mcast_left(port_join(t, 0, 0));
}

CT_TEST_F(mc_port, R15_the_mtu_of_a_router_is_taken_if_it_is_smaller)
{
	static const struct {
		int said;
		uint32_t mtu;
		bool refused;
	} rows[] = {
		{0, 1024, false},
		{512, 512, false},
		{2048, 1024, true},
		{8, 1024, true},
	};
	static char bytes[DGRAM_MTU];
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		CT_ASSERT_TRUE(
			port_open_with(t, &(struct port_opts){.mtu = rows[i].said}));
		ct_log_reset();
		mc = port_join(t, 0, 0);
		CT_EXPECT_EQ(fi_send(t->m.ep[0], bytes, rows[i].mtu, NULL, fi_mc_addr(mc),
				     NULL),
			     0);
		CT_EXPECT_EQ(fi_send(t->m.ep[0], bytes, rows[i].mtu + 1, NULL,
				     fi_mc_addr(mc), NULL),
			     -FI_EMSGSIZE);
		/* No interface, what the link has, and before that what is refused. */
		CT_EXPECT_EQ(ct_log_count(), 2u + rows[i].refused);
		fake_complete_all(t->qp);
		mcast_left(mc);
	}
}

CT_TEST_F(mc_port, a_silent_administrator_is_a_timeout)
{
	struct fi_eq_entry entry;
	struct fid_mc *mc;
	uint32_t event;

	CT_ASSERT_TRUE(port_open_with(t, &(struct port_opts){.timeout = 100}));
	fake_sa.silent = true;
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	CT_EXPECT_EQ(fi_eq_sread(t->m.eq, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EAVAIL);
	expect_eq_error(t->m.eq, &mc->fid, FI_ETIMEDOUT, 0);
	mcast_left(mc);
}

/* The program sleeps; what arrives at the port wakes it. */
CT_TEST_F(mc_port, who_waits_for_the_event_queue_is_woken)
{
	struct fi_eq_entry entry;
	struct fid_mc *mc;
	uint32_t event;

	mc = port_join_text(t, 0, PORT_GROUP, 0);
	CT_EXPECT_EQ(fi_eq_sread(t->m.eq, &event, &entry, sizeof(entry), -1, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(event, FI_JOIN_COMPLETE);
	CT_EXPECT_EQ(entry.fid, &mc->fid);
	mcast_left(mc);
}

/* What passes is told, and the next one that joins finds the administrator. */
CT_TEST_F(mc_port, a_shortage_does_not_end_subnet_administration)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_addr = {htonl(0xef010101)}};
	struct fid_mc *mc;

	fake.open_errno = EMFILE;
	CT_EXPECT_EQ(fi_join(t->m.ep[0], &in, 0, &mc, NULL), -FI_EMFILE);
	fake.open_errno = 0;
	fake.port_errno = ENOMEM;
	CT_EXPECT_EQ(fi_join(t->m.ep[0], &in, 0, &mc, NULL), -FI_ENOMEM);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 0);
	fake.port_errno = 0;
	mc = port_join(t, 0, 0);
	CT_ASSERT_NE(mc, NULL);
	mcast_left(mc);
}

CT_TEST_F(mc_port, what_the_device_refuses_ends_one_membership)
{
	struct fid_mc *mc;

	fake_fail(FAKE_ATTACH, 1, ENOMEM);
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	port_settle(t);
	expect_eq_error(t->m.eq, &mc->fid, FI_ENOMEM, 0);
	port_settle(t);
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	mcast_left(mc);
}
