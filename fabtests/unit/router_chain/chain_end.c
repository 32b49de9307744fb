/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients and targets. */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "chain.h"

#define PATTERN (4u << 20)

static uint8_t pattern[PATTERN];

/* Bytes of a message: around what is copied, what fits into a Send, and into a slot. */
static uint32_t message_len(uint64_t seq)
{
	static const uint32_t lens[] = {1,
					0,
					7,
					512,
					513,
					RTE_EAGER,
					RTE_EAGER + 1,
					CHAIN_LAND - 1,
					CHAIN_LAND,
					CHAIN_LAND + 1,
					3 * CHAIN_LAND + 5,
					1u << 20};

	return lens[seq % CRN_COUNT(lens)];
}

static const uint8_t *message_at(uint64_t seq, uint64_t offset)
{
	return pattern + seq % 251 + offset;
}

static void conn_id(uint32_t conn, uint8_t id[RTE_CONN_ID_LEN])
{
	memset(id, 0, RTE_CONN_ID_LEN);
	id[0] = (uint8_t)conn;
}

/* --- What ends say --- */

/* There is always memory. */
static void say(struct rte_peer *peer, ssize_t (*pack)(void *, void *, size_t),
		void *what)
{
	struct rte_tx *tx = rte_tx_get(peer, RTE_LANES, RTE_SEND_ROOM);
	ssize_t len;

	CT_ASSERT_NE(tx, NULL);
	len = pack(what, tx->bytes, tx->room);
	CT_ASSERT_GT(len, 0);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

static ssize_t pack_req(void *end, void *bytes, size_t size)
{
	const struct rte_packet packet = {.head = {.type = RTE_CONN_REQ}};
	struct rte_conn_req req = {.ttl = RTE_TTL_MAX,
				   .frag = RTE_FRAG_MAX,
				   .eager = RTE_EAGER,
				   .timeout = 10000};

	conn_id(((struct chain_end *)end)->conn, req.id);
	return rte_conn_req_pack(&packet, &req, bytes, size);
}

static ssize_t pack_rep(void *req, void *bytes, size_t size)
{
	const struct rte_conn_req *asked = req;
	const struct rte_packet packet = {.head = {.type = RTE_CONN_REP}};
	struct rte_conn_rep rep = {.verdict = RTE_ACCEPTED,
				   .frag = asked->frag,
				   .eager = asked->eager};

	memcpy(rep.id, asked->id, sizeof(rep.id));
	return rte_conn_rep_pack(&packet, &rep, bytes, size);
}

static ssize_t pack_ack(void *end, void *bytes, size_t size)
{
	const struct rte_packet packet = {.head = {.type = RTE_CONN_ACK}};
	struct rte_conn_ack ack = {0};

	conn_id(((struct chain_end *)end)->conn, ack.id);
	return rte_conn_ack_pack(&packet, &ack, bytes, size);
}

static ssize_t pack_shutdown(void *end, void *bytes, size_t size)
{
	const struct rte_packet packet = {.head = {.type = RTE_SHUTDOWN}};
	struct rte_shutdown shutdown = {0};

	conn_id(((struct chain_end *)end)->conn, shutdown.id);
	return rte_shutdown_pack(&packet, &shutdown, bytes, size);
}

static void flown(struct rte_tx *tx, int err)
{
	(void)err;
	((struct chain_end *)tx->user)->flying--;
}

static bool send_piece(struct chain_end *end)
{
	const uint64_t seq = end->sent + 1;
	const uint32_t len = message_len(seq);
	const uint64_t left = len - end->offset;
	struct rte_tx *tx = rte_tx_get(end->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	struct rte_packet packet = {.head = {.type = RTE_MSG, .seq = seq}};
	struct rte_msg msg = {.slot = RTE_SLOT_NONE,
			      .length = len,
			      .offset = end->offset};
	uint64_t piece = CRN_MIN(left, (uint64_t)end->eager);

	if (!tx)
		return false;
	if (left > end->eager && rte_tx_slot(tx)) {
		piece = CRN_MIN(left, (uint64_t)CRN_MIN(tx->slot_len, (size_t)end->frag));
		msg.slot = 0;
	}
	packet.head.plen = (uint32_t)piece;
	packet.head.flags = end->offset ? 0 : RTE_FIRST;
	if (piece == left)
		packet.head.flags |= RTE_LAST | (end->ask ? RTE_ACKREQ : 0);
	tx->len = (size_t)rte_msg_pack(&packet, &msg, tx->bytes, tx->room);
	tx->data = message_at(seq, end->offset);
	tx->data_len = piece;
	tx->user = end;
	tx->done = flown;
	end->flying++;
	rte_tx_post(tx);
	end->offset += piece;
	if (piece < left)
		return true;
	end->offset = 0;
	end->sent = seq;
	return true;
}

void chain_pump(struct chain_end *end)
{
	if (!end->open || !end->peer || end->peer->state != RTE_PEER_UP)
		return;
	while (end->sent < end->wanted)
		if (!send_piece(end))
			return;
	if (!end->closing)
		return;
	end->closing = false;
	say(end->peer, pack_shutdown, end);
}

/* --- What ends hear --- */

static void hear_data(struct chain_end *end, const struct rte_rx *rx)
{
	const struct rte_head *head = &rx->packet.head;
	struct rte_msg msg;

	CT_ASSERT_EQ(rte_msg_parse(&msg, &rx->packet), RTE_OK);
	CT_EXPECT_EQ(head->seq, end->received + 1);
	CT_EXPECT_EQ(msg.length, message_len(head->seq));
	CT_EXPECT_EQ(msg.offset, end->arrived);
	/* Whoever is last before an end acknowledges. */
	CT_EXPECT_FALSE(head->flags & RTE_ACKREQ);
	if (head->plen)
		CT_EXPECT_MEMEQ(rx->payload, message_at(head->seq, msg.offset),
				head->plen);
	end->arrived += head->plen;
	if (!(head->flags & RTE_LAST))
		return;
	CT_EXPECT_EQ(end->arrived, msg.length);
	end->arrived = 0;
	end->received = head->seq;
}

static void hear_rep(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_conn_rep rep;

	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, packet), RTE_OK);
	end->verdict = rep.verdict;
	end->status = (int)rep.status;
	end->router = rep.router;
	if (rep.verdict != RTE_ACCEPTED)
		return;
	end->frag = rep.frag;
	end->eager = rep.eager;
	end->open = true;
	say(end->peer, pack_ack, end);
}

