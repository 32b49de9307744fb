/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_getinfo(3) of datagram endpoints: what is offered, and which address is meant. */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include "world_dgram.h"

static struct fi_info *hints_of(uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = caps;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	return hints;
}

struct asked {
	struct fi_info *info; /* the newest answers; NULL with -FI_ENODATA */
};

static void start(struct asked *t)
{
	dgram_reset(false);
}

static void end(struct asked *t)
{
	fi_freeinfo(t->info);
}

CT_FIXTURE(dgram_info, struct asked, start, end);

/* The answers. hints are freed. */
static struct fi_info *ask(struct asked *t, const char *node, const char *service,
			   uint64_t flags, struct fi_info *hints)
{
	int ret;

	fi_freeinfo(t->info);
	t->info = NULL;
	ret = pvb_getinfo(FI_VERSION(1, 17), node, service, flags, hints, &t->info);
	CT_EXPECT_EQ(ret, t->info ? 0 : -FI_ENODATA);
	fi_freeinfo(hints);
	return t->info;
}

static const char *text_of(const void *addr)
{
	static char text[PVB_UD_STRLEN];

	if (!addr)
		return "";
	pvb_ud_text(addr, text, sizeof(text));
	return text;
}

CT_TEST_F(dgram_info, an_offer_says_what_datagrams_are)
{
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_EQ(t->info->next, NULL);
	CT_EXPECT_EQ(t->info->caps,
		     FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM);
	CT_EXPECT_EQ(t->info->mode, 0);
	CT_EXPECT_EQ(t->info->addr_format, FI_ADDR_IB_UD);
	CT_EXPECT_EQ(t->info->src_addrlen, sizeof(struct pvb_ud_addr));
	CT_EXPECT_STREQ(text_of(t->info->src_addr),
			"fi_addr_ib_ud://::ffff:10.0.0.1:0/0/ffff/0");
	CT_EXPECT_EQ(t->info->dest_addr, NULL);
	CT_EXPECT_EQ(t->info->ep_attr->type, FI_EP_DGRAM);
	CT_EXPECT_EQ(t->info->ep_attr->protocol, FI_PROTO_IB_UD);
	CT_EXPECT_EQ(t->info->ep_attr->max_msg_size, DGRAM_MTU);
	CT_EXPECT_EQ(t->info->ep_attr->msg_prefix_size, 0);
	CT_EXPECT_EQ(t->info->tx_attr->msg_order, 0);
	CT_EXPECT_EQ(t->info->rx_attr->msg_order, 0);
	CT_EXPECT_EQ(t->info->rx_attr->comp_order, 0);
	CT_EXPECT_EQ(t->info->domain_attr->mr_mode, FI_MR_LOCAL);
	CT_EXPECT_STREQ(t->info->domain_attr->name, "fake0");
}

/* Two of a receive's are the GRH's and the excess's. */
CT_TEST_F(dgram_info, receives_have_two_entries_less_than_the_device)
{
	fake_devices[0].attr.max_sge = 3;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_EQ(t->info->rx_attr->iov_limit, 1);
	CT_EXPECT_EQ(t->info->tx_attr->iov_limit, 3);
}

CT_TEST_F(dgram_info, a_device_without_an_entry_for_the_data_offers_no_datagrams)
{
	int entries;

	for (entries = 2; entries > 0; entries--) {
		fake_devices[0].attr.max_sge = entries;
		CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	}
	CT_EXPECT_STRSTR(ct_log_last(), "the device has 1 (max_sge)");
	fake_devices[0].attr.max_sge = 3;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_GT(t->info->domain_attr->max_ep_srx_ctx, 0);
	fake_devices[0].attr.max_srq_sge = 2;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_EQ(t->info->domain_attr->max_ep_srx_ctx, 0);
}

