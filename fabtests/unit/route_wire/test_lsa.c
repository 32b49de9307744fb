/* SPDX-License-Identifier: BSD-2-Clause */
/* LSAs: the document's record, links at their bounds, whole and in pieces. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "golden.h"

#define MESSAGE 80 /* header and body */
#define LINK 40	   /* without neighbours and URI */
#define WHOLE_MAX (MESSAGE + RTE_LSA_LIST_MAX)

static struct rte_lsa_room room;
static struct rte_packet packet;
static struct rte_lsa_piece piece;
static struct rte_link link[RTE_LINKS_MAX + 1];
static uint64_t neighbour[RTE_NEIGHBOURS_MAX + 1 + RTE_LINKS_MAX];
static uint8_t bytes[WHOLE_MAX + 8], list[RTE_LSA_LIST_MAX];
static char uri[RTE_URI_MAX + 2];

static struct rte_packet sent(void)
{
	return (struct rte_packet){
		.head = {.type = RTE_LSA, .flags = RTE_FIRST | RTE_LAST}};
}

/* So many links, alike but for their subnets, rates and neighbours. */
static struct rte_lsa lsa_of(uint32_t links, uint16_t neighbours, size_t uri_len)
{
	for (uint32_t i = 0; i < CRN_COUNT(neighbour); i++)
		neighbour[i] = 1000 + i;
	memset(uri, 'u', sizeof(uri));
	uri[uri_len] = 0;
	for (uint32_t i = 0; i < CRN_COUNT(link); i++)
		link[i] = (struct rte_link){.subnet = i,
					    .scope_as = 3,
					    .rate = 1 + i,
					    .neighbours = neighbours,
					    .neighbour = neighbour + i,
					    .uri = uri};
	return (struct rte_lsa){.as = 3,
				.router = 7,
				.epoch = 1,
				.seq = 2,
				.lifetime = 30000,
				.links = links,
				.link = link};
}

/* A whole message. */
static enum rte_bad parse(size_t len)
{
	const uint8_t *copy = ct_fence_copy(bytes, len);
	enum rte_bad bad = rte_packet_parse(&packet, copy, len);

	if (bad == RTE_OK)
		bad = rte_lsa_piece_parse(&piece, &packet);
	return bad != RTE_OK
		       ? bad
		       : rte_lsa_parse(&room, &piece, packet.payload, packet.head.plen);
}

static ssize_t pack(const struct rte_lsa *lsa)
{
	const struct rte_packet to = sent();

	return rte_lsa_pack(&to, lsa, bytes, sizeof(bytes));
}

/*
 * Table III of the document: AS ID, Subnet ID, Instance, Rate (Gb/s), Caps, URI Len, URI.
 * The endpoint of section VII.A.3, AS 32 and subnet 126 on a Gemini of 10 Gb/s.
 */
CT_TEST(wire_lsa, says_every_field_of_table_iii)
{
	static const char gni[] = "gni://10.101.50.37:6744";
	const struct rte_link device = {.subnet = 126, /* Subnet ID */
					.scope_as = 32,
					.rate = 10 * 1000000000ull, /* Rate (Gb/s) */
					.caps = RTE_CAP_ZEROCOPY |
						RTE_CAP_OSBYPASS, /* Caps */
					.up = true,
					.uri = gni}; /* URI Len, URI */
	const struct rte_lsa lsa = {.as = 32,	     /* AS ID */
				    .epoch = 5,	     /* Instance */
				    .seq = 6,
				    .router = 1,
				    .lifetime = 1,
				    .links = 1,
				    .link = &device};
	const uint8_t *at = bytes + MESSAGE;

	CT_ASSERT_EQ(pack(&lsa), MESSAGE + LINK + 24);
	/* AS ID: in the message, and of the subnet. */
	CT_EXPECT_EQ(bytes[24], 32);
	CT_EXPECT_EQ(at[4], 32);
	/* Subnet ID. */
	CT_EXPECT_EQ(at[0], 126);
	/* Instance: of a start of the router, and of what it says since. */
	CT_EXPECT_EQ(bytes[40], 5);
	CT_EXPECT_EQ(bytes[48], 6);
	/* Rate: 10,000,000,000 bit/s. */
	CT_EXPECT_MEMEQ(at + 8, "\x00\xe4\x0b\x54\x02\0\0\0", 8);
	/* Caps. */
	CT_EXPECT_EQ(at[28], 0x03);
	CT_EXPECT_EQ(at[29], 0);
	/* URI Len, URI. */
	CT_EXPECT_EQ(at[34], 23);
	CT_EXPECT_MEMEQ(at + LINK, gni, 24);

	CT_ASSERT_EQ(parse(MESSAGE + LINK + 24), RTE_OK);
	CT_EXPECT_EQ(room.lsa.as, 32);
	CT_EXPECT_EQ(room.lsa.link[0].subnet, 126);
	CT_EXPECT_EQ(room.lsa.link[0].scope_as, 32);
	CT_EXPECT_EQ(room.lsa.epoch, 5);
	CT_EXPECT_EQ(room.lsa.seq, 6);
	CT_EXPECT_EQ(room.lsa.link[0].rate / 1000000000, 10);
	CT_EXPECT_EQ(room.lsa.link[0].caps, RTE_CAP_ZEROCOPY | RTE_CAP_OSBYPASS);
	CT_EXPECT_EQ(strlen(room.lsa.link[0].uri), 23);
	CT_EXPECT_STREQ(room.lsa.link[0].uri, gni);
	CT_EXPECT_EQ(rte_lsa_check(&room.lsa), 0);
}

