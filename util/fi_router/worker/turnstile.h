/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock that is given in the order in which it was asked for, to be held for long: who
 * takes it again at once comes after those who wait. */
#ifndef FRT_TURNSTILE_H
#define FRT_TURNSTILE_H

#include <pthread.h>
#include <stdint.h>

struct frt_turnstile {
	pthread_mutex_t mutex;
	pthread_cond_t moved;
	uint64_t next;	  /* number of who comes next */
	uint64_t serving; /* whose turn it is */
};

void frt_turnstile_init(struct frt_turnstile *turnstile);
void frt_turnstile_fini(struct frt_turnstile *turnstile);
/* Waits for those who came before. */
void frt_turnstile_enter(struct frt_turnstile *turnstile);
void frt_turnstile_leave(struct frt_turnstile *turnstile);

#endif
