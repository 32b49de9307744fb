/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_errno.h>
#include <cairn/cntr.h>
#include "cairn_test.h"

/* Long enough for an emulated machine; only a lost wake-up lasts that long. */
#define DEADLINE_MS 60000

static struct crn_cntr *open_cntr(enum fi_wait_obj wait_obj)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait_obj};
	struct crn_cntr *cntr = malloc(sizeof(*cntr));

	CT_EXPECT_EQ(crn_cntr_init(cntr, &attr, NULL, NULL), 0);
	return cntr;
}

static void close_cntr(struct crn_cntr *cntr)
{
	CT_EXPECT_EQ(fi_close(&cntr->fid.fid), 0);
	free(cntr);
}

static bool readable(struct crn_cntr *cntr)
{
	struct pollfd pollfd = {.events = POLLIN};

	CT_EXPECT_EQ(fi_control(&cntr->fid.fid, FI_GETWAIT, &pollfd.fd), 0);
	return poll(&pollfd, 1, 0) == 1;
}

CT_TEST(cntr, both_values_can_be_added_to_and_set)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_NONE);
	struct fid_cntr *fid = &cntr->fid;

	CT_EXPECT_EQ(fi_cntr_read(fid), 0);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 0);
	crn_cntr_inc(cntr);
	crn_cntr_inc(cntr);
	crn_cntr_inc_err(cntr);
	CT_EXPECT_EQ(fi_cntr_read(fid), 2);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 1);
	CT_EXPECT_EQ(fi_cntr_add(fid, 5), 0);
	CT_EXPECT_EQ(fi_cntr_adderr(fid, 6), 0);
	CT_EXPECT_EQ(fi_cntr_read(fid), 7);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 7);
	CT_EXPECT_EQ(fi_cntr_set(fid, UINT64_MAX), 0);
	CT_EXPECT_EQ(fi_cntr_seterr(fid, 3), 0);
	CT_EXPECT_EQ(fi_cntr_read(fid), UINT64_MAX);
	CT_EXPECT_EQ(fi_cntr_readerr(fid), 3);
	crn_cntr_inc(cntr);
	CT_EXPECT_EQ(fi_cntr_read(fid), 0);
	close_cntr(cntr);
}

CT_TEST(cntr, wait_returns_at_once_when_the_threshold_is_reached)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_UNSPEC);

	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 0, -1), 0);
	CT_EXPECT_EQ(fi_cntr_set(&cntr->fid, 3), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 3, -1), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 2, 0), 0);
	close_cntr(cntr);
}

CT_TEST(cntr, wait_times_out)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	uint64_t start = crn_now_ms();

	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 50), -FI_ETIMEDOUT);
	CT_EXPECT_GE(crn_now_ms() - start, 50);
	close_cntr(cntr);
}

CT_TEST(cntr, an_old_error_does_not_end_a_wait)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	crn_cntr_inc_err(cntr);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 20), -FI_ETIMEDOUT);
	close_cntr(cntr);
}

CT_TEST(cntr, waiting_without_a_wait_object_is_refused_rather_than_hanging)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_NONE);

	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, -1), -FI_ENOSYS);
	close_cntr(cntr);
}

struct waiter {
	struct crn_cntr *cntr;
	uint64_t threshold;
	int timeout;
	int ret;
	uint64_t cpu_ms; /* that the wait took of the processor */
	_Atomic bool done;
	pthread_t thread;
};

static uint64_t cpu_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

static void *wait_thread(void *arg)
{
	struct waiter *waiter = arg;
	uint64_t before = cpu_ms();

	waiter->ret =
		fi_cntr_wait(&waiter->cntr->fid, waiter->threshold, waiter->timeout);
	waiter->cpu_ms = cpu_ms() - before;
	atomic_store(&waiter->done, true);
	return NULL;
}

static void start_waiter(struct waiter *waiter, struct crn_cntr *cntr, uint64_t threshold)
{
	*waiter = (struct waiter){.cntr = cntr,
				  .threshold = threshold,
				  .timeout = DEADLINE_MS};
	CT_ASSERT_EQ(pthread_create(&waiter->thread, NULL, wait_thread, waiter), 0);
}

static void expect_waiter(struct waiter *waiter, int ret)
{
	pthread_join(waiter->thread, NULL);
	CT_EXPECT_EQ(waiter->ret, ret);
}

