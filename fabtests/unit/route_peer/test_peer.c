/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers over provider tcp: prov/route/peer. */
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
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

CT_FIXTURE(peer, struct pair, NULL, pair_close);

CT_TEST_F(peer, each_end_learns_who_the_other_is)
{
	const struct pair_attr attr = {.role = {RTE_CLIENT, RTE_ROUTER}, .lands = 32};

	pair_up(t, &attr);
	CT_EXPECT_EQ(t->a->peer->remote.role, RTE_ROUTER);
	CT_EXPECT_EQ(t->a->peer->remote.node, 78);
	CT_EXPECT_EQ(t->b->peer->remote.role, RTE_CLIENT);
	CT_EXPECT_EQ(t->b->peer->remote.node, 77);
	CT_EXPECT_EQ(t->b->peer->hello.epoch, 5);
	CT_EXPECT_EQ(t->a->peer->frag_max, 65536);
	CT_EXPECT_STRSTR(t->b->peer->text, "first");
}

CT_TEST_F(peer, a_refused_connection_is_told_once)
{
	pair_open(t, &plain);
	t->refuse = true;
	pair_begin(t);
	PAIR_UNTIL(t, t->a->downs);
	CT_EXPECT_EQ(t->a->err, FI_ECONNREFUSED);
	pair_turn(t);
	CT_EXPECT_EQ(t->a->downs, 1);
	CT_EXPECT_EQ(t->a->ups, 0);
}

CT_TEST_F(peer, who_has_no_room_says_so_and_who_it_is)
{
	pair_open(t, &plain);
	t->full = true;
	pair_begin(t);
	PAIR_UNTIL(t, t->a->downs);
	CT_EXPECT_EQ(t->a->err, FI_ENOBUFS);
	CT_EXPECT_EQ(t->a->peer->remote.node, t->b->port->attr.self.node);
}

CT_TEST_F(peer, who_has_no_memory_for_a_peer_has_no_room)
{
	const struct pair_attr crowded = {.crowded = true};

	pair_open(t, &crowded);
	pair_begin(t);
	PAIR_UNTIL(t, t->a->downs);
	CT_EXPECT_EQ(t->a->err, FI_ENOBUFS);
}

CT_TEST_F(peer, a_message_arrives_as_it_was_sent)
{
	static const char data[] = "what a message says";
	const struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = sizeof(data)};
	struct rte_rx *rx;

	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, count_done, t->dones));
	PAIR_UNTIL(t, t->dones[0] && t->b->messages);
	rx = first_of(t->b);
	CT_EXPECT_EQ(rx->lane, RTE_REQUESTS);
	CT_EXPECT_EQ(rx->packet.head.seq, 1);
	CT_EXPECT_EQ(rx->packet.head.vc, 1);
	CT_EXPECT_EQ(rx->packet.head.plen, sizeof(data));
	CT_EXPECT_MEMEQ(rx->payload, data, sizeof(data));
	CT_EXPECT_EQ(t->dones[1], 0);
}

/* A lane that is not emptied takes as many as it has receives, and the other one goes on.
 */
CT_TEST_F(peer, a_full_lane_stops_its_sender_alone)
{
	const struct pair_attr attr = {.lands = 32, .receives = {3, 2}};
	struct pair_message message = {.data = "x", .len = 1, .piece = 1};
	int i;

	pair_up(t, &attr);
	for (i = 0; i < 3; i++) {
		message.seq++;
		CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	}
	CT_EXPECT_FALSE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->messages == 3);
	for (i = 0; i < 100; i++)
		pair_turn(t);
	CT_EXPECT_FALSE(pair_send(t->a, &message, NULL, NULL));
	CT_EXPECT_TRUE(rte_tx_may(t->a->peer, RTE_RESPONSES));
	CT_EXPECT_EQ(t->a->readies, 0);
	pair_put_all(t->b);
	PAIR_UNTIL(t, t->a->readies);
	CT_EXPECT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->messages == 4);
}

/* A long message is announced by its first piece, and gets slots for the others. */
CT_TEST_F(peer, a_long_message_goes_through_landing_slots)
{
	static uint8_t data[300000];
	struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = 8192};
	struct rte_rx *rx;
	size_t i, got = 0;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	message.slot = true;
	while (message.offset + message.piece < message.len) {
		message.offset += message.piece;
		message.piece = CRN_MIN(message.len - message.offset, (size_t)65536);
		PAIR_UNTIL(t, pair_send(t->a, &message, NULL, NULL));
	}
	while (got < sizeof(data)) {
		PAIR_UNTIL(t, first_of(t->b));
		rx = first_of(t->b);
		CT_EXPECT_MEMEQ(rx->payload, data + got, rx->packet.head.plen);
		got += rx->packet.head.plen;
		crn_list_del(&rx->entry);
		rte_rx_put(rx);
	}
}

