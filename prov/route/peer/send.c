/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent: the owner's messages within the peer's credits, and the hop's own. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <cairn/tsan.h>
#include <cairn/wait.h>
#include "inside.h"

/* Offsets in a message (wire.h). */
#define AT_MINOR 1
#define AT_TYPE 2
#define AT_CREDIT 6
#define AT_VC 8
#define AT_PLEN 12

/* Of connections; the link-state exchange belongs to none. */
#define FIRST_OF_CONNECTIONS RTE_CONN_REQ

/* At first, and so many more each time. */
#define TXS_FIRST (PEER_TXS_CONTROL + 4u)
#define TXS_MORE 8u

static const size_t rooms[] = {
	[ARENA_SMALL] = RTE_SMALL_ROOM,
	[ARENA_WORDS] = RTE_WORDS_ROOM,
	[ARENA_MESSAGE] = RTE_SEND_ROOM,
};

static bool txs_add(struct rte_peer_inside *in, uint32_t count)
{
	struct peer_txs *txs;
	uint32_t i;

	count = CRN_MIN(count, in->txs_most - in->txs);
	txs = count ? calloc(1, sizeof(*txs) + count * sizeof(txs->tx[0])) : NULL;
	if (!txs)
		return false;
	txs->count = count;
	for (i = 0; i < count; i++) {
		txs->tx[i].op.kind = INSIDE_TX;
		txs->tx[i].data_op.kind = INSIDE_DATA;
		txs->tx[i].tx.peer = &in->peer;
		txs->tx[i].tx.in = &txs->tx[i];
		crn_list_add_tail(&in->txs_free, &txs->tx[i].entry);
	}
	txs->next = in->tx;
	in->tx = txs;
	in->txs += count;
	return true;
}

bool send_open(struct rte_peer_inside *in)
{
	return txs_add(in, TXS_FIRST);
}

void send_close(struct rte_peer_inside *in)
{
	struct peer_txs *txs;

	while ((txs = in->tx)) {
		in->tx = txs->next;
		free(txs);
	}
}

static enum arena_class class_of(size_t room)
{
	return room <= RTE_SMALL_ROOM	? ARENA_SMALL
	       : room <= RTE_WORDS_ROOM ? ARENA_WORDS
					: ARENA_MESSAGE;
}

static struct rte_tx *tx_take(struct rte_peer *peer, size_t room)
{
	struct rte_peer_inside *in = peer->in;
	enum arena_class class = class_of(room);
	struct arena_buf *buf = arena_get(peer->port->arena, class);
	const bool last = !buf;
	struct rte_tx_inside *tx;

	if (last) {
		if (room > rooms[in->last_class])
			return NULL;
		class = in->last_class;
		buf = in->last;
		in->last = NULL;
	}
	if (!buf)
		return NULL;
	tx = crn_container_of(crn_list_pop(&in->txs_free), struct rte_tx_inside, entry);
	in->txs_used++;
	tx->buf = buf;
	tx->class = class;
	tx->last = last;
	tx->slot.len = 0;
	tx->written = false;
	tx->tx.bytes = buf->data;
	tx->tx.room = rooms[class];
	tx->tx.len = 0;
	tx->tx.data_len = 0;
	tx->tx.data = NULL;
	tx->tx.desc = NULL;
	tx->tx.slot_len = 0;
	tx->tx.done = NULL;
	return &tx->tx;
}

static void tx_free(struct rte_tx_inside *tx)
{
	struct rte_peer *peer = tx->tx.peer;

	tx->posted = false;
	crn_list_add_tail(&peer->in->txs_free, &tx->entry);
	peer->in->txs_used--;
	if (tx->last)
		peer->in->last = tx->buf;
	else if (tx->buf)
		arena_put(peer->port->arena, tx->class, tx->buf);
	tx->last = false;
	tx->places = false;
	tx->lost = false;
	tx->due = 0;
	tx->buf = NULL;
}

