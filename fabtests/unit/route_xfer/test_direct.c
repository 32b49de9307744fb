/* SPDX-License-Identifier: BSD-2-Clause */
/* The bypass: reads and writes that are the lower provider's own. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define WRITTEN (FI_RMA | FI_WRITE)
#define READ (FI_RMA | FI_READ)
#define KEY 0x77
#define LEN 5000

static struct fake fake;
static uint8_t from[LEN], memory[LEN], into[LEN];
static struct crn_mr mr;
static int context[32];

static void begin(uint64_t access)
{
	fake_open(&fake, true, false);
	fake.bypass = true;
	fake_region(&fake.b, &mr, memory, LEN, KEY, access);
	fake_pattern(from, sizeof(from), 5);
	memset(memory, 0, sizeof(memory));
	fake_start(&fake);
}

static void write_at(uint64_t at, size_t len)
{
	CT_ASSERT_EQ(fake_write(&fake.a, from, len, at, KEY, from, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

/* Used so often that the key is known. */
static void begin_known(uint64_t access)
{
	int i;

	begin(access);
	for (i = 0; i < 4; i++)
		write_at(0, 8);
	CT_ASSERT_EQ(fake_sent(&fake.a, RTE_MR_RESOLVE), 1);
	CT_ASSERT_EQ(fake_sent(&fake.b, RTE_MR_INFO), 1);
	CT_EXPECT_EQ(fake.a.straight, 0);
	CT_EXPECT_TRUE(fake.b.lends);
	memset(memory, 0, sizeof(memory));
}

static void expect_sent(uint32_t straight, uint32_t writes)
{
	CT_EXPECT_EQ(fake.a.straight, straight);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_WRITE), writes);
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin_known(FI_REMOTE_WRITE);
}

CT_FIXTURE(direct, struct fake *, set_up, fake_tear_down);

CT_TEST_F(direct, goes_straight_once_the_key_is_known)
{
	begin_known(FI_REMOTE_WRITE | FI_REMOTE_READ);
	write_at(100, 4000);
	expect_sent(1, 4);
	CT_EXPECT_MEMEQ(memory + 100, from, 4000);
	CT_EXPECT_EQ(fake_read(&fake.a, into, 4000, 100, KEY, into), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, into, READ, 0);
	CT_EXPECT_MEMEQ(into, from, 4000);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_READ_REQ), 0);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_READ_FRAG), 0);
}

CT_TEST_F(direct, a_key_that_is_used_once_is_not_asked_for)
{
	begin(FI_REMOTE_WRITE);
	write_at(0, 8);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_MR_RESOLVE), 0);
}

CT_TEST_F(direct, what_is_to_be_refused_is_a_message)
{
	static const struct {
		uint64_t access, at;
		bool reads;
	} bad[] = {
		{FI_REMOTE_WRITE, LEN - 3, false},
		{FI_REMOTE_WRITE, UINT64_MAX - 7, false},
		{FI_REMOTE_WRITE, 0, true},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(bad); i++) {
		begin_known(bad[i].access);
		CT_NOTE("%zu", i);
		if (bad[i].reads)
			CT_EXPECT_EQ(fake_read(&fake.a, into, 4, bad[i].at, KEY, from),
				     0);
		else
			CT_EXPECT_EQ(fake_write(&fake.a, from, 4, bad[i].at, KEY, from,
						0),
				     0);
		fake_run(&fake);
		fake_expect_err(&fake.a.tx_cq, from, bad[i].reads ? READ : WRITTEN,
				FI_EACCES);
		CT_EXPECT_EQ(fake.a.straight, 0);
	}
}

CT_TEST_F(direct, what_the_lower_provider_does_not_take_is_a_message)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 0, 0, KEY, from, 0), 0);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, FAKE_INJECTS + 1, 0, KEY, 0,
					 0),
		     0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
	expect_sent(0, 6);
	fake.a.port.lower_rma = 100;
	write_at(0, 101);
	expect_sent(0, 7);
	write_at(0, 100);
	expect_sent(1, 7);
	fake.a.port.mr_local = true;
	write_at(0, 8);
	expect_sent(1, 8);
}

