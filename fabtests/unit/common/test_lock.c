/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.h, lock.c: one at a time, and nobody sleeps for ever. */
#include <pthread.h>
#include <sched.h>
#include <cairn/lock.h>
#include "cairn_test.h"

#define THREADS 4
#define TURNS 20000

static struct crn_lock lock;
static uint64_t sum; /* guarded by it */

static void *adder(void *arg)
{
	uint64_t was;
	int i;

	for (i = 0; i < TURNS; i++) {
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
	int i;

	CT_ASSERT_EQ(crn_lock_init(&lock, true), 0);
	sum = 0;
	for (i = 0; i < THREADS; i++)
		CT_ASSERT_EQ(pthread_create(&thread[i], NULL, adder, NULL), 0);
	for (i = 0; i < THREADS; i++)
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
