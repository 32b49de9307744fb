/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/grh.c */
#include <arpa/inet.h>
#include "../world.h"

static union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid;

	CT_EXPECT_EQ(inet_pton(AF_INET6, text, gid.raw), 1);
	return gid;
}

CT_TEST(grh, ipv4_lies_in_the_last_twenty_bytes)
{
	/* 100 bytes from 10.77.0.1 to 224.1.2.3: 152 in all; the checksum was added up by
	 * hand. */
	static const uint8_t header[40] = {
		[20] = 0x45, 0x20, 0,  152, 0, 0, 0x40, 0, 64, 17,
		0x4d,	     0xe3, 10, 77,  0, 1, 224,	1, 2,  3,
	};
	const union ibv_gid from = gid_of("::ffff:10.77.0.1");
	struct ibv_global_route to = {.dgid = gid_of("::ffff:224.1.2.3"),
				      .hop_limit = 64,
				      .traffic_class = 0x20};
	struct svb_grh_route route;
	struct ibv_grh grh;

	memset(&grh, 0xff, sizeof(grh));
	CT_EXPECT_EQ(svb_grh_make(&grh, &to, &from, IBV_GID_TYPE_ROCE_V2, 100),
		     SVB_L3_IPV4);
	CT_EXPECT_MEMEQ(&grh, header, sizeof(header));
	CT_ASSERT_TRUE(svb_grh_read(&route, &grh, true));
	CT_EXPECT_MEMEQ(&route.sgid, &from, sizeof(from));
	CT_EXPECT_MEMEQ(&route.dgid, &to.dgid, sizeof(to.dgid));
	CT_EXPECT_EQ(route.type, IBV_GID_TYPE_ROCE_V2);
	CT_EXPECT_EQ(route.traffic_class, 0x20);
	/* What an adapter leaves before it does not matter; a checksum that is wrong
	 * does. */
	memset(&grh, 0x6f, 20);
	CT_EXPECT_TRUE(svb_grh_read(&route, &grh, true));
	CT_EXPECT_EQ(route.dgid.raw[12], 224);
	((uint8_t *)&grh)[39]++;
	CT_EXPECT_TRUE(svb_grh_read(&route, &grh, true));
	CT_EXPECT_EQ(route.type, IBV_GID_TYPE_ROCE_V1);
	memset(&grh, 0, sizeof(grh));
	CT_EXPECT_FALSE(svb_grh_read(&route, &grh, true));
}

CT_TEST(grh, others_are_as_long_as_a_header_of_ipv6)
{
	static const struct {
		enum ibv_gid_type type;
		const char *from, *to;
		uint8_t next;
		uint16_t length;
	} rows[] = {
		{IBV_GID_TYPE_IB, "fe80::1", "fe80::2", 0x1b, 124},
		{IBV_GID_TYPE_ROCE_V1, "::ffff:10.77.0.1", "::ffff:10.77.0.2", 0x1b, 124},
		{IBV_GID_TYPE_ROCE_V2, "fd77::1", "fd77::2", 17, 132},
		{IBV_GID_TYPE_ROCE_V2, "::ffff:10.77.0.1", "fd77::2", 17, 132},
	};
	struct svb_grh_route route;
	struct ibv_global_route to;
	union ibv_gid from;
	struct ibv_grh grh;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i].to);
		from = gid_of(rows[i].from);
		to = (struct ibv_global_route){.dgid = gid_of(rows[i].to),
					       .flow_label = 0xabcde,
					       .hop_limit = 9,
					       .traffic_class = 7};
		CT_EXPECT_EQ(svb_grh_make(&grh, &to, &from, rows[i].type, 100),
			     rows[i].next == 17 ? SVB_L3_IPV6 : SVB_L3_GRH);
		CT_EXPECT_EQ(be32toh(grh.version_tclass_flow), 0x607abcdeu);
		CT_EXPECT_EQ(be16toh(grh.paylen), rows[i].length);
		CT_EXPECT_EQ(grh.next_hdr, rows[i].next);
		CT_EXPECT_EQ(grh.hop_limit, 9);
		CT_ASSERT_TRUE(
			svb_grh_read(&route, &grh, rows[i].type != IBV_GID_TYPE_IB));
		CT_EXPECT_MEMEQ(&route.sgid, &from, sizeof(from));
		CT_EXPECT_MEMEQ(&route.dgid, &to.dgid, sizeof(from));
		CT_EXPECT_EQ(route.type, rows[i].type);
		CT_EXPECT_EQ(route.flow_label, 0xabcde);
		CT_EXPECT_EQ(route.traffic_class, 7);
	}
}
