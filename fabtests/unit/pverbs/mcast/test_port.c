/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of an IPoIB link by subnet administration, as a program sees them. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <rdma/fi_ext_cairn.h>
#include "../fake_queue.h"
#include "fake_sa.h"
#include "objects/objects.h"
#include "world_mcast.h"

#define LINK_QKEY 0xb1bu
#define GROUP "239.1.1.1"
#define MGID "ff12:401b:ffff::f01:101"
#define ROUTERS "ff12:401b:ffff::2"
#define BROADCAST "ff12:401b:ffff::ffff:ffff"
#define GROUP_V6 "ff05::1:3"
#define MGID_V6 "ff12:601b:ffff::1:3"
#define ROUTERS_V6 "ff12:601b:ffff::2"
#define READS 100
#define MANY 30

struct port_world {
	struct mcast_world m;
	struct fake_qp *qp;
};

static struct {
	int copy, mtu, timeout;
	size_t qkey;
	size_t link_qkey;  /* 0: LINK_QKEY */
	bool silent;	   /* the administrator, while the domain is opened */
	bool absent;	   /* no port can be opened */
	bool reports_used; /* by somebody else */
	bool kernel;	   /* has an interface on the link */
	bool draft;	   /* profile, instead of rfc */
	bool large;	   /* the port has an MTU of 2048 bytes */
} chosen;

static void choose(void)
{
	pvb_params.link = chosen.draft ? PVB_LINK_DRAFT : PVB_LINK_RFC;
	pvb_params.link_copy = chosen.copy;
	pvb_params.link_mtu = chosen.mtu;
	pvb_params.qkey = chosen.qkey;
	pvb_params.keepalive = 0;
	if (!chosen.kernel)
		fake_cm_reset();
	if (chosen.timeout)
		pvb_params.join_timeout = chosen.timeout;
	if (chosen.large)
		fake_devices[0].port[0].active_mtu = IBV_MTU_2048;
}

static bool port_open(struct port_world *w)
{
	const struct dgram_opts opts = {.ib = true,
					.caps = FI_MSG | FI_MULTICAST,
					.arrange = choose};

	fake_sa_open(chosen.link_qkey ? (uint32_t)chosen.link_qkey : LINK_QKEY);
	fake_sa.silent = chosen.silent;
	if (chosen.absent)
		fake_sa_none();
	fake.reports_used = chosen.reports_used;
	if (!mcast_open_with(&w->m, &opts))
		return false;
	w->qp = qp_of(w->m.ep[0]);
	return true;
}

/* With the usual parameters. */
static bool port_open_plain(struct port_world *w)
{
	memset(&chosen, 0, sizeof(chosen));
	return port_open(w);
}

static void port_close(struct port_world *w)
{
	mcast_close(&w->m);
	CT_EXPECT_EQ(fake.opened, fake.closed);
	fake_sa_none();
}

static struct fid_mc *join_text(struct port_world *w, int i, const char *ip,
				uint64_t flags)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};
	const void *addr = &in;
	struct fid_mc *mc = NULL;

	if (!inet_pton(AF_INET, ip, &in.sin_addr)) {
		CT_EXPECT_EQ(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
		addr = &in6;
	}
	CT_EXPECT_EQ(fi_join(w->m.ep[i], addr, flags, &mc, &w->m), 0);
	return mc;
}

/* Everything that has come is looked at. */
static void settle(struct port_world *w)
{
	struct fi_eq_entry entry;
	uint32_t event;
	int i;

	for (i = 0; i < READS; i++)
		fi_eq_read(w->m.eq, &event, &entry, sizeof(entry), FI_PEEK);
}

static void settled_joined(struct port_world *w, struct fid_mc *mc)
{
	settle(w);
	expect_joined(&w->m, mc);
	expect_no_event(w->m.eq);
}

static struct fid_mc *join(struct port_world *w, int i, uint64_t flags)
{
	struct fid_mc *mc = join_text(w, i, GROUP, flags);

	if (mc)
		settled_joined(w, mc);
	return mc;
}

