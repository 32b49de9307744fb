/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for completions: fi_cq_sread, fi_trywait, fi_cq_signal. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include "ct_fid.h"
#include "../world.h"

static const struct world_opts waiting = {.wait_obj = FI_WAIT_FD};

static int trywait(struct world *w)
{
	struct fid *fid = &w->cq->fid;

	return fi_trywait(w->fabric, &fid, 1);
}

static void receive_one(struct world *w, uintptr_t number)
{
	CT_EXPECT_EQ(recv_number(w->ep, number), 0);
	fake_receive(w->qp, IBV_WC_RECV, 0, NULL);
}

static void start_waiting(struct world *w)
{
	world_reset();
	CT_ASSERT_TRUE(world_open(w, &waiting));
}

CT_FIXTURE(cq_wait, struct world, start_waiting, world_close);

CT_TEST_F(cq_wait, without_a_wait_object_nothing_can_wait)
{
	struct fi_cq_data_entry entry;

	CT_ASSERT_TRUE(world_reopen(t, NULL));
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, 0), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_cq_signal(t->cq), -FI_ENOSYS);
	CT_EXPECT_EQ(trywait(t), -FI_ENOSYS);
}

CT_TEST_F(cq_wait, after_trywait_a_completion_makes_the_descriptor_readable)
{
	for (uintptr_t i = 0; i < 20; i++) {
		while (trywait(t))
			expect_no_comp(t->cq);
		CT_EXPECT_FALSE(ct_readable(&t->cq->fid));
		receive_one(t, i);
		CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
		CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
		expect_comp(t->cq, NUMBER(i), FI_RECV | FI_MSG, 0, 0);
	}
}

/* One takes the event, the other may be asleep already. */
CT_TEST_F(cq_wait,
	  a_thread_that_finds_something_leaves_the_descriptor_readable_for_others)
{
	CT_EXPECT_EQ(trywait(t), 0);
	receive_one(t, 1);
	receive_one(t, 2);
	CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, 0, 0);
	CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
	expect_comp(t->cq, NUMBER(2), FI_RECV | FI_MSG, 0, 0);
}

CT_TEST_F(cq_wait, trywait_finds_what_came_before_it)
{
	receive_one(t, 1);
	CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
	expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, 0, 0);
	CT_EXPECT_EQ(trywait(t), 0);
}

CT_TEST_F(cq_wait, an_error_counts_as_something_to_read)
{
	CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
	expect_cq_error(t->cq, NUMBER(1), FI_RECV | FI_MSG, FI_ETRUNC);
	CT_EXPECT_EQ(trywait(t), 0);
}

CT_TEST_F(cq_wait, completions_nobody_is_told_of_do_not_keep_a_program_from_waiting)
{
	struct world_opts opts = {.wait_obj = FI_WAIT_FD,
				  .rx_size = 100,
				  .cq_flags = FI_SELECTIVE_COMPLETION};

	CT_ASSERT_TRUE(world_reopen(t, &opts));
	for (int i = 0; i < 100; i++)
		receive_one(t, 1);
	CT_EXPECT_EQ(trywait(t), 0);
	CT_EXPECT_EQ(crn_ring_used(&ep_of(t->ep)->qp.rq.ring), 0);
}

CT_TEST_F(cq_wait, a_device_that_cannot_be_armed_is_an_error)
{
	struct fi_cq_data_entry entry;

	fake_fail(FAKE_REQ_NOTIFY, 1, EIO);
	CT_EXPECT_EQ(trywait(t), -FI_EIO);
	fake_fail(FAKE_REQ_NOTIFY, 1, EIO);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, -1), -FI_EIO);
}

CT_TEST_F(cq_wait, sread_gives_what_is_there)
{
	struct fi_cq_data_entry entries[4];
	fi_addr_t addrs[4] = {0};

	receive_one(t, 1);
	receive_one(t, 2);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 4, NULL, -1), 2);
	CT_EXPECT_EQ(entries[1].op_context, NUMBER(2));
	receive_one(t, 3);
	CT_EXPECT_EQ(fi_cq_sreadfrom(t->cq, entries, 4, addrs, NULL, -1), 1);
	CT_EXPECT_EQ(entries[0].op_context, NUMBER(3));
	CT_EXPECT_EQ(addrs[0], FI_ADDR_NOTAVAIL);
	CT_EXPECT_EQ(recv_number(t->ep, 4), 0);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 4, NULL, -1), -FI_EAVAIL);
}

