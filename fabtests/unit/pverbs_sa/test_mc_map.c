/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/sa/mc_map.c. Tests begin with the requirement of the draft that they are
 * about. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "sa/sa.h"

#define ROUNDS 20000

struct vector {
	const char *addr;
	uint16_t pkey;
	uint8_t scope;
	uint8_t mgid[16];
};

/* What the kernel's ip_ib_mc_map and ipv6_ib_mc_map make of them; the two of P_Key 8 are
 * the draft's examples. */
static const struct vector vectors[] = {
	{"255.255.255.255", 0xffff, 2,
	 "\xff\x12\x40\x1b\xff\xff\0\0\0\0\0\0\xff\xff\xff\xff"},
	{"255.255.255.255", 0x8008, 2,
	 "\xff\x12\x40\x1b\x80\x08\0\0\0\0\0\0\xff\xff\xff\xff"},
	{"255.255.255.255", 0xffff, 5,
	 "\xff\x15\x40\x1b\xff\xff\0\0\0\0\0\0\xff\xff\xff\xff"},
	{"224.0.0.1", 0xffff, 2, "\xff\x12\x40\x1b\xff\xff\0\0\0\0\0\0\0\0\0\x01"},
	{"224.0.0.2", 0x0008, 2, "\xff\x12\x40\x1b\0\x08\0\0\0\0\0\0\0\0\0\x02"},
	{"224.0.0.2", 0x8008, 2, "\xff\x12\x40\x1b\x80\x08\0\0\0\0\0\0\0\0\0\x02"},
	{"239.255.255.250", 0xffff, 2,
	 "\xff\x12\x40\x1b\xff\xff\0\0\0\0\0\0\x0f\xff\xff\xfa"},
	{"232.1.2.3", 0x8008, 2, "\xff\x12\x40\x1b\x80\x08\0\0\0\0\0\0\x08\x01\x02\x03"},
	{"225.1.2.3", 0xffff, 0xe,
	 "\xff\x1e\x40\x1b\xff\xff\0\0\0\0\0\0\x01\x01\x02\x03"},
	{"ff02::1", 0xffff, 2, "\xff\x12\x60\x1b\xff\xff\0\0\0\0\0\0\0\0\0\x01"},
	{"ff02::2", 0x0008, 2, "\xff\x12\x60\x1b\0\x08\0\0\0\0\0\0\0\0\0\x02"},
	{"ff05::2", 0xffff, 2, "\xff\x12\x60\x1b\xff\xff\0\0\0\0\0\0\0\0\0\x02"},
	{"ff05::1:3", 0xffff, 5, "\xff\x15\x60\x1b\xff\xff\0\0\0\0\0\0\0\x01\0\x03"},
	{"ff0e::db8:1234", 0xffff, 0xe,
	 "\xff\x1e\x60\x1b\xff\xff\0\0\0\0\0\0\x0d\xb8\x12\x34"},
	{"ff02::1:ff28:9c5a", 0x8008, 2,
	 "\xff\x12\x60\x1b\x80\x08\0\0\0\0\0\x01\xff\x28\x9c\x5a"},
	{"ff3e:40:2001:db8:1:2:4000:1", 0xffff, 2,
	 "\xff\x12\x60\x1b\xff\xff\x0d\xb8\0\x01\0\x02\x40\0\0\x01"},
};

static int map(const char *text, const struct pvb_mc_link *link, uint8_t mgid[16])
{
	struct in6_addr v6;
	struct in_addr v4;

	if (inet_pton(AF_INET6, text, &v6) == 1)
		return pvb_mc_map6(link, &v6, mgid);
	return inet_pton(AF_INET, text, &v4) == 1 ? pvb_mc_map4(link, v4, mgid)
						  : -FI_ENODATA;
}

