/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that ends: a page behind it cannot be touched. */
#include <stdlib.h>
#include <sys/mman.h>
#include "cairn_test.h"

uint8_t *ct_fence_room(size_t size)
{
	static uint8_t *fence;

	if (!fence) {
		fence = mmap(NULL, 2 * CT_FENCE_SIZE, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (fence == MAP_FAILED ||
		    mprotect(fence, CT_FENCE_SIZE, PROT_READ | PROT_WRITE))
			abort();
	}
	if (size > CT_FENCE_SIZE)
		abort();
	return fence + CT_FENCE_SIZE - size;
}

const uint8_t *ct_fence_copy(const void *bytes, size_t len)
{
	uint8_t *room = ct_fence_room(len);

	return len ? memcpy(room, bytes, len) : room;
}
