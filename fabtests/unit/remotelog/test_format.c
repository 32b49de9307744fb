/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "format.h"

#define SLOTS 8u
#define PAYLOAD 100u
#define FILE_SIZE (RLG_SLOTS + SLOTS * 128)

static const struct rlg_layout singleton = {RLG_SINGLETON, PAYLOAD, SLOTS,
					    0x123456789abcdef0};
static const struct rlg_layout compound = {RLG_COMPOUND, PAYLOAD, SLOTS, 77};

static uint8_t file[FILE_SIZE];

static void put_record(const struct rlg_layout *layout, uint64_t number)
{
	uint8_t *slot = file + rlg_slot_at(layout, number);

	memset(slot + RLG_RECORD, (int)number, PAYLOAD);
	rlg_record_seal(slot, layout, number);
}

/* A log whose records first to last are there; those before are consumed. */
static void make_log(const struct rlg_layout *layout, uint64_t first, uint64_t last)
{
	memset(file, 0, sizeof(file));
	rlg_header_pack(file, layout);
	rlg_put64(file + RLG_HEAD, first);
	rlg_put64(file + RLG_TAIL, layout->kind == RLG_COMPOUND ? last : 0);
	for (uint64_t number = 1; number <= last; number++)
		put_record(layout, number);
}

static struct rlg_recovery recover(const struct rlg_layout *layout)
{
	struct rlg_recovery found;

	rlg_recover(file, layout, &found);
	return found;
}

