/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of one size, taken and given back in constant time. Memory grows in chunks up
 * to a bound and is freed with the pool. Not thread safe: the owner's lock guards it.
 */
#ifndef CRN_POOL_H
#define CRN_POOL_H

#include <stddef.h>

struct crn_pool {
	size_t size;  /* bytes of an object, rounded up for alignment */
	size_t chunk; /* objects allocated at a time */
	size_t limit; /* most objects; 0: no bound */
	size_t total; /* objects allocated */
	size_t used;  /* objects taken and not given back */
	void *free;   /* linked through the first word */
	void *chunks; /* linked through the first word */
};

void crn_pool_init(struct crn_pool *pool, size_t size, size_t chunk, size_t limit);
/* Objects still taken become invalid. */
void crn_pool_fini(struct crn_pool *pool);
/* Contents undefined. NULL: out of memory or at the bound. */
void *crn_pool_get(struct crn_pool *pool);
void crn_pool_put(struct crn_pool *pool, void *object);

#endif
