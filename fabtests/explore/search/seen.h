/* SPDX-License-Identifier: BSD-2-Clause */
/* Which hashes were met before. */
#ifndef XPL_SEEN_H
#define XPL_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xpl_seen {
	uint64_t *hash; /* 0: none */
	size_t size, count;
};

/* Was it not there? *full: there is no memory. */
bool xpl_seen_new(struct xpl_seen *seen, uint64_t hash, bool *full);
void xpl_seen_clear(struct xpl_seen *seen);

#endif
