/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that each read a queue of their own share the lower provider's one. */
#include <pthread.h>
#include <stdatomic.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "lower_world.h"

#define READERS 2
#define EACH 200

static struct lower_world w;

struct reader {
	struct crn_lower_eq *eq;
	struct lower_pair ep;
	pthread_t thread;
};

static struct reader readers[READERS];
static _Atomic bool stop;

static void bind(struct lower_pair *pair, struct crn_lower_eq *eq)
{
	CT_EXPECT_EQ(crn_lower_bind_eq(&w.fabric, &pair->obj, &pair->lower.fid,
				       &eq->eq.fid.fid, 0),
		     0);
}

static void unbind(struct lower_pair *pair)
{
	CT_EXPECT_EQ(crn_lower_close(&w.fabric, &pair->obj, &pair->lower.fid), 0);
}

/* Gets every event about its endpoint once, in order, whoever took it from below. */
static void *read_all(void *arg)
{
	struct reader *reader = arg;
	union {
		struct fi_eq_cm_entry cm;
		uint8_t bytes[64];
	} entry;
	uint32_t event, number;
	ssize_t ret;

	for (uint32_t i = 0; i < EACH; i++) {
		ret = fi_eq_sread(&reader->eq->eq.fid, &event, &entry, sizeof(entry),
				  60000, 0);
		CT_EXPECT_EQ(ret, sizeof(entry.cm) + sizeof(number));
		if (ret < 0)
			break;
		CT_EXPECT_EQ(entry.cm.fid, &reader->ep.fid);
		memcpy(&number, entry.cm.data, sizeof(number));
		CT_EXPECT_EQ(number, i);
	}
	return NULL;
}

/* Endpoints come and go meanwhile, with events about them. */
static void *open_and_close(void *arg)
{
	struct lower_pair pair;

	while (!atomic_load(&stop)) {
		lower_pair_init(&pair, FI_CLASS_EP);
		bind(&pair, readers[0].eq);
		unbind(&pair);
	}
	return NULL;
}

CT_TEST(lower_threads, each_reader_gets_its_own_events_in_order)
{
	pthread_t closer;

	lower_world_open(&w, NULL, 0);
	lower_fabric(&w);
	atomic_store(&stop, false);
	for (int i = 0; i < READERS; i++) {
		readers[i].eq = lower_eq_open(&w, FI_WAIT_FD);
		lower_pair_init(&readers[i].ep, FI_CLASS_EP);
		bind(&readers[i].ep, readers[i].eq);
	}
	CT_ASSERT_EQ(pthread_create(&closer, NULL, open_and_close, NULL), 0);
	for (int i = 0; i < READERS; i++)
		CT_ASSERT_EQ(pthread_create(&readers[i].thread, NULL, read_all,
					    &readers[i]),
			     0);
	for (uint32_t number = 0; number < EACH; number++) {
		for (int i = 0; i < READERS; i++)
			lower_event(&w, FI_CONNECTED, &readers[i].ep, NULL, &number,
				    sizeof(number));
	}
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	atomic_store(&stop, true);
	pthread_join(closer, NULL);
	for (int i = 0; i < READERS; i++) {
		unbind(&readers[i].ep);
		CT_EXPECT_EQ(fi_close(&readers[i].eq->eq.fid.fid), 0);
	}
	CT_EXPECT_EQ(crn_lower_fabric_close(&w.fabric), 0);
	lower_world_close(&w);
}
