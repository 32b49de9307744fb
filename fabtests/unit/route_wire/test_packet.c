/* SPDX-License-Identifier: BSD-2-Clause */
/* Preamble, common header, versions. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "golden.h"

static const uint8_t preamble_bytes[] = {
	'F',  'R',  'T',  '1',	1,    7,    2,	  1,	0x18, 0x17, 0x16,
	0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23,
	0x22, 0x21, 0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41,
};

static enum rte_bad fence_preamble(struct rte_preamble *preamble, const void *bytes,
				   size_t len)
{
	return rte_preamble_parse(preamble, ct_fence_copy(bytes, len), len);
}

CT_TEST(wire_preamble, is_what_the_table_says)
{
	struct rte_preamble preamble;
	uint8_t bytes[RTE_PREAMBLE_LEN];

	CT_ASSERT_EQ(fence_preamble(&preamble, preamble_bytes, 32), RTE_OK);
	CT_EXPECT_EQ(preamble.major, 1);
	CT_EXPECT_EQ(preamble.minor_max, 7);
	CT_EXPECT_EQ(preamble.role, RTE_ROUTER);
	CT_EXPECT_EQ(preamble.flags, RTE_PREAMBLE_AUTH);
	CT_EXPECT_EQ(preamble.node, 0x1112131415161718);
	CT_EXPECT_EQ(preamble.nonce, 0x2122232425262728);
	CT_EXPECT_EQ(preamble.as, 0x31323334);
	CT_EXPECT_EQ(preamble.subnet, 0x41424344);
	rte_preamble_pack(&preamble, bytes);
	CT_EXPECT_MEMEQ(bytes, preamble_bytes, 32);
}

CT_TEST(wire_preamble, may_be_followed_but_not_cut)
{
	struct rte_preamble preamble;
	uint8_t bytes[56] = {0};

	memcpy(bytes, preamble_bytes, 32);
	for (size_t len = 0; len < 32; len++)
		CT_EXPECT_EQ(fence_preamble(&preamble, bytes, len), RTE_BAD_SHORT);
	for (size_t len = 32; len <= sizeof(bytes); len++)
		CT_EXPECT_EQ(fence_preamble(&preamble, bytes, len), RTE_OK);
}

CT_TEST(wire_preamble, that_is_wrong_is_refused)
{
	static const struct {
		uint8_t at, value;
		enum rte_bad want;
	} rows[] = {
		{0, 'f', RTE_BAD_MAGIC}, {3, '2', RTE_BAD_MAGIC}, {4, 0, RTE_BAD_MAJOR},
		{4, 2, RTE_BAD_MAJOR},	 {4, 255, RTE_BAD_MAJOR}, {6, 0, RTE_BAD_VALUE},
		{6, 4, RTE_BAD_VALUE},	 {6, 255, RTE_BAD_VALUE}, {5, 0, RTE_OK},
		{5, 255, RTE_OK},	 {6, 1, RTE_OK},	  {6, 3, RTE_OK},
		{7, 0xff, RTE_OK},
	};
	struct rte_preamble preamble;
	uint8_t bytes[32];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		memcpy(bytes, preamble_bytes, 32);
		bytes[rows[i].at] = rows[i].value;
		CT_NOTE("byte %u: %u", rows[i].at, rows[i].value);
		CT_EXPECT_EQ(fence_preamble(&preamble, bytes, 32), rows[i].want);
		/* What there is to tell the user. */
		if (rows[i].want == RTE_BAD_MAJOR)
			CT_EXPECT_EQ(preamble.major, rows[i].value);
		/* Flags without a name are ignored. */
		if (rows[i].at == 7)
			CT_EXPECT_EQ(preamble.flags, RTE_PREAMBLE_FLAGS);
	}
	memcpy(bytes, preamble_bytes, 32);
	memset(bytes + 8, 0, 8);
	CT_EXPECT_EQ(fence_preamble(&preamble, bytes, 32), RTE_BAD_VALUE);
}

