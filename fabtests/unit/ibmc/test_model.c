/* SPDX-License-Identifier: BSD-2-Clause */
/* Of util/fi_ibmc/model and words. */
#include <string.h>
#include <sys/socket.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include "cairn_test.h"
#include "world.h"

#define BROADCAST "ff12:401b:ffff::ffff:ffff"
#define ALL_NODE "ff12:601b:ffff::1"
#define GROUP "ff12:401b:ffff::5"

static void add(const char *mgid)
{
	const struct pvb_mcm mcm = world_group(mgid);

	world_add(&mcm);
}

/* All tests are of the world. */
static void set_up(struct imc_subnet **subnet)
{
	world_begin();
	*subnet = &world;
}

static void tear_down(struct imc_subnet **subnet)
{
	world_end();
}

CT_FIXTURE(model, struct imc_subnet *, set_up, tear_down);

CT_TEST_F(model, groups_are_ordered_by_link_and_each_has_its_members)
{
	add("ff12:4001:ffff::1");
	add("ff15:401b:8008::ffff:ffff");
	add(GROUP);
	add(BROADCAST);
	world_add_member(GROUP, 9, PVB_MCM_FULL);
	world_add_member(GROUP, 7, PVB_MCM_NON_MEMBER);
	world_add_member(GROUP, 9, PVB_MCM_FULL);
	world_finish();
	CT_ASSERT_EQ(world.links, 2);
	CT_EXPECT_EQ(world.link[0].pkey, 8);
	CT_EXPECT_EQ(world.link[0].scope, 5);
	CT_EXPECT_EQ(world.link[1].pkey, 0x7fff);
	CT_ASSERT_EQ(world.link[1].groups, 2);
	CT_ASSERT_EQ(world.groups, 4);
	CT_EXPECT_FALSE(world.group[3].record->name.ip);
	CT_ASSERT_EQ(world.link[1].group[0].members, 2);
	CT_EXPECT_EQ(world.link[1].group[0].member[0].mcm.port_gid[15], 7);
	CT_EXPECT_EQ(world.link[1].group[1].members, 0);
}

CT_TEST_F(model, the_attributes_of_a_link_are_of_its_broadcast_or_else_its_all_node_group)
{
	add(ALL_NODE);
	add(GROUP);
	world_finish();
	CT_EXPECT_EQ(imc_link_base(world.link)->record->name.kind, IMC_KIND_ALL_NODE);
	world_begin();
	add(ALL_NODE);
	add(BROADCAST);
	world_finish();
	CT_EXPECT_EQ(imc_link_base(world.link)->record->name.kind, IMC_KIND_BROADCAST);
	CT_EXPECT_EQ(imc_link_group(world.link, IMC_KIND_ALL_ROUTER, AF_INET6), NULL);
	world_begin();
	add(GROUP);
	world_finish();
	CT_EXPECT_EQ(imc_link_base(world.link), NULL);
}

CT_TEST_F(model, nodes_are_found_by_lid_and_by_port_gid)
{
	const uint8_t gid[16] = {0xfe, 0x80, [15] = 4}, other[16] = {[15] = 5};

	world_add_node(9, IMC_CA, 3, "nine");
	world_add_node(2, IMC_SWITCH, 4, "two");
	world_finish();
	CT_EXPECT_STREQ(imc_node_of_lid(&world, 9)->name, "nine");
	CT_EXPECT_EQ(imc_node_of_lid(&world, 3), NULL);
	CT_EXPECT_STREQ(imc_node_of_gid(&world, gid)->name, "two");
	CT_EXPECT_EQ(imc_node_of_gid(&world, other), NULL);
}

CT_TEST_F(model, a_name_that_would_steer_a_terminal_does_not)
{
	char longest[65];

	memset(longest, 'x', sizeof(longest));
	longest[64] = '\0';
	world_add_node(1, IMC_CA, 1, "\033[2J\xc3\xa9q\"");
	world_add_node(2, IMC_CA, 2, longest);
	world_finish();
	CT_EXPECT_STREQ(world.node[0].name, "?[2J??q\"");
	CT_EXPECT_EQ(strlen(world.node[1].name), 64);
}

CT_TEST_F(model, the_p_key_of_a_port_may_be_in_any_block)
{
	world_add_pkey(3, 1, 1, 0x8008);
	world_add_pkey(3, 1, 0, 0x0008);
	world_add_pkey(3, 2, 0, 0xffff);
	world_add_pkey(4, 1, 0, 0xffff);
	world_finish();
	CT_EXPECT_EQ(imc_port_pkey(&world, 3, 1, 8), 0x8008);
	CT_EXPECT_EQ(imc_port_pkey(&world, 3, 2, 8), 0);
	CT_EXPECT_EQ(imc_port_pkey(&world, 3, IMC_ANY_PORT, 0x7fff), 0xffff);
	CT_EXPECT_EQ(imc_port_pkey(&world, 5, 1, 0x7fff), 0);
}

