/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers at their bounds, above them, and at the end of their type; in both directions.
 */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "golden.h"

static struct any any;

struct row {
	const char *golden;
	uint16_t at; /* byte */
	uint8_t size;
	uint64_t value;
	enum rte_bad want;
};

static const struct row rows[] = {
	/* HELLO: frag_max, eager_max, slots, hb_ms */
	{"hello", 40, 4, 4095, RTE_BAD_LIMIT},
	{"hello", 40, 4, 4096, RTE_OK},
	{"hello", 40, 4, 16777216, RTE_OK},
	{"hello", 40, 4, 16777217, RTE_BAD_LIMIT},
	{"hello", 40, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"hello", 44, 4, 0, RTE_OK},
	{"hello", 44, 4, 65536, RTE_OK},
	{"hello", 44, 4, 65537, RTE_BAD_LIMIT},
	{"hello", 44, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"hello", 48, 2, 4096, RTE_OK},
	{"hello", 48, 2, 4097, RTE_BAD_LIMIT},
	{"hello", 48, 2, 0xffff, RTE_BAD_LIMIT},
	{"hello", 50, 2, 4096, RTE_OK},
	{"hello", 50, 2, 4097, RTE_BAD_LIMIT},
	{"hello", 52, 2, 4096, RTE_OK},
	{"hello", 52, 2, 4097, RTE_BAD_LIMIT},
	{"hello", 54, 2, 4096, RTE_OK},
	{"hello", 54, 2, 0xffff, RTE_BAD_LIMIT},
	{"hello", 56, 4, 3600000, RTE_OK},
	{"hello", 56, 4, 3600001, RTE_BAD_LIMIT},
	{"hello", 56, 4, UINT32_MAX, RTE_BAD_LIMIT},
	/* Statuses, with and without RTE_ERR. */
	{"hello", 60, 4, 1, RTE_BAD_FLAGS},
	{"hello_ack", 60, 4, 0, RTE_BAD_FLAGS},
	{"hello_ack", 60, 4, 4095, RTE_OK},
	{"hello_ack", 60, 4, 4096, RTE_BAD_LIMIT},
	{"hello_ack", 60, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"bye", 24, 4, 0, RTE_BAD_FLAGS},
	{"bye", 24, 4, 4096, RTE_BAD_LIMIT},
	{"conn_ack", 40, 4, 0, RTE_BAD_FLAGS},
	{"conn_ack", 40, 4, 4096, RTE_BAD_LIMIT},
	{"shutdown", 48, 4, 1, RTE_BAD_FLAGS},
	{"shutdown", 48, 4, 4096, RTE_BAD_LIMIT},
	{"nack", 40, 4, 0, RTE_BAD_VALUE},
	{"nack", 40, 4, 4095, RTE_OK},
	{"nack", 40, 4, 4096, RTE_BAD_LIMIT},
	{"mr_info", 80, 4, 1, RTE_BAD_FLAGS},
	{"mr_info", 80, 4, 4096, RTE_BAD_LIMIT},
	/* AUTH: the step */
	{"auth", 28, 1, 0, RTE_BAD_VALUE},
	{"auth", 28, 1, 1, RTE_OK},
	{"auth", 28, 1, 3, RTE_BAD_VALUE},
	{"auth", 28, 1, 255, RTE_BAD_VALUE},
	/* CONN_REQ: ttl, frag, eager, timeout */
	{"conn_req", 72, 1, 0, RTE_OK},
	{"conn_req", 72, 1, 17, RTE_BAD_LIMIT},
	{"conn_req", 72, 1, 255, RTE_BAD_LIMIT},
	{"conn_req", 76, 4, 4095, RTE_BAD_LIMIT},
	{"conn_req", 76, 4, 4096, RTE_OK},
	{"conn_req", 76, 4, 16777216, RTE_OK},
	{"conn_req", 76, 4, 16777217, RTE_BAD_LIMIT},
	{"conn_req", 80, 4, 65536, RTE_OK},
	{"conn_req", 80, 4, 65537, RTE_BAD_LIMIT},
	{"conn_req", 80, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"conn_req", 84, 4, 3600000, RTE_OK},
	{"conn_req", 84, 4, 3600001, RTE_BAD_LIMIT},
	{"conn_req", 84, 4, UINT32_MAX, RTE_BAD_LIMIT},
	/* CONN_REP: status, verdict, sizes */
	{"conn_rep", 40, 4, 1, RTE_BAD_VALUE},
	{"conn_rep", 44, 1, 0, RTE_BAD_VALUE},
	{"conn_rep", 44, 1, RTE_REJECTED, RTE_BAD_VALUE},
	{"conn_rep", 44, 1, RTE_FAILED, RTE_BAD_VALUE},
	{"conn_rep", 44, 1, RTE_REDIRECT, RTE_BAD_VALUE},
	{"conn_rep", 44, 1, 5, RTE_BAD_VALUE},
	{"conn_rep", 76, 4, 4095, RTE_BAD_LIMIT},
	{"conn_rep", 76, 4, 16777217, RTE_BAD_LIMIT},
	{"conn_rep", 80, 4, 65537, RTE_BAD_LIMIT},
	{"conn_rep_redirect", 40, 4, 0, RTE_BAD_VALUE},
	{"conn_rep_redirect", 40, 4, 4096, RTE_BAD_LIMIT},
	{"conn_rep_redirect", 44, 1, RTE_ACCEPTED, RTE_BAD_VALUE},
	{"conn_rep_redirect", 44, 1, RTE_REJECTED, RTE_BAD_VALUE},
	{"conn_rep_redirect", 44, 1, RTE_FAILED, RTE_BAD_VALUE},
	{"conn_rep_redirect", 76, 4, 4095, RTE_OK},
	/* The length of PROBE; a type that nobody knows is passed over. */
	{"conn_rep_probe", 90, 2, 15, RTE_BAD_TLV},
	{"conn_rep_probe", 90, 2, 17, RTE_BAD_TLV},
	{"conn_rep_probe", 88, 2, 9, RTE_OK},
	/* LSA: lifetime, total, offset, links, as, router */
	{"lsa", 56, 4, 3600000, RTE_OK},
	{"lsa", 56, 4, 3600001, RTE_BAD_LIMIT},
	{"lsa", 56, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"lsa", 64, 4, 135, RTE_BAD_RANGE},
	{"lsa", 64, 4, 137, RTE_BAD_FLAGS},
	{"lsa", 64, 4, 327680, RTE_BAD_FLAGS},
	{"lsa", 64, 4, 327681, RTE_BAD_LIMIT},
	{"lsa", 64, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"lsa", 68, 4, 1, RTE_BAD_RANGE},
	{"lsa", 68, 4, UINT32_MAX, RTE_BAD_RANGE},
	{"lsa", 72, 2, 64, RTE_OK}, /* rte_lsa_parse counts */
	{"lsa", 72, 2, 65, RTE_BAD_LIMIT},
	{"lsa", 72, 2, 0xffff, RTE_BAD_LIMIT},
	{"lsa", 24, 4, 0, RTE_BAD_VALUE},
	{"lsa", 32, 8, 0, RTE_BAD_VALUE},
	{"lsa_piece", 68, 4, 0, RTE_BAD_FLAGS},
	{"lsa_piece", 68, 4, 56, RTE_BAD_FLAGS},
	{"lsa_piece", 68, 4, 65, RTE_BAD_RANGE},
	{"lsa_piece", 68, 4, 73, RTE_BAD_RANGE},
	{"lsa_piece", 64, 4, 0, RTE_BAD_RANGE},
	/* MSG and its like: slot, length, offset */
	{"msg_slot", 24, 4, 4095, RTE_OK},
	{"msg_slot", 24, 4, 4096, RTE_BAD_LIMIT},
	{"msg_slot", 24, 4, UINT32_MAX - 1, RTE_BAD_LIMIT},
	{"msg_slot", 24, 4, UINT32_MAX, RTE_BAD_SHORT},
	{"msg", 24, 4, 0, RTE_BAD_PLEN},
	{"msg_slot", 12, 4, 16777216, RTE_OK},
	{"msg_slot", 12, 4, 16777217, RTE_BAD_LIMIT},
	{"msg_slot", 12, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"msg_slot", 12, 4, 0, RTE_BAD_RANGE},
	{"msg", 32, 8, 2, RTE_BAD_RANGE},
	{"msg", 32, 8, 4, RTE_BAD_FLAGS},
	{"msg", 32, 8, UINT64_MAX, RTE_BAD_FLAGS},
	{"msg", 32, 8, 0, RTE_BAD_RANGE},
	{"msg", 40, 8, 1, RTE_BAD_RANGE},
	{"msg", 40, 8, 3, RTE_BAD_RANGE},
	{"msg", 40, 8, 4, RTE_BAD_RANGE},
	{"msg", 40, 8, UINT64_MAX, RTE_BAD_RANGE},
	{"msg_slot", 40, 8, 0, RTE_BAD_FLAGS},
	{"msg_slot", 40, 8, 0x1112131415161718 - 0x40000, RTE_BAD_FLAGS},
	{"msg_slot", 40, 8, 0x1112131415161718 - 0x40001, RTE_OK},
	{"msg_slot", 40, 8, 0x1112131415161718 - 0x3ffff, RTE_BAD_RANGE},
	{"write", 56, 8, UINT64_MAX - 0x0100000000001800, RTE_OK},
	{"write", 56, 8, UINT64_MAX - 0x01000000000017ff, RTE_BAD_RANGE},
	{"write", 56, 8, UINT64_MAX, RTE_BAD_RANGE},
	{"write", 24, 4, 4096, RTE_BAD_LIMIT},
	{"write", 40, 8, 0x0100000000000801, RTE_BAD_RANGE},
	{"read_frag", 24, 4, 4096, RTE_BAD_LIMIT},
	{"read_frag", 40, 8, 1, RTE_BAD_FLAGS},
	{"read_frag", 32, 8, 0x1fff, RTE_BAD_RANGE},
	{"read_frag", 32, 8, 0x2000, RTE_BAD_FLAGS},
	/* READ_REQ: length, addr, window, frag */
	{"read_req", 24, 8, 0, RTE_BAD_RANGE},
	{"read_req", 24, 8, UINT64_MAX, RTE_BAD_RANGE},
	{"read_req", 32, 8, UINT64_MAX - 0x1112131415161718, RTE_OK},
	{"read_req", 32, 8, UINT64_MAX - 0x1112131415161717, RTE_BAD_RANGE},
	{"read_req", 48, 4, 0, RTE_BAD_LIMIT},
	{"read_req", 48, 4, 4096, RTE_OK},
	{"read_req", 48, 4, 4097, RTE_BAD_LIMIT},
	{"read_req", 48, 4, UINT32_MAX, RTE_BAD_LIMIT},
	{"read_req", 52, 4, 0, RTE_BAD_LIMIT},
	{"read_req", 52, 4, 1, RTE_OK},
	{"read_req", 52, 4, 16777216, RTE_OK},
	{"read_req", 52, 4, 16777217, RTE_BAD_LIMIT},
	/* MR_INFO: length, persistence */
	{"mr_info", 56, 8, UINT64_MAX - 0x3132333435363738, RTE_OK},
	{"mr_info", 56, 8, UINT64_MAX - 0x3132333435363737, RTE_BAD_RANGE},
	{"mr_info", 76, 1, 0, RTE_OK},
	{"mr_info", 76, 1, 3, RTE_BAD_VALUE},
	{"mr_info", 76, 1, 255, RTE_BAD_VALUE},
};