/* The golden one: its links. */
CT_TEST(wire_lsa, links_are_what_the_table_says)
{
	const struct rte_link *a = &room.link[0], *b = &room.link[1];
	size_t i;

	for (i = 0; strcmp(golden_at(i)->name, "lsa"); i++)
		;
	memcpy(bytes, golden_at(i)->bytes, golden_at(i)->len);
	CT_ASSERT_EQ(parse(golden_at(i)->len), RTE_OK);
	CT_EXPECT_EQ(room.lsa.as, 3);
	CT_EXPECT_EQ(room.lsa.flags, RTE_LSA_DRAIN | RTE_LSA_BORDER);
	CT_EXPECT_EQ(room.lsa.router, 0x4142434445464748);
	CT_EXPECT_EQ(room.lsa.epoch, 0x5152535455565758);
	CT_EXPECT_EQ(room.lsa.seq, 0x6162636465666768);
	CT_EXPECT_EQ(room.lsa.lifetime, 30000);
	CT_EXPECT_EQ(room.lsa.load, 5);
	CT_EXPECT_EQ(room.lsa.links, 2);
	CT_EXPECT_EQ(room.lsa.link, room.link);
	CT_EXPECT_EQ(a->subnet, 126);
	CT_EXPECT_EQ(a->scope_as, 3);
	CT_EXPECT_EQ(a->rate, 10000000000);
	CT_EXPECT_EQ(a->latency, 2000);
	CT_EXPECT_EQ(a->cost, 0x99);
	CT_EXPECT_EQ(a->frag_max, 1048576);
	CT_EXPECT_EQ(a->caps, 0x8007); /* one without a name is handed on */
	CT_EXPECT_TRUE(a->up);
	CT_EXPECT_EQ(a->neighbours, 2);
	CT_EXPECT_EQ(a->neighbour[0], 9);
	CT_EXPECT_EQ(a->neighbour[1], 0x010000000000000a);
	CT_EXPECT_STREQ(a->uri, "gni://10.1.5");
	CT_EXPECT_EQ(b->subnet, 1);
	CT_EXPECT_EQ(b->scope_as, 0);
	CT_EXPECT_EQ(b->rate, 0x1000000000000001);
	CT_EXPECT_FALSE(b->up);
	CT_EXPECT_EQ(b->neighbours, 0);
	CT_EXPECT_STREQ(b->uri, "");
	/* As bytes again, without the TLV that nobody knows. */
	CT_EXPECT_EQ(pack(&room.lsa), golden_at(i)->len - 16);
	CT_EXPECT_MEMEQ(bytes + MESSAGE, golden_at(i)->bytes + MESSAGE, 72);
	CT_EXPECT_EQ(bytes[MESSAGE + 72 + 36], 48);
}

static void expect_round_trip(const struct rte_lsa *lsa)
{
	const ssize_t len = pack(lsa);

	CT_ASSERT_GT(len, 0);
	CT_EXPECT_EQ(len % 8, 0);
	CT_EXPECT_EQ(rte_lsa_len(lsa), len);
	CT_ASSERT_EQ(parse((size_t)len), RTE_OK);
	CT_EXPECT_EQ(rte_lsa_compare(&room.lsa, lsa), 0);
	CT_EXPECT_EQ(room.lsa.as, lsa->as);
	CT_EXPECT_EQ(room.lsa.router, lsa->router);
	CT_EXPECT_EQ(room.lsa.lifetime, lsa->lifetime);
}

