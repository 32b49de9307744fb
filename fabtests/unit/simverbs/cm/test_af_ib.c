/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/sockaddr.c, cm/bind.c, cm/ep.c: addresses of family AF_IB. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <unistd.h>
#include "cm/cm.h"
#include "../world.h"

#define PATIENCE CT_DEADLINE_MS

static bool begin(const char *link)
{
	svb_self.settings.devices = 0;
	setenv("SIMVERBS_LINK_LAYER", link, 1);
	setenv("SIMVERBS_SIM0_ADDRESS", "10.77.0.1/24 10.77.0.2/24", 1);
	setenv("SIMVERBS_SIM0_PKEYS", "0xffff 0x8008", 1);
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
static int sidr(int fd)
{
	struct rdma_event_channel *channel;
	struct sockaddr_ib at, to;
	struct rdma_conn_param param = {.qp_num = 0x1234};
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *event;

	(void)fd;
	if (!begin("infiniband"))
		return 1;
	channel = rdma_create_event_channel();
	at = gid_of(1, 0x8008, 0);
	at.sib_sid_mask = 0;
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&at) || rdma_listen(listener, 1))
		return 2;
	to = gid_of(1, 0x8008,
		    (uint64_t)RDMA_PS_UDP << 16 | ntohs(rdma_get_src_port(listener)));
	if (rdma_create_id(channel, &active, NULL, RDMA_PS_UDP) ||
	    rdma_resolve_addr(active, NULL, (struct sockaddr *)&to, PATIENCE) ||
	    !gets(channel, RDMA_CM_EVENT_ADDR_RESOLVED))
		return 3;
	if (active->route.addr.addr.ibaddr.pkey != htons(0x8008) ||
	    active->route.addr.src_addr.sa_family != AF_IB)
		return 4;
	if (rdma_resolve_route(active, PATIENCE) ||
	    !gets(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) || rdma_connect(active, &param))
		return 5;
	if (event_of(channel, &event) != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 6;
	passive = event->id;
	rdma_ack_cm_event(event);
	if (passive->route.addr.src_addr.sa_family != AF_IB ||
	    memcmp(rdma_get_local_addr(passive), &to, sizeof(to)) ||
	    passive->route.addr.addr.ibaddr.pkey != htons(0x8008))
		return 7;
	if (rdma_accept(passive, &param) ||
	    event_of(channel, &event) != RDMA_CM_EVENT_ESTABLISHED ||
	    event->param.ud.qp_num != 0x1234)
		return 8;
	rdma_ack_cm_event(event);
	rdma_destroy_id(passive);
	rdma_destroy_id(active);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}

static int refusals(int fd)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct sockaddr_ib at, nobody = {.sib_family = AF_IB};
	struct rdma_cm_id *id;
	int mask;

	(void)fd;
	if (!begin("infiniband"))
		return 1;
	nobody.sib_addr.sib_addr8[0] = 0xfe;
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP) ||
	    !rdma_bind_addr(id, (struct sockaddr *)&nobody) || errno != ENODEV)
		return 2;
	/* A service ID of another port space. */
	at = gid_of(1, 0xffff, (uint64_t)RDMA_PS_TCP << 16 | 99);
	if (!rdma_bind_addr(id, (struct sockaddr *)&at) || errno != EPROTONOSUPPORT)
		return 3;
	at = gid_of(1, 0x8009, (uint64_t)RDMA_PS_UDP << 16 | 99);
	/* cma_resolve_ib_dev */
	if (!rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, PATIENCE) ||
	    errno != ENODEV)
		return 4;
	rdma_destroy_id(id);
	/* A partition is looked for where a queue pair is to be in it. */
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&at) ||
	    !rdma_init_qp_attr(id, &attr, &mask) || errno != ENOENT)
		return 5;
	rdma_destroy_id(id);
	/* IPoIB has no service IDs. */
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_IPOIB) ||
	    !rdma_bind_addr(id, (struct sockaddr *)&at) || errno != EPROTONOSUPPORT)
		return 6;
	return rdma_destroy_id(id);
}

static int ethernet(int fd)
{
	struct sockaddr_ib at;
	struct rdma_cm_id *id;

	(void)fd;
	if (!begin("roce") || rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP))
		return 1;
	at = gid_of(1, 0xffff, 0);
	at.sib_sid_mask = 0;
	if (!rdma_bind_addr(id, (struct sockaddr *)&at) || errno != ENODEV)
		return 2;
	return rdma_destroy_id(id);
}

static int found(int fd)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_FAMILY,
				      .ai_family = AF_IB,
				      .ai_port_space = RDMA_PS_UDP},
			     *info;
	const uint8_t *gid;
	struct sockaddr_ib *ib;

	(void)fd;
	if (!begin("infiniband"))
		return 1;
	gid = svb_self.settings.device[0].port[0].gid[2].raw;
	if (rdma_getaddrinfo("10.77.0.2", "7", &hints, &info))
		return 2;
	ib = (struct sockaddr_ib *)info->ai_dst_addr;
	if (info->ai_family != AF_IB || info->ai_dst_len != sizeof(*ib) ||
	    ib->sib_family != AF_IB || memcmp(&ib->sib_addr, gid, 16) ||
	    be64toh(ib->sib_sid) != ((uint64_t)RDMA_PS_UDP << 16 | 7) ||
	    ib->sib_pkey != htons(0xffff))
		return 3;
	rdma_freeaddrinfo(info);
	/* A group's GID, as it is. */
	if (rdma_getaddrinfo("ff12:401b:ffff::5", NULL, &hints, &info))
		return 4;
	ib = (struct sockaddr_ib *)info->ai_dst_addr;
	if (ib->sib_addr.sib_addr8[15] != 5)
		return 5;
	rdma_freeaddrinfo(info);
	if (!rdma_getaddrinfo("10.99.0.1", "7", &hints, &info) || errno != ENODATA)
		return 6;
	hints.ai_flags |= RAI_PASSIVE;
	if (rdma_getaddrinfo(NULL, "7", &hints, &info) ||
	    info->ai_src_len != sizeof(*ib) || !svb_cm_addr_any(info->ai_src_addr))
		return 7;
	rdma_freeaddrinfo(info);
	return 0;
}

static void in_child(int (*fn)(int fd))
{
	pid_t pid;
	int fd = world_child(fn, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

CT_TEST(af_ib, datagram_services_are_found_by_gid_and_service_id)
{
	in_child(sidr);
}

CT_TEST(af_ib, gids_partitions_and_services_that_are_not_there_are_refused)
{
	in_child(refusals);
}

CT_TEST(af_ib, ethernet_has_none)
{
	in_child(ethernet);
}

CT_TEST(af_ib, rdma_getaddrinfo_gives_gids)
{
	in_child(found);
}
