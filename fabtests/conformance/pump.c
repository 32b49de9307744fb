/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <time.h>
#include "pump.h"

#define SOURCES 8
/* Long enough for valgrind on a loaded machine; only what never comes lasts that long. */
#define DEADLINE_MS 20000

static struct {
	void (*poll)(void *arg);
	void *arg;
} sources[SOURCES];

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void pump_add(void (*poll)(void *arg), void *arg)
{
	int i;

	for (i = 0; i < SOURCES; i++) {
		if (sources[i].poll)
			continue;
		sources[i].poll = poll;
		sources[i].arg = arg;
		return;
	}
	CT_EXPECT_LT(i, SOURCES);
}

void pump_remove(void *arg)
{
	for (int i = 0; i < SOURCES; i++) {
		if (sources[i].arg == arg)
			sources[i].poll = NULL;
	}
}

void pump(void)
{
	for (int i = 0; i < SOURCES; i++) {
		if (sources[i].poll)
			sources[i].poll(sources[i].arg);
	}
}

uint64_t pump_end(void)
{
	return ct_failed() ? 0 : now_ms() + DEADLINE_MS;
}

bool pump_until(uint64_t end)
{
	pump();
	sched_yield();
	return now_ms() < end;
}
