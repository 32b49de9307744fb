/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of an IPoIB link of which the kernel has an interface: its memberships, by
 * rdma_cm, beside the subnet administrator, and alone where no umad can be opened. */
#include <arpa/inet.h>
#include <errno.h>
#include "world_port.h"

static bool kernel_open(struct port_world *w)
{
	return port_open_with(w, &(struct port_opts){.kernel = true});
}

/* The kernel has joined the group, and so has the port. */
static void kernel_joins(uint32_t qkey)
{
	uint8_t gid[16];

	CT_EXPECT_EQ(inet_pton(AF_INET6, PORT_MGID, gid), 1);
	fake_join_event(fake_join.id, gid, fake_sa_create(PORT_MGID)->mcm.mlid, qkey);
}

CT_FIXTURE(mc_port, struct port_world, NULL, port_close);

/* The kernel's groups have MGIDs of RFC 4391. */
CT_TEST_F(mc_port, of_a_link_as_the_draft_has_it_the_kernel_has_no_groups)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(
		port_open_with(t, &(struct port_opts){.kernel = true, .draft = true}));
	mc = port_join(t, 0, FI_RECV);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 0);
	CT_EXPECT_EQ(fake_sa.joins, 1);
	mcast_left(mc);
	port_settle(t);
	CT_EXPECT_EQ(fake_sa.leaves, 1);
}

CT_TEST_F(mc_port, on_the_link_of_the_kernel_who_receives_is_its_member)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(kernel_open(t));
	mc = port_join_text(t, 0, PORT_GROUP, FI_RECV);
	port_settle(t);
	CT_EXPECT_EQ(fake_join.id->ps, RDMA_PS_IPOIB);
	CT_EXPECT_EQ(fake_join.addr.ss_family, AF_IB);
	kernel_joins(PORT_QKEY);
	port_settled_joined(t, mc);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 1);
	CT_EXPECT_EQ(fake_sa.joins, 0);
	mcast_left(mc);
	port_settle(t);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_sa.leaves, 0);
}

/* One event tells of both. */
CT_TEST_F(mc_port, and_the_administrator_says_where_it_sends)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(kernel_open(t));
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	port_settle(t);
	expect_no_event(t->m.eq);
	kernel_joins(PORT_QKEY);
	port_settled_joined(t, mc);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(PORT_MGID)->mcm.mlid);
	fake_sa_delete(PORT_MGID);
	port_settle(t);
	CT_EXPECT_EQ(port_sent_to(t, mc), DGRAM_LID);
	/* Both are told of. */
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	expect_eq_error(t->m.eq, &mc->fid, FI_ECONNRESET, -ENETRESET);
	while (fake_count(FAKE_JOIN) < 2 && !ct_failed())
		expect_no_event(t->m.eq);
	kernel_joins(PORT_QKEY);
	port_settled_joined(t, mc);
	CT_EXPECT_EQ(port_sent_to(t, mc), fake_sa_find(PORT_MGID)->mcm.mlid);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	CT_EXPECT_EQ(fake_sa.joins, 0);
	mcast_left(mc);
}

/* Either part fails; what the other does is told no more, and ends with fi_close. */
CT_TEST_F(mc_port, either_of_the_two_may_fail)
{
	struct fid_mc *mc;

	CT_ASSERT_TRUE(kernel_open(t));
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	port_settle(t);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL, NULL, 0);
	expect_eq_error(t->m.eq, &mc->fid, FI_EINVAL, -EINVAL);
	fake_sa_create(PORT_MGID);
	port_settle(t);
	expect_no_event(t->m.eq);
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, fi_mc_addr(mc)), -FI_EADDRNOTAVAIL);
	mcast_left(mc);
	fake_sa.status = PVB_SA_NO_RESOURCES;
	mc = port_join_text(t, 0, PORT_GROUP, 0);
	port_settle(t);
	expect_eq_error(t->m.eq, &mc->fid, FI_ENOSPC, PVB_SA_NO_RESOURCES);
	kernel_joins(PORT_QKEY);
	port_settle(t);
	expect_no_event(t->m.eq);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 0);
	CT_EXPECT_EQ(fi_inject(t->m.ep[0], "x", 1, fi_mc_addr(mc)), -FI_EADDRNOTAVAIL);
	mcast_left(mc);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 2);
}

CT_TEST_F(mc_port, without_umad_groups_are_joined_by_rdma_cm)
{
	struct fid_mc *mc[2];
	uint8_t gid[16];

	CT_ASSERT_TRUE(
		port_open_with(t, &(struct port_opts){.absent = true, .kernel = true}));
	mc[0] = port_join_text(t, 0, PORT_GROUP, FI_SEND);
	CT_EXPECT_WARNED("FI_PVERBS_LINK");
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
	CT_EXPECT_EQ(inet_pton(AF_INET6, PORT_MGID, gid), 1);
	fake_join_event(fake_join.id, gid, 0xc001, PORT_QKEY);
	expect_joined(&t->m, mc[0]);
	ct_log_reset();
	mc[1] = port_join_text(t, 1, PORT_GROUP, FI_SEND);
	expect_joined(&t->m, mc[1]);
	/* It is said once. */
	CT_EXPECT_EQ(ct_log_count(), 0);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
}

CT_TEST_F(mc_port, without_permission_the_log_says_what_it_takes)
{
	CT_ASSERT_TRUE(kernel_open(t));
	fake.open_errno = EACCES;
	mcast_left(port_join_text(t, 0, PORT_GROUP, 0));
	CT_EXPECT_WARNED("/dev/infiniband/umad");
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
}
