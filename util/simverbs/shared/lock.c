/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include "shared.h"

#define SVB_SPINS 200
/* Looking whether the holder lives is a system call or two. */
#define SVB_YIELDS 64

uint32_t svb_lock_token;

static inline void svb_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("isb" ::: "memory");
#endif
}

bool svb_lock_slow(struct svb_lock *lock)
{
	unsigned int tries = 0;
	uint32_t owner;

	for (;;) {
		owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);
		if (!owner &&
		    __atomic_compare_exchange_n(&lock->owner, &owner, svb_lock_token,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return false;
		if (++tries < SVB_SPINS) {
			svb_pause();
			continue;
		}
		sched_yield();
		if (tries % SVB_YIELDS || !owner || owner == svb_lock_token ||
		    svb_registry_alive(owner))
			continue;
		if (__atomic_compare_exchange_n(&lock->owner, &owner, svb_lock_token,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	}
}
