/* SPDX-License-Identifier: BSD-2-Clause */
/* What the lower provider does not take at once: prov/route/peer/send.c. */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "cairn_test.h"
#include "front.h"

/* Of a length that is worth landing slots. */
static uint8_t data[4 * RTE_EAGER];

/* Two that are up, with something in front of A. */
struct stuck {
	struct pair pair;
	struct front front;
	struct pair_end *a, *b;
	int counts[2]; /* of done: without an error, with one */
	int err;       /* the last one */
};

static void stuck_close(struct stuck *stuck)
{
	pair_close(&stuck->pair);
}

static void stuck_open_with(struct stuck *stuck, const struct pair_attr *attr)
{
	stuck_close(stuck);
	*stuck = (struct stuck){0};
	pair_up(&stuck->pair, attr);
	stuck->a = &stuck->pair.end[PAIR_A];
	stuck->b = &stuck->pair.end[PAIR_B];
	front_put(&stuck->front, stuck->a->peer);
}

static void stuck_open(struct stuck *stuck)
{
	stuck_open_with(stuck, &(struct pair_attr){.lands = 32});
}

static void turns(struct stuck *stuck)
{
	int i;

	for (i = 0; i < 20; i++)
		pair_turn(&stuck->pair);
}

static void note_done(struct rte_tx *tx, int err)
{
	struct stuck *stuck = tx->user;

	stuck->counts[err ? 1 : 0]++;
	stuck->err = err ? err : stuck->err;
}

static bool post(struct stuck *stuck, uint64_t seq)
{
	const struct pair_message message = {
		.seq = seq, .data = data, .len = 8, .piece = 8};

	return pair_send(stuck->a, &message, note_done, stuck);
}

static void expect_in_order(struct stuck *stuck, unsigned int count)
{
	struct crn_list *entry;
	uint64_t seq = 1;

	PAIR_UNTIL(&stuck->pair, stuck->b->messages == count);
	crn_list_for_each (entry, &stuck->b->rxs)
		CT_EXPECT_EQ(
			crn_container_of(entry, struct rte_rx, entry)->packet.head.seq,
			seq++);
}

/* Its payload is packed with it. */
static void post_packed(struct pair_end *end, uint64_t seq)
{
	const struct rte_packet packet = {.head = {.type = RTE_MSG,
						   .flags = RTE_FIRST | RTE_LAST,
						   .plen = 5,
						   .seq = seq}};
	const struct rte_msg msg = {.slot = RTE_SLOT_NONE, .length = 5};
	struct rte_tx *tx = rte_tx_get(end->peer, RTE_REQUESTS, RTE_SMALL_ROOM);

	CT_ASSERT_NE(tx, NULL);
	tx->len = (size_t)rte_msg_pack(&packet, &msg, tx->bytes, tx->room);
	memcpy(tx->bytes + tx->len, data, 5);
	tx->len += 5;
	rte_tx_post(tx);
}

CT_FIXTURE(send, struct stuck, stuck_open, stuck_close);

CT_TEST_F(send, payload_is_counted_wherever_it_is)
{
	CT_EXPECT_TRUE(post(t, 1));
	post_packed(t->a, 2);
	expect_in_order(t, 2);
	CT_EXPECT_EQ(t->a->peer->stats_tx_bytes, 13);
	CT_EXPECT_EQ(t->b->peer->stats_rx_bytes, 13);
}

CT_TEST_F(send, what_is_stuck_keeps_its_order)
{
	uint64_t seq;

	t->front.send = -FI_EAGAIN;
	for (seq = 1; seq <= 4; seq++)
		CT_ASSERT_TRUE(post(t, seq));
	turns(t);
	CT_EXPECT_EQ(t->b->messages, 0);
	CT_EXPECT_EQ(t->a->downs, 0);
	t->front.send = 0;
	expect_in_order(t, 4);
	PAIR_UNTIL(&t->pair, t->counts[0] == 4);
}

CT_TEST_F(send, nothing_overtakes_what_is_stuck)
{
	struct rte_tx *direct;

	t->front.send = -FI_EAGAIN;
	CT_ASSERT_TRUE(post(t, 1));
	/* There is room again, which nobody has noticed. */
	t->front.send = 0;
	CT_EXPECT_EQ(rte_tx_direct(t->a->peer), NULL);
	CT_ASSERT_TRUE(post(t, 2));
	expect_in_order(t, 2);
	direct = rte_tx_direct(t->a->peer);
	CT_ASSERT_NE(direct, NULL);
	t->front.write = -FI_EAGAIN;
	CT_EXPECT_EQ(rte_tx_rma(direct, &(struct fi_msg_rma){0}, false, 0), -FI_EAGAIN);
}

