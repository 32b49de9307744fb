/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lock that is not taken at all when the application promised to serialise calls
 * itself (FI_THREAD_DOMAIN and stricter, fi_domain(3)), and that costs one atomic
 * operation each way while nobody else wants it: posting and reading completions take
 * one per call. A thread that has to wait sleeps (futex(2)). Not recursive; cannot be
 * used with condition variables.
 *
 * With CRN_DEBUG (configure --enable-debug, and with sanitizers) a lock knows which
 * thread holds it, and crn_lock_assert_held, which stands at the entry of functions that
 * are called with a lock held, ends the program when the caller does not hold it. Without
 * CRN_DEBUG it costs nothing. A lock that is off counts as held.
 */
#ifndef CRN_LOCK_H
#define CRN_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <cairn/compat.h>

enum crn_lock_state { CRN_LOCK_FREE, CRN_LOCK_TAKEN, CRN_LOCK_WANTED };

struct crn_lock {
	_Atomic uint32_t state; /* enum crn_lock_state; WANTED: taken, others may sleep */
	bool on;
#ifdef CRN_DEBUG
	_Atomic uintptr_t owner; /* pthread_self() of the thread that holds it; 0: none */
#endif
};

/* lock.c: waits until this thread owns the lock; unlocks and wakes one sleeping thread.
 */
void crn_lock_wait(struct crn_lock *lock);
void crn_lock_wake(struct crn_lock *lock);

/* Returns 0 or a negative FI_E* code. */
static inline int crn_lock_init(struct crn_lock *lock, bool on)
{
	atomic_init(&lock->state, CRN_LOCK_FREE);
	lock->on = on;
#ifdef CRN_DEBUG
	atomic_init(&lock->owner, 0);
#endif
	return 0;
}

static inline void crn_lock_fini(struct crn_lock *lock)
{
	assert(atomic_load_explicit(&lock->state, memory_order_relaxed) == CRN_LOCK_FREE);
}

#ifdef CRN_DEBUG
/* Does the calling thread hold it, or is it off? */
static inline bool crn_lock_held(const struct crn_lock *lock)
{
	return !lock->on || atomic_load_explicit(&lock->owner, memory_order_relaxed) ==
				    (uintptr_t)pthread_self();
}

static inline void crn_lock_own(struct crn_lock *lock, uintptr_t owner)
{
	if (lock->on)
		atomic_store_explicit(&lock->owner, owner, memory_order_relaxed);
}

/* lock.c: does the calling thread hold it? True where the C library does not tell. */
bool crn_mutex_held(const pthread_mutex_t *mutex);

#define crn_lock_assert_held(lock) assert(crn_lock_held(lock))
#define crn_mutex_assert_held(mutex) assert(crn_mutex_held(mutex))
#define crn_lock_assert_not_held(lock) assert(!(lock)->on || !crn_lock_held(lock))
#define crn_lock_taken(lock) crn_lock_own(lock, (uintptr_t)pthread_self())
#define crn_lock_given(lock) crn_lock_own(lock, 0)
#else
#define crn_lock_assert_held(lock) ((void)sizeof(lock))
#define crn_mutex_assert_held(mutex) ((void)sizeof(mutex))
#define crn_lock_assert_not_held(lock) ((void)sizeof(lock))
#define crn_lock_taken(lock) ((void)sizeof(lock))
#define crn_lock_given(lock) ((void)sizeof(lock))
#endif

static inline void crn_lock(struct crn_lock *lock)
{
	uint32_t found = CRN_LOCK_FREE;

	crn_lock_assert_not_held(lock);
	if (lock->on && crn_unlikely(!atomic_compare_exchange_strong_explicit(
				&lock->state, &found, CRN_LOCK_TAKEN,
				memory_order_acquire, memory_order_relaxed)))
		crn_lock_wait(lock);
	crn_lock_taken(lock);
}

static inline void crn_unlock(struct crn_lock *lock)
{
	crn_lock_assert_held(lock);
	crn_lock_given(lock);
	/* One less is FREE, or, with somebody who waits, still TAKEN. */
	if (lock->on && crn_unlikely(atomic_fetch_sub_explicit(&lock->state, 1,
							       memory_order_release) !=
				     CRN_LOCK_TAKEN))
		crn_lock_wake(lock);
}

#endif
