/* SPDX-License-Identifier: BSD-2-Clause */
/* What there is no memory for is said later, or never. */
#include <errno.h>
#include <rdma/fi_errno.h>

#include "world.h"

CT_FIXTURE(memory, struct world *, world_set_up, world_tear_down);

CT_TEST_F(memory, what_there_is_no_memory_for_is_said_later)
{
	world_ask(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_TARGET, 3);
	world_expect_nothing(world.out);
	CT_EXPECT_EQ(world.in->in->receives, 1);
	fake_memory(world.out, true);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_REQ) != NULL);
	world.in->in->no_memory = true;
	world_rep(RTE_ACCEPTED, 0);
	world_expect_nothing(world.in);
	CT_EXPECT_EQ(world.out->in->receives, 1);
	fake_memory(world.in, true);
	CT_EXPECT_TRUE(world_next(world.in, RTE_CONN_REP) != NULL);
	world_ack(0);
	world_shut();
}

CT_TEST_F(memory, a_failure_is_told_when_there_is_memory_but_not_for_ever)
{
	world_ask(RTE_CLIENT);
	world.in->in->no_memory = true;
	fake_down(world.out, FI_ECONNREFUSED);
	CT_EXPECT_FALSE(world.in->in->closed);
	fake_memory(world.in, true);
	world_expect_failed(FI_ECONNREFUSED, WORLD_ID, NULL);

	world_begin();
	world.req.timeout = 60000;
	world_ask(RTE_CLIENT);
	world.in->in->no_memory = true;
	fake_down(world.out, FI_ECONNREFUSED);
	world_pass(FRT_END_MS);
}

CT_TEST_F(memory, so_is_a_client_that_leaves)
{
	world.req.timeout = 60000;
	world_reach(RTE_CLIENT);
	world_next(world.out, RTE_CONN_REQ);
	world.out->in->no_memory = true;
	fake_down(world.in, FI_ECONNRESET);
	CT_EXPECT_FALSE(world.out->in->closed);
	fake_memory(world.out, true);
	world_expect_given_up(FI_ECONNRESET);

	world_begin();
	world.req.timeout = 60000;
	world_reach(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_down(world.in, FI_ECONNRESET);
	world_pass(FRT_END_MS);
}

/* Nobody is told of what he was not asked. */
CT_TEST_F(memory, a_request_that_was_never_said_is_not_taken_back)
{
	world_ask(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_TARGET, 3);
	fake_down(world.in, FI_ECONNRESET);
	world_expect_closed();
	world_expect_nothing(world.out);

	world_begin();
	world_ask(RTE_CLIENT);
	world.out->in->no_memory = true;
	fake_up(world.out, RTE_TARGET, 3);
	world_pass(1000);
	world_expect_failed(FI_ETIMEDOUT, WORLD_ID, NULL);
	world_expect_closed();
	world_expect_nothing(world.out);
}

CT_TEST_F(memory, no_room_is_enobufs)
{
	static const int rets[] = {-FI_ENOMEM, -FI_EAGAIN, -FI_EMFILE, -ENFILE};
	size_t i;

	for (i = 0; i < CRN_COUNT(rets); i++) {
		world_begin();
		fakes.connect_ret = rets[i];
		world_ask(RTE_CLIENT);
		world_expect_failed(FI_ENOBUFS, WORLD_ID, NULL);
	}
	world_begin();
	fakes.connect_ret = -FI_EADDRNOTAVAIL;
	world_ask(RTE_CLIENT);
	world_expect_failed(FI_EHOSTUNREACH, WORLD_ID, NULL);
}

static void fail_alloc(struct rte_peer *peer, struct rte_rx *rx)
{
	ct_fail_alloc(1);
	frt_transit_ops.request(&world.device[0].at[0], peer, NULL, rx);
	CT_EXPECT_TRUE(ct_alloc_failed());
}

CT_TEST_F(memory, no_memory_is_enobufs)
{
	static const struct rte_peer_ops ops = {.message = fail_alloc};
	struct rte_packet packet = {.head = {.type = RTE_CONN_REQ}};
	uint8_t buf[RTE_SEND_ROOM];
	ssize_t len = rte_conn_req_pack(&packet, &world.req, buf, sizeof(buf));

	world.in = fake_peer(&world.port[0], RTE_ROUTER, 1);
	world.in->ops = &ops;
	fake_say(world.in, buf, (size_t)len, NULL);
	world_expect_failed(FI_ENOBUFS, WORLD_ID, NULL);
	CT_EXPECT_EQ(world.in->in->status, FI_ENOBUFS);
}
