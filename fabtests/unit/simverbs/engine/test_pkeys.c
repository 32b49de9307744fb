/* SPDX-License-Identifier: BSD-2-Clause */
/* settings/pkeys.c, and who reaches whom: engine/ud.c, svb_rc_answers. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
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
	svb_self.settings.devices = 0;
	setenv("SIMVERBS_SIM0_PKEYS", pkeys, 1);
	return !svb_join();
}

/* The state init again, with another P_Key. */
static bool with_pkey(struct end *end, uint16_t index)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .pkey_index = index};

	return !ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX);
}

static bool datagram(struct end *a, struct end *b)
{
	struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1};
	struct ibv_sge sge = {(uintptr_t)a->memory, 8, a->mr->lkey};
	struct ibv_ah *ah = ibv_create_ah(a->pd, &attr);
	struct ibv_send_wr *bad, wr = {
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.ud = {ah, b->qp->qp_num, 0x1234},
				 };
	bool sent = ah && !world_recv(b, 1, 0, 100) && !ibv_post_send(a->qp, &wr, &bad) &&
		    !world_status(a->cq);

	CT_EXPECT_TRUE(sent);
	ibv_destroy_ah(ah);
	return sent && !world_quiet(b->cq);
}

static int datagrams(int fd)
{
	struct address nobody = {0};
	struct end a, b;
	uint16_t i, j;

	(void)fd;
	if (!begin(TABLE))
		return 1;
	for (i = 0; i < ENTRIES; i++)
		for (j = 0; j < ENTRIES; j++) {
			if (!world_open(&a, IBV_QPT_UD, false) ||
			    !world_open(&b, IBV_QPT_UD, false) || !with_pkey(&a, i) ||
			    !with_pkey(&b, j) || !world_connect(&a, &nobody) ||
			    !world_connect(&b, &nobody))
				return 2;
			if (datagram(&a, &b) != (reaches[i][j] == 'y'))
				return 10 + i * ENTRIES + j;
			world_pair_close(&a, &b);
		}
	return 0;
}

CT_TEST(pkeys, datagrams_arrive_within_a_partition)
{
	pid_t pid;
	int fd = world_child(datagrams, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

static int connections(int fd)
{
	struct address to_a, to_b;
	struct end a, b;
	uint16_t i, j;
	int want;

	(void)fd;
	if (!begin(TABLE))
		return 1;
	for (i = 0; i < ENTRIES; i++)
		for (j = 0; j < ENTRIES; j++) {
			if (!world_open(&a, IBV_QPT_RC, false) ||
			    !world_open(&b, IBV_QPT_RC, false) || !with_pkey(&a, i) ||
			    !with_pkey(&b, j))
				return 2;
			to_a = world_address(&a);
			to_b = world_address(&b);
			if (!world_connect(&a, &to_b) || !world_connect(&b, &to_a) ||
			    world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to_b, 0))
				return 3;
			want = reaches[i][j] == 'y' ? IBV_WC_SUCCESS
						    : IBV_WC_RETRY_EXC_ERR;
			if (world_status(a.cq) != want)
				return 10 + i * ENTRIES + j;
			world_pair_close(&a, &b);
		}
	return 0;
}

CT_TEST(pkeys, connections_need_the_same_partition)
{
	pid_t pid;
	int fd = world_child(connections, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

static int table(int fd)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct end a;
	__be16 pkey;

	(void)fd;
	if (!begin(TABLE) || !world_open(&a, IBV_QPT_UD, false))
		return 1;
	if (ibv_query_device(a.ctx, &device) || ibv_query_port(a.ctx, 1, &port) ||
	    port.pkey_tbl_len != ENTRIES || device.max_pkeys < ENTRIES)
		return 2;
	if (ibv_query_pkey(a.ctx, 1, 3, &pkey) || pkey != htons(0x0008) ||
	    !ibv_query_pkey(a.ctx, 1, ENTRIES, &pkey) ||
	    !ibv_query_pkey(a.ctx, 1, -1, &pkey))
		return 3;
	if (ibv_get_pkey_index(a.ctx, 1, htons(0x8008)) != 2 ||
	    ibv_get_pkey_index(a.ctx, 1, htons(0x0008)) != 3 ||
	    ibv_get_pkey_index(a.ctx, 1, htons(0x8009)) != -1)
		return 4;
	if (with_pkey(&a, ENTRIES) || !with_pkey(&a, ENTRIES - 1))
		return 5;
	world_close(&a);
	return 0;
}

CT_TEST(pkeys, the_table_is_what_verbs_show_and_check)
{
	pid_t pid;
	int fd = world_child(table, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

/* An address on a link in another partition: its ids have that P_Key. */
static int of_address(int fd)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdma_cm_id *id;
	int mask;

	(void)fd;
	setenv("SIMVERBS_SIM0_ADDRESS", "10.77.0.1/24 10.78.0.1/24@0x8008", 1);
	if (!begin(TABLE) || rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP))
		return 1;
	inet_pton(AF_INET, "10.78.0.1", &addr.sin_addr);
	if (rdma_bind_addr(id, (struct sockaddr *)&addr) ||
	    rdma_init_qp_attr(id, &attr, &mask))
		return 2;
	if (attr.pkey_index != 2 || id->route.addr.addr.ibaddr.pkey != htons(0x8008))
		return 3;
	return rdma_destroy_id(id);
}

CT_TEST(pkeys, an_address_may_be_in_a_partition)
{
	pid_t pid;
	int fd = world_child(of_address, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

static const char *refused_list;
static const char *refused_address;

static int refused(int fd)
{
	(void)fd;
	if (refused_address)
		setenv("SIMVERBS_SIM0_ADDRESS", refused_address, 1);
	if (!freopen("/dev/null", "we", stderr))
		return 1;
	return begin(refused_list);
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
	size_t i;
	pid_t pid;
	int fd;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i].list);
		refused_list = rows[i].list;
		refused_address = rows[i].address;
		fd = world_child(refused, &pid);
		CT_EXPECT_EQ(world_reap(pid), 0);
		close(fd);
	}
}
