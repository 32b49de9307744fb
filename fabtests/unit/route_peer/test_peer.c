/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers over provider tcp: prov/route/peer. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "pair.h"
#include "peer/inside.h"

static const struct pair_attr plain = {.lands = 32};

static struct rte_rx *first_of(struct pair_end *end)
{
	return crn_list_empty(&end->rxs)
		       ? NULL
		       : crn_container_of(end->rxs.next, struct rte_rx, entry);
}

static void count_done(struct rte_tx *tx, int err)
{
	int *counts = tx->user;

	counts[err ? 1 : 0]++;
}

CT_TEST(peer, each_end_learns_who_the_other_is)
{
	const struct pair_attr attr = {.role = {RTE_CLIENT, RTE_ROUTER}, .lands = 32};
	struct pair pair;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	CT_EXPECT_EQ(pair.end[PAIR_A].peer->remote.role, RTE_ROUTER);
	CT_EXPECT_EQ(pair.end[PAIR_A].peer->remote.node, 78);
	CT_EXPECT_EQ(pair.end[PAIR_B].peer->remote.role, RTE_CLIENT);
	CT_EXPECT_EQ(pair.end[PAIR_B].peer->remote.node, 77);
	CT_EXPECT_EQ(pair.end[PAIR_B].peer->hello.epoch, 5);
	CT_EXPECT_EQ(pair.end[PAIR_A].peer->frag_max, 65536);
	CT_EXPECT_STRSTR(pair.end[PAIR_B].peer->text, "first");
	pair_close(&pair);
}

CT_TEST(peer, a_refused_connection_is_told_once)
{
	struct pair pair;

	pair_open(&pair, &plain);
	pair.refuse = true;
	pair_begin(&pair);
	PAIR_UNTIL(&pair, pair.end[PAIR_A].downs);
	CT_EXPECT_EQ(pair.end[PAIR_A].err, FI_ECONNREFUSED);
	pair_turn(&pair);
	CT_EXPECT_EQ(pair.end[PAIR_A].downs, 1);
	CT_EXPECT_EQ(pair.end[PAIR_A].ups, 0);
	pair_close(&pair);
}

CT_TEST(peer, who_has_no_room_says_so_and_who_it_is)
{
	struct pair pair;

	pair_open(&pair, &plain);
	pair.full = true;
	pair_begin(&pair);
	PAIR_UNTIL(&pair, pair.end[PAIR_A].downs);
	CT_EXPECT_EQ(pair.end[PAIR_A].err, FI_ENOBUFS);
	CT_EXPECT_EQ(pair.end[PAIR_A].peer->remote.node,
		     pair.end[PAIR_B].port->attr.self.node);
	pair_close(&pair);
}

CT_TEST(peer, who_has_no_memory_for_a_peer_has_no_room)
{
	const struct pair_attr crowded = {.crowded = true};
	struct pair pair;

	pair_open(&pair, &crowded);
	pair_begin(&pair);
	PAIR_UNTIL(&pair, pair.end[PAIR_A].downs);
	CT_EXPECT_EQ(pair.end[PAIR_A].err, FI_ENOBUFS);
	pair_close(&pair);
}

CT_TEST(peer, a_message_arrives_as_it_was_sent)
{
	static const char data[] = "what a message says";
	const struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = sizeof(data)};
	int counts[2] = {0};
	struct pair pair;
	struct rte_rx *rx;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, count_done, counts));
	PAIR_UNTIL(&pair, counts[0] && pair.end[PAIR_B].messages);
	rx = first_of(&pair.end[PAIR_B]);
	CT_EXPECT_EQ(rx->lane, RTE_REQUESTS);
	CT_EXPECT_EQ(rx->packet.head.seq, 1);
	CT_EXPECT_EQ(rx->packet.head.vc, 1);
	CT_EXPECT_EQ(rx->packet.head.plen, sizeof(data));
	CT_EXPECT_MEMEQ(rx->payload, data, sizeof(data));
	CT_EXPECT_EQ(counts[1], 0);
	pair_close(&pair);
}

/* A lane that is not emptied takes as many as it has receives, and the other one goes on.
 */
