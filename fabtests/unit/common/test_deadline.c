/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/deadline.h>
#include <cairn/lock.h>
#include <cairn/wait.h>
#include "cairn_test.h"

/* How often the timer was set, and to which time. */
static unsigned int sets;
static struct itimerspec last_set;

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *timer,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *timer,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *timer,
			   struct itimerspec *old)
{
	int ret = __real_timerfd_settime(fd, flags, timer, old);

	CT_EXPECT_EQ(flags, TFD_TIMER_ABSTIME);
	CT_EXPECT_EQ(ret, 0);
	sets++;
	last_set = *timer;
	return ret;
}

/* A deadline with a number, which goes into a list when it is over. */
struct numbered {
	struct crn_deadline deadline;
	unsigned int number;
	void (*then)(struct numbered *numbered);
};

#define LIMIT 4096
static unsigned int expired[LIMIT], expired_count;
static struct crn_deadlines heap;

static void note_expired(struct crn_deadline *deadline)
{
	struct numbered *numbered = crn_container_of(deadline, struct numbered, deadline);

	CT_EXPECT_FALSE(crn_deadline_pending(deadline));
	if (expired_count < LIMIT)
		expired[expired_count++] = numbered->number;
	if (numbered->then)
		numbered->then(numbered);
}

/* The clock stands still at that time. */
struct deadline_scene {
	uint64_t now;
};

static void set_up(struct deadline_scene *s)
{
	ct_time_stop();
	CT_ASSERT_EQ(crn_deadlines_init(&heap), 0);
	expired_count = 0;
	sets = 0;
	s->now = crn_now_ms();
}

static void tear_down(struct deadline_scene *s)
{
	crn_deadlines_fini(&heap);
}

CT_FIXTURE(deadline, struct deadline_scene, set_up, tear_down);

static void number_all(struct numbered *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		all[i] = (struct numbered){.deadline = {.expired = note_expired},
					   .number = (unsigned int)i};
}

static bool fd_readable(void)
{
	struct pollfd pollfd = {.fd = heap.fd, .events = POLLIN};

	return poll(&pollfd, 1, 0) == 1;
}

CT_TEST_F(deadline, it_expires_at_its_time_and_once)
{
	struct numbered one;

	number_all(&one, 1);
	CT_EXPECT_FALSE(crn_deadline_pending(&one.deadline));
	crn_deadline_add(&heap, &one.deadline, t->now + 10);
	CT_EXPECT_TRUE(crn_deadline_pending(&one.deadline));
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	ct_time_pass(9);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	ct_time_pass(1);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(expired_count, 1);
	ct_time_pass(100);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
}

CT_TEST_F(deadline, those_that_are_over_expire_in_the_order_of_time)
{
	static const unsigned int after[] = {50, 10, 90, 20, 70, 30, 80, 40, 60, 100};
	static const unsigned int order[] = {1, 3, 5, 7, 0, 8, 4, 6, 2, 9};
	struct numbered all[CRN_COUNT(after)];

	number_all(all, CRN_COUNT(all));
	for (size_t i = 0; i < CRN_COUNT(all); i++)
		crn_deadline_add(&heap, &all[i].deadline, t->now + after[i]);
	ct_time_pass(35);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 3);
	ct_time_pass(1000);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 7);
	for (size_t i = 0; i < CRN_COUNT(all); i++)
		CT_EXPECT_EQ(expired[i], order[i]);
}