/* Every pair of versions, old and new daemons and endpoints. */
CT_TEST(wire_preamble, both_ends_find_the_same_minor_version)
{
	static const uint8_t minors[] = {0, 1, 7, 255};
	struct rte_preamble a = {0}, b = {0};

	for (size_t i = 0; i < CRN_COUNT(minors); i++)
		for (size_t k = 0; k < CRN_COUNT(minors); k++) {
			a.minor_max = minors[i];
			b.minor_max = minors[k];
			CT_NOTE("%u and %u", minors[i], minors[k]);
			CT_EXPECT_EQ(rte_preamble_minor(&a, b.minor_max),
				     rte_preamble_minor(&b, a.minor_max));
			CT_EXPECT_EQ(rte_preamble_minor(&a, b.minor_max),
				     minors[i < k ? i : k]);
		}
}

/* An ACK, byte by byte. */
static const uint8_t ack[] = {
	0xc9,			/* magic */
	0x00,			/* minor version */
	0x35,			/* ACK */
	0x00,			/* flags */
	0x20, 0x00,		/* hlen 32 */
	0x03,			/* credits of the requests' lane */
	0x05,			/* credits of the responses' lane */
	0x04, 0x03, 0x02, 0x01, /* connection */
	0x00, 0x00, 0x00, 0x00, /* plen */
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, /* seq */
	0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, /* request */
};

CT_TEST(wire_packet, a_header_is_what_the_table_says)
{
	struct rte_packet packet;
	struct rte_ack message;

	CT_ASSERT_EQ(rte_packet_parse(&packet, ack, sizeof(ack)), RTE_OK);
	CT_EXPECT_EQ(packet.head.minor, 0);
	CT_EXPECT_EQ(packet.head.type, RTE_ACK);
	CT_EXPECT_EQ(packet.head.flags, 0);
	CT_EXPECT_EQ(packet.head.hlen, 32);
	CT_EXPECT_EQ(packet.head.credit[RTE_REQUESTS], 3);
	CT_EXPECT_EQ(packet.head.credit[RTE_RESPONSES], 5);
	CT_EXPECT_EQ(packet.head.vc, 0x01020304);
	CT_EXPECT_EQ(packet.head.plen, 0);
	CT_EXPECT_EQ(packet.head.seq, 0x1112131415161718);
	CT_EXPECT_EQ(packet.options.present, 0);
	CT_EXPECT_EQ(rte_ack_parse(&message, &packet), RTE_OK);
	CT_EXPECT_EQ(message.request, 0x2122232425262728);
}

static enum rte_bad changed(const struct golden *golden, size_t at, uint32_t value,
			    size_t size)
{
	static uint8_t bytes[512];
	static struct any any;

	memcpy(bytes, golden->bytes, golden->len);
	for (size_t i = 0; i < size; i++)
		bytes[at + i] = (uint8_t)(value >> 8 * i);
	return any_parse(&any, ct_fence_copy(bytes, golden->len), golden->len);
}

CT_TEST(wire_packet, other_protocols_and_versions_are_refused)
{
	const struct golden *golden;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		CT_NOTE("%s", golden->name);
		CT_EXPECT_EQ(changed(golden, 0, 0xc8, 1), RTE_BAD_MAGIC);
		CT_EXPECT_EQ(changed(golden, 0, 0, 1), RTE_BAD_MAGIC);
		CT_EXPECT_EQ(changed(golden, 1, RTE_MINOR, 1), RTE_OK);
		CT_EXPECT_EQ(changed(golden, 1, RTE_MINOR + 1, 1), RTE_BAD_MINOR);
		CT_EXPECT_EQ(changed(golden, 1, 255, 1), RTE_BAD_MINOR);
	}
}

