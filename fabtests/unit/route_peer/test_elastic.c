/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives that come and go: prov/route/peer/elastic.c. */
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

#define LEAST (RTE_LANES * RTE_RECEIVES_FIRST + PEER_SPARE)

static const struct pair_message one = {.seq = 1, .data = "x", .len = 1, .piece = 1};

static struct rte_inlet *inlet_of(struct pair_end *end)
{
	return &end->peer->in->inlet[RTE_REQUESTS].flow;
}

static struct rte_outlet *outlet_of(struct pair_end *end)
{
	return &end->peer->in->outlet[RTE_REQUESTS].flow;
}

static uint32_t taken(const struct pair_end *end)
{
	struct rte_arena_use use;

	rte_arena_use(end->arena, &use);
	return use.messages_taken;
}

/* All that A may send, and nobody takes it. */
static void flood(struct pair *pair, unsigned int count)
{
	struct pair_end *a = &pair->end[PAIR_A], *b = &pair->end[PAIR_B];
	const unsigned int until = b->messages + count;
	const uint64_t end = crn_now_ms() + 10000;
	unsigned int sent = 0;

	while (b->messages < until && crn_now_ms() < end) {
		if (sent < count)
			sent += pair_send(a, &one, NULL, NULL);
		pair_turn(pair);
	}
	CT_EXPECT_EQ(b->messages, until);
}

static void elastic_pair(struct pair *pair, uint32_t messages)
{
	pair_open(pair, &(struct pair_attr){.elastic = {true, true},
					    .messages = messages,
					    .role = {RTE_ROUTER, RTE_ROUTER}});
	pair_connect(pair);
}

CT_FIXTURE(elastic, struct pair, NULL, pair_close);

CT_TEST_F(elastic, a_peer_begins_with_one_receive_of_each_lane)
{
	elastic_pair(t, 0);
	CT_EXPECT_EQ(taken(t->a), LEAST);
	CT_EXPECT_EQ(taken(t->b), LEAST);
	CT_EXPECT_EQ(outlet_of(t->a)->credits, 1);
	CT_EXPECT_EQ(outlet_of(t->b)->credits, 1);
}

CT_TEST_F(elastic, who_has_connected_and_says_nothing_has_one)
{
	struct front front = {.swallow = true};

	pair_open(t, &(struct pair_attr){.elastic = {true, true},
					 .role = {RTE_ROUTER, RTE_ROUTER}});
	pair_begin(t);
	front_put(&front, t->a->peer);
	PAIR_UNTIL(t, front.sends);
	CT_EXPECT_EQ(taken(t->b), PEER_SPARE);
}

CT_TEST_F(elastic, a_lane_that_is_full_grows_to_its_most)
{
	elastic_pair(t, 0);
	flood(t, 12);
	PAIR_UNTIL(t, outlet_of(t->a)->receives == 12);
	CT_EXPECT_EQ(inlet_of(t->b)->receives, 12);
	CT_EXPECT_EQ(taken(t->b), LEAST + 11);
	CT_EXPECT_FALSE(pair_send(t->a, &one, NULL, NULL));
}

CT_TEST_F(elastic, who_waits_for_a_credit_is_told_of_more_receives)
{
	elastic_pair(t, 0);
	CT_EXPECT_TRUE(pair_send(t->a, &one, NULL, NULL));
	CT_EXPECT_FALSE(pair_send(t->a, &one, NULL, NULL));
	PAIR_UNTIL(t, t->a->readies);
	CT_EXPECT_TRUE(pair_send(t->a, &one, NULL, NULL));
}

CT_TEST_F(elastic, who_is_silent_gives_them_back)
{
	elastic_pair(t, 0);
	flood(t, 12);
	pair_put_all(t->b);
	PAIR_UNTIL(t, taken(t->b) == LEAST);
	CT_EXPECT_EQ(inlet_of(t->b)->receives, 1);
	PAIR_UNTIL(t, outlet_of(t->a)->receives == 1);
	PAIR_UNTIL(t, rte_peer_idle(t->a->peer));
	CT_EXPECT_TRUE(crn_list_empty(&t->b->port->grown));
	flood(t, 12);
}

/* A sender that has no credits cannot give any back until it has, and then it keeps
 * one. */
CT_TEST_F(elastic, what_is_held_is_given_back_later)
{
	elastic_pair(t, 0);
	flood(t, 12);
	PAIR_UNTIL(t, outlet_of(t->a)->asked == 11);
	CT_EXPECT_EQ(taken(t->b), LEAST + 11);
	pair_put_all(t->b);
	PAIR_UNTIL(t, taken(t->b) == LEAST);
	PAIR_UNTIL(t, outlet_of(t->a)->credits == 1);
}

CT_TEST_F(elastic, a_quarter_of_the_memory_is_left)
{
	elastic_pair(t, 12);
	flood(t, 7);
	CT_EXPECT_EQ(taken(t->b), 9);
	CT_EXPECT_EQ(inlet_of(t->b)->receives, 7);
	CT_EXPECT_FALSE(pair_send(t->a, &one, NULL, NULL));
}

/* Whatever the others have it for. */
CT_TEST_F(elastic, memory_that_is_in_use_is_none_to_grow_into)
{
	struct arena_buf *held[4];
	int i;

	elastic_pair(t, 12);
	for (i = 0; i < 4; i++) {
		held[i] = arena_get(t->b->arena, ARENA_MESSAGE);
		CT_ASSERT_NE(held[i], NULL);
	}
	flood(t, 3);
	CT_EXPECT_EQ(taken(t->b), 9);
	CT_EXPECT_EQ(inlet_of(t->b)->receives, 3);
	CT_EXPECT_FALSE(pair_send(t->a, &one, NULL, NULL));
	while (i)
		arena_put(t->b->arena, ARENA_MESSAGE, held[--i]);
}

