/* SPDX-License-Identifier: BSD-2-Clause */
/* What both sides know. */
#include "store.h"

struct store_opts fct_store_opts;

uint64_t fct_store_sum(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	uint64_t sum = len, word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum ^= sum >> 29;
	}
	while (len--)
		sum = (sum ^ *p++) * 0x9e3779b97f4a7c15u;
	return sum;
}
