/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define SENT (FI_SEND | FI_MSG)
#define RECEIVED (FI_RECV | FI_MSG)
#define KEY 0x77

static struct fake fake;
static uint8_t from[20000], into[20000];
static struct crn_mr mr;
static int context[32];

static void set_up(struct fake **t)
{
	*t = &fake;
	fake_open(&fake, false, false);
	fake_region(&fake.b, &mr, into, sizeof(into), KEY,
		    FI_REMOTE_READ | FI_REMOTE_WRITE);
	fake_pattern(from, sizeof(from), 9);
	memset(into, 0, sizeof(into));
	fake_start(&fake);
}

CT_FIXTURE(stop, struct fake *, set_up, fake_tear_down);

CT_TEST_F(stop, each_operation_ends_once_and_says_why)
{
	struct fi_cq_err_entry err = {0};
	uint64_t router = 0;

	fake.router_acks = false;
	fake.a.credits[RTE_REQUESTS] = 3;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, &context[1], 0), 0);
	CT_EXPECT_EQ(fake_read(&fake.a, from, 10, 0, KEY, &context[2]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[3], 0), 0);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 10, 0, 0), 0);
	rte_vc_stop(&fake.a.vc, FI_EHOSTUNREACH, 0x123456789);
	err.err_data = &router;
	err.err_data_size = sizeof(router);
	CT_EXPECT_EQ(fi_cq_readerr(&fake.a.tx_cq.fid, &err, 0), 1);
	CT_EXPECT_EQ(err.op_context, &context[0]);
	CT_EXPECT_EQ(err.err, FI_EHOSTUNREACH);
	CT_EXPECT_EQ(err.err_data_size, sizeof(router));
	CT_EXPECT_EQ(router, 0x123456789);
	fake_expect_err(&fake.a.tx_cq, &context[1], FI_RMA | FI_WRITE, FI_EHOSTUNREACH);
	fake_expect_err(&fake.a.tx_cq, &context[2], FI_RMA | FI_READ, FI_EHOSTUNREACH);
	fake_expect_err(&fake.a.tx_cq, &context[3], SENT, FI_EHOSTUNREACH);
	rte_vc_stop(&fake.a.vc, FI_EIO, 0);
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake.a.broken, 0);
}

CT_TEST_F(stop, what_had_reached_the_target_ends_well)
{
	fake.a.hold_done = true;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 5000, 0, KEY, &context[0], 0), 0);
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	fake_expect_none(&fake.a.tx_cq);
	fake_done(&fake.a);
	fake_expect(&fake.a.tx_cq, &context[0], FI_RMA | FI_WRITE, 0);
}

CT_TEST_F(stop, a_buffer_stays_with_the_lower_provider_until_it_is_done)
{
	CT_EXPECT_EQ(fake_send(&fake.a, from, 5000, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	fake.a.credits[RTE_REQUESTS] = 0;
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 10, 0, 0), 0);
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	CT_EXPECT_FALSE(rte_vc_idle(&fake.a.vc));
	fake_expect_none(&fake.a.tx_cq);
	rte_vc_stop(&fake.a.vc, FI_EIO, 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, &context[0], SENT, FI_ECONNABORTED);
	fake_expect_err(&fake.a.tx_cq, &context[1], SENT, FI_ECONNABORTED);
	CT_EXPECT_TRUE(rte_vc_idle(&fake.a.vc));
	/* Nobody is told what is known. */
	CT_EXPECT_EQ(fake.a.broken, 0);
}

/* The reason comes with rte_vc_stop, which follows. */
CT_TEST_F(stop, what_the_lower_provider_failed_to_send_waits_for_the_reason)
{
	fake.a.vc.path.direct = true;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	fake.a.out[0]->err = FI_EIO;
	fake_run(&fake);
	fake_expect_none(&fake.a.tx_cq);
	rte_vc_stop(&fake.a.vc, FI_ETIMEDOUT, 0);
	fake_expect_err(&fake.a.tx_cq, &context[0], SENT, FI_ETIMEDOUT);
}