CT_TEST_F(dgram_info, who_asks_for_multicast_gets_it_and_who_asks_for_nothing_both)
{
	const uint64_t plain =
		FI_MSG | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM;
	struct fi_info *hints;

	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG | FI_MULTICAST)), NULL);
	CT_EXPECT_EQ(t->info->next, NULL);
	CT_EXPECT_EQ(t->info->caps, plain | FI_MULTICAST);
	CT_EXPECT_EQ(t->info->tx_attr->caps, FI_MSG | FI_SEND | FI_MULTICAST);
	CT_EXPECT_EQ(t->info->rx_attr->caps, FI_MSG | FI_RECV);
	CT_EXPECT_EQ(t->info->tx_attr->op_flags, FI_TRANSMIT_COMPLETE);
	ask(t, NULL, NULL, 0, hints_of(0));
	CT_ASSERT_TRUE(t->info && t->info->next);
	CT_EXPECT_EQ(t->info->caps, plain | FI_SOURCE);
	CT_EXPECT_EQ(t->info->next->caps, plain | FI_SOURCE | FI_MULTICAST);
	CT_EXPECT_EQ(t->info->next->next, NULL);
	hints = hints_of(0);
	hints->tx_attr->op_flags = FI_MULTICAST;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints), NULL);
	CT_EXPECT_TRUE(t->info->caps & FI_MULTICAST);
	CT_EXPECT_EQ(t->info->tx_attr->op_flags, FI_MULTICAST);
	CT_EXPECT_EQ(t->info->next, NULL);
}

/* On InfiniBand rdma_cm decides which GID an IP address has. */
CT_TEST_F(dgram_info, a_group_as_node_is_a_destination)
{
	CT_EXPECT_EQ(ask(t, "ff12:401b:ffff::2", NULL, 0, hints_of(FI_MSG)), NULL);
	CT_ASSERT_NE(ask(t, "224.1.2.3", NULL, 0, hints_of(FI_MSG | FI_MULTICAST)), NULL);
	CT_EXPECT_STREQ(text_of(t->info->dest_addr),
			"fi_addr_ib_ud://::ffff:224.1.2.3:ffffff/0/ffff/0");
	dgram_reset(true);
	CT_EXPECT_EQ(ask(t, "224.1.2.3", NULL, 0, hints_of(FI_MSG)), NULL);
	CT_ASSERT_NE(ask(t, "ff12:401b:ffff::2", NULL, 0,
			 hints_of(FI_MSG | FI_MULTICAST)),
		     NULL);
	CT_EXPECT_STREQ(text_of(t->info->dest_addr),
			"fi_addr_ib_ud://ff12:401b:ffff::2:ffffff/0/ffff/0");
}

CT_TEST_F(dgram_info, what_datagrams_cannot_do_is_not_offered)
{
	static const uint64_t never[] = {
		FI_MSG | FI_DIRECTED_RECV, FI_MSG | FI_RMA,	  FI_TAGGED, FI_ATOMIC,
		FI_MSG | FI_FENCE,	   FI_MSG | FI_SOURCE_ERR};
	struct fi_info *hints;
	size_t i;

	for (i = 0; i < CRN_COUNT(never); i++) {
		CT_NOTE("%zu", i);
		CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(never[i])), NULL);
	}
	hints = hints_of(FI_MSG);
	hints->ep_attr->max_msg_size = DGRAM_MTU + 1;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints), NULL);
	hints = hints_of(FI_MSG);
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints), NULL);
	hints = hints_of(FI_MSG);
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints), NULL);
	hints = hints_of(FI_MSG);
	hints->addr_format = FI_SOCKADDR_IN;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints), NULL);
}

/* fi_getinfo(3): FI_SOURCE_ERR "must be paired with FI_SOURCE". */
CT_TEST_F(dgram_info, errors_for_unknown_sources_are_for_those_who_ask)
{
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(0)), NULL);
	CT_EXPECT_EQ(t->info->caps & (FI_SOURCE | FI_SOURCE_ERR), FI_SOURCE);
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG | FI_SOURCE | FI_SOURCE_ERR)),
		     NULL);
	CT_EXPECT_EQ(t->info->caps & (FI_SOURCE | FI_SOURCE_ERR),
		     FI_SOURCE | FI_SOURCE_ERR);
	CT_EXPECT_EQ(t->info->domain_attr->max_err_data, sizeof(struct pvb_ud_addr));
}

