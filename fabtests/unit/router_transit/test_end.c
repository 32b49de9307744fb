/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections end. */
#include <rdma/fi_errno.h>

#include "world.h"

#define WHOLE (RTE_FIRST | RTE_LAST)

static const struct piece small = {.flags = WHOLE, .seq = 1, .len = 10};
static const struct piece large = {.flags = WHOLE, .seq = 2, .len = 900};

CT_FIXTURE(end, struct world *, world_set_up, world_tear_down);

CT_TEST_F(end, shutdown_goes_on)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_shutdown(world.in, 0);
	world_expect_shutdown(world.out, 0, 0);

	world_start(RTE_CLIENT, RTE_TARGET);
	world_shutdown(world.out, FI_EIO);
	world_expect_shutdown(world.in, FI_EIO, 0);
}

CT_TEST_F(end, what_was_sent_before_goes_on_first)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	world_say(world.in, &large);
	world_shutdown(world.in, 0);
	world_expect_nothing(world.out);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect(world.out, &small);
	world_expect_nothing(world.out);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect(world.out, &large);
	world_expect_shutdown(world.out, 0, 0);
	/* Who is closed may lose what it has not sent. */
	fake_done(world.out, 1, 0);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_done(world.out, 1, 0);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	CT_EXPECT_FALSE(world.out->in->closed);
	fake_done(world.out, 1, 0);
}

CT_TEST_F(end, the_same_when_the_lower_connection_ends)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	fake_down(world.in, FI_ECONNRESET);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect(world.out, &small);
	/* An end is lost: no router has failed. */
	world_expect_shutdown(world.out, FI_ECONNRESET, 0);
}

CT_TEST_F(end, a_router_without_memory_is_named)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_down(world.out, FI_ENOMEM);
	world_expect_shutdown(world.in, FI_ENOMEM, WORLD_ID);
}

CT_TEST_F(end, a_router_that_is_lost_is_named)
{
	world_open(RTE_ROUTER, RTE_TARGET);
	CT_ASSERT_NE(world.in->remote.node, WORLD_ID);
	fake_down(world.in, FI_ETIMEDOUT);
	world_expect_shutdown(world.out, FI_ETIMEDOUT, world.in->remote.node);
}

CT_TEST_F(end, a_sender_that_goes_after_its_shutdown_loses_nothing)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	world_shutdown(world.in, 0);
	fake_down(world.in, FI_ECONNABORTED);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect(world.out, &small);
	world_expect_shutdown(world.out, 0, 0);
}

CT_TEST_F(end, nobody_waits_longer_than_the_deadline)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	world_shutdown(world.in, 0);
	world_pass(FRT_DRAIN_MS - 1);
	CT_EXPECT_FALSE(world.out->in->closed);
	world_pass(1);
	world_expect_shutdown(world.out, 0, 0);
}

/* However many routers there are, what is stuck has its time once. */
CT_TEST_F(end, who_is_told_that_it_was_waited_for_does_not_wait_again)
{
	world_open(RTE_CLIENT, RTE_ROUTER);
	world_say(world.in, &small);
	world_shutdown(world.in, 0);
	world_pass(FRT_DRAIN_MS);
	world_expect_shutdown_as(world.out, true);
	world_start(RTE_ROUTER, RTE_TARGET);
	world_say(world.in, &small);
	world_shutdown_late(world.in);
	world_pass(0);
	world_expect_shutdown_as(world.out, true);
}

CT_TEST_F(end, what_can_go_on_goes_on_also_when_it_is_late)
{
	world_open(RTE_ROUTER, RTE_TARGET);
	world_say(world.in, &small);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_shutdown_late(world.in);
	world_expect(world.out, &small);
	world_expect_shutdown_as(world.out, true);
	world_start(RTE_CLIENT, RTE_TARGET);
	world_shutdown(world.in, 0);
	world_expect_shutdown_as(world.out, false);
}

CT_TEST_F(end, when_both_are_over_nothing_is_waited_for)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	world_shutdown(world.in, 0);
	fake_down(world.out, FI_ECONNABORTED);
}

CT_TEST_F(end, what_comes_for_an_end_that_is_over_is_dropped)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	world_shutdown(world.in, 0);
	world_say(world.out, &small);
	CT_EXPECT_EQ(world.out->in->receives, 0);
	CT_EXPECT_FALSE(world.out->in->closed);
	world_pass(FRT_DRAIN_MS);
}

CT_TEST_F(end, another_connections_shutdown_breaks_the_protocol)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world.req.id[3] ^= 1;
	world_shutdown(world.in, 0);
	world.req.id[3] ^= 1;
	CT_EXPECT_NE(world.in->in->status, 0);
}