/* 15 of 24 are left for those that want more: it, and three others. */
CT_TEST_F(elastic, each_that_wants_more_has_its_part)
{
	elastic_pair(t, 24);
	arena_grown(t->b->arena, 3);
	flood(t, 4);
	CT_EXPECT_EQ(inlet_of(t->b)->receives, 4);
	CT_EXPECT_FALSE(pair_send(t->a, &one, NULL, NULL));
	arena_grown(t->b->arena, -3);
}

CT_TEST_F(elastic, the_part_of_one_that_ends_is_free)
{
	elastic_pair(t, 24);
	arena_grown(t->b->arena, 1);
	flood(t, 4);
	CT_EXPECT_LE(arena_receives(t->b->arena), 8u);
	pair_put_all(t->b);
	rte_peer_close(t->b->peer, 0);
	t->b->peer = NULL;
	PAIR_UNTIL(t, arena_receives(t->b->arena) >= 16);
	arena_grown(t->b->arena, -1);
}

/* For peers that begin there are 7 of 8 receives. */
CT_TEST_F(elastic, there_is_room_for_so_many_peers)
{
	elastic_pair(t, 48);
	CT_EXPECT_EQ(taken(t->b), 3);
	CT_EXPECT_TRUE(rte_arena_room(t->b->arena, 13));
	CT_EXPECT_FALSE(rte_arena_room(t->b->arena, 14));
}

/* Of an older version, or with as many as the owner says. */
CT_TEST_F(elastic, a_peer_that_does_not_know_it_has_all_of_them)
{
	int which;

	for (which = 0; which < PAIR_ENDS; which++) {
		struct pair_attr attr = {.role = {RTE_ROUTER, RTE_ROUTER}};

		attr.elastic[which] = true;
		pair_up(t, &attr);
		CT_EXPECT_EQ(taken(t->a), 12 + 6 + PEER_SPARE);
		CT_EXPECT_EQ(taken(t->b), 12 + 6 + PEER_SPARE);
		CT_EXPECT_EQ(outlet_of(t->a)->credits, 12);
		CT_EXPECT_EQ(outlet_of(t->b)->credits, 12);
		flood(t, 12);
	}
}

static void tell(struct pair_end *end, const struct rte_receives *receives)
{
	struct rte_packet packet = {.head.type = RTE_RECEIVES};
	struct rte_tx *tx = rte_tx_get(end->peer, RTE_LANES, RTE_SMALL_ROOM);

	CT_ASSERT_NE(tx, NULL);
	tx->len = (size_t)rte_receives_pack(&packet, receives, tx->bytes, tx->room);
	rte_tx_post(tx);
}

CT_TEST_F(elastic, who_counts_wrong_is_left)
{
	static const struct rte_receives wrong[] = {
		{.more = 4096}, {.asked = 1}, {.given = 1}, {.lane = 1, .asked = 4096}};
	size_t i;

	for (i = 0; i < CRN_COUNT(wrong); i++) {
		CT_NOTE("%zu", i);
		elastic_pair(t, 0);
		tell(t->a, &wrong[i]);
		PAIR_UNTIL(t, t->b->downs);
		pair_expect_left(t->b, FI_EIO);
	}
}

CT_TEST_F(elastic, it_is_told_of_only_to_who_knows_it)
{
	pair_up(t, &(struct pair_attr){0});
	tell(t->a, &(struct rte_receives){.more = 1});
	PAIR_UNTIL(t, t->b->downs);
	pair_expect_left(t->b, FI_EIO);
}

/* Many peers come, use memory, and go. */
CT_TEST(arena, gives_memory_back_when_many_peers_have_gone)
{
	static const struct rte_arena_attr attr = {.land_size = 4096,
						   .lands = 16,
						   .messages = 4000};
	static struct arena_buf *held[4000];
	struct rte_arena_use use;
	struct rte_arena *arena;
	uint32_t i;

	CT_ASSERT_EQ(rte_arena_open(&attr, &arena), 0);
	arena_peers(arena, 200);
	for (i = 0; i < 4000; i++) {
		held[i] = arena_get(arena, ARENA_MESSAGE);
		CT_ASSERT_NE(held[i], NULL);
	}
	for (i = 0; i < 3000; i++)
		arena_put(arena, ARENA_MESSAGE, held[i]);
	arena_peers(arena, -99);
	rte_arena_use(arena, &use);
	CT_EXPECT_EQ(use.messages, 4000);
	arena_peers(arena, -1);
	/* What is in use stays, and is good. */
	rte_arena_use(arena, &use);
	CT_EXPECT_GE(use.messages, 1000);
	CT_EXPECT_LT(use.messages, 2000);
	CT_EXPECT_EQ(use.messages_taken, 1000);
	for (i = 3000; i < 4000; i++) {
		memset(held[i]->data, 1, 9000);
		arena_put(arena, ARENA_MESSAGE, held[i]);
	}
	arena_peers(arena, -100);
	rte_arena_use(arena, &use);
	CT_EXPECT_LE(use.bytes, 9u << 20);
	/* And it grows again. */
	for (i = 0; i < 4000; i++) {
		held[i] = arena_get(arena, ARENA_MESSAGE);
		CT_ASSERT_NE(held[i], NULL);
	}
	CT_EXPECT_EQ(arena_get(arena, ARENA_MESSAGE), NULL);
	rte_arena_close(arena);
}