CT_TEST_F(stop, receives_are_cancelled)
{
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 5000, &context[0]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, &context[1]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 5000, from, 0), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	fake_expect_err(&fake.b.rx_cq, &context[0], RECEIVED, FI_ECANCELED);
	fake_expect_err(&fake.b.rx_cq, &context[1], RECEIVED, FI_ECANCELED);
	fake_expect_none(&fake.b.rx_cq);
	/* What comes later is dropped. */
	fake_run(&fake);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 0);
}

/* A read that waits for a place in service holds them up until then. */
CT_TEST_F(stop, messages_that_are_here_whole_meet_their_receives)
{
	int i;

	fake.b.credits[RTE_RESPONSES] = 0;
	fake.a.credits[RTE_REQUESTS] = 2 * RTE_VC_READS;
	fake.b.vc.serve_count = RTE_VC_READS;
	CT_EXPECT_EQ(fake_read(&fake.a, from, 10, 0, KEY, &context[0]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 5000, &context[1], 0), 0);
	for (i = 0; i < 3; i++)
		CT_EXPECT_EQ(fake_recv(&fake.b, into, 5000, &context[10 + i]), 0);
	for (i = 0; i < 4; i++)
		CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	fake_expect_none(&fake.b.rx_cq);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 4);
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	fake_expect(&fake.b.rx_cq, &context[10], RECEIVED, 10);
	fake_expect(&fake.b.rx_cq, &context[11], RECEIVED, 10);
	fake_expect_err(&fake.b.rx_cq, &context[12], RECEIVED, FI_ECANCELED);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 0);
}

/* The end of the connection is no reason for the program to lose them. */
CT_TEST_F(stop, messages_without_a_receive_wait_for_one)
{
	uint8_t kept[64];

	fake.a.credits[RTE_REQUESTS] = 8;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from + 100, 10, 100, KEY, &context[1], 0), 0);
	CT_EXPECT_EQ(fake_read(&fake.a, from + 200, 10, 0, KEY, &context[2]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from + 10, 20, &context[3], 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 4);
	CT_EXPECT_NE(memcmp(into + 100, from + 100, 10), 0);
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	/* What was written is there at once; nobody waits for what was to be read. */
	CT_EXPECT_EQ(memcmp(into + 100, from + 100, 10), 0);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 2);
	CT_EXPECT_EQ(fake_recv(&fake.b, kept, sizeof(kept), &context[10]), 0);
	fake_expect(&fake.b.rx_cq, &context[10], RECEIVED, 10);
	CT_EXPECT_EQ(memcmp(kept, from, 10), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, kept, 5, &context[11]), 0);
	fake_expect_err(&fake.b.rx_cq, &context[11], RECEIVED, FI_ETRUNC);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, kept, sizeof(kept), NULL), -FI_ENOTCONN);
}

/* Data of a write need a receive as well; a message of which a part is missing is none.
 */
CT_TEST_F(stop, data_of_writes_wait_and_parts_of_messages_do_not)
{
	fake.a.credits[RTE_REQUESTS] = 8;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, &context[0],
				FI_REMOTE_CQ_DATA),
		     0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 20000, &context[1], 0), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 1);
	CT_EXPECT_EQ(fake_recv(&fake.b, into + 500, 10, &context[10]), 0);
	fake_expect_data(&fake.b.rx_cq, &context[10],
			 FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA, 10,
			 0x1122334455667788);
	CT_EXPECT_EQ(memcmp(into, from, 10), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, NULL), -FI_ENOTCONN);
}

/* The program closes the endpoint without them. */
CT_TEST_F(stop, messages_that_nobody_takes_go_with_the_connection)
{
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	fake_run(&fake);
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 1);
}

