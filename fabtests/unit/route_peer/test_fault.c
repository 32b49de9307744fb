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
static unsigned int dones, errors;

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
	dones = errors = 0;
	pair_up(pair, &(struct pair_attr){.heartbeat = 60000});
}

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

CT_FIXTURE(fault, struct pair, begin, pair_close);

CT_TEST_F(fault, what_is_dropped_when_it_arrives_is_not_heard_of_and_costs_no_credit)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN,
					.class = RTE_FAULT_DATA,
					.most = 2};
	uint64_t seq;

	set(t, PAIR_B, &fault);
	t->b->peer->in->heard = false;
	for (seq = 1; seq <= 2; seq++)
		send_one(t, seq);
	PAIR_UNTIL(t, faults.fault[0].hits == 2);
	CT_EXPECT_FALSE(t->b->peer->in->heard);
	send_one(t, 3);
	PAIR_UNTIL(t, t->b->messages);
	CT_EXPECT_EQ(t->b->messages, 1);
	CT_EXPECT_EQ(next_seq(t->b), 3);
	CT_EXPECT_EQ(t->b->downs, 0);
	CT_EXPECT_TRUE(credits_are_back(t));
}

CT_TEST_F(fault, what_is_dropped_when_it_leaves_is_done_and_costs_no_credit)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_OUT,
					.class = RTE_FAULT_DATA,
					.most = 2};

	set(t, PAIR_A, &fault);
	send_one(t, 1);
	/* Not before progress: the owner may be in the midst of something. */
	CT_EXPECT_EQ(dones, 0);
	send_one(t, 2);
	PAIR_UNTIL(t, dones == 2);
	CT_EXPECT_EQ(errors, 0);
	CT_EXPECT_TRUE(rte_peer_idle(t->a->peer));
	send_one(t, 3);
	PAIR_UNTIL(t, t->b->messages);
	CT_EXPECT_EQ(next_seq(t->b), 3);
}

static void late_in_order(struct pair *t, int end, enum rte_fault_way way)
{
	const struct rte_fault fault = {.ways = way,
					.class = RTE_FAULT_DATA,
					.act = RTE_FAULT_DELAY,
					.delay = LATE,
					.most = 1};
	uint64_t seq, began;

	begin(t);
	set(t, end, &fault);
	began = crn_now_ms();
	for (seq = 1; seq <= 3; seq++)
		send_one(t, seq);
	PAIR_UNTIL(t, t->b->messages == 3);
	CT_EXPECT_GE(crn_now_ms() - began, LATE);
	for (seq = 1; seq <= 3; seq++)
		CT_EXPECT_EQ(next_seq(t->b), seq);
	PAIR_UNTIL(t, dones == 3);
	CT_EXPECT_EQ(errors, 0);
}

CT_TEST_F(fault, a_delay_keeps_the_order)
{
	late_in_order(t, PAIR_B, RTE_FAULT_IN);
	late_in_order(t, PAIR_A, RTE_FAULT_OUT);
}

static void nothing_lost(struct pair *t, int end, enum rte_fault_way way)
{
	const struct rte_fault fault = {.ways = way, .act = RTE_FAULT_BLACKHOLE};
	uint64_t seq;
	int i;

	begin(t);
	set(t, end, &fault);
	for (i = 0; i < 4; i++)
		pair_turn(t);
	t->b->peer->in->heard = false;
	for (seq = 1; seq <= 5; seq++)
		send_one(t, seq);
	PAIR_UNTIL(t, faults.fault[0].hits >= 5);
	for (i = 0; i < 100; i++)
		pair_turn(t);
	CT_EXPECT_EQ(t->b->messages, 0);
	CT_EXPECT_FALSE(t->b->peer->in->heard);
	/* It may sleep meanwhile. */
	CT_EXPECT_EQ(rte_port_trywait(t->end[end].port), 0);
	clear(t, end);
	PAIR_UNTIL(t, t->b->messages == 5);
	for (seq = 1; seq <= 5; seq++)
		CT_EXPECT_EQ(next_seq(t->b), seq);
	PAIR_UNTIL(t, dones == 5);
	CT_EXPECT_EQ(errors, 0);
	CT_EXPECT_TRUE(credits_are_back(t));
	/* The last message that was late has cost the port its faults. */
	PAIR_UNTIL(t, !t->end[end].port->faults);
}

CT_TEST_F(fault, a_blackhole_holds_everything_and_loses_nothing)
{
	nothing_lost(t, PAIR_B, RTE_FAULT_IN);
	nothing_lost(t, PAIR_A, RTE_FAULT_OUT);
}

