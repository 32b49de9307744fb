/* SPDX-License-Identifier: BSD-2-Clause */
/* What fi_close of an endpoint leaves in its completion queues. */
#include <errno.h>
#include <stdlib.h>
#include "../world.h"

static const struct world_opts selective = {.cq_flags = FI_SELECTIVE_COMPLETION};

CT_TEST(cq_drain, everything_posted_is_cancelled_exactly_once)
{
	unsigned int errors;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (uintptr_t i = 0; i < 8; i++) {
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
		CT_EXPECT_EQ(recv_number(w.ep, 100 + i), 0);
	}
	world_close_ep(&w);
	for (uintptr_t i = 0; i < 8; i++)
		expect_cq_error(w.cq, NUMBER(i), FI_SEND | FI_MSG, FI_ECANCELED);
	for (uintptr_t i = 0; i < 8; i++)
		expect_cq_error(w.cq, NUMBER(100 + i), FI_RECV | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 0);
	world_close(&w);
}

CT_TEST(cq_drain, what_completed_before_keeps_its_completion)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (uintptr_t i = 0; i < 4; i++)
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
	fake_complete(w.qp, 2);
	world_close_ep(&w);
	expect_comp(w.cq, NUMBER(0), FI_SEND | FI_MSG, 0, 0);
	expect_comp(w.cq, NUMBER(1), FI_SEND | FI_MSG, 0, 0);
	expect_cq_error(w.cq, NUMBER(2), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_cq_error(w.cq, NUMBER(3), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(w.cq);
	world_close(&w);
}

/* They have no completion of their own to say that they succeeded. */
CT_TEST(cq_drain, requests_without_completion_that_succeeded_are_not_cancelled)
{
	uint64_t start = crn_now_ms();
	unsigned int errors;
	struct world w;

	for (uintptr_t done = 1; done <= 6; done++) {
		struct world_opts opts = selective;

		opts.tx_size = 64;
		CT_NOTE("%zu of 6 succeeded", done);
		world_reset();
		CT_ASSERT_TRUE(world_open_connected(&w, &opts));
		for (uintptr_t i = 0; i < 6; i++)
			CT_EXPECT_EQ(send_quietly(w.ep, i), 0);
		fake_complete(w.qp, (unsigned int)done);
		world_close_ep(&w);
		CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 6 - done);
		CT_EXPECT_EQ(errors, 6 - done);
		world_close(&w);
	}
	CT_EXPECT_LT(crn_now_ms() - start, 2000);
}

CT_TEST(cq_drain, injected_messages_are_never_reported)
{
	unsigned int errors;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (int i = 0; i < 5; i++)
		CT_EXPECT_EQ(fi_inject(w.ep, "x", 1, 0), 0);
	fake_complete(w.qp, 3);
	world_close_ep(&w);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 0);
	CT_EXPECT_EQ(fake_count(FAKE_DISCONNECT), 0);
	world_close(&w);
}

CT_TEST(cq_drain, a_full_send_queue_has_room_for_the_marker)
{
	unsigned int errors;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, &selective));
	for (uintptr_t i = 0; i < 8; i++)
		CT_EXPECT_EQ(send_quietly(w.ep, i), 0);
	fake_complete(w.qp, 7);
	world_close_ep(&w);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 1);
	CT_EXPECT_EQ(errors, 1);
	world_close(&w);
}

CT_TEST(cq_drain, completions_of_other_endpoints_are_kept_in_order)
{
	struct fid_ep *other;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_ASSERT_TRUE(world_add_ep(&w, NULL, &other));
	for (uintptr_t i = 0; i < 3; i++) {
		CT_EXPECT_EQ(recv_number(w.ep, i), 0);
		CT_EXPECT_EQ(recv_number(other, 10 + i), 0);
		fake_receive(qp_of(other), IBV_WC_RECV, 0, NULL);
	}
	world_close_ep(&w);
	for (uintptr_t i = 0; i < 3; i++)
		expect_comp(w.cq, NUMBER(10 + i), FI_RECV | FI_MSG, 0, 0);
	for (uintptr_t i = 0; i < 3; i++)
		expect_cq_error(w.cq, NUMBER(i), FI_RECV | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(recv_number(other, 13), 0);
	fake_receive(qp_of(other), IBV_WC_RECV, 0, NULL);
	expect_comp(w.cq, NUMBER(13), FI_RECV | FI_MSG, 0, 0);
	expect_no_comp(w.cq);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
	world_close(&w);
}

CT_TEST(cq_drain, endpoints_closed_one_after_the_other_leave_everything_to_be_read)
{
	struct fid_ep *ep;
	unsigned int errors;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	for (int round = 0; round < 20; round++) {
		CT_ASSERT_TRUE(world_add_ep(&w, NULL, &ep));
		for (uintptr_t i = 0; i < 8; i++)
			CT_EXPECT_EQ(recv_number(ep, i), 0);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	}
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 160);
	CT_EXPECT_EQ(errors, 160);
	world_close(&w);
}

