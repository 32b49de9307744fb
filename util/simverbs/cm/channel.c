/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event channels: a list, and an eventfd that counts its events, so that it is readable
 * just while there are some and blocks or not as the program set it. A reader that
 * decrements the count owns one event of the list; if that was dropped meanwhile it
 * waits again. Without a thread the program's descriptor is one of epoll(7) over the
 * count and over what else the program must be woken for: it may be readable with no
 * event behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>
#include "cm.h"

static void svb_cm_channel_close(int fd, int count_fd)
{
	if (fd >= 0)
		close(fd);
	if (fd != count_fd)
		close(count_fd);
}

/* Returns 0 or an errno. */
static int svb_cm_channel_open(struct svb_cm_channel *channel)
{
	const bool thread = svb_self.settings.threads;
	struct epoll_event event = {.events = EPOLLIN};
	int ret;

	channel->count_fd =
		eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE | (thread ? 0 : EFD_NONBLOCK));
	if (channel->count_fd < 0)
		return errno;
	channel->ch.fd = channel->count_fd;
	if (thread)
		return 0;
	channel->ch.fd = epoll_create1(EPOLL_CLOEXEC);
	ret = channel->ch.fd < 0 || epoll_ctl(channel->ch.fd, EPOLL_CTL_ADD,
					      channel->count_fd, &event)
		      ? errno
		      : svb_cm_box_watch(channel->ch.fd);
	if (ret)
		svb_cm_channel_close(channel->ch.fd, channel->count_fd);
	return ret;
}

struct rdma_event_channel *svb_cm_new_channel(void)
{
	struct svb_cm_channel *channel;
	int ret = svb_self.joined ? 0 : ENODEV;

	/* Readers must also wait for the mailbox (svb_cm_poll_box). */
	if (!ret && !svb_self.settings.threads)
		ret = svb_cm_start();
	channel = ret ? NULL : calloc(1, sizeof(*channel));
	if (!channel) {
		errno = ret ? ret : ENOMEM;
		return NULL;
	}
	ret = svb_cm_channel_open(channel);
	if (ret) {
		free(channel);
		errno = ret;
		return NULL;
	}
	crn_list_init(&channel->events);
	return &channel->ch;
}

SVB_API struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel;

	svb_cm_lock();
	channel = svb_cm_new_channel();
	svb_cm_unlock();
	return channel;
}

int svb_cm_channel_try(int fd)
{
	uint64_t one;
	struct iovec iov = {&one, sizeof(one)};

	return preadv2(fd, &iov, 1, -1, RWF_NOWAIT) < 0 ? errno : 0;
}

void svb_cm_channel_count(struct svb_cm_channel *channel)
{
	uint64_t one = 1;

	/* Fails only when nearly 2^64 wait. */
	if (write(channel->count_fd, &one, sizeof(one)) < 0)
		return;
}

/* Ids of a destroyed channel behave as destroyed ones; only their memory stays. */
static void svb_cm_orphan(struct svb_cm_id *id, void *channel)
{
	if (id->id.channel == channel)
		svb_cm_drop(id);
}

/*
 * Programs close a channel while another thread waits for its events (rping does); that
 * one ends with EBADF.
 */
SVB_API void rdma_destroy_event_channel(struct rdma_event_channel *ch)
{
	struct svb_cm_channel *channel = svb_cm_channel(ch);
	const int fd = ch->fd, count_fd = channel->count_fd;
	bool last;

	svb_cm_lock();
	svb_cm_each(svb_cm_orphan, channel);
	channel->closed = true;
	last = !channel->readers;
	svb_cm_unlock();
	/* From here on a reader may free it. */
	svb_cm_channel_close(fd, count_fd);
	if (last)
		free(channel);
}

/* A thread that waited for events has returned; false: the channel was destroyed.
 * Called with the lock held. */
static bool svb_cm_reader_back(struct svb_cm_channel *channel)
{
	const bool closed = channel->closed;

	if (!--channel->readers && closed)
		free(channel);
	return !closed;
}

/*
 * Does what librdmacm does with an event before it returns it. False: the program does
 * not see the event.
 */
