/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/service.c: when the thread of a process is woken, and whose end it notices. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "step.h"
#include "engine/engine.h"
#include "../world.h"

#define NOBODY (SVB_PROC_MAX - 1) /* a process that there is not */
#define MS 1000000ull

/* Its service thread's bell. */
static int bell_open(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/bell.%u.%u", svb_self.dir,
		 NOBODY, SVB_BELL_SERVICE);
	CT_EXPECT_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static bool rung(int fd)
{
	char rest;

	return recv(fd, &rest, 1, MSG_DONTWAIT) == 1;
}

CT_FIXTURE(service, struct pair, pair_open, pair_close);

CT_TEST_F(service, is_woken_where_it_would_sleep_too_long)
{
	static struct svb_seg seg = {.index = NOBODY, .service = 1};
	const uint64_t now = svb_now();
	int fd = bell_open();

	/* About to look. */
	svb_service_deadline(&seg, now);
	CT_EXPECT_FALSE(rung(fd));
	/* Whole milliseconds are as good as it gets. */
	seg.sleeps_until = now + MS;
	svb_service_deadline(&seg, now + 10000);
	CT_EXPECT_FALSE(rung(fd));
	svb_service_deadline(&seg, now + 2 * MS);
	CT_EXPECT_FALSE(rung(fd));
	seg.sleeps_until = now + 3 * MS;
	svb_service_deadline(&seg, now + 10000);
	CT_EXPECT_TRUE(rung(fd));
	/* For ever. */
	seg.sleeps_until = UINT64_MAX;
	svb_service_deadline(&seg, now + 3600000 * MS);
	CT_EXPECT_TRUE(rung(fd));
	/* At once. */
	svb_service_deadline(&seg, 1);
	CT_EXPECT_TRUE(rung(fd));
	seg.service = 0;
	svb_service_deadline(&seg, 1);
	CT_EXPECT_FALSE(rung(fd));
	close(fd);
}

static uint32_t dead;

static void on_death(uint32_t token, void *arg)
{
	__atomic_store_n(&dead, token, __ATOMIC_RELEASE);
}

static int be_there(int fd)
{
	if (svb_join() ||
	    write(fd, &svb_lock_token, sizeof(svb_lock_token)) != sizeof(svb_lock_token))
		return 1;
	return !world_hear(fd);
}

CT_TEST(service, notices_the_end_of_a_peer_also_without_memory)
{
	static const struct timespec moment = {.tv_nsec = 1000000};
	const uint64_t until = svb_now() + CT_DEADLINE_MS * MS;
	uint32_t token;
	pid_t pid;
	int fd;

	CT_ASSERT_EQ(svb_join(), 0);
	CT_ASSERT_EQ(svb_service_start(), 0);
	CT_ASSERT_EQ(svb_service_on_death(on_death, NULL), 0);
	fd = world_child(be_there, &pid);
	CT_ASSERT_GE(fd, 0);
	CT_ASSERT_EQ(recv(fd, &token, sizeof(token), MSG_WAITALL), sizeof(token));
	ct_fail_alloc(1);
	CT_EXPECT_EQ(svb_service_watch_peer(svb_token_index(token)), 0);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_TRUE(world_tell(fd));
	CT_EXPECT_EQ(world_reap(pid), 0);
	while (__atomic_load_n(&dead, __ATOMIC_ACQUIRE) != token && svb_now() < until)
		nanosleep(&moment, NULL);
	CT_EXPECT_EQ(dead, token);
	close(fd);
}
