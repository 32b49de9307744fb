/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>
#include "cairn_test.h"

static void open_wait(struct crn_wait *wait)
{
	CT_ASSERT_EQ(crn_wait_init(wait, FI_WAIT_FD), 0);
}

static void reopen_wait(struct crn_wait *wait, enum fi_wait_obj obj)
{
	crn_wait_fini(wait);
	CT_ASSERT_EQ(crn_wait_init(wait, obj), 0);
}

CT_FIXTURE(wait, struct crn_wait, open_wait, crn_wait_fini);

CT_TEST_F(wait, is_readable_from_signal_to_clear)
{
	ct_time_jump();
	CT_EXPECT_EQ(crn_wait_poll(t, 0), -FI_ETIMEDOUT);
	crn_wait_signal(t);
	crn_wait_signal(t);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), 0);
	CT_EXPECT_EQ(crn_wait_poll(t, -1), 0);
	crn_wait_clear(t);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), -FI_ETIMEDOUT);
	crn_wait_clear(t);
	CT_EXPECT_EQ(crn_wait_poll(t, 20), -FI_ETIMEDOUT);
}

CT_TEST_F(wait, an_added_descriptor_makes_it_readable_until_removed)
{
	int fds[2];

	reopen_wait(t, FI_WAIT_UNSPEC);
	CT_ASSERT_EQ(pipe(fds), 0);
	CT_EXPECT_EQ(crn_wait_add_fd(t, fds[0]), 0);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(write(fds[1], "x", 1), 1);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), 0);
	crn_wait_clear(t);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), 0);
	crn_wait_del_fd(t, fds[0]);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), -FI_ETIMEDOUT);
	crn_wait_del_fd(t, fds[0]);

	CT_EXPECT_EQ(crn_wait_add_fd(t, fds[0]), 0);
	CT_EXPECT_EQ(crn_wait_add_fd(t, fds[0]), -EEXIST);
	CT_EXPECT_EQ(crn_wait_add_fd(t, -1), -EBADF);
	close(fds[0]);
	close(fds[1]);
}

CT_TEST_F(wait, NONE_has_no_descriptor_and_cannot_wait)
{
	enum fi_wait_obj obj;
	int fd;

	reopen_wait(t, FI_WAIT_NONE);
	CT_EXPECT_EQ(crn_wait_add_fd(t, 0), 0);
	crn_wait_del_fd(t, 0);
	crn_wait_signal(t);
	crn_wait_clear(t);
	CT_EXPECT_EQ(crn_wait_poll(t, -1), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
}

CT_TEST_F(wait, control_gives_a_descriptor_that_poll_understands)
{
	struct pollfd pollfd = {.events = POLLIN};
	enum fi_wait_obj obj;

	reopen_wait(t, FI_WAIT_UNSPEC);
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_FD);
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAIT, &pollfd.fd), 0);
	CT_EXPECT_EQ(fcntl(pollfd.fd, F_GETFD), FD_CLOEXEC);
	CT_EXPECT_EQ(poll(&pollfd, 1, 0), 0);
	crn_wait_signal(t);
	CT_EXPECT_EQ(poll(&pollfd, 1, 0), 1);
	CT_EXPECT_EQ(crn_wait_control(t, FI_ENABLE, NULL), -FI_ENOSYS);
	crn_wait_fini(t);
	CT_EXPECT_EQ(fcntl(pollfd.fd, F_GETFD), -1);
}

/* fi_poll(3), NOTES. */
CT_TEST_F(wait, POLLFD_is_a_list_of_the_one_descriptor)
{
	struct pollfd fds[2] = {{.fd = -1}, {.fd = -1}};
	struct fi_wait_pollfd list = {.change_index = 7};
	enum fi_wait_obj obj;

	reopen_wait(t, FI_WAIT_POLLFD);
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_POLLFD);
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAIT, &list), -FI_ETOOSMALL);
	CT_EXPECT_EQ(list.nfds, 1);
	CT_EXPECT_EQ(list.change_index, 0);
	list = (struct fi_wait_pollfd){.nfds = 2, .fd = fds};
	CT_EXPECT_EQ(crn_wait_control(t, FI_GETWAIT, &list), 0);
	CT_EXPECT_EQ(list.nfds, 1);
	CT_EXPECT_EQ(list.change_index, 0);
	CT_EXPECT_EQ(fds[1].fd, -1);
	CT_EXPECT_EQ(poll(fds, 1, 0), 0);
	crn_wait_signal(t);
	CT_EXPECT_EQ(poll(fds, 1, 0), 1);
	CT_EXPECT_EQ(crn_wait_poll(t, 0), 0);
}

CT_TEST(wait, other_wait_objects_are_refused)
{
	static const enum fi_wait_obj objects[] = {FI_WAIT_SET, FI_WAIT_MUTEX_COND,
						   FI_WAIT_YIELD};
	struct crn_wait wait;

	for (size_t i = 0; i < CRN_COUNT(objects); i++) {
		CT_NOTE("wait object %u", objects[i]);
		CT_EXPECT_EQ(crn_wait_init(&wait, objects[i]), -FI_ENOSYS);
	}
}

CT_TEST(wait, running_out_of_descriptors_leaves_none_behind)
{
	struct crn_wait wait;

	for (unsigned int left = 0; left < 2; left++) {
		CT_NOTE("%u descriptors left", left);
		ct_fds_left(left);
		CT_EXPECT_EQ(crn_wait_init(&wait, FI_WAIT_FD), -FI_EMFILE);
		CT_EXPECT_EQ(wait.epfd, -1);
		CT_EXPECT_EQ(crn_wait_init(&wait, FI_WAIT_FD), -FI_EMFILE);
		ct_fds_restore();
	}
}

CT_TEST(wait, what_is_left_of_a_timeout_shrinks_to_zero)
{
	uint64_t now;

	ct_time_stop();
	now = crn_now_ms();
	CT_EXPECT_EQ(crn_timeout_left(now, -1), -1);
	CT_EXPECT_EQ(crn_timeout_left(now - 5000, -7), -1);
	CT_EXPECT_EQ(crn_timeout_left(now, 0), 0);
	CT_EXPECT_EQ(crn_timeout_left(now, 100), 100);
	CT_EXPECT_EQ(crn_timeout_left(now, INT32_MAX), INT32_MAX);
	ct_time_pass(99);
	CT_EXPECT_EQ(crn_timeout_left(now, 100), 1);
	CT_EXPECT_EQ(crn_timeout_left(now, INT32_MAX), INT32_MAX - 99);
	ct_time_pass(1);
	CT_EXPECT_EQ(crn_timeout_left(now, 100), 0);
	ct_time_pass(1000000);
	CT_EXPECT_EQ(crn_timeout_left(now, 100), 0);
	CT_EXPECT_EQ(crn_timeout_left(now, -1), -1);
}

CT_TEST_F(wait, a_handled_signal_ends_poll)
{
	ct_interrupt_wait();
	CT_EXPECT_EQ(crn_wait_poll(t, -1), -FI_EINTR);
}

static void *poll_until_readable(void *arg)
{
	CT_EXPECT_EQ(crn_wait_poll(arg, -1), 0);
	return NULL;
}

CT_TEST_F(wait, one_signal_wakes_everyone)
{
	pthread_t threads[4];

	for (size_t i = 0; i < CRN_COUNT(threads); i++)
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL, poll_until_readable, t),
			     0);
	CT_EXPECT_SOON(ct_waiting() == CRN_COUNT(threads));
	crn_wait_signal(t);
	for (size_t i = 0; i < CRN_COUNT(threads); i++)
		pthread_join(threads[i], NULL);
}
