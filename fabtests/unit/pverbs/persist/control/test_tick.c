/* SPDX-License-Identifier: BSD-2-Clause */
/* How often time alone makes somebody look, and how long. */
#include <poll.h>
#include <sys/timerfd.h>
#include "../durable.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

static void send_request(struct durable *t, uint32_t number, uint32_t seq_word)
{
	const struct pvb_wire_message message = {
		.kind = PVB_WIRE_REQUEST,
		.number = number,
		.fence = number,
		.seq_word = seq_word,
	};

	durable_message(t, &message);
}

/* A tick passes, and somebody takes note of it. */
static unsigned int tick(struct pvb_control *control)
{
	struct pollfd timer = {.fd = control->timer, .events = POLLIN};

	CT_EXPECT_SOON(poll(&timer, 1, 0) == 1);
	CT_EXPECT_EQ(pvb_control_arm(control), 0);
	return atomic_load(&control->ticks);
}

CT_FIXTURE(tick, struct durable, durable_start, durable_close);

CT_TEST_F(tick, it_goes_on_until_somebody_looks)
{
	struct pvb_control *control;

	ct_time_stop();
	control = t->control_qp->control;
	pvb_tick(control);
	CT_EXPECT_EQ(atomic_load(&control->ticks), 20);
	/* A sequence word is looked at more often. */
	send_request(t, 1, 1);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(atomic_load(&control->ticks), 1);
	t->control_qp->area->seq_word = 1;
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(atomic_load(&control->waiting), 0);
	pvb_tick(control);
	CT_EXPECT_EQ(atomic_load(&control->ticks), 1);
	CT_EXPECT_EQ(tick(control), 0);
}

/* Each tick wakes whoever sleeps. */
CT_TEST_F(tick, where_nothing_is_waited_for_nothing_ticks)
{
	struct itimerspec timer;

	pvb_tick(t->control_qp->control);
	timerfd_gettime(t->control_qp->control->timer, &timer);
	CT_EXPECT_NE(timer.it_interval.tv_nsec, 0);
	CT_EXPECT_EQ(tick(t->control_qp->control), 0);
	timerfd_gettime(t->control_qp->control->timer, &timer);
	CT_EXPECT_EQ(timer.it_interval.tv_nsec, 0);
	CT_EXPECT_EQ(timer.it_value.tv_nsec, 0);
}

CT_TEST_F(tick, a_seq_word_that_does_not_advance_is_polled_less_and_less_often)
{
	static const struct {
		unsigned int passed, ticks; /* ms */
	} rows[] = {{0, 1}, {7, 1}, {1, 2}, {32, 10}, {60, 25}, {200, 50}, {500, 50}};
	struct pvb_control *control;

	ct_time_stop();
	control = t->control_qp->control;
	send_request(t, 1, 1);
	expect_no_comp(t->w.cq);
	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		ct_time_pass(rows[i].passed);
		CT_EXPECT_EQ(tick(control), rows[i].ticks);
	}
	/* Completions that are held back have a deadline too. */
	atomic_fetch_add(&control->deferring, 1);
	CT_EXPECT_EQ(tick(control), 20);
	atomic_fetch_sub(&control->deferring, 1);
}

CT_TEST_F(tick, a_seq_word_that_advances_late_is_seen)
{
	ct_time_stop();
	send_request(t, 1, 1);
	expect_no_comp(t->w.cq);
	ct_time_pass(DURABLE_TIMEOUT - 1);
	expect_no_comp(t->w.cq);
	t->control_qp->area->seq_word = 1;
	ct_time_pass(1);
	expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(t->control_qp->lost);
	CT_EXPECT_EQ(t->control->sq.posted, 1);
}

static void expect_given_up(struct durable *t)
{
	struct pvb_control *control = t->control_qp->control;

	ct_time_pass(DURABLE_TIMEOUT - 1);
	expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(t->control_qp->lost);
	ct_time_pass(1);
	expect_no_comp(t->w.cq);
	CT_EXPECT_TRUE(t->control_qp->lost);
	/* Its peer learns of it. */
	CT_EXPECT_EQ(t->control->ibv.state, IBV_QPS_ERR);
	CT_EXPECT_WARNED("FI_PVERBS_COMMIT_TIMEOUT " WORLD_PEER);
	CT_EXPECT_EQ(atomic_load(&control->waiting), 0);
	CT_EXPECT_EQ(tick(control), 0);
}

CT_TEST_F(tick, a_seq_word_that_never_advances_costs_the_control_qp)
{
	ct_time_stop();
	send_request(t, 1, 1);
	send_request(t, 2, 2);
	expect_no_comp(t->w.cq);
	expect_given_up(t);
	/* Other operations go on. */
	CT_EXPECT_EQ(plain_write(t, 4, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	fake_complete_all(t->w.qp);
	expect_comp(t->w.cq, NUMBER(4), FI_RMA | FI_WRITE, 0, 0);
}

/* Their places never become free: the peer posts no receives. */
CT_TEST_F(tick, answers_that_are_never_received_cost_the_control_qp)
{
	const struct pvb_wire_message other = {.kind = PVB_WIRE_RING_ANSWER};

	ct_time_stop();
	for (unsigned int i = 0; i < PVB_CONTROL_MESSAGES; i++)
		CT_EXPECT_TRUE(pvb_control_qp_send(t->control_qp, &other));
	send_request(t, 1, 0);
	expect_no_comp(t->w.cq);
	expect_given_up(t);
}

/* A request whose turn comes late has its own time. */
CT_TEST_F(tick, time_runs_from_when_a_request_is_the_oldest)
{
	ct_time_stop();
	send_request(t, 1, 1);
	send_request(t, 2, 2);
	expect_no_comp(t->w.cq);
	ct_time_pass(DURABLE_TIMEOUT - 1);
	t->control_qp->area->seq_word = 1;
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(t->control->sq.posted, 1);
	ct_time_pass(DURABLE_TIMEOUT - 1);
	expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(t->control_qp->lost);
}

/* What the thread looks for right away, it looks for once. */
CT_TEST_F(tick, a_new_wait_is_looked_at_closely_once)
{
	struct pvb_control *control;

	control = t->control_qp->control;
	send_request(t, 1, 1);
	expect_no_comp(t->w.cq);
	CT_EXPECT_TRUE(atomic_load(&control->fresh));
	CT_EXPECT_EQ(pvb_control_thread_start(control), 0);
	CT_EXPECT_SOON(!atomic_load(&control->fresh));
}