/* The LID that a datagram leaves for; 0: none does. */
static uint16_t sent_to(struct port_world *w, struct fid_mc *mc)
{
	const unsigned int before = w->qp->sq.posted;

	CT_EXPECT_EQ(fi_inject(w->m.ep[0], "x", 1, fi_mc_addr(mc)), 0);
	fake_complete_all(w->qp);
	return w->qp->sq.posted > before ? fake_newest(&w->qp->sq)->ah->attr.dlid : 0;
}

static uint64_t dropped(struct port_world *w)
{
	struct fi_cairn_ops_stats *ops;
	struct fi_cairn_stats stats = {0};

	CT_EXPECT_EQ(fi_open_ops(&w->m.ep[0]->fid, FI_CAIRN_STATS, 0, (void **)&ops,
				 NULL),
		     0);
	CT_EXPECT_EQ(ops->read(w->m.ep[0], &stats, sizeof(stats)), 0);
	return stats.mc_dropped;
}

CT_TEST(mc_port, R26_who_receives_is_a_member_at_the_administrator)
{
	const struct fake_sa_group *group;
	const struct ibv_ah_attr *ah;
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join(&w, 0, 0);
	group = fake_sa_find(MGID);
	CT_ASSERT_NE(group, NULL);
	CT_EXPECT_TRUE(group->state & PVB_MCM_FULL);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 0);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 1);
	CT_EXPECT_EQ(sent_to(&w, mc), group->mcm.mlid);
	/* As the link's groups are. */
	ah = &fake_newest(&w.qp->sq)->ah->attr;
	CT_EXPECT_EQ(memcmp(&ah->grh.dgid, group->mcm.mgid, 16), 0);
	CT_EXPECT_EQ(ah->sl, 2);
	CT_EXPECT_EQ(ah->static_rate, group->mcm.rate);
	CT_EXPECT_EQ(ah->grh.traffic_class, 3);
	CT_EXPECT_EQ(ah->grh.flow_label, 5);
	CT_EXPECT_EQ(ah->grh.hop_limit, 7);
	CT_EXPECT_EQ(fake_newest(&w.qp->sq)->remote_qkey, LINK_QKEY);
	mcast_left(mc);
	settle(&w);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	CT_EXPECT_EQ(fake_sa_find(MGID), NULL);
	port_close(&w);
}

CT_TEST(mc_port, endpoints_share_a_membership_and_the_port)
{
	struct port_world w;
	struct fid_mc *mc[3];
	int i;

	CT_ASSERT_TRUE(port_open_plain(&w));
	/* For the Q_Key. */
	CT_EXPECT_EQ(fake.opened, 1);
	CT_EXPECT_EQ(fake.closed, 1);
	mc[0] = join(&w, 0, 0);
	mc[1] = join(&w, 1, FI_RECV);
	mc[2] = join(&w, 1, FI_SEND);
	CT_EXPECT_EQ(fake_sa.joins, 1);
	CT_EXPECT_EQ(fake.opened, 2);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	CT_EXPECT_EQ(fi_mc_addr(mc[1]), FI_ADDR_NOTAVAIL);
	for (i = 2; i >= 0; i--) {
		CT_EXPECT_EQ(fake_sa.leaves, 0);
		mcast_left(mc[i]);
		settle(&w);
	}
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	CT_EXPECT_EQ(fake.closed, 1);
	port_close(&w);
}

CT_TEST(mc_port, R29_R31_an_absent_group_is_sent_to_the_routers_until_it_appears)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	fake_sa_create(ROUTERS);
	mc = join(&w, 0, FI_SEND);
	CT_EXPECT_EQ(fake_sa.joins, 0);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 0);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(ROUTERS)->mcm.mlid);
	fake_sa_create(MGID);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(MGID)->mcm.mlid);
	fake_sa_delete(MGID);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(ROUTERS)->mcm.mlid);
	CT_EXPECT_EQ(dropped(&w), 0);
	mcast_left(mc);
	settle(&w);
	CT_EXPECT_EQ(fake_sa.leaves, 0);
	port_close(&w);
}

static void create_large(const char *mgid)
{
	fake_sa_create(mgid)->mcm.mtu = IBV_MTU_2048;
}