static const struct golden *named(const char *name)
{
	size_t i;

	for (i = 0; strcmp(golden_at(i)->name, name); i++)
		;
	return golden_at(i);
}

CT_TEST(wire_value, is_within_its_bounds)
{
	static uint8_t bytes[512];
	const struct golden *golden;
	const struct row *row;

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		row = &rows[i];
		golden = named(row->golden);
		memcpy(bytes, golden->bytes, golden->len);
		for (size_t k = 0; k < row->size; k++)
			bytes[row->at + k] = (uint8_t)(row->value >> 8 * k);
		CT_NOTE("%s, byte %u: %llu", row->golden, row->at,
			(unsigned long long)row->value);
		CT_EXPECT_EQ(any_parse(&any, ct_fence_copy(bytes, golden->len),
				       golden->len),
			     row->want);
		/* The same values, to be packed. */
		if (row->want == RTE_BAD_SHORT || row->want == RTE_BAD_PLEN)
			continue;
		if (any_kind(bytes[2])->parse(&any) == RTE_OK)
			CT_EXPECT_GT(any_pack(&any, bytes, sizeof(bytes)), 0);
		else
			CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
	}
}

/* Of an acknowledgement that nobody asked for. */
CT_TEST(wire_value, levels_of_completion_need_an_acknowledgement)
{
	static const uint8_t flags[] = {RTE_COMMIT, RTE_DELIVER,
					RTE_COMMIT | RTE_DELIVER};
	const struct golden *golden = named("msg");
	static uint8_t bytes[512];

	for (size_t i = 0; i < CRN_COUNT(flags); i++) {
		memcpy(bytes, golden->bytes, golden->len);
		bytes[3] = RTE_FIRST | RTE_LAST | flags[i];
		CT_EXPECT_EQ(any_parse(&any, bytes, golden->len), RTE_BAD_FLAGS);
		golden_fill(golden, &any);
		any.packet.head.flags = bytes[3];
		CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
		bytes[3] |= RTE_ACKREQ;
		any.packet.head.flags |= RTE_ACKREQ;
		CT_EXPECT_EQ(any_parse(&any, bytes, golden->len), RTE_OK);
		CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), 72);
	}
}

