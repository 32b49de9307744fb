/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which key a region or window gets: its slot of the table and the tag that tells its
 * users from each other, both by chance, so that a peer that knows one key cannot name
 * the next. In a modelled machine by the machine's seed: the same run has the same keys.
 */
#include <sys/random.h>
#include "shared.h"

/* splitmix64. */
static uint64_t svb_keys_next(void)
{
	static uint64_t state;
	uint64_t seed, z;

	if (!__atomic_load_n(&state, __ATOMIC_RELAXED)) {
		seed = svb_self.settings.seed + 1;
		if (!svb_self.model &&
		    getrandom(&z, sizeof(z), GRND_NONBLOCK) == sizeof(z))
			seed = z | 1;
		__atomic_store_n(&state, seed, __ATOMIC_RELAXED);
	}
	z = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ull, __ATOMIC_RELAXED);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint32_t svb_key_slot(uint32_t limit)
{
	return limit ? (uint32_t)(svb_keys_next() % limit) : 0;
}

/* All of them before one comes again: a peer may still hold the last. Never zero, for
 * zero is no key. */
uint32_t svb_key_tag(uint32_t old)
{
	static uint32_t step; /* odd */
	uint32_t tag;

	if (!__atomic_load_n(&step, __ATOMIC_RELAXED))
		__atomic_store_n(&step, (uint32_t)svb_keys_next() | 1, __ATOMIC_RELAXED);
	if (!old)
		return (uint32_t)(svb_keys_next() % 255) + 1;
	tag = (old + step) & 0xff;
	return tag ? tag : step & 0xff;
}