CT_TEST(mc_map, R20_R21_R22_addresses_are_the_mgids_that_the_kernel_makes_of_them)
{
	struct pvb_mc_link link = {.profile = PVB_MC_DRAFT};
	uint8_t mgid[16];
	size_t i;

	for (i = 0; i < CRN_COUNT(vectors); i++) {
		CT_NOTE("%s %x %x", vectors[i].addr, vectors[i].pkey, vectors[i].scope);
		link.pkey = vectors[i].pkey;
		link.scope = vectors[i].scope;
		CT_ASSERT_EQ(map(vectors[i].addr, &link, mgid), 0);
		CT_EXPECT_MEMEQ(mgid, vectors[i].mgid, sizeof(mgid));
	}
}

CT_TEST(mc_map, R21_back_from_an_mgid_all_is_there_that_it_has)
{
	struct pvb_mc_addr addr;
	struct pvb_mc_link link = {.profile = PVB_MC_DRAFT};
	uint8_t mgid[16];
	size_t i;

	for (i = 0; i < CRN_COUNT(vectors); i++) {
		CT_NOTE("%s", vectors[i].addr);
		CT_ASSERT_EQ(pvb_mc_unmap(vectors[i].mgid, &addr), 0);
		CT_EXPECT_EQ(addr.pkey, vectors[i].pkey);
		CT_EXPECT_EQ(addr.scope, vectors[i].scope);
		link.pkey = addr.pkey;
		link.scope = addr.scope;
		CT_ASSERT_EQ(addr.family == AF_INET6
				     ? pvb_mc_map6(&link, &addr.ip.v6, mgid)
				     : pvb_mc_map4(&link, addr.ip.v4, mgid),
			     0);
		CT_EXPECT_MEMEQ(mgid, vectors[i].mgid, sizeof(mgid));
	}
}

CT_TEST(mc_map, R21_a_group_of_all_ones_is_the_broadcast_address)
{
	struct pvb_mc_addr addr;

	CT_ASSERT_EQ(pvb_mc_unmap(vectors[0].mgid, &addr), 0);
	CT_EXPECT_EQ(addr.family, AF_INET);
	CT_EXPECT_EQ(addr.ip.v4.s_addr, INADDR_BROADCAST);
	CT_ASSERT_EQ(pvb_mc_unmap(vectors[3].mgid, &addr), 0);
	CT_EXPECT_EQ(ntohl(addr.ip.v4.s_addr), 0xe0000001);
}

CT_TEST(mc_map, R10_R11_profile_rfc_sets_the_bit_of_full_members_and_draft_does_not)
{
	struct pvb_mc_link link = {.profile = PVB_MC_RFC, .pkey = 8, .scope = 2};
	uint8_t mgid[16];

	CT_EXPECT_EQ(map("224.0.0.2", &link, mgid), 0);
	CT_EXPECT_EQ(mgid[4] << 8 | mgid[5], 0x8008);
	link.profile = PVB_MC_DRAFT;
	CT_EXPECT_EQ(map("ff02::2", &link, mgid), 0);
	CT_EXPECT_EQ(mgid[4] << 8 | mgid[5], 0x0008);
}

CT_TEST(mc_map, R20_what_is_not_multicast_is_refused)
{
	static const char *const bad[] = {
		"0.0.0.0", "10.0.0.1", "223.255.255.255", "240.0.0.1", "255.255.255.254",
		"::",	   "fe80::1",  "2001:db8::1",	  "fe02::1"};
	const struct pvb_mc_link link = {.pkey = 0xffff, .scope = 2};
	uint8_t mgid[16];
	size_t i;

	for (i = 0; i < CRN_COUNT(bad); i++) {
		CT_NOTE("%s", bad[i]);
		CT_EXPECT_EQ(map(bad[i], &link, mgid), -FI_EINVAL);
	}
}

