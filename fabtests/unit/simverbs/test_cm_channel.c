/* SPDX-License-Identifier: BSD-2-Clause */
/* cm_channel.c: an event channel that is closed while a thread waits at it. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include "cm.h"
#include "world.h"

struct reader {
	struct rdma_event_channel *channel;
	int err;
};

static void *read_event(void *arg)
{
	struct reader *reader = arg;
	struct rdma_cm_event *event;

	reader->err = rdma_get_cm_event(reader->channel, &event) ? errno : 0;
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

/* An address sanitizer, or valgrind, says who frees it, and who looks at it later. */
CT_TEST(cm_channel, that_is_destroyed_lives_until_its_reader_is_back)
{
	const uint64_t one = 1;
	struct reader reader;
	struct end end;
	pthread_t thread;
	int fd;

#ifdef __SANITIZE_THREAD__
	CT_SKIP("to close a descriptor that is read is what a thread sanitizer reports");
#endif
	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
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
	world_close(&end);
}
