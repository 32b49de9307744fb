/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include <cairn/wait.h>

#include "chain.h"

static bool all_sent(const struct chain_end *from, const struct chain_end *to)
{
	return from->sent == from->wanted && to->received == from->wanted &&
	       (!from->ask || from->acked == from->wanted);
}

/* Every byte, in order, both ways at once, whatever the size. */
static void pass_on(uint32_t routers)
{
	struct chain_end *client, *target = &chain.target[0];

	chain_open(routers);
	client = chain_join();
	client->wanted = target->wanted = 120;
	client->ask = target->ask = true;
	CHAIN_UNTIL(all_sent(client, target) && all_sent(target, client));
	chain_close();
}

CT_TEST(chain, messages_of_all_sizes_pass_one_router)
{
	pass_on(1);
}

CT_TEST(chain, two_routers)
{
	pass_on(2);
}

CT_TEST(chain, three_routers)
{
	pass_on(3);
}

CT_TEST(chain, what_was_sent_before_the_end_arrives)
{
	struct chain_end *client, *target = &chain.target[0];

	chain_open(2);
	client = chain_join();
	client->wanted = 30;
	client->closing = true;
	CHAIN_UNTIL(target->shut);
	CT_EXPECT_EQ(target->received, 30);
	CT_EXPECT_EQ(target->status, 0);
	CT_EXPECT_EQ(target->router, 0);
	/* And then the lower connections. */
	CHAIN_UNTIL(!target->peer && !client->peer);
	CHAIN_UNTIL(!frt_transit_count(&chain.router[0].node) &&
		    !frt_transit_count(&chain.router[1].node));
	chain_close();
}

CT_TEST(chain, the_target_ends_it)
{
	struct chain_end *client, *target = &chain.target[0];

	chain_open(2);
	client = chain_join();
	target->wanted = 30;
	target->closing = true;
	CHAIN_UNTIL(client->shut);
	CT_EXPECT_EQ(client->received, 30);
	CT_EXPECT_EQ(client->status, 0);
	chain_close();
}

CT_TEST(chain, where_nobody_listens_it_is_refused)
{
	struct chain_end *client;
	uint32_t routers;

	for (routers = 1; routers <= 2; routers++) {
		chain_open(routers);
		rte_listener_close(chain.listener);
		chain.listener = NULL;
		client = chain_connect();
		CHAIN_UNTIL(client->verdict);
		CT_EXPECT_EQ(client->verdict, RTE_FAILED);
		CT_EXPECT_EQ(client->status, FI_ECONNREFUSED);
		CT_EXPECT_EQ(client->router, CHAIN_ID + routers - 1);
		CHAIN_UNTIL(!client->peer);
		chain_close();
	}
}

CT_TEST(chain, a_router_that_is_not_there_is_named)
{
	struct chain_end *client;

	chain_open(3);
	rte_listener_close(chain.router[2].listener);
	chain.router[2].listener = NULL;
	client = chain_connect();
	CHAIN_UNTIL(client->verdict);
	CT_EXPECT_EQ(client->verdict, RTE_FAILED);
	CT_EXPECT_EQ(client->status, FI_EHOSTUNREACH);
	CT_EXPECT_EQ(client->router, CHAIN_ID + 2);
	chain_close();
}

static const struct frt_transit *waits;

static void find_waiting(const struct frt_transit *transit, void *context)
{
	(void)context;
	if (transit->side[FRT_IN].lane[RTE_REQUESTS].queued)
		waits = transit;
}

/* Who takes nothing holds up his own connection, and a bounded part of memory. */
CT_TEST(chain, one_that_waits_holds_up_nobody_else)
{
	struct chain_end *slow, *fast;
	struct rte_arena_use use;

	chain_open(1);
	slow = chain_join();
	fast = chain_join();
	chain.target[0].hold = true;
	slow->wanted = 200;
	fast->wanted = 200;
	CHAIN_UNTIL(all_sent(fast, &chain.target[1]));
	CT_EXPECT_LT(slow->sent, 200);
	waits = NULL;
	frt_transit_each(&chain.router[0].node, find_waiting, NULL);
	CT_ASSERT_NE(waits, NULL);
	CT_EXPECT_GT(waits->side[FRT_IN].lane[RTE_REQUESTS].stalls, 0);
	CT_EXPECT_NE(waits->side[FRT_IN].lane[RTE_REQUESTS].stall_at, 0);
	CT_EXPECT_EQ(waits->side[FRT_OUT].lane[RTE_REQUESTS].stalls, 0);
	rte_arena_use(chain.router[0].arena, &use);
	CT_EXPECT_LE(use.lands_taken, 32);
	CT_EXPECT_LT(use.messages_taken, 400);
	chain_let_go(&chain.target[0]);
	CHAIN_UNTIL(all_sent(slow, &chain.target[0]));
	chain_close();
}

CT_TEST(chain, a_device_that_goes_ends_both_ends)
{
	struct chain_end *client, *target = &chain.target[0];
	struct chain_router *router = &chain.router[0];

	chain_open(1);
	client = chain_join();
	client->wanted = target->wanted = 1000;
	CHAIN_UNTIL(target->received > 20);
	frt_transit_ops.device_gone(&router->node, &router->device[0], FI_ESHUTDOWN);
	CHAIN_UNTIL(!client->peer && !target->peer);
	chain_close();
}

/* The other end, and no router, has failed. */
CT_TEST(chain, an_end_that_is_lost_is_told_without_a_router)
{
	struct chain_end *client, *target = &chain.target[0];
	struct rte_peer *peer;

	chain_open(2);
	client = chain_join();
	client->wanted = 20;
	CHAIN_UNTIL(client->sent == 20 && !client->flying);
	peer = client->peer;
	client->peer = NULL;
	rte_peer_close(peer, 0);
	CHAIN_UNTIL(target->shut);
	CT_EXPECT_EQ(target->received, 20);
	CT_EXPECT_EQ(target->status, FI_ECONNABORTED);
	CT_EXPECT_EQ(target->router, 0);
	chain_close();
}
