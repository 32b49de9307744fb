/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/mcast.c, cm/port_event.c, settings/joins.c: joining, failing to, losing, leaving. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
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
	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", link, 1);
	setenv("SIMVERBS_SIM0_ADDRESS", "10.77.0.1/24 10.77.0.2/24", 1);
	setenv("SIMVERBS_JOIN_FAIL", fail, 1);
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
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask =
			RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = flags,
		.addr = (struct sockaddr *)&to,
	};

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
		wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.ud = {ah, to->param.ud.qp_num, to->param.ud.qkey},
		};
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

static int both_ways(int fd)
{
	struct rdma_cm_event event, other;
	struct member a, b;

	(void)fd;
	if (!begin(link_name, "") || !member_open(&a, RDMA_PS_UDP, "10.77.0.1") ||
	    !member_open(&b, RDMA_PS_UDP, "10.77.0.2"))
		return 1;
	if (!join(&a, "239.1.1.1", &event) || !join(&b, "239.1.1.1", &other))
		return 2;
	if (event.param.ud.qp_num != 0xffffff || event.param.ud.qkey != RDMA_UDP_QKEY ||
	    !event.param.ud.ah_attr.is_global)
		return 3;
	/* The GID of the address that was asked for. */
	if (event.param.ud.ah_attr.grh.sgid_index != 1 ||
	    other.param.ud.ah_attr.grh.sgid_index != 2)
		return 4;
	if (!member_recv(&b) || !member_send(&a, &event) || world_status(b.cq))
		return 5;
	if (!member_recv(&a) || !member_send(&b, &other) || world_status(a.cq))
		return 6;
	if (leave(&a, "239.1.1.1") || leave(&a, "239.1.1.1") != EADDRNOTAVAIL)
		return 7;
	if (!member_recv(&a) || !member_send(&b, &other) || !world_quiet(a.cq))
		return 8;
	/* An address that is not the other one: not its group either. */
	if (!join(&a, "239.1.1.2", &event) || !member_send(&b, &other) ||
	    !world_quiet(a.cq))
		return 9;
	leave(&a, "239.1.1.2");
	leave(&b, "239.1.1.1");
	member_close(&a);
	member_close(&b);
	return 0;
}

static int send_only(int fd)
{
	struct rdma_cm_event event;
	struct member a, b;

	(void)fd;
	if (!begin("infiniband", "") || !member_open(&a, RDMA_PS_IPOIB, "10.77.0.1") ||
	    !member_open(&b, RDMA_PS_IPOIB, "10.77.0.2"))
		return 1;
	if (!join_flags(&a, "239.1.1.1", RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, &event) ||
	    !join_flags(&b, "239.1.1.1", RDMA_MC_JOIN_FLAG_FULLMEMBER, &event))
		return 2;
	if (event.param.ud.qkey != SVB_CM_IPOIB_QKEY)
		return 3;
	if (!member_recv(&a) || !member_recv(&b) || !member_send(&a, &event) ||
	    world_status(b.cq) || !world_quiet(a.cq))
		return 4;
	if (leave(&a, "239.1.1.1") || leave(&b, "239.1.1.1"))
		return 5;
	member_close(&a);
	member_close(&b);
	return 0;
}

