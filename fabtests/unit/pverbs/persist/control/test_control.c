/* SPDX-License-Identifier: BSD-2-Clause */
/* What may arrive at a control queue pair, from whomever. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include "ct_fid.h"
#include "../durable.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"

#define WRITE (FI_RMA | FI_WRITE)

/* The control queue pair is lost: durable operations have ended, others have not noticed.
 */
static void expect_lost(struct durable *d)
{
	expect_no_comp(d->w.cq);
	CT_EXPECT_TRUE(d->control_qp->lost);
	CT_EXPECT_EQ(d->control->ibv.state, IBV_QPS_ERR);
	expect_cq_error(d->w.cq, NUMBER(1), WRITE, FI_ECONNABORTED);
	expect_comp(d->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(d->w.cq);
	CT_EXPECT_EQ(durable_write(d, 3, 0, 8, KEY_REQUESTS, 0), -FI_ECONNABORTED);
	CT_EXPECT_EQ(plain_write(d, 4, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	durable_complete(d);
	expect_comp(d->w.cq, NUMBER(4), WRITE, 0, 0);
	expect_no_comp(d->w.cq);
}

/* A durable write, and a plain one behind it, that the device has completed. */
static bool open_waiting(struct durable *d)
{
	if (!durable_open(d, NULL))
		return false;
	CT_EXPECT_EQ(durable_write(d, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(plain_write(d, 2, 64, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	durable_complete(d);
	expect_no_comp(d->w.cq);
	return !ct_failed();
}

CT_FIXTURE(control, struct durable, durable_start, durable_close);

CT_TEST_F(control, what_cannot_be_understood_costs_the_control_qp)
{
	static const struct {
		const char *what;
		size_t len;
		uint8_t bytes[24];
	} rows[] = {
		{"nothing", 0, {0}},
		{"an unknown kind", 16, {9}},
		{"an answer cut short", 7, {2, 0, 0, 0, 1}},
		{"a request of too many ranges", 16, {1, 255}},
		{"a request without its ranges", 16, {1, 1}},
		{"an answer out of turn", 8, {2, 0, 0, 0, 2}},
		{"an answer to number 0", 8, {2, 0, 0, 0, 0}},
		{"an answer about an entry never written", 8, {3, 0, 0, 0, 1}},
		{"a request out of turn", 16, {1, 0, 0, 0, 7}},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("%s", rows[i].what);
		CT_ASSERT_TRUE(open_waiting(t));
		durable_arrives(t, rows[i].bytes, rows[i].len);
		expect_lost(t);
	}
}

CT_TEST_F(control, an_answer_to_what_was_not_asked_yet_answers_nothing)
{
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	CT_EXPECT_TRUE(t->control_qp->lost);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), -FI_ECONNABORTED);
}

CT_TEST_F(control, a_broken_control_queue_pair_costs_the_control_qp)
{
	CT_ASSERT_TRUE(open_waiting(t));
	fake_recv_error(t->control, IBV_WC_LOC_PROT_ERR);
	expect_lost(t);
}

CT_TEST_F(control, a_receive_that_cannot_be_posted_again_costs_the_control_qp)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x100, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	durable_answer(t, 0);
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	expect_no_comp(t->w.cq);
	/* The answer itself arrived. */
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_ECONNABORTED);
}

CT_TEST_F(control, a_request_that_cannot_be_sent_costs_the_control_qp)
{
	fake_fail(FAKE_POST_SEND, 3, EINVAL);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_TRUE(t->control_qp->lost);
	fake_complete_all(t->w.qp);
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_ECONNABORTED);
}

CT_TEST_F(control, more_requests_than_agreed_on_cost_the_control_qp)
{
	struct pvb_wire_message message = {.kind = PVB_WIRE_REQUEST, .seq_word = 1};

	CT_ASSERT_TRUE(open_waiting(t));
	for (uint32_t i = 1; i <= PVB_CONTROL_CREDITS; i++) {
		message.number = i;
		durable_message(t, &message);
	}
	expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(t->control_qp->lost);
	CT_EXPECT_EQ(t->control_qp->inbox_count, PVB_CONTROL_CREDITS);
	CT_EXPECT_EQ(t->control_qp->control->waiting, 1);
	durable_message(t, &message);
	expect_lost(t);
	CT_EXPECT_EQ(t->control_qp->control->waiting, 0);
}

CT_TEST_F(control, a_waiting_request_does_not_keep_a_connection_from_closing)
{
	const struct pvb_wire_message message = {.kind = PVB_WIRE_REQUEST,
						 .number = 1,
						 .seq_word = 1};
	struct pvb_control *control;

	control = t->control_qp->control;
	durable_message(t, &message);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(control->waiting, 1);
	world_close_ep(&t->w);
	CT_EXPECT_EQ(control->waiting, 0);
}

/* Else who waits for a counter that no endpoint feeds yet would wake up for ever. */
CT_TEST_F(control, a_tick_is_taken_note_of_by_a_counter_without_endpoint)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP,
				    .wait_obj = FI_WAIT_UNSPEC};
	struct fid_cntr *fid = NULL;
	struct pollfd timer;
	struct crn_cntr *cntr;

	CT_EXPECT_EQ(fi_cntr_open(t->w.domain, &attr, &fid, NULL), 0);
	cntr = crn_container_of(fid, struct crn_cntr, fid);
	timer = (struct pollfd){.fd = t->control_qp->control->timer, .events = POLLIN};
	pvb_tick(t->control_qp->control);
	CT_EXPECT_EQ(poll(&timer, 1, 10000), 1);
	CT_EXPECT_EQ(cntr->arm(cntr), 0);
	CT_EXPECT_EQ(poll(&timer, 1, 0), 0);
	CT_EXPECT_EQ(atomic_load(&t->control_qp->control->ticks), 0);
	CT_EXPECT_EQ(fi_close(&fid->fid), 0);
}

/* Another thread takes the answer, and with it the event. */
static void expect_wakes(struct durable *t, bool fails)
{
	const struct world_opts opts = {.tx_size = 64, .wait_obj = FI_WAIT_FD};
	struct fid *fid;

	CT_NOTE("fails: %d", fails);
	CT_ASSERT_TRUE(durable_open(t, &opts));
	fid = &t->w.cq->fid;
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	while (fi_trywait(t->w.fabric, &fid, 1))
		expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(ct_readable(fid));
	if (fails)
		fake_recv_error(t->control, IBV_WC_LOC_LEN_ERR);
	else
		durable_answer(t, 0);
	CT_EXPECT_EQ(pvb_control_arm(t->control_qp->control), 0);
	CT_EXPECT_TRUE(ct_readable(fid));
	CT_EXPECT_EQ(fi_trywait(t->w.fabric, &fid, 1), -FI_EAGAIN);
}

CT_TEST_F(control, an_answer_that_another_thread_takes_wakes_the_initiator)
{
	expect_wakes(t, false);
	expect_wakes(t, true);
}

CT_TEST_F(control, the_thread_of_a_removed_device_ends)
{
	struct pvb_domain *domain;
	unsigned int waits;

	domain = t->control_qp->control->domain;
	CT_ASSERT_EQ(pvb_control_thread_start(t->control_qp->control), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	fake_remove(&fake_devices[0], domain->verbs);
	CT_EXPECT_SOON(atomic_load(&domain->gone) && !ct_waiting());
	/* Its descriptors stay readable: a thread that looks at them does nothing else.
	 */
	waits = ct_waits();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	CT_EXPECT_EQ(ct_waits(), waits);
}
