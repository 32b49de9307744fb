/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_cntr_wait in several threads: every change reaches whom it concerns. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cntr_world.h"
#include "ct_fid.h"

struct waiter {
	struct crn_cntr *cntr;
	uint64_t threshold;
	int timeout;
	int ret;
	_Atomic bool done;
	pthread_t thread;
};

static void *wait_thread(void *arg)
{
	struct waiter *waiter = arg;

	waiter->ret =
		fi_cntr_wait(&waiter->cntr->fid, waiter->threshold, waiter->timeout);
	atomic_store(&waiter->done, true);
	return NULL;
}

static void start_timed(struct waiter *waiter, struct crn_cntr *cntr, uint64_t threshold,
			int timeout)
{
	*waiter =
		(struct waiter){.cntr = cntr, .threshold = threshold, .timeout = timeout};
	CT_ASSERT_EQ(pthread_create(&waiter->thread, NULL, wait_thread, waiter), 0);
}

static void start_waiter(struct waiter *waiter, struct crn_cntr *cntr, uint64_t threshold)
{
	start_timed(waiter, cntr, threshold, CT_DEADLINE_MS);
}

static void expect_waiter(struct waiter *waiter, int ret)
{
	pthread_join(waiter->thread, NULL);
	CT_EXPECT_EQ(waiter->ret, ret);
}

CT_FIXTURE(cntr, struct crn_cntr, open_cntr, close_cntr);

/* Whichever of them drives, the increments of other threads reach every threshold. */
CT_TEST_F(cntr, waiters_with_different_thresholds_all_wake)
{
	struct waiter waiters[4];

	for (unsigned int round = 0; round < 200 && !ct_failed(); round++) {
		CT_NOTE("round %u", round);
		fi_cntr_set(&t->fid, 0);
		for (size_t i = 0; i < CRN_COUNT(waiters); i++)
			start_waiter(&waiters[i], t, 1 + 10 * ((i + round) % 4));
		if (round % 3 == 0)
			CT_EXPECT_SOON(ct_waiting() == CRN_COUNT(waiters));
		for (size_t i = 0; i < 31; i++)
			crn_cntr_inc(t);
		for (size_t i = 0; i < CRN_COUNT(waiters); i++)
			expect_waiter(&waiters[i], 0);
	}
}

static int inc_and_arm(struct crn_cntr *cntr)
{
	cntr->arm = NULL;
	crn_cntr_inc(cntr);
	return 0;
}

CT_TEST_F(cntr, an_increment_while_the_waiter_arms_is_seen)
{
	t->arm = inc_and_arm;
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, CT_DEADLINE_MS), 0);
	CT_EXPECT_EQ(t->arm, NULL);
}

/* Waiters with thresholds of their own: thread t waits for t + 1, t + 1 + RACERS, ... */
#define RACERS 3
#define RACE_END 6000

struct race {
	struct crn_cntr *cntr;
	_Atomic uint64_t awaited[RACERS];
};

struct racer {
	struct race *race;
	unsigned int index;
	pthread_t thread;
};

static void *racer_thread(void *arg)
{
	struct racer *racer = arg;
	struct race *race = racer->race;
	int ret = 0;

	for (uint64_t threshold = racer->index + 1; threshold <= RACE_END && !ret;
	     threshold += RACERS) {
		atomic_store(&race->awaited[racer->index], threshold);
		ret = fi_cntr_wait(&race->cntr->fid, threshold, CT_DEADLINE_MS);
		CT_EXPECT_EQ(ret, 0);
	}
	atomic_store(&race->awaited[racer->index], UINT64_MAX);
	return NULL;
}

/* The delay moves the increment through every moment of entering the wait. */
CT_TEST_F(cntr, an_increment_at_any_moment_wakes_whom_it_concerns)
{
	struct race race = {.cntr = t};
	struct racer racers[RACERS];
	volatile unsigned int spin;

	for (unsigned int i = 0; i < RACERS; i++) {
		racers[i].race = &race;
		racers[i].index = i;
		CT_ASSERT_EQ(pthread_create(&racers[i].thread, NULL, racer_thread,
					    &racers[i]),
			     0);
	}
	for (uint64_t value = 1; value <= RACE_END; value++) {
		while (atomic_load(&race.awaited[(value - 1) % RACERS]) < value)
			sched_yield();
		for (spin = 0; spin < value * 7 % 3000; spin++)
			;
		crn_cntr_inc(t);
	}
	for (unsigned int i = 0; i < RACERS; i++)
		pthread_join(racers[i].thread, NULL);
}

