/* SPDX-License-Identifier: BSD-2-Clause */
#include "turnstile.h"

void frt_turnstile_init(struct frt_turnstile *turnstile)
{
	pthread_mutex_init(&turnstile->mutex, NULL);
	pthread_cond_init(&turnstile->moved, NULL);
	turnstile->next = turnstile->serving = 0;
}

void frt_turnstile_fini(struct frt_turnstile *turnstile)
{
	pthread_cond_destroy(&turnstile->moved);
	pthread_mutex_destroy(&turnstile->mutex);
}

void frt_turnstile_enter(struct frt_turnstile *turnstile)
{
	uint64_t mine;

	pthread_mutex_lock(&turnstile->mutex);
	mine = turnstile->next++;
	while (turnstile->serving != mine)
		pthread_cond_wait(&turnstile->moved, &turnstile->mutex);
	pthread_mutex_unlock(&turnstile->mutex);
}

void frt_turnstile_leave(struct frt_turnstile *turnstile)
{
	pthread_mutex_lock(&turnstile->mutex);
	turnstile->serving++;
	if (turnstile->serving != turnstile->next)
		pthread_cond_broadcast(&turnstile->moved);
	pthread_mutex_unlock(&turnstile->mutex);
}
