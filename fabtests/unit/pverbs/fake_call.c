/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <string.h>
#include <cairn/wait.h>
#include "fake_call.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	unsigned int count;
	unsigned int countdown;
	int err;
	unsigned int hook_countdown;
	void (*hook)(void *);
	void *hook_arg;
} calls[FAKE_CALLS];

void fake_fail(enum fake_call call, unsigned int nth, int err)
{
	pthread_mutex_lock(&lock);
	calls[call].countdown = nth;
	calls[call].err = err;
	pthread_mutex_unlock(&lock);
}

void fake_before(enum fake_call call, unsigned int nth, void (*hook)(void *), void *arg)
{
	pthread_mutex_lock(&lock);
	calls[call].hook_countdown = nth;
	calls[call].hook = hook;
	calls[call].hook_arg = arg;
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
	void (*hook)(void *) = NULL;
	void *arg;
	int err = 0;

	pthread_mutex_lock(&lock);
	calls[call].count++;
	if (calls[call].countdown && !--calls[call].countdown)
		err = calls[call].err;
	if (calls[call].hook_countdown && !--calls[call].hook_countdown)
		hook = calls[call].hook;
	arg = calls[call].hook_arg;
	pthread_mutex_unlock(&lock);
	if (hook)
		hook(arg);
	return err;
}

void __wrap_crn_wait_clear(struct crn_wait *wait);
void __real_crn_wait_clear(struct crn_wait *wait);
void __wrap_crn_wait_clear(struct crn_wait *wait)
{
	fake_enter(FAKE_WAIT_CLEAR);
	__real_crn_wait_clear(wait);
}
