/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdalign.h>
#include <stdlib.h>
#include <cairn/compat.h>
#include <cairn/pool.h>

#define ALIGNMENT alignof(max_align_t)
/* The link of a chunk takes one alignment unit in front of its objects. */
#define CHUNK_HEADER ALIGNMENT

void crn_pool_init(struct crn_pool *pool, size_t size, size_t chunk, size_t limit)
{
	size = CRN_MAX(size, sizeof(void *));
	*pool = (struct crn_pool){
		.size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
		.chunk = CRN_MAX(chunk, 1),
		.limit = limit,
	};
}

void crn_pool_fini(struct crn_pool *pool)
{
	void *chunk, *next;

	for (chunk = pool->chunks; chunk; chunk = next) {
		next = *(void **)chunk;
		free(chunk);
	}
	crn_pool_init(pool, pool->size, pool->chunk, pool->limit);
}

static void pool_grow(struct crn_pool *pool)
{
	size_t count = pool->chunk;
	size_t bytes, i;
	char *chunk;

	if (pool->limit)
		count = CRN_MIN(count, pool->limit - pool->total);
	if (!count || __builtin_mul_overflow(count, pool->size, &bytes) ||
	    __builtin_add_overflow(bytes, CHUNK_HEADER, &bytes))
		return;
	chunk = malloc(bytes);
	if (!chunk)
		return;
	*(void **)chunk = pool->chunks;
	pool->chunks = chunk;
	for (i = 0; i < count; i++) {
		void **object = (void **)(chunk + CHUNK_HEADER + i * pool->size);

		*object = pool->free;
		pool->free = object;
	}
	pool->total += count;
}

void *crn_pool_get(struct crn_pool *pool)
{
	void **object;

	if (!pool->free)
		pool_grow(pool);
	object = pool->free;
	if (!object)
		return NULL;
	pool->free = *object;
	pool->used++;
	return object;
}

void crn_pool_put(struct crn_pool *pool, void *object)
{
	*(void **)object = pool->free;
	pool->free = object;
	pool->used--;
}
