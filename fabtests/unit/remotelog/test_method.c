/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "method.h"

/* What the tables of the taxonomy have, "!" fenced, "*" FI_COMMIT_COMPLETE. */
static const struct {
	enum rlg_kind kind;
	enum rlg_op op;
	enum rlg_method method;
	const char *text;
} methods[] = {
	{RLG_SINGLETON, RLG_WRITE, RLG_AUTO, "W* C"},
	{RLG_SINGLETON, RLG_WRITE, RLG_FORCED, "W* C"},
	{RLG_SINGLETON, RLG_WRITE, RLG_NONE, "W C"},
	{RLG_SINGLETON, RLG_WRITE, RLG_READ, "W F C"},
	{RLG_SINGLETON, RLG_WRITE, RLG_RPC, "W S A"},
	{RLG_SINGLETON, RLG_WRITEDATA, RLG_AUTO, "WI* C"},
	{RLG_SINGLETON, RLG_WRITEDATA, RLG_READ, "WI F C"},
	{RLG_SINGLETON, RLG_WRITEDATA, RLG_RPC, "WI A"},
	{RLG_SINGLETON, RLG_SEND, RLG_AUTO, "S* C"},
	{RLG_SINGLETON, RLG_SEND, RLG_READ, "S F C"},
	{RLG_SINGLETON, RLG_SEND, RLG_RPC, "S A"},
	{RLG_COMPOUND, RLG_WRITE, RLG_AUTO, "W W!* C"},
	{RLG_COMPOUND, RLG_WRITE, RLG_NONE, "W W C"},
	{RLG_COMPOUND, RLG_WRITE, RLG_READ, "W F C W F C"},
	{RLG_COMPOUND, RLG_WRITE, RLG_PIPELINE, "W W F C"},
	{RLG_COMPOUND, RLG_WRITE, RLG_RPC, "W S A W S A"},
	{RLG_COMPOUND, RLG_WRITEDATA, RLG_RPC, "WI A WI A"},
	{RLG_COMPOUND, RLG_SEND, RLG_AUTO, "S* S!* C"},
	{RLG_COMPOUND, RLG_SEND, RLG_PIPELINE, "S S F C"},
	{RLG_COMPOUND, RLG_SEND, RLG_RPC, "S A"},
	{RLG_SINGLETON, RLG_WRITE, RLG_LIBRPMA, "W F C"},
	{RLG_COMPOUND, RLG_WRITE, RLG_LIBRPMA, "W F AW F C"},
};

CT_TEST(method, an_append_is_what_the_tables_say)
{
	const uint8_t *acts;
	char text[48];

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		CT_NOTE("%zu, %s", i, methods[i].text);
		acts = rlg_acts(methods[i].kind, methods[i].op, methods[i].method);
		CT_ASSERT_NE(acts, NULL);
		CT_EXPECT_STREQ(rlg_acts_text(acts, methods[i].op, text, sizeof(text)),
				methods[i].text);
	}
}

CT_TEST(method, every_append_ends_with_something_to_wait_for)
{
	const uint8_t *acts;
	int last;

	for (int kind = RLG_SINGLETON; kind <= RLG_COMPOUND; kind++)
		for (int op = 0; op < RLG_OPS; op++)
			for (int method = 0; method < RLG_METHODS; method++) {
				acts = rlg_acts((enum rlg_kind)kind, (enum rlg_op)op,
						(enum rlg_method)method);
				if (!acts)
					continue;
				for (last = 0; last + 1 < RLG_ACTS && acts[last + 1];)
					last++;
				CT_NOTE("%d %d %d", kind, op, method);
				CT_EXPECT_NE(acts[last] & (RLG_WAIT | RLG_ANSWER), 0);
				CT_EXPECT_EQ(acts[RLG_ACTS - 1], 0);
			}
}

CT_TEST(method, one_update_cannot_be_pipelined)
{
	CT_EXPECT_EQ(rlg_acts(RLG_SINGLETON, RLG_WRITE, RLG_PIPELINE), NULL);
}

CT_TEST(method, librpma_writes_only)
{
	CT_EXPECT_EQ(rlg_acts(RLG_SINGLETON, RLG_SEND, RLG_LIBRPMA), NULL);
	CT_EXPECT_EQ(rlg_acts(RLG_COMPOUND, RLG_WRITEDATA, RLG_LIBRPMA), NULL);
}