struct rte_tx *send_control(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;
	struct rte_tx *tx;

	if (crn_list_empty(&in->txs_free) || in->ended)
		return NULL;
	/* HELLO with its texts is the longest. */
	tx = tx_take(peer, RTE_WORDS_ROOM);
	if (tx)
		tx->lane = RTE_LANES;
	return tx;
}

bool rte_tx_may(struct rte_peer *peer, enum rte_lane lane)
{
	struct rte_peer_inside *in = peer->in;

	if (peer->state != RTE_PEER_UP)
		return false;
	if (lane < RTE_LANES && !in->outlet[lane].flow.credits) {
		in->waits |= 1u << lane;
		return false;
	}
	if (crn_likely(in->txs_used + PEER_TXS_CONTROL < in->txs) ||
	    txs_add(in, TXS_MORE))
		return true;
	in->waits |= 1u << lane;
	return false;
}

struct rte_tx *rte_tx_get(struct rte_peer *peer, enum rte_lane lane, size_t room)
{
	struct rte_peer_inside *in = peer->in;
	struct rte_tx *tx;

	if (!rte_tx_may(peer, lane)) {
		if (lane < RTE_LANES)
			peer->stalls[lane]++;
		return NULL;
	}
	tx = tx_take(peer, room);
	if (!tx) {
		in->waits |= 1u << lane;
		arena_starving(peer->port->arena, &in->hunger);
		return NULL;
	}
	tx->lane = lane;
	if (lane < RTE_LANES)
		rte_outlet_take(&in->outlet[lane].flow);
	return tx;
}

bool rte_tx_slot(struct rte_tx *tx)
{
	struct rte_peer_inside *in = tx->peer->in;
	struct peer_outlet *outlet = &in->outlet[tx->lane];

	if (!outlet->slots) {
		in->waits |= 1u << tx->lane;
		return false;
	}
	tx->in->slot = outlet->slot[outlet->first];
	outlet->first = (outlet->first + 1) % PEER_LANDS;
	outlet->slots--;
	tx->slot_len = tx->in->slot.len;
	return true;
}

void rte_tx_drop(struct rte_tx *tx)
{
	struct rte_peer_inside *in = tx->peer->in;
	struct peer_outlet *outlet;

	if (tx->lane < RTE_LANES) {
		outlet = &in->outlet[tx->lane];
		rte_outlet_undo(&outlet->flow);
		if (tx->slot_len) {
			outlet->first = (outlet->first + PEER_LANDS - 1) % PEER_LANDS;
			outlet->slot[outlet->first] = tx->in->slot;
			outlet->slots++;
		}
	}
	tx_free(tx->in);
}

/* --- To the lower provider --- */

void send_fields(struct rte_tx *tx)
{
	struct rte_peer *peer = tx->peer;
	int lane;

	tx->bytes[AT_MINOR] = peer->minor;
	crn_put_le32(tx->bytes + AT_VC, tx->bytes[AT_TYPE] >= FIRST_OF_CONNECTIONS);
	for (lane = 0; lane < RTE_LANES; lane++) {
		/* Before HELLO nobody counts. */
		tx->bytes[AT_CREDIT + lane] =
			peer->state == RTE_PEER_UP
				? rte_inlet_tell(&peer->in->inlet[lane].flow)
				: 0;
	}
	if (tx->slot_len)
		crn_put_le32(tx->bytes + RTE_HEAD_LEN, tx->in->slot.id);
}

static ssize_t tx_write(struct rte_tx_inside *in)
{
	struct rte_tx *tx = &in->tx;
	struct iovec iov = {(void *)tx->data, tx->data_len};
	struct fi_rma_iov rma = {in->slot.addr, tx->data_len, in->slot.key};
	struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &tx->desc,
		.iov_count = 1,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = &in->data_op,
	};

	return fi_writemsg(tx->peer->in->ep, &msg, 0);
}

/* The message of a payload that is placed is its completion. */
static ssize_t tx_place(struct rte_tx_inside *in)
{
	struct rte_tx *tx = &in->tx;
	const struct iovec iov = {(void *)tx->data, tx->data_len};
	const struct fi_rma_iov rma = {in->slot.addr, tx->data_len, in->slot.key};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &tx->desc,
		.iov_count = 1,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = &in->op,
	};

	return fi_writemsg(tx->peer->in->ep, &msg,
			   FI_COMPLETION | (in->deliver ? FI_DELIVERY_COMPLETE : 0));
}

