/* SPDX-License-Identifier: BSD-2-Clause */
/* The first and the last message of a peer, and the version between them. */
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

static const struct pair_attr plain = {.lands = 32};

struct shut {
	struct pair pair;
	struct front front;
	struct rte_peer_ops ops;
};

static void tear_down(struct shut *t)
{
	pair_close(&t->pair);
}

CT_FIXTURE(end, struct shut, NULL, tear_down);

/* A peer that says BYE is gone, although its lower connection stays. */
CT_TEST_F(end, a_BYE_is_one)
{
	const struct rte_bye bye = {0};
	struct rte_packet packet = {.head.type = RTE_BYE};
	struct pair *pair = &t->pair;
	struct rte_tx *tx;

	pair_up(pair, &plain);
	tx = send_control(pair->a->peer);
	CT_ASSERT_NE(tx, NULL);
	tx->len = (size_t)rte_bye_pack(&packet, &bye, tx->bytes, tx->room);
	rte_tx_post(tx);
	PAIR_UNTIL(pair, pair->b->downs);
	CT_EXPECT_EQ(pair->b->err, FI_ECONNABORTED);
	CT_EXPECT_EQ(pair->a->downs, 0);
}

static void see_type(struct front *front, uint8_t *bytes, size_t len)
{
	if (bytes[FRONT_TYPE] == front->type)
		front->seen++;
}

/*
 * The endpoint is closed upon its completion: what was injected may not have left by
 * then.
 */
CT_TEST_F(end, a_BYE_is_not_injected)
{
	struct front front = {.see = see_type, .type = RTE_BYE};
	struct pair *pair = &t->pair;

	pair_up(pair, &plain);
	front_put(&front, pair->a->peer);
	/* The message is short enough. */
	CT_EXPECT_GE(pair->a->port->lower_inject, RTE_HEAD_LEN + 8);
	front.swallow = true;
	rte_peer_close(pair->a->peer, 0);
	CT_EXPECT_EQ(front.seen, 1);
	CT_EXPECT_EQ(front.injects, 0);
	CT_EXPECT_EQ(pair->a->peer->in->txs_used, 1);
	front_remove(&front);
	pair->a->peer = NULL;
}

/* A peer of the port is closed, and the other end says nothing. */
static struct rte_port *left(struct pair *pair)
{
	struct pair_end *a = &pair->end[PAIR_A];
	struct rte_port *port;

	pair_up(pair, &plain);
	port = a->port;
	rte_peer_close(a->peer, 0);
	a->peer = NULL;
	a->port = NULL;
	return port;
}

/* However many ports are closed, they wait once, all of them at a time. */
CT_TEST(end, ports_linger_together)
{
	struct rte_port *ports[4];
	struct pair pair[4] = {0};
	uint32_t i;

	for (i = 0; i < 4; i++)
		ports[i] = left(&pair[i]);
	rte_ports_linger(ports, 4);
	for (i = 0; i < 4; i++) {
		CT_EXPECT_TRUE(ports[i]->lingered);
		CT_EXPECT_EQ(rte_port_close(ports[i]), 0);
	}
	for (i = 0; i < 4; i++)
		pair_close(&pair[i]);
}

