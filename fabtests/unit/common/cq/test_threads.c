/* SPDX-License-Identifier: BSD-2-Clause */
/* Several threads write, read and wait: every completion is read once, nobody sleeps on
 * one, and no operation is accepted beyond the places that there are. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "cq_world.h"

#define WRITERS 2
#define READERS 3
#define EACH 3000 /* completions of a writer */
#define SIZE 16

struct crowd {
	struct crn_cq cq; /* open for one completion at least */
	_Atomic uint32_t seen[WRITERS * EACH];
	_Atomic unsigned int read;
	_Atomic unsigned int writers;
	_Atomic bool stop;
};

/* Outstanding operations and unread completions never exceed the places. */
static void *writer(void *arg)
{
	struct crowd *crowd = arg;
	const unsigned int from = atomic_fetch_add(&crowd->writers, 1) * EACH;

	for (unsigned int i = from; i < from + EACH; i++) {
		while (!crn_cq_reserve(&crowd->cq))
			sched_yield();
		if (i % 64 == 63)
			fail(&crowd->cq, i, FI_EIO);
		else
			complete(&crowd->cq, i);
	}
	return NULL;
}

static void saw(struct crowd *crowd, const void *context)
{
	const uintptr_t number = (uintptr_t)context - (uintptr_t)context_of(0);

	if (number < WRITERS * EACH)
		atomic_fetch_add(&crowd->seen[number], 1);
	atomic_fetch_add(&crowd->read, 1);
}

static void *reader(void *arg)
{
	struct crowd *crowd = arg;
	struct fi_cq_tagged_entry entries[4];
	struct fi_cq_err_entry err = {0};
	ssize_t ret, i;

	while (!atomic_load(&crowd->stop)) {
		ret = fi_cq_sread(&crowd->cq.fid, entries, 4, NULL, CT_DEADLINE_MS);
		for (i = 0; i < ret; i++)
			saw(crowd, entries[i].op_context);
		err.err_data_size = 0;
		if (ret == -FI_EAVAIL && fi_cq_readerr(&crowd->cq.fid, &err, 0) == 1)
			saw(crowd, err.op_context);
	}
	return NULL;
}

static void set_up(struct crowd *crowd)
{
	open_cq(&crowd->cq, FI_WAIT_FD, SIZE);
}

static void tear_down(struct crowd *crowd)
{
	close_cq(&crowd->cq);
}

CT_FIXTURE(cq_threads, struct crowd, set_up, tear_down);

/* One call reaches all who sleep. */
static void stop_readers(struct crowd *crowd)
{
	CT_EXPECT_SOON(ct_waiting() == READERS);
	atomic_store(&crowd->stop, true);
	CT_EXPECT_EQ(fi_cq_signal(&crowd->cq.fid), 0);
}

CT_TEST_F(cq_threads, every_completion_is_read_once)
{
	pthread_t readers[READERS], writers[WRITERS];

	for (int i = 0; i < READERS; i++)
		CT_ASSERT_EQ(pthread_create(&readers[i], NULL, reader, t), 0);
	for (int i = 0; i < WRITERS; i++)
		CT_ASSERT_EQ(pthread_create(&writers[i], NULL, writer, t), 0);
	CT_EXPECT_SOON(atomic_load(&t->read) == WRITERS * EACH);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	stop_readers(t);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	for (int i = 0; i < WRITERS * EACH; i++) {
		if (atomic_load(&t->seen[i]) != 1)
			CT_NOTE("completion %d", i);
		CT_EXPECT_EQ(atomic_load(&t->seen[i]), 1);
	}
	CT_EXPECT_EQ(places(&t->cq), SIZE);
}

CT_TEST_F(cq_threads, each_completion_wakes_a_sleeper)
{
	pthread_t readers[READERS];

	for (unsigned int i = 0; i < READERS; i++)
		CT_ASSERT_EQ(pthread_create(&readers[i], NULL, reader, t), 0);
	for (unsigned int i = 0; i < 100 && !ct_failed(); i++) {
		CT_EXPECT_SOON(ct_waiting() == READERS);
		put(&t->cq, i);
		CT_EXPECT_SOON(atomic_load(&t->read) == i + 1);
	}
	stop_readers(t);
	for (unsigned int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
}

static _Atomic unsigned int back;

static void *sleeper(void *arg)
{
	struct crn_cq *cq = arg;
	struct fi_cq_tagged_entry entry;

	CT_EXPECT_EQ(fi_cq_sread(&cq->fid, &entry, 1, NULL, CT_DEADLINE_MS), -FI_EAGAIN);
	atomic_fetch_add(&back, 1);
	return NULL;
}

/* "will unblock any thread waiting in fi_cq_sread", also one that the first to wake might
 * have kept from waking. */
CT_TEST_F(cq_threads, a_signal_reaches_every_thread_that_waits)
{
	pthread_t threads[READERS];
	struct fi_cq_tagged_entry entry;

	for (int round = 0; round < 20 && !ct_failed(); round++) {
		atomic_store(&back, 0);
		for (int i = 0; i < READERS; i++)
			CT_ASSERT_EQ(pthread_create(&threads[i], NULL, sleeper, &t->cq),
				     0);
		CT_EXPECT_SOON(ct_waiting() == READERS);
		CT_EXPECT_EQ(fi_cq_signal(&t->cq.fid), 0);
		/* Somebody who comes anew would make the descriptor unreadable. */
		CT_EXPECT_EQ(fi_cq_sread(&t->cq.fid, &entry, 1, NULL, 0), -FI_EAGAIN);
		for (int i = 0; i < READERS; i++)
			pthread_join(threads[i], NULL);
		CT_EXPECT_EQ(atomic_load(&back), READERS);
	}
}

static void *attacher(void *arg)
{
	struct crowd *crowd = arg;

	for (uint32_t depth = 1; depth < 200; depth++) {
		CT_EXPECT_EQ(crn_cq_attach(&crowd->cq, depth), 0);
		crn_cq_detach(&crowd->cq, depth);
	}
	return NULL;
}

CT_TEST_F(cq_threads, the_queue_grows_under_those_who_use_it)
{
	pthread_t threads[READERS + WRITERS], growing[2];

	open_cq(&t->cq, FI_WAIT_FD, 1);
	for (int i = 0; i < READERS + WRITERS; i++)
		CT_ASSERT_EQ(pthread_create(&threads[i], NULL,
					    i < READERS ? reader : writer, t),
			     0);
	for (int i = 0; i < 2; i++)
		CT_ASSERT_EQ(pthread_create(&growing[i], NULL, attacher, t), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(growing[i], NULL);
	CT_EXPECT_SOON(atomic_load(&t->read) == WRITERS * EACH);
	stop_readers(t);
	for (int i = 0; i < READERS + WRITERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WRITERS * EACH; i++)
		CT_EXPECT_EQ(atomic_load(&t->seen[i]), 1);
	CT_EXPECT_GE(places(&t->cq), 199);
	CT_EXPECT_LE(places(&t->cq), 512);
}
