/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mutex that is not taken at all when the application promised to serialise calls
 * itself (FI_THREAD_DOMAIN and stricter, fi_domain(3)).
 */
#ifndef CRN_LOCK_H
#define CRN_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct crn_lock {
	pthread_mutex_t mutex;
	bool on;
};

/* Returns 0 or a negative FI_E* code. */
static inline int crn_lock_init(struct crn_lock *lock, bool on)
{
	lock->on = on;
	return -pthread_mutex_init(&lock->mutex, NULL);
}

static inline void crn_lock_fini(struct crn_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

static inline void crn_lock(struct crn_lock *lock)
{
	if (lock->on)
		pthread_mutex_lock(&lock->mutex);
}

static inline void crn_unlock(struct crn_lock *lock)
{
	if (lock->on)
		pthread_mutex_unlock(&lock->mutex);
}

#endif
