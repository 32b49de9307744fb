/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/ready.c: what is missing until a router is of use. */
#include "one.h"
#include "ready.h"

static char why[FRT_READY_SIZE];

CT_FIXTURE(ready, struct one *, one_set_up, one_tear_down);

CT_TEST_F(ready, when_its_devices_are_open)
{
	CT_EXPECT_TRUE(frt_ready(&one.node, why));
	one_device(&one, "b")->up = false;
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_DATA(why, "b");
	one_device(&one, "b")->up = true;
}

CT_TEST_F(ready, when_routers_have_said_what_they_know)
{
	CT_ASSERT_NE(one_visitor(&one, 6, 1), NULL);
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_DATA(why, "6");
}

CT_TEST_F(ready, while_it_takes_connections)
{
	one.node.drain = true;
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_DATA(why, "drain");
	one.node.drain = false;
	one.node.stopping = true;
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_NE(*why, 0);
	one.node.stopping = false;
}