CT_TEST(mc_map, R12_reserved_scopes_are_refused)
{
	struct pvb_mc_link link = {.pkey = 0xffff};
	uint8_t mgid[16];
	unsigned int scope;

	for (scope = 0; scope < 256; scope++) {
		CT_NOTE("%u", scope);
		link.scope = (uint8_t)scope;
		CT_EXPECT_EQ(map("224.0.0.1", &link, mgid),
			     scope && scope < 15 ? 0 : -FI_EINVAL);
		CT_EXPECT_EQ(map("ff02::1", &link, mgid),
			     scope && scope < 15 ? 0 : -FI_EINVAL);
	}
}

CT_TEST(mc_map, R13_link_local_is_looked_for_first_then_wider)
{
	size_t i;

	CT_EXPECT_EQ(pvb_mc_scopes[0], 2);
	for (i = 1; i < PVB_MC_SCOPES; i++)
		CT_EXPECT_GT(pvb_mc_scopes[i], pvb_mc_scopes[i - 1]);
	CT_EXPECT_EQ(pvb_mc_scopes[PVB_MC_SCOPES - 1], 0xe);
}

CT_TEST(mc_map, R4_a_pkey_of_no_partition_is_refused)
{
	struct pvb_mc_link link = {.pkey = 0x8000, .scope = 2};
	uint8_t mgid[16];

	CT_EXPECT_EQ(map("224.0.0.1", &link, mgid), -FI_EINVAL);
	link.pkey = 0;
	CT_EXPECT_EQ(map("ff02::1", &link, mgid), -FI_EINVAL);
}

CT_TEST(mc_map, R2_mgids_with_other_flags_or_of_other_links_are_refused)
{
	static const struct {
		size_t at;
		uint8_t value;
	} bad[] = {{0, 0xfe}, {1, 0x02}, {1, 0x92}, {1, 0x32}, {1, 0x10}, {1, 0x1f},
		   {2, 0x10}, {2, 0x60}, {3, 0x1c}, {6, 1},    {11, 1},	  {12, 0x10}};
	struct pvb_mc_addr addr;
	uint8_t mgid[16];
	size_t i;

	for (i = 0; i < CRN_COUNT(bad); i++) {
		CT_NOTE("%zu: %x", bad[i].at, bad[i].value);
		memcpy(mgid, vectors[3].mgid, sizeof(mgid));
		mgid[bad[i].at] = bad[i].value;
		/* With 60 it is an IPv6 one. */
		CT_EXPECT_EQ(pvb_mc_unmap(mgid, &addr),
			     bad[i].value == 0x60 ? 0 : -FI_EINVAL);
	}
	memcpy(mgid, vectors[3].mgid, sizeof(mgid));
	mgid[4] = mgid[5] = 0;
	CT_EXPECT_EQ(pvb_mc_unmap(mgid, &addr), -FI_EINVAL);
}

CT_TEST(mc_map, R21_all_multicast_addresses_keep_28_and_80_bits)
{
	struct pvb_mc_link link = {.profile = PVB_MC_RFC, .pkey = 1, .scope = 8};
	struct pvb_mc_addr addr;
	unsigned int seed = 1, i;
	struct in6_addr v6;
	struct in_addr v4;
	uint8_t mgid[16];
	size_t at;

	for (i = 0; i < ct_rounds(ROUNDS); i++) {
		v4.s_addr = htonl(0xe0000000u | ((uint32_t)rand_r(&seed) & 0x0fffffff));
		CT_ASSERT_EQ(pvb_mc_map4(&link, v4, mgid), 0);
		CT_ASSERT_EQ(pvb_mc_unmap(mgid, &addr), 0);
		CT_ASSERT_EQ(addr.ip.v4.s_addr, v4.s_addr);
		for (at = 0; at < 16; at++)
			v6.s6_addr[at] = at ? (uint8_t)rand_r(&seed) : 0xff;
		CT_ASSERT_EQ(pvb_mc_map6(&link, &v6, mgid), 0);
		CT_ASSERT_EQ(pvb_mc_unmap(mgid, &addr), 0);
		CT_ASSERT_MEMEQ(addr.ip.v6.s6_addr + 6, v6.s6_addr + 6, 10);
	}
}
