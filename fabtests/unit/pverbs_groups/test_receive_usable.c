/* SPDX-License-Identifier: BSD-2-Clause */
/* Of prov/pverbs/groups: groups whose attributes keep who receives from using them. */
#include "world.h"

/* Joins one group that is as change makes it, and looks that it was refused. */
static void expect_unusable(void (*change)(struct pvb_mcm *record), int err)
{
	struct world_group *group;
	struct world_user *user;

	world_open();
	group = world_make(world_mgid(1));
	change(&group->record);
	user = world_join_and_serve(1, true, true);
	CT_EXPECT_EQ(user->joins, 0);
	CT_EXPECT_EQ(user->routes, 0);
	CT_EXPECT_EQ(user->failures, 1);
	CT_EXPECT_EQ(user->err, err);
	CT_EXPECT_EQ(user->status, 0);
	CT_EXPECT_EQ(world_find(world_mgid(1))->state, 0);
	CT_EXPECT_EQ(w.groups.count, 0);
	world_close();
}

static void smaller_mtu(struct pvb_mcm *record)
{
	record->mtu = WORLD_MTU - 1;
}

static void larger_mtu(struct pvb_mcm *record)
{
	record->mtu = 5;
}

static void no_mtu(struct pvb_mcm *record)
{
	record->mtu = 0;
}

static void other_qkey(struct pvb_mcm *record)
{
	record->qkey++;
}

static void other_pkey(struct pvb_mcm *record)
{
	record->pkey++;
}

static void unicast_lid(struct pvb_mcm *record)
{
	record->mlid = 0xbfff;
}

static void no_lid(struct pvb_mcm *record)
{
	record->mlid = 0xffff;
}

CT_FIXTURE(groups, bool, world_start, world_stop);

CT_TEST(groups, R24_a_group_with_a_smaller_mtu_than_the_link_is_not_joined)
{
	expect_unusable(smaller_mtu, -FI_EMSGSIZE);
	expect_unusable(no_mtu, -FI_EINVAL);
	/* A router has said that less is enough. */
	world_open();
	w.link.mtu = 1024;
	smaller_mtu(&world_make(world_mgid(1))->record);
	world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(w.user[1].joins, 1);
	world_close();
}

CT_TEST_F(groups, R16_a_group_with_an_mtu_above_the_ports_is_not_joined)
{
	larger_mtu(&world_make(world_mgid(1))->record);
	world_join_and_serve(1, true, false);
	CT_EXPECT_EQ(w.user[1].joins, 1);
	w.link.config.port_mtu = WORLD_MTU;
	larger_mtu(&world_make(world_mgid(2))->record);
	world_join_and_serve(2, true, false);
	CT_EXPECT_EQ(w.user[2].failures, 1);
	CT_EXPECT_EQ(w.user[2].err, -FI_EMSGSIZE);
}

CT_TEST(groups, R9_a_group_with_another_q_key_is_not_joined)
{
	expect_unusable(other_qkey, -FI_EINVAL);
}

CT_TEST(groups, R4_a_group_of_another_partition_is_not_joined)
{
	expect_unusable(other_pkey, -FI_EINVAL);
}

CT_TEST(groups, R3_a_group_without_a_multicast_lid_is_not_joined)
{
	expect_unusable(unicast_lid, -FI_EINVAL);
	expect_unusable(no_lid, -FI_EINVAL);
}

/* It was another one when it was looked for. */
CT_TEST_F(groups, R24_what_the_join_has_found_is_left_if_it_cannot_be_used)
{
	struct world_group *group = world_make(world_mgid(1));

	world_join(1, true, false);
	world_serve(true);
	world_serve(true);
	smaller_mtu(&group->record);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joins, 0);
	CT_EXPECT_EQ(w.user[1].failures, 1);
	CT_EXPECT_EQ(w.user[1].err, -FI_EMSGSIZE);
	CT_EXPECT_EQ(group->state, 0);
}

CT_TEST_F(groups, R24_what_cannot_be_used_any_more_is_left)
{
	struct world_group *group;

	world_make(world_mgid(1));
	world_join_and_serve(1, true, true);
	world_unmake(world_mgid(1));
	group = world_make(world_mgid(1));
	world_report(67, world_mgid(1));
	world_serve(true);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_SET);
	other_qkey(&group->record);
	world_serve_all();
	CT_EXPECT_EQ(w.user[1].joined, false);
	CT_EXPECT_EQ(w.user[1].err, -FI_ECONNRESET);
	CT_EXPECT_EQ(w.user[1].losses, 1);
	CT_EXPECT_EQ(w.user[1].to, 0);
	CT_EXPECT_EQ(group->state, 0);
}