CT_TEST_F(direct, injects_what_the_lower_provider_injects)
{
	uint8_t bytes[FAKE_INJECTS] = "0123456789";

	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, bytes, sizeof(bytes), 50, KEY, 0, 0),
		     0);
	memset(bytes, 0, sizeof(bytes));
	fake_run(&fake);
	expect_sent(1, 4);
	CT_EXPECT_MEMEQ(memory + 50, "0123456789", 11);
	fake_expect_none(&fake.a.tx_cq);
}

CT_TEST_F(direct, does_not_overtake_a_message_that_waits)
{
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[1], 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], FI_SEND | FI_MSG, 0);
	CT_EXPECT_EQ(memory[1], 0);
	expect_sent(0, 5);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 8, &context[2]), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	CT_EXPECT_EQ(memory[1], from[1]);
	write_at(8, 8);
	expect_sent(1, 5);
}

/* Otherwise a program with a window would have messages for ever. */
CT_TEST_F(direct, waits_for_writes_that_are_messages)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 0, 0, KEY, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[1], 0), 0);
	expect_sent(0, 4);
	CT_EXPECT_EQ(fake.a.out_count, 1);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	expect_sent(1, 5);
}

CT_TEST_F(direct, requests_behind_it_are_taken)
{
	write_at(0, 8);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 8, &context[2]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 8, &context[0], FI_DELIVERY_COMPLETE), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], FI_SEND | FI_MSG, 0);
	fake_expect(&fake.b.rx_cq, &context[2], FI_RECV | FI_MSG, 8);
	CT_EXPECT_TRUE(!fake.b.bad);
}

static void recall(void)
{
	rte_vc_recall(crn_container_of(fake.b.loans.next, struct rte_vc_loan, of_mr));
}

CT_TEST_F(direct, a_key_is_returned_when_nothing_is_outstanding)
{
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[0], 0), 0);
	fake_run(&fake);
	recall();
	recall();
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_MR_INVAL), 1);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_MR_INVAL), 0);
	CT_EXPECT_FALSE(crn_list_empty(&fake.b.loans));
	/* No more of them meanwhile. */
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[1], 0), 0);
	fake_run(&fake);
	expect_sent(1, 5);
	fake.a.hold_done = false;
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_MR_INVAL), 1);
	CT_EXPECT_TRUE(crn_list_empty(&fake.b.loans));
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	write_at(0, 8);
	expect_sent(1, 6);
}

CT_TEST_F(direct, what_was_told_comes_when_there_are_credits)
{
	int i;

	begin(FI_REMOTE_WRITE);
	for (i = 0; i < 3; i++)
		write_at(0, 8);
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_MR_INFO), 0);
	fake.b.credits[RTE_RESPONSES] = FAKE_CREDITS;
	fake.b.hungry = true;
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_MR_INFO), 1);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

CT_TEST_F(direct, nothing_is_lent_where_a_counter_counts)
{
	fake_open(&fake, true, false);
	CT_EXPECT_TRUE(rte_vc_lends(&fake.b.vc));
	fake_count(&fake.b, FI_REMOTE_WRITE);
	CT_EXPECT_FALSE(rte_vc_lends(&fake.b.vc));
}

CT_TEST_F(direct, a_region_that_cannot_be_lent_has_messages)
{
	int i;

	begin(FI_REMOTE_WRITE);
	fake.b.refuses = true;
	for (i = 0; i < 8; i++)
		write_at(0, 8);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_MR_RESOLVE), 1);
	expect_sent(0, 8);
	CT_EXPECT_FALSE(fake.b.lends);
}

/* Those before it have not ended, so that its error has not been told either. */
CT_TEST_F(direct, nothing_goes_straight_once_an_operation_was_refused)
{
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_read(&fake.a, into, 8, 0, KEY, &context[1]), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 16, KEY, &context[2], 0), 0);
	CT_EXPECT_EQ(fake_read(&fake.a, into, 8, 16, KEY, &context[3]), 0);
	fake_run(&fake);
	expect_sent(1, 4);
	fake.a.hold_done = false;
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect_err(&fake.a.tx_cq, &context[1], READ, FI_EACCES);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	fake_expect_err(&fake.a.tx_cq, &context[2], WRITTEN, FI_ECANCELED);
	fake_expect_err(&fake.a.tx_cq, &context[3], READ, FI_ECANCELED);
}