CT_TEST_F(model, records_that_are_too_short_are_refused_and_empty_ones_skipped)
{
	uint8_t data[WORLD_MCM_STRIDE * 3] = {0};
	const struct pvb_mcm mcm = world_group(GROUP);

	CT_EXPECT_EQ(imc_subnet_load(&world, PVB_SA_MCMEMBER_RECORD, data, 40, 40),
		     -FI_EINVAL);
	CT_EXPECT_EQ(imc_subnet_load(&world, 0x99, data, 40, 40), -FI_EINVAL);
	pvb_mcm_pack(data + WORLD_MCM_STRIDE, &mcm);
	CT_EXPECT_EQ(imc_subnet_load(&world, PVB_SA_MCMEMBER_RECORD, data, sizeof(data),
				     WORLD_MCM_STRIDE),
		     0);
	CT_EXPECT_EQ(world.records, 1);
	/* The second is cut off. */
	CT_EXPECT_EQ(imc_subnet_load(&world, PVB_SA_MCMEMBER_RECORD, data,
				     2 * WORLD_MCM_STRIDE - 10, WORLD_MCM_STRIDE),
		     0);
	CT_EXPECT_EQ(world.records, 1);
	CT_EXPECT_EQ(imc_subnet_load(&world, PVB_SA_MCMEMBER_RECORD, NULL, 0, 0), 0);
	world_finish();
	CT_EXPECT_FALSE(world.has & IMC_HAS_NOT_ALL);
}

CT_TEST_F(model, a_table_in_one_datagram_without_rmpp_is_not_whole)
{
	uint8_t data[PVB_SA_DATA_SIZE] = {0};

	CT_EXPECT_EQ(imc_subnet_load(&world, PVB_SA_MCMEMBER_RECORD, data, sizeof(data),
				     WORLD_MCM_STRIDE),
		     0);
	world_finish();
	CT_EXPECT_TRUE(world.has & IMC_HAS_NOT_ALL);
}

CT_TEST(words, states_mtus_and_scopes_are_there_and_back)
{
	char text[IMC_TEXT];

	CT_EXPECT_STREQ(imc_state_text(PVB_MCM_FULL | PVB_MCM_SEND_ONLY_FULL, text),
			"full,send-only");
	CT_EXPECT_STREQ(imc_state_text(0xf, text), "full,non,send-only-non,send-only");
	CT_EXPECT_EQ(imc_state_parse("send-only-non"), PVB_MCM_SEND_ONLY_NON_MEMBER);
	CT_EXPECT_EQ(imc_state_parse("all"), 0);
	CT_EXPECT_EQ(imc_mtu_bytes(5), 4096);
	CT_EXPECT_EQ(imc_mtu_bytes(6), 0);
	CT_EXPECT_EQ(imc_mtu_bytes(0), 0);
	CT_EXPECT_EQ(imc_mtu_code(1024), 3);
	CT_EXPECT_EQ(imc_mtu_code(1500), 0);
	CT_EXPECT_EQ(imc_scope_parse("site-local"), 5);
	CT_EXPECT_EQ(imc_scope_parse("0xe"), 14);
	CT_EXPECT_EQ(imc_scope_parse("15"), 0);
	CT_EXPECT_EQ(imc_scope_parse(""), 0);
	CT_EXPECT_STREQ(imc_scope_text(15), "");
	CT_EXPECT_STREQ(imc_rate_text(3, text), "10 Gb/s");
	CT_EXPECT_STREQ(imc_rate_text(63, text), "rate 63");
}

CT_TEST(words, an_mgid_of_a_link_is_no_ipv6_address)
{
	const struct pvb_mc_link link = {.profile = PVB_MC_RFC, .pkey = 8, .scope = 5};
	struct imc_name name;
	const char *why;

	CT_ASSERT_EQ(imc_name_parse(GROUP, &link, false, &name, &why), 0);
	CT_EXPECT_EQ(name.addr.pkey, 0xffff);
	CT_EXPECT_TRUE(imc_name_is_mgid(GROUP));
	/* With another flag it is an address, and is mapped. */
	CT_ASSERT_EQ(imc_name_parse("ff02:401b:ffff::5", &link, false, &name, &why), 0);
	CT_EXPECT_EQ(name.addr.pkey, 0x8008);
	CT_EXPECT_FALSE(imc_name_is_mgid("ff02:401b:ffff::5"));
	CT_ASSERT_EQ(imc_name_parse("ff02::1", &link, false, &name, &why), 0);
	CT_EXPECT_EQ(name.kind, IMC_KIND_ALL_NODE);
	CT_EXPECT_EQ(imc_name_parse("fe80::1", &link, true, &name, &why), -FI_EINVAL);
	CT_EXPECT_EQ(imc_name_parse("ff02::1%eth0", &link, false, &name, &why),
		     -FI_EINVAL);
}
