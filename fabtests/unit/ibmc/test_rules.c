/* SPDX-License-Identifier: BSD-2-Clause */
/* Of util/fi_ibmc/rules: each sentence, kept and violated. */
#include <stdio.h>
#include <string.h>
#include "cairn_test.h"
#include "rules/rules.h"
#include "world.h"

#define BROADCAST "ff12:401b:ffff::ffff:ffff"
#define ALL_NODE "ff12:601b:ffff::1"
#define ROUTERS "ff12:401b:ffff::2"
#define ROUTERS_V6 "ff12:601b:ffff::2"
#define GROUP "ff12:401b:ffff::5"

static struct imc_report *report; /* the fixture's */
static const struct imc_attrs nothing;

static void add(const char *mgid)
{
	const struct pvb_mcm mcm = world_group(mgid);

	world_add(&mcm);
}

static void set_up(struct imc_report *r)
{
	report = r;
	world_begin();
}

static void tear_down(struct imc_report *r)
{
	imc_report_free(r);
	world_end();
}

CT_FIXTURE(rules, struct imc_report, set_up, tear_down);

/* A link as it should be, with a switch, an adapter and all tables. */
static void begin(void)
{
	world_begin();
	add(BROADCAST);
	add(ALL_NODE);
	add(ROUTERS);
	add(ROUTERS_V6);
	add(GROUP);
	world_add_node(1, IMC_SWITCH, 1, "switch");
	world_add_node(2, IMC_CA, 2, "host");
	world_add_port(1, 0, 1, 1);
	world_add_port(1, 1, 5, 4);
	world_add_port(2, 1, 5, 4);
	world_add_pkey(2, 1, 0, 0xffff);
	world_add_switch(1, 1024);
}

static void check_for(const struct imc_attrs *expected)
{
	world_finish();
	imc_report_free(report);
	CT_ASSERT_EQ(imc_rules(&world, expected, report), 0);
}

static void check(void)
{
	check_for(&nothing);
}

/* The finding of that row and section, whose text has the data; NULL: none. */
static const struct imc_finding *find(const char *row, const char *section,
				      const char *data)
{
	for (uint32_t i = 0; i < report->findings; i++)
		if (!strcmp(report->finding[i].row, row) &&
		    !strcmp(report->finding[i].section, section) &&
		    ct_has_data(report->finding[i].what, data))
			return &report->finding[i];
	return NULL;
}

static void expect_one(const char *row, const char *section, enum imc_level level,
		       const char *data)
{
	const struct imc_finding *finding = find(row, section, data);

	for (uint32_t i = 0; i < report->findings && (!finding || report->findings > 1);
	     i++)
		printf("%s %s: %s\n", report->finding[i].row, report->finding[i].section,
		       report->finding[i].what);
	CT_ASSERT_TRUE(finding);
	CT_EXPECT_EQ(finding->level, level);
	CT_EXPECT_EQ(report->findings, 1);
	CT_EXPECT_EQ(report->violated[level], 1);
}

/* One more group of a link that is as it should be, for a change and check_group. */
static struct pvb_mcm one_more(const char *mgid)
{
	begin();
	return world_group(mgid);
}

static void check_group(const struct pvb_mcm *mcm)
{
	world_add(mcm);
	check();
}

CT_TEST_F(rules, a_link_as_the_draft_has_it_violates_nothing)
{
	begin();
	world_add_member(GROUP, 2, PVB_MCM_FULL);
	check();
	CT_EXPECT_EQ(t->findings, 0);
}

CT_TEST_F(rules, R2_an_mgid_of_ipoib_has_the_flag_t_alone)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.mgid[1] = 0x02;
	check_group(&mcm);
	expect_one("R2", "4, 8", IMC_MUST, "0x0");
}

CT_TEST_F(rules, R3_a_group_has_a_multicast_lid)
{
	struct pvb_mcm mcm = one_more("ff12:4001:ffff::7");

	mcm.mlid = 0xffff;
	check_group(&mcm);
	CT_EXPECT_TRUE(find("R3", "4", "0xffff"));
}

