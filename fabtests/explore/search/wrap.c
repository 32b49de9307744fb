/* SPDX-License-Identifier: BSD-2-Clause */
/* The linker puts these where the code under exploration allocates (XPL_WRAP). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "heap.h"
#include "wrap.h"

WRAP(void *, malloc, size_t size)
{
	return xpl_heap_in_use() ? xpl_heap_take(size, 1) : __real_malloc(size);
}

WRAP(void *, calloc, size_t count, size_t size)
{
	return xpl_heap_in_use() ? xpl_heap_take(count * size, 1)
				 : __real_calloc(count, size);
}

WRAP(void *, aligned_alloc, size_t alignment, size_t size)
{
	return xpl_heap_in_use() ? xpl_heap_take(size, alignment)
				 : __real_aligned_alloc(alignment, size);
}

WRAP(int, posix_memalign, void **out, size_t alignment, size_t size)
{
	if (!xpl_heap_in_use())
		return __real_posix_memalign(out, alignment, size);
	*out = xpl_heap_take(size, alignment);
	return *out ? 0 : ENOMEM;
}

WRAP(char *, strdup, const char *text)
{
	char *copy = __wrap_malloc(strlen(text) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

WRAP(void, free, void *at)
{
	if (xpl_heap_has(at))
		xpl_heap_give(at);
	else
		__real_free(at);
}

WRAP(void *, realloc, void *old, size_t size)
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