CT_TEST(mc_port, R31_groups_of_ipv6_appear_and_go_as_well)
{
	struct port_world w;
	struct fid_mc *mc;

	memset(&chosen, 0, sizeof(chosen));
	chosen.large = true;
	CT_ASSERT_TRUE(port_open(&w));
	fake_sa_find(BROADCAST)->mcm.mtu = IBV_MTU_2048;
	create_large(ROUTERS_V6);
	mc = join_text(&w, 0, GROUP_V6, FI_SEND);
	settled_joined(&w, mc);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(ROUTERS_V6)->mcm.mlid);
	create_large(MGID_V6);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(MGID_V6)->mcm.mlid);
	fake_sa_delete(MGID_V6);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(ROUTERS_V6)->mcm.mlid);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, R30_without_routers_it_is_dropped_and_counted)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join(&w, 0, FI_SEND);
	CT_EXPECT_EQ(sent_to(&w, mc), DGRAM_LID);
	CT_EXPECT_EQ(dropped(&w), 1);
	fake_sa_create(ROUTERS);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(ROUTERS)->mcm.mlid);
	CT_EXPECT_EQ(dropped(&w), 1);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, R32_a_copy_goes_to_the_routers)
{
	struct port_world w;
	struct fid_mc *mc;

	memset(&chosen, 0, sizeof(chosen));
	chosen.copy = 1;
	CT_ASSERT_TRUE(port_open(&w));
	fake_sa_create(ROUTERS);
	mc = join(&w, 0, 0);
	CT_EXPECT_EQ(fi_inject(w.m.ep[0], "x", 1, fi_mc_addr(mc)), 0);
	CT_ASSERT_EQ(w.qp->sq.posted, 2);
	CT_EXPECT_EQ(fake_wr(&w.qp->sq, 0)->ah->attr.dlid, fake_sa_find(MGID)->mcm.mlid);
	CT_EXPECT_EQ(fake_wr(&w.qp->sq, 1)->ah->attr.dlid,
		     fake_sa_find(ROUTERS)->mcm.mlid);
	fake_complete_all(w.qp);
	mcast_left(mc);
	port_close(&w);
}

/* Neither by its own Q_Key, nor as one that only sends (draft section 10). */
CT_TEST(mc_port, R9_a_link_with_another_q_key_is_refused)
{
	const uint64_t flags[] = {0, FI_SEND};
	struct port_world w;
	struct fid_mc *mc;
	size_t i;

	memset(&chosen, 0, sizeof(chosen));
	chosen.qkey = 0x11;
	CT_ASSERT_TRUE(port_open(&w));
	for (i = 0; i < CRN_COUNT(flags); i++) {
		mc = join_text(&w, 0, GROUP, flags[i]);
		settle(&w);
		expect_eq_error(w.m.eq, &mc->fid, FI_EINVAL, 0);
		CT_EXPECT_NE(strstr(ct_log_last(), "FI_PVERBS_QKEY=0xb1b"), NULL);
		mcast_left(mc);
	}
	CT_EXPECT_EQ(fake_sa.joins, 0);
	port_close(&w);
}

/* Log lines of closing when the group has been left, whose link was found or not yet. */
static unsigned int lines_of_closing(bool silent)
{
	struct port_world w;
	struct fid_mc *mc;

	if (!port_open_plain(&w))
		return 0;
	fake_sa.silent = silent;
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	mcast_left(mc);
	ct_log_reset();
	port_close(&w);
	return ct_log_count();
}

CT_TEST(mc_port, who_closes_while_the_link_is_looked_for_is_told_nothing_of_it)
{
	CT_EXPECT_EQ(lines_of_closing(true), lines_of_closing(false));
}

CT_TEST(mc_port, R9_endpoints_have_the_q_key_of_the_link)
{
	struct port_world w;

	memset(&chosen, 0, sizeof(chosen));
	chosen.link_qkey = 0x80000b1b;
	CT_ASSERT_TRUE(port_open(&w));
	CT_EXPECT_EQ(w.qp->attr[IBV_QPS_INIT].qkey, 0x80000b1b);
	mcast_left(join(&w, 0, 0));
	CT_EXPECT_EQ(fake_sa.joins, 1);
	port_close(&w);
}

CT_TEST(mc_port, R9_of_a_silent_administrator_nothing_is_learnt)
{
	struct port_world w;

	memset(&chosen, 0, sizeof(chosen));
	chosen.link_qkey = 0x80000b1b;
	chosen.silent = true;
	CT_ASSERT_TRUE(port_open(&w));
	CT_EXPECT_EQ(w.qp->attr[IBV_QPS_INIT].qkey, LINK_QKEY);
	CT_EXPECT_EQ(fake.closed, 1);
	port_close(&w);
}

