/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults that are injected: prov/route/peer/fault.c. */
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"
#include "peer/fault.h"

#define LATE 60u /* ms */

static struct rte_faults faults;

static uint32_t set(struct pair *pair, int end, const struct rte_fault *fault)
{
	struct rte_fault mine = *fault;
	uint32_t id;

	mine.chance = mine.chance ? mine.chance : RTE_FAULT_ALWAYS;
	id = rte_faults_add(&faults, &mine);
	rte_port_faults(pair->end[end].port, &faults);
	return id;
}

static void clear(struct pair *pair, int end)
{
	rte_faults_remove(&faults, 0);
	rte_port_faults(pair->end[end].port, &faults);
}

static void begin(struct pair *pair)
{
	rte_faults_init(&faults);
	pair_open(pair, &(struct pair_attr){.heartbeat = 60000});
	pair_connect(pair);
}

static unsigned int dones, errors;

static void count_done(struct rte_tx *tx, int err)
{
	dones++;
	errors += err != 0;
}

static void send_one(struct pair *pair, uint64_t seq)
{
	const struct pair_message one = {.seq = seq, .data = "x", .len = 1, .piece = 1};

	CT_ASSERT_TRUE(pair_send(&pair->end[PAIR_A], &one, count_done, NULL));
}

/* That arrived first, and is put. */
static uint64_t next_seq(struct pair_end *end)
{
	struct rte_rx *rx =
		crn_container_of(crn_list_pop(&end->rxs), struct rte_rx, entry);
	const uint64_t seq = rx->packet.head.seq;

	rte_rx_put(rx);
	return seq;
}

/* All credits of A's requests have come back, which KEEPALIVE tells at the latest. */
static bool credits_are_back(const struct pair *pair)
{
	const struct rte_inlet *inlet =
		&pair->end[PAIR_B].peer->in->inlet[RTE_REQUESTS].flow;

	return inlet->credits + inlet->due == inlet->receives;
}

CT_TEST(fault, what_is_dropped_when_it_arrives_is_not_heard_of_and_costs_no_credit)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN,
					.class = RTE_FAULT_DATA,
					.most = 2};
	struct pair_end *b;
	struct pair pair;
	uint64_t seq;

	begin(&pair);
	b = &pair.end[PAIR_B];
	set(&pair, PAIR_B, &fault);
	b->peer->in->heard = false;
	for (seq = 1; seq <= 2; seq++)
		send_one(&pair, seq);
	PAIR_UNTIL(&pair, faults.fault[0].hits == 2);
	CT_EXPECT_FALSE(b->peer->in->heard);
	send_one(&pair, 3);
	PAIR_UNTIL(&pair, b->messages);
	CT_EXPECT_EQ(b->messages, 1);
	CT_EXPECT_EQ(next_seq(b), 3);
	CT_EXPECT_EQ(b->downs, 0);
	CT_EXPECT_TRUE(credits_are_back(&pair));
	pair_close(&pair);
}

CT_TEST(fault, what_is_dropped_when_it_leaves_is_done_and_costs_no_credit)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_OUT,
					.class = RTE_FAULT_DATA,
					.most = 2};
	struct pair pair;

	begin(&pair);
	dones = errors = 0;
	set(&pair, PAIR_A, &fault);
	send_one(&pair, 1);
	/* Not before progress: the owner may be in the midst of something. */
	CT_EXPECT_EQ(dones, 0);
	send_one(&pair, 2);
	PAIR_UNTIL(&pair, dones == 2);
	CT_EXPECT_EQ(errors, 0);
	CT_EXPECT_TRUE(rte_peer_idle(pair.end[PAIR_A].peer));
	send_one(&pair, 3);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages);
	CT_EXPECT_EQ(next_seq(&pair.end[PAIR_B]), 3);
	pair_close(&pair);
}

