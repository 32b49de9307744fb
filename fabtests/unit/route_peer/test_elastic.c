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

CT_TEST(elastic, a_peer_begins_with_one_receive_of_each_lane)
{
	struct pair pair;

	elastic_pair(&pair, 0);
	CT_EXPECT_EQ(taken(&pair.end[PAIR_A]), LEAST);
	CT_EXPECT_EQ(taken(&pair.end[PAIR_B]), LEAST);
	CT_EXPECT_EQ(outlet_of(&pair.end[PAIR_A])->credits, 1);
	CT_EXPECT_EQ(outlet_of(&pair.end[PAIR_B])->credits, 1);
	pair_close(&pair);
}

CT_TEST(elastic, who_has_connected_and_says_nothing_has_one)
{
	struct front front = {.swallow = true};
	struct pair pair;

	pair_open(&pair, &(struct pair_attr){.elastic = {true, true},
					     .role = {RTE_ROUTER, RTE_ROUTER}});
	pair_begin(&pair);
	front_put(&front, pair.end[PAIR_A].peer);
	PAIR_UNTIL(&pair, front.sends);
	CT_EXPECT_EQ(taken(&pair.end[PAIR_B]), PEER_SPARE);
	front_remove(&front);
	pair_close(&pair);
}

CT_TEST(elastic, a_lane_that_is_full_grows_to_its_most)
{
	struct pair pair;

	elastic_pair(&pair, 0);
	flood(&pair, 12);
	PAIR_UNTIL(&pair, outlet_of(&pair.end[PAIR_A])->receives == 12);
	CT_EXPECT_EQ(inlet_of(&pair.end[PAIR_B])->receives, 12);
	CT_EXPECT_EQ(taken(&pair.end[PAIR_B]), LEAST + 11);
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	pair_close(&pair);
}

CT_TEST(elastic, who_waits_for_a_credit_is_told_of_more_receives)
{
	struct pair pair;

	elastic_pair(&pair, 0);
	CT_EXPECT_TRUE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_A].readies);
	CT_EXPECT_TRUE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	pair_close(&pair);
}

CT_TEST(elastic, who_is_silent_gives_them_back)
{
	struct pair_end *a, *b;
	struct pair pair;

	elastic_pair(&pair, 0);
	a = &pair.end[PAIR_A];
	b = &pair.end[PAIR_B];
	flood(&pair, 12);
	pair_put_all(b);
	PAIR_UNTIL(&pair, taken(b) == LEAST);
	CT_EXPECT_EQ(inlet_of(b)->receives, 1);
	PAIR_UNTIL(&pair, outlet_of(a)->receives == 1);
	PAIR_UNTIL(&pair, rte_peer_idle(a->peer));
	CT_EXPECT_TRUE(crn_list_empty(&b->port->grown));
	flood(&pair, 12);
	pair_close(&pair);
}

/* A sender that has no credits cannot give any back until it has, and then it keeps
 * one. */
CT_TEST(elastic, what_is_held_is_given_back_later)
{
	struct pair_end *a, *b;
	struct pair pair;

	elastic_pair(&pair, 0);
	a = &pair.end[PAIR_A];
	b = &pair.end[PAIR_B];
	flood(&pair, 12);
	PAIR_UNTIL(&pair, outlet_of(a)->asked == 11);
	CT_EXPECT_EQ(taken(b), LEAST + 11);
	pair_put_all(b);
	PAIR_UNTIL(&pair, taken(b) == LEAST);
	PAIR_UNTIL(&pair, outlet_of(a)->credits == 1);
	pair_close(&pair);
}

CT_TEST(elastic, a_quarter_of_the_memory_is_left)
{
	struct pair pair;

	elastic_pair(&pair, 12);
	flood(&pair, 7);
	CT_EXPECT_EQ(taken(&pair.end[PAIR_B]), 9);
	CT_EXPECT_EQ(inlet_of(&pair.end[PAIR_B])->receives, 7);
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	pair_close(&pair);
}