CT_TEST_F(end, nothing_is_taken_before_HELLO)
{
	const struct pair_message message = {
		.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct front front = {.see = see_type, .type = RTE_HELLO, .swallow = true};
	struct pair *pair = &t->pair;

	pair_open(pair, &plain);
	pair_begin(pair);
	front_put(&front, pair->a->peer);
	PAIR_UNTIL(pair, front.seen && pair->b->peer);
	front_remove(&front);
	/* It goes on as if it had heard the answer. */
	pair->a->peer->state = RTE_PEER_UP;
	rte_outlet_open(&pair->a->peer->in->outlet[RTE_REQUESTS].flow, 1);
	CT_ASSERT_TRUE(pair_send(pair->a, &message, NULL, NULL));
	PAIR_UNTIL(pair, pair->b->downs || pair->b->messages);
	CT_EXPECT_EQ(pair->b->messages, 0);
	pair_expect_left(pair->b, FI_EIO);
}

/* What both speak, of one that speaks more than this one. */
CT_TEST_F(end, the_lower_minor_version_is_spoken)
{
	uint8_t bytes[RTE_PREAMBLE_LEN];
	struct rte_preamble newer;
	struct front front = {.swallow = true};
	struct pair *pair = &t->pair;

	pair_open(pair, &plain);
	pair_begin(pair);
	front_put(&front, pair->a->peer);
	newer = port_preamble(pair->b->port, RTE_TARGET);
	newer.minor_max = RTE_MINOR + 9;
	rte_preamble_pack(&newer, bytes);
	peer_connected(pair->a->peer, bytes, sizeof(bytes));
	CT_EXPECT_EQ(pair->a->peer->state, RTE_PEER_GREETING);
	CT_EXPECT_EQ(pair->a->peer->remote.minor_max, RTE_MINOR + 9);
	CT_EXPECT_EQ(pair->a->peer->minor, RTE_MINOR);
}

/* --- The lower endpoint is shut, and its event was not read yet --- */

/* What B does with a message. */
static void message_put(struct rte_peer *peer, struct rte_rx *rx)
{
	((struct pair_end *)peer->user)->messages++;
	rte_rx_put(rx);
}

static bool answer(struct pair_end *end)
{
	const struct pair_message message = {
		.seq = 1, .data = "abc", .len = 3, .piece = 3};

	return pair_send(end, &message, NULL, NULL);
}

static void message_answer(struct rte_peer *peer, struct rte_rx *rx)
{
	message_put(peer, rx);
	CT_EXPECT_TRUE(answer(peer->user));
}

/* Two that are up; B's endpoint refuses from now on what front says, and A has sent
 * three messages. */
static void shut_open(struct shut *shut, struct front front,
		      void (*message)(struct rte_peer *peer, struct rte_rx *rx))
{
	struct pair_message sent = {.data = "abc", .len = 3, .piece = 3};

	pair_up(&shut->pair, &plain);
	shut->ops = *shut->pair.b->peer->ops;
	shut->ops.message = message;
	shut->pair.b->peer->ops = &shut->ops;
	shut->front = front;
	front_put(&shut->front, shut->pair.b->peer);
	for (sent.seq = 1; sent.seq <= 3; sent.seq++)
		CT_ASSERT_TRUE(pair_send(shut->pair.a, &sent, NULL, NULL));
}

/* A says its last, and B hears of it behind all that came before. */
static void shut_expect_all(struct shut *shut)
{
	PAIR_UNTIL(&shut->pair, shut->pair.b->messages == 3 || shut->pair.b->downs);
	rte_peer_close(shut->pair.a->peer, 0);
	shut->pair.a->peer = NULL;
	PAIR_UNTIL(&shut->pair, shut->pair.b->downs);
	CT_EXPECT_EQ(shut->pair.b->messages, 3);
	CT_EXPECT_EQ(shut->pair.b->downs, 1);
	CT_EXPECT_EQ(shut->pair.b->err, FI_ECONNABORTED);
}

CT_TEST_F(end, what_arrived_is_heard_though_no_receive_can_be_posted)
{
	static const ssize_t codes[] = {-FI_ESHUTDOWN, -FI_ENOTCONN};
	size_t i;

	for (i = 0; i < 2; i++) {
		shut_open(t, (struct front){.recv = codes[i]}, message_put);
		shut_expect_all(t);
		CT_EXPECT_GE(t->front.recvs, 3);
	}
}

CT_TEST_F(end, what_arrived_is_heard_though_nothing_can_be_sent)
{
	shut_open(t, (struct front){.send = -FI_ESHUTDOWN}, message_answer);
	shut_expect_all(t);
	CT_EXPECT_GE(t->front.sends, 1);
}

CT_TEST_F(end, what_arrived_is_heard_though_nothing_can_be_sent_any_more)
{
	shut_open(t, (struct front){.send = -FI_EAGAIN}, message_put);
	CT_ASSERT_TRUE(answer(t->pair.b));
	t->front.send = -FI_ESHUTDOWN;
	shut_expect_all(t);
}

/* Neither does it keep its owner awake until then. */
CT_TEST_F(end, of_an_event_that_does_not_come_a_peer_ends_nevertheless)
{
	const uint64_t begin = crn_now_ms();

	shut_open(t, (struct front){.recv = -FI_ESHUTDOWN, .send = -FI_ESHUTDOWN},
		  message_answer);
	PAIR_UNTIL(&t->pair, t->pair.b->messages == 3);
	rte_port_progress(t->pair.b->port);
	CT_EXPECT_TRUE(crn_list_empty(&t->pair.b->port->due));
	PAIR_UNTIL(&t->pair, t->pair.b->downs);
	CT_EXPECT_EQ(t->pair.b->err, FI_ESHUTDOWN);
	CT_EXPECT_GE(crn_now_ms() - begin, RTE_PEER_LINGER);
}

CT_TEST_F(end, who_closes_what_is_shut_waits_for_nothing)
{
	shut_open(t, (struct front){.recv = -FI_ESHUTDOWN}, message_put);
	PAIR_UNTIL(&t->pair, t->pair.b->messages == 3);
	front_remove(&t->front);
	rte_peer_close(t->pair.b->peer, 0);
	t->pair.b->peer = NULL;
	CT_EXPECT_TRUE(crn_list_empty(&t->pair.b->port->zombies));
}