static bool svb_cm_prepare(struct svb_cm_event *event)
{
	struct svb_cm_id *id = svb_cm_id(event->event.id);

	switch (event->event.event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		event->owner->backlog++;
		if (!event->owner->sync || !svb_cm_make_sync(id))
			return true;
		/* As librdmacm does: the peer gets a rejection. */
		svb_cm_drop(id);
		free(id);
		return false;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (!id->id.qp)
			return true;
		event->event.status = -svb_cm_confirm(id);
		event->event.event = event->event.status ? RDMA_CM_EVENT_CONNECT_ERROR
							 : RDMA_CM_EVENT_ESTABLISHED;
		id->connect_failed = event->event.status;
		return true;
	case RDMA_CM_EVENT_REJECTED:
		if (!id->connect_failed)
			svb_cm_qp_error(id);
		return !id->connect_failed;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DISCONNECTED:
		return !id->connect_failed;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		event->event.status = -svb_cm_mcast_joined(id, event->mcast);
		if (event->event.status)
			event->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
		return true;
	default:
		return true;
	}
}

static int svb_cm_read(int fd)
{
	uint64_t one;

	return read(fd, &one, sizeof(one)) < 0 ? errno : 0;
}

/*
 * Without a thread: messages arrive while somebody waits for an event, or, where the
 * channel does not block, looks for one, once: where time is the model's, a timer may
 * stay due. Another reader may be faster at the count.
 */
static int svb_cm_poll_box(int fd, int count_fd)
{
	int timeout = fcntl(fd, F_GETFL) & O_NONBLOCK ? 0 : -1;
	int ret, ready;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	do {
		ready = poll(&poll_fd, 1, timeout);
		if (ready < 0)
			return errno;
		svb_cm_lock();
		svb_cm_unlock();
		ret = svb_cm_read(count_fd);
	} while (ret == EAGAIN && timeout);
	return ret;
}

/*
 * Takes one from the count of a channel's events, waiting for it if there is none. Called
 * with the lock held; 0, with the lock held, or an errno, without it. An event that is
 * there is taken before the lock is given up: svb_cm_let_read.
 */
static int svb_cm_await(struct svb_cm_channel *channel)
{
	const int fd = channel->ch.fd, count_fd = channel->count_fd;
	int ret;

	if (!crn_list_empty(&channel->events) && !svb_cm_channel_try(count_fd))
		return 0;
	channel->readers++;
	svb_cm_unlock();
	ret = fd == count_fd ? svb_cm_read(fd) : svb_cm_poll_box(fd, count_fd);
	svb_cm_lock();
	if (!svb_cm_reader_back(channel))
		ret = EBADF;
	if (ret)
		svb_cm_unlock();
	return ret;
}

SVB_API int rdma_get_cm_event(struct rdma_event_channel *ch, struct rdma_cm_event **out)
{
	struct svb_cm_channel *channel = svb_cm_channel(ch);
	struct svb_cm_event *event = NULL;
	struct crn_list *entry;
	int ret;

	if (!ch || !out)
		return svb_cm_result(EINVAL);
	svb_cm_lock_reader();
	while (!event) {
		ret = svb_cm_await(channel);
		if (ret)
			return svb_cm_result(ret);
		entry = crn_list_pop(&channel->events);
		event = entry ? crn_container_of(entry, struct svb_cm_event, entry)
			      : NULL;
		if (event && !svb_cm_prepare(event)) {
			svb_cm_event_free(event);
			event = NULL;
		}
	}
	event->owner->unacked++;
	if (event->mcast)
		event->mcast->unacked++;
	svb_cm_unlock();
	*out = &event->event;
	return 0;
}

SVB_API int rdma_ack_cm_event(struct rdma_cm_event *ev)
{
	struct svb_cm_event *event = (struct svb_cm_event *)ev;

	if (!ev)
		return svb_cm_result(EINVAL);
	svb_cm_lock();
	event->owner->unacked--;
	if (event->mcast)
		event->mcast->unacked--;
	svb_cm_wake();
	svb_cm_unlock();
	svb_cm_event_free(event);
	return 0;
}

int svb_cm_complete(struct svb_cm_id *id)
{
	struct rdma_cm_event *event;

	if (!id->sync)
		return 0;
	if (id->id.event) {
		rdma_ack_cm_event(id->id.event);
		id->id.event = NULL;
	}
	if (rdma_get_cm_event(id->id.channel, &event))
		return -1;
	id->id.event = event;
	if (!event->status)
		return 0;
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return svb_cm_result(ECONNREFUSED);
	return svb_cm_result(event->status < 0 ? -event->status : event->status);
}