/* Whatever the others have it for. */
CT_TEST(elastic, memory_that_is_in_use_is_none_to_grow_into)
{
	struct arena_buf *held[4];
	struct pair_end *b;
	struct pair pair;
	int i;

	elastic_pair(&pair, 12);
	b = &pair.end[PAIR_B];
	for (i = 0; i < 4; i++) {
		held[i] = arena_get(b->arena, ARENA_MESSAGE);
		CT_ASSERT_NE(held[i], NULL);
	}
	flood(&pair, 3);
	CT_EXPECT_EQ(taken(b), 9);
	CT_EXPECT_EQ(inlet_of(b)->receives, 3);
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	while (i)
		arena_put(b->arena, ARENA_MESSAGE, held[--i]);
	pair_close(&pair);
}

/* 15 of 24 are left for those that want more: it, and three others. */
CT_TEST(elastic, each_that_wants_more_has_its_part)
{
	struct pair_end *b;
	struct pair pair;

	elastic_pair(&pair, 24);
	b = &pair.end[PAIR_B];
	arena_grown(b->arena, 3);
	flood(&pair, 4);
	CT_EXPECT_EQ(inlet_of(b)->receives, 4);
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &one, NULL, NULL));
	arena_grown(b->arena, -3);
	pair_close(&pair);
}

CT_TEST(elastic, the_part_of_one_that_ends_is_free)
{
	struct pair_end *b;
	struct pair pair;

	elastic_pair(&pair, 24);
	b = &pair.end[PAIR_B];
	arena_grown(b->arena, 1);
	flood(&pair, 4);
	CT_EXPECT_LE(arena_receives(b->arena), 8u);
	pair_put_all(b);
	rte_peer_close(b->peer, 0);
	b->peer = NULL;
	PAIR_UNTIL(&pair, arena_receives(b->arena) >= 16);
	arena_grown(b->arena, -1);
	pair_close(&pair);
}

/* For peers that begin there are 7 of 8 receives. */
CT_TEST(elastic, there_is_room_for_so_many_peers)
{
	struct pair pair;

	elastic_pair(&pair, 48);
	CT_EXPECT_EQ(taken(&pair.end[PAIR_B]), 3);
	CT_EXPECT_TRUE(rte_arena_room(pair.end[PAIR_B].arena, 13));
	CT_EXPECT_FALSE(rte_arena_room(pair.end[PAIR_B].arena, 14));
	pair_close(&pair);
}

/* Of an older version, or with as many as the owner says. */
CT_TEST(elastic, a_peer_that_does_not_know_it_has_all_of_them)
{
	int which;

	for (which = 0; which < PAIR_ENDS; which++) {
		struct pair pair;
		struct pair_attr attr = {.role = {RTE_ROUTER, RTE_ROUTER}};

		attr.elastic[which] = true;
		pair_open(&pair, &attr);
		pair_connect(&pair);
		CT_EXPECT_EQ(taken(&pair.end[PAIR_A]), 12 + 6 + PEER_SPARE);
		CT_EXPECT_EQ(taken(&pair.end[PAIR_B]), 12 + 6 + PEER_SPARE);
		CT_EXPECT_EQ(outlet_of(&pair.end[PAIR_A])->credits, 12);
		CT_EXPECT_EQ(outlet_of(&pair.end[PAIR_B])->credits, 12);
		flood(&pair, 12);
		pair_close(&pair);
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

CT_TEST(elastic, who_counts_wrong_is_left)
{
	static const struct rte_receives wrong[] = {
		{.more = 4096}, {.asked = 1}, {.given = 1}, {.lane = 1, .asked = 4096}};
	struct pair pair;
	size_t i;

	for (i = 0; i < CRN_COUNT(wrong); i++) {
		CT_NOTE("%zu", i);
		elastic_pair(&pair, 0);
		tell(&pair.end[PAIR_A], &wrong[i]);
		PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
		CT_EXPECT_EQ(pair.end[PAIR_B].err, FI_EIO);
		CT_EXPECT_STRSTR(pair.end[PAIR_B].log, "receives that there are not");
		pair_close(&pair);
	}
}

CT_TEST(elastic, it_is_told_of_only_to_who_knows_it)
{
	struct pair pair;

	pair_open(&pair, &(struct pair_attr){0});
	pair_connect(&pair);
	tell(&pair.end[PAIR_A], &(struct rte_receives){.more = 1});
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	CT_EXPECT_STRSTR(pair.end[PAIR_B].log, "RECEIVES out of turn");
	pair_close(&pair);
}