CT_TEST(wire_lsa, of_any_size_comes_back)
{
	struct rte_lsa lsa;

	for (size_t len = 0; len <= RTE_URI_MAX; len++) {
		lsa = lsa_of(1, 0, len);
		expect_round_trip(&lsa);
	}
	for (size_t len = 0; len <= RTE_NEIGHBOURS_MAX; len++) {
		lsa = lsa_of(2, (uint16_t)len, 5);
		expect_round_trip(&lsa);
	}
	for (size_t len = 0; len <= RTE_LINKS_MAX; len++) {
		lsa = lsa_of((uint32_t)len, 3, 20);
		expect_round_trip(&lsa);
	}
	/* All of it at its most. */
	lsa = lsa_of(RTE_LINKS_MAX, RTE_NEIGHBOURS_MAX, RTE_URI_MAX);
	expect_round_trip(&lsa);
	CT_EXPECT_EQ(rte_lsa_len(&lsa), MESSAGE + 64 * (LINK + 8 * 512 + 256));
}

static void expect_not_packed(const struct rte_lsa *lsa)
{
	CT_EXPECT_EQ(pack(lsa), -FI_EINVAL);
	CT_EXPECT_EQ(rte_lsa_len(lsa), 0);
}

CT_TEST(wire_lsa, beyond_its_bounds_is_not_packed)
{
	struct rte_lsa lsa = lsa_of(RTE_LINKS_MAX + 1, 0, 0);
	struct rte_packet to = sent();

	expect_not_packed(&lsa);
	lsa.links = UINT32_MAX;
	expect_not_packed(&lsa);
	lsa = lsa_of(2, RTE_NEIGHBOURS_MAX + 1, 0);
	expect_not_packed(&lsa);
	lsa = lsa_of(2, 0xffff, 0);
	expect_not_packed(&lsa);
	lsa = lsa_of(2, 0, RTE_URI_MAX + 1);
	expect_not_packed(&lsa);
	lsa = lsa_of(2, 0, 5);
	uri[2] = '\n';
	expect_not_packed(&lsa);

	lsa = lsa_of(2, 0, 5);
	lsa.lifetime = RTE_LIFETIME_MAX;
	CT_EXPECT_GT(pack(&lsa), 0);
	lsa.lifetime++;
	CT_EXPECT_EQ(pack(&lsa), -FI_EINVAL);
	lsa = lsa_of(2, 0, 5);
	lsa.as = RTE_AS_WAN;
	CT_EXPECT_EQ(pack(&lsa), -FI_EINVAL);
	lsa = lsa_of(2, 0, 5);
	lsa.router = 0;
	CT_EXPECT_EQ(pack(&lsa), -FI_EINVAL);
	/* The message's own: another type, a part, TLVs that it does not have. */
	lsa = lsa_of(2, 0, 5);
	to.head.flags = RTE_FIRST;
	CT_EXPECT_EQ(rte_lsa_pack(&to, &lsa, bytes, sizeof(bytes)), -FI_EINVAL);
	to = sent();
	to.head.type = RTE_DIGEST;
	CT_EXPECT_EQ(rte_lsa_pack(&to, &lsa, bytes, sizeof(bytes)), -FI_EINVAL);
	to = sent();
	to.options.present = 1 << RTE_TLV_WHY;
	to.options.text[RTE_TLV_WHY] = "x";
	CT_EXPECT_EQ(rte_lsa_pack(&to, &lsa, bytes, sizeof(bytes)), -FI_EINVAL);
}

CT_TEST(wire_lsa, that_does_not_fit_is_not_packed)
{
	const struct rte_lsa lsa = lsa_of(3, 2, 20);
	const struct rte_packet to = sent();
	const size_t len = rte_lsa_len(&lsa);

	for (size_t size = 0; size < len; size++)
		CT_EXPECT_EQ(rte_lsa_pack(&to, &lsa, ct_fence_room(size), size),
			     -FI_ETOOSMALL);
	CT_EXPECT_EQ(rte_lsa_pack(&to, &lsa, ct_fence_room(len), len), len);
}

/* The list alone, so that nothing else says how long it is. */
static enum rte_bad parse_list(size_t len)
{
	piece = (struct rte_lsa_piece){
		.as = 3, .router = 7, .links = 2, .total = (uint32_t)len};
	return rte_lsa_parse(&room, &piece, ct_fence_copy(list, len), len);
}