CT_TEST(cq_drain, what_is_left_to_be_read_keeps_its_order_while_more_comes)
{
	uintptr_t posted = 0, found = 0;
	struct fid_ep *ep;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_domain(&w, NULL));
	for (int round = 0; round < 30; round++) {
		CT_ASSERT_TRUE(world_add_ep(&w, NULL, &ep));
		for (int i = 0; i < 8; i++)
			CT_EXPECT_EQ(recv_number(ep, posted++), 0);
		CT_EXPECT_EQ(fi_close(&ep->fid), 0);
		for (int i = 0; i < 3; i++)
			expect_cq_error(w.cq, NUMBER(found++), FI_RECV | FI_MSG,
					FI_ECANCELED);
	}
	while (found < posted)
		expect_cq_error(w.cq, NUMBER(found++), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(w.cq);
	world_close(&w);
}

CT_TEST(cq_drain, a_device_that_flushes_nothing_is_given_up_after_the_timeout)
{
	uint64_t start, passed;
	unsigned int errors;
	struct world w;

	world_reset();
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 50;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (uintptr_t i = 0; i < 5; i++) {
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
		CT_EXPECT_EQ(recv_number(w.ep, i), 0);
	}
	CT_EXPECT_EQ(fi_inject(w.ep, "x", 1, 0), 0);
	start = crn_now_ms();
	world_close_ep(&w);
	passed = crn_now_ms() - start;
	CT_EXPECT_GE(passed, 50);
	CT_EXPECT_LT(passed, 60);
	CT_EXPECT_STRSTR(ct_log_last(), "no completion for 5 operations");
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 10);
	CT_EXPECT_EQ(errors, 10);
	world_close(&w);
}

CT_TEST(cq_drain, an_endpoint_that_was_never_connected_cancels_its_receives)
{
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open(&w, NULL));
	CT_EXPECT_EQ(recv_number(w.ep, 1), 0);
	world_close_ep(&w);
	expect_cq_error(w.cq, NUMBER(1), FI_RECV | FI_MSG, FI_ECANCELED);
	expect_no_comp(w.cq);
	world_close(&w);
}

CT_TEST(cq_drain, after_a_shutdown_nothing_is_cancelled_twice)
{
	unsigned int errors;
	struct world w;

	world_reset();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (uintptr_t i = 0; i < 4; i++) {
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
		CT_EXPECT_EQ(recv_number(w.ep, i), 0);
	}
	fake_event(w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	expect_event(w.eq, FI_SHUTDOWN, &w.ep->fid, NULL, 0);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 8);
	CT_EXPECT_EQ(errors, 8);
	world_close_ep(&w);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 0);
	world_close(&w);
}

CT_TEST(cq_drain, the_marker_of_a_full_queue_is_none_of_what_is_cancelled)
{
	unsigned int errors;
	struct world w;

	world_reset();
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 30;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(&w, NULL));
	for (uintptr_t i = 0; i < 8; i++)
		CT_EXPECT_EQ(send_number(w.ep, i), 0);
	world_close_ep(&w);
	for (uintptr_t i = 0; i < 8; i++)
		expect_cq_error(w.cq, NUMBER(i), FI_SEND | FI_MSG, FI_ECANCELED);
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 0);
	world_close(&w);
}

CT_TEST(cq_drain, a_device_that_takes_no_marker_is_waited_for_no_longer_than_allowed)
{
	unsigned int errors;
	struct world w;

	world_reset();
	fake_devices[0].refuses_in_err = true;
	pvb_params.close_timeout = 30;
	world_polls_take_time();
	CT_ASSERT_TRUE(world_open_connected(&w, &selective));
	CT_EXPECT_EQ(send_quietly(w.ep, 1), 0);
	fake_complete_all(w.qp);
	world_close_ep(&w);
	/* Whether it succeeded cannot be known. */
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), 1);
	CT_EXPECT_EQ(errors, 1);
	world_close(&w);
}