CT_TEST_F(deadline, one_that_was_removed_does_not_expire)
{
	struct numbered all[7];

	number_all(all, CRN_COUNT(all));
	crn_deadline_remove(&heap, &all[0].deadline);
	for (size_t i = 0; i < CRN_COUNT(all); i++)
		crn_deadline_add(&heap, &all[i].deadline, t->now + 10 + i);
	/* The first, an inner one, the last, and twice. */
	crn_deadline_remove(&heap, &all[0].deadline);
	crn_deadline_remove(&heap, &all[3].deadline);
	crn_deadline_remove(&heap, &all[6].deadline);
	crn_deadline_remove(&heap, &all[3].deadline);
	CT_EXPECT_FALSE(crn_deadline_pending(&all[3].deadline));
	ct_time_pass(100);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 4);
	CT_EXPECT_EQ(expired[0], 1);
	CT_EXPECT_EQ(expired[1], 2);
	CT_EXPECT_EQ(expired[2], 4);
	CT_EXPECT_EQ(expired[3], 5);
}

CT_TEST_F(deadline, adding_it_again_moves_it)
{
	struct numbered all[2];

	number_all(all, 2);
	crn_deadline_add(&heap, &all[0].deadline, t->now + 10);
	crn_deadline_add(&heap, &all[1].deadline, t->now + 20);
	crn_deadline_add(&heap, &all[0].deadline, t->now + 30);
	ct_time_pass(20);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(expired[0], 1);
	crn_deadline_add(&heap, &all[0].deadline, t->now + 5);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(expired[1], 0);
}

CT_TEST_F(deadline, the_timer_is_set_only_when_it_would_be_late)
{
	struct numbered all[4];

	number_all(all, CRN_COUNT(all));
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	CT_EXPECT_EQ(sets, 0);
	crn_deadline_add(&heap, &all[0].deadline, t->now + 100);
	CT_EXPECT_EQ(sets, 1);
	CT_EXPECT_EQ(last_set.it_value.tv_sec, (t->now + 100) / 1000);
	CT_EXPECT_EQ(last_set.it_value.tv_nsec, (t->now + 100) % 1000 * 1000000);
	CT_EXPECT_EQ(last_set.it_interval.tv_sec + last_set.it_interval.tv_nsec, 0);
	crn_deadline_add(&heap, &all[1].deadline, t->now + 100);
	crn_deadline_add(&heap, &all[2].deadline, t->now + 101);
	CT_EXPECT_EQ(sets, 1);
	crn_deadline_add(&heap, &all[3].deadline, t->now + 99);
	CT_EXPECT_EQ(sets, 2);
	crn_deadline_remove(&heap, &all[3].deadline);
	ct_time_pass(98);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	CT_EXPECT_EQ(sets, 2);
	/* Early for nothing, and then right. */
	ct_time_pass(1);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	CT_EXPECT_EQ(sets, 3);
	CT_EXPECT_EQ(heap.set_to, t->now + 100);
	ct_time_pass(10);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 3);
	CT_EXPECT_EQ(sets, 4);
	CT_EXPECT_EQ(last_set.it_value.tv_sec + last_set.it_value.tv_nsec, 0);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	CT_EXPECT_EQ(sets, 4);
}

/* 10,000 operations of 1 ms, 8 at a time, each with a deadline 2 s after its begin. */
CT_TEST_F(deadline, operations_that_end_in_time_set_no_timer)
{
	uint64_t now = t->now;
	struct numbered all[8];

	number_all(all, CRN_COUNT(all));
	ct_fail_alloc(1);
	for (size_t i = 0; i < 10000; i++) {
		crn_deadline_remove(&heap, &all[i % CRN_COUNT(all)].deadline);
		crn_deadline_add(&heap, &all[i % CRN_COUNT(all)].deadline, now + 2000);
		CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
		ct_time_pass(1);
		now++;
	}
	CT_EXPECT_FALSE(ct_alloc_failed());
	/* One at the begin, and one each time that it was early. */
	CT_EXPECT_LE(sets, 6);
	for (size_t i = 0; i < CRN_COUNT(all); i++)
		crn_deadline_remove(&heap, &all[i].deadline);
	ct_time_pass(5000);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
	CT_EXPECT_EQ(heap.set_to, UINT64_MAX);
}

