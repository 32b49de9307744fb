/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "seen.h"

#define FIRST (1u << 12)

static bool put(struct xpl_seen *seen, uint64_t hash)
{
	size_t at = hash & (seen->size - 1);

	for (; seen->hash[at]; at = (at + 1) & (seen->size - 1))
		if (seen->hash[at] == hash)
			return false;
	seen->hash[at] = hash;
	seen->count++;
	return true;
}

static bool grow(struct xpl_seen *seen, size_t size)
{
	struct xpl_seen old = *seen;

	*seen = (struct xpl_seen){.hash = calloc(size, sizeof(uint64_t)), .size = size};
	if (!seen->hash) {
		*seen = old;
		return false;
	}
	for (size_t i = 0; i < old.size; i++)
		if (old.hash[i])
			put(seen, old.hash[i]);
	free(old.hash);
	return true;
}

bool xpl_seen_new(struct xpl_seen *seen, uint64_t hash, bool *full)
{
	if (seen->count * 2 >= seen->size && !grow(seen, seen->size * 2)) {
		*full = true;
		return false;
	}
	return put(seen, hash ? hash : 1);
}

void xpl_seen_clear(struct xpl_seen *seen)
{
	free(seen->hash);
	*seen = (struct xpl_seen){0};
	grow(seen, FIRST);
}
