/* SPDX-License-Identifier: BSD-2-Clause */
/* util/fi_router/ready.c: what is missing until a router is of use. */
#include "one.h"
#include "ready.h"

static struct one one;
static char why[FRT_READY_SIZE];

CT_TEST(ready, when_its_devices_are_open)
{
	one_open(&one, NULL);
	CT_EXPECT_TRUE(frt_ready(&one.node, why));
	one_device(&one, "b")->up = false;
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_STRSTR(why, "device b is not open");
	one_device(&one, "b")->up = true;
	one_close(&one);
}

CT_TEST(ready, when_routers_have_said_what_they_know)
{
	one_open(&one, NULL);
	CT_ASSERT_NE(one_visitor(&one, 6, 1), NULL);
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_STRSTR(why, "router 6 has not said yet");
	one_close(&one);
}

CT_TEST(ready, while_it_takes_connections)
{
	one_open(&one, NULL);
	one.node.drain = true;
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_STRSTR(why, "drain");
	one.node.drain = false;
	one.node.stopping = true;
	CT_EXPECT_FALSE(frt_ready(&one.node, why));
	CT_EXPECT_STRSTR(why, "ends");
	one.node.stopping = false;
	one_close(&one);
}
