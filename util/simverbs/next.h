/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SVB_NEXT_H
#define SVB_NEXT_H

#include <dlfcn.h>

/* The function of that name behind ours. Racing threads find the same. */
#define SVB_NEXT(name)                                                              \
	({                                                                          \
		static __typeof__(&name) next;                                      \
		__typeof__(&name) found = __atomic_load_n(&next, __ATOMIC_RELAXED); \
		if (!found) {                                                       \
			found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);         \
			__atomic_store_n(&next, found, __ATOMIC_RELAXED);           \
		}                                                                   \
		found;                                                              \
	})

#endif
