/* SPDX-License-Identifier: BSD-2-Clause */
/* Landing slots between two peers: prov/route/peer/grant.c. */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

#define SLOT 1024u /* bytes of each piece that goes through a slot */
#define SHARE 8u   /* slots that a lane has at most */
#define PIECES 64u /* of a message, and more than there are slots */

/* A long message on its way from A to B. */
struct way {
	struct pair pair;
	struct pair_end *a, *b;
	struct pair_message message;
	uint8_t data[RTE_EAGER + PIECES * SLOT];
};

static struct peer_outlet *outlet(struct way *way)
{
	return &way->a->peer->in->outlet[RTE_REQUESTS];
}

/* Its first piece has arrived and is put. */
static void way_begin(struct way *way)
{
	size_t i;

	for (i = 0; i < sizeof(way->data); i++)
		way->data[i] = (uint8_t)(i / SLOT + i);
	way->a = &way->pair.end[PAIR_A];
	way->b = &way->pair.end[PAIR_B];
	way->message = (struct pair_message){.seq = 1,
					     .data = way->data,
					     .len = sizeof(way->data),
					     .piece = RTE_EAGER};
	CT_ASSERT_TRUE(pair_send(way->a, &way->message, NULL, NULL));
	PAIR_UNTIL(&way->pair, way->b->messages);
	pair_put_all(way->b);
	way->message.offset = RTE_EAGER;
	way->message.piece = SLOT;
	way->message.slot = true;
}

/* And B has granted as many slots as there may be. */
static void way_open(struct way *way)
{
	pair_up(&way->pair, &(struct pair_attr){.lands = 32});
	way_begin(way);
	PAIR_UNTIL(&way->pair, outlet(way)->slots == SHARE);
}

static void way_close(struct way *way)
{
	pair_close(&way->pair);
}

CT_FIXTURE(slot, struct way, way_open, way_close);

/* The next piece, through a slot. False: there is none, or no credit. */
static bool way_next(struct way *way)
{
	if (!pair_send(way->a, &way->message, NULL, NULL))
		return false;
	way->message.offset += SLOT;
	return true;
}

static void turns(struct pair *pair)
{
	int i;

	for (i = 0; i < 20; i++)
		pair_turn(pair);
}

static void expect_payload(struct way *way, const struct rte_rx *rx)
{
	const uint64_t offset = crn_get_le64(rx->packet.bytes + 40);

	CT_EXPECT_EQ(rx->packet.head.plen, SLOT);
	CT_EXPECT_MEMEQ(rx->payload, way->data + offset, SLOT);
}

static void put_newest(struct pair_end *end)
{
	struct rte_rx *rx = crn_container_of(end->rxs.prev, struct rte_rx, entry);

	crn_list_del(&rx->entry);
	rte_rx_put(rx);
}

/* Fills all slots: each message keeps its own, and no more of them are granted. */
static void fill_all(struct way *way)
{
	struct crn_list *entry;
	unsigned int sent = way->b->messages;

	while (way_next(way))
		sent++;
	PAIR_UNTIL(&way->pair, way->b->messages == sent);
	turns(&way->pair);
	CT_EXPECT_EQ(outlet(way)->slots, 0);
	crn_list_for_each (entry, &way->b->rxs)
		expect_payload(way, crn_container_of(entry, struct rte_rx, entry));
}

CT_TEST_F(slot, is_granted_again_when_its_message_was_put)
{
	unsigned int round;

	fill_all(t);
	CT_EXPECT_EQ(t->b->messages, 1 + SHARE);
	/* Those that are free are granted again, the others are not. */
	for (round = 0; round < 12; round++) {
		put_newest(t->b);
		put_newest(t->b);
		PAIR_UNTIL(&t->pair,
			   outlet(t)->slots == 2 && outlet(t)->flow.credits >= 2);
		fill_all(t);
		CT_EXPECT_EQ(t->b->messages, 1 + SHARE + 2 * (round + 1));
	}
	pair_put_all(t->b);
	PAIR_UNTIL(&t->pair, outlet(t)->slots == SHARE);
	turns(&t->pair);
	CT_EXPECT_EQ(outlet(t)->slots, SHARE);
}

static void expect_left(struct way *way, unsigned int messages)
{
	struct pair_end *b = way->b;

	PAIR_UNTIL(&way->pair, b->downs || b->messages > messages);
	CT_EXPECT_EQ(b->messages, messages);
	pair_expect_left(b, FI_EIO);
}

