/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "fake.h"

#define RECEIVED (FI_RECV | FI_MSG)

static struct fake fake;
static uint8_t from[20000], into[20000];
static int context[32];

static void set_up(struct fake **t)
{
	*t = &fake;
	fake_open(&fake, true, false);
	fake_start(&fake);
	fake_pattern(from, sizeof(from), 3);
	memset(into, 0, sizeof(into));
}

CT_FIXTURE(recv, struct fake *, set_up, fake_tear_down);

CT_TEST_F(recv, messages_wait_for_receives_and_hold_up_their_lane)
{
	int i;

	fake.a.credits[RTE_REQUESTS] = 3;
	for (i = 0; i < 5; i++)
		CT_EXPECT_EQ(fake_send(&fake.a, from + i, 1, &context[i], 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 3);
	CT_EXPECT_EQ(fake.a.seen_count, 3);
	for (i = 0; i < 5; i++)
		CT_EXPECT_EQ(fake_recv(&fake.b, into + i, 1, &context[10 + i]), 0);
	fake_run(&fake);
	for (i = 0; i < 5; i++)
		fake_expect(&fake.b.rx_cq, &context[10 + i], RECEIVED, 1);
	CT_EXPECT_MEMEQ(into, from, 5);
	CT_EXPECT_EQ(fake_rx_kept(&fake.b), 0);
}

CT_TEST_F(recv, a_message_that_is_too_long_is_cut)
{
	struct fi_cq_err_entry err = {0};

	CT_EXPECT_EQ(fake_recv(&fake.b, into, 1500, &context[0]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into + 1600, 10, &context[1]), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10000, from, FI_DELIVERY_COMPLETE), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, 0), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fi_cq_readerr(&fake.b.rx_cq.fid, &err, 0), 1);
	CT_EXPECT_EQ(err.op_context, &context[0]);
	CT_EXPECT_EQ(err.err, FI_ETRUNC);
	CT_EXPECT_EQ(err.flags, RECEIVED);
	CT_EXPECT_EQ(err.len, 1500);
	CT_EXPECT_EQ(err.olen, 8500);
	CT_EXPECT_MEMEQ(into, from, 1500);
	CT_EXPECT_EQ(into[1500], 0);
	fake_expect(&fake.b.rx_cq, &context[1], RECEIVED, 10);
	/* It has been delivered as far as it can be. */
	fake_expect(&fake.a.tx_cq, from, FI_SEND | FI_MSG, 0);
}

CT_TEST_F(recv, a_receive_without_a_buffer)
{
	const struct fi_msg msg = {.context = into};

	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, 0), 0);
	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 0, from, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.b.rx_cq, into, RECEIVED, 0);
	fake_expect_err(&fake.b.rx_cq, into, RECEIVED, FI_ETRUNC);
}

CT_TEST_F(recv, as_many_as_the_queue_has)
{
	int i;

	for (i = 0; i < (int)FAKE_RX; i++)
		CT_EXPECT_EQ(fake_recv(&fake.b, into, 1, &context[i]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 1, into), -FI_EAGAIN);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.b.rx_cq, &context[0], RECEIVED, 1);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 1, into), 0);
}

CT_TEST_F(recv, one_that_is_not_matched_can_be_cancelled)
{
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10000, &context[0]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10000, &context[1]), 0);
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10000, &context[2]), 0);
	CT_EXPECT_EQ(rte_vc_cancel(&fake.b.vc, &context[1]), 0);
	CT_EXPECT_EQ(rte_vc_cancel(&fake.b.vc, &context[1]), -FI_ENOENT);
	fake_expect_err(&fake.b.rx_cq, &context[1], RECEIVED, FI_ECANCELED);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10000, from, 0), 0);
	CT_EXPECT_TRUE(fake_deliver(&fake, &fake.a));
	CT_EXPECT_EQ(rte_vc_cancel(&fake.b.vc, &context[0]), -FI_ENOENT);
	fake_run(&fake);
	fake_expect(&fake.b.rx_cq, &context[0], RECEIVED, 10000);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.b.rx_cq, &context[2], RECEIVED, 1);
}

CT_TEST_F(recv, selective_completion_and_counters)
{
	const struct iovec iov = {into, 10};
	const struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .context = into};

	fake_open(&fake, true, true);
	fake_count(&fake.b, FI_RECV);
	fake_start(&fake);
	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, 0), 0);
	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, FI_COMPLETION), 0);
	CT_EXPECT_EQ(rte_vc_recv(&fake.b.vc, &msg, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 1, from, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 2, from, 0), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 11, from, 0), 0);
	fake_run(&fake);
	fake_expect(&fake.b.rx_cq, into, RECEIVED, 2);
	fake_expect_err(&fake.b.rx_cq, into, RECEIVED, FI_ETRUNC);
	CT_EXPECT_EQ(fi_cntr_read(&fake.b.cntr.fid), 2);
	CT_EXPECT_EQ(fi_cntr_readerr(&fake.b.cntr.fid), 1);
}

CT_TEST_F(recv, acknowledgements_ride_on_what_goes_to_the_other_end_itself)
{
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, FI_DELIVERY_COMPLETE), 0);
	fake_run(&fake);
	CT_EXPECT_TRUE(rte_vc_unsent(&fake.b.vc));
	fake_expect_none(&fake.a.tx_cq);
	CT_EXPECT_EQ(fake_send(&fake.b, from, 10, from, 0), 0);
	fake_run(&fake);
	/* Although nobody has posted a receive for it. */
	fake_expect(&fake.a.tx_cq, from, FI_SEND | FI_MSG, 0);
	CT_EXPECT_TRUE(fake.b.seen[0].rode);
	CT_EXPECT_EQ(fake.b.drained, 1);
	fake.b.credits[RTE_RESPONSES] = 8;
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 0);
}

/* The message may wait at a router for a receive that is posted only after the ACK. */
CT_TEST_F(recv, acknowledgements_do_not_ride_on_messages_through_routers)
{
	fake_open(&fake, false, false);
	fake_start(&fake);
	fake.b.credits[RTE_RESPONSES] = 0;
	CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
	CT_EXPECT_EQ(fake_send(&fake.a, from, 10, from, FI_DELIVERY_COMPLETE), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_send(&fake.b, from, 10, from, 0), 0);
	CT_EXPECT_EQ(fake_read(&fake.b, into + 10, 10, 0, 1, into), 0);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.b.seen_count, 2);
	CT_EXPECT_FALSE(fake.b.seen[0].rode);
	CT_EXPECT_FALSE(fake.b.seen[1].rode);
	fake_expect_none(&fake.a.tx_cq);
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	CT_EXPECT_EQ(fake_sent(&fake.b, RTE_ACK), 1);
	fake_expect(&fake.a.tx_cq, from, FI_SEND | FI_MSG, 0);
}

CT_TEST_F(recv, one_ack_says_that_all_before_has_arrived)
{
	int i;

	fake.b.credits[RTE_RESPONSES] = 0;
	for (i = 0; i < 5; i++) {
		CT_EXPECT_EQ(fake_recv(&fake.b, into, 10, into), 0);
		CT_EXPECT_EQ(fake_send(&fake.a, from, 10, &context[i],
				       FI_DELIVERY_COMPLETE),
			     0);
	}
	fake_run(&fake);
	fake.b.credits[RTE_RESPONSES] = 1;
	rte_vc_ready(&fake.b.vc);
	fake_run(&fake);
	CT_EXPECT_EQ(fake.b.seen_count, 1);
	for (i = 0; i < 5; i++)
		fake_expect(&fake.a.tx_cq, &context[i], FI_SEND | FI_MSG, 0);
}
