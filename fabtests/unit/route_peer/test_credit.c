/* SPDX-License-Identifier: BSD-2-Clause */
/* Credits between two peers: prov/route/peer/send.c and receive.c. */
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

static const struct pair_message one = {.seq = 1, .data = "x", .len = 1, .piece = 1};

CT_FIXTURE(credit, struct pair, NULL, pair_close);

CT_TEST_F(credit, what_is_dropped_costs_none)
{
	const struct pair_attr attr = {.receives = {2, 2}};
	struct rte_tx *tx[2];
	struct rte_peer *peer;
	int i;

	pair_up(t, &attr);
	peer = t->a->peer;
	for (i = 0; i < 2; i++) {
		tx[0] = rte_tx_get(peer, RTE_REQUESTS, RTE_SMALL_ROOM);
		tx[1] = rte_tx_get(peer, RTE_REQUESTS, RTE_SMALL_ROOM);
		CT_ASSERT_NE(tx[0], NULL);
		CT_ASSERT_NE(tx[1], NULL);
		CT_EXPECT_EQ(rte_tx_get(peer, RTE_REQUESTS, RTE_SMALL_ROOM), NULL);
		rte_tx_drop(tx[1]);
		rte_tx_drop(tx[0]);
	}
	CT_EXPECT_TRUE(rte_peer_idle(peer));
}

CT_TEST_F(credit, who_returns_more_than_it_has_received_is_left)
{
	pair_up(t, &(struct pair_attr){0});
	rte_inlet_empty(&t->a->peer->in->inlet[RTE_RESPONSES].flow);
	CT_ASSERT_TRUE(pair_send(t->a, &one, NULL, NULL));
	PAIR_UNTIL(t, t->b->downs || t->b->messages);
	CT_EXPECT_EQ(t->b->messages, 0);
	pair_expect_left(t->b, FI_EIO);
}

/* What a HELLO says of credits, and a lie in its place. */
static void see_hello(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] != RTE_HELLO)
		return;
	front->seen++;
	front->value = bytes[FRONT_CREDIT + RTE_REQUESTS];
	bytes[FRONT_CREDIT + RTE_REQUESTS] = 1;
}

CT_TEST_F(credit, before_HELLO_nobody_counts)
{
	struct front front = {.see = see_hello};

	pair_open(t, &(struct pair_attr){0});
	pair_begin(t);
	rte_inlet_empty(&t->a->peer->in->inlet[RTE_REQUESTS].flow);
	front_put(&front, t->a->peer);
	PAIR_UNTIL(t, (t->a->ups && t->b->ups) || t->b->downs);
	front_remove(&front);
	CT_EXPECT_EQ(front.seen, 1);
	CT_EXPECT_EQ(front.value, 0);
	CT_EXPECT_EQ(t->b->downs, 0);
	CT_EXPECT_TRUE(rte_peer_idle(t->b->peer));
	/* It is still to be told. */
	CT_EXPECT_EQ(rte_inlet_tell(&t->a->peer->in->inlet[RTE_REQUESTS].flow), 1);
}