static void late_in_order(int end, enum rte_fault_way way)
{
	const struct rte_fault fault = {.ways = way,
					.class = RTE_FAULT_DATA,
					.act = RTE_FAULT_DELAY,
					.delay = LATE,
					.most = 1};
	struct pair pair;
	uint64_t seq, began;

	begin(&pair);
	dones = errors = 0;
	set(&pair, end, &fault);
	began = crn_now_ms();
	for (seq = 1; seq <= 3; seq++)
		send_one(&pair, seq);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages == 3);
	CT_EXPECT_GE(crn_now_ms() - began, LATE);
	for (seq = 1; seq <= 3; seq++)
		CT_EXPECT_EQ(next_seq(&pair.end[PAIR_B]), seq);
	PAIR_UNTIL(&pair, dones == 3);
	CT_EXPECT_EQ(errors, 0);
	pair_close(&pair);
}

CT_TEST(fault, a_delay_keeps_the_order)
{
	late_in_order(PAIR_B, RTE_FAULT_IN);
	late_in_order(PAIR_A, RTE_FAULT_OUT);
}

static void nothing_lost(int end, enum rte_fault_way way)
{
	const struct rte_fault fault = {.ways = way, .act = RTE_FAULT_BLACKHOLE};
	struct pair_end *b;
	struct pair pair;
	uint64_t seq;
	int i;

	begin(&pair);
	b = &pair.end[PAIR_B];
	dones = errors = 0;
	set(&pair, end, &fault);
	for (i = 0; i < 4; i++)
		pair_turn(&pair);
	b->peer->in->heard = false;
	for (seq = 1; seq <= 5; seq++)
		send_one(&pair, seq);
	PAIR_UNTIL(&pair, faults.fault[0].hits >= 5);
	for (i = 0; i < 100; i++)
		pair_turn(&pair);
	CT_EXPECT_EQ(b->messages, 0);
	CT_EXPECT_FALSE(b->peer->in->heard);
	/* It may sleep meanwhile. */
	CT_EXPECT_EQ(rte_port_trywait(pair.end[end].port), 0);
	clear(&pair, end);
	PAIR_UNTIL(&pair, b->messages == 5);
	for (seq = 1; seq <= 5; seq++)
		CT_EXPECT_EQ(next_seq(b), seq);
	PAIR_UNTIL(&pair, dones == 5);
	CT_EXPECT_EQ(errors, 0);
	CT_EXPECT_TRUE(credits_are_back(&pair));
	/* The last message that was late has cost the port its faults. */
	PAIR_UNTIL(&pair, !pair.end[end].port->faults);
	pair_close(&pair);
}

CT_TEST(fault, a_blackhole_holds_everything_and_loses_nothing)
{
	nothing_lost(PAIR_B, RTE_FAULT_IN);
	nothing_lost(PAIR_A, RTE_FAULT_OUT);
}

/* Of a peer that has ended nothing is told any more. */
CT_TEST(fault, what_is_late_at_the_end_of_a_peer_is_gone)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN | RTE_FAULT_OUT,
					.act = RTE_FAULT_BLACKHOLE};
	struct pair pair;
	uint64_t seq;

	begin(&pair);
	dones = errors = 0;
	set(&pair, PAIR_A, &fault);
	set(&pair, PAIR_B, &fault);
	for (seq = 1; seq <= 5; seq++)
		send_one(&pair, seq);
	PAIR_UNTIL(&pair, faults.fault[0].hits >= 5);
	rte_peer_close(pair.end[PAIR_A].peer, 0);
	pair.end[PAIR_A].peer = NULL;
	CT_EXPECT_EQ(dones, 5);
	CT_EXPECT_EQ(errors, 5);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	clear(&pair, PAIR_B);
	pair_turn(&pair);
	CT_EXPECT_EQ(pair.end[PAIR_B].messages, 0);
	pair_close(&pair);
}