CT_TEST_F(slot, is_not_filled_before_it_was_told)
{
	struct peer_outlet *out = outlet(t);

	t->b->peer->in->inlet[RTE_REQUESTS].land[out->slot[out->first].id].told = false;
	CT_ASSERT_TRUE(way_next(t));
	expect_left(t, 1);
}

CT_TEST_F(slot, is_not_filled_without_being_granted)
{
	struct peer_outlet *out = outlet(t);

	out->slot[out->first].id = SHARE;
	CT_ASSERT_TRUE(way_next(t));
	expect_left(t, 1);
}

CT_TEST_F(slot, is_filled_once)
{
	struct peer_outlet *out = outlet(t);
	const struct rte_grant_slot slot = out->slot[out->first];

	CT_ASSERT_TRUE(way_next(t));
	out->slot[out->first] = slot;
	CT_ASSERT_TRUE(way_next(t));
	expect_left(t, 2);
}

/* To send it on: the descriptor of where the payload is, the slot's or the message's. */
CT_TEST_F(slot, has_a_descriptor_of_its_own)
{
	struct rte_rx *rx;

	CT_ASSERT_TRUE(way_next(t));
	PAIR_UNTIL(&t->pair, t->b->messages == 2);
	rx = crn_container_of(t->b->rxs.next, struct rte_rx, entry);
	CT_ASSERT_NE(rx->in->land, NULL);
	CT_EXPECT_NE(arena_desc(rx->in->land, t->b->port),
		     arena_desc(rx->in->buf, t->b->port));
	CT_EXPECT_EQ(rte_rx_desc(rx, t->b->port), arena_desc(rx->in->land, t->b->port));
	t->message.slot = false;
	CT_ASSERT_TRUE(way_next(t));
	PAIR_UNTIL(&t->pair, t->b->messages == 3);
	rx = crn_container_of(t->b->rxs.prev, struct rte_rx, entry);
	CT_EXPECT_EQ(rte_rx_desc(rx, t->b->port), arena_desc(rx->in->buf, t->b->port));
}

/* What is dropped gives its slot back, as the next one. */
CT_TEST_F(slot, of_a_dropped_message_is_the_next)
{
	struct rte_tx *tx;
	uint32_t id;

	id = outlet(t)->slot[outlet(t)->first].id;
	tx = rte_tx_get(t->a->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	CT_ASSERT_NE(tx, NULL);
	CT_ASSERT_TRUE(rte_tx_slot(tx));
	CT_EXPECT_EQ(outlet(t)->slots, SHARE - 1);
	rte_tx_drop(tx);
	CT_EXPECT_EQ(outlet(t)->slots, SHARE);
	CT_EXPECT_EQ(outlet(t)->slot[outlet(t)->first].id, id);
}

/* As many slots as would be 0 in 32 bits. */
CT_TEST_F(slot, are_granted_for_whatever_is_to_come)
{
	pair_up(&t->pair, &(struct pair_attr){.lands = 32});
	rte_peer_expect(t->pair.b->peer, RTE_REQUESTS, UINT64_C(65536) << 32);
	PAIR_UNTIL(&t->pair, t->pair.a->peer->in->outlet[RTE_REQUESTS].slots == SHARE);
}

/* --- Quotas --- */

CT_TEST_F(slot, of_all_peers_together_are_no_more_than_the_quota)
{
	struct rte_quota quota = {.limit = 3};

	pair_up(&t->pair, &(struct pair_attr){.lands = 32});
	rte_peer_quota(t->pair.b->peer, &quota);
	way_begin(t);
	PAIR_UNTIL(&t->pair, outlet(t)->slots == 3);
	turns(&t->pair);
	CT_EXPECT_EQ(outlet(t)->slots, 3);
	CT_EXPECT_EQ(quota.used, 3);
	CT_EXPECT_GT(quota.reached, 0);
	/* One that is free again is granted again, and more of them with the limit. */
	CT_ASSERT_TRUE(way_next(t));
	PAIR_UNTIL(&t->pair, t->b->messages == 2);
	CT_EXPECT_EQ(quota.used, 3);
	quota.limit = 5;
	pair_put_all(t->b);
	PAIR_UNTIL(&t->pair, outlet(t)->slots == 5);
	CT_EXPECT_EQ(quota.used, 5);
	rte_peer_quota(t->b->peer, NULL);
	CT_EXPECT_EQ(quota.used, 0);
	rte_peer_quota(t->b->peer, &quota);
	CT_EXPECT_EQ(quota.used, 5);
	rte_peer_quota(t->b->peer, NULL);
}
