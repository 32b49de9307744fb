/* SPDX-License-Identifier: BSD-2-Clause */
/* Signs of life: prov/route/peer/life.c. The test, not the clock, says when a look is. */
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

/* No look of the clock's comes during a test. */
static const struct pair_attr slow = {.role = {RTE_CLIENT, RTE_ROUTER},
				      .lands = 32,
				      .heartbeat = 60000};
#define LOSS 3u /* looks without a sign of life, of the configuration's default */

static void look(struct rte_peer *peer, uint64_t late)
{
	struct rte_peer_inside *in = peer->in;

	in->heard = false;
	in->next_look = crn_now_ms() - late;
	in->deadline.expired(&in->deadline);
}

CT_FIXTURE(life, struct pair, NULL, pair_close);

/* Who was not there to hear the peer blames itself. */
CT_TEST_F(life, a_look_that_is_late_says_nothing)
{
	unsigned int i;

	pair_up(t, &slow);
	for (i = 0; i < 3 * LOSS; i++)
		look(t->a->peer, 60000);
	CT_EXPECT_EQ(t->a->peer->state, RTE_PEER_UP);
	/* From here on they are in time, and count. */
	for (i = 0; i < LOSS; i++)
		look(t->a->peer, 0);
	CT_EXPECT_EQ(t->a->peer->state, RTE_PEER_UP);
	look(t->a->peer, 60000);
	for (i = 0; i < LOSS; i++)
		look(t->a->peer, 0);
	CT_EXPECT_EQ(t->a->peer->state, RTE_PEER_UP);
	look(t->a->peer, 0);
	CT_EXPECT_EQ(t->a->peer->state, RTE_PEER_DOWN);
	PAIR_UNTIL(t, t->a->downs);
	pair_expect_left(t->a, FI_ETIMEDOUT);
}

/* A program that computes makes no progress: as long as its host is there nobody gives a
 * client or a target up. */
CT_TEST_F(life, only_routers_have_to_answer)
{
	static const enum rte_role roles[][PAIR_ENDS] = {
		{RTE_CLIENT, RTE_ROUTER},
		{RTE_ROUTER, RTE_CLIENT},
		{RTE_ROUTER, RTE_ROUTER},
		{RTE_CLIENT, RTE_CLIENT},
	};
	struct pair_attr attr = slow;
	struct rte_peer *peer;
	unsigned int i, j;
	int end;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		memcpy(attr.role, roles[i], sizeof(attr.role));
		for (end = 0; end < PAIR_ENDS; end++) {
			CT_NOTE("row %u, end %d", i, end);
			pair_up(t, &attr);
			peer = t->end[end].peer;
			for (j = 0; j <= LOSS; j++)
				look(peer, 0);
			CT_EXPECT_EQ(peer->state, attr.role[!end] == RTE_ROUTER
							  ? RTE_PEER_DOWN
							  : RTE_PEER_UP);
		}
	}
}

static bool is_probed(int fd, const void *what)
{
	const int *pause = what;
	int on = 0, value = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len) || !on)
		return false;
	len = sizeof(int);
	return !getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, &len) &&
	       value == *pause;
}

/* Three heartbeats have three pauses between probes, and one before them. */
CT_TEST_F(life, the_host_of_an_endpoint_is_probed)
{
	struct pair_attr attr = slow;
	const int pause = 45;

	pair_open(t, &attr);
	CT_EXPECT_EQ(socket_find(is_probed, &pause), -1);
	pair_connect(t);
	CT_EXPECT_TRUE(socket_find(is_probed, &pause) >= 0);
	attr.role[PAIR_A] = RTE_ROUTER;
	pair_up(t, &attr);
	CT_EXPECT_EQ(socket_find(is_probed, &pause), -1);
}

static void see_keepalive(struct front *front, uint8_t *bytes, size_t len)
{
	struct rte_keepalive keepalive;
	struct rte_packet packet;

	if (bytes[FRONT_TYPE] != RTE_KEEPALIVE)
		return;
	CT_ASSERT_EQ(rte_packet_parse(&packet, bytes, len), RTE_OK);
	CT_ASSERT_EQ(rte_keepalive_parse(&keepalive, &packet), RTE_OK);
	front->seen++;
	front->value = packet.head.flags & RTE_ACKREQ ? keepalive.stamp : keepalive.echo;
}

CT_TEST_F(life, who_is_asked_answers_with_the_stamp_that_asked)
{
	struct front asks = {.see = see_keepalive}, answers = {.see = see_keepalive};
	int i;

	pair_up(t, &slow);
	front_put(&asks, t->a->peer);
	front_put(&answers, t->b->peer);
	look(t->a->peer, 0);
	CT_EXPECT_EQ(asks.seen, 1);
	CT_EXPECT_NE(asks.value, 0);
	PAIR_UNTIL(t, answers.seen && t->a->peer->in->heard);
	CT_EXPECT_EQ(answers.value, asks.value);
	/* An answer is not answered, and not repeated with what is sent next. */
	rte_peer_expect(t->b->peer, RTE_REQUESTS, 1 << 20);
	PAIR_UNTIL(t, t->a->peer->in->outlet[RTE_REQUESTS].slots);
	for (i = 0; i < 20; i++)
		pair_turn(t);
	CT_EXPECT_EQ(asks.seen, 1);
	CT_EXPECT_EQ(answers.seen, 1);
}

/* Whoever has been heard is not asked. */
CT_TEST_F(life, who_was_heard_is_not_asked)
{
	struct front asks = {.see = see_keepalive};
	unsigned int i;

	pair_up(t, &slow);
	front_put(&asks, t->a->peer);
	for (i = 0; i < 2 * LOSS; i++) {
		t->a->peer->in->heard = true;
		t->a->peer->in->next_look = crn_now_ms();
		t->a->peer->in->deadline.expired(&t->a->peer->in->deadline);
	}
	CT_EXPECT_EQ(asks.seen, 0);
	CT_EXPECT_EQ(t->a->peer->state, RTE_PEER_UP);
}

/* Looks of all peers of a port are at the same times, however they began: a process with
 * many idle peers is woken for all of them at once. */
CT_TEST_F(life, peers_are_looked_at_together)
{
	/* A look each 45 s, at multiples of a quarter of that. */
	const uint64_t interval = 60000 * LOSS / (LOSS + 1), grid = interval / 4;
	uint64_t now;

	pair_up(t, &slow);
	now = crn_now_ms();
	CT_EXPECT_EQ(t->a->peer->in->next_look % grid, 0);
	CT_EXPECT_EQ(t->b->peer->in->next_look % grid, 0);
	/* The first is not too soon. */
	CT_EXPECT_GE(t->a->peer->in->next_look, now + interval - 1000);
	CT_EXPECT_LE(t->a->peer->in->next_look, now + interval + grid);
	look(t->a->peer, 0);
	CT_EXPECT_EQ(t->a->peer->in->next_look % grid, 0);
	CT_EXPECT_LE(t->a->peer->in->next_look, crn_now_ms() + interval);
}