/* A payload that is in the slot stays there: only the message is tried again. */
CT_TEST_F(send, a_payload_is_written_once)
{
	struct pair_message message = {
		.seq = 1, .data = data, .len = sizeof(data), .piece = RTE_EAGER};

	CT_ASSERT_TRUE(pair_send(t->a, &message, NULL, NULL));
	PAIR_UNTIL(&t->pair, t->a->peer->in->outlet[RTE_REQUESTS].slots);
	message.offset = RTE_EAGER;
	message.piece = sizeof(data) - RTE_EAGER;
	message.slot = true;
	t->front.write = -FI_EAGAIN;
	CT_ASSERT_TRUE(pair_send(t->a, &message, note_done, t));
	turns(t);
	CT_EXPECT_GT(t->front.writes, 1);
	t->front.write = 0;
	t->front.send = -FI_EAGAIN;
	t->front.sends = t->front.writes = 0;
	turns(t);
	CT_EXPECT_GT(t->front.sends, 1);
	CT_EXPECT_EQ(t->front.writes, 1);
	t->front.send = 0;
	PAIR_UNTIL(&t->pair, t->b->messages == 2 && t->counts[0]);
	CT_EXPECT_EQ(t->front.writes, 1);
}

static uint8_t region[sizeof(data)];

/* All of data, into the region that has that key at B. */
static bool place(struct stuck *stuck, uint64_t addr, uint64_t key)
{
	struct rte_tx *tx = rte_tx_placing(stuck->a->peer);

	if (!tx)
		return false;
	tx->data = data;
	tx->data_len = sizeof(data);
	tx->desc = NULL;
	tx->done = note_done;
	tx->user = stuck;
	rte_tx_place(tx, addr, key, true);
	return true;
}

/* Also when it does not go at once, and with what was stuck before it. */
CT_TEST_F(send, what_is_placed_is_there_before_the_next_message)
{
	struct fid_mr *mr;
	uint64_t addr;

	memset(data, 5, sizeof(data));
	memset(region, 0, sizeof(region));
	CT_ASSERT_EQ(fi_mr_reg(t->b->port->domain, region, sizeof(region),
			       FI_REMOTE_WRITE, 0, 999, 0, &mr, NULL),
		     0);
	addr = t->b->port->virt_addr ? (uintptr_t)region : 0;
	t->front.send = t->front.write = -FI_EAGAIN;
	CT_ASSERT_TRUE(post(t, 1));
	t->front.send = 0;
	CT_ASSERT_TRUE(place(t, addr, fi_mr_key(mr)));
	CT_EXPECT_EQ(t->front.writes, 0);
	CT_ASSERT_TRUE(post(t, 2));
	turns(t);
	CT_EXPECT_EQ(t->b->messages, 1);
	CT_EXPECT_GT(t->front.writes, 1);
	t->front.write = 0;
	PAIR_UNTIL(&t->pair, t->b->messages == 2);
	CT_EXPECT_MEMEQ(region, data, sizeof(region));
	PAIR_UNTIL(&t->pair, t->counts[0] == 3);
	CT_EXPECT_EQ(t->a->peer->in->txs_used, 0);
	CT_EXPECT_EQ(fi_close(&mr->fid), 0);
}

CT_TEST_F(send, what_cannot_be_placed_ends_the_peer)
{
	CT_ASSERT_TRUE(place(t, 0, 12345));
	PAIR_UNTIL(&t->pair, t->a->downs);
	CT_EXPECT_EQ(t->counts[0], 0);
	CT_EXPECT_EQ(t->counts[1], 1);
}

CT_TEST_F(send, a_peer_is_idle_when_all_requests_are_known_to_be_gone)
{
	const struct pair_attr attr = {.receives = {2, 2}};

	stuck_open_with(t, &attr);
	CT_EXPECT_TRUE(rte_peer_idle(t->a->peer));
	CT_ASSERT_TRUE(post(t, 1));
	CT_EXPECT_FALSE(rte_peer_idle(t->a->peer));
	PAIR_UNTIL(&t->pair, t->b->messages && t->counts[0]);
	turns(t);
	CT_EXPECT_FALSE(rte_peer_idle(t->a->peer));
	pair_put_all(t->b);
	PAIR_UNTIL(&t->pair, rte_peer_idle(t->a->peer));
}

/* Whatever the owner takes, this room's own messages still have theirs. */
CT_TEST_F(send, the_owner_leaves_some_to_control)
{
	struct rte_peer_inside *in;
	struct rte_tx *tx[64];
	uint32_t taken = 0, own = 0, i;

	in = t->a->peer->in;
	CT_ASSERT_LE(in->txs, 64);
	while ((tx[taken] = rte_tx_get(t->a->peer, RTE_LANES, RTE_SMALL_ROOM)))
		taken++;
	CT_EXPECT_EQ(taken, in->txs - PEER_TXS_CONTROL);
	CT_EXPECT_EQ(rte_tx_direct(t->a->peer), NULL);
	while ((tx[taken + own] = send_control(t->a->peer)))
		own++;
	CT_EXPECT_EQ(own, PEER_TXS_CONTROL);
	for (i = 0; i < taken + own; i++)
		rte_tx_drop(tx[i]);
	CT_EXPECT_EQ(in->txs_used, 0);
}