CT_TEST(wire_packet, a_minor_version_that_is_not_spoken_is_not_sent)
{
	static struct any any;

	for (size_t i = 0; i < golden_count(); i++) {
		golden_fill(golden_at(i), &any);
		any.packet.head.minor = RTE_MINOR + 1;
		CT_EXPECT_EQ(any_pack(&any, ct_fence_room(1024), 1024), -FI_EINVAL);
	}
}

CT_TEST(wire_packet, types_are_those_of_the_table)
{
	static const struct {
		uint8_t type;
		enum rte_lane lane;
		const char *name;
	} rows[] = {
		{0x01, RTE_LANES, "HELLO"},
		{0x02, RTE_LANES, "HELLO_ACK"},
		{0x03, RTE_LANES, "AUTH"},
		{0x10, RTE_LANES, "DIGEST"},
		{0x11, RTE_LANES, "LSREQ"},
		{0x12, RTE_LANES, "LSA"},
		{0x13, RTE_LANES, "AS_REACH"},
		{0x14, RTE_LANES, "HEARTBEAT"},
		{0x15, RTE_LANES, "BYE"},
		{0x20, RTE_LANES, "CONN_REQ"},
		{0x21, RTE_LANES, "CONN_REP"},
		{0x22, RTE_LANES, "CONN_ACK"},
		{0x23, RTE_LANES, "SHUTDOWN"},
		{0x30, RTE_REQUESTS, "MSG"},
		{0x31, RTE_REQUESTS, "WRITE"},
		{0x32, RTE_REQUESTS, "READ_REQ"},
		{0x33, RTE_RESPONSES, "READ_FRAG"},
		{0x34, RTE_RESPONSES, "GRANT"},
		{0x35, RTE_RESPONSES, "ACK"},
		{0x36, RTE_RESPONSES, "NACK"},
		{0x37, RTE_RESPONSES, "MR_RESOLVE"},
		{0x38, RTE_RESPONSES, "MR_INFO"},
		{0x39, RTE_RESPONSES, "MR_INVAL"},
		{0x3a, RTE_RESPONSES, "KEEPALIVE"},
		{0x3b, RTE_RESPONSES, "RECEIVES"},
	};
	const struct golden *golden = golden_at(0);
	unsigned int type;
	size_t i = 0;

	for (type = 0; type < 256; type++) {
		CT_NOTE("type %u", type);
		if (i < CRN_COUNT(rows) && rows[i].type == type) {
			CT_EXPECT_STREQ(rte_message_name((uint8_t)type), rows[i].name);
			CT_EXPECT_EQ(rte_message_lane((uint8_t)type), rows[i].lane);
			i++;
			continue;
		}
		CT_EXPECT_EQ(rte_message_name((uint8_t)type), NULL);
		CT_EXPECT_EQ(rte_message_lane((uint8_t)type), RTE_LANES);
		CT_EXPECT_EQ(changed(golden, 2, type, 1), RTE_BAD_TYPE);
	}
	CT_EXPECT_EQ(i, CRN_COUNT(rows));
}

CT_TEST(wire_packet, hlen_is_within_its_bounds)
{
	const struct golden *golden;
	size_t body;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		CT_NOTE("%s", golden->name);
		body = any_without_reserved(golden->bytes[2], golden->bytes,
					    ct_fence_room(512));
		CT_EXPECT_EQ(changed(golden, 4, 0, 2), RTE_BAD_HLEN);
		CT_EXPECT_EQ(changed(golden, 4, (uint32_t)body - 8, 2), RTE_BAD_HLEN);
		CT_EXPECT_EQ(changed(golden, 4, (uint32_t)body + 4, 2), RTE_BAD_HLEN);
		CT_EXPECT_EQ(changed(golden, 4, (uint32_t)body + 1, 2), RTE_BAD_HLEN);
		CT_EXPECT_EQ(changed(golden, 4, RTE_HLEN_MAX, 2), RTE_BAD_SHORT);
		CT_EXPECT_EQ(changed(golden, 4, RTE_HLEN_MAX + 8, 2), RTE_BAD_HLEN);
		CT_EXPECT_EQ(changed(golden, 4, 0xfff8, 2), RTE_BAD_HLEN);
		CT_EXPECT_EQ(changed(golden, 4, 0xffff, 2), RTE_BAD_HLEN);
	}
}