/* Of a peer that has ended nothing is told any more. */
CT_TEST_F(fault, what_is_late_at_the_end_of_a_peer_is_gone)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN | RTE_FAULT_OUT,
					.act = RTE_FAULT_BLACKHOLE};
	uint64_t seq;

	set(t, PAIR_A, &fault);
	set(t, PAIR_B, &fault);
	for (seq = 1; seq <= 5; seq++)
		send_one(t, seq);
	PAIR_UNTIL(t, faults.fault[0].hits >= 5);
	rte_peer_close(t->a->peer, 0);
	t->a->peer = NULL;
	CT_EXPECT_EQ(dones, 5);
	CT_EXPECT_EQ(errors, 5);
	PAIR_UNTIL(t, t->b->downs);
	clear(t, PAIR_B);
	pair_turn(t);
	CT_EXPECT_EQ(t->b->messages, 0);
}

CT_TEST_F(fault, an_ack_that_is_duplicated_comes_twice)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_OUT,
					.class = RTE_FAULT_ACKS,
					.act = RTE_FAULT_DUPLICATE};
	struct rte_packet packet = {.head = {.type = RTE_ACK}};
	const struct rte_ack ack = {.request = 7};
	struct rte_tx *tx;

	set(t, PAIR_A, &fault);
	tx = rte_tx_get(t->a->peer, RTE_RESPONSES, RTE_SMALL_ROOM);
	CT_ASSERT_NE(tx, NULL);
	tx->len = (size_t)rte_ack_pack(&packet, &ack, tx->bytes, tx->room);
	rte_tx_post(tx);
	PAIR_UNTIL(t, t->b->messages == 2);
	CT_EXPECT_EQ(t->b->downs, 0);
}

/* Which of the first 40 messages are dropped, as bits. */
static void dropped(struct pair *t, uint64_t seed, uint64_t *out)
{
	const struct rte_fault fault = {.ways = RTE_FAULT_IN,
					.class = RTE_FAULT_DATA,
					.chance = RTE_FAULT_ALWAYS / 2,
					.seed = seed};
	uint64_t seq, bits = 0;

	begin(t);
	set(t, PAIR_B, &fault);
	for (seq = 0; seq < 40; seq++) {
		send_one(t, seq);
		PAIR_UNTIL(t, t->b->messages || faults.fault[0].hits);
		bits |= (uint64_t)(faults.fault[0].hits != 0) << seq;
		faults.fault[0].hits = 0;
		if (t->b->messages)
			CT_EXPECT_EQ(next_seq(t->b), seq);
		t->b->messages = 0;
	}
	*out = bits;
}

CT_TEST_F(fault, a_seed_says_which_messages)
{
	uint64_t first = 0, again = 0, other = 0;

	dropped(t, 1, &first);
	dropped(t, 1, &again);
	dropped(t, 2, &other);
	CT_EXPECT_NE(first, 0);
	CT_EXPECT_NE(first, (UINT64_C(1) << 40) - 1);
	CT_EXPECT_EQ(again, first);
	CT_EXPECT_NE(other, first);
}

CT_TEST_F(fault, is_of_the_messages_that_it_names_alone)
{
	struct rte_fault others[] = {
		{.ways = RTE_FAULT_OUT, .class = RTE_FAULT_DATA},
		{.ways = RTE_FAULT_IN, .class = RTE_FAULT_ACKS},
		{.ways = RTE_FAULT_IN, .device = "another"},
		{.ways = RTE_FAULT_IN, .router = 7},
		{.ways = RTE_FAULT_IN, .host.in = {.sin_family = AF_INET}},
	};
	unsigned int i;

	others[4].host.in.sin_addr.s_addr = htonl(0x0a000001);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		set(t, PAIR_B, &others[i]);
	send_one(t, 1);
	PAIR_UNTIL(t, t->b->messages);
	for (i = 0; i < faults.count; i++)
		CT_EXPECT_EQ(faults.fault[i].hits, 0);
	others[4].host.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	set(t, PAIR_B, &others[4]);
	send_one(t, 2);
	PAIR_UNTIL(t, faults.fault[5].hits);
	CT_EXPECT_EQ(t->b->messages, 1);
	CT_EXPECT_TRUE(rte_faults_remove(&faults, faults.fault[5].id));
	CT_EXPECT_FALSE(rte_faults_remove(&faults, 99));
	CT_EXPECT_EQ(faults.count, 5);
	send_one(t, 3);
	PAIR_UNTIL(t, t->b->messages == 2);
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
