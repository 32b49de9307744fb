/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.h, lock.c: one at a time, and nobody sleeps for ever. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <cairn/lock.h>
#include "cairn_test.h"

#define THREADS 4
#define TURNS 20000

static struct crn_lock lock;
static uint64_t sum; /* guarded by it */

static void *adder(void *arg)
{
	uint64_t was;

	for (int i = 0; i < TURNS; i++) {
		crn_lock(&lock);
		was = sum;
		/* Now and then the others have time to fall asleep. */
		if (i % 64 == 0)
			sched_yield();
		sum = was + 1;
		crn_unlock(&lock);
	}
	return arg;
}

CT_TEST(lock, one_thread_at_a_time_holds_it)
{
	pthread_t thread[THREADS];

	CT_ASSERT_EQ(crn_lock_init(&lock, true), 0);
	sum = 0;
	for (int i = 0; i < THREADS; i++)
		CT_ASSERT_EQ(pthread_create(&thread[i], NULL, adder, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		CT_EXPECT_EQ(pthread_join(thread[i], NULL), 0);
	CT_EXPECT_EQ(sum, (uint64_t)THREADS * TURNS);
	crn_lock_fini(&lock);
}

CT_TEST(lock, is_not_taken_when_it_is_off)
{
	CT_ASSERT_EQ(crn_lock_init(&lock, false), 0);
	crn_lock(&lock);
	crn_lock(&lock);
	crn_unlock(&lock);
	crn_lock_fini(&lock);
}

static void *taker(void *arg)
{
	crn_lock(&lock);
	sum++;
	crn_unlock(&lock);
	return arg;
}

/* WANTED is what one leaves behind who sleeps: then the holder has to wake. */
CT_TEST(lock, who_sleeps_is_woken)
{
	pthread_t thread[2];

	CT_ASSERT_EQ(crn_lock_init(&lock, true), 0);
	sum = 0;
	crn_lock(&lock);
	CT_ASSERT_EQ(pthread_create(&thread[0], NULL, taker, NULL), 0);
	CT_ASSERT_EQ(pthread_create(&thread[1], NULL, taker, NULL), 0);
	while (atomic_load(&lock.state) != CRN_LOCK_WANTED)
		sched_yield();
	CT_EXPECT_EQ(sum, 0);
	crn_unlock(&lock);
	CT_EXPECT_EQ(pthread_join(thread[0], NULL), 0);
	CT_EXPECT_EQ(pthread_join(thread[1], NULL), 0);
	CT_EXPECT_EQ(sum, 2);
	crn_lock_fini(&lock);
}

#ifdef CRN_DEBUG
/* The signal that a child ends with that runs it; 0: none. */
static int ends_with(void (*run)(void))
{
	int status = -1;
	const pid_t child = fork();

	if (!child) {
		/* The message of assert(3) is not of interest, nor a core file. */
		prctl(PR_SET_DUMPABLE, 0);
		freopen("/dev/null", "w", stderr);
		signal(SIGABRT, SIG_DFL);
		run();
		_exit(0);
	}
	CT_EXPECT_EQ(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *arg)
{
	crn_lock(&lock);
	pthread_mutex_lock(&mutex);
	return arg;
}

static void held_by_another(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, hold, NULL);
	pthread_join(thread, NULL);
}

static void assert_free(void)
{
	crn_lock_assert_held(&lock);
}

static void assert_after_unlock(void)
{
	crn_lock(&lock);
	crn_unlock(&lock);
	crn_lock_assert_held(&lock);
}

static void assert_of_another(void)
{
	held_by_another();
	crn_lock_assert_held(&lock);
}

static void unlock_of_another(void)
{
	held_by_another();
	crn_unlock(&lock);
}

static void lock_twice(void)
{
	crn_lock(&lock);
	crn_lock(&lock);
}

static void assert_held(void)
{
	crn_lock(&lock);
	crn_lock_assert_held(&lock);
	crn_unlock(&lock);
	pthread_mutex_lock(&mutex);
	crn_mutex_assert_held(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void assert_mutex_free(void)
{
	crn_mutex_assert_held(&mutex);
}

static void assert_mutex_of_another(void)
{
	held_by_another();
	crn_mutex_assert_held(&mutex);
}

CT_TEST(lock, a_caller_that_does_not_hold_it_is_found)
{
	static void (*const wrong[])(void) = {
		assert_free,	   assert_after_unlock,
		assert_of_another, unlock_of_another,
		lock_twice,
#ifdef __GLIBC__
		assert_mutex_free, assert_mutex_of_another,
#endif
	};

	CT_ASSERT_EQ(crn_lock_init(&lock, true), 0);
	CT_EXPECT_EQ(ends_with(assert_held), 0);
	for (size_t i = 0; i < CRN_COUNT(wrong); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(ends_with(wrong[i]), SIGABRT);
	}
}

CT_TEST(lock, one_that_is_off_counts_as_held)
{
	CT_ASSERT_EQ(crn_lock_init(&lock, false), 0);
	CT_EXPECT_EQ(ends_with(assert_free), 0);
	CT_EXPECT_EQ(ends_with(lock_twice), 0);
}
#endif