CT_TEST_F(direct, ends_once_when_the_connection_does)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[1], 0), 0);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	fake_expect_none(&fake.a.tx_cq);
	fake.a.out[0]->err = fake.a.out[1]->err = FI_ECANCELED;
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, &context[0], WRITTEN, FI_ECONNABORTED);
	fake_expect_err(&fake.a.tx_cq, &context[1], WRITTEN, FI_ECONNABORTED);
	fake_expect_none(&fake.a.tx_cq);
}

static void say(struct fake_end *to, const struct rte_mr_inval *inval, uint8_t flags)
{
	const struct rte_packet packet = {.head = {.type = RTE_MR_INVAL, .flags = flags}};
	uint8_t bytes[64];
	const ssize_t len = rte_mr_inval_pack(&packet, inval, bytes, sizeof(bytes));

	fake_inject(to, bytes, (size_t)len);
}

CT_TEST_F(direct, keys_that_nobody_gave_end_the_connection)
{
	const struct rte_mr_info info = {.key = KEY};
	const struct rte_packet packet = {.head = {.type = RTE_MR_INFO}};
	const struct rte_mr_inval inval = {.key = KEY, .epoch = 99};
	uint8_t bytes[128];
	ssize_t len;

	say(&fake.a, &inval, RTE_ACKREQ);
	CT_EXPECT_DATA(fake.a.bad, "MR_INVAL");
	say(&fake.b, &inval, 0);
	CT_EXPECT_DATA(fake.b.bad, "MR_INVAL");
	begin_known(FI_REMOTE_WRITE);
	len = rte_mr_info_pack(&packet, &info, bytes, sizeof(bytes));
	fake_inject(&fake.a, bytes, (size_t)len);
	CT_EXPECT_DATA(fake.a.bad, "MR_INFO");
}

CT_TEST_F(direct, a_write_is_delivered_unless_less_is_asked_for)
{
	static const struct {
		uint64_t asked, given;
	} levels[] = {
		{0, FI_DELIVERY_COMPLETE},
		{FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE},
		{FI_DELIVERY_COMPLETE, FI_DELIVERY_COMPLETE},
		{FI_INJECT_COMPLETE, 0},
		{FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(levels); i++) {
		CT_NOTE("%zu", i);
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, &context[i],
					levels[i].asked),
			     0);
		CT_ASSERT_EQ(fake.a.out_count, 1);
		CT_EXPECT_EQ(fake.a.out[0]->flags, levels[i].given);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, &context[i], WRITTEN, 0);
	}
}

CT_TEST_F(direct, one_that_is_not_reported_is_delivered_if_it_asks)
{
	int i;

	fake_open(&fake, true, true);
	fake.bypass = true;
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_WRITE);
	fake_start(&fake);
	for (i = 0; i < 4; i++) {
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, 0), 0);
		fake_run(&fake);
	}
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY, from, FI_DELIVERY_COMPLETE), 0);
	CT_ASSERT_EQ(fake.a.out_count, 2);
	CT_EXPECT_EQ(fake.a.out[0]->flags, 0);
	CT_EXPECT_EQ(fake.a.out[1]->flags, FI_DELIVERY_COMPLETE);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
}

/* Otherwise one key could be used so much that another is never returned. */
CT_TEST_F(direct, no_key_is_used_while_one_is_to_be_returned)
{
	static uint8_t more[100];
	static struct crn_mr other;
	int i;

	fake_region(&fake.b, &other, more, sizeof(more), KEY + 1, FI_REMOTE_WRITE);
	for (i = 0; i < 5; i++) {
		CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY + 1, from, 0), 0);
		fake_run(&fake);
		fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
	}
	expect_sent(1, 8);
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY + 1, from, 0), 0);
	fake_run(&fake);
	recall();
	fake_run(&fake);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 8, 0, KEY + 1, from, 0), 0);
	fake_run(&fake);
	expect_sent(2, 9);
	fake.a.hold_done = false;
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.a, RTE_MR_INVAL), 1);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}
