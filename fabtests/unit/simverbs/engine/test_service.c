/* SPDX-License-Identifier: BSD-2-Clause */
/* engine/service.c: when the thread of a process is woken. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "step.h"
#include "engine/service.h"
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

CT_TEST(service, is_woken_where_it_would_sleep_too_long)
{
	static struct svb_seg seg = {.index = NOBODY, .service = 1};
	const uint64_t now = svb_now();
	struct end end;
	int fd;

	CT_ASSERT_TRUE(world_open(&end, IBV_QPT_RC, false));
	fd = bell_open();
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
	world_close(&end);
}
