/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A spin lock in shared memory that survives its holder.
 *
 * The word holds the token of the process that has it (process index and generation,
 * registry.h), 0 when free. Who spins for long looks whether that process still lives and
 * takes the lock over if not. What the lock protects is therefore always changed so that
 * one store publishes it: a lock taken over never guards a half-made change that matters.
 *
 * Order in which they are taken: send queue, then receive queue, then completion queue;
 * never two of a kind.
 */
#ifndef SVB_SHARED_LOCK_H
#define SVB_SHARED_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "attr.h"

struct svb_lock {
	uint32_t owner;
};

/* Reads a word without the lock, where a stale value is acceptable. */
#define svb_get(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define svb_set(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

/* The token of this process: svb_registry_join sets it, 0 before. */
extern uint32_t svb_lock_token;

/* Spins, yields, and takes the lock over from a dead process. True when it was taken
 * over. */
bool svb_lock_slow(struct svb_lock *lock);

/* True when the lock was free and is taken now. */
SVB_INLINE bool svb_trylock(struct svb_lock *lock)
{
	uint32_t free_lock = 0;

	return __builtin_expect(__atomic_compare_exchange_n(&lock->owner, &free_lock,
							    svb_lock_token, false,
							    __ATOMIC_ACQUIRE,
							    __ATOMIC_RELAXED),
				1);
}

/* True when a dead process held it: what it was doing may want to be finished. */
static inline bool svb_lock(struct svb_lock *lock)
{
	return svb_trylock(lock) ? false : svb_lock_slow(lock);
}

SVB_INLINE void svb_unlock(struct svb_lock *lock)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

#endif