CT_TEST_F(cq_wait, sread_gives_up_after_the_timeout)
{
	struct fi_cq_data_entry entry;
	uint64_t start;

	ct_time_jump();
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, 0), -FI_EAGAIN);
	start = crn_now_ms();
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, 30), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_now_ms() - start, 30);
}

/* fi_cq(3): also when "the calling thread is signaled". */
CT_TEST_F(cq_wait, sread_gives_up_after_a_signal_of_the_system)
{
	struct fi_cq_data_entry entry;

	ct_interrupt_wait();
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, -1), -FI_EAGAIN);
}

CT_TEST_F(cq_wait, a_read_of_no_entries_returns)
{
	receive_one(t, 1);
	CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
	CT_EXPECT_LE(fi_cq_sread(t->cq, NULL, 0, NULL, 10), 0);
}

CT_TEST_F(cq_wait, a_threshold_is_how_many_are_waited_for)
{
	struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA,
				  .wait_obj = FI_WAIT_FD,
				  .wait_cond = FI_CQ_COND_THRESHOLD};
	struct fi_cq_data_entry entries[8];
	uint64_t start;

	CT_ASSERT_TRUE(world_reopen_domain(t, &waiting));
	CT_ASSERT_TRUE(world_swap_cq(t, &attr));
	CT_ASSERT_TRUE(world_add_ep(t, NULL, &t->ep));
	t->qp = qp_of(t->ep);
	for (uintptr_t i = 0; i < 3; i++)
		receive_one(t, i);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 8, NUMBER(3), -1), 3);
	for (uintptr_t i = 0; i < 3; i++)
		receive_one(t, i);
	ct_time_jump();
	start = crn_now_ms();
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 8, NUMBER(4), 30), 3);
	CT_EXPECT_EQ(crn_now_ms() - start, 30);
	for (uintptr_t i = 0; i < 3; i++)
		receive_one(t, i);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 2, NUMBER(100), -1), 2);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 8, NULL, -1), 1);

	receive_one(t, 1);
	CT_EXPECT_EQ(recv_number(t->ep, 2), 0);
	fake_recv_error(t->qp, IBV_WC_LOC_LEN_ERR);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 8, NUMBER(5), -1), 1);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, entries, 8, NUMBER(5), -1), -FI_EAVAIL);
}

CT_TEST_F(cq_wait, a_signal_ends_one_wait)
{
	struct fi_cq_data_entry entry;

	CT_EXPECT_EQ(fi_cq_signal(t->cq), 0);
	CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
	CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, -1), -FI_EAGAIN);
	CT_EXPECT_EQ(trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->cq->fid));
}

/* A program that never calls fi_cq_sread would find it without end. */
CT_TEST_F(cq_wait, who_waits_by_the_descriptor_is_told_of_a_signal_once)
{
	struct fi_cq_data_entry entry;

	for (int i = 0; i < 3; i++) {
		CT_EXPECT_EQ(trywait(t), 0);
		CT_EXPECT_FALSE(ct_readable(&t->cq->fid));
		CT_EXPECT_EQ(fi_cq_signal(t->cq), 0);
		CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
		CT_EXPECT_EQ(trywait(t), -FI_EAGAIN);
		expect_no_comp(t->cq);
	}
	CT_EXPECT_EQ(trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->cq->fid));
	/* It stays for the next fi_cq_sread all the same, and ends one. */
	ct_time_jump();
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, -1), -FI_EAGAIN);
	CT_EXPECT_EQ(ct_waits(), 0);
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, 10), -FI_EAGAIN);
	CT_EXPECT_EQ(ct_waits(), 1);
}

static void signal_now(void *w)
{
	CT_EXPECT_EQ(fi_cq_signal(((struct world *)w)->cq), 0);
}