CT_TEST_F(rules, R4_a_member_has_the_p_key_of_the_link)
{
	begin();
	world_add_node(3, IMC_CA, 3, "outsider");
	world_add_pkey(3, 1, 0, 0x8008);
	world_add_member(GROUP, 3, PVB_MCM_FULL);
	world_add_member(GROUP, 2, PVB_MCM_FULL);
	check();
	expect_one("R4", "6", IMC_MUST, "outsider 3");
}

CT_TEST_F(rules, R5_the_mtu_is_not_above_that_of_an_adapter_or_switch)
{
	begin();
	world_add_node(3, IMC_CA, 3, "old");
	world_add_port(3, 1, 3, 3);
	world_add_pkey(3, 1, 0, 0x7fff);
	/* Of another partition. */
	world_add_node(4, IMC_CA, 4, "other");
	world_add_port(4, 1, 1, 1);
	world_add_pkey(4, 1, 0, 0x8008);
	check();
	expect_one("R5", "6.1", IMC_MUST, "2048 1024 old 1 3");
	CT_EXPECT_FALSE(strstr(t->finding[0].what, "other"));
	begin();
	world_add_port(1, 2, 3, 3);
	check();
	expect_one("R5", "6.1", IMC_MUST, "switch 2 1 1024");
}

CT_TEST_F(rules, R6_the_mtu_is_not_above_that_of_a_path)
{
	begin();
	world_add_node(3, IMC_CA, 3, "behind");
	world_add_port(3, 1, 5, 3);
	world_add_pkey(3, 1, 0, 0xffff);
	check();
	expect_one("R6", "6.1", IMC_MUST, "behind 1 3 1024");
}

/* Nobody can be reached by it. */
CT_TEST_F(rules, R6_ports_that_are_not_active_do_not_count)
{
	begin();
	world_add_node(3, IMC_CA, 3, "down");
	world_add_port(3, 1, 3, 3);
	world_add_pkey(3, 1, 0, 0xffff);
	world_finish();
	for (uint32_t i = 0; i < world.ports; i++)
		if (world.port[i].lid == 3)
			world.port[i].state = 1;
	CT_ASSERT_EQ(imc_rules(&world, &nothing, t), 0);
	CT_EXPECT_EQ(t->findings, 0);
}

static void check_base(void (*change)(struct pvb_mcm *mcm))
{
	static const char *const mgids[] = {BROADCAST, ALL_NODE, ROUTERS, ROUTERS_V6};
	struct pvb_mcm mcm;

	world_begin();
	for (size_t i = 0; i < sizeof(mgids) / sizeof(mgids[0]); i++) {
		mcm = world_group(mgids[i]);
		change(&mcm);
		world_add(&mcm);
	}
	check();
}

static void small(struct pvb_mcm *mcm)
{
	mcm->mtu = 3;
}

CT_TEST_F(rules, R7_ipv6_has_1280_bytes_at_least)
{
	check_base(small);
	expect_one("R7", "6.1", IMC_MUST, "1024");
	CT_EXPECT_NE(*t->finding[0].maker, 0);
}

static void any_program(struct pvb_mcm *mcm)
{
	mcm->qkey = 0xb1b;
}

CT_TEST_F(rules, R7_a_link_of_ipv4_alone_may_have_less)
{
	static const char *const mgids[] = {BROADCAST, ROUTERS};
	struct pvb_mcm mcm;

	world_begin();
	for (size_t i = 0; i < sizeof(mgids) / sizeof(mgids[0]); i++) {
		mcm = world_group(mgids[i]);
		small(&mcm);
		world_add(&mcm);
	}
	check();
	CT_EXPECT_EQ(t->findings, 0);
}

CT_TEST_F(rules, R8_a_controlled_q_key_is_recommended)
{
	check_base(any_program);
	expect_one("R8", "6.2, 10", IMC_SHOULD, "0x00000b1b");
	CT_EXPECT_STREQ(t->finding[0].maker, "");
}