/*
 * A peer keeps one buffer for itself, for the day that the arena has none. Operations of
 * the lower provider's own have no buffer, and leave it alone.
 */
CT_TEST_F(send, the_last_buffer_stays_the_peers)
{
	const struct pair_attr attr = {.messages = 30};
	struct rte_peer_inside *in;
	struct rte_tx *tx[64];
	uint32_t taken = 0, i;

	stuck_open_with(t, &attr);
	in = t->a->peer->in;
	while ((tx[taken] = rte_tx_get(t->a->peer, RTE_LANES, RTE_SEND_ROOM)))
		taken++;
	CT_ASSERT_GT(taken, 0);
	CT_EXPECT_TRUE(tx[taken - 1]->in->last);
	CT_EXPECT_EQ(in->last, NULL);
	for (i = 0; i < taken; i++)
		rte_tx_drop(tx[i]);
	t->front.write = -FI_EAGAIN;
	for (i = 0; i < in->txs; i++) {
		tx[0] = rte_tx_direct(t->a->peer);
		CT_ASSERT_NE(tx[0], NULL);
		rte_tx_rma(tx[0], &(struct fi_msg_rma){0}, false, 0);
	}
	CT_EXPECT_NE(in->last, NULL);
}

/* A send that fails is the end of the peer, with its code, whenever it fails. */
CT_TEST_F(send, what_cannot_be_sent_ends_the_peer)
{
	t->front.send = -FI_ENOTCONN;
	CT_ASSERT_TRUE(post(t, 1));
	PAIR_UNTIL(&t->pair, t->a->downs);
	CT_EXPECT_EQ(t->a->err, FI_ENOTCONN);
	stuck_close(t);
	/* Its end is told with that of the peer. */
	CT_EXPECT_EQ(t->counts[0], 0);
	CT_EXPECT_EQ(t->counts[1], 1);
	CT_EXPECT_EQ(t->err, FI_ECANCELED);
}

CT_TEST_F(send, what_cannot_be_sent_later_ends_the_peer)
{
	t->front.send = -FI_EAGAIN;
	CT_ASSERT_TRUE(post(t, 1));
	t->front.send = -FI_ENOTCONN;
	PAIR_UNTIL(&t->pair, t->a->downs);
	CT_EXPECT_EQ(t->a->err, FI_ENOTCONN);
	stuck_close(t);
	CT_EXPECT_EQ(t->counts[1], 1);
}

/* A completion queue that tells of one error, and of nothing else. */
static struct fi_cq_err_entry cq_error;

static ssize_t cq_read(struct fid_cq *cq, void *buf, size_t count)
{
	return cq_error.err ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry,
			  uint64_t flags)
{
	*entry = cq_error;
	cq_error.err = 0;
	return 1;
}

static void fail(struct rte_port *port, struct inside_op *op, int err)
{
	struct fi_ops_cq *before = port->cq->ops;
	struct fi_ops_cq ops = *before;

	ops.read = cq_read;
	ops.readerr = cq_readerr;
	cq_error = (struct fi_cq_err_entry){.op_context = op, .err = err};
	port->cq->ops = &ops;
	rte_port_progress(port);
	port->cq->ops = before;
	CT_EXPECT_EQ(cq_error.err, 0);
}

CT_TEST_F(send, what_completes_with_an_error_ends_the_peer)
{
	struct rte_tx_inside *tx;

	t->front.swallow = true;
	CT_ASSERT_TRUE(post(t, 1));
	CT_ASSERT_FALSE(crn_list_empty(&t->a->peer->in->sent));
	tx = crn_container_of(t->a->peer->in->sent.next, struct rte_tx_inside, entry);
	fail(t->a->port, &tx->op, FI_ECONNRESET);
	CT_EXPECT_EQ(t->counts[1], 1);
	CT_EXPECT_EQ(t->err, FI_ECONNRESET);
	CT_EXPECT_EQ(t->a->downs, 1);
	CT_EXPECT_EQ(t->a->err, FI_ECONNRESET);
	stuck_close(t);
	CT_EXPECT_EQ(t->counts[1], 1);
}

/* The payload of a message, which the lower provider tells of by errors alone. */
CT_TEST_F(send, what_cannot_be_written_ends_the_peer)
{
	struct rte_tx_inside *tx;

	t->front.swallow = true;
	CT_ASSERT_TRUE(post(t, 1));
	CT_ASSERT_FALSE(crn_list_empty(&t->a->peer->in->sent));
	tx = crn_container_of(t->a->peer->in->sent.next, struct rte_tx_inside, entry);
	fail(t->a->port, &tx->data_op, FI_ECONNRESET);
	CT_EXPECT_EQ(t->a->downs, 1);
	CT_EXPECT_EQ(t->a->err, FI_ECONNRESET);
	CT_EXPECT_EQ(t->counts[1], 0);
	stuck_close(t);
	CT_EXPECT_EQ(t->counts[1], 1);
}