/* Whichever of them drives, the increments of other threads reach every threshold. */
CT_TEST(cntr, waiters_with_different_thresholds_all_wake)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct waiter waiters[4];
	unsigned int round;
	size_t i;

	for (round = 0; round < 200 && !ct_failed(); round++) {
		CT_NOTE("round %u", round);
		fi_cntr_set(&cntr->fid, 0);
		for (i = 0; i < CRN_COUNT(waiters); i++)
			start_waiter(&waiters[i], cntr, 1 + 10 * ((i + round) % 4));
		if (round % 3 == 0)
			usleep(500);
		for (i = 0; i < 31; i++)
			crn_cntr_inc(cntr);
		for (i = 0; i < CRN_COUNT(waiters); i++)
			expect_waiter(&waiters[i], 0);
	}
	close_cntr(cntr);
}

/* Runs once, when a waiter is about to arm the counter: it clears an eventfd then. */
static struct crn_cntr *_Atomic inc_before_arming;

int __real_eventfd_read(int fd, eventfd_t *value);
int __wrap_eventfd_read(int fd, eventfd_t *value);
int __wrap_eventfd_read(int fd, eventfd_t *value)
{
	struct crn_cntr *cntr = atomic_exchange(&inc_before_arming, NULL);

	if (cntr)
		crn_cntr_inc(cntr);
	return __real_eventfd_read(fd, value);
}

CT_TEST(cntr, an_increment_just_before_the_waiter_arms_is_seen)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	atomic_store(&inc_before_arming, cntr);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, DEADLINE_MS), 0);
	CT_EXPECT_EQ(atomic_load(&inc_before_arming), NULL);
	close_cntr(cntr);
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
	uint64_t threshold;
	int ret = 0;

	for (threshold = racer->index + 1; threshold <= RACE_END && !ret;
	     threshold += RACERS) {
		atomic_store(&race->awaited[racer->index], threshold);
		ret = fi_cntr_wait(&race->cntr->fid, threshold, DEADLINE_MS);
		CT_EXPECT_EQ(ret, 0);
	}
	atomic_store(&race->awaited[racer->index], UINT64_MAX);
	return NULL;
}

/* The delay moves the increment through every moment of entering the wait. */
CT_TEST(cntr, an_increment_at_any_moment_wakes_whom_it_concerns)
{
	struct race race = {.cntr = open_cntr(FI_WAIT_FD)};
	struct racer racers[RACERS];
	volatile unsigned int spin;
	unsigned int i;
	uint64_t value;

	for (i = 0; i < RACERS; i++) {
		racers[i].race = &race;
		racers[i].index = i;
		CT_ASSERT_EQ(pthread_create(&racers[i].thread, NULL, racer_thread,
					    &racers[i]),
			     0);
	}
	for (value = 1; value <= RACE_END; value++) {
		while (atomic_load(&race.awaited[(value - 1) % RACERS]) < value)
			sched_yield();
		for (spin = 0; spin < value * 7 % 3000; spin++)
			;
		crn_cntr_inc(race.cntr);
	}
	for (i = 0; i < RACERS; i++)
		pthread_join(racers[i].thread, NULL);
	close_cntr(race.cntr);
}

CT_TEST(cntr, a_waiter_returns_at_its_threshold_though_others_stay)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct waiter high[2], low;

	start_waiter(&high[0], cntr, 2);
	start_waiter(&high[1], cntr, 2);
	start_waiter(&low, cntr, 1);
	crn_cntr_inc(cntr);
	expect_waiter(&low, 0);
	CT_EXPECT_FALSE(atomic_load(&high[0].done));
	CT_EXPECT_FALSE(atomic_load(&high[1].done));
	crn_cntr_inc(cntr);
	expect_waiter(&high[0], 0);
	expect_waiter(&high[1], 0);
	close_cntr(cntr);
}

/* True once a thread blocks for all that wait. */
static bool driven(struct crn_cntr *cntr)
{
	bool is_driven;

	crn_lock(&cntr->lock);
	is_driven = cntr->driven;
	crn_unlock(&cntr->lock);
	return is_driven;
}

CT_TEST(cntr, a_waiter_times_out_while_another_blocks_for_both)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct waiter other;

	start_waiter(&other, cntr, 1);
	while (!driven(cntr))
		sched_yield();
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 0), -FI_ETIMEDOUT);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 20), -FI_ETIMEDOUT);
	CT_EXPECT_FALSE(atomic_load(&other.done));
	crn_cntr_inc(cntr);
	expect_waiter(&other, 0);
	close_cntr(cntr);
}