CT_TEST(mc_port, what_the_administrator_says_is_told)
{
	static const struct {
		uint16_t status;
		int err;
	} rows[] = {
		{PVB_SA_NO_RESOURCES, FI_ENOSPC},
		{PVB_SA_REQ_INVALID, FI_EINVAL},
		{0x7f00, FI_EIO},
	};
	struct port_world w;
	struct fid_mc *mc;
	size_t i;

	CT_ASSERT_TRUE(port_open_plain(&w));
	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		fake_sa.status = rows[i].status;
		mc = join_text(&w, 0, GROUP, 0);
		settle(&w);
		expect_eq_error(w.m.eq, &mc->fid, rows[i].err, rows[i].status);
		CT_EXPECT_EQ(fi_mc_addr(mc), FI_ADDR_NOTAVAIL);
		mcast_left(mc);
	}
	port_close(&w);
}

CT_TEST(mc_port, R13_without_a_link_nothing_is_joined)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	fake_sa.group[0].used = false;
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	expect_eq_error(w.m.eq, &mc->fid, FI_EADDRNOTAVAIL, PVB_SA_NO_RECORDS);
	CT_EXPECT_NE(strstr(ct_log_last(), "no IPoIB link of P_Key 0xffff"), NULL);
	mcast_left(mc);
	/* The next one looks again. */
	fake_sa.group[0].used = true;
	mcast_left(join(&w, 0, 0));
	port_close(&w);
}

/* IPv6 needs 1280 bytes (draft section 6.1); IPv4 does not. */
CT_TEST(mc_port, R7_a_link_too_small_for_ipv6_has_none)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join_text(&w, 0, "ff05::1234", 0);
	settle(&w);
	expect_eq_error(w.m.eq, &mc->fid, FI_EMSGSIZE, 0);
	mcast_left(mc);
	mcast_left(join(&w, 0, 0));
	port_close(&w);
}

CT_TEST(mc_port, R15_the_mtu_of_a_router_is_taken_if_it_is_smaller)
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
	struct port_world w;
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%zu", i);
		memset(&chosen, 0, sizeof(chosen));
		chosen.mtu = rows[i].said;
		CT_ASSERT_TRUE(port_open(&w));
		ct_log_reset();
		mc = join(&w, 0, 0);
		CT_EXPECT_EQ(fi_send(w.m.ep[0], bytes, rows[i].mtu, NULL, fi_mc_addr(mc),
				     NULL),
			     0);
		CT_EXPECT_EQ(fi_send(w.m.ep[0], bytes, rows[i].mtu + 1, NULL,
				     fi_mc_addr(mc), NULL),
			     -FI_EMSGSIZE);
		/* No interface, what the link has, and before that what is refused. */
		CT_EXPECT_EQ(ct_log_count(), 2u + rows[i].refused);
		fake_complete_all(w.qp);
		mcast_left(mc);
		port_close(&w);
	}
}

static void port_event(enum ibv_event_type type)
{
	struct ibv_async_event event = {.event_type = type};

	event.element.port_num = 1;
	fake_async_add(&fake_devices[0], &event);
}

static void restart(void)
{
	fake_sa_restart();
	port_event(IBV_EVENT_CLIENT_REREGISTER);
}

/* Waits for what a timer begins. */
static void await_joins(struct port_world *w, int count)
{
	while (fake_sa.joins < count && !ct_failed())
		settle(w);
	settle(w);
}

CT_TEST(mc_port, R35_after_a_restart_groups_are_joined_again)
{
	struct port_world w;
	struct fid_mc *mc;
	uint16_t lid;
	int informs;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join(&w, 0, 0);
	lid = fake_sa_find(MGID)->mcm.mlid;
	informs = fake_sa.informs;
	restart();
	settle(&w);
	expect_eq_error(w.m.eq, &mc->fid, FI_ECONNRESET, 0);
	await_joins(&w, 2);
	expect_joined(&w.m, mc);
	CT_EXPECT_NE(fake_sa_find(MGID)->mcm.mlid, lid);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(MGID)->mcm.mlid);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_sa.informs, informs + 2);
	mcast_left(mc);
	port_close(&w);
}

