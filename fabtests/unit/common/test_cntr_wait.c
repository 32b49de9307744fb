/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread in fi_cntr_wait, and the progress that counts for it. */
#include <pthread.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cntr_world.h"
#include "ct_fid.h"

CT_FIXTURE(cntr, struct crn_cntr, open_cntr, close_cntr);

CT_TEST_F(cntr, wait_returns_at_once_when_the_threshold_is_reached)
{
	reopen_cntr(t, FI_WAIT_UNSPEC);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 0, -1), 0);
	CT_EXPECT_EQ(fi_cntr_set(&t->fid, 3), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 3, -1), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 2, 0), 0);
}

CT_TEST_F(cntr, wait_times_out)
{
	uint64_t start;

	ct_time_jump();
	start = crn_now_ms();
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 50), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(crn_now_ms() - start, 50);
}

CT_TEST_F(cntr, an_old_error_does_not_end_a_wait)
{
	ct_time_jump();
	crn_cntr_inc_err(t);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 20), -FI_ETIMEDOUT);
}

CT_TEST_F(cntr, a_signal_of_the_system_ends_a_wait)
{
	ct_interrupt_wait();
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, -1), -FI_EINTR);
}

static void increment(void *cntr)
{
	crn_cntr_inc(cntr);
}

CT_TEST_F(cntr, an_increment_at_the_last_moment_counts)
{
	ct_time_jump();
	ct_after_wait(increment, t);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 30), 0);
	ct_interrupt_wait();
	ct_after_wait(increment, t);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 2, -1), 0);
}

CT_TEST_F(cntr, waiting_without_a_wait_object_is_refused_rather_than_hanging)
{
	reopen_cntr(t, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, -1), -FI_ENOSYS);
}

/* A provider whose completions arrive at a descriptor, here an eventfd. */
static int source_fd;
static unsigned int progressed;

static void source_progress(struct crn_cntr *cntr)
{
	eventfd_t count;

	progressed++;
	if (eventfd_read(source_fd, &count))
		return;
	while (count--)
		crn_cntr_inc(cntr);
}

static void add_source(struct crn_cntr *cntr)
{
	progressed = 0;
	source_fd = eventfd(0, EFD_NONBLOCK);
	cntr->progress = source_progress;
	CT_EXPECT_EQ(crn_wait_add_fd(&cntr->wait, source_fd), 0);
}

static void close_with_source(struct crn_cntr *cntr)
{
	close_cntr(cntr);
	close(source_fd);
}

CT_TEST_F(cntr, reading_and_waiting_drive_progress)
{
	add_source(t);
	eventfd_write(source_fd, 2);
	CT_EXPECT_EQ(fi_cntr_read(&t->fid), 2);
	eventfd_write(source_fd, 1);
	CT_EXPECT_EQ(fi_cntr_readerr(&t->fid), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 3, 0), 0);
	eventfd_write(source_fd, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 4, -1), 0);
	eventfd_write(source_fd, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 5, 0), 0);
	close_with_source(t);
}

static void *feed(void *arg)
{
	for (unsigned int i = 0; i < 100; i++) {
		/* Now and then not before the waiter blocks. */
		if (i % 10 == 0)
			CT_EXPECT_SOON(ct_waiting() == 1);
		eventfd_write(source_fd, 1);
	}
	return NULL;
}

CT_TEST_F(cntr, a_descriptor_of_the_provider_wakes_a_waiter)
{
	pthread_t feeder;

	add_source(t);
	CT_ASSERT_EQ(pthread_create(&feeder, NULL, feed, NULL), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 100, CT_DEADLINE_MS), 0);
	pthread_join(feeder, NULL);
	close_with_source(t);
}

CT_TEST_F(cntr, a_blocked_waiter_does_not_spin)
{
	ct_time_jump();
	add_source(t);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 300), -FI_ETIMEDOUT);
	CT_EXPECT_LE(progressed, 4);
	close_with_source(t);
}
