/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_close of an endpoint whose device takes its time, while others go on. */
#include "../world.h"

static struct late {
	struct fake_qp *closing;
	struct fid_ep *busy;
	unsigned int polls;
	unsigned int flush_at;
	unsigned int fail_alloc_at;
	unsigned int sent;
} late;

/* The device flushes late; meanwhile another endpoint goes on sending. */
static void late_poll(void *arg)
{
	late.polls++;
	if (late.polls == late.flush_at)
		fake_flush(late.closing);
	if (late.polls == late.fail_alloc_at)
		ct_fail_alloc(1);
	if (!late.busy || late.polls > late.flush_at)
		return;
	while (!send_number(late.busy, 1000 + late.sent))
		late.sent++;
	fake_complete_all(qp_of(late.busy));
}

/* Closes the endpoint of w; *plan says what happens meanwhile. No time passes. */
static void close_late(struct world *w, const struct late *plan)
{
	late = *plan;
	late.closing = w->qp;
	ct_time_stop();
	fake_devices[0].poll_hook = late_poll;
	world_close_ep(w);
	fake_devices[0].poll_hook = NULL;
}

/* An endpoint whose receive 7 the device does not flush, and one that goes on. */
static bool open_beside(struct world *w, struct fid_ep **busy)
{
	world_reset();
	fake_devices[0].no_flush = true;
	if (!world_open_connected(w, NULL) || !world_add_ep(w, NULL, busy) ||
	    !world_connect(w, *busy))
		return false;
	CT_EXPECT_EQ(recv_number(w->ep, 7), 0);
	return true;
}

CT_FIXTURE(cq_drain, struct world, world_fresh, world_close);

CT_TEST_F(cq_drain, closing_waits_for_a_device_that_flushes_late)
{
	fake_devices[0].no_flush = true;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	close_late(t, &(struct late){.flush_at = 20});
	CT_EXPECT_GE(late.polls, 20);
	expect_failed_comps(t->cq, 2);
}

/* Each poll takes a millisecond. */
static void timed_poll(void *arg)
{
	ct_time_pass(1);
	if (++late.polls == late.flush_at)
		fake_flush(late.closing);
}

/* Send 1 is given up; its completion is there when the receives are waited for. */
CT_TEST_F(cq_drain, what_was_given_up_is_not_reported_again)
{
	fake_devices[0].no_flush = true;
	pvb_params.close_timeout = 50;
	CT_ASSERT_TRUE(world_open_connected(t, NULL));
	CT_EXPECT_EQ(send_number(t->ep, 1), 0);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	late = (struct late){.closing = t->qp, .flush_at = 51};
	ct_time_stop();
	fake_devices[0].poll_hook = timed_poll;
	world_close_ep(t);
	fake_devices[0].poll_hook = NULL;
	CT_EXPECT_GE(late.polls, 51);
	expect_failed_comps(t->cq, 2);
}

CT_TEST_F(cq_drain, an_endpoint_that_goes_on_sending_loses_no_completion)
{
	struct fi_cq_data_entry entry;
	unsigned int sent = 0;
	struct fid_ep *busy;
	ssize_t ret;

	CT_ASSERT_TRUE(open_beside(t, &busy));
	close_late(t, &(struct late){.busy = busy, .flush_at = 100});
	CT_EXPECT_GT(late.sent, 300);
	while ((ret = fi_cq_read(t->cq, &entry, 1)) != -FI_EAGAIN) {
		if (ret == 1)
			CT_EXPECT_EQ(entry.op_context, NUMBER(1000 + sent++));
		else
			expect_cq_error(t->cq, NUMBER(7), FI_RECV | FI_MSG, FI_ECANCELED);
	}
	CT_EXPECT_EQ(sent, late.sent);
	CT_EXPECT_EQ(fi_close(&busy->fid), 0);
}

/*
 * Closes an endpoint beside one that goes on sending for so many polls, then that one
 * without memory. True when memory was needed.
 */
static bool close_without_memory(unsigned int polls)
{
	struct fid_ep *busy;
	unsigned int errors;
	struct world w;
	bool needed;
	int ret;

	CT_NOTE("after %u polls", polls);
	if (!open_beside(&w, &busy))
		return true;
	close_late(&w, &(struct late){.busy = busy, .flush_at = polls});
	fake_devices[0].no_flush = false;

	CT_EXPECT_EQ(recv_number(busy, 8), 0);
	ct_fail_alloc(1);
	ret = fi_close(&busy->fid);
	needed = ct_alloc_failed();
	CT_EXPECT_EQ(ret, needed ? -FI_ENOMEM : 0);
	if (needed) {
		CT_EXPECT_EQ(recv_number(busy, 9), 0);
		CT_EXPECT_EQ(fi_close(&busy->fid), 0);
	}
	CT_EXPECT_EQ(read_all_comps(w.cq, &errors), late.sent + 2 + needed);
	CT_EXPECT_EQ(errors, 2 + needed);
	world_close(&w);
	return needed;
}

CT_TEST(cq_drain, without_memory_closing_fails_and_changes_nothing)
{
	unsigned int polls = 1;

	while (!close_without_memory(polls) && polls < 300)
		polls++;
	CT_EXPECT_LT(polls, 300);
}

CT_TEST_F(cq_drain, memory_that_runs_out_meanwhile_is_logged_and_closing_ends)
{
	struct fid_ep *busy;
	unsigned int errors;

	CT_ASSERT_TRUE(open_beside(t, &busy));
	close_late(t, &(struct late){.busy = busy, .flush_at = 1000, .fail_alloc_at = 2});
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_LT(late.polls, 100);
	CT_EXPECT_WARNED("");
	CT_EXPECT_GT(read_all_comps(t->cq, &errors), 0);
	fake_devices[0].no_flush = false;
	CT_EXPECT_EQ(fi_close(&busy->fid), 0);
}
