/* SPDX-License-Identifier: BSD-2-Clause */
/* Over the scripted provider: threads that read at the same time. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

#define READERS 2
#define EVENTS 500 /* of each endpoint */

struct reader {
	pthread_t thread;
	struct fid_eq *eq;
	_Atomic unsigned int *left; /* events that nobody has read yet */
	unsigned int *seen;	    /* how often each was read */
};

static void read_one(struct reader *reader)
{
	struct pair_event event;
	uint32_t kind, number;
	ssize_t ret =
		fi_eq_sread(reader->eq, &kind, &event, sizeof(event), CT_DEADLINE_MS, 0);

	CT_ASSERT_EQ(ret, sizeof(event.entry) + sizeof(number));
	memcpy(&number, event.data, sizeof(number));
	CT_ASSERT_LT(number, EVENTS);
	reader->seen[number]++;
}

static bool take(_Atomic unsigned int *left)
{
	unsigned int count = atomic_load(left);

	while (count && !atomic_compare_exchange_weak(left, &count, count - 1))
		;
	return count;
}

static void *read_all(void *arg)
{
	struct reader *reader = arg;

	while (!ct_failed() && take(reader->left))
		read_one(reader);
	return NULL;
}

/* eps: endpoints that have events, in their order below. */
static void run(struct reader readers[READERS], unsigned int eps)
{
	for (unsigned int i = 0; i < READERS; i++)
		CT_ASSERT_EQ(pthread_create(&readers[i].thread, NULL, read_all,
					    &readers[i]),
			     0);
	for (uint32_t number = 0; number < EVENTS; number++) {
		for (unsigned int i = 0; i < eps; i++)
			CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, i), FI_CONNECTED,
					       &number, sizeof(number)),
				     0);
	}
	for (unsigned int i = 0; i < READERS; i++)
		CT_EXPECT_EQ(pthread_join(readers[i].thread, NULL), 0);
}

CT_FIXTURE(layer_threads, struct pair, layer_pair_up, layer_pair_down);

CT_TEST_F(layer_threads, two_that_read_one_queue_get_each_event_once)
{
	static unsigned int seen[READERS][EVENTS];
	_Atomic unsigned int left = EVENTS;
	struct reader readers[READERS];

	memset(seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < READERS; i++)
		readers[i] = (struct reader){.eq = t->client.eq,
					     .left = &left,
					     .seen = seen[i]};
	run(readers, 1);
	for (unsigned int i = 0; i < EVENTS; i++)
		CT_EXPECT_EQ(seen[0][i] + seen[1][i], 1);
}

CT_TEST_F(layer_threads, each_with_a_queue_of_its_own_gets_what_is_its)
{
	static unsigned int seen[READERS][EVENTS];
	_Atomic unsigned int left[READERS] = {EVENTS, EVENTS};
	struct reader readers[READERS];

	memset(seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < READERS; i++)
		readers[i] = (struct reader){.left = &left[i], .seen = seen[i]};
	readers[0].eq = t->client.eq;
	readers[1].eq = t->server.eq;
	run(readers, 2);
	for (unsigned int i = 0; i < EVENTS; i++) {
		CT_EXPECT_EQ(seen[0][i], 1);
		CT_EXPECT_EQ(seen[1][i], 1);
	}
}