/* Each may have cost the port its memberships. */
CT_TEST(mc_port, what_happens_to_the_port_has_groups_joined_again)
{
	static const enum ibv_event_type events[] = {IBV_EVENT_SM_CHANGE,
						     IBV_EVENT_LID_CHANGE,
						     IBV_EVENT_PORT_ACTIVE};
	struct port_world w;
	struct fid_mc *mc;
	size_t i;

	for (i = 0; i < CRN_COUNT(events); i++) {
		CT_NOTE("event %d", (int)events[i]);
		CT_ASSERT_TRUE(port_open_plain(&w));
		mc = join(&w, 0, 0);
		port_event(events[i]);
		settle(&w);
		expect_eq_error(w.m.eq, &mc->fid, FI_ECONNRESET, 0);
		await_joins(&w, 2);
		expect_joined(&w.m, mc);
		mcast_left(mc);
		port_close(&w);
	}
}

/* Other threads read it meanwhile. */
CT_TEST(mc_port, the_address_is_not_written_again)
{
	const fi_addr_t mark = 7;
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join(&w, 0, 0);
	mc->fi_addr = mark;
	restart();
	settle(&w);
	expect_eq_error(w.m.eq, &mc->fid, FI_ECONNRESET, 0);
	await_joins(&w, 2);
	expect_joined(&w.m, mc);
	CT_EXPECT_EQ(fi_mc_addr(mc), mark);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, who_only_sends_hears_nothing_of_a_restart)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join(&w, 0, FI_SEND);
	fake_sa_create(MGID);
	settle(&w);
	restart();
	settle(&w);
	fake_sa_create(MGID);
	while (sent_to(&w, mc) != fake_sa_find(MGID)->mcm.mlid && !ct_failed())
		expect_no_event(w.m.eq);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, nothing_is_told_of_what_was_closed)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	/* While the link is looked for. */
	mcast_left(join_text(&w, 0, GROUP, 0));
	settle(&w);
	/* While it joins. */
	fake_sa.silent = true;
	mcast_left(join_text(&w, 0, GROUP, 0));
	mcast_left(join_text(&w, 0, GROUP, FI_SEND));
	settle(&w);
	fake_sa.silent = false;
	/* Before its event was read. */
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	mcast_left(mc);
	settle(&w);
	expect_no_event(w.m.eq);
	port_close(&w);
}

/* What is outstanding then ends with the endpoint. */
CT_TEST(mc_port, endpoints_may_close_while_the_administrator_is_silent)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	fake_sa.silent = true;
	mcast_left(join_text(&w, 0, GROUP, 0));
	port_close(&w);
	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join(&w, 0, 0);
	fake_sa.silent = true;
	mcast_left(mc);
	port_close(&w);
}

static void join_many(struct port_world *w, struct fid_mc **mc)
{
	char ip[INET_ADDRSTRLEN];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(ip, sizeof(ip), "239.2.2.%d", i);
		mc[i] = join_text(w, 0, ip, 0);
	}
	settle(w);
	for (i = 0; i < MANY; i++)
		expect_joined(&w->m, mc[i]);
}

static void leave_many(struct fid_mc **mc)
{
	int i;

	for (i = 0; i < MANY; i++)
		mcast_left(mc[i]);
}

/* More than can be asked for at once. */
CT_TEST(mc_port, R27_all_groups_are_left_before_the_last_endpoint_has_closed)
{
	struct fid_mc *mc[MANY];
	struct port_world w;

	CT_ASSERT_TRUE(port_open_plain(&w));
	join_many(&w, mc);
	leave_many(mc);
	CT_EXPECT_LT(fake_sa.leaves, MANY);
	port_close(&w);
	CT_EXPECT_EQ(fake_sa.leaves, MANY);
}

CT_TEST(mc_port, closing_does_not_wait_for_ever_for_groups_to_be_left)
{
	struct fid_mc *mc[MANY];
	struct port_world w;

	CT_ASSERT_TRUE(port_open_plain(&w));
	join_many(&w, mc);
	pvb_params.close_timeout = 20;
	fake_sa.silent = true;
	leave_many(mc);
	port_close(&w);
}