CT_TEST(format, checksums_are_crc32c)
{
	/* RFC 3720 appendix B.4: 32 bytes of zeros, of ones, and ascending. */
	uint8_t bytes[32] = {0};

	CT_EXPECT_EQ(rlg_crc32c(0, bytes, 32), 0x8a9136aau);
	memset(bytes, 0xff, 32);
	CT_EXPECT_EQ(rlg_crc32c(0, bytes, 32), 0x62a8ab43u);
	for (unsigned int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	CT_EXPECT_EQ(rlg_crc32c(0, bytes, 32), 0x46dd794eu);
	CT_EXPECT_EQ(rlg_crc32c(rlg_crc32c(0, bytes, 5), bytes + 5, 27), 0x46dd794eu);
}

CT_TEST(format, integers_are_little_endian)
{
	uint8_t bytes[8];

	rlg_put64(bytes, 0x0102030405060708);
	CT_EXPECT_EQ(bytes[0], 8);
	CT_EXPECT_EQ(bytes[7], 1);
	CT_EXPECT_EQ(rlg_get64(bytes), 0x0102030405060708u);
	CT_EXPECT_EQ(rlg_get32(bytes), 0x05060708u);
}

CT_TEST(format, a_header_is_read_as_it_was_written)
{
	struct rlg_layout got;

	make_log(&compound, 1, 0);
	CT_EXPECT_EQ(rlg_header_parse(file, sizeof(file), &got), NULL);
	CT_EXPECT_EQ(got.kind, RLG_COMPOUND);
	CT_EXPECT_EQ(got.payload, PAYLOAD);
	CT_EXPECT_EQ(got.slots, SLOTS);
	CT_EXPECT_EQ(got.identity, 77u);
}

CT_TEST(format, a_damaged_header_is_no_log)
{
	struct rlg_layout got;

	for (int bit = 0; bit < 64 * 8; bit++) {
		make_log(&singleton, 1, 3);
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CT_NOTE("bit %d", bit);
		CT_EXPECT_NE(rlg_header_parse(file, sizeof(file), &got), NULL);
	}
}

CT_TEST(format, a_file_that_was_cut_is_no_log)
{
	struct rlg_layout got;

	make_log(&singleton, 1, 3);
	CT_EXPECT_NE(rlg_header_parse(file, sizeof(file) - 1, &got), NULL);
	CT_EXPECT_NE(rlg_header_parse(ct_fence_copy(file, 63), 63, &got), NULL);
}

CT_TEST(format, slots_are_whole_cache_lines)
{
	CT_EXPECT_EQ(rlg_slot_size(1), 64u);
	CT_EXPECT_EQ(rlg_slot_size(48), 64u);
	CT_EXPECT_EQ(rlg_slot_size(49), 128u);
	CT_EXPECT_EQ(rlg_slots_in(RLG_SLOTS + 127, 49), 0u);
	CT_EXPECT_EQ(rlg_slots_in(RLG_SLOTS + 256, 49), 2u);
	CT_EXPECT_EQ(rlg_slots_in(10, 1), 0u);
}

CT_TEST(format, an_empty_log_has_no_records)
{
	struct rlg_recovery found;

	make_log(&singleton, 1, 0);
	found = recover(&singleton);
	CT_EXPECT_EQ(found.damage, NULL);
	CT_EXPECT_EQ(found.first, 1u);
	CT_EXPECT_EQ(found.next, 1u);
	CT_EXPECT_EQ(found.stop, RLG_MISSING);
}

CT_TEST(format, a_singleton_log_ends_before_the_first_record_that_is_not_whole)
{
	struct rlg_recovery found;

	make_log(&singleton, 1, 5);
	file[rlg_slot_at(&singleton, 4) + RLG_RECORD + 70] ^= 1;
	found = recover(&singleton);
	CT_EXPECT_EQ(found.damage, NULL);
	CT_EXPECT_EQ(found.next, 4u);
	CT_EXPECT_EQ(found.stop, RLG_TORN);
	CT_EXPECT_EQ(found.beyond, 1u);
}

CT_TEST(format, every_damaged_bit_of_a_record_is_noticed)
{
	const size_t at = rlg_slot_at(&singleton, 2);

	make_log(&singleton, 1, 3);
	for (unsigned int bit = 0; bit < (RLG_RECORD + PAYLOAD) * 8; bit++) {
		file[at + bit / 8] ^= (uint8_t)(1 << bit % 8);
		CT_NOTE("bit %u", bit);
		CT_EXPECT_EQ(rlg_record_find(file, &singleton, 2), RLG_TORN);
		file[at + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	CT_EXPECT_EQ(rlg_record_find(file, &singleton, 2), RLG_VALID);
}

CT_TEST(format, a_record_of_an_earlier_lap_is_a_missing_one)
{
	struct rlg_recovery found;

	/* 9 and 10 are in the slots of 1 and 2; 11 would follow where 3 is. */
	make_log(&singleton, 6, 10);
	found = recover(&singleton);
	CT_EXPECT_EQ(found.first, 6u);
	CT_EXPECT_EQ(found.next, 11u);
	CT_EXPECT_EQ(found.stop, RLG_MISSING);
	CT_EXPECT_EQ(found.beyond, 0u);
}

CT_TEST(format, a_full_log_ends_where_it_began)
{
	make_log(&singleton, 3, 10);
	CT_EXPECT_EQ(recover(&singleton).next, 11u);
}

CT_TEST(format, records_of_another_log_are_none)
{
	struct rlg_layout other = singleton;

	make_log(&singleton, 1, 5);
	other.identity++;
	CT_EXPECT_EQ(recover(&other).next, 1u);
}

CT_TEST(format, a_record_at_the_wrong_place_is_none)
{
	make_log(&singleton, 1, 5);
	memcpy(file + rlg_slot_at(&singleton, 3), file + rlg_slot_at(&singleton, 5), 128);
	CT_EXPECT_EQ(rlg_record_find(file, &singleton, 3), RLG_TORN);
	memcpy(file + rlg_slot_at(&singleton, 3), file + rlg_slot_at(&singleton, 1), 128);
	CT_EXPECT_EQ(rlg_record_find(file, &singleton, 3), RLG_TORN);
}

CT_TEST(format, a_compound_log_ends_where_its_tail_says)
{
	struct rlg_recovery found;

	make_log(&compound, 1, 5);
	rlg_put64(file + RLG_TAIL, 4);
	found = recover(&compound);
	CT_EXPECT_EQ(found.damage, NULL);
	CT_EXPECT_EQ(found.next, 5u);
	CT_EXPECT_EQ(found.stop, RLG_VALID);
	CT_EXPECT_EQ(found.beyond, 1u);
}

CT_TEST(format, a_tail_that_counts_a_torn_record_is_damage)
{
	struct rlg_recovery found;

	make_log(&compound, 1, 5);
	file[rlg_slot_at(&compound, 5) + 64] ^= 1;
	found = recover(&compound);
	CT_EXPECT_NE(found.damage, NULL);
	CT_EXPECT_EQ(found.next, 5u);
}

CT_TEST(format, a_tail_that_cannot_be_is_damage)
{
	make_log(&compound, 4, 5);
	rlg_put64(file + RLG_TAIL, 2);
	CT_EXPECT_NE(recover(&compound).damage, NULL);
	rlg_put64(file + RLG_TAIL, 3);
	CT_EXPECT_EQ(recover(&compound).damage, NULL);
	rlg_put64(file + RLG_TAIL, 12);
	CT_EXPECT_NE(recover(&compound).damage, NULL);
	rlg_put64(file + RLG_HEAD, 0);
	CT_EXPECT_NE(recover(&compound).damage, NULL);
}