CT_TEST_F(deadline, the_beginning_and_the_end_of_time_are_times)
{
	struct numbered all[3];

	number_all(all, CRN_COUNT(all));
	crn_deadline_add(&heap, &all[0].deadline, UINT64_MAX);
	CT_EXPECT_EQ(sets, 0);
	crn_deadline_add(&heap, &all[1].deadline, UINT64_MAX - 1);
	CT_EXPECT_EQ(sets, 1);
	CT_EXPECT_FALSE(fd_readable());
	crn_deadline_add(&heap, &all[2].deadline, 0);
	CT_EXPECT_EQ(last_set.it_value.tv_nsec, 1);
	CT_EXPECT_TRUE(fd_readable());
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(expired[0], 2);
	CT_EXPECT_FALSE(fd_readable());
	crn_deadline_remove(&heap, &all[0].deadline);
	crn_deadline_remove(&heap, &all[1].deadline);
}

/* What callbacks do. */

static struct numbered *all_of_test;
static uint64_t begin_of_test;

static void add_itself_over(struct numbered *numbered)
{
	crn_deadline_add(&heap, &numbered->deadline, begin_of_test);
}

CT_TEST_F(deadline, one_that_adds_itself_waits_for_the_next_run)
{
	struct numbered one;

	begin_of_test = t->now;
	number_all(&one, 1);
	one.then = add_itself_over;
	crn_deadline_add(&heap, &one.deadline, begin_of_test);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_TRUE(fd_readable());
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(sets, 3);
	crn_deadline_remove(&heap, &one.deadline);
}

/* Of 0 to 5, of which 4 and 5 are not over. */
static void rearrange(struct numbered *numbered)
{
	crn_deadline_remove(&heap, &all_of_test[1].deadline);
	crn_deadline_add(&heap, &all_of_test[2].deadline, begin_of_test + 500);
	crn_deadline_remove(&heap, &all_of_test[4].deadline);
	crn_deadline_add(&heap, &all_of_test[6].deadline, begin_of_test + 1);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 0);
}

CT_TEST_F(deadline, a_callback_may_add_move_and_remove_any)
{
	struct numbered all[7];

	begin_of_test = t->now;
	all_of_test = all;
	number_all(all, CRN_COUNT(all));
	all[0].then = rearrange;
	for (size_t i = 0; i < 4; i++)
		crn_deadline_add(&heap, &all[i].deadline, begin_of_test + i);
	crn_deadline_add(&heap, &all[4].deadline, begin_of_test + 1000);
	crn_deadline_add(&heap, &all[5].deadline, begin_of_test + 1001);
	ct_time_pass(10);
	sets = 0;
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 2);
	CT_EXPECT_EQ(sets, 1);
	CT_EXPECT_EQ(expired[0], 0);
	CT_EXPECT_EQ(expired[1], 3);
	CT_EXPECT_FALSE(crn_deadline_pending(&all[1].deadline));
	CT_EXPECT_FALSE(crn_deadline_pending(&all[4].deadline));
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(expired[2], 6);
	ct_time_pass(5000);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 2);
	CT_EXPECT_EQ(expired[3], 2);
	CT_EXPECT_EQ(expired[4], 5);
}

static void free_itself(struct numbered *numbered)
{
	free(numbered);
}

CT_TEST_F(deadline, a_callback_may_free_what_embeds_it)
{
	struct numbered *one;

	for (size_t i = 0; i < 5; i++) {
		one = malloc(sizeof(*one));
		CT_ASSERT_NE(one, NULL);
		number_all(one, 1);
		one->then = free_itself;
		crn_deadline_add(&heap, &one->deadline, t->now + i % 3);
	}
	ct_time_pass(10);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 5);
}

/* The heap against a table, with 20,000 random steps. */

static bool links_hold(struct crn_deadline **link, uint64_t least)
{
	struct crn_deadline *deadline;

	for (; (deadline = *link); link = &deadline->next) {
		if (deadline->link != link || deadline->at < least ||
		    !links_hold(&deadline->child, deadline->at))
			return false;
	}
	return true;
}

