/* SPDX-License-Identifier: BSD-2-Clause */
/* Durable operations end with the target's answer, in their turn, and once. */
#include <rdma/fi_atomic.h>
#include "cq/cq.h"
#include "ct_fid.h"
#include "persist/initiator/defer.h"
#include "persist/initiator/initiator.h"
#include "persist/persist.h"
#include "persist/target/target.h"
#include "../target/receiver.h"

#define WRITE (FI_RMA | FI_WRITE)

/* Reads until nothing more comes: a read that finds nothing may have taken answers. */
static unsigned int ends(struct durable *d, unsigned int *errors)
{
	unsigned int count = 0, more = 0, failed;

	*errors = 0;
	for (int i = 0; i < 3; i++) {
		more = read_all_comps(d->w.cq, &failed);
		count += more;
		*errors += failed;
	}
	return count;
}

CT_FIXTURE(defer, struct durable, durable_start, durable_close);

CT_TEST_F(defer, operations_end_in_the_order_of_posting)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 2, 64, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 128, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 4, 192, 8, KEY_READS, 0), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_comp(t->w.cq, NUMBER(3), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(4), WRITE, 0, 0);
	CT_EXPECT_EQ(crn_ring_used(&t->qp->sq.ring), 0);
}

CT_TEST_F(defer, an_answer_before_the_completion_is_as_good)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_no_comp(t->w.cq);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
}

CT_TEST_F(defer, what_the_target_says_is_the_error_of_that_operation)
{
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	durable_answer(t, FI_EKEYREJECTED);
	durable_answer(t, 0);
	expect_no_comp(t->w.cq);
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_EKEYREJECTED);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
}

CT_TEST_F(defer, silence_ends_the_operation_and_the_control_qp_and_nothing_else)
{
	ct_time_stop();
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 2, 64, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 128, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	ct_time_pass(DURABLE_TIMEOUT - 1);
	expect_no_comp(t->w.cq);
	ct_time_pass(1);
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_ETIMEDOUT);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	expect_cq_error(t->w.cq, NUMBER(3), WRITE, FI_ECONNABORTED);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_write(t, 4, 0, 8, KEY_REQUESTS, 0), -FI_ECONNABORTED);
	CT_EXPECT_EQ(durable_write(t, 5, 0, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(plain_write(t, 6, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(5), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(6), WRITE, 0, 0);
}

CT_TEST_F(defer, an_answer_that_nobody_looked_for_in_time_is_in_time)
{
	ct_time_stop();
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	durable_answer(t, 0);
	ct_time_pass(10 * DURABLE_TIMEOUT); /* stopped, or very busy */
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	CT_EXPECT_FALSE(t->control_qp->lost);
}

CT_TEST_F(defer, closing_ends_everything_once)
{
	unsigned int errors;

	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 3, 128, 8, KEY_READS, 0), 0);
	CT_EXPECT_EQ(durable_write(t, 4, 192, 8, KEY_REQUESTS, FI_FENCE), -FI_EAGAIN);
	fake_complete(t->w.qp, 2); /* the first, but not its answer */
	expect_no_comp(t->w.cq);
	world_close_ep(&t->w);
	for (uintptr_t i = 1; i <= 3; i++)
		expect_cq_error(t->w.cq, NUMBER(i), WRITE, FI_ECANCELED);
	CT_EXPECT_EQ(ends(t, &errors), 0);
}

CT_TEST_F(defer, a_broken_connection_ends_each_operation_once_whichever_entry_fails)
{
	/* Entries: 2 of each durable write, 1 of the plain one. */
	for (unsigned int good = 0; good < 5; good++) {
		unsigned int errors, count;

		CT_NOTE("%u entries succeed", good);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
		CT_EXPECT_EQ(plain_write(t, 2, 64, 8, KEY_REQUESTS, FI_COMPLETION), 0);
		CT_EXPECT_EQ(durable_write(t, 3, 128, 8, KEY_READS, 0), 0);
		fake_complete(t->w.qp, good);
		fake_send_error(t->w.qp, IBV_WC_REM_ACCESS_ERR);
		durable_answer(t, 0);
		count = ends(t, &errors);
		CT_EXPECT_EQ(count, 3);
		CT_EXPECT_EQ(errors, good < 2 ? 3 : good < 3 ? 2 : 1);
		world_close_ep(&t->w);
		CT_EXPECT_EQ(ends(t, &errors), 0);
	}
}

