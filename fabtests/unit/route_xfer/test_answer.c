/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers of a peer, and what they mean to operations that are there, or no more. */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "say.h"

#define KEY 0x77

static struct fake fake;
static uint8_t from[5000], into[5000];
static struct crn_mr mr;
static int context[32];

static void begin(bool direct)
{
	fake_open(&fake, direct, false);
	fake_region(&fake.a, &mr, from, sizeof(from), KEY,
		    FI_REMOTE_READ | FI_REMOTE_WRITE);
	fake_start(&fake);
}

/* All places of the queue have been used. */
static void wrap(void)
{
	unsigned int i;

	fake.a.hold_done = true;
	fake.a.credits[RTE_REQUESTS] = 2 * FAKE_TX;
	for (i = 1; i <= FAKE_TX; i++) {
		CT_EXPECT_EQ(fake_read(&fake.a, into, 10, 0, KEY, &context[0]), 0);
		say(&fake.a, &(struct said){RTE_READ_FRAG, WHOLE, .request = i,
					    .length = 10, .plen = 10});
		fake_expect(&fake.a.tx_cq, &context[0], FI_RMA | FI_READ, 0);
	}
}

static void set_up(struct fake **t)
{
	*t = &fake;
	begin(false);
}

CT_FIXTURE(answer, struct fake *, set_up, fake_tear_down);

CT_TEST_F(answer, a_nack_says_where_it_failed)
{
	struct fi_cq_err_entry err = {0};
	uint64_t router = 0;

	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, from, 0), 0);
	say(&fake.a, &(struct said){RTE_NACK, 0, .request = 1, .router = 0xabcdef0123});
	err.err_data = &router;
	err.err_data_size = sizeof(router);
	CT_EXPECT_EQ(fi_cq_readerr(&fake.a.tx_cq.fid, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_EIO);
	CT_EXPECT_EQ(router, 0xabcdef0123);
}

CT_TEST_F(answer, the_first_nack_of_an_operation_stands)
{
	struct fi_cq_err_entry err = {0};
	uint64_t router = 0;

	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, &context[1], 0), 0);
	say(&fake.a, &(struct said){RTE_NACK, 0, .request = 2, .router = 7});
	say(&fake.a, &(struct said){RTE_NACK, 0, .request = 2, .router = 8});
	say(&fake.a, &(struct said){RTE_ACK, 0, .request = 1});
	fake_expect(&fake.a.tx_cq, &context[0], FI_RMA | FI_WRITE, 0);
	err.err_data = &router;
	err.err_data_size = sizeof(router);
	CT_EXPECT_EQ(fi_cq_readerr(&fake.a.tx_cq.fid, &err, 0), 1);
	CT_EXPECT_EQ(err.op_context, &context[1]);
	CT_EXPECT_EQ(router, 7);
}

CT_TEST_F(answer, an_old_nack_is_not_of_the_operation_in_its_place)
{
	wrap();
	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, &context[1], 0), 0);
	say(&fake.a, &(struct said){RTE_NACK, 0, .request = 1});
	CT_EXPECT_EQ(fake.a.bad, NULL);
	fake_expect_none(&fake.a.tx_cq);
	say(&fake.a, &(struct said){RTE_ACK, 0, .request = FAKE_TX + 1});
	fake_expect(&fake.a.tx_cq, &context[1], FI_RMA | FI_WRITE, 0);
}

CT_TEST_F(answer, old_data_is_not_of_the_read_in_its_place)
{
	wrap();
	CT_EXPECT_EQ(fake_read(&fake.a, into, 10, 0, KEY, &context[1]), 0);
	say(&fake.a,
	    &(struct said){RTE_READ_FRAG, WHOLE, .request = 1, .length = 10, .plen = 10});
	CT_EXPECT_NE(fake.a.bad, NULL);
}

CT_TEST_F(answer, a_nack_of_the_next_operation)
{
	wrap();
	say(&fake.a, &(struct said){RTE_NACK, 0, .request = FAKE_TX + 1});
	CT_EXPECT_NE(fake.a.bad, NULL);
}

CT_TEST_F(answer, a_nack_of_one_that_waits_for_a_credit)
{
	fake.a.credits[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, from, 0), 0);
	say(&fake.a, &(struct said){RTE_NACK, 0, .request = 1});
	CT_EXPECT_NE(fake.a.bad, NULL);
}

CT_TEST_F(answer, the_data_of_a_read_that_waits_for_a_credit)
{
	fake.a.credits[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(fake_read(&fake.a, into, 10, 0, KEY, from), 0);
	say(&fake.a,
	    &(struct said){RTE_READ_FRAG, WHOLE, .request = 1, .length = 10, .plen = 10});
	CT_EXPECT_NE(fake.a.bad, NULL);
}

CT_TEST_F(answer, the_data_of_a_message_of_nothing)
{
	CT_EXPECT_EQ(fake_send(&fake.a, into, 0, from, 0), 0);
	say(&fake.a, &(struct said){RTE_READ_FRAG, WHOLE, .request = 1});
	CT_EXPECT_NE(fake.a.bad, NULL);
}

CT_TEST_F(answer, an_old_ack_takes_nothing_back)
{
	CT_EXPECT_EQ(fake_read(&fake.a, into, 10, 0, KEY, &context[0]), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, &context[1], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 1, 0, KEY, &context[2], 0), 0);
	say(&fake.a, &(struct said){RTE_ACK, 0, .request = 3});
	say(&fake.a, &(struct said){RTE_ACK, 0, .request = 2});
	say(&fake.a,
	    &(struct said){RTE_READ_FRAG, WHOLE, .request = 1, .length = 10, .plen = 10});
	fake_expect(&fake.a.tx_cq, &context[0], FI_RMA | FI_READ, 0);
	fake_expect(&fake.a.tx_cq, &context[1], FI_RMA | FI_WRITE, 0);
	fake_expect(&fake.a.tx_cq, &context[2], FI_RMA | FI_WRITE, 0);
}

CT_TEST_F(answer, a_write_that_does_not_ask_gets_no_ack)
{
	begin(true);
	say(&fake.a, &(struct said){RTE_WRITE, WHOLE, .seq = 1, .length = 1, .plen = 1,
				    .key = KEY});
	CT_EXPECT_EQ(fake.a.out_count, 0);
	say(&fake.a, &(struct said){RTE_WRITE, WHOLE | RTE_ACKREQ, .seq = 2, .length = 1,
				    .plen = 1, .key = KEY});
	CT_EXPECT_EQ(fake.a.out_count, 1);
}

CT_TEST_F(answer, data_without_the_flag_means_nothing)
{
	begin(true);
	CT_EXPECT_EQ(fake_recv(&fake.a, into, 10, into), 0);
	say(&fake.a, &(struct said){RTE_MSG, WHOLE, .seq = 1, .cq_data = 5});
	fake_expect(&fake.a.rx_cq, into, FI_RECV | FI_MSG, 0);
}

CT_TEST_F(answer, the_data_of_a_read_comes_in_fragments_as_it_asked)
{
	begin(true);
	say(&fake.a, &(struct said){RTE_READ_REQ, .seq = 1, .length = 500, .key = KEY,
				    .frag = 300});
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.seen[0].plen, 300);
}