CT_TEST(wire_value, an_empty_message_is_first_and_last)
{
	static const uint8_t bytes[] = {HEAD(0x30, 0x03, 56, 0),
					0xff,
					0xff,
					0xff,
					0xff,
					ZERO4,
					ZERO4,
					ZERO4,
					ZERO4,
					ZERO4,
					ZERO4,
					ZERO4};
	uint8_t other[sizeof(bytes)];

	CT_EXPECT_EQ(any_parse(&any, bytes, sizeof(bytes)), RTE_OK);
	CT_EXPECT_EQ(any.body.msg.length, 0);
	memcpy(other, bytes, sizeof(bytes));
	other[3] = RTE_FIRST;
	CT_EXPECT_EQ(any_parse(&any, other, sizeof(other)), RTE_BAD_FLAGS);
	other[3] = RTE_LAST;
	CT_EXPECT_EQ(any_parse(&any, other, sizeof(other)), RTE_BAD_FLAGS);
}

/* What a Send may bring, and what is not written into a slot before. */
CT_TEST(wire_value, data_in_a_send_is_bounded)
{
	static uint8_t bytes[56 + RTE_EAGER_MAX + 1] = {
		HEAD(0x30, 0x03, 56, RTE_EAGER_MAX), 0xff, 0xff, 0xff, 0xff, ZERO4,
		U64((uint64_t)RTE_EAGER_MAX)};

	CT_EXPECT_EQ(any_parse(&any, bytes, sizeof(bytes) - 1), RTE_OK);
	bytes[12] = bytes[32] = 1;
	CT_EXPECT_EQ(any_parse(&any, bytes, sizeof(bytes)), RTE_BAD_LIMIT);
	CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
}