CT_TEST_F(peer, without_landing_slots_there_are_messages)
{
	static uint8_t data[40000];
	const struct pair_attr attr = {.lands = 0};
	struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = 8000};
	int i;

	pair_up(t, &attr);
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->messages);
	for (i = 0; i < 100; i++)
		pair_turn(t);
	message.offset = 8000;
	message.slot = true;
	CT_EXPECT_FALSE(pair_send(t->a, &message, NULL, NULL));
	message.slot = false;
	CT_EXPECT_TRUE(pair_send(t->a, &message, NULL, NULL));
}

CT_TEST_F(peer, what_breaks_the_protocol_is_left)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct rte_tx *tx;

	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	tx = rte_tx_get(t->a->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	CT_ASSERT_NE(tx, NULL);
	memset(tx->bytes, 0xff, 64);
	tx->len = 64;
	rte_tx_post(tx);
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->b->messages, 1);
	pair_expect_left(t->b, FI_EIO);
	pair_put_all(t->b);
	rte_peer_close(t->b->peer, 0);
	t->b->peer = NULL;
	PAIR_UNTIL(t, t->a->downs);
}

/* The slot is there again when the connection is over: pair_close looks. */
CT_TEST_F(peer, more_than_a_landing_slot_has_room_for_is_refused)
{
	static uint8_t data[RTE_EAGER];
	const struct pair_message message = {
		.seq = 1, .data = data, .len = 1 << 20, .piece = sizeof(data)};
	struct rte_packet packet = {
		.head = {.type = RTE_MSG, .plen = 65536 + 8, .seq = 1}};
	const struct rte_msg msg = {.length = 1 << 20, .offset = sizeof(data)};
	struct rte_tx *tx = NULL;

	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	while (!tx) {
		pair_turn(t);
		tx = rte_tx_get(t->a->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
		if (tx && !rte_tx_slot(tx)) {
			rte_tx_drop(tx);
			tx = NULL;
		}
	}
	tx->len = (size_t)rte_msg_pack(&packet, &msg, tx->bytes, tx->room);
	rte_tx_post(tx);
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->b->err, FI_EIO);
	CT_EXPECT_EQ(t->b->messages, 1);
}

/* Its requests are all kept, and its end is noticed nevertheless. */
CT_TEST_F(peer, more_messages_than_credits_are_refused)
{
	const struct pair_attr attr = {.lands = 32, .receives = {3, 3}};
	struct pair_message message = {.data = "x", .len = 1, .piece = 1};

	pair_up(t, &attr);
	for (message.seq = 1; message.seq <= 3; message.seq++)
		CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->messages == 3);
	CT_EXPECT_FALSE(pair_send(t->a, &message, NULL, NULL));
	t->a->peer->in->outlet[RTE_REQUESTS].flow.credits = 1;
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->b->err, FI_EIO);
	CT_EXPECT_EQ(t->b->messages, 3);
}

CT_TEST_F(peer, who_closes_is_missed_after_its_last_message)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};

	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, count_done, t->dones));
	PAIR_UNTIL(t, t->dones[0]);
	rte_peer_close(t->a->peer, 0);
	t->a->peer = NULL;
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->b->messages, 1);
	CT_EXPECT_EQ(t->b->err, FI_ECONNABORTED);
	CT_EXPECT_EQ(t->a->downs, 0);
}

/* What is kept outlives the connection. */
CT_TEST_F(peer, what_arrived_stays_until_it_is_put)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct rte_rx *rx;

	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(t, t->b->messages);
	rte_peer_close(t->b->peer, 0);
	t->b->peer = NULL;
	pair_turn(t);
	CT_EXPECT_EQ(rte_port_close(t->b->port), -FI_EBUSY);
	rx = first_of(t->b);
	CT_EXPECT_MEMEQ(rx->payload, "abc", 3);
}