CT_TEST(peer, a_full_lane_stops_its_sender_alone)
{
	const struct pair_attr attr = {.lands = 32, .receives = {3, 2}};
	struct pair_message message = {.data = "x", .len = 1, .piece = 1};
	struct pair pair;
	int i;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	for (i = 0; i < 3; i++) {
		message.seq++;
		CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	}
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages == 3);
	for (i = 0; i < 100; i++)
		pair_turn(&pair);
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	CT_EXPECT_TRUE(rte_tx_may(pair.end[PAIR_A].peer, RTE_RESPONSES));
	CT_EXPECT_EQ(pair.end[PAIR_A].readies, 0);
	pair_put_all(&pair.end[PAIR_B]);
	PAIR_UNTIL(&pair, pair.end[PAIR_A].readies);
	CT_EXPECT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages == 4);
	pair_close(&pair);
}

/* A long message is announced by its first piece, and gets slots for the others. */
CT_TEST(peer, a_long_message_goes_through_landing_slots)
{
	static uint8_t data[300000];
	struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = 8192};
	struct pair pair;
	struct rte_rx *rx;
	size_t i, got = 0;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	pair_open(&pair, &plain);
	pair_connect(&pair);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	message.slot = true;
	while (message.offset + message.piece < message.len) {
		message.offset += message.piece;
		message.piece = CRN_MIN(message.len - message.offset, (size_t)65536);
		PAIR_UNTIL(&pair, pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	}
	while (got < sizeof(data)) {
		PAIR_UNTIL(&pair, first_of(&pair.end[PAIR_B]));
		rx = first_of(&pair.end[PAIR_B]);
		CT_EXPECT_MEMEQ(rx->payload, data + got, rx->packet.head.plen);
		got += rx->packet.head.plen;
		crn_list_del(&rx->entry);
		rte_rx_put(rx);
	}
	pair_close(&pair);
}

CT_TEST(peer, without_landing_slots_there_are_messages)
{
	static uint8_t data[40000];
	const struct pair_attr attr = {.lands = 0};
	struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = 8000};
	struct pair pair;
	int i;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages);
	for (i = 0; i < 100; i++)
		pair_turn(&pair);
	message.offset = 8000;
	message.slot = true;
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	message.slot = false;
	CT_EXPECT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	pair_close(&pair);
}

CT_TEST(peer, what_breaks_the_protocol_is_left)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct rte_tx *tx;
	struct pair pair;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	tx = rte_tx_get(pair.end[PAIR_A].peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	CT_ASSERT_NE(tx, NULL);
	memset(tx->bytes, 0xff, 64);
	tx->len = 64;
	rte_tx_post(tx);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	CT_EXPECT_EQ(pair.end[PAIR_B].err, FI_EIO);
	CT_EXPECT_EQ(pair.end[PAIR_B].messages, 1);
	CT_EXPECT_STRSTR(pair.end[PAIR_B].log, "breaks the protocol");
	pair_put_all(&pair.end[PAIR_B]);
	rte_peer_close(pair.end[PAIR_B].peer, 0);
	pair.end[PAIR_B].peer = NULL;
	PAIR_UNTIL(&pair, pair.end[PAIR_A].downs);
	pair_close(&pair);
}

