/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/mgid.c: vectors are the kernel's ip_ib_mc_map and ipv6_ib_mc_map. */
#include <arpa/inet.h>
#include <stdio.h>
#include "cm/cm.h"
#include "../world.h"

static struct sockaddr_storage address(int family, const char *text)
{
	struct sockaddr_storage to = {.ss_family = (sa_family_t)family};
	size_t len;

	/* GIDs are written as IPv6 addresses are. */
	CT_EXPECT_EQ(inet_pton(family == AF_INET ? AF_INET : AF_INET6, text,
			       (void *)svb_cm_addr_ip((struct sockaddr *)&to, &len)),
		     1);
	return to;
}

static void text_of(const union ibv_gid *gid, char text[33])
{
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", gid->raw[i]);
}

static const struct vector {
	int family;
	const char *address;
	struct svb_cm_link link;
	const char *mgid;
} vectors[] = {
#define IPOIB(pkey)                              \
	{                                        \
		true, false, RDMA_PS_IPOIB, pkey \
	}
#define UDP(pkey)                              \
	{                                      \
		true, false, RDMA_PS_UDP, pkey \
	}
#define ROCE(v2)                               \
	{                                      \
		false, v2, RDMA_PS_UDP, 0xffff \
	}
	{AF_INET, "224.0.0.1", IPOIB(0xffff), "ff12401bffff00000000000000000001"},
	{AF_INET, "224.0.0.2", IPOIB(0x8008), "ff12401b800800000000000000000002"},
	/* A limited member joins the group of the full ones. */
	{AF_INET, "224.0.0.2", IPOIB(0x0008), "ff12401b800800000000000000000002"},
	{AF_INET, "239.255.255.250", IPOIB(0xffff), "ff12401bffff0000000000000ffffffa"},
	{AF_INET, "232.1.2.3", IPOIB(0x8008), "ff12401b800800000000000008010203"},
	{AF_INET6, "ff02::1", IPOIB(0xffff), "ff12601bffff00000000000000000001"},
	{AF_INET6, "ff05::2", IPOIB(0xffff), "ff12601bffff00000000000000000002"},
	{AF_INET6, "ff02::1:ff28:9c5a", IPOIB(0x8008),
	 "ff12601b8008000000000001ff289c5a"},
	{AF_INET6, "ff3e:40:2001:db8:1:2:4000:1", IPOIB(0xffff),
	 "ff12601bffff0db80001000240000001"},
	/* rdma_cm's own signature. */
	{AF_INET, "239.1.1.1", UDP(0xffff), "ff124001ffff0000000000000f010101"},
	{AF_INET6, "ff0e::db8:1234", UDP(0xffff), "ff126001ffff0000000000000db81234"},
	/* One that the SA has chosen. */
	{AF_INET6, "ff12:a01b:fe80::1", UDP(0xffff), "ff12a01bfe8000000000000000000001"},
	{AF_IB, "ff12:401b:ffff::5", UDP(0xffff), "ff12401bffff00000000000000000005"},
	{AF_INET, "224.1.2.3", ROCE(true), "00000000000000000000ffffe0010203"},
	{AF_INET, "224.1.2.3", ROCE(false), "ff0e0000000000000000ffffe0010203"},
	{AF_INET6, "ff0e::5", ROCE(false), "ff0e0000000000000000000000000005"},
};

CT_TEST(mgid, an_address_and_its_link_make_it)
{
	const struct vector *vector;
	struct sockaddr_storage sa;
	union ibv_gid mgid;
	char text[33];

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		vector = &vectors[i];
		CT_NOTE("%s", vector->address);
		sa = address(vector->family, vector->address);
		CT_EXPECT_EQ(svb_cm_mgid((struct sockaddr *)&sa, &vector->link, &mgid),
			     0);
		text_of(&mgid, text);
		CT_EXPECT_STREQ(text, vector->mgid);
	}
}

CT_TEST(mgid, what_the_kernel_has_no_group_for_is_refused)
{
	static const struct svb_cm_link ib = IPOIB(0xffff), v1 = ROCE(false),
					v2 = ROCE(true);
	struct sockaddr_storage any = {.ss_family = AF_INET}, in6, raw;
	union ibv_gid mgid;

	in6 = address(AF_INET6, "ff0e::5");
	raw = address(AF_IB, "ff12:401b:ffff::5");
	CT_EXPECT_EQ(svb_cm_mgid((struct sockaddr *)&any, &ib, &mgid), EINVAL);
	CT_EXPECT_EQ(svb_cm_mgid((struct sockaddr *)&any, &v2, &mgid), EINVAL);
	CT_EXPECT_EQ(svb_cm_mgid((struct sockaddr *)&in6, &v2, &mgid), SVB_CM_ENOTSUPP);
	CT_EXPECT_EQ(svb_cm_mgid((struct sockaddr *)&raw, &v2, &mgid), SVB_CM_ENOTSUPP);
	CT_EXPECT_EQ(svb_cm_mgid((struct sockaddr *)&raw, &v1, &mgid), EINVAL);
}
