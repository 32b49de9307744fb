/* SPDX-License-Identifier: BSD-2-Clause */
/* The linker puts these where the code under exploration allocates (XPL_WRAP). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "heap.h"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
void __real_free(void *at);
void __wrap_free(void *at);

void *__wrap_malloc(size_t size)
{
	return xpl_heap_in_use() ? xpl_heap_take(size, 1) : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return xpl_heap_in_use() ? xpl_heap_take(count * size, 1)
				 : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return xpl_heap_in_use() ? xpl_heap_take(size, alignment)
				 : __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
	if (!xpl_heap_in_use())
		return __real_posix_memalign(out, alignment, size);
	*out = xpl_heap_take(size, alignment);
	return *out ? 0 : ENOMEM;
}

char *__wrap_strdup(const char *text)
{
	char *copy = __wrap_malloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

void __wrap_free(void *at)
{
	if (xpl_heap_has(at))
		xpl_heap_give(at);
	else
		__real_free(at);
}

void *__wrap_realloc(void *old, size_t size)
{
	void *new;

	if (!(old ? xpl_heap_has(old) : xpl_heap_in_use()))
		return __real_realloc(old, size);
	new = xpl_heap_take(size, 1);
	if (new &&old) {
		memcpy(new, old, xpl_heap_len(old) < size ? xpl_heap_len(old) : size);
		__wrap_free(old);
	}
	return new;
}