/* The slot is there again when the connection is over: pair_close looks. */
CT_TEST(peer, more_than_a_landing_slot_has_room_for_is_refused)
{
	static uint8_t data[RTE_EAGER];
	const struct pair_message message = {
		.seq = 1, .data = data, .len = 1 << 20, .piece = sizeof(data)};
	struct pair_end *a;
	struct rte_packet packet = {
		.head = {.type = RTE_MSG, .plen = 65536 + 8, .seq = 1}};
	const struct rte_msg msg = {.length = 1 << 20, .offset = sizeof(data)};
	struct rte_tx *tx = NULL;
	struct pair pair;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	a = &pair.end[PAIR_A];
	CT_ASSERT_TRUE(pair_send(a, &message, NULL, NULL));
	while (!tx) {
		pair_turn(&pair);
		tx = rte_tx_get(a->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
		if (tx && !rte_tx_slot(tx)) {
			rte_tx_drop(tx);
			tx = NULL;
		}
	}
	tx->len = (size_t)rte_msg_pack(&packet, &msg, tx->bytes, tx->room);
	rte_tx_post(tx);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	CT_EXPECT_EQ(pair.end[PAIR_B].err, FI_EIO);
	CT_EXPECT_EQ(pair.end[PAIR_B].messages, 1);
	pair_close(&pair);
}

/* Its requests are all kept, and its end is noticed nevertheless. */
CT_TEST(peer, more_messages_than_credits_are_refused)
{
	const struct pair_attr attr = {.lands = 32, .receives = {3, 3}};
	struct pair_message message = {.data = "x", .len = 1, .piece = 1};
	struct pair pair;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	for (message.seq = 1; message.seq <= 3; message.seq++)
		CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages == 3);
	CT_EXPECT_FALSE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	pair.end[PAIR_A].peer->in->outlet[RTE_REQUESTS].flow.credits = 1;
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	CT_EXPECT_EQ(pair.end[PAIR_B].err, FI_EIO);
	CT_EXPECT_EQ(pair.end[PAIR_B].messages, 3);
	pair_close(&pair);
}

CT_TEST(peer, who_closes_is_missed_after_its_last_message)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	int counts[2] = {0};
	struct pair pair;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, count_done, counts));
	PAIR_UNTIL(&pair, counts[0]);
	rte_peer_close(pair.end[PAIR_A].peer, 0);
	pair.end[PAIR_A].peer = NULL;
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	CT_EXPECT_EQ(pair.end[PAIR_B].messages, 1);
	CT_EXPECT_EQ(pair.end[PAIR_B].err, FI_ECONNABORTED);
	CT_EXPECT_EQ(pair.end[PAIR_A].downs, 0);
	pair_close(&pair);
}

/* What is kept outlives the connection. */
CT_TEST(peer, what_arrived_stays_until_it_is_put)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct pair pair;
	struct rte_rx *rx;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages);
	rte_peer_close(pair.end[PAIR_B].peer, 0);
	pair.end[PAIR_B].peer = NULL;
	pair_turn(&pair);
	CT_EXPECT_EQ(rte_port_close(pair.end[PAIR_B].port), -FI_EBUSY);
	rx = first_of(&pair.end[PAIR_B]);
	CT_EXPECT_MEMEQ(rx->payload, "abc", 3);
	pair_close(&pair);
}

/* done comes once for each message that was posted, whatever becomes of it. */
CT_TEST(peer, closing_ends_what_was_posted)
{
	static uint8_t data[8000];
	struct pair_message message = {.data = data,
				       .len = sizeof(data),
				       .piece = sizeof(data)};
	int counts[2] = {0}, sent = 0;
	struct pair pair;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	for (message.seq = 1; message.seq < 9; message.seq++)
		sent += pair_send(&pair.end[PAIR_A], &message, count_done, counts);
	rte_peer_close(pair.end[PAIR_A].peer, 0);
	pair.end[PAIR_A].peer = NULL;
	CT_EXPECT_EQ(counts[0] + counts[1], sent);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].downs);
	CT_EXPECT_EQ(counts[0] + counts[1], sent);
	pair_close(&pair);
}

/* A router that says nothing any more is given up; a client never is. */
CT_TEST(peer, a_silent_router_is_given_up)
{
	const struct pair_attr attr = {.role = {RTE_CLIENT, RTE_ROUTER},
				       .lands = 32,
				       .heartbeat = 20};
	const uint64_t begin = crn_now_ms();
	struct pair pair;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	while (crn_now_ms() < begin + 300)
		pair_turn(&pair);
	CT_EXPECT_EQ(pair.end[PAIR_A].downs, 0);
	CT_ASSERT_SOON(
		(rte_port_progress(pair.end[PAIR_A].port), pair.end[PAIR_A].downs));
	CT_EXPECT_EQ(pair.end[PAIR_A].err, FI_ETIMEDOUT);
	CT_EXPECT_EQ(pair.end[PAIR_B].downs, 0);
	pair_close(&pair);
}