CT_TEST(mc_port, a_silent_administrator_is_a_timeout)
{
	struct fi_eq_entry entry;
	struct port_world w;
	struct fid_mc *mc;
	uint32_t event;

	memset(&chosen, 0, sizeof(chosen));
	chosen.timeout = 100;
	CT_ASSERT_TRUE(port_open(&w));
	fake_sa.silent = true;
	mc = join_text(&w, 0, GROUP, 0);
	CT_EXPECT_EQ(fi_eq_sread(w.m.eq, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EAVAIL);
	expect_eq_error(w.m.eq, &mc->fid, FI_ETIMEDOUT, 0);
	mcast_left(mc);
	port_close(&w);
}

/* The program sleeps; what arrives at the port wakes it. */
CT_TEST(mc_port, who_waits_for_the_event_queue_is_woken)
{
	struct fi_eq_entry entry;
	struct port_world w;
	struct fid_mc *mc;
	uint32_t event;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc = join_text(&w, 0, GROUP, 0);
	CT_EXPECT_EQ(fi_eq_sread(w.m.eq, &event, &entry, sizeof(entry), -1, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(event, FI_JOIN_COMPLETE);
	CT_EXPECT_EQ(entry.fid, &mc->fid);
	mcast_left(mc);
	port_close(&w);
}

static bool eq_is_readable(struct port_world *w)
{
	struct pollfd wait = {.events = POLLIN};

	CT_EXPECT_EQ(fi_control(&w->m.eq->fid, FI_GETWAIT, &wait.fd), 0);
	return poll(&wait, 1, 0) == 1;
}

/* Who receives is going to create the group, and who sends waits for that. */
CT_TEST(mc_port, who_waits_is_woken_by_one_that_is_closed)
{
	struct port_world w;
	struct fid_mc *mc[3];

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc[0] = join(&w, 0, FI_SEND);
	fake_sa.silent = true;
	mc[1] = join_text(&w, 0, GROUP, FI_RECV);
	mc[2] = join_text(&w, 0, GROUP, FI_SEND);
	settle(&w);
	CT_EXPECT_FALSE(eq_is_readable(&w));
	mcast_left(mc[1]);
	CT_EXPECT_TRUE(eq_is_readable(&w));
	expect_joined(&w.m, mc[2]);
	mcast_left(mc[0]);
	mcast_left(mc[2]);
	port_close(&w);
}

static bool kernel_open(struct port_world *w)
{
	memset(&chosen, 0, sizeof(chosen));
	chosen.kernel = true;
	return port_open(w);
}

/* The kernel has joined the group, and so has the port. */
static void kernel_joins(uint32_t qkey)
{
	uint8_t gid[16];

	CT_EXPECT_EQ(inet_pton(AF_INET6, MGID, gid), 1);
	fake_join_event(fake_join.id, gid, fake_sa_create(MGID)->mcm.mlid, qkey);
}

/* The kernel's groups have MGIDs of RFC 4391. */
CT_TEST(mc_port, of_a_link_as_the_draft_has_it_the_kernel_has_no_groups)
{
	struct port_world w;
	struct fid_mc *mc;

	memset(&chosen, 0, sizeof(chosen));
	chosen.kernel = chosen.draft = true;
	CT_ASSERT_TRUE(port_open(&w));
	mc = join(&w, 0, FI_RECV);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 0);
	CT_EXPECT_EQ(fake_sa.joins, 1);
	mcast_left(mc);
	settle(&w);
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	port_close(&w);
}

CT_TEST(mc_port, on_the_link_of_the_kernel_who_receives_is_its_member)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(kernel_open(&w));
	mc = join_text(&w, 0, GROUP, FI_RECV);
	settle(&w);
	CT_EXPECT_EQ(fake_join.id->ps, RDMA_PS_IPOIB);
	CT_EXPECT_EQ(fake_join.addr.ss_family, AF_IB);
	kernel_joins(LINK_QKEY);
	settled_joined(&w, mc);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 1);
	CT_EXPECT_EQ(fake_sa.joins, 0);
	mcast_left(mc);
	settle(&w);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 1);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fake_sa.leaves, 0);
	port_close(&w);
}