static int several(int fd)
{
	struct rdma_cm_event event;
	struct member a, b;

	(void)fd;
	if (!begin("infiniband", "") || !member_open(&a, RDMA_PS_UDP, "10.77.0.1") ||
	    !member_open(&b, RDMA_PS_UDP, "10.77.0.2"))
		return 1;
	if (!join(&a, "239.1.1.1", &event) || !join(&a, "239.1.1.1", &event))
		return 2;
	/* One queue pair, attached once. */
	if (!member_recv(&a) || !member_recv(&a) || !member_send(&b, &event) ||
	    world_status(a.cq) || !world_quiet(a.cq))
		return 3;
	/* Each join is left; the first that is takes the queue pair with it. */
	if (leave(&a, "239.1.1.1") || !member_send(&b, &event) || !world_quiet(a.cq))
		return 4;
	if (leave(&a, "239.1.1.1") || leave(&a, "239.1.1.1") != EADDRNOTAVAIL)
		return 5;
	member_close(&a);
	member_close(&b);
	return 0;
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

static int on_request(int fd)
{
	struct member a;
	int status;

	(void)fd;
	if (!begin("infiniband",
		   "239.1.1.1=0x0200*2 239.1.1.2=ENOSPC*1 239.1.1.3=call:EPERM "
		   "ff12:4001:ffff::f01:104=ETIMEDOUT*1 239.1.1.5=never*1") ||
	    !member_open(&a, RDMA_PS_UDP, "10.77.0.1"))
		return 1;
	if (fails(&a, "239.1.1.1", &status) != RDMA_CM_EVENT_MULTICAST_ERROR ||
	    status != -EINVAL)
		return 2;
	if (fails(&a, "239.1.1.1", &status) != RDMA_CM_EVENT_MULTICAST_ERROR ||
	    fails(&a, "239.1.1.1", &status) != RDMA_CM_EVENT_MULTICAST_JOIN)
		return 3;
	if (fails(&a, "239.1.1.2", &status) != RDMA_CM_EVENT_MULTICAST_ERROR ||
	    status != -ENOSPC)
		return 4;
	if (fails(&a, "239.1.1.3", &status) != -2 || status != EPERM)
		return 5;
	/* By the group's GID. */
	if (fails(&a, "239.1.1.4", &status) != RDMA_CM_EVENT_MULTICAST_ERROR ||
	    status != -ETIMEDOUT)
		return 6;
	/* Left while nobody has answered. */
	if (fails(&a, "239.1.1.5", &status) != -1 ||
	    fails(&a, "239.1.1.5", &status) != RDMA_CM_EVENT_MULTICAST_JOIN)
		return 7;
	member_close(&a);
	return 0;
}

static int raw_group(int fd)
{
	struct sockaddr_ib group = {.sib_family = AF_IB};
	struct rdma_cm_event event;
	struct member a;

	(void)fd;
	inet_pton(AF_INET6, "ff12:401b:ffff::ffff:ffff", &group.sib_addr);
	if (!begin(link_name, "") || !member_open(&a, RDMA_PS_IPOIB, "10.77.0.1"))
		return 1;
	if (!strcmp(link_name, "roce")) {
		if (!rdma_join_multicast(a.id, (struct sockaddr *)&group, NULL) ||
		    errno != SVB_CM_ENOTSUPP)
			return 2;
	} else {
		if (rdma_join_multicast(a.id, (struct sockaddr *)&group, NULL) ||
		    next_event(&a, &event) != RDMA_CM_EVENT_MULTICAST_JOIN ||
		    memcmp(&event.param.ud.ah_attr.grh.dgid, &group.sib_addr, 16) ||
		    event.param.ud.ah_attr.dlid < 0xc000)
			return 3;
		if (rdma_leave_multicast(a.id, (struct sockaddr *)&group))
			return 4;
	}
	member_close(&a);
	return 0;
}

/* The subnet manager has forgotten the group: nothing arrives until both join again. */
static int lost(int fd)
{
	const bool ib = !strcmp(link_name, "infiniband");
	struct rdma_cm_event event, other;
	struct member a, b;

	(void)fd;
	if (!begin(link_name, "") || !member_open(&a, RDMA_PS_UDP, "10.77.0.1") ||
	    !member_open(&b, RDMA_PS_UDP, "10.77.0.2") ||
	    !join(&a, "239.1.1.1", &event) || !join(&b, "239.1.1.1", &event) ||
	    !member_recv(&b))
		return 1;
	if (!svb_port_event_do(0, "sm_change") || next_event(&a, &other) != -1)
		return 2;
	svb_port_event_do(0, "client_reregister");
	if (!ib) {
		if (next_event(&a, &other) != -1 || !member_send(&a, &event) ||
		    world_status(b.cq))
			return 3;
		member_close(&a);
		member_close(&b);
		return 0;
	}
	if (next_event(&b, &other) != RDMA_CM_EVENT_MULTICAST_ERROR ||
	    other.status != -ENETRESET || other.param.ud.private_data != &b ||
	    next_event(&b, &other) != -1)
		return 4;
	if (!member_send(&a, &event) || !world_quiet(b.cq))
		return 5;
	/* Not a member: nothing more to lose. */
	svb_port_event_do(0, "lid_change");
	if (next_event(&b, &other) != -1)
		return 6;
	if (leave(&b, "239.1.1.1") || !join(&b, "239.1.1.1", &event) ||
	    !member_send(&a, &event) || world_status(b.cq))
		return 7;
	member_close(&a);
	member_close(&b);
	return 0;
}

/* The kernel knows no broadcast group then; on RoCE a join asks nobody. */
static int down(int fd)
{
	const bool ib = !strcmp(link_name, "infiniband");
	struct rdma_cm_event event;
	struct member a, b;
	int status;

	(void)fd;
	if (!begin(link_name, "") || !member_open(&a, RDMA_PS_UDP, "10.77.0.1") ||
	    !member_open(&b, RDMA_PS_UDP, "10.77.0.2") ||
	    !svb_port_event_do(0, "port_err"))
		return 1;
	if (ib && (fails(&a, "239.1.1.1", &status) != -2 || status != EADDRNOTAVAIL))
		return 2;
	if (!ib && (fails(&a, "239.1.1.1", &status) != RDMA_CM_EVENT_MULTICAST_JOIN))
		return 3;
	if (!svb_port_event_do(0, "port_active") || !join(&a, "239.1.1.1", &event) ||
	    !join(&b, "239.1.1.1", &event) || !member_recv(&b) ||
	    !member_send(&a, &event) || world_status(b.cq))
		return 4;
	member_close(&a);
	member_close(&b);
	return 0;
}

/* On InfiniBand the SA knows the path. */
static int no_route(int fd)
{
	struct rdma_cm_event event;
	struct sockaddr_in to;
	struct member a;

	(void)fd;
	if (!begin(link_name, "") || !member_open(&a, RDMA_PS_UDP, "10.77.0.1"))
		return 1;
	to = in_of("10.77.0.2");
	if (rdma_resolve_addr(a.id, NULL, (struct sockaddr *)&to, 1000) ||
	    next_event(&a, &event) != RDMA_CM_EVENT_ADDR_RESOLVED ||
	    !svb_port_event_do(0, "port_err"))
		return 2;
	if (rdma_resolve_route(a.id, 1000) ||
	    next_event(&a, &event) != RDMA_CM_EVENT_ROUTE_ERROR ||
	    event.status != -ETIMEDOUT)
		return 3;
	if (!svb_port_event_do(0, "port_active") || rdma_resolve_route(a.id, 1000) ||
	    next_event(&a, &event) != RDMA_CM_EVENT_ROUTE_RESOLVED)
		return 4;
	member_close(&a);
	return 0;
}

static int readdressed(int fd)
{
	struct rdma_cm_event event;
	struct member a;

	(void)fd;
	if (!begin(link_name, "") || !member_open(&a, RDMA_PS_UDP, "10.77.0.1") ||
	    !svb_port_event_do(0, "addr_change") ||
	    next_event(&a, &event) != RDMA_CM_EVENT_ADDR_CHANGE || event.id != a.id)
		return 1;
	member_close(&a);
	return 0;
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
static int (*groups_fn)(void);

static int with_groups(int fd)
{
	int ret;

	(void)fd;
	if (!begin("infiniband", "") || !make_groups(groups_made))
		return 100;
	ret = groups_fn();
	return make_groups("auto") ? ret : 101;
}

static bool as_the_broadcast_group(const struct svb_group_attr *attr)
{
	return attr->tclass == 3 && attr->flow == 5 && attr->sl == 1 &&
	       attr->pkey == 0xffff;
}

/* What cma_join_ib_multicast takes from the broadcast group: all of it for IPoIB, not its
 * Q_Key and MTU for others. */
static int attributes(void)
{
	static const struct {
		enum rdma_port_space ps;
		uint32_t qkey;
		enum ibv_mtu mtu;
	} rows[] = {{RDMA_PS_IPOIB, 0x33, IBV_MTU_2048},
		    {RDMA_PS_UDP, RDMA_UDP_QKEY, IBV_MTU_4096}};
	struct rdma_cm_event event;
	struct svb_group group;
	struct member a;
	int i;

	for (i = 0; i < 2; i++) {
		const struct ibv_ah_attr *ah = &event.param.ud.ah_attr;

		if (!member_open(&a, rows[i].ps, "10.77.0.1") ||
		    !join(&a, "239.1.1.1", &event))
			return 2;
		if (event.param.ud.qkey != rows[i].qkey || ah->sl != 1 ||
		    ah->grh.flow_label != 5 || ah->grh.traffic_class != 3)
			return 3;
		if (!svb_subnet_get(ah->dlid - SVB_MLID_FIRST, &group) ||
		    !as_the_broadcast_group(&group.attr) ||
		    group.attr.qkey != rows[i].qkey || group.attr.mtu != rows[i].mtu)
			return 4;
		leave(&a, "239.1.1.1");
		member_close(&a);
	}
	return 0;
}

/* Who made the group does not matter, but what it is like. */
static int made_by_another(void)
{
	union ibv_gid mgid = {.raw = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff}};
	struct svb_group_attr attr = {.qkey = 0x33,
				      .pkey = 0xffff,
				      .flow = 5,
				      .tclass = 3,
				      .sl = 1,
				      .mtu = IBV_MTU_2048,
				      .rate = IBV_RATE_100_GBPS};
	struct svb_subnet_join other = {.mgid = mgid,
					.state = SVB_JOIN_FULL,
					.create = &attr};
	struct member a;
	int status;

	if (!member_open(&a, RDMA_PS_IPOIB, "10.77.0.1"))
		return 1;
	memcpy(other.mgid.raw + 12, "\x0f\x01\x01\x01", 4);
	if (svb_subnet_join(&other, NULL, NULL) ||
	    fails(&a, "239.1.1.1", &status) != RDMA_CM_EVENT_MULTICAST_JOIN)
		return 2;
	other.mgid.raw[15] = 2;
	attr.mtu = IBV_MTU_1024;
	if (svb_subnet_join(&other, NULL, NULL) ||
	    fails(&a, "239.1.1.2", &status) != RDMA_CM_EVENT_MULTICAST_ERROR ||
	    status != -EINVAL)
		return 3;
	other.mgid.raw[15] = 3;
	attr.mtu = IBV_MTU_2048;
	attr.tclass = 4;
	if (svb_subnet_join(&other, NULL, NULL) ||
	    fails(&a, "239.1.1.3", &status) != RDMA_CM_EVENT_MULTICAST_ERROR)
		return 4;
	member_close(&a);
	return 0;
}

static int no_broadcast_group(void)
{
	struct member a;
	int status;

	if (!member_open(&a, RDMA_PS_UDP, "10.77.0.1") ||
	    fails(&a, "239.1.1.1", &status) != -2 || status != EADDRNOTAVAIL)
		return 1;
	member_close(&a);
	return 0;
}

static int wrong(int fd)
{
	(void)fd;
	if (!freopen("/dev/null", "we", stderr))
		return 1;
	return begin("infiniband", link_name);
}

static void in_child(int (*fn)(int fd), const char *link)
{
	pid_t pid;
	int fd;

	link_name = link;
	fd = world_child(fn, &pid);
	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

CT_TEST(mcast, members_send_and_receive_until_they_leave)
{
	in_child(both_ways, "infiniband");
	in_child(both_ways, "roce");
}

CT_TEST(mcast, who_joined_to_send_receives_nothing)
{
	in_child(send_only, "infiniband");
}

CT_TEST(mcast, every_join_is_left)
{
	in_child(several, "infiniband");
}

CT_TEST(mcast, joins_fail_on_request)
{
	in_child(on_request, "infiniband");
}

CT_TEST(mcast, a_group_may_be_named_by_its_gid)
{
	in_child(raw_group, "infiniband");
	in_child(raw_group, "roce");
}

CT_TEST(mcast, groups_are_lost_with_the_subnet_managers_memory)
{
	in_child(lost, "infiniband");
	in_child(lost, "roce");
}

CT_TEST(mcast, no_group_is_joined_while_the_port_is_down)
{
	in_child(down, "infiniband");
	in_child(down, "roce");
}

CT_TEST(mcast, no_route_is_found_while_the_port_is_down)
{
	in_child(no_route, "infiniband");
}

CT_TEST(mcast, an_id_learns_that_its_address_has_changed)
{
	in_child(readdressed, "roce");
}

CT_TEST(mcast, wrong_requests_are_refused)
{
	static const char *const rows[] = {
		"239.1.1.1",  "239.1.1=EPERM", "any=EWHAT", "any=0",
		"any=never*", "any=never*0",   "any=call:", "=EPERM",
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i]);
		in_child(wrong, rows[i]);
	}
}

static void in_child_with(const char *groups, int (*fn)(void))
{
	groups_made = groups;
	groups_fn = fn;
	in_child(with_groups, "infiniband");
}

CT_TEST(mcast, a_group_is_like_the_broadcast_group)
{
	in_child_with(BROADCAST("2"), attributes);
	in_child_with(BROADCAST("2"), made_by_another);
	/* Of a wider scope, where there is no other. */
	in_child_with(BROADCAST("5"), attributes);
}

CT_TEST(mcast, without_a_broadcast_group_none_is_joined)
{
	in_child_with("none", no_broadcast_group);
}
