/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define WRITTEN (FI_RMA | FI_WRITE)
#define PLACED (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA)
#define KEY 0x77
#define LEN 20000

static struct fake fake;
static uint8_t from[LEN], memory[LEN + 1], into[10];
static struct crn_mr mr;
static int context[32];

static void begin_as(bool direct, bool selective)
{
	fake_open(&fake, direct, selective);
	fake_region(&fake.b, &mr, memory, LEN, KEY, FI_REMOTE_WRITE);
	fake_pattern(from, sizeof(from), 5);
	memset(memory, 0, sizeof(memory));
}

static void begin(bool direct)
{
	begin_as(direct, false);
	fake_start(&fake);
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin(true);
}

CT_FIXTURE(write, struct fake *, set_up, fake_tear_down);

CT_TEST_F(write, bytes_go_to_their_place)
{
	static const size_t sizes[] = {1, FAKE_EAGER, FAKE_EAGER + 1, 4999, 13000};
	size_t i;
	int direct;

	for (direct = 0; direct < 2; direct++) {
		for (i = 0; i < CRN_COUNT(sizes); i++) {
			begin(direct);
			CT_NOTE("%zu bytes", sizes[i]);
			CT_EXPECT_EQ(fake_write(&fake.a, from, sizes[i], 100, KEY, from,
						0),
				     0);
			fake_run(&fake);
			fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
			CT_EXPECT_MEMEQ(memory + 100, from, sizes[i]);
			CT_EXPECT_EQ(memory[99], 0);
			CT_EXPECT_EQ(memory[100 + sizes[i]], 0);
			fake_expect_none(&fake.b.rx_cq);
		}
	}
}

CT_TEST_F(write, completes_when_the_target_has_it)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, FI_INJECT_COMPLETE), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	fake_done(&fake.a);
	fake_expect_none(&fake.a.tx_cq);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

/* The lower provider may still read the program's memory when the ACK is here. */
CT_TEST_F(write, one_ack_tells_of_all_that_arrive_at_once)
{
	int i;

	for (i = 0; i < 3; i++)
		CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, &context[i], 0), 0);
	for (i = 0; i < 2; i++) {
		fake.b.port.more = 2 - (unsigned int)i;
		CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	}
	CT_EXPECT_EQ(fake.b.out_count, 0);
	fake.b.port.more = 0;
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_EQ(fake.b.out_count, 1);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 1);
	for (i = 0; i < 3; i++)
		fake_expect(&fake.a.tx_cq, &context[i], WRITTEN, 0);

	/* What is behind it may be another one's: then it is told at the end. */
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, 0), 0);
	fake.b.port.more = 1;
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_EQ(fake.b.out_count, 0);
	fake.b.port.more = 0;
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

CT_TEST_F(write, what_was_to_be_told_later_is_told_before_the_end)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, 0), 0);
	fake.b.port.more = 1;
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	fake.b.port.more = 0;
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

CT_TEST_F(write, completes_when_the_lower_provider_has_done_with_its_buffer)
{
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 5000, 0, KEY, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 1);
	fake_expect_none(&fake.a.tx_cq);
	fake_done(&fake.a);
	fake_expect(&fake.a.tx_cq, from, WRITTEN, 0);
}

CT_TEST_F(write, what_is_refused_gets_one_nack)
{
	static const struct {
		const char *what;
		size_t len;
		uint64_t addr, key;
		int err;
	} rows[] = {
		{"unknown key", 10, 0, KEY + 1, FI_EKEYREJECTED},
		{"unknown key, in fragments", 9000, 0, KEY + 1, FI_EKEYREJECTED},
		{"ends one byte too late", LEN, 1, KEY, FI_EACCES},
		{"begins behind the region", 1, LEN, KEY, FI_EACCES},
		{"far away", 1, UINT64_MAX - 1, KEY, FI_EACCES},
	};
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		begin(true);
		CT_NOTE("%s", rows[i].what);
		CT_EXPECT_EQ(fake_write(&fake.a, from, rows[i].len, rows[i].addr,
					rows[i].key, &context[0], FI_REMOTE_CQ_DATA),
			     0);
		CT_EXPECT_EQ(fake_write(&fake.a, from, 5, 0, KEY, &context[1], 0), 0);
		fake_run(&fake);
		fake_expect_err(&fake.a.tx_cq, &context[0], WRITTEN, rows[i].err);
		CT_EXPECT_EQ(fake.a.broken, rows[i].err);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_NACK), 1);
		CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 0);
		/* What is behind it fails, and is not done. */
		CT_EXPECT_EQ(memory[0], 0);
		fake_expect_none(&fake.a.tx_cq);
		rte_vc_stop(&fake.a.vc, rows[i].err, 0);
		fake_expect_err(&fake.a.tx_cq, &context[1], WRITTEN, FI_ECANCELED);
	}
}

