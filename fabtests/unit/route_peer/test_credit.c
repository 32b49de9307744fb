/* SPDX-License-Identifier: BSD-2-Clause */
/* Credits between two peers: prov/route/peer/send.c and receive.c. */
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

static const struct pair_message one = {.seq = 1, .data = "x", .len = 1, .piece = 1};

CT_TEST(credit, what_is_dropped_costs_none)
{
	const struct pair_attr attr = {.receives = {2, 2}};
	struct rte_tx *tx[2];
	struct rte_peer *peer;
	struct pair pair;
	int i;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	peer = pair.end[PAIR_A].peer;
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
	pair_close(&pair);
}

CT_TEST(credit, who_returns_more_than_it_has_received_is_left)
{
	struct pair_end *a, *b;
	struct pair pair;

	pair_open(&pair, &(struct pair_attr){0});
	pair_connect(&pair);
	a = &pair.end[PAIR_A];
	b = &pair.end[PAIR_B];
	rte_inlet_empty(&a->peer->in->inlet[RTE_RESPONSES].flow);
	CT_ASSERT_TRUE(pair_send(a, &one, NULL, NULL));
	PAIR_UNTIL(&pair, b->downs || b->messages);
	CT_EXPECT_EQ(b->err, FI_EIO);
	CT_EXPECT_EQ(b->messages, 0);
	CT_EXPECT_STRSTR(b->log, "more credits than there are");
	pair_close(&pair);
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

CT_TEST(credit, before_HELLO_nobody_counts)
{
	struct front front = {.see = see_hello};
	struct pair_end *a, *b;
	struct pair pair;

	pair_open(&pair, &(struct pair_attr){0});
	pair_begin(&pair);
	a = &pair.end[PAIR_A];
	b = &pair.end[PAIR_B];
	rte_inlet_empty(&a->peer->in->inlet[RTE_REQUESTS].flow);
	front_put(&front, a->peer);
	PAIR_UNTIL(&pair, (a->ups && b->ups) || b->downs);
	front_remove(&front);
	CT_EXPECT_EQ(front.seen, 1);
	CT_EXPECT_EQ(front.value, 0);
	CT_EXPECT_EQ(b->downs, 0);
	CT_EXPECT_TRUE(rte_peer_idle(b->peer));
	/* It is still to be told. */
	CT_EXPECT_EQ(rte_inlet_tell(&a->peer->in->inlet[RTE_REQUESTS].flow), 1);
	pair_close(&pair);
}
