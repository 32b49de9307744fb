/* SPDX-License-Identifier: BSD-2-Clause */
/* Values, the descriptor, and the counter as an object. */
#include <poll.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cntr_world.h"
#include "ct_fid.h"

CT_FIXTURE(cntr, struct crn_cntr, open_cntr, close_cntr);

CT_TEST_F(cntr, both_values_can_be_added_to_and_set)
{
	struct fid_cntr *fid = &t->fid;

	reopen_cntr(t, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_cntr_read(fid), 0);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 0);
	crn_cntr_inc(t);
	crn_cntr_inc(t);
	crn_cntr_inc_err(t);
	CT_EXPECT_EQ(fi_cntr_read(fid), 2);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 1);
	CT_EXPECT_EQ(fi_cntr_add(fid, 5), 0);
	CT_EXPECT_EQ(fi_cntr_adderr(fid, 6), 0);
	CT_EXPECT_EQ(fi_cntr_read(fid), 7);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 7);
	CT_EXPECT_EQ(fi_cntr_set(fid, UINT64_MAX), 0);
	CT_EXPECT_EQ(fi_cntr_seterr(fid, 3), 0);
	CT_EXPECT_EQ(fi_cntr_read(fid), UINT64_MAX);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 3);
	crn_cntr_inc(t);
	CT_EXPECT_EQ(fi_cntr_read(fid), 0);
}

CT_TEST_F(cntr, the_descriptor_is_readable_once_the_counter_changes_after_trywait)
{
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	crn_cntr_inc(t);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	crn_cntr_inc_err(t);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
}

CT_TEST_F(cntr, only_the_first_change_after_trywait_signals)
{
	crn_cntr_inc(t);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	crn_cntr_inc(t);
	CT_EXPECT_TRUE(ct_readable(&t->fid.fid));
	crn_wait_clear(&t->wait);
	crn_cntr_inc(t);
	CT_EXPECT_FALSE(ct_readable(&t->fid.fid));
}

/* Set back to 0, it may count up to the very value that trywait saw last. */
CT_TEST_F(cntr, trywait_is_not_fooled_by_a_value_set_back)
{
	crn_cntr_inc(t);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	fi_cntr_set(&t->fid, 0);
	crn_cntr_inc(t);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	fi_cntr_seterr(&t->fid, 0);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
}

static void *increment(void *arg)
{
	struct crn_cntr *cntr = arg;

	for (unsigned int i = 0; i < 2000; i++) {
		/* Now and then not before the reader blocks. */
		if (i % 50 == 0)
			CT_EXPECT_SOON(ct_waiting() == 1);
		crn_cntr_inc(cntr);
	}
	return NULL;
}

CT_TEST_F(cntr, a_poll_loop_after_trywait_misses_nothing)
{
	struct pollfd pollfd = {.events = POLLIN};
	pthread_t thread;

	CT_EXPECT_EQ(fi_control(&t->fid.fid, FI_GETWAIT, &pollfd.fd), 0);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, increment, t), 0);
	while (fi_cntr_read(&t->fid) < 2000 && !ct_failed()) {
		if (!crn_cntr_trywait(t))
			CT_EXPECT_EQ(poll(&pollfd, 1, CT_DEADLINE_MS), 1);
	}
	pthread_join(thread, NULL);
}

CT_TEST(cntr, is_an_fid_of_its_class_with_the_context_given)
{
	struct crn_cntr cntr;
	enum fi_wait_obj obj;
	int context, fd;

	CT_EXPECT_EQ(crn_cntr_init(&cntr, NULL, &context, NULL), 0);
	CT_EXPECT_EQ(cntr.fid.fid.fclass, FI_CLASS_CNTR);
	CT_EXPECT_EQ(cntr.fid.fid.context, &context);
	CT_EXPECT_EQ(fi_control(&cntr.fid.fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&cntr.fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_close(&cntr.fid.fid), 0);
}

CT_TEST(cntr, attributes_that_are_not_offered_are_refused)
{
	struct fi_cntr_attr events = {.events = 1}, flags = {.flags = 1};
	struct fi_cntr_attr set = {.wait_obj = FI_WAIT_SET};
	struct crn_cntr cntr;

	CT_EXPECT_EQ(crn_cntr_init(&cntr, &events, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &flags, NULL, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &set, NULL, NULL), -FI_ENOSYS);
}

CT_TEST(cntr, running_out_of_descriptors_leaves_none_behind)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
	struct crn_cntr cntr;

	ct_fds_left(1);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &attr, NULL, NULL), -FI_EMFILE);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &attr, NULL, NULL), -FI_EMFILE);
	ct_fds_restore();
}

static unsigned int arms;
static int arm_result;

static int count_arm(struct crn_cntr *cntr)
{
	arms++;
	if (!arm_result)
		crn_cntr_inc(cntr);
	return arm_result;
}

CT_TEST_F(cntr, what_arming_finds_ends_the_wait)
{
	t->arm = count_arm;
	arms = 0;
	arm_result = 0;
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 2, CT_DEADLINE_MS), 0);
	CT_EXPECT_EQ(arms, 2);
	/* What has changed already is news without. */
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(arms, 2);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(arms, 3);
}

CT_TEST_F(cntr, a_wait_that_cannot_be_armed_fails)
{
	t->arm = count_arm;
	arm_result = -FI_EIO;
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, CT_DEADLINE_MS), -FI_EIO);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EIO);
}
