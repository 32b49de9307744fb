/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who sleeps on an event queue moves on all domains, also those whose lower queue has no
 * descriptor because all who read its completions poll: while there is such a queue,
 * sleepers wake up now and then to look.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "objects.h"

#define TICK_MS 10

static int tick_arm(struct crn_wait_source *source)
{
	struct rpr_tick *tick = crn_container_of(source, struct rpr_tick, source);
	const struct itimerspec timer = {
		.it_value.tv_nsec = atomic_load(&tick->polled) ? TICK_MS * 1000000L : 0,
	};

	return timerfd_settime(source->fd, 0, &timer, NULL) ? -errno : 0;
}

int rpr_tick_init(struct rpr_tick *tick, struct crn_wait *wait)
{
	int ret;

	tick->source.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (tick->source.fd < 0)
		return -errno;
	tick->source.arm = tick_arm;
	ret = crn_wait_add(wait, &tick->source);
	if (ret)
		close(tick->source.fd);
	return ret;
}

void rpr_tick_fini(struct rpr_tick *tick)
{
	crn_wait_remove(&tick->source);
	close(tick->source.fd);
}