/* A payload that another port still sends is given back before this one is closed. */
CT_TEST_F(end, a_device_that_goes_takes_its_connections_along)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &large);
	world_say(world.in, &small);
	CT_EXPECT_EQ(world.in->in->receives, 2);
	frt_transit_ops.device_gone(&world.node, &world.device[0], FI_ESHUTDOWN);
	CT_EXPECT_EQ(world.in->in->receives, 0);
	world_expect_shutdown(world.in, FI_ESHUTDOWN, WORLD_ID);
	world_expect(world.out, &large);
	world_expect_shutdown(world.out, FI_ESHUTDOWN, WORLD_ID);
	CT_EXPECT_EQ(world.out->in->status, FI_ESHUTDOWN);
}

CT_TEST_F(end, a_device_that_goes_ends_what_has_just_begun)
{
	world_ask(RTE_CLIENT);
	frt_transit_ops.device_gone(&world.node, &world.device[1], FI_ESHUTDOWN);
	world_expect_failed(FI_ESHUTDOWN, WORLD_ID, NULL);
}

CT_TEST_F(end, a_device_that_goes_does_not_wait_for_who_drains)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	world_say(world.in, &small);
	world_shutdown(world.in, 0);
	frt_transit_ops.device_gone(&world.node, &world.device[1], FI_ESHUTDOWN);
	world_expect_shutdown(world.out, 0, 0);
}

CT_TEST_F(end, other_devices_are_not_touched)
{
	struct frt_device other = {0};

	world_open(RTE_CLIENT, RTE_TARGET);
	frt_transit_ops.device_gone(&world.node, &other, FI_ESHUTDOWN);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 1);
	world_shut();
}

/* What is posted when a peer is closed may be over then, or later. */
static void lose_both(bool done_at_close)
{
	world_begin();
	fakes.done_at_close = done_at_close;
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 3);
	world_say(world.in, &large);
	world_say(world.in, &large);
	fake_down(world.out, FI_ECONNRESET);
	fake_down(world.in, FI_ECONNRESET);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 0);
	if (!done_at_close) {
		CT_EXPECT_EQ(world.in->in->receives, 2);
		fake_done(world.out, 1, 0);
		CT_EXPECT_EQ(world.in->in->receives, 1);
		fake_done(world.out, 1, FI_ECANCELED);
	}
	CT_EXPECT_EQ(world.in->in->receives, 0);
	world_end();
}

CT_TEST_F(end, messages_that_were_posted_outlive_the_connection)
{
	lose_both(false);
	lose_both(true);
}

CT_TEST_F(end, what_is_over_with_the_peer_goes_on_at_once)
{
	fakes.done_at_close = true;
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 3);
	world_say(world.in, &large);
	fake_down(world.out, FI_ECONNRESET);
	world_expect_shutdown(world.in, FI_ECONNRESET, 0);

	/* The other way round: a client that is closed while it is drained. */
	world_begin();
	fakes.done_at_close = true;
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.in, RTE_REQUESTS, 3);
	world_say(world.in, &small);
	world_say(world.out, &large);
	world_shutdown(world.in, 0);
	fake_down(world.in, FI_ECONNABORTED);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_expect(world.out, &small);
	world_expect_shutdown(world.out, 0, 0);
}

CT_TEST_F(end, a_message_that_is_never_sent_is_not_waited_for)
{
	world_open(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &large);
	world_shutdown(world.in, 0);
	world_pass(FRT_DRAIN_MS);
	CT_EXPECT_TRUE(world.out->in->closed);
	CT_EXPECT_TRUE(world.in->in->closed);
}

static void other_goes_too(struct rte_peer *peer)
{
	fake_down(peer == world.out ? world.in : world.out, FI_ECONNRESET);
}

/* Closing a peer may make progress on its port, and that on others. */
CT_TEST_F(end, while_one_is_closed_the_other_may_go)
{
	world_ask(RTE_CLIENT);
	fakes.at_close = other_goes_too;
	fake_down(world.out, FI_ECONNREFUSED);

	world_start(RTE_CLIENT, RTE_TARGET);
	fake_credit(world.out, RTE_REQUESTS, 1);
	world_say(world.in, &large);
	world_say(world.in, &large);
	fakes.at_close = other_goes_too;
	fake_down(world.in, FI_ECONNRESET);

	world_start(RTE_CLIENT, RTE_TARGET);
	fakes.at_close = other_goes_too;
	frt_transit_ops.device_gone(&world.node, &world.device[0], FI_ESHUTDOWN);
}

/* Both lanes: the data of a read do not get lost between its last request and the end. */
CT_TEST_F(end, the_data_of_a_read_go_on_first)
{
	const struct piece data = {
		.type = RTE_READ_FRAG, .flags = WHOLE, .seq = 1, .len = 10};

	world_open(RTE_CLIENT, RTE_TARGET);
	world.in->in->credit[RTE_RESPONSES] = 0;
	world_say(world.out, &data);
	world_shutdown(world.out, 0);
	world_expect_nothing(world.in);
	fake_credit(world.in, RTE_RESPONSES, 1);
	world_expect(world.in, &data);
	world_expect_shutdown(world.in, 0, 0);
}
