/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include "addr/addr.h"
#include "cairn_test.h"

static const struct rte_end end = {
	.as = 0x01020304,
	.subnet = 0x05060708,
	.host = 0x0a00020b,
	.port = 7000,
	.transport = RTE_TRANSPORT_TCP,
};

CT_TEST(pack, bytes_are_tag_transport_as_subnet_and_host)
{
	static const uint8_t bytes[16] = {0xfd, 'r', 't', 2, 1,	 2, 3, 4,
					  5,	6,   7,	  8, 10, 0, 2, 11};
	struct sockaddr_in6 addr;

	rte_addr_pack(&end, &addr);
	CT_EXPECT_EQ(addr.sin6_family, AF_INET6);
	CT_EXPECT_EQ(ntohs(addr.sin6_port), 7000);
	CT_EXPECT_MEMEQ(addr.sin6_addr.s6_addr, bytes, sizeof(bytes));
}

CT_TEST(pack, what_was_packed_is_parsed)
{
	struct sockaddr_in6 addr;
	struct rte_end back;

	rte_addr_pack(&end, &addr);
	CT_ASSERT_TRUE(rte_addr_parse((struct sockaddr *)&addr, &back));
	CT_EXPECT_EQ(back.as, end.as);
	CT_EXPECT_EQ(back.subnet, end.subnet);
	CT_EXPECT_EQ(back.host, end.host);
	CT_EXPECT_EQ(back.port, end.port);
	CT_EXPECT_EQ(back.transport, end.transport);
}

CT_TEST(pack, addresses_of_networks_are_not_routed)
{
	union crn_addr addr = {.in6 = {.sin6_family = AF_INET6}};
	struct rte_end back;
	int i;

	CT_EXPECT_FALSE(rte_addr_parse(&addr.sa, &back));
	for (i = 0; i < 3; i++) {
		CT_NOTE("byte %d of the tag", i);
		rte_addr_pack(&end, &addr.in6);
		addr.in6.sin6_addr.s6_addr[i] ^= 1;
		CT_EXPECT_FALSE(rte_addr_parse(&addr.sa, &back));
	}
	CT_NOTE("transport");
	rte_addr_pack(&end, &addr.in6);
	addr.in6.sin6_addr.s6_addr[3] = RTE_TRANSPORTS;
	CT_EXPECT_FALSE(rte_addr_is_routed(&addr.sa));
	addr.in = (struct sockaddr_in){.sin_family = AF_INET};
	CT_EXPECT_FALSE(rte_addr_is_routed(&addr.sa));
}

CT_TEST(pack, the_lower_provider_gets_host_and_port)
{
	union crn_addr addr;
	char text[CRN_ADDR_STRLEN];

	rte_addr_lower(&end, &addr);
	CT_EXPECT_STREQ(crn_addr_str(&addr.sa, text), "10.0.2.11:7000");
}