/* Whoever posts a terabyte with a wrong key learns of it with the first pieces. */
CT_TEST_F(write, one_that_is_refused_is_not_sent_to_its_end)
{
	static uint8_t much[FAKE_MAX];
	uint32_t sent;

	CT_EXPECT_EQ(fake_write(&fake.a, much, sizeof(much), 0, KEY + 1, &context[0], 0),
		     0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 5, 0, KEY, &context[1], 0), 0);
	fake_run(&fake);
	sent = fake_sent(&fake.a, RTE_WRITE);
	CT_EXPECT_TRUE(sent < 32);
	fake_expect_err(&fake.a.tx_cq, &context[0], WRITTEN, FI_EKEYREJECTED);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake.a.bad, NULL);
	CT_EXPECT_EQ(fake.b.bad, NULL);
	CT_EXPECT_FALSE(rte_vc_unsent(&fake.a.vc));
	rte_vc_stop(&fake.a.vc, FI_EKEYREJECTED, 0);
	fake_expect_err(&fake.a.tx_cq, &context[1], WRITTEN, FI_ECANCELED);
}

CT_TEST_F(write, a_region_that_is_only_read_is_not_written)
{
	mr.access = FI_REMOTE_READ;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, 0), 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EACCES);
	CT_EXPECT_EQ(memory[0], 0);
}

CT_TEST_F(write, without_regions_every_key_is_unknown)
{
	fake.b.vc.attr.map = NULL;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, 0), 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EKEYREJECTED);
}

CT_TEST_F(write, a_region_that_is_closed_meanwhile)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 13000, 0, KEY, from, 0), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_NE(memory[FAKE_SLOT_LEN - 1], 0);
	crn_mr_remove(&fake.b.map, &mr);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_NACK), 1);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 0);
	CT_EXPECT_EQ(memory[FAKE_SLOT_LEN], 0);
}

CT_TEST_F(write, a_nack_waits_for_a_credit_and_nothing_behind_is_taken)
{
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, &context[10]), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY + 1, &context[1], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 10, KEY, &context[2], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[3], 0), 0);
	fake_run(&fake);
	CT_EXPECT_TRUE(rte_vc_unsent(&fake.b.vc));
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 0);
	CT_EXPECT_MEMEQ(memory, from, 10);
	CT_EXPECT_EQ(memory[10], 0);
	fake_expect_none(&fake.b.rx_cq);
	fake_expect_none(&fake.a.tx_cq);
	fake.b.credits[RTE_RESPONSES] = 2;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect_err(&fake.a.tx_cq, &context[1], WRITTEN, FI_EKEYREJECTED);
	/* Although the lower provider has sent it long since. */
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 10, KEY, &context[4], 0), 0);
	CT_EXPECT_EQ(fake.a.out_count, 0);
	rte_vc_stop(&fake.a.vc, FI_EKEYREJECTED, 0);
	fake_expect_err(&fake.a.tx_cq, &context[2], WRITTEN, FI_ECANCELED);
	fake_expect_err(&fake.a.tx_cq, &context[3], FI_SEND | FI_MSG, FI_ECANCELED);
	fake_expect_err(&fake.a.tx_cq, &context[4], WRITTEN, FI_ECANCELED);
}

CT_TEST_F(write, data_for_the_completion_queue_takes_a_receive)
{
	int i;

	for (i = 0; i < 2; i++)
		CT_EXPECT_EQ(fake_write(&fake.a, from, 5000, 0, KEY, &context[i],
					FI_REMOTE_CQ_DATA),
			     0);
	CT_EXPECT_EQ(fake_recv(&fake.b, from, 7, &context[10]), 0);
	fake_run(&fake);
	fake_expect_data(&fake.b.rx_cq, &context[10], PLACED, 5000, 0x1122334455667788);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 1);

	CT_EXPECT_EQ(fake_recv(&fake.b, from + 6000, 7, &context[11]), 0);
	fake_run(&fake);
	fake_expect_data(&fake.b.rx_cq, &context[11], PLACED, 5000, 0x1122334455667788);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
	CT_EXPECT_MEMEQ(memory, from, 5000);
}

CT_TEST_F(write, nothing_is_placed_twice)
{
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, FI_REMOTE_CQ_DATA), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(memory[0], 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 7, into), 0);
	CT_EXPECT_MEMEQ(memory, from, 10);
}

