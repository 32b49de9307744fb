/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses come and go while others are looked up without a lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "av_world.h"

#define THREADS 2
#define EACH 300
#define LOOKERS 2

static struct av_world world;
static _Atomic bool stop;

/* A peer object is the port. */
static int added(struct crn_av *av, const void *addr, void **peer)
{
	uint16_t *port = malloc(sizeof(*port));

	if (!port)
		return -FI_ENOMEM;
	*port = crn_addr_port(addr);
	*peer = port;
	return 0;
}

static void removed(struct crn_av *av, void *peer)
{
	free(peer);
}

/* Inserts addresses of its own, and removes every other one. */
static void *changer(void *arg)
{
	const unsigned int first = (unsigned int)(uintptr_t)arg * EACH + 1;
	fi_addr_t place;

	for (unsigned int i = first; i < first + EACH; i++) {
		place = insert_in(&world, i);
		if (i % 2)
			CT_EXPECT_EQ(remove_one(&world, place), 0);
	}
	return NULL;
}

/* The address at 0 stays; it is found there and leads back. */
static void *looker(void *arg)
{
	const struct sockaddr_in in = in_of(0);
	const struct sockaddr *addr;
	const uint16_t *port;

	while (!atomic_load(&stop)) {
		addr = crn_av_addr(&world.av, 0);
		CT_EXPECT_NE(addr, NULL);
		if (addr)
			CT_EXPECT_MEMEQ(addr, &in, sizeof(in));
		CT_EXPECT_EQ(crn_av_find(&world.av, (const struct sockaddr *)&in), 0);
		port = crn_av_peer(&world.av, 0);
		CT_EXPECT_NE(port, NULL);
		if (port)
			CT_EXPECT_EQ(*port, 1000);
		/* Of a place that there may not be yet. */
		crn_av_used(&world.av, THREADS * EACH);
	}
	return NULL;
}

CT_TEST(av_threads, what_is_there_is_found_while_others_insert_and_remove)
{
	pthread_t changers[THREADS], lookers[LOOKERS];
	struct sockaddr_in in;
	fi_addr_t place;

	av_world_open(&world, FI_AV_TABLE, FI_SOCKADDR_IN, 0);
	world.av.added = added;
	world.av.removed = removed;
	CT_EXPECT_EQ(insert_in(&world, 0), 0);
	atomic_store(&stop, false);
	for (unsigned int i = 0; i < LOOKERS; i++)
		CT_ASSERT_EQ(pthread_create(&lookers[i], NULL, looker, NULL), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		CT_ASSERT_EQ(pthread_create(&changers[i], NULL, changer,
					    (void *)(uintptr_t)i),
			     0);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(changers[i], NULL);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < LOOKERS; i++)
		pthread_join(lookers[i], NULL);
	CT_EXPECT_EQ(world.av.count, 1 + THREADS * EACH / 2);
	for (unsigned int i = 1; i <= THREADS * EACH; i++) {
		in = in_of(i);
		place = crn_av_find(&world.av, (struct sockaddr *)&in);
		CT_EXPECT_EQ(place == FI_ADDR_NOTAVAIL, i % 2);
		if (place != FI_ADDR_NOTAVAIL)
			CT_EXPECT_MEMEQ(crn_av_addr(&world.av, place), &in, sizeof(in));
	}
	av_world_close(&world);
}