CT_TEST_F(dgram_info, datagrams_come_behind_connections_if_nobody_says_which)
{
	struct fi_info *hints = hints_of(FI_MSG), *at;

	hints->ep_attr->type = FI_EP_UNSPEC;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints), NULL);
	CT_EXPECT_EQ(t->info->ep_attr->type, FI_EP_MSG);
	for (at = t->info; at->next; at = at->next)
		;
	CT_EXPECT_EQ(at->ep_attr->type, FI_EP_DGRAM);
}

CT_TEST_F(dgram_info, infiniband_has_a_lid_and_one_source_for_all_addresses_of_a_port)
{
	dgram_reset(true);
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_STREQ(text_of(t->info->src_addr),
			"fi_addr_ib_ud://::ffff:10.0.0.1:0/7/ffff/0");
}

CT_TEST_F(dgram_info, ports_that_are_down_and_iwarp_offer_none)
{
	fake_devices[0].port[0].state = IBV_PORT_DOWN;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	dgram_reset(false);
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
}

struct row {
	const char *node, *service;
	uint64_t flags;
	const char *src, *dest; /* NULL: no answer */
	unsigned int src_service;
};

#define OWN "fi_addr_ib_ud://::ffff:10.0.0.1:0/0/ffff/0"
#define THERE "fi_addr_ib_ud://::ffff:10.0.0.2:505/0/ffff/0"

CT_TEST_F(dgram_info, node_and_service_name_an_address)
{
	static const struct row rows[] = {
		{"10.0.0.1", NULL, FI_SOURCE, OWN, "", 0},
		{"10.0.0.1", "4711", FI_SOURCE, OWN, "", 4711},
		{NULL, "4711", FI_SOURCE, OWN, "", 4711},
		{"::ffff:10.0.0.1", NULL, FI_SOURCE, OWN, "", 0},
		{OWN, NULL, FI_SOURCE, OWN, "", 0},
		{"10.0.0.9", NULL, FI_SOURCE, NULL, "", 0},
		{THERE, NULL, FI_SOURCE, NULL, "", 0},
		{NULL, "65536", FI_SOURCE, NULL, "", 0},
		{NULL, "x", FI_SOURCE, NULL, "", 0},
		{NULL, "-1", FI_SOURCE, NULL, "", 0},
		{NULL, "", FI_SOURCE, NULL, "", 0},
		{THERE, NULL, 0, OWN, THERE, 0},
		{"10.0.0.2", "0x505", 0, OWN, THERE, 0},
		{"10.0.0.2", "1285", 0, OWN, THERE, 0},
		{"10.0.0.2", "0x1000000", 0, NULL, "", 0},
		{"10.0.0.3", "1285", 0, NULL, "", 0},
		{NULL, "0x505", 0, OWN, "fi_addr_ib_ud://::ffff:10.0.0.1:505/0/ffff/0",
		 0},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu: %s, %s", i, rows[i].node ? rows[i].node : "-",
			rows[i].service ? rows[i].service : "-");
		dgram_reset(false);
		CT_EXPECT_EQ(!ask(t, rows[i].node, rows[i].service, rows[i].flags,
				  hints_of(FI_MSG)),
			     !rows[i].src);
		if (!t->info)
			continue;
		CT_EXPECT_STREQ(text_of(t->info->src_addr), rows[i].src);
		CT_EXPECT_STREQ(text_of(t->info->dest_addr), rows[i].dest);
		CT_EXPECT_EQ(((struct pvb_ud_addr *)t->info->src_addr)->service,
			     rows[i].src_service);
	}
}

/* The LID of another host is not known. */
CT_TEST_F(dgram_info, a_host_is_no_destination_on_infiniband)
{
	dgram_reset(true);
	CT_EXPECT_EQ(ask(t, "10.0.0.2", "0x505", 0, hints_of(FI_MSG)), NULL);
}