/* One event tells of both. */
CT_TEST(mc_port, and_the_administrator_says_where_it_sends)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(kernel_open(&w));
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	expect_no_event(w.m.eq);
	kernel_joins(LINK_QKEY);
	settled_joined(&w, mc);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(MGID)->mcm.mlid);
	fake_sa_delete(MGID);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), DGRAM_LID);
	/* Both are told of. */
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, NULL, 0);
	expect_eq_error(w.m.eq, &mc->fid, FI_ECONNRESET, -ENETRESET);
	while (fake_count(FAKE_JOIN) < 2 && !ct_failed())
		expect_no_event(w.m.eq);
	kernel_joins(LINK_QKEY);
	settled_joined(&w, mc);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(MGID)->mcm.mlid);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 2);
	CT_EXPECT_EQ(fake_sa.joins, 0);
	mcast_left(mc);
	port_close(&w);
}

/* Either part fails; what the other does is told no more, and ends with fi_close. */
CT_TEST(mc_port, either_of_the_two_may_fail)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(kernel_open(&w));
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	fake_event(fake_join.id, RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL, NULL, 0);
	expect_eq_error(w.m.eq, &mc->fid, FI_EINVAL, -EINVAL);
	fake_sa_create(MGID);
	settle(&w);
	expect_no_event(w.m.eq);
	CT_EXPECT_EQ(fi_inject(w.m.ep[0], "x", 1, fi_mc_addr(mc)), -FI_EADDRNOTAVAIL);
	mcast_left(mc);
	fake_sa.status = PVB_SA_NO_RESOURCES;
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	expect_eq_error(w.m.eq, &mc->fid, FI_ENOSPC, PVB_SA_NO_RESOURCES);
	kernel_joins(LINK_QKEY);
	settle(&w);
	expect_no_event(w.m.eq);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), 0);
	CT_EXPECT_EQ(fi_inject(w.m.ep[0], "x", 1, fi_mc_addr(mc)), -FI_EADDRNOTAVAIL);
	mcast_left(mc);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 2);
	port_close(&w);
}

CT_TEST(mc_port, without_umad_groups_are_joined_by_rdma_cm)
{
	struct port_world w;
	struct fid_mc *mc[2];
	uint8_t gid[16];

	memset(&chosen, 0, sizeof(chosen));
	chosen.absent = chosen.kernel = true;
	CT_ASSERT_TRUE(port_open(&w));
	mc[0] = join_text(&w, 0, GROUP, FI_SEND);
	CT_EXPECT_NE(strstr(ct_log_last(), "without subnet administration"), NULL);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
	CT_EXPECT_EQ(inet_pton(AF_INET6, MGID, gid), 1);
	fake_join_event(fake_join.id, gid, 0xc001, LINK_QKEY);
	expect_joined(&w.m, mc[0]);
	ct_log_reset();
	mc[1] = join_text(&w, 1, GROUP, FI_SEND);
	expect_joined(&w.m, mc[1]);
	/* It is said once. */
	CT_EXPECT_EQ(ct_log_count(), 0);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
	port_close(&w);
}

CT_TEST(mc_port, without_permission_the_log_says_what_it_takes)
{
	struct port_world w;

	memset(&chosen, 0, sizeof(chosen));
	chosen.kernel = true;
	CT_ASSERT_TRUE(port_open(&w));
	fake.open_errno = EACCES;
	mcast_left(join_text(&w, 0, GROUP, 0));
	CT_EXPECT_NE(strstr(ct_log_last(), "/dev/infiniband/umad"), NULL);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 1);
	port_close(&w);
}

