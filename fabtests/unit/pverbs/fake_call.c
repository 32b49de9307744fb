/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <string.h>
#include "fake_call.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	unsigned int count;
	unsigned int countdown;
	int err;
} calls[FAKE_CALLS];

void fake_fail(enum fake_call call, unsigned int nth, int err)
{
	pthread_mutex_lock(&lock);
	calls[call].countdown = nth;
	calls[call].err = err;
	pthread_mutex_unlock(&lock);
}

unsigned int fake_count(enum fake_call call)
{
	unsigned int count;

	pthread_mutex_lock(&lock);
	count = calls[call].count;
	pthread_mutex_unlock(&lock);
	return count;
}

void fake_call_reset(void)
{
	pthread_mutex_lock(&lock);
	memset(calls, 0, sizeof(calls));
	pthread_mutex_unlock(&lock);
}

int fake_enter(enum fake_call call)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	calls[call].count++;
	if (calls[call].countdown && !--calls[call].countdown)
		err = calls[call].err;
	pthread_mutex_unlock(&lock);
	return err;
}
