/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking on an event queue. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "eq.h"

#define ROUNDS 200

static int one_timeout(struct eq_bed *b, int ms)
{
	struct fi_eq_entry entry;
	struct fct *t = b->t;
	uint64_t start = fct_now_ns(), took;
	uint32_t event;
	int ret;

	FCT_ERR(t, fi_eq_sread(b->eq, &event, &entry, sizeof(entry), ms, 0), -FI_EAGAIN);
	took = (fct_now_ns() - start) / 1000000;
	if (took + 1 < (uint64_t)ms)
		FCT_FAIL(t, "fi_eq_sread with %d ms returned after %llu ms", ms,
			 (unsigned long long)took);
	if (took > (uint64_t)ms + 20000 * t->scale)
		FCT_FAIL(t, "fi_eq_sread with %d ms took %llu ms", ms,
			 (unsigned long long)took);
out:
	return ret;
}

struct sleeper {
	struct fid_eq *eq;
	uint64_t flags;
	atomic_int asleep, woken;
	ssize_t bad;
};

/*
 * Sleeps without a timeout ROUNDS times; with FI_PEEK the event is taken by a second
 * call.
 */
static void *sleep_forever(void *arg)
{
	struct sleeper *z = arg;
	struct fi_eq_entry entry;
	uint32_t event;
	ssize_t n;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		atomic_store(&z->asleep, i + 1);
		n = fi_eq_sread(z->eq, &event, &entry, sizeof(entry), -1, z->flags);
		if (n == (ssize_t)sizeof(entry) && z->flags)
			n = fi_eq_read(z->eq, &event, &entry, sizeof(entry), 0);
		if (n != (ssize_t)sizeof(entry) || entry.data != (uint64_t)i)
			z->bad = n;
		atomic_store(&z->woken, i + 1);
	}
	return NULL;
}

static int wake(struct fct *t, uint64_t flags)
{
	struct sleeper z = {.flags = flags};
	struct fct_wait w;
	pthread_t thread;
	struct eq_bed b;
	int i, ret;

	FCT_DO(fct_eq_open(&b, t, FI_WAIT_UNSPEC, 16));
	z.eq = b.eq;
	FCT_TRUE(t, !pthread_create(&thread, NULL, sleep_forever, &z));
	for (i = 0; i < ROUNDS; i++) {
		fct_wait_init(&w, t, "a thread to call fi_eq_sread");
		while (atomic_load(&z.asleep) <= i)
			FCT_DO(fct_wait_again(&w));
		/* Half of the writes come before the thread can be asleep. */
		if (i % 2)
			poll(NULL, 0, 1);
		FCT_DO(fct_eq_put(&b, (uint64_t)i));
		/*
		 * The run's own deadline covers a thread that never wakes: it still holds
		 * the EQ.
		 */
		fct_doing(t, "fi_eq_write to wake fi_eq_sread in another thread");
		while (atomic_load(&z.woken) <= i)
			poll(NULL, 0, 0);
	}
	pthread_join(thread, NULL);
	if (z.bad)
		FCT_FAIL(t, "fi_eq_sread gave %zd or an event out of order", z.bad);
	FCT_DO(fct_eq_none(&b));
out:
	return fct_eq_close(&b, ret);
}

static int readable(int fd, int ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, ms);
}