CT_TEST(peer, who_sleeps_is_woken)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct pollfd fds[RTE_PORT_FDS];
	int fd[RTE_PORT_FDS], i;
	struct pair_end *b;
	struct pair pair;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	b = &pair.end[PAIR_B];
	CT_ASSERT_EQ(rte_port_fds(b->port, fd), 0);
	for (i = 0; i < RTE_PORT_FDS; i++)
		fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
	while (rte_port_progress(b->port) > 0)
		;
	CT_ASSERT_EQ(rte_port_trywait(b->port), 0);
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	/* Asked again, it has not forgotten. */
	CT_EXPECT_EQ(rte_port_trywait(b->port), 0);
	CT_EXPECT_TRUE(poll(fds, RTE_PORT_FDS, 5000) > 0);
	CT_EXPECT_SOON((rte_port_progress(b->port), b->messages));
	/* Who has looked meanwhile has to ask. */
	for (i = 0; i < 8 && rte_port_trywait(b->port) != -FI_EAGAIN; i++) {
		rte_port_progress(b->port);
		message.seq++;
		CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, NULL, NULL));
	}
	CT_EXPECT_TRUE(i < 8);
	pair_close(&pair);
}

/* What was put off in a callback, and how often. */
static bool put_off;
static unsigned int puts_off;

static void message_later(struct rte_peer *peer, struct rte_rx *rx)
{
	rte_rx_put(rx);
	if (!rte_peer_later(peer))
		return;
	put_off = true;
	puts_off++;
}

static void ready_now(struct rte_peer *peer)
{
	put_off = false;
}

CT_TEST(peer, what_is_put_off_is_asked_for_in_the_same_round)
{
	static const struct rte_peer_ops ops = {.message = message_later,
						.ready = ready_now};
	struct pair_message message = {.data = "abc", .len = 3, .piece = 3};
	const struct rte_peer_ops *before;
	struct pair_end *a, *b;
	struct pair pair;
	int i;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	a = &pair.end[PAIR_A];
	b = &pair.end[PAIR_B];
	before = b->peer->ops;
	b->peer->ops = &ops;
	for (i = 0; i < 1000 && puts_off < 3; i++) {
		message.seq++;
		pair_send(a, &message, NULL, NULL);
		if (i % 4)
			continue;
		rte_port_progress(b->port);
		CT_EXPECT_EQ(put_off, false);
		rte_port_progress(a->port);
	}
	CT_EXPECT_TRUE(puts_off >= 3);
	/* Nothing else is under way outside of progress. */
	CT_EXPECT_EQ(rte_peer_later(b->peer), false);
	b->peer->ops = before;
	pair_close(&pair);
}

CT_TEST(arena, has_bounds_and_serves_who_waits)
{
	const struct pair_attr attr = {.lands = 32, .messages = 50};
	struct pair_message message = {.data = "x", .len = 1, .piece = 1};
	struct rte_arena_use use;
	struct pair pair;
	int sent = 0;

	pair_open(&pair, &attr);
	pair_connect(&pair);
	for (message.seq = 1; pair_send(&pair.end[PAIR_A], &message, NULL, NULL);)
		message.seq++, sent++;
	rte_arena_use(pair.end[PAIR_A].arena, &use);
	CT_EXPECT_LE(use.messages, 50);
	PAIR_UNTIL(&pair, pair.end[PAIR_B].messages == (unsigned int)sent);
	pair_put_all(&pair.end[PAIR_B]);
	PAIR_UNTIL(&pair, pair.end[PAIR_A].readies);
	pair_close(&pair);
}

/* --- A connection that cannot even begin --- */

/* In B's callback for a message behind which the same round has another one. */
static struct {
	struct pair *pair;
	uint64_t sent, heard; /* numbers */
	unsigned int count;   /* of those that were heard */
	bool order;
	int ret; /* of rte_peer_connect */
} begun;

