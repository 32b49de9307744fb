/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

int crn_wait_init(struct crn_wait *wait, enum fi_wait_obj wait_obj)
{
	int ret;

	wait->obj = FI_WAIT_NONE;
	wait->epfd = -1;
	wait->evfd = -1;
	crn_list_init(&wait->sources);
	ret = crn_lock_init(&wait->lock, true);
	if (ret || wait_obj == FI_WAIT_NONE)
		return ret;
	if (wait_obj != FI_WAIT_UNSPEC && wait_obj != FI_WAIT_FD &&
	    wait_obj != FI_WAIT_POLLFD)
		return -FI_ENOSYS;

	wait->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (wait->epfd < 0)
		return -errno;
	wait->obj = wait_obj == FI_WAIT_POLLFD ? FI_WAIT_POLLFD : FI_WAIT_FD;
	wait->evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = wait->evfd < 0 ? -errno : crn_wait_add_fd(wait, wait->evfd);
	if (ret)
		crn_wait_fini(wait);
	return ret;
}

void crn_wait_fini(struct crn_wait *wait)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&wait->sources)))
		crn_container_of(entry, struct crn_wait_source, entry)->wait = NULL;
	crn_lock_fini(&wait->lock);
	if (wait->evfd >= 0)
		close(wait->evfd);
	if (wait->epfd >= 0)
		close(wait->epfd);
	wait->obj = FI_WAIT_NONE;
	wait->epfd = -1;
	wait->evfd = -1;
}

int crn_wait_add_fd(struct crn_wait *wait, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (wait->obj == FI_WAIT_NONE)
		return 0;
	return epoll_ctl(wait->epfd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void crn_wait_del_fd(struct crn_wait *wait, int fd)
{
	if (wait->obj != FI_WAIT_NONE)
		epoll_ctl(wait->epfd, EPOLL_CTL_DEL, fd, NULL);
}

/* Reading and writing the eventfd fail only where its state already is the wanted one. */
void crn_wait_signal(struct crn_wait *wait)
{
	if (wait->evfd >= 0)
		eventfd_write(wait->evfd, 1);
}

void crn_wait_clear(struct crn_wait *wait)
{
	eventfd_t count;

	if (wait->evfd >= 0)
		eventfd_read(wait->evfd, &count);
}

int crn_wait_poll(struct crn_wait *wait, int timeout_ms)
{
	struct pollfd pollfd = {.fd = wait->epfd, .events = POLLIN};
	int ret;

	if (wait->obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	/*
	 * poll, not epoll_wait: the latter wakes one of the threads that wait on the same
	 * descriptor, and the one it wakes may be the one that cannot use what came.
	 */
	ret = poll(&pollfd, 1, timeout_ms < 0 ? -1 : timeout_ms);
	if (ret > 0)
		return 0;
	return ret ? -errno : -FI_ETIMEDOUT;
}

/* fi_poll(3), NOTES. The list never changes, and neither does change_index. */
static int wait_pollfd(struct crn_wait *wait, struct fi_wait_pollfd *list)
{
	const size_t room = list->nfds;

	list->change_index = 0;
	list->nfds = 1;
	if (!room)
		return -FI_ETOOSMALL;
	list->fd[0] = (struct pollfd){.fd = wait->epfd, .events = POLLIN};
	return 0;
}

int crn_wait_control(struct crn_wait *wait, int command, void *arg)
{
	switch (command) {
	case FI_GETWAIT:
		if (wait->obj == FI_WAIT_NONE)
			return -FI_ENODATA;
		if (wait->obj == FI_WAIT_POLLFD)
			return wait_pollfd(wait, arg);
		*(int *)arg = wait->epfd;
		return 0;
	case FI_GETWAITOBJ:
		*(enum fi_wait_obj *)arg = wait->obj;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t crn_now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

uint64_t crn_tick_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC_COARSE);
}

int crn_timeout_left(uint64_t start_ms, int timeout_ms)
{
	uint64_t passed;

	if (timeout_ms < 0)
		return -1;
	passed = crn_now_ms() - start_ms;
	return passed >= (uint64_t)timeout_ms ? 0 : timeout_ms - (int)passed;
}
