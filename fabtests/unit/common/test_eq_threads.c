/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_eq_sread in several threads: every event wakes a reader, and none is read twice. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/eq.h>
#include "cairn_test.h"

#define READERS 4
#define EVENTS 4000
#define STOP UINT64_MAX

struct crowd {
	struct crn_eq eq;
	int fd; /* source of the provider's own: each read of it is an event */
	_Atomic uint32_t seen[EVENTS];
	_Atomic unsigned int reads;
	_Atomic unsigned int progressed;
	pthread_t readers[READERS];
};

static struct fi_provider prov = {.name = "test"};

static int crowd_progress(struct crn_eq *eq)
{
	struct crowd *crowd = crn_container_of(eq, struct crowd, eq);
	struct fi_eq_entry entry = {0};
	eventfd_t number;

	atomic_fetch_add(&crowd->progressed, 1);
	if (!eventfd_read(crowd->fd, &number)) {
		entry.data = number;
		CT_EXPECT_EQ(crn_eq_insert(eq, FI_NOTIFY, NULL, &entry, sizeof(entry)),
			     0);
	}
	return 0;
}

static void crowd_open(struct crowd *crowd)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD,
				  .size = EVENTS,
				  .flags = FI_WRITE};

	crowd->fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	CT_ASSERT_EQ(crn_eq_init(&crowd->eq, &prov, &attr, NULL, crowd_progress), 0);
	CT_ASSERT_EQ(crn_wait_add_fd(&crowd->eq.wait, crowd->fd), 0);
}

static void crowd_close(struct crowd *crowd)
{
	if (crowd->eq.fid.fid.fclass)
		crn_eq_fini(&crowd->eq);
	close(crowd->fd);
}

CT_FIXTURE(eq_threads, struct crowd, crowd_open, crowd_close);

static void crowd_write(struct crowd *crowd, uint64_t number)
{
	struct fi_eq_entry entry = {.data = number};

	CT_EXPECT_EQ(fi_eq_write(&crowd->eq.fid, FI_NOTIFY, &entry, sizeof(entry), 0),
		     sizeof(entry));
}

/* Reads until STOP, or until nothing came for the deadline. */
static void *reader(void *arg)
{
	struct crowd *crowd = arg;
	struct fi_eq_entry entry;
	uint32_t event;
	ssize_t ret;

	for (;;) {
		ret = fi_eq_sread(&crowd->eq.fid, &event, &entry, sizeof(entry),
				  CT_DEADLINE_MS, 0);
		if (ret != sizeof(entry)) {
			CT_EXPECT_EQ(ret, sizeof(entry));
			return NULL;
		}
		if (entry.data == STOP)
			return NULL;
		if (entry.data < EVENTS)
			atomic_fetch_add(&crowd->seen[entry.data], 1);
		atomic_fetch_add(&crowd->reads, 1);
	}
}

static void start_readers(struct crowd *crowd)
{
	for (int i = 0; i < READERS; i++)
		CT_ASSERT_EQ(pthread_create(&crowd->readers[i], NULL, reader, crowd), 0);
}

static void stop_readers(struct crowd *crowd)
{
	for (int i = 0; i < READERS; i++)
		crowd_write(crowd, STOP);
	for (int i = 0; i < READERS; i++)
		pthread_join(crowd->readers[i], NULL);
}

static void expect_reads(struct crowd *crowd, unsigned int count)
{
	CT_EXPECT_SOON(atomic_load(&crowd->reads) == count);
}

/* Then an event is lost if nobody wakes for it. */
static void expect_all_blocked(void)
{
	CT_EXPECT_SOON(ct_waiting() == READERS);
}

static void expect_seen_once(struct crowd *crowd)
{
	for (unsigned int i = 0; i < EVENTS; i++) {
		CT_NOTE("event %u", i);
		CT_EXPECT_EQ(atomic_load(&crowd->seen[i]), 1);
	}
}

static ssize_t sread(struct crowd *crowd, int timeout, uint64_t flags)
{
	struct fi_eq_entry entry;
	uint32_t event;

	return fi_eq_sread(&crowd->eq.fid, &event, &entry, sizeof(entry), timeout, flags);
}

static void *writer(void *arg)
{
	struct crowd *crowd = arg;

	for (uint64_t i = 1; i < EVENTS; i += 2)
		crowd_write(crowd, i);
	return NULL;
}