/* 0xc000 to 0xfffe are those of groups, 0xffff is permissive. */
CT_TEST_F(dgram_info, a_destination_has_a_unicast_lid_on_infiniband_and_a_gid_on_roce)
{
	static const struct {
		bool ib;
		const char *dest;
		bool offered;
	} rows[] = {
		{true, "fi_addr_ib_ud://fe80::9:505/9/ffff/0", true},
		{true, "fi_addr_ib_ud://:::505/bfff/ffff/0", true},
		{true, "fi_addr_ib_ud://fe80::9:505/0/ffff/0", false},
		{true, "fi_addr_ib_ud://fe80::9:505/c000/ffff/0", false},
		{true, "fi_addr_ib_ud://fe80::9:505/ffff/ffff/0", false},
		{true, "fi_addr_ib_ud://ff12:401b:ffff::2:ffffff/c001/ffff/0", true},
		{false, "fi_addr_ib_ud://::ffff:10.0.0.2:505/0/ffff/0", true},
		{false, "fi_addr_ib_ud://:::505/9/ffff/0", false},
		{false, "fi_addr_ib_ud://::ffff:10.0.0.2:505/c001/ffff/0", false},
	};
	struct pvb_ud_addr addr;
	struct fi_info *hints;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu: %s", i, rows[i].dest);
		dgram_reset(rows[i].ib);
		CT_EXPECT_EQ(!!ask(t, rows[i].dest, NULL, 0, hints_of(FI_MSG)),
			     rows[i].offered);
		CT_EXPECT_EQ(pvb_ud_parse(rows[i].dest, &addr), 0);
		hints = hints_of(FI_MSG);
		hints->dest_addr = malloc(sizeof(addr));
		hints->dest_addrlen = sizeof(addr);
		memcpy(hints->dest_addr, &addr, sizeof(addr));
		CT_EXPECT_EQ(!!ask(t, NULL, NULL, 0, hints), rows[i].offered);
	}
}

CT_TEST_F(dgram_info, addresses_in_the_hints_are_taken_where_the_call_names_none)
{
	const struct pvb_ud_addr there = {.gid = {0xfe, 0x80}, .qpn = 9, .lid = 0};
	struct pvb_ud_addr own = {.gid = {[10] = 0xff, 0xff, 10, 0, 0, 1}, .service = 5};
	struct fi_info *hints = hints_of(FI_MSG);

	hints->addr_format = FI_ADDR_IB_UD;
	hints->src_addr = malloc(sizeof(own));
	hints->src_addrlen = sizeof(own);
	memcpy(hints->src_addr, &own, sizeof(own));
	hints->dest_addr = malloc(sizeof(there));
	hints->dest_addrlen = sizeof(there);
	memcpy(hints->dest_addr, &there, sizeof(there));
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, fi_dupinfo(hints)), NULL);
	CT_EXPECT_STREQ(text_of(t->info->src_addr), OWN);
	CT_EXPECT_EQ(((struct pvb_ud_addr *)t->info->src_addr)->service, 5);
	CT_EXPECT_STREQ(text_of(t->info->dest_addr), "fi_addr_ib_ud://fe80:::9/0/0/0");
	CT_ASSERT_NE(ask(t, "10.0.0.1", NULL, FI_SOURCE, fi_dupinfo(hints)), NULL);
	CT_EXPECT_EQ(((struct pvb_ud_addr *)t->info->src_addr)->service, 0);
	CT_EXPECT_STREQ(text_of(t->info->dest_addr), "fi_addr_ib_ud://fe80:::9/0/0/0");
	/* Another GID than the device's. */
	((struct pvb_ud_addr *)hints->src_addr)->gid[15] = 9;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, fi_dupinfo(hints)), NULL);
	hints->src_addrlen = 16;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints), NULL);
}

static const uint8_t port_gid[16] = {0xfe, 0x80, [8] = 0, 2, 0xc9, 3, [15] = 1};

