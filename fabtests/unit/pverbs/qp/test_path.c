/* SPDX-License-Identifier: BSD-2-Clause */
/* What a user may ask of the path between two queue pairs. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include "../world.h"

static const struct ibv_qp_attr *rtr(const struct world *w)
{
	return &w->qp->attr[IBV_QPS_RTR];
}

CT_FIXTURE(path, struct world, world_fresh, world_close);

CT_TEST_F(path, without_a_wish_it_is_what_rdma_cm_found)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(rtr(t)->path_mtu, IBV_MTU_2048);
	CT_EXPECT_EQ(rtr(t)->min_rnr_timer, 12);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_RTS].timeout, 14);
	CT_EXPECT_EQ(fake_tos, -1);
}

CT_TEST_F(path, timers_are_those_of_the_user)
{
	pvb_params.rnr_timer = 0;
	pvb_params.ack_timeout = 20;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(rtr(t)->min_rnr_timer, 0);
	CT_EXPECT_EQ(t->qp->attr[IBV_QPS_RTS].timeout, 20);
}

CT_TEST_F(path, the_mtu_is_made_smaller_never_larger)
{
	static const struct {
		int bytes;
		enum ibv_mtu wanted;
	} rows[] = {
		{4096, IBV_MTU_2048}, {2048, IBV_MTU_2048}, {2047, IBV_MTU_1024},
		{512, IBV_MTU_512},   {300, IBV_MTU_256},   {1, IBV_MTU_256},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%d bytes", rows[i].bytes);
		world_reset();
		pvb_params.path_mtu = rows[i].bytes;
		CT_ASSERT_TRUE(world_open_connected(t, NULL));
		CT_EXPECT_EQ(rtr(t)->path_mtu, rows[i].wanted);
		world_close(t);
	}
}

static int tos_of(uint32_t tx, uint32_t domain, int param)
{
	struct world w;
	int tos;

	world_reset();
	pvb_params.traffic_class = param;
	if (!world_open_domain(&w, NULL))
		return -2;
	w.info->tx_attr->tclass = tx;
	w.info->domain_attr->tclass = domain;
	if (!world_add_ep(&w, NULL, &w.ep) || !world_connect(&w, w.ep))
		return -2;
	tos = fake_tos;
	world_close(&w);
	return tos;
}

CT_TEST(path, the_programs_traffic_class_comes_before_the_users)
{
	CT_EXPECT_EQ(tos_of(0, 0, 0), 0);
	CT_EXPECT_EQ(tos_of(0, 0, 255), 255);
	CT_EXPECT_EQ(tos_of(fi_tc_dscp_set(26), 0, 255), 26 << 2);
	CT_EXPECT_EQ(tos_of(0, fi_tc_dscp_set(10), 255), 10 << 2);
	CT_EXPECT_EQ(tos_of(fi_tc_dscp_set(26), fi_tc_dscp_set(10), -1), 26 << 2);
	CT_EXPECT_EQ(tos_of(FI_TC_LOW_LATENCY, FI_TC_BULK_DATA, -1), -1);
}

CT_TEST_F(path, a_traffic_class_the_kernel_refuses_is_told)
{
	pvb_params.traffic_class = 8;
	CT_ASSERT_TRUE(world_open(t, NULL));
	fake_fail(FAKE_SET_OPTION, 1, EINVAL);
	CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
	CT_EXPECT_WARNED("8");
}

/* rdma_cm's path of the fake has GID index 1. */
CT_TEST_F(path, a_connection_over_another_version_of_roce_fails)
{
	static const struct {
		enum ibv_gid_type type;
		int wish;
		bool wanted;
	} rows[] = {
		{IBV_GID_TYPE_ROCE_V1, 0, true},  {IBV_GID_TYPE_ROCE_V1, 1, true},
		{IBV_GID_TYPE_ROCE_V1, 2, false}, {IBV_GID_TYPE_ROCE_V2, 1, false},
		{IBV_GID_TYPE_ROCE_V2, 2, true},  {IBV_GID_TYPE_IB, 2, true},
	};
	struct rdma_cm_id *id;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		world_reset();
		fake_devices[0].gid[1].gid_type = rows[i].type;
		pvb_params.roce_version = rows[i].wish;
		CT_ASSERT_TRUE(world_open(t, NULL));
		CT_EXPECT_EQ(fi_connect(t->ep, NULL, NULL, 0), 0);
		id = ep_of(t->ep)->conn.id;
		fake_id_device(id, &fake_devices[0]);
		fake_event(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
		fake_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
		fake_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, NULL, 0);
		if (rows[i].wanted)
			expect_event(t->eq, FI_CONNECTED, &t->ep->fid, NULL, 0);
		else
			expect_eq_error(t->eq, &t->ep->fid, FI_EHOSTUNREACH,
					FI_EHOSTUNREACH);
		world_close(t);
	}
}

static int found(void)
{
	struct pvb_device_addr *list;
	size_t count;
	int ret = pvb_device_addrs(&list, &count);

	if (ret)
		return ret;
	free(list);
	return (int)count;
}

/* On RoCE the address is in the GID. */
CT_TEST(path, a_gid_index_leaves_the_address_that_has_it)
{
	union ibv_gid *gid;

	world_reset();
	fake_add_addr("10.0.0.9", &fake_devices[0], 1, IFF_UP);
	fake_add_addr("2001:db8::9", &fake_devices[0], 1, IFF_UP);
	CT_EXPECT_EQ(found(), 3);
	gid = &fake_devices[0].gid[2].gid;
	CT_EXPECT_EQ(inet_pton(AF_INET6, "::ffff:10.0.0.9", gid->raw), 1);
	CT_EXPECT_EQ(inet_pton(AF_INET6, "2001:db8::9", fake_devices[0].gid[3].gid.raw),
		     1);
	for (int index = 2; index <= 3; index++) {
		pvb_params.gid_index = index;
		CT_EXPECT_EQ(found(), 1);
	}
	pvb_params.gid_index = 1;
	ct_log_reset();
	CT_EXPECT_EQ(found(), -FI_ENODATA);
	CT_EXPECT_STRSTR(ct_log_last(), "GID");
	pvb_params.gid_index = FAKE_GIDS;
	CT_EXPECT_EQ(found(), -FI_ENODATA);
}

/* The fake rdma_cm says partition 0xffff, as on Ethernet. */
CT_TEST(path, a_partition_leaves_the_addresses_in_it)
{
	world_reset();
	pvb_params.pkey = 0x7fff;
	CT_EXPECT_EQ(found(), 1);
	pvb_params.pkey = 0xffff;
	CT_EXPECT_EQ(found(), 1);
	pvb_params.pkey = 0x8001;
	CT_EXPECT_EQ(found(), -FI_ENODATA);
}