CT_TEST_F(rules, R9_all_groups_of_the_link_have_its_q_key)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.qkey = 0x80000001;
	check_group(&mcm);
	expect_one("R9", "6.2", IMC_MUST, "0x80000001 0x80000b1b");
}

CT_TEST_F(rules, R10_a_link_has_a_broadcast_or_an_all_node_group)
{
	add(GROUP);
	check();
	expect_one("R10", "7", IMC_MUST, "broadcast all-node");
	world_begin();
	add(ALL_NODE);
	add(ROUTERS);
	add(ROUTERS_V6);
	check();
	expect_one("R10", "7", IMC_MUST, "IPv4 broadcast");
}

CT_TEST_F(rules, R10_R11_the_p_key_of_a_group_is_that_of_its_mgid)
{
	struct pvb_mcm mcm = one_more("ff12:601b:ffff::7");

	mcm.pkey = 0x8008;
	check_group(&mcm);
	expect_one("R11", "7, 8", IMC_MUST, "0x8008 0xffff");
}

CT_TEST_F(rules, R10_p_keys_of_a_partition_have_15_equal_bits)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.pkey = 0x80ff;
	check_group(&mcm);
	expect_one("R10", "7, 8", IMC_MUST, "0x80ff 0xffff");
	mcm = one_more("ff12:401b:ffff::7");
	mcm.pkey = 0x7fff;
	check_group(&mcm);
	CT_EXPECT_EQ(t->findings, 0);
}

static void wider(struct pvb_mcm *mcm)
{
	mcm->mgid[1] = 0x15;
}

CT_TEST_F(rules, R12_a_link_within_one_subnet_has_scope_2)
{
	check_base(wider);
	CT_EXPECT_EQ(t->findings, 0);
	world_begin();
	world_add_node(2, IMC_CA, 2, "host");
	add("ff15:401b:ffff::ffff:ffff");
	add("ff15:401b:ffff::2");
	check();
	expect_one("R12", "7", IMC_MUST, "router");
	world_begin();
	world_add_node(2, IMC_ROUTER, 2, "router");
	add("ff15:401b:ffff::ffff:ffff");
	add("ff15:401b:ffff::2");
	check();
	CT_EXPECT_EQ(t->findings, 0);
}

CT_TEST_F(rules, R13_a_wider_link_is_hidden_by_a_link_local_one)
{
	begin();
	world_add_node(3, IMC_ROUTER, 3, "router");
	add("ff15:401b:ffff::ffff:ffff");
	add("ff15:401b:ffff::2");
	check();
	expect_one("R13", "7", IMC_SHOULD, "2");
}

CT_TEST_F(rules, R13_of_two_wider_links_the_widest_is_hidden)
{
	world_add_node(3, IMC_ROUTER, 3, "router");
	add("ff15:401b:ffff::ffff:ffff");
	add("ff15:401b:ffff::2");
	add("ff18:401b:ffff::ffff:ffff");
	add("ff18:401b:ffff::2");
	check();
	expect_one("R13", "7", IMC_SHOULD, "5");
	CT_EXPECT_EQ(t->finding[0].link->scope, 8);
}

static void no_hops(struct pvb_mcm *mcm)
{
	mcm->mgid[1] = 0x15;
	mcm->hop_limit = 1;
}

CT_TEST_F(rules, section_6_3_a_link_of_several_subnets_has_hops)
{
	check_base(no_hops);
	expect_one("", "6.3", IMC_MUST, "HopLimit 1");
}

CT_TEST_F(rules, R19_an_all_router_group_of_each_family_should_be_there)
{
	add(BROADCAST);
	add(ALL_NODE);
	add(ROUTERS);
	check();
	expect_one("R19", "7", IMC_SHOULD, "IPv6");
}

CT_TEST_F(rules, R20_groups_have_the_scope_of_the_all_node_group)
{
	begin();
	add("ff15:401b:ffff::7");
	check();
	expect_one("R20", "8", IMC_MUST, "5 2");
}

