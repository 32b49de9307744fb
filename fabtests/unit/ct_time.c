/* SPDX-License-Identifier: BSD-2-Clause */
/* A clock that tests move, and who waits; see ct_alloc.c for the wrapping. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include "cairn_test.h"

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

static _Atomic bool stopped;
static _Atomic uint64_t clock_ns; /* CLOCK_MONOTONIC, and that of ticks, while stopped */
static _Thread_local bool jumps;
static _Thread_local bool interrupted;
static _Thread_local void (*after_wait)(void *);
static _Thread_local void *after_wait_arg;
static _Atomic unsigned int waits, waiting;
static _Atomic unsigned int wakes; /* of condition variables */

void ct_time_reset(void);

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *end);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *end);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);

static uint64_t to_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static struct timespec from_ns(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
				 .tv_nsec = (long)(ns % NS_PER_S)};
}

static uint64_t real_ns(void)
{
	struct timespec now;

	__real_clock_gettime(CLOCK_MONOTONIC, &now);
	return to_ns(now);
}

void ct_time_reset(void)
{
	atomic_store(&stopped, false);
	atomic_store(&waits, 0);
	jumps = false;
	interrupted = false;
	after_wait = NULL;
}

void ct_time_stop(void)
{
	if (!atomic_load(&stopped))
		atomic_store(&clock_ns, real_ns());
	atomic_store(&stopped, true);
}

void ct_time_go(void)
{
	atomic_store(&stopped, false);
}

void ct_time_jump(void)
{
	ct_time_stop();
	jumps = true;
}

void ct_time_pass(unsigned int ms)
{
	atomic_fetch_add(&clock_ns, (uint64_t)ms * NS_PER_MS);
}

unsigned int ct_waits(void)
{
	return atomic_load(&waits);
}

unsigned int ct_waiting(void)
{
	return atomic_load(&waiting);
}

static void on_signal(int number)
{
}

void ct_interrupt_wait(void)
{
	interrupted = true;
}

void ct_after_wait(void (*call)(void *), void *arg)
{
	after_wait = call;
	after_wait_arg = arg;
}

static void wait_begins(void)
{
	atomic_fetch_add(&waits, 1);
	atomic_fetch_add(&waiting, 1);
}

static void wait_ends(void)
{
	void (*call)(void *) = after_wait;

	atomic_fetch_sub(&waiting, 1);
	after_wait = NULL;
	if (call)
		call(after_wait_arg);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	if ((id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_COARSE) ||
	    !atomic_load(&stopped))
		return __real_clock_gettime(id, now);
	*now = from_ns(atomic_load(&clock_ns));
	return 0;
}

/* The signal is pending when ppoll opens for it: no moment between is missed. */
static int poll_interrupted(struct pollfd *fds, nfds_t count)
{
	struct sigaction action = {.sa_handler = on_signal}, old_action;
	sigset_t none, usr1, old;
	int ret;

	interrupted = false;
	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigaction(SIGUSR1, &action, &old_action);
	pthread_sigmask(SIG_BLOCK, &usr1, &old);
	pthread_kill(pthread_self(), SIGUSR1);
	ret = ppoll(fds, count, NULL, &none);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGUSR1, &old_action, NULL);
	return ret;
}

/* Until the stopped clock is there; who moves it is another thread, or this wait. */
static int poll_stopped(struct pollfd *fds, nfds_t count, uint64_t end)
{
	int ret;

	while (!(ret = __real_poll(fds, count, jumps ? 0 : 1)) &&
	       atomic_load(&clock_ns) < end) {
		if (jumps)
			atomic_store(&clock_ns, end);
	}
	return ret;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	uint64_t end;
	int ret;

	if (!timeout)
		return __real_poll(fds, count, 0);
	/* Before anyone may see that this thread waits, and move the clock. */
	end = atomic_load(&clock_ns) + (uint64_t)timeout * NS_PER_MS;
	wait_begins();
	if (interrupted)
		ret = poll_interrupted(fds, count);
	else if (timeout > 0 && atomic_load(&stopped))
		ret = poll_stopped(fds, count, end);
	else
		ret = __real_poll(fds, count, timeout);
	wait_ends();
	return ret;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int ret;

	wait_begins();
	ret = __real_pthread_cond_wait(cond, mutex);
	wait_ends();
	return ret;
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	atomic_fetch_add(&wakes, 1);
	return __real_pthread_cond_signal(cond);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	atomic_fetch_add(&wakes, 1);
	return __real_pthread_cond_broadcast(cond);
}

/*
 * In real slices of a millisecond: nothing but a look at the clock ends with them. A wake
 * between the end of a slice and having the mutex again reaches nobody, so it is counted.
 */
static int timedwait_stopped(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t end)
{
	const unsigned int seen = atomic_load(&wakes);
	struct timespec slice;
	int ret;

	do {
		if (jumps && atomic_load(&clock_ns) < end)
			atomic_store(&clock_ns, end);
		slice = from_ns(jumps ? 0 : real_ns() + NS_PER_MS);
		ret = __real_pthread_cond_timedwait(cond, mutex, &slice);
		if (ret == ETIMEDOUT && atomic_load(&wakes) != seen)
			ret = 0;
	} while (ret == ETIMEDOUT && atomic_load(&clock_ns) < end);
	return ret;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *end)
{
	int ret;

	CT_EXPECT_LT(end->tv_nsec, NS_PER_S);
	/* One that is over as it begins, begun again and again, is a spin. */
	if (atomic_load(&stopped))
		CT_EXPECT_GT(to_ns(*end), atomic_load(&clock_ns));
	wait_begins();
	if (atomic_load(&stopped) && end->tv_nsec < NS_PER_S)
		ret = timedwait_stopped(cond, mutex, to_ns(*end));
	else
		ret = __real_pthread_cond_timedwait(cond, mutex, end);
	wait_ends();
	return ret;
}