/* Another thread signals, and one that waits by the descriptor looks first. */
static void signal_and_look(void *w)
{
	fake_devices[0].async_hook = NULL;
	signal_now(w);
	for (int i = 0; i < 3; i++)
		CT_EXPECT_EQ(trywait(w), -FI_EAGAIN);
}

CT_TEST_F(cq_wait, a_signal_for_fi_cq_sread_is_not_taken_by_who_polls)
{
	struct fi_cq_data_entry entry;

	/* After fi_cq_sread has found none. */
	fake_devices[0].async_hook = signal_and_look;
	fake_devices[0].async_hook_arg = t;
	ct_time_jump();
	CT_EXPECT_EQ(fi_cq_sread(t->cq, &entry, 1, NULL, 10), -FI_EAGAIN);
	CT_EXPECT_EQ(ct_waits(), 0);
}

/* Whenever another thread signals. */
CT_TEST_F(cq_wait, a_signal_during_trywait_is_not_slept_over)
{
	static const enum fake_call moments[] = {FAKE_WAIT_CLEAR, FAKE_REQ_NOTIFY};

	for (size_t i = 0; i < CRN_COUNT(moments); i++) {
		CT_NOTE("moment %zu", i);
		CT_ASSERT_TRUE(world_reopen(t, &waiting));
		CT_EXPECT_EQ(trywait(t), 0);
		fake_before(moments[i], 1, signal_now, t);
		CT_EXPECT_TRUE(trywait(t) == -FI_EAGAIN || ct_readable(&t->cq->fid));
		CT_EXPECT_TRUE(cq_of(t->cq)->signaled);
	}
}

static void receive_now(void *w)
{
	fake_receive(((struct world *)w)->qp, IBV_WC_RECV, 0, NULL);
}

CT_TEST_F(cq_wait, a_completion_during_trywait_is_not_slept_over)
{
	static const enum fake_call moments[] = {FAKE_WAIT_CLEAR, FAKE_REQ_NOTIFY};

	for (size_t i = 0; i < CRN_COUNT(moments); i++) {
		CT_NOTE("moment %zu", i);
		CT_ASSERT_TRUE(world_reopen(t, &waiting));
		CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
		CT_EXPECT_EQ(trywait(t), 0);
		fake_before(moments[i], 1, receive_now, t);
		CT_EXPECT_TRUE(trywait(t) == -FI_EAGAIN || ct_readable(&t->cq->fid));
		expect_comp(t->cq, NUMBER(1), FI_RECV | FI_MSG, 0, 0);
	}
}

/* Also where the device says nothing, and so raises no event. */
CT_TEST_F(cq_wait, closing_an_endpoint_wakes_who_waits_for_its_completions)
{
	for (int silent = 0; silent <= 1; silent++) {
		world_renew(t);
		fake_devices[0].no_flush = silent;
		pvb_params.close_timeout = 10;
		world_polls_take_time();
		CT_ASSERT_TRUE(world_open(t, &waiting));
		CT_EXPECT_EQ(recv_number(t->ep, 1), 0);
		while (trywait(t))
			expect_no_comp(t->cq);
		CT_EXPECT_FALSE(ct_readable(&t->cq->fid));
		world_close_ep(t);
		CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
		expect_cq_error(t->cq, NUMBER(1), FI_RECV | FI_MSG, FI_ECANCELED);
	}
}

CT_TEST_F(cq_wait, a_refused_chain_wakes_who_waits_for_its_completions)
{
	CT_ASSERT_TRUE(world_reopen_connected(t, &waiting));
	CT_EXPECT_EQ(send_more(t->ep, 1), 0);
	while (trywait(t))
		expect_no_comp(t->cq);
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CT_EXPECT_EQ(send_number(t->ep, 2), -FI_EINVAL);
	CT_EXPECT_TRUE(ct_readable(&t->cq->fid));
	expect_cq_error(t->cq, NUMBER(1), FI_SEND | FI_MSG, FI_EINVAL);
}

