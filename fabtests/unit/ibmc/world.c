/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <string.h>
#include <cairn/bytes.h>
#include "cairn_test.h"
#include "world.h"

struct imc_subnet world;

void world_end(void)
{
	imc_subnet_free(&world);
	memset(&world, 0, sizeof(world));
}

void world_begin(void)
{
	world_end();
	memset(&world, 0, sizeof(world));
	world.has = IMC_HAS_MEMBERS;
}

struct pvb_mcm world_group(const char *mgid)
{
	struct pvb_mcm mcm = {.qkey = 0x80000b1b,
			      .mlid = (uint16_t)(0xc000 + world.records),
			      .mtu = 4,
			      .tclass = 3,
			      .pkey = 0xffff,
			      .rate = 3,
			      .sl = 1,
			      .flow_label = 5,
			      .hop_limit = 7,
			      .scope = 2};

	CT_EXPECT_EQ(inet_pton(AF_INET6, mgid, mcm.mgid), 1);
	return mcm;
}

static void load(uint16_t attr, const uint8_t *data, size_t len)
{
	CT_ASSERT_EQ(imc_subnet_load(&world, attr, data, len, len), 0);
}

void world_add(const struct pvb_mcm *mcm)
{
	uint8_t data[WORLD_MCM_STRIDE] = {0};

	pvb_mcm_pack(data, mcm);
	load(PVB_SA_MCMEMBER_RECORD, data, sizeof(data));
}

void world_add_member(const char *mgid, uint64_t port_guid, uint8_t state)
{
	struct pvb_mcm mcm = world_group(mgid);

	crn_put_be64(mcm.port_gid, 0xfe80000000000000);
	crn_put_be64(mcm.port_gid + 8, port_guid);
	mcm.join_state = state;
	world_add(&mcm);
}

void world_add_node(uint16_t lid, uint8_t type, uint64_t port_guid, const char *name)
{
	uint8_t data[WORLD_NODE_STRIDE] = {0};

	crn_put_be16(data, lid);
	data[6] = type;
	crn_put_be64(data + 24, port_guid);
	memcpy(data + 44, name, strnlen(name, 64));
	load(IMC_NODE_RECORD, data, sizeof(data));
}

void world_add_port(uint16_t lid, uint8_t number, uint8_t mtu_cap, uint8_t mtu)
{
	uint8_t data[WORLD_PORT_STRIDE] = {0};

	crn_put_be16(data, lid);
	data[2] = number;
	data[4 + 32] = IMC_PORT_ACTIVE;
	data[4 + 36] = (uint8_t)(mtu << 4);
	data[4 + 41] = mtu_cap;
	load(PVB_SA_PORT_INFO_RECORD, data, sizeof(data));
}

void world_add_pkey(uint16_t lid, uint8_t port, uint16_t block, uint16_t pkey)
{
	uint8_t data[WORLD_PKEY_STRIDE] = {0};

	crn_put_be16(data, lid);
	crn_put_be16(data + 2, block);
	data[4] = port;
	crn_put_be16(data + 8 + 2 * 31, pkey);
	load(IMC_PKEY_TABLE_RECORD, data, sizeof(data));
}

void world_add_switch(uint16_t lid, uint16_t fdb)
{
	uint8_t data[WORLD_SWITCH_STRIDE] = {0};

	crn_put_be16(data, lid);
	crn_put_be16(data + 8, fdb);
	load(IMC_SWITCH_INFO_RECORD, data, sizeof(data));
}

void world_finish(void)
{
	CT_ASSERT_EQ(imc_subnet_finish(&world), 0);
}
