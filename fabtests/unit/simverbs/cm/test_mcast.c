/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/mcast.c, cm/port_event.c, settings/joins.c: joining, failing to, losing, leaving. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include "cm/cm.h"
#include "subnet/tables.h"
#include "../world.h"

struct member {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *memory;
};

static struct sockaddr_in in_of(const char *text)
{
	struct sockaddr_in in = {.sin_family = AF_INET};

	CT_EXPECT_EQ(inet_pton(AF_INET, text, &in.sin_addr), 1);
	return in;
}

static bool begin(const char *link, const char *fail)
{
	world_settings("SIMVERBS_LINK_LAYER", link, "SIMVERBS_SIM0_ADDRESS",
		       "10.77.0.1/24 10.77.0.2/24", "SIMVERBS_JOIN_FAIL", fail, NULL);
	return !svb_join();
}

static bool member_open(struct member *member, enum rdma_port_space ps, const char *at)
{
	struct ibv_qp_init_attr attr = {.cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_UD};
	struct sockaddr_in from = in_of(at);

	member->channel = rdma_create_event_channel();
	if (!member->channel || rdma_create_id(member->channel, &member->id, NULL, ps) ||
	    rdma_bind_addr(member->id, (struct sockaddr *)&from))
		return false;
	member->cq = ibv_create_cq(member->id->verbs, 8, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = member->cq;
	member->memory = aligned_alloc(4096, 4096);
	member->mr =
		ibv_reg_mr(member->id->pd, member->memory, 4096, IBV_ACCESS_LOCAL_WRITE);
	return member->mr && member->cq && !rdma_create_qp(member->id, NULL, &attr);
}

static void member_close(struct member *member)
{
	rdma_destroy_qp(member->id);
	rdma_destroy_id(member->id);
	ibv_dereg_mr(member->mr);
	ibv_destroy_cq(member->cq);
	rdma_destroy_event_channel(member->channel);
	free(member->memory);
}

/* The next event, which *event keeps; -1: none is there. */
static int next_event(struct member *member, struct rdma_cm_event *event)
{
	struct pollfd fd = {.fd = member->channel->fd, .events = POLLIN};
	struct rdma_cm_event *at;

	if (poll(&fd, 1, 0) != 1 || rdma_get_cm_event(member->channel, &at))
		return -1;
	*event = *at;
	rdma_ack_cm_event(at);
	return (int)event->event;
}

static bool join(struct member *member, const char *group, struct rdma_cm_event *event)
{
	struct sockaddr_in to = in_of(group);

	return !rdma_join_multicast(member->id, (struct sockaddr *)&to, member) &&
	       next_event(member, event) == RDMA_CM_EVENT_MULTICAST_JOIN &&
	       !event->status && event->param.ud.private_data == member;
}

static bool join_flags(struct member *member, const char *group, uint32_t flags,
		       struct rdma_cm_event *event)
{
	struct sockaddr_in to = in_of(group);
	struct rdma_cm_join_mc_attr_ex attr = {.comp_mask =
						       RDMA_CM_JOIN_MC_ATTR_ADDRESS |
						       RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
					       .join_flags = flags,
					       .addr = (struct sockaddr *)&to};

	return !rdma_join_multicast_ex(member->id, &attr, member) &&
	       next_event(member, event) == RDMA_CM_EVENT_MULTICAST_JOIN &&
	       !event->status;
}

static int leave(struct member *member, const char *group)
{
	struct sockaddr_in to = in_of(group);

	return rdma_leave_multicast(member->id, (struct sockaddr *)&to) ? errno : 0;
}

/* One datagram to the group of an event. */
static bool member_send(struct member *member, const struct rdma_cm_event *to)
{
	struct ibv_ah_attr attr = to->param.ud.ah_attr;
	struct ibv_ah *ah = ibv_create_ah(member->id->pd, &attr);
	struct ibv_sge sge = {(uintptr_t)member->memory, 8, member->mr->lkey};
	struct ibv_send_wr *bad,
		wr = {.sg_list = &sge,
		      .num_sge = 1,
		      .opcode = IBV_WR_SEND,
		      .send_flags = IBV_SEND_SIGNALED,
		      .wr.ud = {ah, to->param.ud.qp_num, to->param.ud.qkey}};
	bool sent = ah && !ibv_post_send(member->id->qp, &wr, &bad) &&
		    !world_status(member->cq);

	if (ah)
		ibv_destroy_ah(ah);
	return sent;
}

static bool member_recv(struct member *member)
{
	struct ibv_sge sge = {(uintptr_t)member->memory + 1024, 128, member->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

	return !ibv_post_recv(member->id->qp, &wr, &bad);
}

static const char *link_name;

static void run_on(const char *link, void (*fn)(void))
{
	link_name = link;
	CT_NOTE("%s", link);
	world_run(fn);
}

static void open_both(const char *link, enum rdma_port_space ps, struct member *a,
		      struct member *b)
{
	CT_ASSERT_TRUE(begin(link, "") && member_open(a, ps, "10.77.0.1") &&
		       member_open(b, ps, "10.77.0.2"));
}

static void close_both(struct member *a, struct member *b)
{
	member_close(a);
	member_close(b);
}

/* Sends to the group of an event; the receiver gets it, or nothing. */
static void passes(struct member *from, const struct rdma_cm_event *group,
		   struct member *to, bool arrives)
{
	CT_EXPECT_TRUE(member_recv(to) && member_send(from, group));
	if (arrives)
		CT_EXPECT_EQ(world_status(to->cq), IBV_WC_SUCCESS);
	CT_EXPECT_TRUE(world_quiet(to->cq));
}

static void both_ways(void)
{
	struct rdma_cm_event event, other;
	struct member a, b;

	open_both(link_name, RDMA_PS_UDP, &a, &b);
	CT_ASSERT_TRUE(join(&a, "239.1.1.1", &event) && join(&b, "239.1.1.1", &other));
	CT_EXPECT_EQ(event.param.ud.qp_num, 0xffffff);
	CT_EXPECT_EQ(event.param.ud.qkey, RDMA_UDP_QKEY);
	CT_EXPECT_TRUE(event.param.ud.ah_attr.is_global);
	/* The GID of the address that was asked for. */
	CT_EXPECT_EQ(event.param.ud.ah_attr.grh.sgid_index, 1);
	CT_EXPECT_EQ(other.param.ud.ah_attr.grh.sgid_index, 2);
	passes(&a, &event, &b, true);
	passes(&b, &other, &a, true);
	CT_EXPECT_EQ(leave(&a, "239.1.1.1"), 0);
	CT_EXPECT_EQ(leave(&a, "239.1.1.1"), EADDRNOTAVAIL);
	passes(&b, &other, &a, false);
	/* An address that is not the other one: not its group either. */
	CT_EXPECT_TRUE(join(&a, "239.1.1.2", &event));
	passes(&b, &other, &a, false);
	leave(&a, "239.1.1.2");
	leave(&b, "239.1.1.1");
	close_both(&a, &b);
}

CT_TEST(mcast, members_send_and_receive_until_they_leave)
{
	run_on("infiniband", both_ways);
	run_on("roce", both_ways);
}

WORLD_CHILD(mcast, who_joined_to_send_receives_nothing)
{
	struct rdma_cm_event event;
	struct member a, b;

	open_both("infiniband", RDMA_PS_IPOIB, &a, &b);
	CT_ASSERT_TRUE(join_flags(&a, "239.1.1.1", RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
				  &event) &&
		       join_flags(&b, "239.1.1.1", RDMA_MC_JOIN_FLAG_FULLMEMBER, &event));
	CT_EXPECT_EQ(event.param.ud.qkey, SVB_CM_IPOIB_QKEY);
	CT_EXPECT_TRUE(member_recv(&a));
	passes(&a, &event, &b, true);
	CT_EXPECT_TRUE(world_quiet(a.cq));
	CT_EXPECT_TRUE(!leave(&a, "239.1.1.1") && !leave(&b, "239.1.1.1"));
	close_both(&a, &b);
}

WORLD_CHILD(mcast, every_join_is_left)
{
	struct rdma_cm_event event;
	struct member a, b;

	open_both("infiniband", RDMA_PS_UDP, &a, &b);
	CT_ASSERT_TRUE(join(&a, "239.1.1.1", &event) && join(&a, "239.1.1.1", &event));
	/* One queue pair, attached once. */
	CT_EXPECT_TRUE(member_recv(&a));
	passes(&b, &event, &a, true);
	/* Each join is left; the first that is takes the queue pair with it. */
	CT_EXPECT_EQ(leave(&a, "239.1.1.1"), 0);
	CT_EXPECT_TRUE(member_send(&b, &event) && world_quiet(a.cq));
	CT_EXPECT_EQ(leave(&a, "239.1.1.1"), 0);
	CT_EXPECT_EQ(leave(&a, "239.1.1.1"), EADDRNOTAVAIL);
	close_both(&a, &b);
}

/* What the event of a join that was asked for says; -1: there is none. */
static int fails(struct member *member, const char *group, int *status)
{
	struct sockaddr_in to = in_of(group);
	struct rdma_cm_event event;
	int type;

	*status = 0;
	if (rdma_join_multicast(member->id, (struct sockaddr *)&to, member)) {
		*status = errno;
		return -2;
	}
	type = next_event(member, &event);
	if (type >= 0)
		*status = event.status;
	if (type >= 0 && event.param.ud.private_data != member)
		return -3;
	return leave(member, group) ? -4 : type;
}

WORLD_CHILD(mcast, joins_fail_on_request)
{
	static const struct {
		const char *group;
		int type, status;
	} rows[] = {
		{"239.1.1.1", RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL},
		{"239.1.1.1", RDMA_CM_EVENT_MULTICAST_ERROR, -EINVAL},
		{"239.1.1.1", RDMA_CM_EVENT_MULTICAST_JOIN, 0},
		{"239.1.1.2", RDMA_CM_EVENT_MULTICAST_ERROR, -ENOSPC},
		{"239.1.1.3", -2, EPERM},
		/* By the group's GID. */
		{"239.1.1.4", RDMA_CM_EVENT_MULTICAST_ERROR, -ETIMEDOUT},
		/* Left while nobody has answered. */
		{"239.1.1.5", -1, 0},
		{"239.1.1.5", RDMA_CM_EVENT_MULTICAST_JOIN, 0},
	};
	struct member a;
	int status;

	CT_ASSERT_TRUE(begin("infiniband",
			     "239.1.1.1=0x0200*2 239.1.1.2=ENOSPC*1 239.1.1.3=call:EPERM "
			     "ff12:4001:ffff::f01:104=ETIMEDOUT*1 239.1.1.5=never*1") &&
		       member_open(&a, RDMA_PS_UDP, "10.77.0.1"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("row %zu, %s", i, rows[i].group);
		CT_EXPECT_EQ(fails(&a, rows[i].group, &status), rows[i].type);
		CT_EXPECT_EQ(status, rows[i].status);
	}
	member_close(&a);
}

static void raw_group(void)
{
	struct sockaddr_ib group = {.sib_family = AF_IB};
	struct rdma_cm_event event;
	struct member a;

	inet_pton(AF_INET6, "ff12:401b:ffff::ffff:ffff", &group.sib_addr);
	CT_ASSERT_TRUE(begin(link_name, "") &&
		       member_open(&a, RDMA_PS_IPOIB, "10.77.0.1"));
	if (!strcmp(link_name, "roce")) {
		CT_EXPECT_NE(rdma_join_multicast(a.id, (struct sockaddr *)&group, NULL),
			     0);
		CT_EXPECT_EQ(errno, SVB_CM_ENOTSUPP);
	} else {
		CT_EXPECT_EQ(rdma_join_multicast(a.id, (struct sockaddr *)&group, NULL),
			     0);
		CT_ASSERT_EQ(next_event(&a, &event), RDMA_CM_EVENT_MULTICAST_JOIN);
		CT_EXPECT_MEMEQ(&event.param.ud.ah_attr.grh.dgid, &group.sib_addr, 16);
		CT_EXPECT_GE(event.param.ud.ah_attr.dlid, 0xc000);
		CT_EXPECT_EQ(rdma_leave_multicast(a.id, (struct sockaddr *)&group), 0);
	}
	member_close(&a);
}

CT_TEST(mcast, a_group_may_be_named_by_its_gid)
{
	run_on("infiniband", raw_group);
	run_on("roce", raw_group);
}

/* The subnet manager has forgotten the group: nothing arrives until both join again. */
static void lost(void)
{
	struct rdma_cm_event event, other;
	struct member a, b;

	open_both(link_name, RDMA_PS_UDP, &a, &b);
	CT_ASSERT_TRUE(join(&a, "239.1.1.1", &event) && join(&b, "239.1.1.1", &event) &&
		       member_recv(&b));
	CT_EXPECT_TRUE(svb_port_event_do(0, "sm_change"));
	CT_EXPECT_EQ(next_event(&a, &other), -1);
	svb_port_event_do(0, "client_reregister");
	if (!strcmp(link_name, "roce")) {
		CT_EXPECT_EQ(next_event(&a, &other), -1);
	} else {
		CT_ASSERT_EQ(next_event(&b, &other), RDMA_CM_EVENT_MULTICAST_ERROR);
		CT_EXPECT_EQ(other.status, -ENETRESET);
		CT_EXPECT_EQ(other.param.ud.private_data, &b);
		CT_EXPECT_EQ(next_event(&b, &other), -1);
		CT_EXPECT_TRUE(member_send(&a, &event) && world_quiet(b.cq));
		/* Not a member: nothing more to lose. */
		svb_port_event_do(0, "lid_change");
		CT_EXPECT_EQ(next_event(&b, &other), -1);
		CT_EXPECT_EQ(leave(&b, "239.1.1.1"), 0);
		CT_EXPECT_TRUE(join(&b, "239.1.1.1", &event));
	}
	CT_EXPECT_TRUE(member_send(&a, &event) && !world_status(b.cq));
	close_both(&a, &b);
}

CT_TEST(mcast, groups_are_lost_with_the_subnet_managers_memory)
{
	run_on("infiniband", lost);
	run_on("roce", lost);
}

/* The kernel knows no broadcast group then; on RoCE a join asks nobody. */
static void down(void)
{
	const bool ib = !strcmp(link_name, "infiniband");
	struct rdma_cm_event event, other;
	struct member a, b;
	int status;

	open_both(link_name, RDMA_PS_UDP, &a, &b);
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_err"));
	CT_EXPECT_EQ(fails(&a, "239.1.1.1", &status),
		     ib ? -2 : RDMA_CM_EVENT_MULTICAST_JOIN);
	CT_EXPECT_EQ(status, ib ? EADDRNOTAVAIL : 0);
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_active") &&
		       join(&a, "239.1.1.1", &event) && join(&b, "239.1.1.1", &other));
	passes(&a, &event, &b, true);
	close_both(&a, &b);
}

CT_TEST(mcast, no_group_is_joined_while_the_port_is_down)
{
	run_on("infiniband", down);
	run_on("roce", down);
}

/* On InfiniBand the SA knows the path. */
WORLD_CHILD(mcast, no_route_is_found_while_the_port_is_down)
{
	struct sockaddr_in to = in_of("10.77.0.2");
	struct rdma_cm_event event;
	struct member a;

	CT_ASSERT_TRUE(begin("infiniband", "") &&
		       member_open(&a, RDMA_PS_UDP, "10.77.0.1"));
	CT_ASSERT_EQ(rdma_resolve_addr(a.id, NULL, (struct sockaddr *)&to, 1000), 0);
	CT_ASSERT_EQ(next_event(&a, &event), RDMA_CM_EVENT_ADDR_RESOLVED);
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_err"));
	CT_EXPECT_EQ(rdma_resolve_route(a.id, 1000), 0);
	CT_ASSERT_EQ(next_event(&a, &event), RDMA_CM_EVENT_ROUTE_ERROR);
	CT_EXPECT_EQ(event.status, -ETIMEDOUT);
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_active"));
	CT_EXPECT_EQ(rdma_resolve_route(a.id, 1000), 0);
	CT_EXPECT_EQ(next_event(&a, &event), RDMA_CM_EVENT_ROUTE_RESOLVED);
	member_close(&a);
}

WORLD_CHILD(mcast, an_id_learns_that_its_address_has_changed)
{
	struct rdma_cm_event event;
	struct member a;

	CT_ASSERT_TRUE(begin("roce", "") && member_open(&a, RDMA_PS_UDP, "10.77.0.1") &&
		       svb_port_event_do(0, "addr_change"));
	CT_EXPECT_EQ(next_event(&a, &event), RDMA_CM_EVENT_ADDR_CHANGE);
	CT_EXPECT_EQ(event.id, a.id);
	member_close(&a);
}

static const char *request;

static void wrong(void)
{
	CT_ASSERT_NE(freopen("/dev/null", "we", stderr), NULL);
	CT_EXPECT_FALSE(begin("infiniband", request));
}

CT_TEST(mcast, wrong_requests_are_refused)
{
	static const char *const rows[] = {
		"239.1.1.1",  "239.1.1=EPERM", "any=EWHAT", "any=0",
		"any=never*", "any=never*0",   "any=call:", "=EPERM",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		request = rows[i];
		CT_NOTE("%s", request);
		world_run(wrong);
	}
}

/* The broadcast group of a partition, of that scope, as a setting makes it. */
#define BROADCAST(scope) \
	"ff1" scope ":401b:ffff::ffff:ffff,qkey=0x33,mtu=2048,tclass=3,flow=5,sl=1"

/* The subnet manager starts again, and makes these groups. */
static bool make_groups(const char *groups)
{
	if (!svb_made_groups_parse(&svb_self.settings.groups, groups) || !svb_subnet())
		return false;
	svb_subnet()->restart = 1;
	return svb_subnet_places() > 0 || !strcmp(groups, "none");
}

static const char *groups_made;
static void (*groups_fn)(void);

static void with_groups(void)
{
	CT_ASSERT_TRUE(begin("infiniband", "") && make_groups(groups_made));
	groups_fn();
	CT_EXPECT_TRUE(make_groups("auto"));
}

static void run_with(const char *groups, void (*fn)(void))
{
	groups_made = groups;
	groups_fn = fn;
	world_run(with_groups);
}

static bool as_the_broadcast_group(const struct svb_group_attr *attr)
{
	return attr->tclass == 3 && attr->flow == 5 && attr->sl == 1 &&
	       attr->pkey == 0xffff;
}

/* What cma_join_ib_multicast takes from the broadcast group: all of it for IPoIB, not its
 * Q_Key and MTU for others. */
static void attributes(void)
{
	static const struct {
		enum rdma_port_space ps;
		uint32_t qkey;
		enum ibv_mtu mtu;
	} rows[] = {{RDMA_PS_IPOIB, 0x33, IBV_MTU_2048},
		    {RDMA_PS_UDP, RDMA_UDP_QKEY, IBV_MTU_4096}};
	struct rdma_cm_event event;
	const struct ibv_ah_attr *ah = &event.param.ud.ah_attr;
	struct svb_group group;
	struct member a;

	for (int i = 0; i < 2; i++) {
		CT_ASSERT_TRUE(member_open(&a, rows[i].ps, "10.77.0.1") &&
			       join(&a, "239.1.1.1", &event));
		CT_EXPECT_EQ(event.param.ud.qkey, rows[i].qkey);
		CT_EXPECT_TRUE(ah->sl == 1 && ah->grh.flow_label == 5 &&
			       ah->grh.traffic_class == 3);
		CT_ASSERT_TRUE(svb_subnet_get(ah->dlid - SVB_MLID_FIRST, &group));
		CT_EXPECT_TRUE(as_the_broadcast_group(&group.attr));
		CT_EXPECT_EQ(group.attr.qkey, rows[i].qkey);
		CT_EXPECT_EQ(group.attr.mtu, rows[i].mtu);
		leave(&a, "239.1.1.1");
		member_close(&a);
	}
}

/* Who made the group does not matter, but what it is like. */
static void made_by_another(void)
{
	static const struct {
		enum ibv_mtu mtu;
		uint8_t tclass;
		int type;
	} rows[] = {
		{IBV_MTU_2048, 3, RDMA_CM_EVENT_MULTICAST_JOIN},
		{IBV_MTU_1024, 3, RDMA_CM_EVENT_MULTICAST_ERROR},
		{IBV_MTU_2048, 4, RDMA_CM_EVENT_MULTICAST_ERROR},
	};
	struct svb_group_attr attr = {.qkey = 0x33,
				      .pkey = 0xffff,
				      .flow = 5,
				      .sl = 1,
				      .rate = IBV_RATE_100_GBPS};
	struct svb_subnet_join other = {.mgid = {.raw = {0xff, 0x12, 0x40, 0x1b, 0xff,
							 0xff, [12] = 15, 1, 1, 0}},
					.state = SVB_JOIN_FULL,
					.create = &attr};
	struct member a;
	char group[16];
	int status;

	CT_ASSERT_TRUE(member_open(&a, RDMA_PS_IPOIB, "10.77.0.1"));
	for (uint8_t i = 0; i < 3; i++) {
		snprintf(group, sizeof(group), "239.1.1.%u", i + 1);
		CT_NOTE("%s", group);
		other.mgid.raw[15] = i + 1;
		attr.mtu = rows[i].mtu;
		attr.tclass = rows[i].tclass;
		CT_EXPECT_EQ(svb_subnet_join(&other, NULL, NULL), 0);
		CT_EXPECT_EQ(fails(&a, group, &status), rows[i].type);
		CT_EXPECT_EQ(status,
			     rows[i].type == RDMA_CM_EVENT_MULTICAST_JOIN ? 0 : -EINVAL);
	}
	member_close(&a);
}

CT_TEST(mcast, a_group_is_like_the_broadcast_group)
{
	run_with(BROADCAST("2"), attributes);
	run_with(BROADCAST("2"), made_by_another);
	/* Of a wider scope, where there is no other. */
	run_with(BROADCAST("5"), attributes);
}

static void no_broadcast_group(void)
{
	struct member a;
	int status;

	CT_ASSERT_TRUE(member_open(&a, RDMA_PS_UDP, "10.77.0.1"));
	CT_EXPECT_EQ(fails(&a, "239.1.1.1", &status), -2);
	CT_EXPECT_EQ(status, EADDRNOTAVAIL);
	member_close(&a);
}

CT_TEST(mcast, without_a_broadcast_group_none_is_joined)
{
	run_with("none", no_broadcast_group);
}
