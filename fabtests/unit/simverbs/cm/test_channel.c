/* SPDX-License-Identifier: BSD-2-Clause */
/* cm/channel.c: an event channel at which a thread waits. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "cm/cm.h"
#include "step.h"
#include "../world.h"

struct reader {
	struct rdma_event_channel *channel;
	int err;
};

static void *read_event(void *arg)
{
	struct reader *reader = arg;
	struct rdma_cm_event *event;

	reader->err = rdma_get_cm_event(reader->channel, &event) ? errno : 0;
	if (!reader->err)
		rdma_ack_cm_event(event);
	return NULL;
}

static bool is_read(struct rdma_event_channel *channel)
{
	bool read;

	svb_cm_lock();
	read = ((struct svb_cm_channel *)channel)->readers;
	svb_cm_unlock();
	return read;
}

CT_FIXTURE(cm_channel, struct pair, pair_open, pair_close);

/* An address sanitizer, or valgrind, says who frees it, and who looks at it later. */
CT_TEST_F(cm_channel, that_is_destroyed_lives_until_its_reader_is_back)
{
	const uint64_t one = 1;
	struct reader reader;
	pthread_t thread;
	int fd;

#ifdef __SANITIZE_THREAD__
	CT_SKIP("to close a descriptor that is read is what a thread sanitizer reports");
#endif
	reader.channel = rdma_create_event_channel();
	CT_ASSERT_TRUE(reader.channel != NULL);
	fd = dup(reader.channel->fd);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, read_event, &reader), 0);
	while (!is_read(reader.channel))
		sched_yield();
	rdma_destroy_event_channel(reader.channel);
	/* Closing wakes nobody. */
	CT_EXPECT_EQ(write(fd, &one, sizeof(one)), sizeof(one));
	pthread_join(thread, NULL);
	CT_EXPECT_EQ(reader.err, EBADF);
	close(fd);
}

/* An id that goes away with an event unread, while a reader is about to read it. */
#define ENDINGS 20000

struct ending {
	struct rdma_event_channel *channel;
	int done; /* how many ids are gone; -1: one could not be made */
};

/* Each moment of the reader's way from being woken to having read is met by some id. */
static void wait_a_little(int step)
{
	const uint64_t until = svb_now() + (uint64_t)(step % 64) * 500;

	while (svb_now() < until)
		;
}

/* poll(2) has told it of an event; it is not at the lock yet when the id is destroyed. */
CT_TEST_F(cm_channel, a_reader_on_its_way_reads_before_the_id_is_destroyed)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct reader reader = {.err = -1};
	struct rdma_cm_id *id;
	pthread_t thread;

	reader.channel = rdma_create_event_channel();
	CT_ASSERT_TRUE(reader.channel != NULL);
	CT_ASSERT_EQ(rdma_create_id(reader.channel, &id, NULL, RDMA_PS_TCP), 0);
	CT_ASSERT_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&self, 1000), 0);
	svb_cm_lock();
	CT_EXPECT_FALSE(svb_cm_reader_comes());
	CT_ASSERT_EQ(pthread_create(&thread, NULL, read_event, &reader), 0);
	while (!svb_cm_reader_comes())
		sched_yield();
	svb_cm_let_read(svb_cm_id(id));
	CT_EXPECT_TRUE(
		crn_list_empty(&((struct svb_cm_channel *)reader.channel)->events));
	svb_cm_unlock();
	pthread_join(thread, NULL);
	CT_EXPECT_EQ(reader.err, 0);
	/* Who reads nothing is not waited for. */
	CT_ASSERT_EQ(rdma_resolve_route(id, 1000), 0);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(reader.channel);
}

/*
 * An event that is there is taken from the count before the lock is given up: otherwise
 * the id could be destroyed in between, and the reader would wait for ever. Of this
 * channel only the count is readable: a reader that gives up the lock polls the other
 * descriptor, and stays there.
 */
CT_TEST_F(cm_channel, an_event_that_is_there_is_read_under_the_lock)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int silent = eventfd(0, EFD_CLOEXEC), full = eventfd(1, EFD_CLOEXEC);
	const uint64_t one = 1;
	struct reader reader = {.err = -1};
	bool gave_up = false;
	struct rdma_cm_id *id;
	pthread_t thread;
	int fd;

	CT_ASSERT_TRUE(silent >= 0 && full >= 0);
	if (svb_cm_channel_try(full))
		CT_SKIP("this system cannot read an eventfd with RWF_NOWAIT");
	reader.channel = rdma_create_event_channel();
	CT_ASSERT_TRUE(reader.channel != NULL);
	CT_ASSERT_EQ(rdma_create_id(reader.channel, &id, NULL, RDMA_PS_TCP), 0);
	CT_ASSERT_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&self, 1000), 0);
	fd = reader.channel->fd;
	reader.channel->fd = silent;
	CT_ASSERT_EQ(pthread_create(&thread, NULL, read_event, &reader), 0);
	while (pthread_tryjoin_np(thread, NULL) && !gave_up) {
		gave_up = is_read(reader.channel);
		sched_yield();
	}
	CT_EXPECT_FALSE(gave_up);
	if (gave_up) {
		CT_EXPECT_EQ(write(silent, &one, sizeof(one)), sizeof(one));
		pthread_join(thread, NULL);
	}
	CT_EXPECT_EQ(reader.err, 0);
	reader.channel->fd = fd;
	rdma_destroy_id(id);
	rdma_destroy_event_channel(reader.channel);
	close(silent);
	close(full);
}

static void *end_ids(void *arg)
{
	struct sockaddr_in self = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ending *ending = arg;
	struct rdma_cm_id *id;

	for (int i = 1; i <= ENDINGS; i++) {
		if (rdma_create_id(ending->channel, &id, NULL, RDMA_PS_TCP) ||
		    rdma_resolve_addr(id, NULL, (struct sockaddr *)&self, 1000))
			i = -1;
		wait_a_little(i);
		if (i > 0)
			rdma_destroy_id(id);
		__atomic_store_n(&ending->done, i, __ATOMIC_RELEASE);
		if (i < 0)
			return NULL;
	}
	return NULL;
}

static void *read_events(void *arg)
{
	struct rdma_event_channel *channel = arg;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(channel, &event))
		rdma_ack_cm_event(event);
	return NULL;
}

CT_TEST_F(cm_channel, ids_are_destroyed_while_their_events_are_read)
{
	const uint64_t one = 1;
	static struct ending ending;
	pthread_t reader, ends;
	struct timespec until;
	int fd;

#ifdef __SANITIZE_THREAD__
	CT_SKIP("to close a descriptor that is read is what a thread sanitizer reports");
#endif
	ending.channel = rdma_create_event_channel();
	CT_ASSERT_TRUE(ending.channel != NULL);
	fd = dup(ending.channel->fd);
	CT_ASSERT_EQ(pthread_create(&reader, NULL, read_events, ending.channel), 0);
	CT_ASSERT_EQ(pthread_create(&ends, NULL, end_ids, &ending), 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	CT_ASSERT_EQ(pthread_timedjoin_np(ends, NULL, &until), 0);
	CT_EXPECT_EQ(ending.done, ENDINGS);
	rdma_destroy_event_channel(ending.channel);
	CT_EXPECT_EQ(write(fd, &one, sizeof(one)), sizeof(one));
	pthread_join(reader, NULL);
	close(fd);
}
