/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_eq_sread, the descriptor, and events that progress finds. */
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "eq_world.h"

CT_TEST(eq, the_descriptor_is_readable_exactly_while_there_is_something_to_read)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);
	struct fi_eq_err_entry err = {.err = FI_EOTHER};

	CT_EXPECT_EQ(crn_eq_trywait(eq), 0);
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	write_number(eq, 1);
	write_number(eq, 2);
	CT_EXPECT_EQ(crn_eq_trywait(eq), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	expect_number(eq, 1);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	expect_number(eq, 2);
	CT_EXPECT_EQ(crn_eq_trywait(eq), 0);
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));

	CT_EXPECT_EQ(crn_eq_insert_err(eq, &err), 0);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	CT_EXPECT_EQ(fi_eq_readerr(&eq->fid, &err, 0), sizeof(err));
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	close_eq(eq);
}

static int nothing(struct crn_eq *eq)
{
	return 0;
}

CT_TEST(eq, who_is_woken_looks_once_and_sleeps_on)
{
	struct crn_eq *eq = open_eq(FI_WAIT_FD, 0, FI_WRITE);

	eq->progress = nothing;
	crn_eq_wake(eq);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(eq), 0);
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	/* Events count for themselves. */
	crn_eq_wake(eq);
	write_number(eq, 1);
	CT_EXPECT_EQ(crn_eq_trywait(eq), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(&eq->fid.fid));
	expect_number(eq, 1);
	CT_EXPECT_FALSE(ct_readable(&eq->fid.fid));
	close_eq(eq);
}

CT_TEST(eq, sread_times_out_with_EAGAIN)
{
	struct crn_eq *eq = open_eq(FI_WAIT_UNSPEC, 0, 0);
	uint64_t start, buf;
	uint32_t event;

	ct_time_jump();
	start = crn_now_ms();
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, &buf, sizeof(buf), 0, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, &buf, sizeof(buf), 50, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_now_ms() - start, 50);
	close_eq(eq);
}

CT_TEST(eq, sread_without_a_wait_object_is_refused_rather_than_hanging)
{
	struct crn_eq *eq = open_eq(FI_WAIT_NONE, 0, FI_WRITE);
	uint64_t buf[8];
	uint32_t event;

	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, buf, sizeof(buf), -1, 0), -FI_ENOSYS);
	write_number(eq, 1);
	CT_EXPECT_EQ(fi_eq_sread(&eq->fid, &event, buf, sizeof(buf), -1, 0), -FI_ENOSYS);
	expect_number(eq, 1);
	close_eq(eq);
}

/* A provider with a source of its own: an eventfd, whose count is an event. */
struct source_eq {
	struct crn_eq eq;
	int fd;
	int result;
};

static int source_progress(struct crn_eq *eq)
{
	struct source_eq *source = crn_container_of(eq, struct source_eq, eq);
	eventfd_t count;

	if (source->result || eventfd_read(source->fd, &count))
		return source->result;
	insert_number(eq, &object, count);
	return 0;
}

static void source_open(struct source_eq *source)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};

	source->fd = eventfd(0, EFD_NONBLOCK);
	source->result = 0;
	CT_EXPECT_EQ(crn_eq_init(&source->eq, &eq_prov, &attr, NULL, source_progress), 0);
	CT_EXPECT_EQ(crn_wait_add_fd(&source->eq.wait, source->fd), 0);
}

static void source_close(struct source_eq *source)
{
	crn_wait_del_fd(&source->eq.wait, source->fd);
	close(source->fd);
	crn_eq_fini(&source->eq);
}

CT_TEST(eq, a_source_of_the_provider_is_read_and_wakes_like_an_event)
{
	struct source_eq source;
	struct fi_eq_entry entry;
	uint32_t event;

	source_open(&source);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), 0);
	CT_EXPECT_FALSE(ct_readable(&source.eq.fid.fid));
	eventfd_write(source.fd, 5);
	CT_EXPECT_TRUE(ct_readable(&source.eq.fid.fid));
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), -FI_EAGAIN);
	expect_number(&source.eq, 5);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), 0);

	eventfd_write(source.fd, 6);
	CT_EXPECT_EQ(fi_eq_sread(&source.eq.fid, &event, &entry, sizeof(entry), -1, 0),
		     sizeof(entry));
	CT_EXPECT_EQ(entry.data, 6);
	source_close(&source);
}

CT_TEST(eq, an_error_of_progress_reaches_a_reader_who_finds_nothing_else)
{
	struct source_eq source;
	struct fi_eq_entry entry;
	uint32_t event;

	source_open(&source);
	insert_number(&source.eq, &object, 1);
	source.result = -FI_EIO;
	expect_number(&source.eq, 1);
	CT_EXPECT_EQ(read_any(&source.eq, 0), -FI_EIO);
	CT_EXPECT_EQ(fi_eq_sread(&source.eq.fid, &event, &entry, sizeof(entry), -1, 0),
		     -FI_EIO);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), -FI_EAGAIN);

	source.result = -FI_EAGAIN;
	CT_EXPECT_EQ(read_any(&source.eq, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_eq_trywait(&source.eq), 0);
	source_close(&source);
}