CT_TEST_F(cntr, a_waiter_returns_at_its_threshold_though_others_stay)
{
	struct waiter high[2], low;

	start_waiter(&high[0], t, 2);
	start_waiter(&high[1], t, 2);
	start_waiter(&low, t, 1);
	CT_EXPECT_SOON(ct_waiting() == 3);
	crn_cntr_inc(t);
	expect_waiter(&low, 0);
	CT_EXPECT_FALSE(atomic_load(&high[0].done));
	CT_EXPECT_FALSE(atomic_load(&high[1].done));
	crn_cntr_inc(t);
	expect_waiter(&high[0], 0);
	expect_waiter(&high[1], 0);
}

CT_TEST_F(cntr, a_waiter_times_out_while_another_blocks_for_both)
{
	struct waiter other;

	start_waiter(&other, t, 1);
	CT_EXPECT_SOON(ct_waiting() == 1);
	ct_time_jump();
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 1, 20), -FI_ETIMEDOUT);
	CT_EXPECT_FALSE(atomic_load(&other.done));
	crn_cntr_inc(t);
	expect_waiter(&other, 0);
}

/* One blocks on the descriptor, the others on the one: none may spin meanwhile. */
CT_TEST_F(cntr, waiting_costs_no_processor_time)
{
	static const int timeouts[] = {CT_DEADLINE_MS, 999, -1, CT_DEADLINE_MS};
	struct waiter waiters[CRN_COUNT(timeouts)];

	ct_time_stop();
	for (unsigned int i = 0; i < CRN_COUNT(waiters); i++) {
		start_timed(&waiters[i], t, 1, timeouts[i]);
		CT_EXPECT_SOON(ct_waiting() == i + 1);
	}
	ct_time_pass(998);
	CT_EXPECT_EQ(ct_waits(), CRN_COUNT(waiters));
	CT_EXPECT_FALSE(atomic_load(&waiters[1].done));
	ct_time_pass(1);
	expect_waiter(&waiters[1], -FI_ETIMEDOUT);
	crn_cntr_inc(t);
	expect_waiter(&waiters[0], 0);
	expect_waiter(&waiters[2], 0);
	expect_waiter(&waiters[3], 0);
	CT_EXPECT_EQ(ct_waits(), CRN_COUNT(waiters));
}

/* The driver, who waits first, hands over to one that still waits. */
CT_TEST_F(cntr, a_waiter_that_gives_up_leaves_the_others_waiting)
{
	static const int timeouts[][3] = {{CT_DEADLINE_MS, 30, CT_DEADLINE_MS},
					  {30, 30, CT_DEADLINE_MS},
					  {30, CT_DEADLINE_MS, CT_DEADLINE_MS}};
	struct waiter waiters[CRN_COUNT(timeouts[0])];

	ct_time_stop();
	for (unsigned int round = 0; round < CRN_COUNT(timeouts); round++) {
		CT_NOTE("round %u", round);
		for (unsigned int i = 0; i < CRN_COUNT(waiters); i++) {
			start_timed(&waiters[i], t, round + 1, timeouts[round][i]);
			CT_EXPECT_SOON(ct_waiting() == i + 1);
		}
		ct_time_pass(30);
		for (unsigned int i = 0; i < CRN_COUNT(waiters); i++) {
			if (timeouts[round][i] == 30)
				expect_waiter(&waiters[i], -FI_ETIMEDOUT);
		}
		crn_cntr_inc(t);
		for (unsigned int i = 0; i < CRN_COUNT(waiters); i++) {
			if (timeouts[round][i] != 30)
				expect_waiter(&waiters[i], 0);
		}
	}
}

/* fi_cntr(3): "Any change in a counter's error value will unblock any thread". */
CT_TEST_F(cntr, an_error_unblocks_every_waiter)
{
	static int (*const changes[])(struct fid_cntr *, uint64_t) = {fi_cntr_adderr,
								      fi_cntr_seterr};
	struct waiter waiters[3];

	for (size_t change = 0; change < CRN_COUNT(changes); change++) {
		for (size_t i = 0; i < CRN_COUNT(waiters); i++)
			start_waiter(&waiters[i], t, 1);
		/* Only a change after the wait began counts. */
		CT_EXPECT_SOON(ct_waiting() == CRN_COUNT(waiters));
		CT_EXPECT_EQ(changes[change](&t->fid, 100 + change), 0);
		for (size_t i = 0; i < CRN_COUNT(waiters); i++)
			expect_waiter(&waiters[i], -FI_EAVAIL);
	}
}
