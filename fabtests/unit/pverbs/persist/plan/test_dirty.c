/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "cairn_test.h"
#include "persist/plan/dirty.h"

#define FAR (1ull << 20)

static struct pvb_dirty_range range(uint64_t from, uint64_t to, uint32_t rkey)
{
	return (struct pvb_dirty_range){.from = from, .to = to, .rkey = rkey};
}

static bool covers(const struct pvb_dirty *dirty, uint64_t at, uint32_t rkey)
{
	for (size_t i = 0; i < dirty->count; i++) {
		if (dirty->range[i].rkey == rkey && dirty->range[i].from <= at &&
		    at < dirty->range[i].to)
			return true;
	}
	return false;
}

CT_TEST(dirty, neighbours_are_one_range)
{
	struct pvb_dirty dirty = {0};

	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(FAR, FAR + 10, 1)), 0);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(FAR + 10, FAR + 20, 1)), 0);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(FAR - PVB_DIRTY_NEAR - 1,
						 FAR - PVB_DIRTY_NEAR, 1)),
		     0);
	CT_EXPECT_EQ(dirty.count, 1);
	CT_EXPECT_EQ(dirty.range[0].from, FAR - PVB_DIRTY_NEAR - 1);
	CT_EXPECT_EQ(dirty.range[0].to, FAR + 20);
	pvb_dirty_fini(&dirty);
}

CT_TEST(dirty, regions_are_never_one_range)
{
	struct pvb_dirty dirty = {0};

	for (uint32_t rkey = 0; rkey < 3 * PVB_DIRTY_APART; rkey++)
		CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(64, 128, rkey)), 0);
	CT_EXPECT_EQ(dirty.count, 3 * PVB_DIRTY_APART);
	pvb_dirty_fini(&dirty);
}

CT_TEST(dirty, nothing_written_leaves_nothing_dirty)
{
	struct pvb_dirty_range owed = range(FAR, FAR, 1);
	struct pvb_dirty dirty = {0};
	uint64_t i;

	owed.owed = true;
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, owed), 0);
	CT_EXPECT_EQ(dirty.count, 0);
	/* Nor does it make a range longer. */
	for (i = 1; i <= PVB_DIRTY_APART; i++)
		CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(i * FAR, i * FAR + 8, 1)), 0);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(0, 0, 1)), 0);
	CT_EXPECT_EQ(dirty.range[0].from, FAR);
	CT_EXPECT_EQ(dirty.count, PVB_DIRTY_APART);
	pvb_dirty_fini(&dirty);
}

CT_TEST(dirty, with_too_many_ranges_none_is_forgotten)
{
	struct pvb_dirty dirty = {0};
	uint64_t i;

	for (i = 0; i < 100; i++)
		CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(i * FAR, i * FAR + 8, 1)), 0);
	CT_EXPECT_EQ(dirty.count, PVB_DIRTY_APART);
	for (i = 0; i < 100; i++)
		CT_EXPECT_TRUE(covers(&dirty, i * FAR + 7, 1));
	pvb_dirty_fini(&dirty);
}

CT_TEST(dirty, what_is_owed_stays_owed)
{
	struct pvb_dirty_range owed = range(0, 8, 1);
	struct pvb_dirty dirty = {0};

	owed.owed = true;
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(8, 16, 1)), 0);
	CT_EXPECT_FALSE(pvb_dirty_owed(&dirty));
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, owed), 0);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(16, 24, 1)), 0);
	CT_EXPECT_TRUE(pvb_dirty_owed(&dirty));
	pvb_dirty_fini(&dirty);
}

CT_TEST(dirty, what_became_durable_is_cut_off)
{
	struct pvb_dirty dirty = {0};

	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(0, 100, 1)), 0);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(0, 100, 2)), 0);
	pvb_dirty_cut(&dirty, 0, 40);
	CT_EXPECT_EQ(dirty.count, 2);
	CT_EXPECT_FALSE(covers(&dirty, 39, 1));
	CT_EXPECT_TRUE(covers(&dirty, 40, 1));
	pvb_dirty_cut(&dirty, 0, 100);
	CT_EXPECT_EQ(dirty.count, 1);
	CT_EXPECT_TRUE(covers(&dirty, 39, 2));
	pvb_dirty_fini(&dirty);
}

CT_TEST(dirty, without_memory_nothing_is_changed)
{
	struct pvb_dirty dirty = {0};
	uint32_t rkey;

	ct_fail_alloc(1);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(0, 8, 1)), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	for (rkey = 0; rkey < PVB_DIRTY_APART; rkey++)
		CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(0, 8, rkey)), 0);
	ct_fail_alloc(1);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(0, 8, rkey)), -FI_ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
	CT_EXPECT_EQ(dirty.count, PVB_DIRTY_APART);
	/* A region that is known needs none. */
	ct_fail_alloc(1);
	CT_EXPECT_EQ(pvb_dirty_add(&dirty, range(FAR, FAR + 8, 0)), 0);
	CT_EXPECT_FALSE(ct_alloc_failed());
	CT_EXPECT_TRUE(covers(&dirty, FAR, 0));
	pvb_dirty_fini(&dirty);
}
