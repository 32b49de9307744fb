/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986): every deadline is at the
 * head of a list of heaps that are not earlier than it is.
 */
#include <assert.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/timerfd.h>
#include <cairn/compat.h>
#include <cairn/deadline.h>
#include <cairn/wait.h>

#define NEVER UINT64_MAX

int crn_deadlines_init(struct crn_deadlines *deadlines)
{
	*deadlines = (struct crn_deadlines){
		.set_to = NEVER,
		.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
	};
	return deadlines->fd < 0 ? -errno : 0;
}

void crn_deadlines_fini(struct crn_deadlines *deadlines)
{
	assert(!deadlines->first);
	if (deadlines->fd >= 0)
		close(deadlines->fd);
	deadlines->fd = -1;
}

/*
 * NEVER turns it off. Setting it makes the descriptor unreadable until then
 * (timerfd_create(2)), and fails for no valid time.
 */
static void timer_set(struct crn_deadlines *deadlines, uint64_t at)
{
	struct itimerspec timer = {{0}, {0}};

	deadlines->set_to = at;
	if (deadlines->fd < 0)
		return;
	if (at != NEVER) {
		timer.it_value.tv_sec = (time_t)(at / 1000);
		timer.it_value.tv_nsec = (long)(at % 1000) * 1000000;
		/* All zero would turn it off. */
		timer.it_value.tv_nsec += !at;
	}
	timerfd_settime(deadlines->fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* Puts a deadline, with the others below and behind it, where *link points from. */
static void hang(struct crn_deadline **link, struct crn_deadline *deadline)
{
	*link = deadline;
	if (deadline)
		deadline->link = link;
}

/* Two heaps as one; either may be NULL. The caller hangs the result. */
static struct crn_deadline *meld(struct crn_deadline *a, struct crn_deadline *b)
{
	struct crn_deadline *later;

	if (!a || !b)
		return a ? a : b;
	later = a->at <= b->at ? b : a;
	a = later == b ? a : b;
	hang(&later->next, a->child);
	hang(&a->child, later);
	a->next = NULL;
	return a;
}

/*
 * A list of heaps as one heap, in two passes: in pairs from the front, then the pairs
 * from the back, which is what makes removing logarithmic.
 */
static struct crn_deadline *meld_list(struct crn_deadline *list)
{
	struct crn_deadline *a, *b, *pairs = NULL, *heap = NULL;

	while (list) {
		a = list;
		b = a->next;
		list = b ? b->next : NULL;
		a->next = NULL;
		if (b)
			b->next = NULL;
		a = meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		a = pairs;
		pairs = a->next;
		a->next = NULL;
		heap = meld(heap, a);
	}
	return heap;
}

void crn_deadline_remove(struct crn_deadlines *deadlines, struct crn_deadline *deadline)
{
	struct crn_deadline *below;

	if (!deadline->link)
		return;
	hang(deadline->link, deadline->next);
	below = meld_list(deadline->child);
	deadline->link = NULL;
	deadline->next = NULL;
	deadline->child = NULL;
	hang(&deadlines->first, meld(deadlines->first, below));
}

void crn_deadline_add(struct crn_deadlines *deadlines, struct crn_deadline *deadline,
		      uint64_t at)
{
	crn_deadline_remove(deadlines, deadline);
	deadline->at = at;
	hang(&deadlines->first, meld(deadlines->first, deadline));
	if (at < deadlines->set_to)
		timer_set(deadlines, at);
}

/* Those that are over, in the order of time, are no heap any more but a list. */
static void take_over(struct crn_deadlines *deadlines, uint64_t now,
		      struct crn_deadline **list)
{
	struct crn_deadline *deadline;

	while ((deadline = deadlines->first) && deadline->at <= now) {
		crn_deadline_remove(deadlines, deadline);
		hang(list, deadline);
		list = &deadline->next;
	}
}

unsigned int crn_deadlines_run_at(struct crn_deadlines *deadlines, uint64_t now)
{
	struct crn_deadline *over = NULL, *deadline;
	unsigned int count = 0;

	/* None is earlier than the timer. */
	if (deadlines->running || now < deadlines->set_to)
		return 0;
	deadlines->running = true;
	take_over(deadlines, now, &over);
	/* A callback may remove any that is left of the list, as out of the heap. */
	while ((deadline = over)) {
		crn_deadline_remove(deadlines, deadline);
		deadline->expired(deadline);
		count++;
	}
	deadlines->running = false;
	timer_set(deadlines, deadlines->first ? deadlines->first->at : NEVER);
	return count;
}

unsigned int crn_deadlines_expire(struct crn_deadlines *deadlines)
{
	return crn_deadlines_run_at(deadlines, crn_now_ms());
}
