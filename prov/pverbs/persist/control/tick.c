/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A timer for what raises no event: a sequence word that has not advanced yet, and the
 * deadline of an answer. A request arrives microseconds before its sequence word
 * advances, so thread.c polls it at once; after that each interval is a quarter longer
 * than the one before. A peer that never advances it costs next to nothing.
 */
#include <sys/timerfd.h>
#include <unistd.h>
#include "device/device.h"
#include "control.h"
#include "internal.h"

/* ms between two looks, while completions are deferred... */
#define PVB_TICK_DEFER 20u
/* ... and while a sequence word is waited for: at least, at most, and a part of that
 * time. */
#define PVB_TICK_LEAST 1u
#define PVB_TICK_MOST 50u
#define PVB_TICK_PART 4u

int pvb_tick_open(struct pvb_control *control)
{
	control->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return control->timer < 0 ? pvb_errno() : 0;
}

static void pvb_tick_set(const struct pvb_control *control, unsigned int ms)
{
	const struct timespec every = {.tv_nsec = ms * 1000000L};
	const struct itimerspec timer = {.it_interval = every, .it_value = every};

	timerfd_settime(control->timer, 0, &timer, NULL);
}

static unsigned int pvb_tick_period(const struct pvb_control *control)
{
	unsigned int most = PVB_TICK_MOST;
	uint64_t age;

	if (!atomic_load(&control->waiting))
		return PVB_TICK_DEFER;
	if (atomic_load(&control->deferring))
		most = PVB_TICK_DEFER;
	age = crn_now_ms() - atomic_load(&control->newest);
	return (unsigned int)CRN_MAX(CRN_MIN(age / PVB_TICK_PART, most), PVB_TICK_LEAST);
}

void pvb_tick(struct pvb_control *control)
{
	const unsigned int ms = pvb_tick_period(control);
	unsigned int now = atomic_load(&control->ticks);

	/* Left to tick from one operation to the next: a call of the kernel for each
	 * would cost more than they do. */
	while (!now || now > ms) {
		if (!atomic_compare_exchange_weak(&control->ticks, &now, ms))
			continue;
		pvb_tick_set(control, ms);
		return;
	}
}

void pvb_tick_seen(struct pvb_control *control)
{
	uint64_t times;

	if (read(control->timer, &times, sizeof(times)) != sizeof(times))
		return;
	if (!atomic_load(&control->waiting) && !atomic_load(&control->deferring))
		pvb_tick_set(control, 0);
	atomic_store(&control->ticks, 0);
	/* A wait that began in between found the timer running; and an awaited sequence
	 * word may have advanced. */
	if (atomic_load(&control->waiting) || atomic_load(&control->deferring))
		pvb_tick(control);
}
