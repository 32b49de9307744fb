/* SPDX-License-Identifier: BSD-2-Clause */
/* settings/pkeys.c, and who reaches whom: engine/ud.c, svb_rc_answers. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include "../world.h"

CT_TEST(pkeys, two_limited_members_do_not_reach_each_other)
{
	CT_EXPECT_TRUE(svb_pkeys_match(0xffff, 0xffff));
	CT_EXPECT_TRUE(svb_pkeys_match(0xffff, 0x7fff));
	CT_EXPECT_TRUE(svb_pkeys_match(0x0008, 0x8008));
	CT_EXPECT_FALSE(svb_pkeys_match(0x0008, 0x0008));
	CT_EXPECT_FALSE(svb_pkeys_match(0x8008, 0x8009));
	CT_EXPECT_FALSE(svb_pkeys_match(0x8000, 0x8000));
	CT_EXPECT_FALSE(svb_pkeys_match(0, 0));
}

/* The table of the children below, and which of its entries reach each other. */
#define TABLE "0xffff, 7fff 0x8008 0x0008"
#define ENTRIES 4
static const char reaches[ENTRIES][ENTRIES + 1] = {"yy..", "y...", "..yy", "..y."};

static bool begin(const char *pkeys)
{
	world_settings("SIMVERBS_SIM0_PKEYS", pkeys, NULL);
	return !svb_join();
}

/* The state init again, with another P_Key. */
static bool with_pkey(struct end *end, uint16_t index)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .pkey_index = index};

	return !ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX);
}

/* A pair whose ends have P_Keys of these places in the table. */
static bool pair_open_in(struct pair *p, enum ibv_qp_type type, uint16_t i, uint16_t j)
{
	struct address to_a;

	if (!world_open(&p->a, type, false) || !world_open(&p->b, type, false) ||
	    !with_pkey(&p->a, i) || !with_pkey(&p->b, j))
		return false;
	to_a = world_address(&p->a);
	p->to = world_address(&p->b);
	return world_connect(&p->a, &p->to) && world_connect(&p->b, &to_a);
}

static void datagram(struct pair *p, bool arrives)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(p->a.pd, &attr);

	CT_ASSERT_TRUE(ah && !world_recv(&p->b, 1, 0, 100));
	CT_EXPECT_EQ(world_send_to(&p->a, ah, p->b.qp->qp_num, 0x1234, 8), 0);
	CT_EXPECT_EQ(world_status(p->a.cq), IBV_WC_SUCCESS);
	CT_EXPECT_EQ(!world_quiet(p->b.cq), arrives);
	ibv_destroy_ah(ah);
}

static void write_to(struct pair *p, bool arrives)
{
	CT_EXPECT_EQ(pair_write(p), arrives ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
}

static void each_pair(enum ibv_qp_type type, void (*check)(struct pair *p, bool arrives))
{
	struct pair p;

	CT_ASSERT_TRUE(begin(TABLE));
	for (uint16_t i = 0; i < ENTRIES; i++)
		for (uint16_t j = 0; j < ENTRIES; j++) {
			CT_NOTE("from entry %u to %u", i, j);
			CT_ASSERT_TRUE(pair_open_in(&p, type, i, j));
			check(&p, reaches[i][j] == 'y');
			pair_close(&p);
		}
}

WORLD_CHILD(pkeys, datagrams_arrive_within_a_partition)
{
	each_pair(IBV_QPT_UD, datagram);
}

WORLD_CHILD(pkeys, connections_need_the_same_partition)
{
	each_pair(IBV_QPT_RC, write_to);
}

WORLD_CHILD(pkeys, the_table_is_what_verbs_show_and_check)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct end a;
	__be16 pkey;

	CT_ASSERT_TRUE(begin(TABLE) && world_open(&a, IBV_QPT_UD, false));
	CT_ASSERT_TRUE(!ibv_query_device(a.ctx, &device) &&
		       !ibv_query_port(a.ctx, 1, &port));
	CT_EXPECT_EQ(port.pkey_tbl_len, ENTRIES);
	CT_EXPECT_GE(device.max_pkeys, ENTRIES);
	CT_EXPECT_EQ(ibv_query_pkey(a.ctx, 1, 3, &pkey), 0);
	CT_EXPECT_EQ(pkey, htons(0x0008));
	CT_EXPECT_NE(ibv_query_pkey(a.ctx, 1, ENTRIES, &pkey), 0);
	CT_EXPECT_NE(ibv_query_pkey(a.ctx, 1, -1, &pkey), 0);
	CT_EXPECT_EQ(ibv_get_pkey_index(a.ctx, 1, htons(0x8008)), 2);
	CT_EXPECT_EQ(ibv_get_pkey_index(a.ctx, 1, htons(0x0008)), 3);
	CT_EXPECT_EQ(ibv_get_pkey_index(a.ctx, 1, htons(0x8009)), -1);
	CT_EXPECT_TRUE(!with_pkey(&a, ENTRIES) && with_pkey(&a, ENTRIES - 1));
	world_close(&a);
}

/* An address on a link in another partition: its ids have that P_Key. */
WORLD_CHILD(pkeys, an_address_may_be_in_a_partition)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdma_cm_id *id;
	int mask;

	world_settings("SIMVERBS_SIM0_ADDRESS", "10.77.0.1/24 10.78.0.1/24@0x8008", NULL);
	CT_ASSERT_TRUE(begin(TABLE) && !rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	inet_pton(AF_INET, "10.78.0.1", &addr.sin_addr);
	CT_ASSERT_EQ(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	CT_ASSERT_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
	CT_EXPECT_EQ(attr.pkey_index, 2);
	CT_EXPECT_EQ(id->route.addr.addr.ibaddr.pkey, htons(0x8008));
	CT_EXPECT_EQ(rdma_destroy_id(id), 0);
}

static const char *refused_list, *refused_address;

static void refused(void)
{
	if (refused_address)
		setenv("SIMVERBS_SIM0_ADDRESS", refused_address, 1);
	CT_ASSERT_NE(freopen("/dev/null", "we", stderr), NULL);
	CT_EXPECT_FALSE(begin(refused_list));
}

CT_TEST(pkeys, a_wrong_table_is_refused)
{
	static const struct {
		const char *list, *address;
	} rows[] = {
		{"0xffff 0", NULL},
		{"0x8000", NULL},
		{"10000", NULL},
		{"full", NULL},
		{",", NULL},
		{"1 2 3 4 5 6 7 8 9 a b c d e f 10 11", NULL},
		{"0xffff", "10.77.0.1/24@0x8008"},
		{"0xffff", "10.77.0.1/24@"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i].list);
		refused_list = rows[i].list;
		refused_address = rows[i].address;
		world_run(refused);
	}
}
