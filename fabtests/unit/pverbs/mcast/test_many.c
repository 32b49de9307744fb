/* SPDX-License-Identifier: BSD-2-Clause */
/* Hundreds of groups of one endpoint. */
#include "world_mcast.h"

#define GROUPS 200

static struct fid_mc *join_as_member(struct mcast_world *w, uint8_t number)
{
	struct fid_mc *mc = mcast_join(w, 0, number, 0);

	mcast_answers(number, MCAST_QKEY);
	expect_joined(w, mc);
	return mc;
}

/* The place among the endpoint's groups: what is free is taken again, the lowest first.
 */
static uint32_t place_of(struct fid_mc *mc)
{
	return (uint32_t)fi_mc_addr(mc);
}

CT_FIXTURE(mc_many, struct mcast_world, mcast_start, mcast_close);

CT_TEST_F(mc_many, each_group_is_found_again_and_has_a_place)
{
	struct fid_mc *mc[GROUPS], *again;
	unsigned int i;

	for (i = 0; i < GROUPS; i++) {
		mc[i] = join_as_member(t, (uint8_t)i);
		CT_EXPECT_EQ(place_of(mc[i]), i);
	}
	for (i = 0; i < GROUPS; i++) {
		again = mcast_join(t, 0, (uint8_t)i, 0);
		expect_joined(t, again);
		CT_EXPECT_EQ(place_of(again), GROUPS);
		mcast_left(again);
	}
	CT_EXPECT_EQ(fake_count(FAKE_JOIN), GROUPS);
	CT_EXPECT_EQ(fake_count(FAKE_ATTACH), GROUPS);
	mcast_left(mc[150]);
	mcast_left(mc[7]);
	CT_EXPECT_EQ(fake_count(FAKE_LEAVE), 2);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), 2);
	mc[7] = join_as_member(t, 150);
	CT_EXPECT_EQ(place_of(mc[7]), 7);
	mc[150] = join_as_member(t, 7);
	CT_EXPECT_EQ(place_of(mc[150]), 150);
	for (i = 0; i < GROUPS; i++)
		mcast_left(mc[i]);
	CT_EXPECT_EQ(fake_count(FAKE_DETACH), GROUPS + 2);
}