/* Two links of one neighbour and 7 bytes of URI each: 56 bytes. */
static void begin_list(void)
{
	const struct rte_lsa lsa = lsa_of(2, 1, 7);

	memset(list, 0, sizeof(list));
	if (pack(&lsa) == MESSAGE + 2 * 56)
		memcpy(list, bytes + MESSAGE, 112);
}

CT_TEST(wire_lsa, a_list_may_end_nowhere_early)
{
	begin_list();
	CT_EXPECT_EQ(parse_list(112), RTE_OK);
	for (size_t len = 0; len < 112; len++) {
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(parse_list(len), RTE_BAD_SHORT);
	}
	CT_EXPECT_EQ(parse_list(113), RTE_BAD_PLEN);
	CT_EXPECT_EQ(parse_list(112 + 56), RTE_BAD_PLEN);
}

CT_TEST(wire_lsa, a_link_is_within_its_bounds)
{
	static const struct {
		uint8_t at, size;
		uint32_t value;
		enum rte_bad want;
	} rows[] = {
		{30, 1, 0, RTE_OK},
		{30, 1, 1, RTE_OK},
		{30, 1, 2, RTE_BAD_VALUE},
		{30, 1, 255, RTE_BAD_VALUE},
		{32, 2, 0, RTE_BAD_TEXT},
		{32, 2, 2, RTE_BAD_RANGE},
		{32, 2, 512, RTE_BAD_RANGE},
		{32, 2, 513, RTE_BAD_LIMIT},
		{32, 2, 0xffff, RTE_BAD_LIMIT},
		{34, 1, 8, RTE_BAD_RANGE},
		{34, 1, 255, RTE_BAD_RANGE},
		{34, 1, 6, RTE_BAD_TEXT},
		{36, 4, 0, RTE_BAD_RANGE},
		{36, 4, 48, RTE_BAD_RANGE},
		{36, 4, 55, RTE_BAD_RANGE},
		{36, 4, 57, RTE_BAD_RANGE},
		{36, 4, 112, RTE_BAD_TLV},
		{36, 4, 120, RTE_BAD_SHORT},
		{36, 4, 0xfffffff8, RTE_BAD_SHORT},
		{36, 4, 0xffffffff, RTE_BAD_RANGE},
		{48, 1, '\n', RTE_BAD_TEXT},
		{55, 1, 'x', RTE_BAD_TEXT},
		{31, 1, 255, RTE_OK},
		{35, 1, 255, RTE_OK},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		begin_list();
		for (size_t k = 0; k < rows[i].size; k++)
			list[rows[i].at + k] = (uint8_t)(rows[i].value >> 8 * k);
		CT_NOTE("byte %u: %u", rows[i].at, rows[i].value);
		CT_EXPECT_EQ(parse_list(112), rows[i].want);
	}
}

CT_TEST(wire_lsa, tlvs_of_a_link_are_passed_over_unless_they_are_critical)
{
	begin_list();
	memmove(list + 64, list + 56, 56);
	list[36] = 64;
	list[56] = 0x12;
	list[57] = 0;
	list[58] = 4;
	list[59] = 0;
	CT_EXPECT_EQ(parse_list(120), RTE_OK);
	CT_EXPECT_EQ(room.lsa.link[1].subnet, 1);
	list[57] = 0x80;
	CT_EXPECT_EQ(parse_list(120), RTE_BAD_CRITICAL);
	list[57] = 0;
	list[58] = 5;
	CT_EXPECT_EQ(parse_list(120), RTE_BAD_TLV);
}

CT_TEST(wire_lsa, a_piece_is_not_the_list)
{
	begin_list();
	piece = (struct rte_lsa_piece){.as = 3, .router = 7, .links = 2, .total = 112};
	CT_EXPECT_EQ(rte_lsa_parse(&room, &piece, list, 56), RTE_BAD_PIECE);
	CT_EXPECT_EQ(rte_lsa_parse(&room, &piece, list, 120), RTE_BAD_PIECE);
	piece.links = RTE_LINKS_MAX + 1;
	CT_EXPECT_EQ(rte_lsa_parse(&room, &piece, list, 112), RTE_BAD_LIMIT);
	piece.links = 0xffff;
	CT_EXPECT_EQ(rte_lsa_parse(&room, &piece, list, 112), RTE_BAD_LIMIT);
}