/* One blocks on the descriptor, the others on the one: none may spin meanwhile. */
CT_TEST(cntr, waiting_costs_no_processor_time)
{
	static const int timeouts[] = {DEADLINE_MS, 999, -1};
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct waiter waiters[CRN_COUNT(timeouts)];
	size_t i;

	for (i = 0; i < CRN_COUNT(waiters); i++) {
		waiters[i] = (struct waiter){.cntr = cntr,
					     .threshold = 1,
					     .timeout = timeouts[i]};
		CT_ASSERT_EQ(pthread_create(&waiters[i].thread, NULL, wait_thread,
					    &waiters[i]),
			     0);
		while (!driven(cntr))
			sched_yield();
	}
	pthread_join(waiters[1].thread, NULL);
	CT_EXPECT_EQ(waiters[1].ret, -FI_ETIMEDOUT);
	crn_cntr_inc(cntr);
	expect_waiter(&waiters[0], 0);
	expect_waiter(&waiters[2], 0);
	for (i = 0; i < CRN_COUNT(waiters); i++)
		CT_EXPECT_LT(waiters[i].cpu_ms, 100);
	close_cntr(cntr);
}

/* The driver that times out hands over to one that still waits. */
CT_TEST(cntr, a_waiter_that_gives_up_leaves_the_others_waiting)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct waiter waiters[3];
	size_t i;

	for (i = 0; i < CRN_COUNT(waiters); i++)
		start_waiter(&waiters[i], cntr, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&cntr->fid, 1, 30), -FI_ETIMEDOUT);
	crn_cntr_inc(cntr);
	for (i = 0; i < CRN_COUNT(waiters); i++)
		expect_waiter(&waiters[i], 0);

	for (i = 0; i < CRN_COUNT(waiters) - 1; i++) {
		waiters[i] = (struct waiter){.cntr = cntr, .threshold = 2, .timeout = 30};
		CT_ASSERT_EQ(pthread_create(&waiters[i].thread, NULL, wait_thread,
					    &waiters[i]),
			     0);
	}
	start_waiter(&waiters[i], cntr, 2);
	expect_waiter(&waiters[0], -FI_ETIMEDOUT);
	expect_waiter(&waiters[1], -FI_ETIMEDOUT);
	crn_cntr_inc(cntr);
	expect_waiter(&waiters[2], 0);
	close_cntr(cntr);
}

/* fi_cntr(3): "Any change in a counter's error value will unblock any thread". */
CT_TEST(cntr, an_error_unblocks_every_waiter)
{
	static int (*const changes[])(struct fid_cntr *, uint64_t) = {fi_cntr_adderr,
								      fi_cntr_seterr};
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct waiter waiters[3];
	uint64_t errors = 100;
	size_t i, change;

	for (change = 0; change < CRN_COUNT(changes); change++) {
		for (i = 0; i < CRN_COUNT(waiters); i++)
			start_waiter(&waiters[i], cntr, 1);
		for (i = 0; i < CRN_COUNT(waiters); i++) {
			/* Only a change after the wait began counts. */
			while (!atomic_load(&waiters[i].done)) {
				CT_EXPECT_EQ(changes[change](&cntr->fid, errors++), 0);
				usleep(1000);
			}
			expect_waiter(&waiters[i], -FI_EAVAIL);
		}
	}
	close_cntr(cntr);
}

/* A provider whose completions arrive at a descriptor, here an eventfd. */
struct source_cntr {
	struct crn_cntr cntr;
	int fd;
	unsigned int progressed;
};

static void source_progress(struct crn_cntr *cntr)
{
	struct source_cntr *source = crn_container_of(cntr, struct source_cntr, cntr);
	eventfd_t count;

	source->progressed++;
	if (eventfd_read(source->fd, &count))
		return;
	while (count--)
		crn_cntr_inc(cntr);
}

static void source_open(struct source_cntr *source)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};

	source->progressed = 0;
	source->fd = eventfd(0, EFD_NONBLOCK);
	CT_EXPECT_EQ(crn_cntr_init(&source->cntr, &attr, NULL, source_progress), 0);
	CT_EXPECT_EQ(crn_wait_add_fd(&source->cntr.wait, source->fd), 0);
}

static void source_close(struct source_cntr *source)
{
	crn_cntr_fini(&source->cntr);
	close(source->fd);
}

CT_TEST(cntr, reading_and_waiting_drive_progress)
{
	struct source_cntr source;

	source_open(&source);
	eventfd_write(source.fd, 2);
	CT_EXPECT_EQ(fi_cntr_read(&source.cntr.fid), 2);
	eventfd_write(source.fd, 1);
	CT_EXPECT_EQ(fi_cntr_readerr(&source.cntr.fid), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 3, 0), 0);
	eventfd_write(source.fd, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 4, -1), 0);
	eventfd_write(source.fd, 1);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 5, 0), 0);
	source_close(&source);
}

static void *feed(void *arg)
{
	struct source_cntr *source = arg;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		eventfd_write(source->fd, 1);
		if (i % 10 == 0)
			usleep(1000);
	}
	return NULL;
}

