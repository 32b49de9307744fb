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
	enum rte_bad want;
	const uint64_t *values;
	size_t count;
};

#define ROW(golden, at, size, want, ...)                                 \
	{                                                                \
		golden, at, size, want, (const uint64_t[]){__VA_ARGS__}, \
			sizeof((const uint64_t[]){__VA_ARGS__}) / 8      \
	}

static const struct row rows[] = {
	/* HELLO: frag_max, eager_max, slots, hb_ms */
	ROW("hello", 40, 4, RTE_BAD_LIMIT, 4095, 16777217, UINT32_MAX),
	ROW("hello", 40, 4, RTE_OK, 4096, 16777216),
	ROW("hello", 44, 4, RTE_OK, 0, 65536),
	ROW("hello", 44, 4, RTE_BAD_LIMIT, 65537, UINT32_MAX),
	ROW("hello", 48, 2, RTE_OK, 4096),
	ROW("hello", 48, 2, RTE_BAD_LIMIT, 4097, 0xffff),
	ROW("hello", 50, 2, RTE_OK, 4096),
	ROW("hello", 50, 2, RTE_BAD_LIMIT, 4097),
	ROW("hello", 52, 2, RTE_OK, 4096),
	ROW("hello", 52, 2, RTE_BAD_LIMIT, 4097),
	ROW("hello", 54, 2, RTE_OK, 4096),
	ROW("hello", 54, 2, RTE_BAD_LIMIT, 0xffff),
	ROW("hello", 56, 4, RTE_OK, 3600000),
	ROW("hello", 56, 4, RTE_BAD_LIMIT, 3600001, UINT32_MAX),
	/* Statuses, with and without RTE_ERR. */
	ROW("hello", 60, 4, RTE_BAD_FLAGS, 1),
	ROW("hello_ack", 60, 4, RTE_BAD_FLAGS, 0),
	ROW("hello_ack", 60, 4, RTE_OK, 4095),
	ROW("hello_ack", 60, 4, RTE_BAD_LIMIT, 4096, UINT32_MAX),
	ROW("bye", 24, 4, RTE_BAD_FLAGS, 0),
	ROW("bye", 24, 4, RTE_BAD_LIMIT, 4096),
	ROW("conn_ack", 40, 4, RTE_BAD_FLAGS, 0),
	ROW("conn_ack", 40, 4, RTE_BAD_LIMIT, 4096),
	ROW("shutdown", 48, 4, RTE_BAD_FLAGS, 1),
	ROW("shutdown", 48, 4, RTE_BAD_LIMIT, 4096),
	ROW("nack", 40, 4, RTE_BAD_VALUE, 0),
	ROW("nack", 40, 4, RTE_OK, 4095),
	ROW("nack", 40, 4, RTE_BAD_LIMIT, 4096),
	ROW("mr_info", 80, 4, RTE_BAD_FLAGS, 1),
	ROW("mr_info", 80, 4, RTE_BAD_LIMIT, 4096),
	/* AUTH: the step */
	ROW("auth", 28, 1, RTE_BAD_VALUE, 0, 3, 255),
	ROW("auth", 28, 1, RTE_OK, 1),
	/* CONN_REQ: ttl, frag, eager, timeout */
	ROW("conn_req", 72, 1, RTE_OK, 0),
	ROW("conn_req", 72, 1, RTE_BAD_LIMIT, 17, 255),
	ROW("conn_req", 76, 4, RTE_BAD_LIMIT, 4095, 16777217),
	ROW("conn_req", 76, 4, RTE_OK, 4096, 16777216),
	ROW("conn_req", 80, 4, RTE_OK, 65536),
	ROW("conn_req", 80, 4, RTE_BAD_LIMIT, 65537, UINT32_MAX),
	ROW("conn_req", 84, 4, RTE_OK, 3600000),
	ROW("conn_req", 84, 4, RTE_BAD_LIMIT, 3600001, UINT32_MAX),
	/* CONN_REP: status, verdict, sizes */
	ROW("conn_rep", 40, 4, RTE_BAD_VALUE, 1),
	ROW("conn_rep", 44, 1, RTE_BAD_VALUE, 0, RTE_REJECTED, RTE_FAILED, RTE_REDIRECT,
	    5),
	ROW("conn_rep", 76, 4, RTE_BAD_LIMIT, 4095, 16777217),
	ROW("conn_rep", 80, 4, RTE_BAD_LIMIT, 65537),
	ROW("conn_rep_redirect", 40, 4, RTE_BAD_VALUE, 0),
	ROW("conn_rep_redirect", 40, 4, RTE_BAD_LIMIT, 4096),
	ROW("conn_rep_redirect", 44, 1, RTE_BAD_VALUE, RTE_ACCEPTED, RTE_REJECTED,
	    RTE_FAILED),
	ROW("conn_rep_redirect", 76, 4, RTE_OK, 4095),
	/* The length of PROBE; a type that nobody knows is passed over. */
	ROW("conn_rep_probe", 90, 2, RTE_BAD_TLV, 15, 17),
	ROW("conn_rep_probe", 88, 2, RTE_OK, 9),
	/* LSA: lifetime, total, offset, links, as, router */
	ROW("lsa", 56, 4, RTE_OK, 3600000),
	ROW("lsa", 56, 4, RTE_BAD_LIMIT, 3600001, UINT32_MAX),
	ROW("lsa", 64, 4, RTE_BAD_RANGE, 135),
	ROW("lsa", 64, 4, RTE_BAD_FLAGS, 137, 327680),
	ROW("lsa", 64, 4, RTE_BAD_LIMIT, 327681, UINT32_MAX),
	ROW("lsa", 68, 4, RTE_BAD_RANGE, 1, UINT32_MAX),
	ROW("lsa", 72, 2, RTE_OK, 64), /* rte_lsa_parse counts */
	ROW("lsa", 72, 2, RTE_BAD_LIMIT, 65, 0xffff),
	ROW("lsa", 24, 4, RTE_BAD_VALUE, 0),
	ROW("lsa", 32, 8, RTE_BAD_VALUE, 0),
	ROW("lsa_piece", 68, 4, RTE_BAD_FLAGS, 0, 56),
	ROW("lsa_piece", 68, 4, RTE_BAD_RANGE, 65, 73),
	ROW("lsa_piece", 64, 4, RTE_BAD_RANGE, 0),
	/* MSG and its like: slot, length, offset */
	ROW("msg_slot", 24, 4, RTE_OK, 4095),
	ROW("msg_slot", 24, 4, RTE_BAD_LIMIT, 4096, UINT32_MAX - 1),
	ROW("msg_slot", 24, 4, RTE_BAD_SHORT, UINT32_MAX),
	ROW("msg", 24, 4, RTE_BAD_PLEN, 0),
	ROW("msg_slot", 12, 4, RTE_OK, 16777216),
	ROW("msg_slot", 12, 4, RTE_BAD_LIMIT, 16777217, UINT32_MAX),
	ROW("msg_slot", 12, 4, RTE_BAD_RANGE, 0),
	ROW("msg", 32, 8, RTE_BAD_RANGE, 2, 0),
	ROW("msg", 32, 8, RTE_BAD_FLAGS, 4, UINT64_MAX),
	ROW("msg", 40, 8, RTE_BAD_RANGE, 1, 3, 4, UINT64_MAX),
	ROW("msg_slot", 40, 8, RTE_BAD_FLAGS, 0, 0x1112131415161718 - 0x40000),
	ROW("msg_slot", 40, 8, RTE_OK, 0x1112131415161718 - 0x40001),
	ROW("msg_slot", 40, 8, RTE_BAD_RANGE, 0x1112131415161718 - 0x3ffff),
	ROW("write", 56, 8, RTE_OK, UINT64_MAX - 0x0100000000001800),
	ROW("write", 56, 8, RTE_BAD_RANGE, UINT64_MAX - 0x01000000000017ff, UINT64_MAX),
	ROW("write", 24, 4, RTE_BAD_LIMIT, 4096),
	ROW("write", 40, 8, RTE_BAD_RANGE, 0x0100000000000801),
	ROW("read_frag", 24, 4, RTE_BAD_LIMIT, 4096),
	ROW("read_frag", 40, 8, RTE_BAD_FLAGS, 1),
	ROW("read_frag", 32, 8, RTE_BAD_RANGE, 0x1fff),
	ROW("read_frag", 32, 8, RTE_BAD_FLAGS, 0x2000),
	/* READ_REQ: length, addr, window, frag */
	ROW("read_req", 24, 8, RTE_BAD_RANGE, 0, UINT64_MAX),
	ROW("read_req", 32, 8, RTE_OK, UINT64_MAX - 0x1112131415161718),
	ROW("read_req", 32, 8, RTE_BAD_RANGE, UINT64_MAX - 0x1112131415161717),
	ROW("read_req", 48, 4, RTE_BAD_LIMIT, 0, 4097, UINT32_MAX),
	ROW("read_req", 48, 4, RTE_OK, 4096),
	ROW("read_req", 52, 4, RTE_BAD_LIMIT, 0, 16777217),
	ROW("read_req", 52, 4, RTE_OK, 1, 16777216),
	/* MR_INFO: length, persistence */
	ROW("mr_info", 56, 8, RTE_OK, UINT64_MAX - 0x3132333435363738),
	ROW("mr_info", 56, 8, RTE_BAD_RANGE, UINT64_MAX - 0x3132333435363737),
	ROW("mr_info", 76, 1, RTE_OK, 0),
	ROW("mr_info", 76, 1, RTE_BAD_VALUE, 3, 255),
};