static ssize_t tx_send(struct rte_tx_inside *in)
{
	struct rte_tx *tx = &in->tx;
	struct iovec iov[2] = {{tx->bytes, tx->len}, {(void *)tx->data, tx->data_len}};
	void *desc[2] = {arena_desc(in->buf, tx->peer->port), tx->desc};
	struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = tx->data_len && !tx->slot_len ? 2 : 1,
		.context = &in->op,
	};

	return fi_sendmsg(tx->peer->in->ep, &msg, FI_COMPLETION);
}

/*
 * A short message whose end nobody asks for: the lower provider copies it and says
 * nothing more of it. Not the last one, upon which the endpoint is closed.
 */
static bool tx_injects(const struct rte_tx *tx)
{
	return !tx->done && !tx->data_len && tx->len <= tx->peer->port->lower_inject &&
	       tx->bytes[AT_TYPE] != RTE_BYE;
}

static ssize_t tx_write_and_send(struct rte_tx_inside *in)
{
	ssize_t ret;

	if (in->tx.slot_len && in->tx.data_len && !in->written) {
		ret = tx_write(in);
		if (ret)
			return ret;
		in->written = true;
	}
	return tx_send(in);
}

/* 0; -FI_EAGAIN: to be done again; or a code that ends the connection. */
static ssize_t tx_give(struct rte_tx_inside *in)
{
	ssize_t ret;

	crn_tsan_peer_begins();
	ret = in->places ? tx_place(in) : tx_write_and_send(in);
	crn_tsan_peer_ends();
	return ret;
}

/* ret: what the lower provider has said of it. */
static void tx_given(struct rte_tx_inside *in, ssize_t ret)
{
	struct rte_peer *peer = in->tx.peer;

	in->posted = true;
	if (!ret) {
		crn_list_add_tail(&peer->in->sent, &in->entry);
		return;
	}
	/* Its end is told with that of the peer. */
	crn_list_add_tail(&peer->in->stuck, &in->entry);
	if (ret == -FI_EAGAIN)
		send_note(peer);
	else
		peer_refuses(peer, (int)-ret);
}

/* Bytes of payload: packed behind the header, beside it, or in a slot. */
static uint32_t tx_payload(const struct rte_tx *tx)
{
	return peer_carries_data(tx->bytes[AT_TYPE]) ? crn_get_le32(tx->bytes + AT_PLEN)
						     : 0;
}

void send_post(struct rte_tx *tx)
{
	struct rte_tx_inside *in = tx->in;
	struct rte_peer *peer = tx->peer;
	const bool injects = tx_injects(tx);
	ssize_t ret = -FI_EAGAIN;

	send_fields(tx);
	peer->stats_tx++;
	peer->stats_tx_bytes += tx_payload(tx);
	if (crn_list_empty(&peer->in->stuck))
		ret = injects ? fi_inject(peer->in->ep, tx->bytes, tx->len,
					  FI_ADDR_UNSPEC)
			      : tx_give(in);
	if (!ret && injects) {
		tx_free(in);
		return;
	}
	tx_given(in, ret);
}

void rte_tx_post(struct rte_tx *tx)
{
	if (crn_likely(!tx->peer->port->faults) || !fault_leaves(tx->in))
		send_post(tx);
}

/* Its end is told in progress, as that of all others. */
void send_late(struct rte_tx_inside *in)
{
	struct rte_peer *peer = in->tx.peer;

	if (!in->lost && !in->places)
		send_fields(&in->tx);
	in->posted = true;
	crn_list_add_tail(&peer->in->stuck, &in->entry);
	if (peer->in->closed || !in->lost || !crn_list_empty(&peer->in->due))
		return;
	crn_list_add_tail(&peer->port->due, &peer->in->due);
	port_kick(peer->port);
}