static void begun_send(void)
{
	const struct pair_message message = {
		.seq = begun.sent + 1, .data = "abc", .len = 3, .piece = 3};

	begun.sent += pair_send(&begun.pair->end[PAIR_A], &message, NULL, NULL);
}

/* connect(2) refuses it at once. */
static int begin_nowhere(struct rte_port *port)
{
	static const struct rte_peer_ops ops;
	const union crn_addr nowhere = {.in = {.sin_family = AF_INET,
					       .sin_port = htons(9),
					       .sin_addr.s_addr = INADDR_BROADCAST}};
	struct rte_peer *peer;

	return rte_peer_connect(port, &nowhere.sa, 0, &ops, NULL, &peer);
}

static void message_begins(struct rte_peer *peer, struct rte_rx *rx)
{
	begun.order = begun.order && rx->packet.head.seq == begun.heard + 1;
	begun.heard = rx->packet.head.seq;
	begun.count++;
	rte_rx_put(rx);
	if (begun.ret || !peer->port->more)
		return;
	begun_send();
	begun.ret = begin_nowhere(peer->port);
	CT_EXPECT_LT(begun.ret, 0);
}

CT_TEST(peer, a_connection_that_cannot_begin_leaves_others_their_order)
{
	struct rte_peer_ops ops;
	struct pair pair;
	struct pair_end *b;
	int i;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	memset(&begun, 0, sizeof(begun));
	begun.pair = &pair;
	begun.order = true;
	b = &pair.end[PAIR_B];
	ops = *b->peer->ops;
	ops.message = message_begins;
	b->peer->ops = &ops;
	for (i = 0; i < 1000 && !begun.ret; i++) {
		begun_send();
		begun_send();
		pair_turn(&pair);
	}
	CT_EXPECT_NE(begun.ret, 0);
	PAIR_UNTIL(&pair, begun.count == begun.sent);
	CT_EXPECT_TRUE(begun.order);
	CT_EXPECT_EQ(b->downs, 0);
	CT_EXPECT_TRUE(crn_list_empty(&b->port->zombies));
	pair_close(&pair);
}

/* Neither does it make progress for others, nor is it left behind. */
CT_TEST(peer, a_connection_that_cannot_begin_calls_nobody)
{
	const struct pair_message message = {
		.seq = 1, .data = "abc", .len = 3, .piece = 3};
	int counts[2] = {0}, i;
	struct pair pair;
	struct pair_end *b;

	pair_open(&pair, &plain);
	pair_connect(&pair);
	b = &pair.end[PAIR_B];
	CT_ASSERT_TRUE(pair_send(&pair.end[PAIR_A], &message, count_done, counts));
	CT_ASSERT_SOON((rte_port_progress(pair.end[PAIR_A].port), counts[0]));
	for (i = 0; i < 3; i++)
		CT_EXPECT_LT(begin_nowhere(b->port), 0);
	CT_EXPECT_EQ(b->messages, 0);
	/* Who sleeps then is woken for what is left of it. */
	CT_EXPECT_TRUE(crn_deadline_pending(&b->port->kick));
	rte_port_progress(b->port);
	CT_EXPECT_TRUE(crn_list_empty(&b->port->zombies));
	PAIR_UNTIL(&pair, b->messages == 1);
	CT_EXPECT_EQ(b->downs, 0);
	CT_EXPECT_LT(begin_nowhere(b->port), 0);
	pair_close(&pair);
}

/* --- Who says nothing --- */

static int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* The result of another call, which failed before, is not taken for one of its socket. */
static void turn_with_errno(struct pair *pair)
{
	errno = EAGAIN;
	pair_turn(pair);
}

CT_TEST(peer, a_socket_that_says_nothing_is_closed_with_its_other_end)
{
	struct pair pair;
	int before, fd;

	pair_open(&pair, &plain);
	before = descriptors();
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CT_ASSERT_EQ(connect(fd, &pair.address.sa, sizeof(pair.address.in)), 0);
	PAIR_UNTIL(&pair, (turn_with_errno(&pair), descriptors() == before + 2));
	close(fd);
	PAIR_UNTIL(&pair, (turn_with_errno(&pair), descriptors() == before));
	pair_close(&pair);
}