/* Of what is not data: more than its bound, and less than is there. */
CT_TEST(wire_packet, plen_is_within_its_bounds)
{
	static const uint32_t max[RTE_TYPES] = {
		[RTE_DIGEST] = 8192,	      [RTE_LSREQ] = 8192,
		[RTE_LSA] = RTE_LSA_LIST_MAX, [RTE_AS_REACH] = 24 * 64,
		[RTE_CONN_REQ] = 1024,	      [RTE_CONN_REP] = 1024,
		[RTE_GRANT] = 24 * 64,
	};
	const struct golden *golden;
	uint32_t bound;

	for (size_t i = 0; i < golden_count(); i++) {
		golden = golden_at(i);
		bound = max[golden->bytes[2]];
		CT_NOTE("%s", golden->name);
		if (golden->bytes[2] == RTE_MSG || golden->bytes[2] == RTE_WRITE ||
		    golden->bytes[2] == RTE_READ_FRAG)
			continue;
		CT_EXPECT_EQ(changed(golden, 12, bound + 1, 4), RTE_BAD_LIMIT);
		CT_EXPECT_EQ(changed(golden, 12, UINT32_MAX, 4), RTE_BAD_LIMIT);
		CT_EXPECT_EQ(changed(golden, 12, 0x80000000, 4), RTE_BAD_LIMIT);
		if (bound)
			CT_EXPECT_EQ(changed(golden, 12, bound, 4), RTE_BAD_SHORT);
		if (golden->plen)
			CT_EXPECT_EQ(changed(golden, 12, golden->plen - 1, 4),
				     RTE_BAD_PLEN);
	}
}

CT_TEST(wire_packet, a_message_of_one_part_is_packed_at_once)
{
	static const uint8_t flags[] = {0, RTE_ACKREQ, RTE_ACKREQ | RTE_DELIVER};
	static const uint32_t lengths[] = {0, 1, 64, 0x1234, RTE_EAGER_MAX};
	const uint64_t seq = 0x1122334455667788;
	uint8_t want[RTE_MSG_WHOLE], got[RTE_MSG_WHOLE];
	struct rte_packet packet = {.head = {.type = RTE_MSG, .seq = seq}};
	struct rte_msg msg = {.slot = RTE_SLOT_NONE};

	for (size_t i = 0; i < CRN_COUNT(flags); i++) {
		for (size_t k = 0; k < CRN_COUNT(lengths); k++) {
			CT_NOTE("%zu %zu", i, k);
			packet.head.flags = RTE_FIRST | RTE_LAST | flags[i];
			packet.head.plen = lengths[k];
			msg.length = lengths[k];
			CT_EXPECT_EQ(rte_msg_pack(&packet, &msg, want, sizeof(want)),
				     RTE_MSG_WHOLE);
			memset(got, 0xaa, sizeof(got));
			rte_msg_whole_pack(seq, packet.head.flags, lengths[k], got);
			CT_EXPECT_MEMEQ(got, want, sizeof(want));
		}
	}
}

CT_TEST(wire_packet, every_fault_has_its_text)
{
	for (int i = 0; i < RTE_BADS; i++)
		for (int k = 0; k < i; k++)
			CT_EXPECT_NE(strcmp(rte_bad_text((enum rte_bad)i),
					    rte_bad_text((enum rte_bad)k)),
				     0);
	CT_EXPECT_STREQ(rte_bad_text(RTE_BADS), "unknown");
	CT_EXPECT_STREQ(rte_bad_text((enum rte_bad) - 1), "unknown");
}