/* Glibc's generator, so that every run is the same. */
static unsigned int seed;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)rand_r(&seed) % limit;
}

CT_TEST_F(deadline, any_sequence_of_steps_keeps_the_heap_right)
{
	enum { COUNT = 64 };
	uint64_t now = t->now, wanted[COUNT];
	struct numbered all[COUNT];
	unsigned int i, over;

	seed = 1;
	number_all(all, COUNT);
	memset(wanted, 0, sizeof(wanted));
	for (unsigned int step = 0; step < 20000 && !ct_failed(); step++) {
		CT_NOTE("step %u", step);
		i = below(COUNT);
		switch (below(4)) {
		case 0:
		case 1:
			wanted[i] = now + 1 + below(100);
			crn_deadline_add(&heap, &all[i].deadline, wanted[i]);
			break;
		case 2:
			wanted[i] = 0;
			crn_deadline_remove(&heap, &all[i].deadline);
			break;
		default:
			i = below(8);
			ct_time_pass(i);
			now += i;
			for (over = 0, i = 0; i < COUNT; i++) {
				if (wanted[i] && wanted[i] <= now) {
					wanted[i] = 0;
					over++;
				}
			}
			expired_count = 0;
			CT_EXPECT_EQ(crn_deadlines_run(&heap), over);
			CT_EXPECT_EQ(expired_count, over);
		}
		for (i = 0; i < COUNT; i++)
			CT_EXPECT_EQ(crn_deadline_pending(&all[i].deadline), !!wanted[i]);
		CT_EXPECT_TRUE(links_hold(&heap.first, 0));
		if (heap.first)
			CT_EXPECT_LE(heap.set_to, heap.first->at);
	}
	for (i = 0; i < COUNT; i++)
		crn_deadline_remove(&heap, &all[i].deadline);
}

/* What removing the first costs: a comparison for each that is directly below it. */
static unsigned int cost_of_first(void)
{
	struct crn_deadline *deadline;
	unsigned int cost = 0;

	for (deadline = heap.first->child; deadline; deadline = deadline->next)
		cost++;
	return cost;
}

CT_TEST_F(deadline, removing_takes_logarithmic_time_on_average)
{
	enum { COUNT = 4096, LOG = 12 };
	static struct numbered all[COUNT];
	unsigned int cost;
	uint64_t now = t->now;

	seed = 1;
	for (unsigned int pattern = 0; pattern < 3; pattern++) {
		CT_NOTE("pattern %u", pattern);
		number_all(all, COUNT);
		for (unsigned int i = 0; i < COUNT; i++)
			crn_deadline_add(&heap, &all[i].deadline,
					 now + 1000 +
						 (pattern == 0	 ? i
						  : pattern == 1 ? COUNT - i
								 : below(COUNT)));
		cost = 0;
		for (unsigned int i = 0; i < COUNT; i++) {
			cost += cost_of_first();
			crn_deadline_remove(&heap, heap.first);
		}
		CT_EXPECT_EQ(heap.first, NULL);
		CT_EXPECT_LT(cost, 2 * COUNT * LOG);
	}
}

CT_TEST(deadline, the_descriptor_is_a_source_that_wakes_whoever_waits)
{
	struct crn_wait_source source = {0};
	struct numbered one;
	struct crn_wait wait;
	uint64_t at;

	CT_ASSERT_EQ(crn_deadlines_init(&heap), 0);
	CT_ASSERT_EQ(crn_wait_init(&wait, FI_WAIT_FD), 0);
	source.fd = heap.fd;
	CT_ASSERT_EQ(crn_wait_add(&wait, &source), 0);
	number_all(&one, 1);
	expired_count = 0;
	at = crn_now_ms() + 3;
	crn_deadline_add(&heap, &one.deadline, at);
	CT_EXPECT_EQ(crn_wait_arm(&wait), 0);
	CT_EXPECT_EQ(crn_wait_poll(&wait, CT_DEADLINE_MS), 0);
	CT_EXPECT_GE(crn_now_ms(), at);
	CT_EXPECT_EQ(crn_deadlines_run(&heap), 1);
	CT_EXPECT_EQ(crn_wait_poll(&wait, 0), -FI_ETIMEDOUT);
	crn_wait_remove(&source);
	crn_wait_fini(&wait);
	crn_deadlines_fini(&heap);
}