#define PORT "fi_addr_ib_ud://fe80::2:c903:0:1:0/7/ffff/0"

/* dgram_reset, of a device that has no IP address. */
static void reset_gid_only(bool ib)
{
	dgram_reset(ib);
	fake_cm_reset();
	memcpy(fake_devices[0].gid[0].gid.raw, port_gid, sizeof(port_gid));
	fake_devices[0].gid[0].gid_type = ib ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
	fake_devices[0].subnet_prefix = 0xfe80000000000000;
}

CT_TEST_F(dgram_info, a_port_without_an_ip_address_offers_its_gid)
{
	struct fi_info *hints;

	reset_gid_only(true);
	fake_devices[0].attr.max_mr = 77;
	ask(t, NULL, NULL, 0, hints_of(0));
	CT_ASSERT_TRUE(t->info && t->info->next);
	CT_EXPECT_STREQ(text_of(t->info->src_addr), PORT);
	CT_EXPECT_EQ(t->info->addr_format, FI_ADDR_IB_UD);
	CT_EXPECT_EQ(t->info->ep_attr->max_msg_size, DGRAM_MTU);
	CT_EXPECT_EQ(t->info->domain_attr->mr_cnt, 77);
	CT_EXPECT_STREQ(t->info->domain_attr->name, "fake0");
	CT_EXPECT_STREQ(t->info->fabric_attr->name, "pverbs-ib-fe80000000000000");
	CT_EXPECT_STREQ(t->info->nic->link_attr->address, "fe80::2:c903:0:1");
	CT_EXPECT_TRUE(t->info->next->caps & FI_MULTICAST);
	CT_EXPECT_EQ(t->info->next->next, NULL);
	hints = hints_of(FI_MSG);
	hints->ep_attr->type = FI_EP_MSG;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints), NULL);
	CT_EXPECT_EQ(fake_objects, 0);
}

CT_TEST_F(dgram_info, a_port_without_an_ip_address_is_named_by_its_gid_or_domain)
{
	static const struct row rows[] = {
		{"fe80::2:c903:0:1", NULL, FI_SOURCE, PORT, "", 0},
		{"fe80::2:c903:0:1", "7", FI_SOURCE, PORT, "", 7},
		{PORT, NULL, FI_SOURCE, PORT, "", 0},
		{"fe80::2:c903:0:2", NULL, FI_SOURCE, NULL, "", 0},
		{"10.0.0.1", NULL, FI_SOURCE, NULL, "", 0},
		{"fi_addr_ib_ud://fe80::9:505/9/ffff/0", NULL, 0, PORT,
		 "fi_addr_ib_ud://fe80::9:505/9/ffff/0", 0},
		{"ff12:401b:ffff::2", NULL, 0, PORT,
		 "fi_addr_ib_ud://ff12:401b:ffff::2:ffffff/0/ffff/0", 0},
	};
	static const char *const domains[] = {"fake0", "fake1"};
	struct fi_info *hints;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu: %s", i, rows[i].node);
		reset_gid_only(true);
		CT_EXPECT_EQ(!ask(t, rows[i].node, rows[i].service, rows[i].flags,
				  hints_of(FI_MSG)),
			     !rows[i].src);
		if (!t->info)
			continue;
		CT_EXPECT_STREQ(text_of(t->info->src_addr), rows[i].src);
		CT_EXPECT_STREQ(text_of(t->info->dest_addr), rows[i].dest);
		CT_EXPECT_EQ(((struct pvb_ud_addr *)t->info->src_addr)->service,
			     rows[i].src_service);
	}
	for (i = 0; i < CRN_COUNT(domains); i++) {
		hints = hints_of(FI_MSG);
		hints->domain_attr->name = strdup(domains[i]);
		CT_EXPECT_EQ(!ask(t, NULL, NULL, 0, hints), i > 0);
	}
}