/* What passes is told, and the next one that joins finds the administrator. */
CT_TEST(mc_port, a_shortage_does_not_end_subnet_administration)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_addr = {htonl(0xef010101)}};
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	fake.open_errno = EMFILE;
	CT_EXPECT_EQ(fi_join(w.m.ep[0], &in, 0, &mc, NULL), -FI_EMFILE);
	fake.open_errno = 0;
	fake.port_errno = ENOMEM;
	CT_EXPECT_EQ(fi_join(w.m.ep[0], &in, 0, &mc, NULL), -FI_ENOMEM);
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), 0);
	fake.port_errno = 0;
	mc = join(&w, 0, 0);
	CT_ASSERT_NE(mc, NULL);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, R31_groups_that_nobody_reports_are_looked_for)
{
	struct port_world w;
	struct fid_mc *mc;

	memset(&chosen, 0, sizeof(chosen));
	chosen.reports_used = true;
	CT_ASSERT_TRUE(port_open(&w));
	ct_time_stop();
	mc = join(&w, 0, FI_SEND);
	CT_EXPECT_EQ(fake_sa.informs, 0);
	fake_sa_create(MGID);
	CT_EXPECT_EQ(sent_to(&w, mc), DGRAM_LID);
	ct_time_pass(5000);
	settle(&w);
	CT_EXPECT_EQ(sent_to(&w, mc), fake_sa_find(MGID)->mcm.mlid);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, groups_that_are_reported_are_not_looked_for)
{
	struct port_world w;
	struct fid_mc *mc;
	int gets;

	CT_ASSERT_TRUE(port_open_plain(&w));
	ct_time_stop();
	mc = join(&w, 0, FI_SEND);
	gets = fake_sa.gets;
	ct_time_pass(5000);
	settle(&w);
	CT_EXPECT_EQ(fake_sa.gets, gets);
	mcast_left(mc);
	port_close(&w);
}

CT_TEST(mc_port, a_device_that_is_removed_ends_what_was_joined)
{
	struct port_world w;
	struct fid_mc *mc[2];

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc[0] = join(&w, 0, 0);
	/* Its link is looked for. */
	mc[1] = join_text(&w, 0, "ff05::2", FI_SEND);
	fake_remove(&fake_devices[0], ep_of(w.m.ep[0])->domain->verbs);
	settle(&w);
	expect_eq_error(w.m.eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_eq_error(w.m.eq, &mc[1]->fid, FI_ENODEV, 0);
	expect_no_event(w.m.eq);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
	port_close(&w);
}

CT_TEST(mc_port, a_port_that_goes_ends_what_was_asked_for)
{
	struct port_world w;
	struct fid_mc *mc[2];

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc[0] = join(&w, 0, FI_SEND);
	fake_sa.silent = true;
	mc[1] = join_text(&w, 0, "239.1.1.2", 0);
	settle(&w);
	expect_no_event(w.m.eq);
	fake.gone = true;
	fake_arrive(fake.sent[0].data, 0);
	settle(&w);
	expect_eq_error(w.m.eq, &mc[1]->fid, FI_ENODEV, 0);
	expect_eq_error(w.m.eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_no_event(w.m.eq);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
	port_close(&w);
}

CT_TEST(mc_port, a_port_that_goes_ends_what_was_joined)
{
	struct fi_eq_entry entry;
	struct port_world w;
	struct fid_mc *mc[2];
	uint32_t event;

	CT_ASSERT_TRUE(port_open_plain(&w));
	mc[0] = join(&w, 0, 0);
	mc[1] = join(&w, 0, FI_SEND);
	fake.gone = true;
	fake_arrive(fake.sent[0].data, 0);
	CT_EXPECT_EQ(fi_eq_sread(w.m.eq, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EAVAIL);
	expect_eq_error(w.m.eq, &mc[0]->fid, FI_ENODEV, 0);
	expect_eq_error(w.m.eq, &mc[1]->fid, FI_ENODEV, 0);
	expect_no_event(w.m.eq);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 1);
	CT_EXPECT_EQ(fi_inject(w.m.ep[0], "x", 1, fi_mc_addr(mc[0])), -FI_EADDRNOTAVAIL);
	mcast_left(mc[0]);
	/* Nothing can be joined any more. */
	mc[0] = join_text(&w, 0, GROUP, 0);
	expect_eq_error(w.m.eq, &mc[0]->fid, FI_ENODEV, 0);
	mcast_left(mc[0]);
	mcast_left(mc[1]);
	port_close(&w);
}

CT_TEST(mc_port, what_the_device_refuses_ends_one_membership)
{
	struct port_world w;
	struct fid_mc *mc;

	CT_ASSERT_TRUE(port_open_plain(&w));
	fake_fail(FAKE_ATTACH, 1, ENOMEM);
	mc = join_text(&w, 0, GROUP, 0);
	settle(&w);
	expect_eq_error(w.m.eq, &mc->fid, FI_ENOMEM, 0);
	settle(&w);
	CT_EXPECT_EQ(fake_sa.leaves, 1);
	mcast_left(mc);
	port_close(&w);
}