CT_TEST_F(defer, an_operation_half_posted_ends_once_although_the_queue_pair_breaks)
{
	unsigned int errors;

	fake_fail(FAKE_POST_SEND, 2, EINVAL);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	fake_send_error(t->w.qp, IBV_WC_RETRY_EXC_ERR);
	expect_cq_error(t->w.cq, NUMBER(1), WRITE, FI_EINVAL);
	CT_EXPECT_EQ(ends(t, &errors), 0);
	world_close_ep(&t->w);
	CT_EXPECT_EQ(ends(t, &errors), 0);
}

static ssize_t durable_send(struct durable *d, uintptr_t number)
{
	struct iovec iov = {d, 8};
	const struct fi_msg msg = {.msg_iov = &iov,
				   .iov_count = 1,
				   .context = NUMBER(number)};

	return fi_sendmsg(d->w.ep, &msg, FI_COMMIT_COMPLETE | FI_COMPLETION);
}

/* A program that looks at nothing but its completion queue. */
CT_TEST_F(defer, all_end_with_the_connection_and_no_more_are_taken)
{
	static const bool sends[] = {true, false};
	unsigned int errors;
	ssize_t ret;

	for (size_t i = 0; i < CRN_COUNT(sends); i++) {
		uintptr_t count = 0;

		CT_NOTE("sends: %d", sends[i]);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		do
			ret = sends[i] ? durable_send(t, count)
				       : durable_write(t, count, 64 * count, 8,
						       KEY_REQUESTS, 0);
		while (!ret && ++count);
		CT_EXPECT_EQ(ret, -FI_EAGAIN);
		CT_EXPECT_EQ(count, PVB_CONTROL_CREDITS);
		fake_send_error(t->w.qp, IBV_WC_RETRY_EXC_ERR);
		CT_EXPECT_EQ(ends(t, &errors), count);
		CT_EXPECT_EQ(errors, count);
		CT_EXPECT_EQ(sends[i] ? durable_send(t, count)
				      : durable_write(t, count, 0, 8, KEY_REQUESTS, 0),
			     -FI_ESHUTDOWN);
	}
}

/* The same, when the peer ends the connection instead of answering. */
CT_TEST_F(defer, the_end_of_the_connection_is_noticed_without_the_event_queue)
{
	ct_time_stop();
	CT_EXPECT_EQ(durable_send(t, 1), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	fake_event(t->w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	ct_time_pass(PVB_DEFER_LOOK_MS);
	expect_no_comp(t->w.cq); /* it finds the event */
	expect_cq_error(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, FI_ECANCELED);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(durable_send(t, 2), -FI_ESHUTDOWN);
	expect_event(t->w.eq, FI_SHUTDOWN, &t->w.ep->fid, NULL, 0);
	expect_no_event(t->w.eq);
}

/* Nor without a completion queue that anybody reads. */
CT_FIXTURE(defer_counted, struct receiver, NULL, receiver_close);

CT_TEST_F(defer_counted, the_end_of_the_connection_is_noticed_by_a_counter)
{
	CT_ASSERT_TRUE(receiver_open_counted(t, 8, FI_SEND));
	ct_time_stop();
	CT_EXPECT_EQ(durable_send(&t->d, 1), 0);
	durable_complete(&t->d);
	CT_EXPECT_EQ(fi_cntr_read(t->cntr), 0);
	fake_event(t->d.w.id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
	ct_time_pass(PVB_DEFER_LOOK_MS);
	CT_EXPECT_EQ(fi_cntr_readerr(t->cntr), 0); /* it finds the event */
	CT_EXPECT_EQ(fi_cntr_readerr(t->cntr), 1);
}

/* Whoever reads the event queue meanwhile does the same. */
CT_TEST_F(defer, looking_for_events_waits_for_nobody)
{
	struct pvb_eq *eq;

	eq = pvb_eq_of(crn_eq_of(t->w.eq));
	ct_time_stop();
	CT_EXPECT_EQ(durable_send(t, 1), 0);
	durable_complete(t);
	ct_time_pass(PVB_DEFER_LOOK_MS);
	pthread_mutex_lock(&eq->cm_lock);
	expect_no_comp(t->w.cq);
	pthread_mutex_unlock(&eq->cm_lock);
	CT_EXPECT_EQ(atomic_load(&eq->looking), 0);
}

/* Else the message behind it is taken for the durable one, and the answer to that for
 * nobody's. */
CT_TEST_F(defer, an_entry_whose_message_was_refused_is_not_another_messages)
{
	struct pvb_wire_entry entry;
	const struct fake_wr *wr;

	for (int kind = 0; kind < 3; kind++) {
		CT_NOTE("kind %d", kind);
		CT_ASSERT_TRUE(durable_open(t, NULL));
		fake_fail(FAKE_POST_SEND, 2, EINVAL);
		CT_EXPECT_EQ(durable_send(t, 1), 0);
		expect_cq_error(t->w.cq, NUMBER(1), FI_SEND | FI_MSG, FI_EINVAL);
		CT_EXPECT_EQ(t->w.qp->sq.posted, 1);
		if (kind == 0)
			CT_EXPECT_EQ(fi_send(t->w.ep, "1", 1, NULL, 0, NUMBER(2)), 0);
		else if (kind == 1)
			CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_ARRIVED,
						   FI_REMOTE_CQ_DATA),
				     0);
		else
			CT_EXPECT_EQ(durable_send(t, 2), 0);
		/* In its place, ahead of the message. */
		CT_EXPECT_EQ(t->w.qp->sq.posted, 3);
		wr = fake_wr(&t->w.qp->sq, 1);
		CT_EXPECT_EQ(wr->opcode, IBV_WR_RDMA_WRITE);
		CT_EXPECT_EQ(wr->remote_addr, fake_wr(&t->w.qp->sq, 0)->remote_addr);
		pvb_wire_parse_entry(&entry, (const void *)(uintptr_t)wr->sge[0].addr);
		CT_EXPECT_EQ(entry.number, 1);
		CT_EXPECT_EQ(entry.message, kind == 2);
		/* And no longer. */
		CT_EXPECT_EQ(fi_send(t->w.ep, "1", 1, NULL, 0, NUMBER(3)), 0);
		CT_EXPECT_EQ(t->w.qp->sq.posted, 4);
	}
}

CT_TEST_F(defer, a_fence_whose_earlier_writes_are_not_durable_fails)
{
	unsigned int errors;

	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 8, KEY_REQUESTS, FI_FENCE), 0);
	durable_complete(t);
	durable_answer(t, FI_EKEYREJECTED); /* what 1 wrote */
	durable_answer(t, 0);		    /* 2 alone is */
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_ECANCELED);
	CT_EXPECT_EQ(durable_write(t, 3, 0, 8, KEY_READS, 0), -FI_ECONNABORTED);
	CT_EXPECT_EQ(ends(t, &errors), 0);
}

