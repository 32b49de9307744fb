/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlines (timeouts) of operations and connections. One heap for each progress
 * domain, with one timer (timerfd_create(2)) whose descriptor is readable when a
 * deadline may be over: a source for crn_wait_add that needs no arming.
 *
 * A deadline is embedded in the object that it guards; adding and removing allocate
 * nothing and cannot fail. Adding takes constant time, removing and expiring O(log n)
 * amortised (a pairing heap).
 *
 * The timer is set only when it would otherwise be late. Removing does not change it:
 * it may then expire once without effect. An operation that begins and ends well before
 * its deadline makes no system call.
 *
 * Times are milliseconds of crn_now_ms. Not thread safe: the owner's lock guards all but
 * the descriptor, which any thread may poll.
 */
#ifndef CRN_DEADLINE_H
#define CRN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct crn_deadline {
	/*
	 * Called when the deadline has passed. It has left the heap: the callback may
	 * add it again, add and remove others, and free what embeds it. Called with the
	 * owner's lock held, as crn_deadlines_run is.
	 */
	void (*expired)(struct crn_deadline *deadline);
	uint64_t at; /* ms, of crn_deadline_add */
	/* Links of the heap. A deadline with all fields zero is in no heap. */
	struct crn_deadline *child; /* the first; none is earlier than its parent */
	struct crn_deadline *next;  /* of the same parent */
	struct crn_deadline **link; /* the pointer that points here; NULL: in no heap */
};

struct crn_deadlines {
	struct crn_deadline *first; /* the earliest; NULL: there are none */
	uint64_t set_to;	    /* ms, the timer; UINT64_MAX: it is off */
	bool running;		    /* crn_deadlines_run */
	int fd;			    /* readable from set_to on; closed by fini */
};

/* 0, or -FI_EMFILE and the like. */
int crn_deadlines_init(struct crn_deadlines *deadlines);
/* Without a timer and a clock: crn_deadlines_run_at says what time it is. Has nothing to
 * be closed. */
static inline void crn_deadlines_init_untimed(struct crn_deadlines *deadlines)
{
	*deadlines = (struct crn_deadlines){.set_to = UINT64_MAX, .fd = -1};
}

/* No deadline may be left. */
void crn_deadlines_fini(struct crn_deadlines *deadlines);

/* Adds a deadline whose expired is set, or moves one that is in this heap. */
void crn_deadline_add(struct crn_deadlines *deadlines, struct crn_deadline *deadline,
		      uint64_t at);

/* Takes a deadline out; harmless when it is in no heap. */
void crn_deadline_remove(struct crn_deadlines *deadlines, struct crn_deadline *deadline);

static inline bool crn_deadline_pending(const struct crn_deadline *deadline)
{
	return deadline->link;
}

/* Part of crn_deadlines_run. */
unsigned int crn_deadlines_expire(struct crn_deadlines *deadlines);

/*
 * For progress: calls expired of every deadline that is over, in the order of time, and
 * sets the timer to the next one. What callbacks add waits for the next call, also when
 * it is over already. Returns how many it called; 0 in a call from a callback. Costs a
 * comparison while there is nothing to wait for, and a look at the clock otherwise.
 */
static inline unsigned int crn_deadlines_run(struct crn_deadlines *deadlines)
{
	return deadlines->set_to == UINT64_MAX ? 0 : crn_deadlines_expire(deadlines);
}

/* The same at a time that the caller says. */
unsigned int crn_deadlines_run_at(struct crn_deadlines *deadlines, uint64_t now);

#endif
