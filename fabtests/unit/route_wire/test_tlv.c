/* SPDX-License-Identifier: BSD-2-Clause */
/* TLVs: those of a CONN_REQ, and such that nobody knows. */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "golden.h"

#define BODY_END 112

static struct any any;
static uint8_t bytes[RTE_HLEN_MAX + 64];
static size_t used;

/* A CONN_REQ without TLVs. */
static void begin(void)
{
	size_t i;

	for (i = 0; strcmp(golden_at(i)->name, "conn_req"); i++)
		;
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, golden_at(i)->bytes, BODY_END);
	bytes[12] = 0;
	used = BODY_END;
}

/* Another TLV, whose bytes after the value are not 0. */
static void add(uint16_t type, const void *value, size_t len)
{
	bytes[used] = (uint8_t)type;
	bytes[used + 1] = (uint8_t)(type >> 8);
	bytes[used + 2] = (uint8_t)len;
	bytes[used + 3] = (uint8_t)(len >> 8);
	memset(bytes + used + 4, 0x5a, (len + 7) & ~(size_t)7);
	memcpy(bytes + used + 4, value, len);
	used = (used + 4 + len + 7) & ~(size_t)7;
}

static enum rte_bad parse(void)
{
	bytes[4] = (uint8_t)used;
	bytes[5] = (uint8_t)(used >> 8);
	return any_parse(&any, ct_fence_copy(bytes, used), used);
}

/* A single one. */
static enum rte_bad one(uint16_t type, const void *value, size_t len)
{
	begin();
	add(type, value, len);
	return parse();
}

CT_TEST(wire_tlv, that_is_unknown_is_passed_over)
{
	static const uint16_t unknown[] = {0, 8, 9, 0xff, 0x7fff};
	static const char value[300];

	for (size_t i = 0; i < CRN_COUNT(unknown); i++)
		for (size_t len = 0; len < sizeof(value); len++) {
			CT_NOTE("type %u, %zu bytes", unknown[i], len);
			CT_EXPECT_EQ(one(unknown[i], value, len), RTE_OK);
			CT_EXPECT_EQ(any.packet.options.present, 0);
			/* Also before one that is known, and twice. */
			add(unknown[i], value, len);
			add(RTE_TLV_SOURCE, "x", 2);
			CT_EXPECT_EQ(parse(), RTE_OK);
			CT_EXPECT_EQ(any.packet.options.present, 1 << RTE_TLV_SOURCE);
		}
}

CT_TEST(wire_tlv, that_is_unknown_and_critical_is_refused)
{
	static const uint16_t unknown[] = {0x8000, 0x8008, 0x8009, 0x80ff, 0xffff};

	for (size_t i = 0; i < CRN_COUNT(unknown); i++) {
		CT_EXPECT_EQ(one(unknown[i], "", 0), RTE_BAD_CRITICAL);
		CT_EXPECT_EQ(one(unknown[i], "12345678", 8), RTE_BAD_CRITICAL);
	}
}

/* What another type of message has is unknown here. */
CT_TEST(wire_tlv, that_does_not_belong_there_is_unknown)
{
	static const uint16_t other[] = {RTE_TLV_ACK, RTE_TLV_URI, RTE_TLV_NAME,
					 RTE_TLV_WHY, RTE_TLV_PROBE};

	for (size_t i = 0; i < CRN_COUNT(other); i++) {
		CT_EXPECT_EQ(one(other[i], "1234567", 8), RTE_OK);
		CT_EXPECT_EQ(any.packet.options.present, 0);
		CT_EXPECT_EQ(one(other[i] | 0x8000, "1234567", 8), RTE_BAD_CRITICAL);
	}
}

CT_TEST(wire_tlv, may_have_the_critical_bit_or_not_where_it_is_known)
{
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, "x", 2), RTE_OK);
	CT_EXPECT_STREQ(any.packet.options.text[RTE_TLV_SOURCE], "x");
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE | 0x8000, "y", 2), RTE_OK);
	CT_EXPECT_STREQ(any.packet.options.text[RTE_TLV_SOURCE], "y");
}

CT_TEST(wire_tlv, comes_in_any_order)
{
	static const uint8_t hop[16] = {1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3};

	begin();
	add(RTE_TLV_TARGET, "target", 7);
	add(RTE_TLV_PATH, hop, sizeof(hop));
	add(RTE_TLV_SOURCE, "source", 7);
	CT_ASSERT_EQ(parse(), RTE_OK);
	CT_EXPECT_STREQ(any.packet.options.text[RTE_TLV_SOURCE], "source");
	CT_EXPECT_STREQ(any.packet.options.text[RTE_TLV_TARGET], "target");
	CT_EXPECT_EQ(any.packet.options.hops, 1);
	CT_EXPECT_EQ(any.packet.options.hop[0].router, 1);
	CT_EXPECT_EQ(any.packet.options.hop[0].scope_as, 2);
	CT_EXPECT_EQ(any.packet.options.hop[0].subnet, 3);
}

CT_TEST(wire_tlv, comes_once)
{
	begin();
	add(RTE_TLV_SOURCE, "x", 2);
	add(RTE_TLV_SOURCE, "x", 2);
	CT_EXPECT_EQ(parse(), RTE_BAD_TLV);
}