/* One thread adds, another waits for the descriptor and runs: the lock is the owner's. */
#define ROUNDS 500
static struct crn_lock owner;
static _Atomic unsigned int done;

static void count_done(struct crn_deadline *deadline)
{
	atomic_fetch_add(&done, 1);
}

static void *wait_and_run(void *arg)
{
	struct pollfd pollfd = {.fd = heap.fd, .events = POLLIN};

	while (atomic_load(&done) < ROUNDS) {
		CT_EXPECT_EQ(poll(&pollfd, 1, CT_DEADLINE_MS), 1);
		if (ct_failed())
			break;
		crn_lock(&owner);
		crn_deadlines_run(&heap);
		crn_unlock(&owner);
	}
	return NULL;
}

CT_TEST(deadline, one_thread_adds_and_another_waits)
{
	struct crn_deadline deadlines[2] = {{.expired = count_done},
					    {.expired = count_done}};
	pthread_t thread;

	CT_ASSERT_EQ(crn_deadlines_init(&heap), 0);
	crn_lock_init(&owner, true);
	atomic_store(&done, 0);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, wait_and_run, NULL), 0);
	for (unsigned int i = 0; i < ROUNDS && !ct_failed(); i++) {
		crn_lock(&owner);
		crn_deadline_add(&heap, &deadlines[1], crn_now_ms() + 10000);
		crn_deadline_add(&heap, &deadlines[0], crn_now_ms());
		crn_unlock(&owner);
		CT_EXPECT_SOON(atomic_load(&done) > i);
	}
	pthread_join(thread, NULL);
	crn_deadline_remove(&heap, &deadlines[1]);
	crn_lock_fini(&owner);
	crn_deadlines_fini(&heap);
}

CT_TEST(deadline, without_a_descriptor_there_is_none)
{
	ct_fds_left(0);
	CT_EXPECT_EQ(crn_deadlines_init(&heap), -FI_EMFILE);
	ct_fds_restore();
	crn_deadlines_fini(&heap);
	CT_ASSERT_EQ(crn_deadlines_init(&heap), 0);
	CT_EXPECT_EQ(fcntl(heap.fd, F_GETFD), FD_CLOEXEC);
	crn_deadlines_fini(&heap);
	CT_EXPECT_EQ(heap.fd, -1);
}

CT_TEST_F(deadline, without_a_timer_the_caller_says_what_time_it_is)
{
	struct numbered all[2];

	crn_deadlines_fini(&heap);
	crn_deadlines_init_untimed(&heap);
	number_all(all, 2);
	crn_deadline_add(&heap, &all[0].deadline, 20);
	crn_deadline_add(&heap, &all[1].deadline, 10);
	CT_EXPECT_EQ(heap.set_to, 10);
	CT_EXPECT_EQ(crn_deadlines_run_at(&heap, 9), 0);
	CT_EXPECT_EQ(crn_deadlines_run_at(&heap, 10), 1);
	CT_EXPECT_EQ(heap.set_to, 20);
	CT_EXPECT_EQ(crn_deadlines_run_at(&heap, 20), 1);
	CT_EXPECT_EQ(heap.set_to, UINT64_MAX);
	CT_ASSERT_EQ(expired_count, 2);
	CT_EXPECT_EQ(expired[0], 1);
	CT_EXPECT_EQ(expired[1], 0);
	CT_EXPECT_EQ(sets, 0);
}
