/* SPDX-License-Identifier: BSD-2-Clause */
/* Users that only send, and groups for them. */
#include "world_send.h"

struct world_user *world_send_to(unsigned int n)
{
	struct world_user *user = world_join(n, false, true);

	world_serve_all();
	return user;
}

void expect_route(const struct world_user *user, uint16_t to, uint16_t copy)
{
	CT_EXPECT_TRUE(user->joined);
	CT_EXPECT_EQ(user->to, to);
	CT_EXPECT_EQ(user->copy, copy);
}

uint16_t world_make_lid(const uint8_t mgid[16])
{
	return world_make(mgid)->record.mlid;
}

uint16_t world_appear(const uint8_t mgid[16])
{
	const uint16_t mlid = world_make_lid(mgid);

	world_report_and_serve(66, mgid);
	return mlid;
}

void world_vanish(const uint8_t mgid[16])
{
	world_unmake(mgid);
	world_report_and_serve(67, mgid);
}
