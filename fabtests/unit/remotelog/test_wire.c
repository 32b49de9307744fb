/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "wire.h"

static const struct rlg_hello hello = {RLG_COMPOUND, RLG_SEND, RLG_RPC, 100, 7, true};
static const struct rlg_welcome welcome = {.layout = {RLG_SINGLETON, 100, 50, 0xfeed},
					   .base = 0x7f0000001000,
					   .key = 0x8000000000000001,
					   .head = 51,
					   .next = 60,
					   .rpma_port = 7472};

CT_TEST(wire, a_hello_arrives_as_it_was_sent)
{
	uint8_t bytes[RLG_MESSAGE_MAX];
	const size_t len = rlg_hello_pack(bytes, &hello);
	struct rlg_hello got;

	CT_ASSERT_LE(len, RLG_MESSAGE_MAX);
	CT_ASSERT_TRUE(rlg_hello_parse(bytes, len, &got));
	CT_EXPECT_EQ(got.kind, RLG_COMPOUND);
	CT_EXPECT_EQ(got.op, RLG_SEND);
	CT_EXPECT_EQ(got.method, RLG_RPC);
	CT_EXPECT_EQ(got.payload, 100u);
	CT_EXPECT_EQ(got.depth, 7u);
	CT_EXPECT_TRUE(got.anew);
	CT_EXPECT_FALSE(rlg_hello_parse(bytes, len - 1, &got));
}

CT_TEST(wire, a_hello_of_another_version_is_not_understood)
{
	uint8_t bytes[RLG_MESSAGE_MAX];
	const size_t len = rlg_hello_pack(bytes, &hello);
	struct rlg_hello got;

	rlg_put32(bytes + 4, RLG_WIRE_VERSION + 1);
	CT_EXPECT_FALSE(rlg_hello_parse(bytes, len, &got));
}

CT_TEST(wire, a_hello_names_only_what_there_is)
{
	/* kind, operation, method, payload and depth that cannot be */
	static const uint32_t bad[][2] = {
		{16, 0},	   {16, 3}, {20, RLG_OPS},
		{24, RLG_METHODS}, {28, 0}, {28, RLG_PAYLOAD_MAX + 1},
		{32, 0},
	};
	uint8_t bytes[RLG_MESSAGE_MAX];
	struct rlg_hello got;
	size_t len;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		len = rlg_hello_pack(bytes, &hello);
		rlg_put32(bytes + bad[i][0], bad[i][1]);
		CT_NOTE("%u at %u", bad[i][1], bad[i][0]);
		CT_EXPECT_FALSE(rlg_hello_parse(bytes, len, &got));
	}
}

CT_TEST(wire, a_welcome_arrives_as_it_was_sent)
{
	uint8_t bytes[RLG_MESSAGE_MAX];
	const size_t len = rlg_welcome_pack(bytes, &welcome);
	struct rlg_welcome got;

	CT_ASSERT_LE(len, RLG_MESSAGE_MAX);
	CT_ASSERT_TRUE(rlg_welcome_parse(bytes, len, &got));
	CT_EXPECT_EQ(got.refusal, RLG_ACCEPTED);
	CT_EXPECT_EQ(got.layout.kind, RLG_SINGLETON);
	CT_EXPECT_EQ(got.layout.payload, 100u);
	CT_EXPECT_EQ(got.layout.slots, 50u);
	CT_EXPECT_EQ(got.layout.identity, 0xfeedu);
	CT_EXPECT_EQ(got.base, 0x7f0000001000u);
	CT_EXPECT_EQ(got.key, 0x8000000000000001u);
	CT_EXPECT_EQ(got.head, 51u);
	CT_EXPECT_EQ(got.next, 60u);
	CT_EXPECT_EQ(got.rpma_port, 7472u);
	CT_EXPECT_FALSE(rlg_welcome_parse(bytes, len - 1, &got));
}

CT_TEST(wire, a_welcome_without_a_log_is_not_understood)
{
	struct rlg_welcome bad = welcome, got;
	uint8_t bytes[RLG_MESSAGE_MAX];

	bad.layout.slots = 0;
	CT_EXPECT_FALSE(rlg_welcome_parse(bytes, rlg_welcome_pack(bytes, &bad), &got));
	bad = welcome;
	bad.rpma_port = 65536;
	CT_EXPECT_FALSE(rlg_welcome_parse(bytes, rlg_welcome_pack(bytes, &bad), &got));
	bad = welcome;
	bad.next = bad.head - 1;
	CT_EXPECT_FALSE(rlg_welcome_parse(bytes, rlg_welcome_pack(bytes, &bad), &got));
	bad.next = bad.head + 51;
	CT_EXPECT_FALSE(rlg_welcome_parse(bytes, rlg_welcome_pack(bytes, &bad), &got));
}

CT_TEST(wire, a_refusal_needs_no_log_and_has_a_text)
{
	const struct rlg_welcome refusal = {.refusal = RLG_TOO_SMALL};
	uint8_t bytes[RLG_MESSAGE_MAX];
	struct rlg_welcome got;

	CT_ASSERT_TRUE(rlg_welcome_parse(bytes, rlg_welcome_pack(bytes, &refusal), &got));
	CT_EXPECT_EQ(got.refusal, RLG_TOO_SMALL);
	CT_EXPECT_NE(rlg_refusal_text(got.refusal), NULL);
}

CT_TEST(wire, what_is_no_message_is_not_understood)
{
	const struct rlg_message message = {RLG_MSG_ASK, 1, 99};
	uint8_t bytes[RLG_MESSAGE_MAX];
	struct rlg_message got;

	CT_EXPECT_TRUE(rlg_message_parse(bytes, rlg_message_pack(bytes, &message), &got));
	CT_EXPECT_EQ(got.type, RLG_MSG_ASK);
	CT_EXPECT_EQ(got.number, 99u);
	CT_EXPECT_FALSE(rlg_message_parse(bytes, RLG_MESSAGE - 1, &got));
	bytes[0] = 0;
	CT_EXPECT_FALSE(rlg_message_parse(bytes, RLG_MESSAGE, &got));
	bytes[0] = RLG_MSG_BYE + 1;
	CT_EXPECT_FALSE(rlg_message_parse(bytes, RLG_MESSAGE, &got));
}

CT_TEST(wire, remote_data_says_which_record_and_whether_the_tail)
{
	CT_EXPECT_EQ(rlg_imm(5, false), 5u);
	CT_EXPECT_EQ(rlg_imm(0x180000005, true), 0x80000005u);
}