static void *sread_thread(void *arg)
{
	struct fi_cq_data_entry entry = {0};
	ssize_t ret = fi_cq_sread(arg, &entry, 1, NULL, CT_DEADLINE_MS);

	return ret == 1 ? entry.op_context : NUMBER(-ret);
}

CT_TEST_F(cq_wait, a_waiting_thread_is_woken_by_a_completion)
{
	pthread_t thread;
	void *result;

	CT_EXPECT_EQ(recv_number(t->ep, 1234), 0);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, sread_thread, t->cq), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	fake_receive(t->qp, IBV_WC_RECV, 0, NULL);
	CT_EXPECT_EQ(pthread_join(thread, &result), 0);
	CT_EXPECT_EQ(result, NUMBER(1234));
}

CT_TEST_F(cq_wait, a_waiting_thread_is_woken_by_a_signal)
{
	pthread_t thread;
	void *result;

	CT_ASSERT_EQ(pthread_create(&thread, NULL, sread_thread, t->cq), 0);
	CT_EXPECT_SOON(ct_waiting() == 1);
	CT_EXPECT_EQ(fi_cq_signal(t->cq), 0);
	CT_EXPECT_EQ(pthread_join(thread, &result), 0);
	CT_EXPECT_EQ(result, NUMBER(FI_EAGAIN));
}

/* Its endpoint, and so the device queue, is made after the wait began. */
CT_TEST_F(cq_wait, a_waiting_thread_hears_of_an_endpoint_that_comes_later)
{
	pthread_t thread;
	void *result;

	CT_ASSERT_TRUE(world_reopen_domain(t, &waiting));
	CT_ASSERT_EQ(pthread_create(&thread, NULL, sread_thread, t->cq), 0);
	CT_EXPECT_SOON(ct_waits() == 1);
	if (world_add_ep(t, NULL, &t->ep)) {
		CT_EXPECT_SOON(ct_waits() == 2);
		CT_EXPECT_EQ(recv_number(t->ep, 77), 0);
		fake_receive(qp_of(t->ep), IBV_WC_RECV, 0, NULL);
	}
	CT_EXPECT_EQ(pthread_join(thread, &result), 0);
	CT_EXPECT_EQ(result, NUMBER(77));
}

#define THREADS 3
#define MESSAGES 3000

struct readers {
	struct fid_cq *cq;
	atomic_uint left; /* messages */
	atomic_uint done; /* readers */
};

static void *reader_thread(void *arg)
{
	struct fi_cq_data_entry entries[4];
	struct readers *readers = arg;
	ssize_t ret;

	while (atomic_load(&readers->left)) {
		ret = fi_cq_sread(readers->cq, entries, 4, NULL, CT_DEADLINE_MS);
		if (ret > 0)
			atomic_fetch_sub(&readers->left, (unsigned int)ret);
		else
			CT_EXPECT_EQ(ret, -FI_EAGAIN);
	}
	atomic_fetch_add(&readers->done, 1);
	return NULL;
}

/* A signal ends one wait; the thread that takes it may have none to come. */
static bool done_after_signal(struct readers *readers)
{
	CT_EXPECT_EQ(fi_cq_signal(readers->cq), 0);
	return atomic_load(&readers->done) == THREADS;
}

CT_TEST_F(cq_wait, threads_that_post_and_threads_that_read_share_a_queue)
{
	struct world_opts opts = {.wait_obj = FI_WAIT_FD, .tx_size = 32};
	struct readers readers = {.left = MESSAGES};
	pthread_t threads[THREADS];

	world_renew(t);
	fake_devices[0].completes_at_once = true;
	CT_ASSERT_TRUE(world_open_connected(t, &opts));
	readers.cq = t->cq;
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_create(&threads[i], NULL, reader_thread, &readers),
			     0);
	for (uintptr_t i = 0; i < MESSAGES; i++) {
		while (send_number(t->ep, i) == -FI_EAGAIN)
			sched_yield();
	}
	CT_EXPECT_SOON(!atomic_load(&readers.left));
	CT_EXPECT_SOON(done_after_signal(&readers));
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_join(threads[i], NULL), 0);
	expect_no_comp(t->cq);
}