CT_TEST_F(rules, R20_a_group_that_no_address_maps_to_is_none_of_ipoib)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.mgid[8] = 1;
	check_group(&mcm);
	expect_one("R20", "8", IMC_MUST, "");
}

CT_TEST_F(rules, R24_groups_have_the_mtu_of_the_link)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.mtu = 3;
	check_group(&mcm);
	expect_one("R24", "8", IMC_MUST, "1024 2048");
}

CT_TEST_F(rules, R25_the_other_attributes_of_the_all_node_group_are_recommended)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.tclass = 9;
	mcm.flow_label = 8;
	mcm.hop_limit = 6;
	mcm.sl = 4;
	check_group(&mcm);
	expect_one("R25", "8", IMC_SHOULD,
		   "TClass 9 3 FlowLabel 8 5 HopLimit 6 7 SL 4 1");
}

CT_TEST_F(rules, section_4_groups_should_not_share_a_multicast_lid)
{
	struct pvb_mcm mcm = one_more("ff12:401b:ffff::7");

	mcm.mlid = 0xc001;
	check_group(&mcm);
	expect_one("", "4", IMC_SHOULD, "0xc001 1");
}

CT_TEST_F(rules, section_4_every_switch_supports_multicast)
{
	begin();
	world_add_node(5, IMC_SWITCH, 5, "old");
	world_add_switch(5, 0);
	world_add_node(6, IMC_SWITCH, 6, "full");
	world_add_switch(6, 5);
	check();
	expect_one("", "4", IMC_MUST, "old 5");
	begin();
	world_add_node(6, IMC_SWITCH, 6, "small");
	world_add_switch(6, 4);
	check();
	expect_one("", "4", IMC_MUST, "4 0xc004");
}

CT_TEST_F(rules, section_10_who_can_have_made_a_bogus_all_node_group_is_named)
{
	const struct imc_attrs expected = {.set = IMC_QKEY | IMC_MTU | IMC_SL,
					   .qkey = 0x80000001,
					   .mtu = 4,
					   .sl = 1};

	begin();
	world_add_member(BROADCAST, 2, PVB_MCM_FULL);
	world_add_member(BROADCAST, 9, PVB_MCM_SEND_ONLY_NON_MEMBER);
	world_add_member(ALL_NODE, 2, PVB_MCM_SEND_ONLY_FULL);
	/* Not told. */
	world_add_member(ALL_NODE, 9, 0);
	check_for(&expected);
	CT_ASSERT_EQ(t->findings, 2);
	CT_EXPECT_STREQ(t->finding[0].section, "10");
	CT_EXPECT_DATA(t->finding[0].what, "Q_Key 0x80000b1b 0x80000001");
	CT_EXPECT_DATA(t->finding[0].maker, "host LID 2 fe80::2");
	CT_EXPECT_FALSE(ct_has_data(t->finding[0].maker, "fe80::9"));
	CT_EXPECT_DATA(t->finding[1].maker, "host LID 2 fe80::2 fe80::9");
	world.has = 0;
	CT_EXPECT_TRUE(strstr(imc_maker(&world, t->finding[0].group, t->finding[0].maker),
			      "--smkey"));
}

CT_TEST_F(rules, of_a_table_that_was_cut_off_nothing_is_missed)
{
	world_add_node(2, IMC_CA, 2, "host");
	add("ff15:401b:ffff::ffff:ffff");
	add(GROUP);
	world_add_pkey(2, 1, 0, 0x8009);
	world_add_member(GROUP, 2, PVB_MCM_FULL);
	world.has |= IMC_HAS_NOT_ALL;
	check();
	CT_EXPECT_EQ(t->findings, 0);
}

CT_TEST_F(rules, without_the_tables_nothing_is_said_of_ports)
{
	add(BROADCAST);
	add(ROUTERS);
	check();
	CT_EXPECT_EQ(t->findings, 0);
}
