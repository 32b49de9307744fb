/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/sockaddr.c, cm/bind.c, cm/ep.c: addresses of family AF_IB. */
#include <arpa/inet.h>
#include "cm/cm.h"
#include "../world.h"

#define PATIENCE CT_DEADLINE_MS

static bool begin(const char *link)
{
	world_settings("SIMVERBS_LINK_LAYER", link, "SIMVERBS_SIM0_ADDRESS",
		       "10.77.0.1/24 10.77.0.2/24", "SIMVERBS_SIM0_PKEYS",
		       "0xffff 0x8008", NULL);
	return !svb_join();
}

/* The GID of the port's address 10.77.0.host. */
static struct sockaddr_ib gid_of(uint8_t host, uint16_t pkey, uint64_t sid)
{
	struct sockaddr_ib ib;

	svb_cm_addr_ib(&ib, svb_self.settings.device[0].port[0].gid[host].raw, pkey);
	ib.sib_sid = htobe64(sid);
	ib.sib_sid_mask = ~0ull;
	return ib;
}

static int event_of(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	return rdma_get_cm_event(channel, event) ? -1 : (int)(*event)->event;
}

static bool gets(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	bool same = event_of(channel, &event) == (int)type && !event->status;

	rdma_ack_cm_event(event);
	return same;
}

/* A UD queue pair number is asked for by service ID; both ends have GIDs for addresses.
 */
WORLD_CHILD(af_ib, datagram_services_are_found_by_gid_and_service_id)
{
	struct rdma_event_channel *channel;
	struct sockaddr_ib at, to;
	struct rdma_conn_param param = {.qp_num = 0x1234};
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *event;

	CT_ASSERT_TRUE(begin("infiniband"));
	channel = rdma_create_event_channel();
	at = gid_of(1, 0x8008, 0);
	at.sib_sid_mask = 0;
	CT_ASSERT_TRUE(!rdma_create_id(channel, &listener, NULL, RDMA_PS_UDP) &&
		       !rdma_bind_addr(listener, (struct sockaddr *)&at) &&
		       !rdma_listen(listener, 1));
	to = gid_of(1, 0x8008,
		    (uint64_t)RDMA_PS_UDP << 16 | ntohs(rdma_get_src_port(listener)));
	CT_ASSERT_TRUE(
		!rdma_create_id(channel, &active, NULL, RDMA_PS_UDP) &&
		!rdma_resolve_addr(active, NULL, (struct sockaddr *)&to, PATIENCE) &&
		gets(channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	CT_EXPECT_EQ(active->route.addr.addr.ibaddr.pkey, htons(0x8008));
	CT_EXPECT_EQ(active->route.addr.src_addr.sa_family, AF_IB);
	CT_ASSERT_TRUE(!rdma_resolve_route(active, PATIENCE) &&
		       gets(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) &&
		       !rdma_connect(active, &param));
	CT_ASSERT_EQ(event_of(channel, &event), RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	rdma_ack_cm_event(event);
	CT_EXPECT_EQ(passive->route.addr.src_addr.sa_family, AF_IB);
	CT_EXPECT_MEMEQ(rdma_get_local_addr(passive), &to, sizeof(to));
	CT_EXPECT_EQ(passive->route.addr.addr.ibaddr.pkey, htons(0x8008));
	CT_ASSERT_EQ(rdma_accept(passive, &param), 0);
	CT_ASSERT_EQ(event_of(channel, &event), RDMA_CM_EVENT_ESTABLISHED);
	CT_EXPECT_EQ(event->param.ud.qp_num, 0x1234);
	rdma_ack_cm_event(event);
	rdma_destroy_id(passive);
	rdma_destroy_id(active);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
}

static int binds(struct rdma_cm_id *id, struct sockaddr_ib *at)
{
	return rdma_bind_addr(id, (struct sockaddr *)at) ? errno : 0;
}

WORLD_CHILD(af_ib, gids_partitions_and_services_that_are_not_there_are_refused)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct sockaddr_ib at, nobody = {.sib_family = AF_IB};
	struct rdma_cm_id *id;
	int mask;

	CT_ASSERT_TRUE(begin("infiniband"));
	nobody.sib_addr.sib_addr8[0] = 0xfe;
	CT_ASSERT_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP), 0);
	CT_EXPECT_EQ(binds(id, &nobody), ENODEV);
	/* A service ID of another port space. */
	at = gid_of(1, 0xffff, (uint64_t)RDMA_PS_TCP << 16 | 99);
	CT_EXPECT_EQ(binds(id, &at), EPROTONOSUPPORT);
	at = gid_of(1, 0x8009, (uint64_t)RDMA_PS_UDP << 16 | 99);
	/* cma_resolve_ib_dev */
	CT_EXPECT_NE(rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, PATIENCE), 0);
	CT_EXPECT_EQ(errno, ENODEV);
	rdma_destroy_id(id);
	/* A partition is looked for where a queue pair is to be in it. */
	CT_ASSERT_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP), 0);
	CT_EXPECT_EQ(binds(id, &at), 0);
	CT_EXPECT_NE(rdma_init_qp_attr(id, &attr, &mask), 0);
	CT_EXPECT_EQ(errno, ENOENT);
	rdma_destroy_id(id);
	/* IPoIB has no service IDs. */
	CT_ASSERT_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_IPOIB), 0);
	CT_EXPECT_EQ(binds(id, &at), EPROTONOSUPPORT);
	CT_EXPECT_EQ(rdma_destroy_id(id), 0);
}