/* The kernel has no AF_IB there (rdma_cap_af_ib). */
CT_TEST_F(dgram_info, a_roce_port_without_an_ip_address_joins_no_groups)
{
	reset_gid_only(false);
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(0)), NULL);
	CT_EXPECT_STREQ(text_of(t->info->src_addr),
			"fi_addr_ib_ud://fe80::2:c903:0:1:0/0/ffff/0");
	CT_EXPECT_EQ(t->info->next, NULL);
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG | FI_MULTICAST)), NULL);
}

CT_TEST_F(dgram_info, ports_with_addresses_come_first_and_have_no_offer_of_their_gid)
{
	dgram_reset(true);
	fake_devices[0].attr.phys_port_cnt = 2;
	memcpy(fake_devices[0].gid[0].gid.raw, port_gid, sizeof(port_gid));
	ask(t, NULL, NULL, 0, hints_of(FI_MSG));
	CT_ASSERT_TRUE(t->info && t->info->next);
	CT_EXPECT_STREQ(text_of(t->info->src_addr),
			"fi_addr_ib_ud://::ffff:10.0.0.1:0/7/ffff/0");
	CT_EXPECT_STREQ(text_of(t->info->next->src_addr), PORT);
	CT_EXPECT_EQ(t->info->next->next, NULL);
}

CT_TEST_F(dgram_info, the_users_device_gid_index_and_partition_choose_ports_too)
{
	reset_gid_only(true);
	pvb_params.device = "fake1";
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	pvb_params.device = NULL;
	pvb_params.gid_index = 1;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_STREQ(text_of(t->info->src_addr),
			"fi_addr_ib_ud://::ffff:10.0.0.1:0/7/ffff/0");
	pvb_params.gid_index = -1;
	pvb_params.pkey = 8;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	fake_devices[0].pkey[2] = 0x8008;
	CT_ASSERT_NE(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	CT_EXPECT_EQ(((struct pvb_ud_addr *)t->info->src_addr)->pkey, 0x8008);
	pvb_params.pkey = 0;
}

CT_TEST_F(dgram_info, ports_that_are_down_or_do_not_answer_and_iwarp_are_left_out)
{
	static const enum fake_call calls[] = {FAKE_GET_DEVICE_LIST, FAKE_OPEN_DEVICE,
					       FAKE_QUERY_DEVICE, FAKE_QUERY_PORT};
	size_t i;

	reset_gid_only(true);
	fake_devices[0].port[0].state = IBV_PORT_DOWN;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	reset_gid_only(true);
	fake_devices[0].ibv.transport_type = IBV_TRANSPORT_IWARP;
	CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
	for (i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		reset_gid_only(true);
		fake_fail(calls[i], 1, EACCES);
		CT_EXPECT_EQ(ask(t, NULL, NULL, 0, hints_of(FI_MSG)), NULL);
		CT_EXPECT_EQ(fake_objects, 0);
	}
}

/* A list that lacks some of the devices would be believed. */
CT_TEST(dgram_info, a_search_for_ports_that_runs_out_of_something_fails)
{
	static const enum fake_call calls[] = {FAKE_CREATE_EVENT_CHANNEL,
					       FAKE_OPEN_DEVICE, FAKE_QUERY_GID,
					       FAKE_QUERY_PKEY};
	struct fi_info *hints = hints_of(FI_MSG), *info = NULL;
	unsigned int nth;
	size_t i;
	int ret;

	for (i = 0; i < CRN_COUNT(calls); i++) {
		CT_NOTE("call %zu", i);
		reset_gid_only(true);
		fake_fail(calls[i], 1, EMFILE);
		CT_EXPECT_EQ(pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info),
			     -FI_EMFILE);
		CT_EXPECT_EQ(fake_objects, 0);
	}
	for (nth = 1; nth < 60; nth++) {
		CT_NOTE("allocation %u", nth);
		reset_gid_only(true);
		ct_fail_alloc(nth);
		ret = pvb_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
		if (!ct_alloc_failed())
			break;
		CT_EXPECT_EQ(ret, -FI_ENOMEM);
		fi_freeinfo(info);
		CT_EXPECT_EQ(fake_objects, 0);
	}
	CT_EXPECT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 4);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}