CT_TEST(wire_value, data_of_the_application_is_bounded)
{
	static uint8_t param[RTE_PARAM_MAX + 1];
	static uint8_t bytes[2048];
	ssize_t len;

	golden_fill(named("conn_req"), &any);
	any.packet.payload = param;
	any.packet.head.plen = RTE_PARAM_MAX;
	len = any_pack(&any, bytes, sizeof(bytes));
	CT_EXPECT_EQ(len, 192 + RTE_PARAM_MAX);
	CT_EXPECT_EQ(any_parse(&any, bytes, (size_t)len), RTE_OK);
	any.packet.head.plen++;
	CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
	any.packet.head.plen = UINT32_MAX;
	CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
	any.packet.head.plen = 1;
	any.packet.payload = NULL;
	CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
}

/* A refusal of the application, and one of a router. */
CT_TEST(wire_value, a_verdict_and_its_status_go_together)
{
	static uint8_t bytes[512];

	golden_fill(named("conn_rep_redirect"), &any);
	any.packet.options.present = 0;
	for (size_t i = RTE_REJECTED; i <= RTE_FAILED; i++) {
		any.body.conn_rep.verdict = (uint8_t)i;
		CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), 88);
		CT_EXPECT_EQ(any_parse(&any, bytes, 88), RTE_OK);
	}
	any.body.conn_rep.verdict = RTE_REDIRECT;
	CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
}
