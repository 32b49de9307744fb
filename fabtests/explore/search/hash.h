/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef XPL_HASH_H
#define XPL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t xpl_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9fb21c651e98df25ull;
	return hash ^ hash >> 32;
}

/* Of words of 8 bytes; another one for another number. Four at a time: one after the
 * other would wait for each multiplication. */
static inline uint64_t xpl_hash(const char *from, size_t size, uint64_t number)
{
	uint64_t lane[4] = {number, 1, 2, 3}, word[4];
	size_t at;
	int i;

	for (at = 0; at + sizeof(word) <= size; at += sizeof(word)) {
		memcpy(word, from + at, sizeof(word));
		for (i = 0; i < 4; i++)
			lane[i] = xpl_hash_word(lane[i], word[i]);
	}
	for (; at < size; at += sizeof(word[0])) {
		memcpy(word, from + at, sizeof(word[0]));
		lane[0] = xpl_hash_word(lane[0], word[0]);
	}
	lane[0] = xpl_hash_word(xpl_hash_word(lane[0], lane[1]), lane[2]);
	return xpl_hash_word(lane[0], lane[3]);
}

#endif
