/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers for the tests of the codec: full ones, random ones, and memory that ends. */
#ifndef RPR_TEST_HEADERS_H
#define RPR_TEST_HEADERS_H

#include "cairn_test.h"
#include "wire/wire.h"

/* Words as the bytes that they are on the wire. */
#define W(x) (uint8_t)((x) >> 24), (uint8_t)((x) >> 16), (uint8_t)((x) >> 8), (uint8_t)(x)
#define W64(x) W((uint64_t)(x) >> 32), W((uint64_t)(x)&0xffffffff)
#define SEG(handle, length, offset) W(handle), W(length), W64(offset)

/* Bytes of full_header. */
#define FULL_LEN                                                        \
	(RPR_HEADER_MIN + 24 * RPR_READ_SEGS +                          \
	 RPR_WRITE_CHUNKS * (8 + 16 * RPR_CHUNK_SEGS) + 4 + /* Reply */ \
	 16 * RPR_CHUNK_SEGS)

/* An RPR_MSG with as much as there may be, every number of it another one. */
void full_header(struct rpr_header *header);

/* Any header that can be packed, of version 1; what does not count in it is garbage. */
void random_header(struct rpr_header *header, uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t limit);

/* What counts in them is the same. */
void expect_same(const struct rpr_header *a, const struct rpr_header *b);

/* Parses a copy at ct_fence_copy. *used is 12345 if it is not set. */
enum rpr_bad fence_parse(struct rpr_header *header, const void *bytes, size_t len,
			 size_t *used);

#endif
