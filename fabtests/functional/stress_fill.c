/* SPDX-License-Identifier: BSD-2-Clause */
/* Contents: every byte depends on whose it is, what it is for and when. */
#include "stress.h"

static uint64_t word_at(uint64_t seed, size_t index)
{
	return st_mix(seed + index * 0x9e3779b97f4a7c15u);
}

uint64_t fct_st_seed(const struct st_lane *lane, bool mine, uint32_t what, uint64_t seq)
{
	const struct st *s = lane->hub->s;
	const bool client = fct_is_client() == mine;

	return st_mix(s->o.seed ^ (seq << 16) ^ (what << 8) ^ (lane->number << 1) ^
		      client) ^
	       (what == ST_FIXEDS ? 0 : lane->epoch);
}

void fct_st_fill(uint8_t *buf, size_t len, uint64_t seed)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		word = word_at(seed, i / sizeof(word));
		memcpy(buf + i, &word, len - i < sizeof(word) ? len - i : sizeof(word));
	}
}

size_t fct_st_differs(const uint8_t *buf, size_t len, uint64_t seed, size_t position)
{
	uint64_t word = 0;
	size_t i, at;

	for (i = 0; i < len; i++) {
		at = position + i;
		if (!i || !(at % sizeof(word)))
			word = word_at(seed, at / sizeof(word));
		if (buf[i] != (uint8_t)(word >> at % sizeof(word) * 8))
			return i;
	}
	return len;
}
