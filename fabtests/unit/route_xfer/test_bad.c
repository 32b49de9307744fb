/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer that breaks the protocol. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"
#include "say.h"

#define KEY 0x77

static struct fake fake;
static uint8_t memory[5000];
static struct crn_mr mr;

/* It has sent: 1: a message, 2: a write, 3: a read of 2000 bytes, all of them; and 4: a
 * long write, of which one fragment, 5: a message, nothing. */
static void begin(void)
{
	static uint8_t from[20000];

	fake_open(&fake, true, false);
	fake_region(&fake.a, &mr, memory, sizeof(memory), KEY,
		    FI_REMOTE_READ | FI_REMOTE_WRITE);
	fake_start(&fake);
	CT_EXPECT_EQ(fake_recv(&fake.a, memory, 100, memory), 0);
	CT_EXPECT_EQ(fake_recv(&fake.a, memory, 100, memory), 0);
	fake.a.credits[RTE_REQUESTS] = 4;
	fake.a.slots[RTE_REQUESTS] = 0;
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, from, 0), 0);
	CT_EXPECT_EQ(fake_read(&fake.a, from, 2000, 0, KEY, from), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 20000, 0, KEY, from, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, 0), 0);
	CT_EXPECT_EQ(fake.a.out_count, 4);
}

static const struct {
	const char *what;
	struct said said[4];
	bool good;
} rows[] = {
	{"a message", {{RTE_MSG, WHOLE, .seq = 1}}, true},
	{"the second first", {{RTE_MSG, WHOLE, .seq = 2}}, false},
	{"number 0", {{RTE_MSG, WHOLE, .seq = 0}}, false},
	{"the same twice",
	 {{RTE_MSG, WHOLE, .seq = 1}, {RTE_MSG, WHOLE, .seq = 1}},
	 false},
	{"one is missing",
	 {{RTE_MSG, WHOLE, .seq = 1}, {RTE_MSG, WHOLE, .seq = 3}},
	 false},
	{"a write out of order", {{RTE_WRITE, WHOLE, .seq = 2}}, false},
	{"a read out of order", {{RTE_READ_REQ, .seq = 2, .length = 1}}, false},
	{"a read", {{RTE_READ_REQ, .seq = 1, .length = 1, .key = KEY}}, true},
	{"a read twice",
	 {{RTE_READ_REQ, .seq = 1, .length = 1, .key = KEY},
	  {RTE_READ_REQ, .seq = 1, .length = 1, .key = KEY}},
	 false},
	{"two fragments",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST, .seq = 1, .length = 10, .offset = 4, .plen = 6}},
	 true},
	{"a fragment of nothing",
	 {{RTE_MSG, RTE_LAST, .seq = 1, .length = 10, .offset = 4, .plen = 6}},
	 false},
	{"a gap",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST, .seq = 1, .length = 10, .offset = 5, .plen = 5}},
	 false},
	{"an overlap",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST, .seq = 1, .length = 10, .offset = 3, .plen = 7}},
	 false},
	{"another length",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST, .seq = 1, .length = 11, .offset = 4, .plen = 7}},
	 false},
	{"another number",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST, .seq = 2, .length = 10, .offset = 4, .plen = 6}},
	 false},
	{"another type",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_WRITE, RTE_LAST, .seq = 1, .length = 10, .offset = 4, .plen = 6}},
	 false},
	{"other data",
	 {{RTE_MSG, RTE_FIRST | RTE_CQDATA, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST | RTE_CQDATA, .seq = 1, .length = 10, .offset = 4, .plen = 6,
	   .cq_data = 1}},
	 false},
	{"no data any more",
	 {{RTE_MSG, RTE_FIRST | RTE_CQDATA, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, RTE_LAST, .seq = 1, .length = 10, .offset = 4, .plen = 6}},
	 false},
	{"another key",
	 {{RTE_WRITE, RTE_FIRST, .seq = 1, .length = 10, .plen = 4, .key = KEY},
	  {RTE_WRITE, RTE_LAST, .seq = 1, .length = 10, .offset = 4, .plen = 6,
	   .key = KEY + 1}},
	 false},
	{"another place",
	 {{RTE_WRITE, RTE_FIRST, .seq = 1, .length = 10, .plen = 4, .key = KEY},
	  {RTE_WRITE, RTE_LAST, .seq = 1, .length = 10, .offset = 4, .plen = 6,
	   .key = KEY, .addr = 1}},
	 false},
	{"one begins in another",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_MSG, WHOLE, .seq = 2}},
	 false},
	{"a read in a message",
	 {{RTE_MSG, RTE_FIRST, .seq = 1, .length = 10, .plen = 4},
	  {RTE_READ_REQ, .seq = 2, .length = 1}},
	 false},
	{"ACKs", {{RTE_ACK, .request = 1}, {RTE_ACK, .request = 2}}, true},
	{"an old ACK", {{RTE_ACK, .request = 2}, {RTE_ACK, .request = 1}}, true},
	{"an ACK of nothing", {{RTE_ACK, .request = 0}}, false},
	{"an ACK of what is half sent", {{RTE_ACK, .request = 4}}, false},
	{"an ACK of what is not sent", {{RTE_ACK, .request = 5}}, false},
	{"an ACK far away", {{RTE_ACK, .request = UINT64_MAX}}, false},
	{"an ACK that rides", {{RTE_MSG, WHOLE, .seq = 1, .ack = 2}}, true},
	{"a wrong one that rides", {{RTE_MSG, WHOLE, .seq = 1, .ack = 4}}, false},
	{"a NACK", {{RTE_NACK, .request = 2}}, true},
	{"a NACK of what is half sent", {{RTE_NACK, .request = 4}}, true},
	{"a NACK of what is not sent", {{RTE_NACK, .request = 5}}, false},
	{"a NACK of what does not exist", {{RTE_NACK, .request = 6}}, false},
	{"a NACK of nothing", {{RTE_NACK, .request = 0}}, false},
	{"the data of the read",
	 {{RTE_READ_FRAG, RTE_FIRST, .request = 3, .length = 2000, .plen = 1500},
	  {RTE_READ_FRAG, RTE_LAST, .request = 3, .length = 2000, .offset = 1500,
	   .plen = 500}},
	 true},
	{"the data of a write",
	 {{RTE_READ_FRAG, WHOLE, .request = 2, .length = 1, .plen = 1}},
	 false},
	{"the data of nothing",
	 {{RTE_READ_FRAG, WHOLE, .request = 0, .length = 1, .plen = 1}},
	 false},
	{"the data of what is not sent",
	 {{RTE_READ_FRAG, WHOLE, .request = 6, .length = 1, .plen = 1}},
	 false},
	{"too little data",
	 {{RTE_READ_FRAG, WHOLE, .request = 3, .length = 1999, .plen = 1999}},
	 false},
	{"too much data",
	 {{RTE_READ_FRAG, WHOLE, .request = 3, .length = 2001, .plen = 2001}},
	 false},
	{"the end of the data",
	 {{RTE_READ_FRAG, RTE_LAST, .request = 3, .length = 2000, .offset = 1500,
	   .plen = 500}},
	 false},
	{"the data twice",
	 {{RTE_READ_FRAG, WHOLE, .request = 3, .length = 2000, .plen = 2000},
	  {RTE_READ_FRAG, WHOLE, .request = 3, .length = 2000, .plen = 2000}},
	 false},
	{"data after the NACK",
	 {{RTE_NACK, .request = 3},
	  {RTE_READ_FRAG, WHOLE, .request = 3, .length = 2000, .plen = 2000}},
	 false},
	{"something else", {{RTE_MR_RESOLVE, .seq = 0}}, false},
};