CT_TEST(cntr, a_descriptor_of_the_provider_wakes_a_waiter)
{
	struct source_cntr source;
	pthread_t feeder;

	source_open(&source);
	CT_ASSERT_EQ(pthread_create(&feeder, NULL, feed, &source), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 100, DEADLINE_MS), 0);
	pthread_join(feeder, NULL);
	source_close(&source);
}

CT_TEST(cntr, a_blocked_waiter_does_not_spin)
{
	struct source_cntr source;

	source_open(&source);
	CT_EXPECT_EQ(fi_cntr_wait(&source.cntr.fid, 1, 300), -FI_ETIMEDOUT);
	CT_EXPECT_LE(source.progressed, 4);
	source_close(&source);
}

CT_TEST(cntr, the_descriptor_is_readable_once_the_counter_changes_after_trywait)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	CT_EXPECT_FALSE(readable(cntr));
	crn_cntr_inc(cntr);
	CT_EXPECT_TRUE(readable(cntr));
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	CT_EXPECT_FALSE(readable(cntr));
	crn_cntr_inc_err(cntr);
	CT_EXPECT_TRUE(readable(cntr));
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	close_cntr(cntr);
}

CT_TEST(cntr, only_the_first_change_after_trywait_signals)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	crn_cntr_inc(cntr);
	CT_EXPECT_FALSE(readable(cntr));
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	crn_cntr_inc(cntr);
	CT_EXPECT_TRUE(readable(cntr));
	crn_wait_clear(&cntr->wait);
	crn_cntr_inc(cntr);
	CT_EXPECT_FALSE(readable(cntr));
	close_cntr(cntr);
}

/* Set back to 0, it may count up to the very value that trywait saw last. */
CT_TEST(cntr, trywait_is_not_fooled_by_a_value_set_back)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);

	crn_cntr_inc(cntr);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	fi_cntr_set(&cntr->fid, 0);
	crn_cntr_inc(cntr);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	fi_cntr_seterr(&cntr->fid, 0);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(cntr), 0);
	close_cntr(cntr);
}

static void *increment(void *arg)
{
	struct crn_cntr *cntr = arg;
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		crn_cntr_inc(cntr);
		if (i % 50 == 0)
			usleep(100);
	}
	return NULL;
}

CT_TEST(cntr, a_poll_loop_after_trywait_misses_nothing)
{
	struct crn_cntr *cntr = open_cntr(FI_WAIT_FD);
	struct pollfd pollfd = {.events = POLLIN};
	pthread_t thread;

	CT_EXPECT_EQ(fi_control(&cntr->fid.fid, FI_GETWAIT, &pollfd.fd), 0);
	CT_ASSERT_EQ(pthread_create(&thread, NULL, increment, cntr), 0);
	while (fi_cntr_read(&cntr->fid) < 2000 && !ct_failed()) {
		if (!crn_cntr_trywait(cntr))
			CT_EXPECT_EQ(poll(&pollfd, 1, DEADLINE_MS), 1);
	}
	pthread_join(thread, NULL);
	close_cntr(cntr);
}

CT_TEST(cntr, is_an_fid_of_its_class_with_the_context_given)
{
	struct crn_cntr cntr;
	enum fi_wait_obj obj;
	int context, fd;

	CT_EXPECT_EQ(crn_cntr_init(&cntr, NULL, &context, NULL), 0);
	CT_EXPECT_EQ(cntr.fid.fid.fclass, FI_CLASS_CNTR);
	CT_EXPECT_EQ(cntr.fid.fid.context, &context);
	CT_EXPECT_EQ(fi_control(&cntr.fid.fid, FI_GETWAIT, &fd), -FI_ENODATA);
	CT_EXPECT_EQ(fi_control(&cntr.fid.fid, FI_GETWAITOBJ, &obj), 0);
	CT_EXPECT_EQ(obj, FI_WAIT_NONE);
	CT_EXPECT_EQ(fi_close(&cntr.fid.fid), 0);
}

CT_TEST(cntr, attributes_that_are_not_offered_are_refused)
{
	struct fi_cntr_attr events = {.events = 1}, flags = {.flags = 1};
	struct fi_cntr_attr set = {.wait_obj = FI_WAIT_SET};
	struct crn_cntr cntr;

	CT_EXPECT_EQ(crn_cntr_init(&cntr, &events, NULL, NULL), -FI_ENOSYS);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &flags, NULL, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &set, NULL, NULL), -FI_ENOSYS);
}

CT_TEST(cntr, running_out_of_descriptors_leaves_none_behind)
{
	struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
	struct crn_cntr cntr;

	ct_fds_left(1);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &attr, NULL, NULL), -FI_EMFILE);
	CT_EXPECT_EQ(crn_cntr_init(&cntr, &attr, NULL, NULL), -FI_EMFILE);
	ct_fds_restore();
}