/* As if it had been sent; the credit is there again, for nobody will return it. */
static void send_lose(struct rte_tx_inside *in)
{
	void (*done)(struct rte_tx *, int) = in->tx.done;

	crn_list_del(&in->entry);
	in->posted = false;
	in->tx.done = NULL;
	if (done)
		done(&in->tx, 0);
	rte_tx_drop(&in->tx);
}

void send_again(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;
	struct rte_tx_inside *tx;
	ssize_t ret;

	while (!crn_list_empty(&in->stuck)) {
		tx = crn_container_of(in->stuck.next, struct rte_tx_inside, entry);
		if (crn_unlikely(peer->port->faults) && fault_keeps(tx))
			return;
		if (crn_unlikely(tx->lost)) {
			send_lose(tx);
			send_ready(peer, RTE_LANES);
			continue;
		}
		ret = tx_give(tx);
		if (ret == -FI_EAGAIN)
			return;
		if (ret) {
			peer_refuses(peer, (int)-ret);
			return;
		}
		crn_list_del(&tx->entry);
		crn_list_add_tail(&in->sent, &tx->entry);
	}
}

void send_done(struct rte_tx_inside *tx, int err)
{
	struct rte_peer *peer = tx->tx.peer;
	void (*done)(struct rte_tx *, int) = tx->tx.done;

	if (!tx->posted)
		return;
	crn_list_del(&tx->entry);
	tx->tx.done = NULL;
	if (done)
		done(&tx->tx, err);
	tx_free(tx);
	if (crn_unlikely(err)) {
		if (err != FI_ECANCELED)
			peer_fail(peer, err);
		return;
	}
	if (!crn_list_empty(&peer->in->stuck))
		send_again(peer);
	if (!peer->in->closed)
		send_ready(peer, RTE_LANES);
}

void send_forget(struct rte_peer *peer)
{
	struct peer_txs *txs;
	uint32_t i;

	for (txs = peer->in->tx; txs; txs = txs->next) {
		for (i = 0; i < txs->count; i++) {
			if (!txs->tx[i].buf && !txs->tx[i].posted)
				continue;
			crn_list_del(&txs->tx[i].entry);
			tx_free(&txs->tx[i]);
		}
	}
}

void send_ready(struct rte_peer *peer, enum rte_lane lane)
{
	struct rte_peer_inside *in = peer->in;
	uint32_t may = in->waits;
	int i;

	if (crn_likely(!may))
		return;
	if (lane != RTE_LANES)
		may &= 1u << lane;
	for (i = 0; i < RTE_LANES; i++)
		if (!in->outlet[i].flow.credits)
			may &= ~(1u << i);
	in->waits &= ~may;
	if (!may || in->closed)
		return;
	if (crn_list_empty(&in->ready))
		crn_list_add_tail(&peer->port->ready, &in->ready);
	port_kick(peer->port);
}

bool rte_peer_later(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;

	if (!peer->port->more || peer->state != RTE_PEER_UP)
		return false;
	if (crn_list_empty(&in->ready))
		crn_list_add_tail(&peer->port->ready, &in->ready);
	port_kick(peer->port);
	return true;
}

/* --- Operations of the lower provider's own --- */

bool rte_peer_idle(const struct rte_peer *peer)
{
	const struct rte_outlet *flow = &peer->in->outlet[RTE_REQUESTS].flow;

	return flow->credits == flow->receives;
}

/* Of messages it has nothing. */
static struct rte_tx *tx_bare(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;
	struct rte_tx_inside *tx;

	if (!rte_tx_may(peer, RTE_LANES))
		return NULL;
	tx = crn_container_of(crn_list_pop(&in->txs_free), struct rte_tx_inside, entry);
	in->txs_used++;
	tx->tx.lane = RTE_LANES;
	return &tx->tx;
}

struct rte_tx *rte_tx_direct(struct rte_peer *peer)
{
	return crn_list_empty(&peer->in->stuck) ? tx_bare(peer) : NULL;
}

struct rte_tx *rte_tx_placing(struct rte_peer *peer)
{
	struct rte_tx *tx = tx_bare(peer);