CT_TEST_F(stop, nothing_is_accepted_afterwards)
{
	rte_vc_stop(&fake.a.vc, FI_ECONNABORTED, 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(rte_vc_inject(&fake.a.vc, from, 10, 0, 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, from, 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_read(&fake.a, from, 10, 0, KEY, from), -FI_ENOTCONN);
	CT_EXPECT_EQ(fake_recv(&fake.a, from, 10, from), -FI_ENOTCONN);
	rte_vc_ready(&fake.a.vc);
	CT_EXPECT_EQ(fake.a.out_count, 0);
}

CT_TEST_F(stop, one_that_never_began)
{
	fake_open(&fake, true, false);
	CT_EXPECT_EQ(fake_recv(&fake.a, into, 10, &context[0]), 0);
	CT_EXPECT_FALSE(rte_vc_unsent(&fake.a.vc));
	rte_vc_stop(&fake.a.vc, FI_ECONNREFUSED, 0);
	fake_expect_err(&fake.a.rx_cq, &context[0], RECEIVED, FI_ECANCELED);
}

CT_TEST_F(stop, what_is_not_sent_yet_is_known)
{
	CT_EXPECT_FALSE(rte_vc_unsent(&fake.a.vc));
	fake.a.credits[RTE_REQUESTS] = 1;
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[0], 0), 0);
	CT_EXPECT_FALSE(rte_vc_unsent(&fake.a.vc));
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[1], 0), 0);
	CT_EXPECT_TRUE(rte_vc_unsent(&fake.a.vc));
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.drained, 1);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.a.drained, 1);
}

CT_TEST(init, what_there_is_no_memory_for)
{
	struct rte_vc_attr attr;
	struct rte_vc vc;
	unsigned int nth;

	fake_open(&fake, true, false);
	attr = fake.a.vc.attr;
	for (nth = 1; nth <= 3; nth++) {
		ct_fail_alloc(nth);
		CT_EXPECT_EQ(rte_vc_init(&vc, &attr), -FI_ENOMEM);
		CT_EXPECT_TRUE(ct_alloc_failed());
	}
	attr.tx_size = 0;
	CT_EXPECT_EQ(rte_vc_init(&vc, &attr), -FI_EINVAL);
	attr.tx_size = RTE_VC_SIZE_MAX + 1;
	CT_EXPECT_EQ(rte_vc_init(&vc, &attr), -FI_EINVAL);
	attr = fake.a.vc.attr;
	attr.rx_size = 0;
	CT_EXPECT_EQ(rte_vc_init(&vc, &attr), -FI_EINVAL);
	attr = fake.a.vc.attr;
	attr.max_msg_size = RTE_VC_MSG_MAX + 1;
	CT_EXPECT_EQ(rte_vc_init(&vc, &attr), -FI_EINVAL);
	attr = fake.a.vc.attr;
	attr.inject_size = 0;
	CT_EXPECT_EQ(rte_vc_init(&vc, &attr), 0);
	rte_vc_fini(&vc);
	fake_close(&fake);
}

CT_TEST_F(stop, a_nack_that_is_not_sent_yet_is_known)
{
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY + 1, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_TRUE(rte_vc_unsent(&fake.b.vc));
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	CT_EXPECT_EQ(fake.b.drained, 1);
}

/* A region is held until the lower provider has let go of it, whatever it says. */
CT_TEST_F(stop, a_region_that_was_read_in_vain_is_let_go)
{
	CT_EXPECT_EQ(fake_read(&fake.a, from, 15000, 0, KEY, from), 0);
	CT_ASSERT_TRUE(fake_deliver(&fake, &fake.a));
	CT_ASSERT_GT(fake.b.holds, 0);
	fake.b.out[0]->err = FI_ECANCELED;
	rte_vc_stop(&fake.b.vc, FI_ECONNABORTED, 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.b.holds, 0);
}

/* The router is that of the first failure, which was none. */
CT_TEST_F(stop, what_is_behind_a_refusal_failed_at_no_router)
{
	struct fi_cq_err_entry err = {0};

	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY + 1, &context[0], 0), 0);
	CT_EXPECT_EQ(fake_write(&fake.a, from, 10, 0, KEY, &context[1], 0), 0);
	fake_run(&fake);
	fake_expect_err(&fake.a.tx_cq, &context[0], FI_RMA | FI_WRITE, FI_EKEYREJECTED);
	rte_vc_stop(&fake.a.vc, FI_EIO, 5);
	CT_ASSERT_EQ(fi_cq_readerr(&fake.a.tx_cq.fid, &err, 0), 1);
	CT_EXPECT_EQ(err.err, FI_ECANCELED);
	CT_EXPECT_EQ(err.err_data_size, 0);
}