CT_TEST_F(defer, a_fence_that_writes_nothing_fails_with_what_it_is_about)
{
	unsigned int errors;

	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 0, KEY_REQUESTS, FI_FENCE), 0);
	durable_complete(t);
	durable_answer(t, FI_EKEYREJECTED);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_ECANCELED);
	CT_EXPECT_EQ(ends(t, &errors), 0);
}

/* Also when nothing is held back any more as it completes. */
CT_TEST_F(defer, a_fence_that_completes_behind_a_refusal_fails)
{
	CT_EXPECT_EQ(plain_write(t, 1, 0, 8, KEY_REQUESTS, FI_COMPLETION), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 0x8000, 0, KEY_REQUESTS, FI_FENCE), 0);
	CT_EXPECT_TRUE(fake_complete(t->w.qp, t->w.qp->sq.posted - 1));
	fake_complete_all(t->control);
	durable_answer(t, FI_EKEYREJECTED);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_no_comp(t->w.cq);
	expect_no_comp(t->w.cq);
	CT_EXPECT_FALSE(t->qp->commit->defer.active);
	fake_complete_all(t->w.qp);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_ECANCELED);
	expect_no_comp(t->w.cq);
}

/* The deadline of an answer wakes who sleeps. */
CT_TEST_F(defer, while_an_answer_is_missing_it_ticks)
{
	const struct world_opts opts = {.tx_size = 64, .wait_obj = FI_WAIT_FD};

	CT_ASSERT_TRUE(durable_open(t, &opts));
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	CT_EXPECT_TRUE(t->qp->commit->defer.active);
	CT_EXPECT_NE(atomic_load(&t->control_qp->control->ticks), 0);
	CT_EXPECT_SOON(ct_readable(&t->w.cq->fid));
}