WORLD_CHILD(af_ib, ethernet_has_none)
{
	struct sockaddr_ib at;
	struct rdma_cm_id *id;

	CT_ASSERT_TRUE(begin("roce") && !rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	at = gid_of(1, 0xffff, 0);
	at.sib_sid_mask = 0;
	CT_EXPECT_EQ(binds(id, &at), ENODEV);
	CT_EXPECT_EQ(rdma_destroy_id(id), 0);
}

WORLD_CHILD(af_ib, rdma_getaddrinfo_gives_gids)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_FAMILY,
				      .ai_family = AF_IB,
				      .ai_port_space = RDMA_PS_UDP},
			     *info;
	struct sockaddr_ib *ib;

	CT_ASSERT_TRUE(begin("infiniband"));
	CT_ASSERT_EQ(rdma_getaddrinfo("10.77.0.2", "7", &hints, &info), 0);
	ib = (struct sockaddr_ib *)info->ai_dst_addr;
	CT_ASSERT_EQ(info->ai_dst_len, sizeof(*ib));
	CT_EXPECT_TRUE(info->ai_family == AF_IB && ib->sib_family == AF_IB);
	CT_EXPECT_MEMEQ(&ib->sib_addr, svb_self.settings.device[0].port[0].gid[2].raw,
			16);
	CT_EXPECT_EQ(be64toh(ib->sib_sid), (uint64_t)RDMA_PS_UDP << 16 | 7);
	CT_EXPECT_EQ(ib->sib_pkey, htons(0xffff));
	rdma_freeaddrinfo(info);
	/* A group's GID, as it is. */
	CT_ASSERT_EQ(rdma_getaddrinfo("ff12:401b:ffff::5", NULL, &hints, &info), 0);
	ib = (struct sockaddr_ib *)info->ai_dst_addr;
	CT_EXPECT_EQ(ib->sib_addr.sib_addr8[15], 5);
	rdma_freeaddrinfo(info);
	CT_EXPECT_NE(rdma_getaddrinfo("10.99.0.1", "7", &hints, &info), 0);
	CT_EXPECT_EQ(errno, ENODATA);
	hints.ai_flags |= RAI_PASSIVE;
	CT_ASSERT_EQ(rdma_getaddrinfo(NULL, "7", &hints, &info), 0);
	CT_EXPECT_EQ(info->ai_src_len, sizeof(*ib));
	CT_EXPECT_TRUE(svb_cm_addr_any(info->ai_src_addr));
	rdma_freeaddrinfo(info);
}