static const struct golden *named(const char *name)
{
	size_t i;

	for (i = 0; strcmp(golden_at(i)->name, name); i++)
		;
	return golden_at(i);
}

static void bound(const struct row *row, uint64_t value)
{
	const struct golden *golden = named(row->golden);
	static uint8_t bytes[512];

	memcpy(bytes, golden->bytes, golden->len);
	for (size_t k = 0; k < row->size; k++)
		bytes[row->at + k] = (uint8_t)(value >> 8 * k);
	CT_NOTE("%s, byte %u: %llu", row->golden, row->at, (unsigned long long)value);
	CT_EXPECT_EQ(any_parse(&any, ct_fence_copy(bytes, golden->len), golden->len),
		     row->want);
	/* The same values, to be packed. */
	if (row->want == RTE_BAD_SHORT || row->want == RTE_BAD_PLEN)
		return;
	if (any_kind(bytes[2])->parse(&any) == RTE_OK)
		CT_EXPECT_GT(any_pack(&any, bytes, sizeof(bytes)), 0);
	else
		CT_EXPECT_EQ(any_pack(&any, bytes, sizeof(bytes)), -FI_EINVAL);
}

CT_TEST(wire_value, is_within_its_bounds)
{
	for (size_t i = 0; i < CRN_COUNT(rows); i++)
		for (size_t k = 0; k < rows[i].count; k++)
			bound(&rows[i], rows[i].values[k]);
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
	static const uint8_t bytes[56] = {HEAD(0x30, 0x03, 56, 0), 0xff, 0xff, 0xff,
					  0xff};
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
