/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread in fi_cntr_wait, and the progress that counts for it. */
#include <pthread.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cntr_world.h"
#include "ct_fid.h"

CT_TEST(cntr, wait_returns_at_once_when_the_threshold_is_reached)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_UNSPEC);

	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 0, -1), 0);
	CT_EXPECT_EQ(fi_cntr_set(&cntr->fid, 3), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 3, -1), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 2, 0), 0);
	close_cntr(cntr);
}

CT_TEST(cntr, wait_times_out)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	uint64_t start;

	ct_time_jump();
	start = crn_now_ms();
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 50), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(crn_now_ms() - start, 50);
	close_cntr(cntr);
}

CT_TEST(cntr, an_old_error_does_not_end_a_wait)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	ct_time_jump();
	crn_cntr_inc_err(cntr);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 20), -FI_ETIMEDOUT);
	close_cntr(cntr);
}

CT_TEST(cntr, a_signal_of_the_system_ends_a_wait)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	ct_interrupt_wait();
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, -1), -FI_EINTR);
	close_cntr(cntr);
}

static void increment(void *cntr)
{
	crn_cntr_inc(cntr);
}

CT_TEST(cntr, an_increment_at_the_last_moment_counts)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	ct_time_jump();
	ct_after_wait(increment, cntr);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 30), 0);
	ct_interrupt_wait();
	ct_after_wait(increment, cntr);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 2, -1), 0);
	close_cntr(cntr);
}

CT_TEST(cntr, waiting_without_a_wait_object_is_refused_rather_than_hanging)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_NONE);

	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, -1), -FI_ENOSYS);
	close_cntr(cntr);
}

/* A provider whose completions arrive at a descriptor, here an eventfd. */
struct source_cntr {
	struct crn_cntr cntr;
	int fd;
	unsigned int progressed;
};

static void source_progress(struct crn_cntr *cntr)
{
	struct source_cntr *source = crn_container_of(cntr, struct source_cntr, cntr);
	eventfd_t count;

	source->progressed++;
	if (eventfd_read(source->fd, &count))
		return;
	while (count--)
		crn_cntr_inc(cntr);
}

static void source_open(struct source_cntr *source)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};

	source->progressed = 0;
	source->fd = eventfd(0, EFD_NONBLOCK);
	CT_EXPECT_EQ(crn_cntr_init(&source->cntr, &attr, NULL, source_progress), 0);
	CT_EXPECT_EQ(crn_wait_add_fd(&source->cntr.wait, source->fd), 0);
}

static void source_close(struct source_cntr *source)
{
	crn_cntr_fini(&source->cntr);
	close(source->fd);
}

CT_TEST(cntr, reading_and_waiting_drive_progress)
{
	struct source_cntr source;

	source_open(&source);
	eventfd_write(source.fd, 2);
	CT_EXPECT_EQ(fi_cntr_read(&source.cntr.fid), 2);
	eventfd_write(source.fd, 1);
	CT_EXPECT_EQ(fi_cntr_readerr(&source.cntr.fid), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 3, 0), 0);
	eventfd_write(source.fd, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 4, -1), 0);
	eventfd_write(source.fd, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 5, 0), 0);
	source_close(&source);
}

static void *feed(void *arg)
{
	struct source_cntr *source = arg;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		/* Now and then not before the waiter blocks. */
		if (i % 10 == 0)
			CT_EXPECT_SOON(ct_waiting() == 1);
		eventfd_write(source->fd, 1);
	}
	return NULL;
}

CT_TEST(cntr, a_descriptor_of_the_provider_wakes_a_waiter)
{
	struct source_cntr source;
	pthread_t feeder;

	source_open(&source);
	CT_ASSERT_EQ(pthread_create(&feeder, NULL, feed, &source), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 100, CT_DEADLINE_MS), 0);
	pthread_join(feeder, NULL);
	source_close(&source);
}

CT_TEST(cntr, a_blocked_waiter_does_not_spin)
{
	struct source_cntr source;

	ct_time_jump();
	source_open(&source);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 1, 300), -FI_ETIMEDOUT);
	CT_EXPECT_LE(source.progressed, 4);
	source_close(&source);
}
