/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_eq_sread, the descriptor, and events that progress finds. */
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_FIXTURE(eq, struct crn_eq, open_eq_usual, close_eq);

CT_TEST_F(eq, the_descriptor_is_readable_exactly_while_there_is_something_to_read)
{
	struct fi_eq_err_entry err = {.err = FI_EOTHER};

	CT_EXPECT_EQ(crn_eq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	write_number(t, 1);
	write_number(t, 2);
	CT_EXPECT_EQ(crn_eq_trywait(t), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	expect_number(t, 1);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	expect_number(t, 2);
	CT_EXPECT_EQ(crn_eq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));

	CT_EXPECT_EQ(crn_eq_insert_err(t, &err), 0);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(fi_eq_readerr(&t->fid, &err, 0), sizeof(err));
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

static int nothing(struct crn_eq *eq)
{
	return 0;
}

CT_TEST_F(eq, who_is_woken_looks_once_and_sleeps_on)
{
	t->progress = nothing;
	crn_eq_wake(t);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	/* Events count for themselves. */
	crn_eq_wake(t);
	write_number(t, 1);
	CT_EXPECT_EQ(crn_eq_trywait(t), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	expect_number(t, 1);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

CT_TEST_F(eq, sread_times_out_with_EAGAIN)
{
	uint64_t start;

	open_eq(t, FI_WAIT_UNSPEC, 0, 0);
	ct_time_jump();
	start = crn_now_ms();
	CT_EXPECT_EQ(sread_any(t, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(sread_any(t, 50), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_now_ms() - start, 50);
}

CT_TEST_F(eq, sread_without_a_wait_object_is_refused_rather_than_hanging)
{
	open_eq(t, FI_WAIT_NONE, 0, FI_WRITE);
	CT_EXPECT_EQ(sread_any(t, -1), -FI_ENOSYS);
	write_number(t, 1);
	CT_EXPECT_EQ(sread_any(t, -1), -FI_ENOSYS);
	expect_number(t, 1);
}

/* A provider with a source of its own: an eventfd, whose count is an event. */
static int source_fd, source_result;

static int source_progress(struct crn_eq *eq)
{
	eventfd_t count;

	if (source_result || eventfd_read(source_fd, &count))
		return source_result;
	insert_number(eq, &object, count);
	return 0;
}

static void add_source(struct crn_eq *eq)
{
	source_fd = eventfd(0, EFD_NONBLOCK);
	source_result = 0;
	eq->progress = source_progress;
	CT_EXPECT_EQ(crn_wait_add_fd(&eq->wait, source_fd), 0);
}

static void remove_source(struct crn_eq *eq)
{
	crn_wait_del_fd(&eq->wait, source_fd);
	close(source_fd);
}

CT_TEST_F(eq, a_source_of_the_provider_is_read_and_wakes_like_an_event)
{
	struct fi_eq_entry entry;
	uint32_t event;

	add_source(t);
	CT_EXPECT_EQ(crn_eq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	eventfd_write(source_fd, 5);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(t), -FI_EAGAIN);
	expect_number(t, 5);
	CT_EXPECT_EQ(crn_eq_trywait(t), 0);

	eventfd_write(source_fd, 6);
	CT_EXPECT_EQ(fi_eq_sread(&t->fid, &event, &entry, sizeof(entry), -1, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.data, 6);
	remove_source(t);
}

CT_TEST_F(eq, an_error_of_progress_reaches_a_reader_who_finds_nothing_else)
{
	add_source(t);
	insert_number(t, &object, 1);
	source_result = -FI_EIO;
	expect_number(t, 1);
	CT_EXPECT_EQ(read_any(t, 0), -FI_EIO);
	CT_EXPECT_EQ(sread_any(t, -1), -FI_EIO);
	CT_EXPECT_EQ(crn_eq_trywait(t), -FI_EAGAIN);

	source_result = -FI_EAGAIN;
	CT_EXPECT_EQ(read_any(t, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_eq_trywait(t), 0);
	remove_source(t);
}
