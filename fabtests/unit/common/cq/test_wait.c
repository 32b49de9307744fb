/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cq_sread, fi_cq_signal, fi_trywait and the descriptor. Above each test stands the
 * sentence of fi_cq(3) that it is about. */
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "ct_fid.h"
#include "cq_world.h"

static void put_later(void *arg)
{
	put(arg, 1);
}

static ssize_t sread_one(struct crn_cq *cq, int timeout)
{
	struct fi_cq_tagged_entry entry;

	return fi_cq_sread(&cq->fid, &entry, 1, NULL, timeout);
}

static void open_waiting(struct crn_cq *cq)
{
	open_cq(cq, FI_WAIT_FD, 16);
}

/* A layer over an eventfd: its count is a completion. */
static struct crn_wait_source source;
static int armed; /* what its arm returns */

static int source_arm(struct crn_wait_source *own)
{
	return armed;
}

static void source_progress(struct crn_cq *cq)
{
	eventfd_t count;

	if (!eventfd_read(source.fd, &count))
		put(cq, count);
}

static void open_source(struct crn_cq *cq)
{
	open_waiting(cq);
	armed = 0;
	source = (struct crn_wait_source){.fd = eventfd(0, EFD_NONBLOCK),
					  .arm = source_arm};
	cq->progress = source_progress;
	CT_EXPECT_EQ(crn_wait_add(&cq->wait, &source), 0);
}

static void close_source(struct crn_cq *cq)
{
	if (cq->progress == source_progress) {
		crn_wait_remove(&source);
		close(source.fd);
	}
	close_cq(cq);
}

CT_FIXTURE(cq_wait, struct crn_cq, open_waiting, close_source);

/* "If the timeout expires [...] and no data is available to be read from the completion
 * queue, returns -FI_EAGAIN." */
CT_TEST_F(cq_wait, sread_times_out_with_EAGAIN)
{
	uint64_t start;

	open_cq(t, FI_WAIT_UNSPEC, 4);
	ct_time_jump();
	start = crn_now_ms();
	CT_EXPECT_EQ(sread_one(t, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(sread_one(t, 50), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_now_ms() - start, 50);
}

/* "no data is available to be read" */
CT_TEST_F(cq_wait, sread_looks_once_more_when_the_time_is_over)
{
	ct_time_jump();
	ct_after_wait(put_later, t);
	CT_EXPECT_EQ(sread_one(t, 10), 1);
}

/* "the calls will not return until either a completion has been read from the CQ or an
 * error or timeout occurs" */
CT_TEST_F(cq_wait, sread_gives_what_is_there)
{
	struct fi_cq_tagged_entry entries[4];
	fi_addr_t from[4];

	put(t, 1);
	put(t, 2);
	CT_EXPECT_EQ(fi_cq_sreadfrom(&t->fid, entries, 4, from, NULL, -1), 2);
	CT_EXPECT_EQ(entries[1].op_context, context_of(2));
	CT_EXPECT_EQ(from[1], 7002);
	put_error(t, 3, FI_EIO);
	CT_EXPECT_EQ(sread_one(t, -1), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_sread(&t->fid, NULL, 0, NULL, -1), -FI_EAVAIL);
	expect_error(t, 3, FI_EIO);
	CT_EXPECT_EQ(ct_waits(), 0);
}

/* "It is invalid for applications to call these functions if the CQ has been configured
 * with a wait object of FI_WAIT_NONE", "The fi_cq_signal operation is only available if
 * the CQ was configured with a wait object." */
CT_TEST_F(cq_wait, without_a_wait_object_nothing_waits)
{
	int fd;

	open_cq(t, FI_WAIT_NONE, 4);
	put(t, 1);
	CT_EXPECT_EQ(sread_one(t, -1), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_cq_signal(&t->fid), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_ENOSYS);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAIT, &fd), -FI_ENODATA);
	expect_comp(t, 1);
}

/* "Threads blocking in this function will return to the caller if they are signaled by
 * some external source. This is true even if the timeout has not occurred or was
 * specified as infinite." */
CT_TEST_F(cq_wait, a_handled_signal_ends_sread)
{
	ct_interrupt_wait();
	CT_EXPECT_EQ(sread_one(t, -1), -FI_EAGAIN);
}

static void fail_later(void *arg)
{
	put_error(arg, 2, FI_EIO);
}

static ssize_t sread_threshold(struct crn_cq *cq, size_t threshold, size_t count,
			       int timeout)
{
	struct fi_cq_tagged_entry entries[8];

	return fi_cq_sread(&cq->fid, entries, count, (void *)threshold, timeout);
}

static void open_threshold(struct crn_cq *cq)
{
	const struct fi_cq_attr attr = {.size = 16,
					.format = FI_CQ_FORMAT_TAGGED,
					.wait_obj = FI_WAIT_FD,
					.wait_cond = FI_CQ_COND_THRESHOLD};

	open_cq_attr(cq, &attr, true);
}

/* "The threshold indicates the number of entries that are to be queued before at the CQ
 * before the wait is satisfied." */