CT_TEST_F(write, data_is_reported_with_selective_completion_and_counted)
{
	begin_as(true, true);
	fake_count(&fake.b, FI_REMOTE_WRITE);
	fake_start(&fake);
	CT_EXPECT_EQ(fake_recv(&fake.b, from, 7, &context[10]), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, FI_REMOTE_CQ_DATA), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 3000, 0, KEY, from, 0), 0);
	fake_run(&fake);
	fake_expect_data(&fake.b.rx_cq, &context[10], PLACED, 10, 0x1122334455667788);
	fake_expect_none(&fake.b.rx_cq);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fi_cntr_read(&fake.b.cntr.fid), 2);
	/* Its place is free again all the same. */
	CT_EXPECT_EQ(rte_vc_tx_left(&fake.a.vc), FAKE_TX);
}

CT_TEST_F(write, one_without_a_completion_reports_that_it_failed)
{
	begin_as(true, true);
	fake_start(&fake);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY + 1, from, 0), 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, from, WRITTEN, FI_EKEYREJECTED);
	CT_EXPECT_EQ(fake.a.broken, FI_EKEYREJECTED);
}

CT_TEST_F(write, an_injected_one)
{
	begin_as(true, false);
	fake_count(&fake.a, FI_WRITE);
	fake_start(&fake);
	CT_EXPECT_EQ(fake_recv(&fake.b, from, 7, &context[10]), 0);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, 10, 5, KEY, 0, 0), 0);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, 3, 0, KEY, FI_REMOTE_CQ_DATA,
					 99),
		     0);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, 3, 0, KEY, FI_FENCE, 0),
		     -FI_EBADFLAGS);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, FAKE_INJECT + 1, 0, KEY, 0, 0),
		     -FI_EMSGSIZE);
	fake_run(&fake);
	CT_EXPECT_MEMEQ(memory + 5, from, 10);
	fake_expect_data(&fake.b.rx_cq, &context[10], PLACED, 3, 99);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fi_cntr_read(&fake.a.cntr.fid), 2);
}

/* It has no entry to say so with, so the connection ends. */
CT_TEST_F(write, an_injected_one_that_fails_breaks_the_connection)
{
	begin_as(true, false);
	fake_count(&fake.a, FI_WRITE);
	fake_start(&fake);
	CT_EXPECT_EQ(rte_vc_inject_write(&fake.a.vc, from, 10, LEN, KEY, 0, 0), 0);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake.a.broken, FI_EACCES);
	CT_EXPECT_EQ(fi_cntr_readerr(&fake.a.cntr.fid), 1);
}

CT_TEST_F(write, nothing_is_written_with_any_key)
{
	const struct fi_msg_rma none = {.context = &context[1]};

	CT_EXPECT_EQ(fake_write(&fake.a, from, 0, 0, KEY + 1, &context[0], 0), 0);
	CT_EXPECT_EQ(rte_vc_write(&fake.a.vc, &none, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], WRITTEN, 0);
}

CT_TEST_F(write, what_is_refused_at_once)
{
	const struct iovec iov[] = {{from, 10}, {from, 10}};
	struct fi_rma_iov range[] = {{0, 20, KEY}, {0, 20, KEY}};
	struct fi_msg_rma msg = {
		.msg_iov = iov,
		.iov_count = 2,
		.rma_iov = range,
		.rma_iov_count = 2,
	};

	CT_EXPECT_EQ(rte_vc_write(&fake.a.vc, &msg, 0), -FI_EINVAL);
	msg.rma_iov_count = 1;
	CT_EXPECT_EQ(rte_vc_write(&fake.a.vc, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	CT_EXPECT_EQ(rte_vc_read(&fake.a.vc, &msg, FI_INJECT), -FI_EBADFLAGS);
	range[0].len = 19;
	CT_EXPECT_EQ(rte_vc_write(&fake.a.vc, &msg, 0), -FI_EINVAL);
	range[0].len = 20;
	range[0].addr = UINT64_MAX;
	CT_EXPECT_EQ(rte_vc_write(&fake.a.vc, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(rte_vc_read(&fake.a.vc, &msg, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fake.a.vc.tail, 1);
}

CT_TEST_F(write, a_router_says_nothing_of_a_write_before_its_message)
{
	begin(false);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	fake.b.credits[RTE_RESPONSES] = 0;
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	fake_expect(&fake.a.tx_cq, &context[0], WRITTEN, 0);
	fake_expect(&fake.a.tx_cq, &context[1], FI_SEND | FI_MSG, 0);
}