	if (tx) {
		tx->slot_len = 0;
		tx->in->places = true;
	}
	return tx;
}

void rte_tx_place(struct rte_tx *tx, uint64_t addr, uint64_t key, bool deliver)
{
	struct rte_tx_inside *in = tx->in;

	in->slot.addr = addr;
	in->slot.key = key;
	in->deliver = deliver;
	tx->peer->stats_tx_bytes += tx->data_len;
	if (crn_unlikely(tx->peer->port->faults) && fault_leaves(in))
		return;
	tx_given(in, crn_list_empty(&tx->peer->in->stuck) ? tx_give(in) : -FI_EAGAIN);
}

ssize_t rte_tx_rma(struct rte_tx *tx, struct fi_msg_rma *msg, bool reads, uint64_t flags)
{
	struct rte_peer_inside *peer = tx->peer->in;
	struct rte_tx_inside *in = tx->in;
	ssize_t ret;

	msg->context = &in->op;
	flags |= FI_COMPLETION;
	ret = reads ? fi_readmsg(peer->ep, msg, flags)
		    : fi_writemsg(peer->ep, msg, flags);
	if (ret) {
		tx_free(in);
		return ret;
	}
	in->posted = true;
	crn_list_add_tail(&peer->sent, &in->entry);
	return 0;
}

/* --- The hop's own messages --- */

static bool keepalive_due(const struct rte_peer_inside *in)
{
	int lane;

	for (lane = 0; lane < RTE_LANES; lane++) {
		if (rte_inlet_overdue(&in->inlet[lane].flow))
			return true;
	}
	return in->answer;
}

/* ms between two messages for credits alone, at most, of a lane that could use more. */
#define TOLD_OFTEN 20u

/* No message goes the other way that could tell of them: who has sent so many waits for
 * it, if it has more. */
static void keepalive_often(struct rte_peer *peer)
{
	const uint64_t now = crn_tick_ms();
	struct rte_peer_inside *in = peer->in;
	int lane;

	for (lane = 0; lane < RTE_LANES && now - in->told <= TOLD_OFTEN; lane++)
		if (rte_inlet_overdue(&in->inlet[lane].flow))
			elastic_wants(&in->inlet[lane]);
	in->told = now;
}

static bool keepalive_send(struct rte_peer *peer)
{
	struct rte_keepalive keepalive = {.echo = peer->in->echo};
	struct rte_packet packet = {.head.type = RTE_KEEPALIVE};
	struct rte_tx *tx = send_control(peer);

	if (!tx)
		return false;
	tx->len = (size_t)rte_keepalive_pack(&packet, &keepalive, tx->bytes, tx->room);
	if (!peer->in->answer)
		keepalive_often(peer);
	peer->in->answer = false;
	rte_tx_post(tx);
	return true;
}

void send_note(struct rte_peer *peer)
{
	struct rte_port *port = peer->port;

	if (peer->in->closed || !crn_list_empty(&peer->in->due))
		return;
	if (!port->depth) {
		send_due(peer);
		return;
	}
	crn_list_add_tail(&port->due, &peer->in->due);
}

static bool send_kept(const struct rte_peer_inside *in)
{
	return !crn_list_empty(&in->stuck) &&
	       fault_keeps(crn_container_of(in->stuck.next, struct rte_tx_inside, entry));
}

void send_due(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;
	bool all;

	if (in->closed || in->ended || in->shut)
		return;
	if (!crn_list_empty(&in->unposted))
		receive_again(peer);
	send_again(peer);
	/* A fault keeps them, and says when they go on. */
	if (crn_unlikely(peer->port->faults) && send_kept(in))
		return;
	all = crn_list_empty(&in->stuck) && crn_list_empty(&in->unposted);
	if (peer->state == RTE_PEER_UP) {
		all = grant_send(peer) && all;
		if (keepalive_due(in))
			all = keepalive_send(peer) && all;
		if (elastic_due(in))
			all = elastic_send(peer) && all;
	}
	if (!all && crn_list_empty(&in->due)) {
		crn_list_add_tail(&peer->port->due, &in->due);
		port_kick(peer->port);
	}
}
