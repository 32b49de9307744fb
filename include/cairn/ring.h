/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions of a ring of 2^n slots with one producer and one consumer, each of whom may
 * be another thread: the producer owns head, the consumer tail. The slots themselves are
 * an array of the owner's, indexed with crn_ring_index.
 */
#ifndef CRN_RING_H
#define CRN_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct crn_ring {
	uint32_t mask;	       /* slots - 1 */
	uint32_t head;	       /* slots ever filled */
	_Atomic uint32_t size; /* most slots in use at a time, <= mask + 1; 0: closed */
	_Atomic uint32_t tail; /* slots ever emptied */
};

/* capacity: the power of two >= size. */
static inline void crn_ring_init(struct crn_ring *ring, uint32_t size, uint32_t capacity)
{
	ring->mask = capacity - 1;
	ring->head = 0;
	atomic_store_explicit(&ring->size, size, memory_order_relaxed);
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
}

static inline uint32_t crn_ring_index(const struct crn_ring *ring, uint32_t position)
{
	return position & ring->mask;
}

/* Slots in use, as the producer sees it: never too few. */
static inline uint32_t crn_ring_used(struct crn_ring *ring)
{
	return ring->head - atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* Free slots; 0 as well while more are in use than a new, smaller size allows. */
static inline uint32_t crn_ring_space(struct crn_ring *ring)
{
	uint32_t size = atomic_load_explicit(&ring->size, memory_order_acquire);
	uint32_t used = crn_ring_used(ring);

	return used < size ? size - used : 0;
}

/* True when there is no free slot. */
static inline bool crn_ring_full(struct crn_ring *ring)
{
	return crn_ring_used(ring) >=
	       atomic_load_explicit(&ring->size, memory_order_acquire);
}

/* Opens the ring for the producer, or closes it with 0. Any thread may call it. */
static inline void crn_ring_set_size(struct crn_ring *ring, uint32_t size)
{
	atomic_store_explicit(&ring->size, size, memory_order_release);
}

/* Called by the consumer: frees all slots before position. */
static inline void crn_ring_retire(struct crn_ring *ring, uint32_t position)
{
	atomic_store_explicit(&ring->tail, position, memory_order_release);
}

#endif
