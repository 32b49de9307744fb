/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "cairn_test.h"
#include "wire/key.h"

#define DESCS (3 * 32)

static const uint32_t rkeys[] = {0, 1, 0x100, 0x1234, 0x80000000, 0xffffffff};

/* The nth of all descriptors that a persistent region may have. */
static struct pvb_key_attr nth(unsigned int n)
{
	const struct pvb_key_attr attr = {
		.domain = (enum crn_persistence)(n / 32),
		.ddio = n & 1,
		.persistent = true,
		.flush = n & 2,
		.atomic_write = n & 4,
		.readable = n & 8,
		.software = n & 16,
	};

	return attr;
}

static void expect_same(const struct pvb_key_attr *a, const struct pvb_key_attr *b)
{
	CT_EXPECT_EQ(a->domain, b->domain);
	CT_EXPECT_EQ(a->ddio, b->ddio);
	CT_EXPECT_EQ(a->persistent, b->persistent);
	CT_EXPECT_EQ(a->flush, b->flush);
	CT_EXPECT_EQ(a->atomic_write, b->atomic_write);
	CT_EXPECT_EQ(a->readable, b->readable);
	CT_EXPECT_EQ(a->software, b->software);
}

CT_TEST(key_attr, a_peer_reads_in_the_key_what_the_target_put_there)
{
	struct pvb_key_attr put, got;
	unsigned int n;
	uint64_t key;
	size_t i;

	for (n = 0; n < DESCS; n++) {
		for (i = 0; i < CRN_COUNT(rkeys); i++) {
			CT_NOTE("descriptor %u, rkey %#x", n, rkeys[i]);
			put = nth(n);
			key = pvb_key_pack(rkeys[i], &put);
			memset(&got, 0xff, sizeof(got));
			CT_ASSERT_EQ(pvb_key_parse(key, &got), 0);
			expect_same(&got, &put);
		}
	}
}

CT_TEST(key_attr, each_fact_has_the_bits_that_the_header_words)
{
	static const struct {
		struct pvb_key_attr attr;
		uint64_t bits;
	} rows[] = {
		{{.persistent = true}, 0},
		{{.persistent = true, .domain = CRN_MHP}, 1ull << 36},
		{{.persistent = true, .domain = CRN_WSP}, 2ull << 36},
		{{.persistent = true, .ddio = true}, 1ull << 38},
		{{.persistent = true, .flush = true}, 1ull << 40},
		{{.persistent = true, .atomic_write = true}, 1ull << 41},
		{{.persistent = true, .readable = true}, 1ull << 42},
		{{.persistent = true, .software = true}, 1ull << 43},
	};
	const uint64_t always = 1ull << 32 | 1ull << 39 | 0xabcd;
	size_t i;

	for (i = 0; i < CRN_COUNT(rows); i++) {
		CT_NOTE("row %zu", i);
		CT_EXPECT_EQ(pvb_key_pack(0xabcd, &rows[i].attr) << 8 >> 8,
			     always | rows[i].bits);
	}
}

CT_TEST(key_attr, the_lower_half_of_a_key_is_the_rkey)
{
	unsigned int n;
	size_t i;

	for (n = 0; n < DESCS; n++) {
		const struct pvb_key_attr attr = nth(n);

		for (i = 0; i < CRN_COUNT(rkeys); i++)
			CT_EXPECT_EQ((uint32_t)pvb_key_pack(rkeys[i], &attr), rkeys[i]);
	}
}

CT_TEST(key_attr, volatile_memory_has_its_rkey_as_key)
{
	const struct pvb_key_attr attr = {.domain = CRN_WSP,
					  .ddio = true,
					  .readable = true};
	struct pvb_key_attr got;

	CT_EXPECT_EQ(pvb_key_pack(0x1234, NULL), 0x1234);
	CT_EXPECT_EQ(pvb_key_pack(0x1234, &attr), 0x1234);
	CT_EXPECT_EQ(pvb_key_parse(0x1234, &got), -FI_EOPNOTSUPP);
}

CT_TEST(key_attr, a_key_cut_to_32_bits_says_nothing_of_durability)
{
	const struct pvb_key_attr attr = nth(7);
	struct pvb_key_attr got;

	CT_EXPECT_EQ(pvb_key_parse((uint32_t)pvb_key_pack(0x1234, &attr), &got),
		     -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(pvb_key_parse(0, &got), -FI_EOPNOTSUPP);
	CT_EXPECT_EQ(pvb_key_parse(UINT32_MAX, &got), -FI_EOPNOTSUPP);
}

CT_TEST(key_attr, a_key_with_any_one_bit_turned_is_rejected)
{
	struct pvb_key_attr attr, got;
	unsigned int n, bit;
	uint64_t key;
	size_t i;

	for (n = 0; n < DESCS; n++) {
		for (i = 0; i < CRN_COUNT(rkeys); i++) {
			attr = nth(n);
			key = pvb_key_pack(rkeys[i], &attr);
			for (bit = 0; bit < 64; bit++) {
				CT_NOTE("descriptor %u, rkey %#x, bit %u", n, rkeys[i],
					bit);
				CT_EXPECT_EQ(pvb_key_parse(key ^ 1ull << bit, &got),
					     -FI_EKEYREJECTED);
			}
		}
	}
}

/* A byte of check lets one in 256 through. */
CT_TEST(key_attr, the_attributes_of_another_region_are_rejected)
{
	const struct pvb_key_attr attr = nth(11);
	const uint64_t upper = pvb_key_pack(0x4711, &attr) >> 32 << 32;
	unsigned int passed = 0;
	struct pvb_key_attr got;
	uint32_t rkey;

	for (rkey = 0; rkey < 0x10000; rkey++)
		passed += !pvb_key_parse(upper | rkey, &got);
	CT_EXPECT_LE(passed, 0x10000 / 256 * 2);
}

/* The check's byte of a key put together by hand. */
static uint64_t checked(uint64_t key)
{
	struct pvb_key_attr got;
	uint64_t check;

	for (check = 0; check < 256; check++) {
		if (!pvb_key_parse(key | check << 56, &got))
			break;
	}
	return check;
}

CT_TEST(key_attr, no_check_makes_attributes_of_an_unknown_version_valid)
{
	const uint64_t good = 1ull << 32 | 1ull << 39 | 0x1234;
	unsigned int bit;

	CT_EXPECT_LT(checked(good), 256);
	/* Versions, the domain that is none, memory that is not persistent. */
	CT_EXPECT_EQ(checked(good ^ 3ull << 32), 256);
	CT_EXPECT_EQ(checked(good ^ 1ull << 32), 256);
	CT_EXPECT_EQ(checked(good | 15ull << 32), 256);
	CT_EXPECT_EQ(checked(good | 3ull << 36), 256);
	CT_EXPECT_EQ(checked(good ^ 1ull << 39), 256);
	for (bit = 44; bit < 56; bit++) {
		CT_NOTE("bit %u", bit);
		CT_EXPECT_EQ(checked(good | 1ull << bit), 256);
	}
}

CT_TEST(key_attr, no_key_is_all_ones_and_all_ones_is_no_key)
{
	struct pvb_key_attr got;
	unsigned int n;

	for (n = 0; n < DESCS; n++) {
		const struct pvb_key_attr attr = nth(n);

		CT_EXPECT_NE(pvb_key_pack(UINT32_MAX, &attr), UINT64_MAX);
	}
	CT_EXPECT_NE(pvb_key_pack(UINT32_MAX, NULL), UINT64_MAX);
	CT_EXPECT_EQ(pvb_key_parse(UINT64_MAX, &got), -FI_EKEYREJECTED);
}