static void hear_req(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_conn_req req;

	CT_ASSERT_EQ(rte_conn_req_parse(&req, packet), RTE_OK);
	CT_EXPECT_EQ(packet->options.hops, chain.routers);
	CT_EXPECT_EQ(req.ttl, RTE_TTL_MAX - chain.routers + 1);
	end->conn = req.id[0];
	end->frag = req.frag;
	end->eager = req.eager;
	say(end->peer, pack_rep, &req);
}

static void hear_shutdown(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_shutdown shutdown;

	CT_ASSERT_EQ(rte_shutdown_parse(&shutdown, packet), RTE_OK);
	end->shut = true;
	end->status = (int)shutdown.status;
	end->router = shutdown.router;
}

static void hear_ack(struct chain_end *end, const struct rte_packet *packet)
{
	struct rte_ack ack = {.request = packet->options.ack};

	if (packet->head.type == RTE_ACK)
		CT_ASSERT_EQ(rte_ack_parse(&ack, packet), RTE_OK);
	CT_EXPECT_GT(ack.request, end->acked);
	CT_EXPECT_LE(ack.request, end->sent);
	end->acked = ack.request;
}

static void hear(struct chain_end *end, struct rte_rx *rx)
{
	const struct rte_packet *packet = &rx->packet;

	if (packet->options.present & 1u << RTE_TLV_ACK)
		hear_ack(end, packet);
	switch (packet->head.type) {
	case RTE_MSG:
		hear_data(end, rx);
		return;
	case RTE_ACK:
		hear_ack(end, packet);
		return;
	case RTE_CONN_REQ:
		hear_req(end, packet);
		return;
	case RTE_CONN_REP:
		hear_rep(end, packet);
		return;
	case RTE_CONN_ACK:
		end->open = true;
		return;
	case RTE_SHUTDOWN:
		hear_shutdown(end, packet);
		return;
	default:
		CT_EXPECT_STREQ(rte_message_name(packet->head.type), "nothing");
	}
}

static void on_up(struct rte_peer *peer)
{
	if (peer->active)
		say(peer, pack_req, peer->user);
}

static void on_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct chain_end *end = peer->user;

	if (end->hold && rx->lane < RTE_LANES) {
		crn_list_add_tail(&end->held, &rx->entry);
		return;
	}
	hear(end, rx);
	rte_rx_put(rx);
}

void chain_let_go(struct chain_end *end)
{
	struct crn_list *entry;
	struct rte_rx *rx;

	end->hold = false;
	while ((entry = crn_list_pop(&end->held))) {
		rx = crn_container_of(entry, struct rte_rx, entry);
		hear(end, rx);
		rte_rx_put(rx);
	}
}

static void on_ready(struct rte_peer *peer)
{
	chain_pump(peer->user);
}

static void on_down(struct rte_peer *peer, int err)
{
	struct chain_end *end = peer->user;

	end->err = err;
	end->peer = NULL;
	end->open = false;
	rte_peer_close(peer, 0);
}

const struct rte_peer_ops chain_end_ops = {
	.up = on_up, .message = on_message, .ready = on_ready, .down = on_down};

void chain_end_begin(void)
{
	uint32_t i;

	for (i = 0; i < PATTERN; i++)
		pattern[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
}
