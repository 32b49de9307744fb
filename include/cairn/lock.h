/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lock that is not taken at all when the application promised to serialise calls itself
 * (FI_THREAD_DOMAIN and stricter, fi_domain(3)), and that costs one atomic operation each
 * way while nobody else wants it: posting and reading completions take one per call.
 * Whoever does not get it sleeps (futex(2)). Not recursive; for no condition variables.
 */
#ifndef CRN_LOCK_H
#define CRN_LOCK_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <cairn/compat.h>

enum crn_lock_state { CRN_LOCK_FREE, CRN_LOCK_TAKEN, CRN_LOCK_WANTED };

struct crn_lock {
	_Atomic uint32_t state; /* enum crn_lock_state; WANTED: taken, others may sleep */
	bool on;
};

/* lock.c: until the lock is this thread's; leaving it and waking one of those who sleep.
 */
void crn_lock_wait(struct crn_lock *lock);
void crn_lock_wake(struct crn_lock *lock);

/* Returns 0 or a negative FI_E* code. */
static inline int crn_lock_init(struct crn_lock *lock, bool on)
{
	atomic_init(&lock->state, CRN_LOCK_FREE);
	lock->on = on;
	return 0;
}

static inline void crn_lock_fini(struct crn_lock *lock)
{
	assert(atomic_load_explicit(&lock->state, memory_order_relaxed) == CRN_LOCK_FREE);
}

static inline void crn_lock(struct crn_lock *lock)
{
	uint32_t found = CRN_LOCK_FREE;

	if (lock->on && crn_unlikely(!atomic_compare_exchange_strong_explicit(
				&lock->state, &found, CRN_LOCK_TAKEN,
				memory_order_acquire, memory_order_relaxed)))
		crn_lock_wait(lock);
}

static inline void crn_unlock(struct crn_lock *lock)
{
	/* One less is FREE, or, with somebody who waits, still TAKEN. */
	if (lock->on && crn_unlikely(atomic_fetch_sub_explicit(&lock->state, 1,
							       memory_order_release) !=
				     CRN_LOCK_TAKEN))
		crn_lock_wake(lock);
}

#endif