CT_TEST(fault, an_ack_that_is_duplicated_comes_twice)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_OUT,
					.class = RTE_FAULT_ACKS,
					.act = RTE_FAULT_DUPLICATE};
	struct rte_packet packet = {.head = {.type = RTE_ACK}};
	const struct rte_ack ack = {.request = 7};
	struct rte_tx *tx;
	struct pair pair;

	begin(&pair);
	set(&pair, PAIR_A, &fault);
	tx = rte_tx_get(pair.end[PAIR_A].peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	CT_ASSERT_NE(tx, NULL);
	tx->len = (size_t)rte_ack_pack(&packet, &ack, tx->bytes, tx->room);
	rte_tx_post(tx);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages == 2);
	CT_EXPECT_EQ(pair.end[PAIR_B].downs, 0);
	pair_close(&pair);
}

/* Which of the first 40 messages are dropped, as bits. */
static void dropped(uint64_t seed, uint64_t *out)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN,
					.class = RTE_FAULT_DATA,
					.chance = RTE_FAULT_ALWAYS / 2,
					.seed = seed};
	struct pair_end *b;
	struct pair pair;
	uint64_t seq, bits = 0;

	begin(&pair);
	b = &pair.end[PAIR_B];
	set(&pair, PAIR_B, &fault);
	for (seq = 0; seq < 40; seq++) {
		send_one(&pair, seq);
		PAIR_UNTIL(&pair, b->messages || faults.fault[0].hits);
		bits |= (uint64_t)(faults.fault[0].hits != 0) << seq;
		faults.fault[0].hits = 0;
		if (b->messages)
			CT_EXPECT_EQ(next_seq(b), seq);
		b->messages = 0;
	}
	pair_close(&pair);
	*out = bits;
}

CT_TEST(fault, a_seed_says_which_messages)
{
	uint64_t first = 0, again = 0, other = 0;

	dropped(1, &first);
	dropped(1, &again);
	dropped(2, &other);
	CT_EXPECT_NE(first, 0);
	CT_EXPECT_NE(first, (UINT64_C(1) << 40) - 1);
	CT_EXPECT_EQ(again, first);
	CT_EXPECT_NE(other, first);
}

CT_TEST(fault, is_of_the_messages_that_it_names_alone)
{
	struct rte_fault others[] = {
		{.ways = RTE_FAULT_OUT, .class = RTE_FAULT_DATA},
		{.ways = RTE_FAULT_IN, .class = RTE_FAULT_ACKS},
		{.ways = RTE_FAULT_IN, .device = "another"},
		{.ways = RTE_FAULT_IN, .router = 7},
		{.ways = RTE_FAULT_IN, .host.in = {.sin_family = AF_INET}},
	};
	struct pair_end *b;
	struct pair pair;
	unsigned int i;

	others[4].host.in.sin_addr.s_addr = htonl(0x0a000001);
	begin(&pair);
	b = &pair.end[PAIR_B];
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		set(&pair, PAIR_B, &others[i]);
	send_one(&pair, 1);
	PAIR_UNTIL(&pair, b->messages);
	for (i = 0; i < faults.count; i++)
		CT_EXPECT_EQ(faults.fault[i].hits, 0);
	others[4].host.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	set(&pair, PAIR_B, &others[4]);
	send_one(&pair, 2);
	PAIR_UNTIL(&pair, faults.fault[5].hits);
	CT_EXPECT_EQ(b->messages, 1);
	CT_EXPECT_TRUE(rte_faults_remove(&faults, faults.fault[5].id));
	CT_EXPECT_FALSE(rte_faults_remove(&faults, 99));
	CT_EXPECT_EQ(faults.count, 5);
	send_one(&pair, 3);
	PAIR_UNTIL(&pair, b->messages == 2);
	pair_close(&pair);
}

CT_TEST(fault, there_are_only_so_many)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN};
	uint32_t i;

	rte_faults_init(&faults);
	for (i = 0; i < RTE_FAULTS_MAX; i++)
		CT_EXPECT_EQ(rte_faults_add(&faults, &fault), i + 1);
	CT_EXPECT_EQ(rte_faults_add(&faults, &fault), 0);
}