CT_TEST(wire_tlv, ends_within_the_header)
{
	static const uint32_t lens[] = {5, 12, 13, 0x7fff, 0x8000, 0xfff8, 0xffff};

	for (size_t i = 0; i < CRN_COUNT(lens); i++) {
		begin();
		add(0x70, "1234", 4);
		bytes[used - 6] = (uint8_t)lens[i];
		bytes[used - 5] = (uint8_t)(lens[i] >> 8);
		CT_NOTE("length %u", lens[i]);
		CT_EXPECT_EQ(parse(), RTE_BAD_TLV);
	}
}

CT_TEST(wire_tlv, a_path_has_whole_hops_and_not_too_many)
{
	static const uint8_t hops[(RTE_TTL_MAX + 1) * 16];

	for (size_t len = 0; len <= sizeof(hops); len++) {
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(one(RTE_TLV_PATH, hops, len), !len || len % 16 ? RTE_BAD_TLV
							   : len > 256 ? RTE_BAD_LIMIT
								       : RTE_OK);
	}
}

CT_TEST(wire_tlv, an_acknowledgement_has_eight_bytes)
{
	static const uint8_t head[] = {HEAD(0x32, 0, 72, 0)};
	static const uint8_t body[32] = {1, [24] = 1, [28] = 1};

	for (size_t len = 0; len < 12; len++) {
		memcpy(bytes, head, sizeof(head));
		memcpy(bytes + 24, body, sizeof(body));
		used = 56;
		add(RTE_TLV_ACK, "\1\2\3\4\5\6\7\10\11\12\13", len);
		CT_NOTE("%zu bytes", len);
		CT_EXPECT_EQ(parse(), len == 8 ? RTE_OK : RTE_BAD_TLV);
	}
	CT_EXPECT_EQ(any.packet.head.type, RTE_READ_REQ);
}

CT_TEST(wire_tlv, a_text_has_an_end_and_a_beginning)
{
	static char text[RTE_TEXT_MAX + 3];

	memset(text, 'x', sizeof(text));
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, text, 0), RTE_BAD_TEXT);
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, text, 5), RTE_BAD_TEXT);
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, "", 1), RTE_BAD_TEXT);
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, "a\0b", 4), RTE_BAD_TEXT);
	text[RTE_TEXT_MAX] = 0;
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, text, RTE_TEXT_MAX + 1), RTE_OK);
	CT_EXPECT_EQ(strlen(any.packet.options.text[RTE_TLV_SOURCE]), RTE_TEXT_MAX);
	text[RTE_TEXT_MAX] = 'x';
	text[RTE_TEXT_MAX + 1] = 0;
	CT_EXPECT_EQ(one(RTE_TLV_SOURCE, text, RTE_TEXT_MAX + 2), RTE_BAD_TEXT);
}

/* It ends up in a log, on a terminal, or in JSON. Of any length, anywhere, whatever is
 * around. */
CT_TEST(wire_tlv, a_text_has_no_control_characters_and_is_ascii)
{
	static const uint8_t around[] = {'a', ' ', '~', '0'};
	char text[20] = {0};
	size_t k;

	for (size_t len = 1; len < sizeof(text); len++)
		for (size_t at = 0; at < len; at++)
			for (unsigned int c = 0; c < 256; c++) {
				k = (len + at + c) % CRN_COUNT(around);
				memset(text, around[k], len);
				text[at] = (char)c;
				CT_NOTE("character %u at %zu of %zu", c, at, len);
				CT_EXPECT_EQ(one(RTE_TLV_SOURCE, text, len + 1),
					     c < 32 || c >= 127 ? RTE_BAD_TEXT : RTE_OK);
				text[len] = 0;
			}
}

static ssize_t pack(void)
{
	return any_pack(&any, ct_fence_room(RTE_HLEN_MAX), RTE_HLEN_MAX);
}

CT_TEST(wire_tlv, that_would_be_refused_is_not_packed)
{
	struct rte_options *options = &any.packet.options;
	char text[RTE_TEXT_MAX + 2];

	begin();
	CT_ASSERT_EQ(parse(), RTE_OK);
	CT_EXPECT_EQ(pack(), BODY_END);
	options->present = 1 << RTE_TLV_NAME; /* not of a CONN_REQ */
	options->text[RTE_TLV_NAME] = "x";
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->present = 1; /* nothing */
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->present = 1 << RTE_TLVS;
	CT_EXPECT_EQ(pack(), -FI_EINVAL);

	options->present = 1 << RTE_TLV_SOURCE;
	options->text[RTE_TLV_SOURCE] = NULL;
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->text[RTE_TLV_SOURCE] = "";
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->text[RTE_TLV_SOURCE] = "a\n";
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->text[RTE_TLV_SOURCE] = text;
	memset(text, 'x', sizeof(text));
	text[RTE_TEXT_MAX + 1] = 0;
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	text[RTE_TEXT_MAX] = 0;
	CT_EXPECT_EQ(pack(), BODY_END + 264);

	options->present = 1 << RTE_TLV_PATH;
	options->hops = 0;
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->hops = RTE_TTL_MAX + 1;
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->hops = UINT32_MAX;
	CT_EXPECT_EQ(pack(), -FI_EINVAL);
	options->hops = RTE_TTL_MAX;
	CT_EXPECT_EQ(pack(), BODY_END + 264);
}