/* done comes once for each message that was posted, whatever becomes of it. */
CT_TEST_F(peer, closing_ends_what_was_posted)
{
	static uint8_t data[8000];
	struct pair_message message = {.data = data,
				       .len = sizeof(data),
				       .piece = sizeof(data)};
	int sent = 0;

	pair_up(t, &plain);
	for (message.seq = 1; message.seq < 9; message.seq++)
		sent += pair_send(t->a, &message, count_done, t->dones);
	rte_peer_close(t->a->peer, 0);
	t->a->peer = NULL;
	CT_EXPECT_EQ(t->dones[0] + t->dones[1], sent);
	PAIR_UNTIL(t, t->b->downs);
	CT_EXPECT_EQ(t->dones[0] + t->dones[1], sent);
}

/* A router that says nothing any more is given up; a client never is. */
CT_TEST_F(peer, a_silent_router_is_given_up)
{
	const struct pair_attr attr = {.role = {RTE_CLIENT, RTE_ROUTER},
				       .lands = 32,
				       .heartbeat = 20};
	const uint64_t begin = crn_now_ms();

	pair_up(t, &attr);
	while (crn_now_ms() < begin + 300)
		pair_turn(t);
	CT_EXPECT_EQ(t->a->downs, 0);
	CT_ASSERT_SOON((rte_port_progress(t->a->port), t->a->downs));
	CT_EXPECT_EQ(t->a->err, FI_ETIMEDOUT);
	CT_EXPECT_EQ(t->b->downs, 0);
}

CT_TEST_F(peer, who_sleeps_is_woken)
{
	struct pair_message message = {.seq = 1, .data = "abc", .len = 3, .piece = 3};
	struct pollfd fds[RTE_PORT_FDS];
	int fd[RTE_PORT_FDS], i;

	pair_up(t, &plain);
	CT_ASSERT_EQ(rte_port_fds(t->b->port, fd), 0);
	for (i = 0; i < RTE_PORT_FDS; i++)
		fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
	while (rte_port_progress(t->b->port) > 0)
		;
	CT_ASSERT_EQ(rte_port_trywait(t->b->port), 0);
	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	/* Asked again, it has not forgotten. */
	CT_EXPECT_EQ(rte_port_trywait(t->b->port), 0);
	CT_EXPECT_TRUE(poll(fds, RTE_PORT_FDS, 5000) > 0);
	CT_EXPECT_SOON((rte_port_progress(t->b->port), t->b->messages));
	/* Who has looked meanwhile has to ask. */
	for (i = 0; i < 8 && rte_port_trywait(t->b->port) != -FI_EAGAIN; i++) {
		rte_port_progress(t->b->port);
		message.seq++;
		CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	}
	CT_EXPECT_TRUE(i < 8);
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

CT_TEST_F(peer, what_is_put_off_is_asked_for_in_the_same_round)
{
	static const struct rte_peer_ops ops = {.message = message_later,
						.ready = ready_now};
	struct pair_message message = {.data = "abc", .len = 3, .piece = 3};
	const struct rte_peer_ops *before;
	int i;

	pair_up(t, &plain);
	before = t->b->peer->ops;
	t->b->peer->ops = &ops;
	for (i = 0; i < 1000 && puts_off < 3; i++) {
		message.seq++;
		pair_send(t->a, &message, NULL, NULL);
		if (i % 4)
			continue;
		rte_port_progress(t->b->port);
		CT_EXPECT_EQ(put_off, false);
		rte_port_progress(t->a->port);
	}
	CT_EXPECT_TRUE(puts_off >= 3);
	/* Nothing else is under way outside of progress. */
	CT_EXPECT_EQ(rte_peer_later(t->b->peer), false);
	t->b->peer->ops = before;
}

CT_FIXTURE(arena, struct pair, NULL, pair_close);

CT_TEST_F(arena, has_bounds_and_serves_who_waits)
{
	const struct pair_attr attr = {.lands = 32, .messages = 50};
	struct pair_message message = {.data = "x", .len = 1, .piece = 1};
	struct rte_arena_use use;
	int sent = 0;

	pair_up(t, &attr);
	for (message.seq = 1; pair_send(t->a, &message, NULL, NULL);)
		message.seq++, sent++;
	rte_arena_use(t->a->arena, &use);
	CT_EXPECT_LE(use.messages, 50);
	PAIR_UNTIL(t, t->b->messages == (unsigned int)sent);
	pair_put_all(t->b);
	PAIR_UNTIL(t, t->a->readies);
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

CT_TEST_F(peer, a_connection_that_cannot_begin_leaves_others_their_order)
{
	static struct rte_peer_ops ops;
	int i;

	pair_up(t, &plain);
	memset(&begun, 0, sizeof(begun));
	begun.pair = t;
	begun.order = true;
	ops = *t->b->peer->ops;
	ops.message = message_begins;
	t->b->peer->ops = &ops;
	for (i = 0; i < 1000 && !begun.ret; i++) {
		begun_send();
		begun_send();
		pair_turn(t);
	}
	CT_EXPECT_NE(begun.ret, 0);
	PAIR_UNTIL(t, begun.count == begun.sent);
	CT_EXPECT_TRUE(begun.order);
	CT_EXPECT_EQ(t->b->downs, 0);
	CT_EXPECT_TRUE(crn_list_empty(&t->b->port->zombies));
}

/* Neither does it make progress for others, nor is it left behind. */
CT_TEST_F(peer, a_connection_that_cannot_begin_calls_nobody)
{
	const struct pair_message message = {
		.seq = 1, .data = "abc", .len = 3, .piece = 3};
	int i;

	pair_up(t, &plain);
	CT_ASSERT_TRUE(pair_send(t->a, &message, count_done, t->dones));
	CT_ASSERT_SOON((rte_port_progress(t->a->port), t->dones[0]));
	for (i = 0; i < 3; i++)
		CT_EXPECT_LT(begin_nowhere(t->b->port), 0);
	CT_EXPECT_EQ(t->b->messages, 0);
	/* Who sleeps then is woken for what is left of it. */
	CT_EXPECT_TRUE(crn_deadline_pending(&t->b->port->kick));
	rte_port_progress(t->b->port);
	CT_EXPECT_TRUE(crn_list_empty(&t->b->port->zombies));
	PAIR_UNTIL(t, t->b->messages == 1);
	CT_EXPECT_EQ(t->b->downs, 0);
	CT_EXPECT_LT(begin_nowhere(t->b->port), 0);
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

static bool listens(int fd, const void *what)
{
	int on = 0;
	socklen_t len = sizeof(on);

	(void)what;
	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) && on;
}

/* What connects to b is accepted before it has sent anything. */
static void at_once(struct pair *pair)
{
	const int off = 0, fd = socket_find(listens, NULL);

	CT_ASSERT_NE(pair->listener, NULL);
	CT_ASSERT_GE(fd, 0);
	CT_EXPECT_EQ(setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &off, sizeof(off)), 0);
}

static int mute(const struct pair *pair)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CT_EXPECT_EQ(connect(fd, &pair->address.sa, sizeof(pair->address.in)), 0);
	return fd;
}

