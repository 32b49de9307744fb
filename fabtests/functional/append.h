/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log whose every byte follows from a seed: whoever knows the seed can tell from the
 * memory alone how many records are there whole, and that nothing else is.
 *
 * At APPEND_TAIL a word, the number of bytes of records (compound updates only); from
 * APPEND_RECORDS on records 0, 1, ..., each of 64 to 4096 bytes, one behind the other.
 */
#ifndef APPEND_H
#define APPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define APPEND_TAIL 0u
#define APPEND_RECORDS 4096u
#define APPEND_LONGEST 4096u

/* Bytes of a record: a multiple of 64. */
size_t fct_append_len(uint64_t seed, uint64_t record);
/* Writes fct_append_len bytes. */
void fct_append_fill(void *to, uint64_t seed, uint64_t record);

/* What a log looks like. */
struct append_found {
	uint64_t whole;	 /* records from the first one on, up to one that is not whole */
	uint64_t tail;	 /* records in front of the tail word's position */
	bool tail_right; /* the tail word is the end of some record, or 0 */
};

/* log: len bytes, APPEND_RECORDS at least. */
void fct_append_look(const uint8_t *log, size_t len, uint64_t seed,
		     struct append_found *found);

#endif