static void set_up(struct fake **t)
{
	*t = &fake;
	begin();
}

CT_FIXTURE(bad, struct fake *, set_up, fake_tear_down);

CT_TEST_F(bad, what_breaks_the_rules_ends_the_connection)
{
	size_t i, j;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		begin();
		CT_NOTE("%s", rows[i].what);
		for (j = 0; rows[i].said[j].type; j++) {
			CT_EXPECT_EQ(fake.a.bad, NULL);
			say(&fake.a, &rows[i].said[j]);
		}
		CT_EXPECT_EQ(!fake.a.bad, rows[i].good);
	}
}

CT_TEST_F(bad, messages_whose_body_is_wrong)
{
	const struct said write = {RTE_WRITE,	WHOLE,	   .seq = 1,
				   .length = 4, .plen = 4, .key = KEY};
	struct rte_packet packet = {
		.head = {.type = RTE_WRITE, .flags = WHOLE, .seq = 1, .plen = 4}};
	struct rte_write body = {.slot = RTE_SLOT_NONE, .length = 4, .key = KEY};
	uint8_t bytes[256] = {0};
	ssize_t len = rte_write_pack(&packet, &body, bytes, sizeof(bytes));

	bytes[32] = 3; /* of the length */
	fake_inject(&fake.a, bytes, (size_t)len + 4);
	CT_EXPECT_STREQ(fake.a.bad, rte_bad_text(RTE_BAD_RANGE));
	say(&fake.a, &write);
	CT_EXPECT_EQ(memory[0], 0);
}

CT_TEST_F(bad, answers_whose_body_is_wrong)
{
	struct rte_packet packet = {
		.head = {.type = RTE_READ_FRAG, .flags = WHOLE, .plen = 2000}};
	struct rte_read_frag body = {.slot = RTE_SLOT_NONE, .length = 2000, .request = 3};
	uint8_t bytes[4096] = {0};
	ssize_t len = rte_read_frag_pack(&packet, &body, bytes, 256);

	bytes[40] = 1; /* of the offset */
	fake_inject(&fake.a, bytes, (size_t)len + 2000);
	CT_EXPECT_STREQ(fake.a.bad, rte_bad_text(RTE_BAD_RANGE));
}
