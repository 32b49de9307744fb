/* SPDX-License-Identifier: BSD-2-Clause */
/* The requests of who receives. */
#include "world_receive.h"

void expect_request(uint8_t method, uint64_t mask, uint8_t state)
{
	const struct world_request *request;

	CT_ASSERT_LT(w.served, w.requests);
	request = world_next();
	CT_EXPECT_EQ(request->hdr.method, method);
	CT_EXPECT_EQ(request->hdr.comp_mask & mask, mask);
	CT_EXPECT_EQ(request->mcm.join_state, state);
	world_serve(true);
}

void expect_look(void)
{
	CT_ASSERT_EQ(w.requests - w.served, 1);
	CT_EXPECT_EQ(world_next()->hdr.comp_mask, PVB_MCM_HAS_MGID);
	expect_request(PVB_SA_GET, PVB_MCM_HAS_MGID, 0);
}

void expect_check(void)
{
	CT_ASSERT_EQ(w.requests - w.served, 1);
	CT_EXPECT_EQ(world_next()->hdr.comp_mask,
		     PVB_MCM_HAS_MGID | PVB_MCM_HAS_PORT_GID);
	expect_request(PVB_SA_GET, PVB_MCM_HAS_PORT_GID, 0);
}

struct world_user *world_join_half(void)
{
	struct world_user *user = world_join(1, true, false);

	while (world_next()->hdr.method == PVB_SA_GET)
		world_serve(true);
	CT_EXPECT_EQ(world_next()->hdr.method, PVB_SA_SET);
	return user;
}
