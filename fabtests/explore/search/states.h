/* SPDX-License-Identifier: BSD-2-Clause */
/* States of everything, to come back to, and which of them were met before. */
#ifndef STATES_H
#define STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hashes of states met. */
struct seen {
	uint64_t *hash; /* 0: none */
	size_t size, count;
};

/* Was it not there? *full: there is no memory. */
bool seen_new(struct seen *seen, uint64_t hash, bool *full);
void seen_clear(struct seen *seen);

/* From now on states can be saved; all of the code's is in the heap. */
void states_init(void);
/* Saves the state, as the newest. Where it lies, or SIZE_MAX: no room. */
size_t state_push(void);
/* Forgets this one and all that are newer. */
void state_pop(size_t at);
void state_back_to(size_t at);
uint64_t state_hash(size_t at);
/* Of the present state: saved for no longer than that takes. */
uint64_t state_hash_now(void);

#endif