CT_TEST_F(eq_threads, every_event_of_two_writers_is_read_by_exactly_one_of_the_readers)
{
	pthread_t second;

	start_readers(t);
	CT_EXPECT_EQ(pthread_create(&second, NULL, writer, t), 0);
	for (uint64_t i = 0; i < EVENTS; i += 2)
		crowd_write(t, i);
	pthread_join(second, NULL);
	expect_reads(t, EVENTS);
	stop_readers(t);
	expect_seen_once(t);
}

CT_TEST_F(eq_threads, each_event_wakes_a_blocked_reader)
{
	start_readers(t);
	for (unsigned int i = 0; i < 100 && !ct_failed(); i++) {
		expect_all_blocked();
		crowd_write(t, i);
		expect_reads(t, i + 1);
	}
	stop_readers(t);
}

CT_TEST_F(eq_threads, a_descriptor_of_the_provider_wakes_a_blocked_reader)
{
	start_readers(t);
	for (unsigned int i = 0; i < 100 && !ct_failed(); i++) {
		expect_all_blocked();
		eventfd_write(t->fd, 1);
		expect_reads(t, i + 1);
	}
	stop_readers(t);
}

/* A peeked event, and one that does not fit, leave other readers their chance. */
CT_TEST_F(eq_threads, a_peek_returns_at_once_and_takes_no_wake_up_from_a_reader)
{
	struct fi_eq_entry entry;
	uint32_t event;

	start_readers(t);
	for (unsigned int i = 0; i < 100 && !ct_failed(); i++) {
		expect_all_blocked();
		crowd_write(t, i);
		fi_eq_sread(&t->eq.fid, &event, &entry, sizeof(entry), 0, FI_PEEK);
		fi_eq_read(&t->eq.fid, &event, &entry, 0, 0);
		expect_reads(t, i + 1);
	}
	stop_readers(t);
}

/* Called again only for a reason: at the start, at the end, and for what woke it. */
CT_TEST_F(eq_threads, blocked_readers_do_not_spin)
{
	ct_time_jump();
	CT_EXPECT_EQ(sread(t, 300, 0), -FI_EAGAIN);
	CT_EXPECT_LE(atomic_load(&t->progressed), 4);
}

static void *forgetter(void *arg)
{
	struct crowd *crowd = arg;
	static struct fid fid;
	struct fi_eq_entry entry = {.fid = &fid, .data = EVENTS};

	for (int i = 0; i < EVENTS; i++) {
		CT_EXPECT_EQ(crn_eq_insert(&crowd->eq, FI_NOTIFY, &fid, &entry,
					   sizeof(entry)),
			     0);
		crn_eq_forget(&crowd->eq, &fid);
	}
	return NULL;
}

CT_TEST_F(eq_threads, forgetting_beside_readers_and_writers_loses_nothing)
{
	pthread_t forget;

	start_readers(t);
	CT_EXPECT_EQ(pthread_create(&forget, NULL, forgetter, t), 0);
	for (unsigned int i = 0; i < EVENTS; i++)
		crowd_write(t, i);
	pthread_join(forget, NULL);
	stop_readers(t);
	expect_seen_once(t);
}

/* fi_eq(3): "Threads blocking in this function will return ... if they are signaled". */
CT_TEST_F(eq_threads, a_signal_ends_sread)
{
	ct_interrupt_wait();
	CT_EXPECT_EQ(sread(t, -1, 0), -FI_EAGAIN);
}

#define PLACES 20000

static void *telling(void *arg)
{
	const struct fi_eq_err_entry err = {.err = FI_EOTHER};
	struct crowd *crowd = arg;

	for (int i = 0; i < PLACES; i++)
		CT_EXPECT_EQ(crn_eq_insert_err(&crowd->eq, &err), 0);
	return NULL;
}

/* Whoever takes the place, none is used twice. Of lengths that differ, so that it is also
 * made anew. */
CT_TEST_F(eq_threads, what_one_thread_reserves_another_may_use)
{
	struct fi_eq_entry entry = {0};
	pthread_t second;

	CT_ASSERT_EQ(pthread_create(&second, NULL, telling, t), 0);
	for (int i = 0; i < PLACES; i++) {
		CT_EXPECT_EQ(crn_eq_reserve(&t->eq, 0), 0);
		CT_EXPECT_EQ(crn_eq_reserve(&t->eq, sizeof(entry)), 0);
		CT_EXPECT_EQ(crn_eq_insert(&t->eq, FI_NOTIFY, NULL, &entry,
					   sizeof(entry)),
			     0);
	}
	pthread_join(second, NULL);
	CT_EXPECT_EQ(t->eq.count, 2 * PLACES);
}
