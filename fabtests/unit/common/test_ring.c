/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <sched.h>
#include <cairn/compat.h>
#include <cairn/ring.h>
#include "cairn_test.h"

/* As if so many slots had been filled and emptied before. */
static void start_at(struct crn_ring *ring, uint32_t position)
{
	ring->head = position;
	crn_ring_retire(ring, position);
}

CT_TEST(ring, space_shrinks_as_slots_fill_and_grows_as_they_retire)
{
	struct crn_ring ring;

	crn_ring_init(&ring, 5, 8);
	CT_EXPECT_EQ(crn_ring_used(&ring), 0);
	CT_EXPECT_EQ(crn_ring_space(&ring), 5);
	ring.head += 5;
	CT_EXPECT_EQ(crn_ring_used(&ring), 5);
	CT_EXPECT_EQ(crn_ring_space(&ring), 0);
	CT_EXPECT_TRUE(crn_ring_full(&ring));
	crn_ring_retire(&ring, 3);
	CT_EXPECT_EQ(crn_ring_used(&ring), 2);
	CT_EXPECT_EQ(crn_ring_space(&ring), 3);
	CT_EXPECT_FALSE(crn_ring_full(&ring));
}

CT_TEST(ring, counts_right_where_positions_wrap)
{
	struct crn_ring ring;

	crn_ring_init(&ring, 8, 8);
	start_at(&ring, UINT32_MAX - 3);
	for (uint32_t i = 0; i < 8; i++) {
		CT_NOTE("slot %u", i);
		CT_EXPECT_EQ(crn_ring_space(&ring), 8 - i);
		CT_EXPECT_EQ(crn_ring_index(&ring, ring.head), (4 + i) % 8);
		ring.head++;
	}
	CT_EXPECT_EQ(crn_ring_space(&ring), 0);
	crn_ring_retire(&ring, 2);
	CT_EXPECT_EQ(crn_ring_used(&ring), 2);
}

CT_TEST(ring, a_smaller_size_holds_the_producer_until_enough_retired)
{
	struct crn_ring ring;

	crn_ring_init(&ring, 8, 8);
	ring.head = 6;
	crn_ring_set_size(&ring, 4);
	CT_EXPECT_EQ(crn_ring_space(&ring), 0);
	crn_ring_retire(&ring, 2);
	CT_EXPECT_EQ(crn_ring_space(&ring), 0);
	crn_ring_retire(&ring, 3);
	CT_EXPECT_EQ(crn_ring_space(&ring), 1);
	crn_ring_set_size(&ring, 0);
	CT_EXPECT_EQ(crn_ring_space(&ring), 0);
	CT_EXPECT_EQ(crn_ring_used(&ring), 3);
}

#define ROUNDS 100000

struct traffic {
	struct crn_ring ring;
	uint32_t slots[8];
	_Atomic uint32_t posted; /* stands for the device that reports what was posted */
};

static void *produce(void *arg)
{
	struct traffic *traffic = arg;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		while (!crn_ring_space(&traffic->ring))
			sched_yield();
		traffic->slots[crn_ring_index(&traffic->ring, traffic->ring.head)] = i;
		traffic->ring.head++;
		atomic_store(&traffic->posted, i + 1);
	}
	return NULL;
}

CT_TEST(ring, a_slot_is_not_filled_again_before_the_consumer_left_it)
{
	struct traffic traffic = {.posted = 0};
	pthread_t producer;

	crn_ring_init(&traffic.ring, 6, 8);
	CT_ASSERT_EQ(pthread_create(&producer, NULL, produce, &traffic), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		while (atomic_load(&traffic.posted) == i)
			sched_yield();
		CT_EXPECT_EQ(traffic.slots[crn_ring_index(&traffic.ring, i)], i);
		crn_ring_retire(&traffic.ring, i + 1);
	}
	pthread_join(producer, NULL);
}

CT_TEST(compat, roundup_pow2)
{
	static const uint32_t rows[][2] = {
		{1, 1},
		{2, 2},
		{3, 4},
		{4, 4},
		{5, 8},
		{1000, 1024},
		{1u << 30, 1u << 30},
		{(1u << 30) + 1, 1u << 31},
		{1u << 31, 1u << 31},
	};

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("of %u", rows[i][0]);
		CT_EXPECT_EQ(crn_roundup_pow2(rows[i][0]), rows[i][1]);
	}
}
