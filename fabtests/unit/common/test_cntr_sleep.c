/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for a counter by its descriptor, beside each other and beside those
 * in fi_cntr_wait. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cntr_world.h"
#include "ct_fid.h"

static bool readable(struct crn_cntr *cntr)
{
	struct pollfd pollfd = {.events = POLLIN};

	CT_EXPECT_EQ(fi_control(&cntr->fid.fid, FI_GETWAIT, &pollfd.fd), 0);
	return poll(&pollfd, 1, 0) == 1;
}

/* A thread that does what it is told, a step at a time. */
struct other {
	struct crn_cntr *cntr;
	enum { TRYWAIT, LOOK, READ, END } step;
	int ret; /* of the step */
	sem_t go, done;
	pthread_t thread;
};

static void *other_thread(void *arg)
{
	struct other *other = arg;

	for (;;) {
		sem_wait(&other->go);
		switch (other->step) {
		case TRYWAIT:
			other->ret = crn_cntr_trywait(other->cntr);
			break;
		case LOOK:
			other->ret = readable(other->cntr);
			break;
		case READ:
			other->ret = (int)fi_cntr_read(&other->cntr->fid);
			break;
		default:
			return NULL;
		}
		sem_post(&other->done);
	}
}

static void other_begin(struct other *other, struct crn_cntr *cntr)
{
	other->cntr = cntr;
	sem_init(&other->go, 0, 0);
	sem_init(&other->done, 0, 0);
	CT_EXPECT_EQ(pthread_create(&other->thread, NULL, other_thread, other), 0);
}

static int other_does(struct other *other, int step)
{
	other->step = step;
	sem_post(&other->go);
	sem_wait(&other->done);
	return other->ret;
}

static void other_end(struct other *other)
{
	other->step = END;
	sem_post(&other->go);
	pthread_join(other->thread, NULL);
	sem_destroy(&other->go);
	sem_destroy(&other->done);
}

CT_FIXTURE(cntr_sleep, struct crn_cntr, open_cntr, close_cntr);

CT_TEST_F(cntr_sleep, a_wake_up_stays_until_the_sleeper_has_had_it)
{
	struct other other;

	other_begin(&other, t);
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), 0);
	crn_cntr_inc(t);
	/* The other has not run since: whatever this thread does is not to take it. */
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(fi_cntr_read(&t->fid), 1);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_TRUE(other_does(&other, LOOK));
	CT_EXPECT_EQ(other_does(&other, READ), 1);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	CT_EXPECT_FALSE(readable(t));
	other_end(&other);
}

/* Between fi_trywait and poll a program may look once more. */
CT_TEST_F(cntr_sleep, whoever_looks_once_more_before_it_sleeps_is_woken)
{
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	CT_EXPECT_EQ(fi_cntr_read(&t->fid), 0);
	CT_EXPECT_EQ(fi_cntr_readerr(&t->fid), 0);
	CT_EXPECT_EQ(fi_cntr_wait(&t->fid, 2, 0), -FI_ETIMEDOUT);
	CT_EXPECT_FALSE(readable(t));
	crn_cntr_inc(t);
	CT_EXPECT_TRUE(readable(t));
	CT_EXPECT_EQ(fi_cntr_read(&t->fid), 1);
	CT_EXPECT_FALSE(readable(t));
	/* Not enough yet: it sleeps. */
	crn_cntr_inc(t);
	CT_EXPECT_TRUE(readable(t));
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	CT_EXPECT_FALSE(readable(t));
}

CT_TEST_F(cntr_sleep, what_one_thread_has_seen_another_has_not)
{
	struct other other;

	other_begin(&other, t);
	CT_EXPECT_EQ(other_does(&other, READ), 0);
	crn_cntr_inc(t);
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), -FI_EAGAIN);
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), 0);
	other_end(&other);
}

/* An old value is news when it was set. */
CT_TEST_F(cntr_sleep, a_value_that_is_set_is_seen_by_every_thread)
{
	struct other other;

	other_begin(&other, t);
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), 0);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	fi_cntr_set(&t->fid, 0);
	CT_EXPECT_TRUE(readable(t));
	CT_EXPECT_EQ(crn_cntr_trywait(t), -FI_EAGAIN);
	CT_EXPECT_TRUE(other_does(&other, LOOK));
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), -FI_EAGAIN);
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), 0);
	CT_EXPECT_EQ(crn_cntr_trywait(t), 0);
	other_end(&other);
}

CT_TEST_F(cntr_sleep, nobody_waits_for_a_thread_that_has_ended)
{
	struct other other;

	other_begin(&other, t);
	CT_EXPECT_EQ(other_does(&other, TRYWAIT), 0);
	other_end(&other);
	crn_cntr_inc(t);
	CT_EXPECT_SOON(crn_cntr_trywait(t) == 0);
	CT_EXPECT_FALSE(readable(t));
}

/* Each waits in its own way for every value in turn. */
#define ENDS 400
#define WAITERS 3
#define POLLERS 3

struct crowd {
	struct crn_cntr *cntr;
	_Atomic uint64_t reached[WAITERS + POLLERS];
};

struct member {
	struct crowd *crowd;
	unsigned int index;
	pthread_t thread;
};

/* Blocks for as long as a test may take: a wake-up that is lost is a failure. */
static void poll_until(struct crn_cntr *cntr, uint64_t value)
{
	struct pollfd pollfd = {.events = POLLIN};
	int ret;

	CT_EXPECT_EQ(fi_control(&cntr->fid.fid, FI_GETWAIT, &pollfd.fd), 0);
	while (fi_cntr_read(&cntr->fid) < value && !ct_failed()) {
		ret = crn_cntr_trywait(cntr);
		if (ret == -FI_EAGAIN)
			continue;
		CT_EXPECT_EQ(ret, 0);
		CT_EXPECT_EQ(poll(&pollfd, 1, CT_DEADLINE_MS), 1);
	}
}

static void *member_thread(void *arg)
{
	struct member *member = arg;
	struct crowd *crowd = member->crowd;

	for (uint64_t value = 1; value <= ENDS && !ct_failed(); value++) {
		if (member->index < WAITERS)
			CT_EXPECT_EQ(fi_cntr_wait(&crowd->cntr->fid, value,
						  CT_DEADLINE_MS),
				     0);
		else
			poll_until(crowd->cntr, value);
		atomic_store(&crowd->reached[member->index], value);
	}
	return NULL;
}

static bool all_reached(struct crowd *crowd, uint64_t value)
{
	for (unsigned int i = 0; i < WAITERS + POLLERS; i++) {
		if (atomic_load(&crowd->reached[i]) < value)
			return false;
	}
	return true;
}

CT_TEST_F(cntr_sleep, every_change_reaches_every_thread_however_it_waits)
{
	struct crowd crowd = {.cntr = t};
	struct member members[WAITERS + POLLERS];
	volatile unsigned int spin;

	for (unsigned int i = 0; i < WAITERS + POLLERS; i++) {
		members[i] = (struct member){.crowd = &crowd, .index = i};
		CT_ASSERT_EQ(pthread_create(&members[i].thread, NULL, member_thread,
					    &members[i]),
			     0);
	}
	for (uint64_t value = 1; value <= ENDS && !ct_failed(); value++) {
		for (spin = 0; spin < value * 97 % 20000; spin++)
			;
		crn_cntr_inc(t);
		/* Now and then the next comes while some are still on their way. */
		if (value % 4)
			CT_EXPECT_SOON(all_reached(&crowd, value));
	}
	for (unsigned int i = 0; i < WAITERS + POLLERS; i++)
		pthread_join(members[i].thread, NULL);
}