CT_TEST_F(cq_wait, a_threshold_is_waited_for)
{
	open_threshold(t);
	ct_time_jump();
	put(t, 1);
	put(t, 2);
	ct_after_wait(put_later, t);
	CT_EXPECT_EQ(sread_threshold(t, 3, 8, 1000), 3);
	CT_EXPECT_EQ(ct_waits(), 1);
	/* What came is given when the time is over. */
	put(t, 1);
	CT_EXPECT_EQ(sread_threshold(t, 3, 8, 10), 1);
	CT_EXPECT_EQ(sread_threshold(t, 3, 8, 10), -FI_EAGAIN);
	/* More than the buffer holds cannot be waited for; no threshold is one. */
	put(t, 1);
	put(t, 2);
	CT_EXPECT_EQ(sread_threshold(t, 100, 2, -1), 2);
	put(t, 1);
	CT_EXPECT_EQ(sread_threshold(t, 0, 2, -1), 1);
	/* An error ends it, after what is before it. */
	put(t, 1);
	ct_after_wait(fail_later, t);
	CT_EXPECT_EQ(sread_threshold(t, 3, 8, 1000), 1);
	CT_EXPECT_EQ(sread_threshold(t, 3, 8, -1), -FI_EAVAIL);
}

/* "If wait_cond is set to FI_CQ_COND_NONE, then no additional conditions are applied" */
CT_TEST_F(cq_wait, without_a_condition_cond_is_not_looked_at)
{
	put(t, 1);
	CT_EXPECT_EQ(sread_threshold(t, 3, 8, -1), 1);
}

/* "The fi_cq_signal call will unblock any thread waiting in fi_cq_sread or
 * fi_cq_sreadfrom." */
CT_TEST_F(cq_wait, a_signal_is_kept_for_the_next_that_comes_and_used_up_by_it)
{
	ct_time_jump();
	CT_EXPECT_EQ(fi_cq_signal(&t->fid), 0);
	CT_EXPECT_EQ(fi_cq_signal(&t->fid), 0);
	CT_EXPECT_EQ(sread_one(t, -1), -FI_EAGAIN);
	CT_EXPECT_EQ(ct_waits(), 0);
	CT_EXPECT_EQ(sread_one(t, 10), -FI_EAGAIN);
	CT_EXPECT_EQ(ct_waits(), 1);
	/* What is there comes first. */
	CT_EXPECT_EQ(fi_cq_signal(&t->fid), 0);
	put(t, 1);
	CT_EXPECT_EQ(sread_one(t, -1), 1);
	CT_EXPECT_EQ(sread_one(t, 10), -FI_EAGAIN);
	CT_EXPECT_EQ(ct_waits(), 2);
}

CT_TEST_F(cq_wait, a_signal_wakes_those_who_poll_once)
{
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(fi_cq_signal(&t->fid), 0);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(fi_cq_signal(&t->fid), 0);
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
}

/* "when a completion is inserted into a CQ that supports blocking reads [...], the
 * corresponding wait object is signaled" */
CT_TEST_F(cq_wait, after_trywait_the_descriptor_tells_of_what_comes)
{
	put(t, 1);
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	expect_comp(t, 1);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	put(t, 2);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	expect_comp(t, 2);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	put_error(t, 3, FI_EIO);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	expect_error(t, 3, FI_EIO);
}

/* Two that sleep, and only one of them comes back to a completion: the other one finds
 * the descriptor readable for what is left. */
CT_TEST_F(cq_wait, the_descriptor_stays_readable_while_there_is_something_left)
{
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	put(t, 1);
	put(t, 2);
	expect_comp(t, 1);
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	expect_comp(t, 2);
}

CT_TEST_F(cq_wait, a_source_of_the_layer_wakes_and_is_progressed)
{
	struct fi_cq_tagged_entry entry;

	open_source(t);
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	eventfd_write(source.fd, 5);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	expect_comp(t, 5);
	eventfd_write(source.fd, 6);
	CT_EXPECT_EQ(fi_cq_sread(&t->fid, &entry, 1, NULL, -1), 1);
	CT_EXPECT_EQ(entry.op_context, context_of(6));
}

/* What a lower queue has may be for others, and come on and on. */
CT_TEST_F(cq_wait, a_source_that_is_never_quiet_does_not_outlast_the_timeout)
{
	open_source(t);
	armed = -FI_EAGAIN;
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(sread_one(t, 0), -FI_EAGAIN);
	CT_EXPECT_EQ(sread_one(t, 20), -FI_EAGAIN);
}

CT_TEST_F(cq_wait, an_error_of_a_source_ends_the_wait)
{
	open_source(t);
	armed = -FI_ENODEV;
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_ENODEV);
	CT_EXPECT_EQ(sread_one(t, -1), -FI_ENODEV);
	put(t, 1);
	CT_EXPECT_EQ(sread_one(t, -1), 1);
}

static void put_and_arm(struct crn_cq *cq)
{
	if (!armed++)
		return;
	if (armed == 2)
		put(cq, 3);
}

/* fi_trywait(3): progress is made before a program may block. */
CT_TEST_F(cq_wait, trywait_makes_progress)
{
	armed = 0;
	t->progress = put_and_arm;
	CT_EXPECT_EQ(crn_cq_trywait(t), 0);
	CT_EXPECT_EQ(crn_cq_trywait(t), -FI_EAGAIN);
	expect_comp(t, 3);
}

/* "Users may use fi_control to retrieve the underlying wait object" */
CT_TEST_F(cq_wait, control_gives_the_wait_object)
{
	enum fi_wait_obj obj;
	int fd = -1;

	open_cq(t, FI_WAIT_UNSPEC, 4);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_FD);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAIT, &fd), 0);
	CT_EXPECT_GE(fd, 0);
	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_ENABLE, NULL), -FI_ENOSYS);
}
