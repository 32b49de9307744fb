/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_close of an endpoint leaves in its completion queues. */
#include <errno.h>
#include <stdlib.h>
#include "../world.h"

static const struct world_opts selective = {.cq_flags = FI_SELECTIVE_COMPLETION};

CT_FIXTURE(cq_drain, struct world, world_fresh, world_close);

CT_TEST_F(cq_drain, everything_posted_is_cancelled_exactly_once)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (uintptr_t i = 0; i < 8; i++) {
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
		CT_EXPECT_EQ(recv_number(t->ep, 100 + i), 0);
	}
	world_close_ep(t);
	for (uintptr_t i = 0; i < 8; i++)
		expect_cq_error(t->cq, NUMBER(i), FI_SEND | FI_MSG, FI_ECANCELED);
	for (uintptr_t i = 0; i < 8; i++)
		expect_cq_error(t->cq, NUMBER(100 + i), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

CT_TEST_F(cq_drain, what_completed_before_keeps_its_completion)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	fake_complete(t->qp, 2);
	world_close_ep(t);
	expect_comp(t->cq, NUMBER(0), FI_SEND | FI_MSG, 0, 0);
	expect_comp(t->cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_cq_error(t->cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_cq_error(t->cq, NUMBER(3), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

/* They have no completion of their own to say that they succeeded. */
CT_TEST_F(cq_drain, requests_without_completion_that_succeeded_are_not_cancelled)
{
	for (uintptr_t done = 1; done <= 6; done++) {
		struct world_opts opts = selective;

		opts.tx_size = 64;
		CT_NOTE("%zu of 6 succeeded", done);
		CT_ASSERT_TRUE(world_reopen_connected(t, &opts));
		for (uintptr_t i = 0; i < 6; i++)
			CT_EXPECT_EQ(send_quietly(t->ep, i), 0);
		fake_complete(t->qp, (unsigned int)done);
		/* Nothing is left to wait for: a wait would not end. */
		pvb_params.close_timeout = 600000;
		world_close_ep(t);
		expect_failed_comps(t->cq, 6 - done);
	}
}

CT_TEST_F(cq_drain, injected_messages_are_never_reported)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (int i = 0; i < 5; i++)
		CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
	fake_complete(t->qp, 3);
	world_close_ep(t);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fake_count(FAKE_DISCONNECT), 0);
}

CT_TEST_F(cq_drain, a_full_send_queue_has_room_for_the_marker)
{
	CT_ASSERT_TRUE(world_open_connected(t, &selective));
	for (uintptr_t i = 0; i < 8; i++)
		CT_EXPECT_EQ(send_quietly(t->ep, i), 0);
	fake_complete(t->qp, 7);
	world_close_ep(t);
	expect_failed_comps(t->cq, 1);
}

CT_TEST_F(cq_drain, completions_of_other_endpoints_are_kept_in_order)
{
	struct fid_ep *other;

	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &other));
	for (uintptr_t i = 0; i < 3; i++) {
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
		CT_EXPECT_EQ(recv_number(other, 10 + i), 0);
		fake_receive(qp_of(other), IBV_WC_RECV, 0, NULL);
	}
	world_close_ep(t);
	for (uintptr_t i = 0; i < 3; i++)
		expect_comp(t->cq, NUMBER(10 + i), FI_RECV | FI_MSG, 0, 0);
	for (uintptr_t i = 0; i < 3; i++)
		expect_cq_error(t->cq, NUMBER(i), FI_RECV | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(recv_number(other, 13), 0);
	fake_receive(qp_of(other), IBV_WC_RECV, 0, NULL);
	expect_comp(t->cq, NUMBER(13), FI_RECV | FI_MSG, 0, 0);
	expect_no_comp(t->cq);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
}

CT_TEST_F(cq_drain, endpoints_closed_one_after_the_other_leave_everything_to_be_read)
{
	struct fid_ep *ep;

	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	for (int round = 0; round < 20; round++) {
		CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
		for (uintptr_t i = 0; i < 8; i++)
			CT_EXPECT_EQ(recv_number(ep, i), 0);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
	expect_failed_comps(t->cq, 160);
}

CT_TEST_F(cq_drain, what_is_left_to_be_read_keeps_its_order_while_more_comes)
{
	uintptr_t posted = 0, found = 0;
	struct fid_ep *ep;

	CT_ASSERT_TRUE(world_open_domain(t, NULL));
	for (int round = 0; round < 30; round++) {
		CT_ASSERT_TRUE(world_add_ep(t, NULL, &ep));
		for (int i = 0; i < 8; i++)
			CT_EXPECT_EQ(recv_number(ep, posted++), 0);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
		for (int i = 0; i < 3; i++)
			expect_cq_error(t->cq, NUMBER(found++), FI_RECV | FI_MSG,
					FI_ECANCELED);
	}
	while (found < posted)
		expect_cq_error(t->cq, NUMBER(found++), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

CT_TEST_F(cq_drain, a_device_that_flushes_nothing_is_given_up_after_the_timeout)
{
	uint64_t start, passed;

	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 50;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (uintptr_t i = 0; i < 5; i++) {
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	}
	CT_EXPECT_EQ(fi_inject(t->ep, "x", 1, 0), 0);
	start = crn_now_ms();
	world_close_ep(t);
	passed = crn_now_ms() - start;
	CT_EXPECT_GE(passed, 50);
	CT_EXPECT_LT(passed, 60);
	CT_EXPECT_EQ(ct_log_warnings(), 2);
	CT_EXPECT_DATA(ct_log_warning(), "5");
	expect_failed_comps(t->cq, 10);
}

CT_TEST_F(cq_drain, an_endpoint_that_was_never_connected_cancels_its_receives)
{
	CT_ASSERT_TRUE(world_open(t, NULL));
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	world_close_ep(t);
	expect_cq_error(t->cq, NUMBER(1), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

CT_TEST_F(cq_drain, after_a_shutdown_nothing_is_cancelled_twice)
{
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (uintptr_t i = 0; i < 4; i++) {
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
		CT_EXPECT_EQ(recv_number(t->ep, i), 0);
	}
	fake_event(t->id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(t->eq, FI_SHUTDOWN, &t->ep->fid, NULL, 0);
	expect_failed_comps(t->cq, 8);
	world_close_ep(t);
	expect_no_comp(t->cq);
}

CT_TEST_F(cq_drain, the_marker_of_a_full_queue_is_none_of_what_is_cancelled)
{
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 30;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	for (uintptr_t i = 0; i < 8; i++)
		CT_EXPECT_EQ(send_number(t->ep, i), 0);
	world_close_ep(t);
	for (uintptr_t i = 0; i < 8; i++)
		expect_cq_error(t->cq, NUMBER(i), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->cq);
}

CT_TEST_F(cq_drain, a_device_that_takes_no_marker_is_waited_for_no_longer_than_allowed)
{
	fake_devices[0].refuses_in_err = true;
	pvb_params.close_timeout = 30;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(t, &selective));
	CT_EXPECT_EQ(send_quietly(t->ep, 1), 0);
	fake_complete_all(t->qp);
	world_close_ep(t);
	/* Whether it succeeded cannot be known. */
	expect_failed_comps(t->cq, 1);
}
