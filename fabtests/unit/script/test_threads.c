/* SPDX-License-Identifier: BSD-2-Clause */
/* Two ends in two threads, and the test in a third. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

#define ROUNDS 2000

static _Atomic bool over;

static void await(struct fid_cq *cq, unsigned int count)
{
	struct fi_cq_data_entry entry;
	ssize_t ret;

	while (count) {
		ret = fi_cq_sread(cq, &entry, 1, NULL, 10);
		CT_ASSERT_TRUE(ret == 1 || ret == -FI_EAGAIN);
		count -= ret == 1;
	}
}

/* Ping-pong: each round is a receive and a send. */
static void rounds(struct pair_end *end)
{
	for (unsigned int n = 0; n < ROUNDS && !ct_failed(); n++) {
		CT_ASSERT_EQ(fi_recv(end->ep, end->buf, 16, end->desc, 0, NULL), 0);
		CT_ASSERT_EQ(fi_send(end->ep, end->buf + 16, 16, end->desc, 0, NULL), 0);
		await(end->cq, 2);
	}
}

static void *serve(void *arg)
{
	rounds(arg);
	return NULL;
}

static void *meddle(void *arg)
{
	unsigned int n = 0;

	while (!atomic_load(&over)) {
		scr_hold(++n % 2 ? SCR_ARRIVALS | SCR_COMPLETIONS : 0);
		sched_yield();
		scr_let_all_go();
		scr_count(SCR_SEND);
		scr_open();
	}
	scr_let_all_go();
	return NULL;
}

CT_TEST(threads, both_ends_and_the_test_at_the_same_time)
{
	pthread_t server, meddler;
	struct pair p;

	scr_begin();
	CT_ASSERT_EQ(pair_up(&p, SCR_NAME), 0);
	atomic_store(&over, false);
	CT_ASSERT_EQ(pthread_create(&server, NULL, serve, &p.server), 0);
	CT_ASSERT_EQ(pthread_create(&meddler, NULL, meddle, NULL), 0);
	rounds(&p.client);
	CT_EXPECT_EQ(pthread_join(server, NULL), 0);
	atomic_store(&over, true);
	CT_EXPECT_EQ(pthread_join(meddler, NULL), 0);
	CT_EXPECT_EQ(scr_count(SCR_SEND), 2 * ROUNDS);
	pair_down(&p);
}