CT_TEST_F(peer, a_socket_that_says_nothing_is_closed_with_its_other_end)
{
	int before, fd;

	pair_open(t, &plain);
	at_once(t);
	before = descriptors();
	fd = mute(t);
	PAIR_UNTIL(t, (turn_with_errno(t), descriptors() == before + 2));
	close(fd);
	PAIR_UNTIL(t, (turn_with_errno(t), descriptors() == before));
}

CT_TEST_F(peer, a_socket_that_says_nothing_is_not_accepted_at_first)
{
	int before, fd, i;

	pair_open(t, &plain);
	before = descriptors();
	fd = mute(t);
	for (i = 0; i < 100; i++)
		pair_turn(t);
	CT_EXPECT_EQ(descriptors(), before + 1);
	close(fd);
}

CT_TEST_F(peer, a_socket_that_says_nothing_is_shut_down_and_no_other)
{
	union crn_addr last;
	int before, fd;
	char byte;

	pair_open(t, &plain);
	at_once(t);
	pair_connect(t);
	before = descriptors();
	CT_EXPECT_EQ(rte_listener_sweep(t->listener, 0, &last), 0);
	fd = mute(t);
	PAIR_UNTIL(t, (turn_with_errno(t), descriptors() == before + 2));
	CT_EXPECT_EQ(rte_listener_sweep(t->listener, 60000, &last), 0);
	CT_EXPECT_EQ(rte_listener_sweep(t->listener, 0, &last), 1);
	CT_EXPECT_TRUE(crn_addr_is_loopback(&last.sa));
	/* The lower provider closes it. */
	PAIR_UNTIL(t, (turn_with_errno(t), descriptors() == before + 1));
	CT_EXPECT_EQ(recv(fd, &byte, 1, 0), 0);
	CT_EXPECT_EQ(rte_listener_sweep(t->listener, 0, &last), 0);
	close(fd);
	CT_EXPECT_EQ(t->a->downs + t->b->downs, 0);
}
