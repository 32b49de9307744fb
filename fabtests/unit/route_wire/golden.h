/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message of each type as bytes, written down from the tables of wire.h and not by the
 * codec; and what they mean. No two fields of one have the same bytes.
 */
#ifndef ROUTE_WIRE_GOLDEN_H
#define ROUTE_WIRE_GOLDEN_H

#include "any.h"
#include "cairn_test.h"

struct golden {
	const char *name;
	const uint8_t *bytes;
	size_t len;
	/* body of *any, which is all zero but for what golden_fill has set */
	void (*fill)(struct any *any);
	uint8_t flags;
	uint32_t plen;
};

/* The number of all, and one of them. */
size_t golden_count(void);
const struct golden *golden_at(size_t i);
/* What it means. */
void golden_fill(const struct golden *golden, struct any *any);

/* The parts: golden_peers.c, golden_conn.c, golden_data.c. */
extern const struct golden golden_peers[], golden_conn[], golden_data[];
extern const size_t golden_peers_count, golden_conn_count, golden_data_count;

/* Numbers as bytes. */
#define U16(x) (uint8_t)(x), (uint8_t)((x) >> 8)
#define U32(x) U16((x)&0xffff), U16((x) >> 16)
#define U64(x) U32((x)&0xffffffff), U32((x) >> 32)
#define ZERO4 0, 0, 0, 0

#define HEAD(type, flags, hlen, plen)                                        \
	0xc9, 0, type, flags, U16(hlen), 0xe1, 0xe2, 0xa4, 0xa3, 0xa2, 0xa1, \
		U32((uint32_t)(plen)), 0xb8, 0xb7, 0xb6, 0xb5, 0xb4, 0xb3, 0xb2, 0xb1

#define ID                                                                            \
	0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, \
		0xfd, 0xfe, 0xff

/* clang-format off */
#define GOLDEN(name, flags, plen) \
	{#name, name##_bytes, sizeof(name##_bytes), fill_##name, flags, plen}
/* clang-format on */

#endif