/* What is not read fills what there is room for; the rest waits. */
CT_TEST_F(defer, a_queue_that_nobody_reads_loses_nothing)
{
	const struct world_opts opts = {.tx_size = 64, .rx_size = 128};
	unsigned int received = 0, written = 0;
	struct fi_cq_data_entry entry;
	ssize_t ret;

	CT_ASSERT_TRUE(durable_open(t, &opts));
	for (uintptr_t i = 0; i < PVB_CONTROL_CREDITS; i++)
		CT_EXPECT_EQ(durable_write(t, i, i * 64, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	expect_no_comp(t->w.cq);
	do {
		ret = recv_number(t->w.ep, 100);
		if (!ret) {
			fake_receive(t->w.qp, IBV_WC_RECV, 0, NULL);
			received++;
		}
		CT_EXPECT_LE(fi_cq_read(t->w.cq, NULL, 0), 0);
	} while (!ret);
	for (unsigned int i = 0; i < PVB_CONTROL_CREDITS; i++)
		durable_answer(t, 0);
	pvb_control_progress(t->control_qp->control);
	CT_EXPECT_LE(fi_cq_read(t->w.cq, NULL, 0), 0);
	while (fi_cq_read(t->w.cq, &entry, 1) == 1) {
		if (entry.op_context == NUMBER(100))
			received--;
		else
			CT_EXPECT_EQ(entry.op_context, NUMBER(written++));
	}
	CT_EXPECT_EQ(received, 0);
	CT_EXPECT_EQ(written, PVB_CONTROL_CREDITS);
}

CT_TEST_F(defer, counters_count_at_durability)
{
	const struct world_opts opts = {
		.tx_size = 64,
		.caps = FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_PMEM,
		.tx_op_flags = FI_COMMIT_COMPLETE,
	};
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	const uint64_t one = 1;
	struct fid_cntr *cntr = NULL;
	struct pvb_cntr *wr;

	CT_ASSERT_TRUE(durable_open(t, &opts));
	CT_EXPECT_EQ(fi_cntr_open(t->w.domain, &attr, &cntr, NULL), 0);
	/* As fi_ep_bind before fi_enable. */
	wr = crn_container_of(cntr, struct pvb_cntr, cntr.fid);
	atomic_fetch_add(&wr->refs, 1);
	t->qp->sq.cntr[PVB_COUNT_WRITE] = wr;
	t->qp->sq.counted = true;
	CT_EXPECT_EQ(pvb_cntr_attach(&t->qp->sq), 0);
	CT_EXPECT_EQ(fi_inject_write(t->w.ep, "1", 1, 0, DURABLE_ADDR, KEY_REQUESTS), 0);
	CT_EXPECT_EQ(durable_write(t, 2, 64, 8, KEY_REQUESTS, 0), 0);
	durable_complete(t);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 0);
	durable_answer(t, 0);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 1);
	durable_answer(t, FI_EIO);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 1);
	CT_EXPECT_EQ(fi_cntr_readerr(cntr), 1);
	expect_cq_error(t->w.cq, NUMBER(2), WRITE, FI_EIO);
	expect_no_comp(t->w.cq);
	CT_EXPECT_EQ(fi_inject_atomic(t->w.ep, &one, 1, 0, DURABLE_ADDR, KEY_REQUESTS,
				      FI_UINT64, FI_SUM),
		     0);
	durable_complete(t);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 1);
	durable_answer(t, 0);
	CT_EXPECT_EQ(fi_cntr_read(cntr), 2);
	expect_no_comp(t->w.cq);
	world_close_ep(&t->w);
	CT_EXPECT_EQ(fi_close(&cntr->fid), 0);
}

/* What has no need of the target's processor costs what it costs without a control queue
 * pair. */
CT_TEST_F(defer, a_send_queue_is_looked_at_from_the_first_that_may_be_deferred_on)
{
	CT_ASSERT_TRUE(durable_open(t, NULL));
	CT_EXPECT_TRUE(!t->qp->sq.on_complete);
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_READS, 0), 0);
	CT_EXPECT_TRUE(!t->qp->sq.on_complete);
	CT_EXPECT_EQ(durable_write(t, 2, 0, 8, KEY_READS, FI_FENCE), 0);
	CT_EXPECT_TRUE(!t->qp->sq.on_complete);
	CT_EXPECT_FALSE(t->qp->commit->defer.active);
	durable_complete(t);
	expect_comp(t->w.cq, NUMBER(1), WRITE, 0, 0);
	expect_comp(t->w.cq, NUMBER(2), WRITE, 0, 0);
	CT_EXPECT_EQ(atomic_load(&t->control_qp->control->ticks), 0);
	CT_ASSERT_TRUE(durable_open(t, NULL));
	CT_EXPECT_EQ(durable_write(t, 1, 0, 8, KEY_REQUESTS, 0), 0);
	CT_EXPECT_TRUE(t->qp->sq.on_complete != NULL);
}
