/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "append.h"

#define WORDS (APPEND_LONGEST / sizeof(uint64_t))

/* splitmix64 by S. Vigna: every number of the sequence stands for itself. */
static uint64_t scramble(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static uint64_t first_word(uint64_t seed, uint64_t record)
{
	return scramble(scramble(seed) ^ record);
}

size_t fct_append_len(uint64_t seed, uint64_t record)
{
	return 64 * (1 + first_word(seed, record) % 64);
}

void fct_append_fill(void *to, uint64_t seed, uint64_t record)
{
	const size_t words = fct_append_len(seed, record) / sizeof(uint64_t);
	uint64_t first = first_word(seed, record), word[WORDS];
	size_t i;

	for (i = 0; i < words; i++)
		word[i] = scramble(first + i);
	memcpy(to, word, words * sizeof(word[0]));
}

void fct_append_look(const uint8_t *log, size_t len, uint64_t seed,
		     struct append_found *found)
{
	uint8_t record[APPEND_LONGEST];
	uint64_t tail, at = 0;
	size_t size;

	memset(found, 0, sizeof(*found));
	memcpy(&tail, log + APPEND_TAIL, sizeof(tail));
	found->tail_right = !tail;
	for (;;) {
		size = fct_append_len(seed, found->whole);
		if (APPEND_RECORDS + at + size > len)
			break;
		fct_append_fill(record, seed, found->whole);
		if (memcmp(log + APPEND_RECORDS + at, record, size) != 0)
			break;
		at += size;
		found->whole++;
		if (at == tail) {
			found->tail = found->whole;
			found->tail_right = true;
		}
	}
}
