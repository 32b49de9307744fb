/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lock does when two want it: futex(2), and futex(7) for how it is used. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cairn/lock.h>

/* A holder that runs is done before a system call would be. */
#define CRN_LOCK_SPINS 100

static void crn_futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

#ifdef CRN_DEBUG
bool crn_mutex_held(const pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
	return mutex->__data.__owner == gettid();
#else
	return true;
#endif
}
#endif

void crn_lock_wait(struct crn_lock *lock)
{
	uint32_t found;
	int i;

	for (i = 0; i < CRN_LOCK_SPINS; i++) {
		found = CRN_LOCK_FREE;
		if (atomic_load_explicit(&lock->state, memory_order_relaxed) ==
			    CRN_LOCK_FREE &&
		    atomic_compare_exchange_strong_explicit(&lock->state, &found,
							    CRN_LOCK_TAKEN,
							    memory_order_acquire,
							    memory_order_relaxed))
			return;
	}
	/* Got that way it stays WANTED: there may be more who sleep. */
	while (atomic_exchange_explicit(&lock->state, CRN_LOCK_WANTED,
					memory_order_acquire) != CRN_LOCK_FREE)
		crn_futex(&lock->state, FUTEX_WAIT, CRN_LOCK_WANTED);
}

void crn_lock_wake(struct crn_lock *lock)
{
	atomic_store_explicit(&lock->state, CRN_LOCK_FREE, memory_order_release);
	crn_futex(&lock->state, FUTEX_WAKE, 1);
}
