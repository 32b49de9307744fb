/* SPDX-License-Identifier: BSD-2-Clause */
/* What arrives, from the lower provider's receive to the owner and back. */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "inside.h"

static void receive_post(struct rte_rx_inside *in)
{
	struct rte_peer *peer = in->rx.peer;
	ssize_t ret;

	if (peer->in->ended)
		return;
	ret = fi_recv(peer->in->ep, in->buf->data, RTE_SEND_ROOM,
		      arena_desc(in->buf, peer->port), FI_ADDR_UNSPEC, &in->op);
	if (ret == -FI_EAGAIN) {
		crn_list_add_tail(&peer->in->unposted, &in->entry);
		send_note(peer);
	} else if (ret) {
		peer_refuses(peer, (int)-ret);
	}
}

int receive_start(struct rte_peer *peer)
{
	struct crn_list *entry;
	struct rte_rx_inside *in;
	ssize_t ret = 0;

	crn_list_for_each (entry, &peer->in->rxs) {
		in = crn_container_of(entry, struct rte_rx_inside, all);
		if (!ret)
			ret = fi_recv(peer->in->ep, in->buf->data, RTE_SEND_ROOM,
				      arena_desc(in->buf, peer->port), FI_ADDR_UNSPEC,
				      &in->op);
	}
	return (int)ret;
}

static bool receive_add(struct rte_peer *peer)
{
	struct rte_rx_inside *in = calloc(1, sizeof(*in));

	if (!in)
		return false;
	in->op.kind = INSIDE_RX;
	in->rx.peer = peer;
	in->rx.in = in;
	crn_list_init(&in->entry);
	in->buf = arena_get(peer->port->arena, ARENA_MESSAGE);
	if (!in->buf) {
		free(in);
		return false;
	}
	crn_list_add_tail(&peer->in->rxs, &in->all);
	peer->in->rx_count++;
	if (peer->in->ep)
		receive_post(in);
	return true;
}

bool receive_fill(struct rte_peer *peer, uint32_t count)
{
	while (peer->in->rx_count < count)
		if (!receive_add(peer))
			return false;
	return true;
}

void receive_free(struct rte_rx_inside *in)
{
	struct rte_peer_inside *peer = in->rx.peer->in;

	crn_list_del(&in->all);
	peer->rx_count--;
	arena_put(peer->peer.port->arena, ARENA_MESSAGE, in->buf);
	free(in);
}

void receive_again(struct rte_peer *peer)
{
	struct crn_list again, *entry;

	crn_list_init(&again);
	while ((entry = crn_list_pop(&peer->in->unposted)))
		crn_list_add_tail(&again, entry);
	while ((entry = crn_list_pop(&again)))
		receive_post(crn_container_of(entry, struct rte_rx_inside, entry));
}

/* Messages of the hop itself need no credit: of all others the lane is known. */
static enum rte_lane counted_lane(uint8_t type)
{
	return type == RTE_GRANT || type == RTE_KEEPALIVE || type == RTE_RECEIVES
		       ? RTE_LANES
		       : rte_message_lane(type);
}

static void receive_credits(struct rte_peer *peer, const struct rte_head *head)
{
	int lane;

	for (lane = 0; lane < RTE_LANES; lane++) {
		if (!head->credit[lane])
			continue;
		if (!rte_outlet_told(&peer->in->outlet[lane].flow, head->credit[lane])) {
			rte_peer_bad(peer, "it returns more credits than there are");
			return;
		}
		send_ready(peer, (enum rte_lane)lane);
		if (crn_unlikely(peer->in->outlet[lane].flow.asked))
			send_note(peer);
	}
}

/*
 * Receives that no lane may take are always posted: with all of them taken, nothing would
 * be read any more, and nobody told that the peer has ended.
 */
static bool receive_counts(struct rte_peer *peer, enum rte_lane lane)
{
	struct peer_inlet *inlet;

	if (lane == RTE_LANES)
		return true;
	inlet = &peer->in->inlet[lane];
	if (!rte_inlet_fill(&inlet->flow))
		return false;
	if (crn_unlikely(!inlet->flow.credits))
		elastic_wants(inlet);
	return true;
}

/* Where the payload of MSG, WRITE and READ_FRAG is. */
static bool receive_payload(struct rte_rx_inside *in)
{
	struct rte_rx *rx = &in->rx;
	const uint32_t plen = rx->packet.head.plen;

	rx->payload = (uint8_t *)rx->packet.payload;
	if (rx->payload)
		return true;
	/* What is refused has filled nothing: its slot goes with the peer. */
	if (plen > arena_land_size(rx->peer->port->arena))
		return false;
	in->land = grant_fill(rx->peer, rx->lane,
			      crn_get_le32(rx->packet.bytes + RTE_HEAD_LEN));
	if (!in->land)
		return false;
	rx->payload = in->land->data;
	return true;
}

static void receive_owner(struct rte_rx_inside *in)
{
	struct rte_peer *peer = in->rx.peer;

	in->held = true;
	peer->in->held++;
	if (peer->ops->message)
		peer->ops->message(peer, &in->rx);
	else
		rte_rx_put(&in->rx);
}

/* Once it is up. True: it was this room's. */
static bool receive_own(struct rte_rx_inside *in)
{
	const struct rte_packet *packet = &in->rx.packet;
	struct rte_peer *peer = in->rx.peer;

	switch (packet->head.type) {
	case RTE_HELLO:
	case RTE_HELLO_ACK:
		hello_take(peer, packet);
		return true;
	case RTE_AUTH:
		auth_take(peer, packet);
		return true;
	case RTE_GRANT:
		grant_take(peer, packet);
		return true;
	case RTE_KEEPALIVE:
		life_take(peer, packet);
		return true;
	case RTE_RECEIVES:
		in->gone = elastic_take(peer, packet);
		return true;
	case RTE_BYE:
		peer_parted(peer, packet);
		return true;
	default:
		return false;
	}
}

static void receive_message(struct rte_rx_inside *in)
{
	struct rte_peer *peer = in->rx.peer;
	struct rte_packet *packet = &in->rx.packet;

	if (peer->state != RTE_PEER_UP) {
		greeting_take(peer, packet);
		receive_post(in);
		return;
	}
	receive_credits(peer, &packet->head);
	if (peer->state != RTE_PEER_UP)
		return;
	if (receive_own(in)) {
		if (in->gone)
			receive_free(in);
		else
			receive_post(in);
		return;
	}
	in->rx.lane = counted_lane(packet->head.type);
	if (!receive_counts(peer, in->rx.lane)) {
		rte_peer_bad(peer, "it sends more than it has credits for");
		return;
	}
	if (peer_carries_data(packet->head.type)) {
		if (!receive_payload(in)) {
			rte_peer_bad(peer, "it fills a slot that it has not");
			return;
		}
		grant_announced(peer, &in->rx);
		peer->stats_rx_bytes += packet->head.plen;
	} else {
		in->rx.payload = (uint8_t *)packet->payload;
	}
	peer->stats_rx++;
	receive_owner(in);
}

/* This end is closed, and waits for the other one's last word. */
static void receive_last(struct rte_rx_inside *in, size_t len)
{
	const uint8_t *bytes = in->buf->data;

	if (len > 2 && bytes[2] == RTE_BYE)
		in->rx.peer->in->parted = true;
	receive_post(in);
}

/* A fault: the owner hears nothing of it. */
static void receive_lose(struct rte_rx_inside *in)
{
	struct rte_peer *peer = in->rx.peer;
	const struct rte_head *head = &in->rx.packet.head;

	if (peer->state != RTE_PEER_UP || head->type < RTE_DIGEST) {
		receive_post(in);
		return;
	}
	receive_credits(peer, head);
	in->rx.lane = counted_lane(head->type);
	if (!receive_counts(peer, in->rx.lane)) {
		rte_peer_bad(peer, "it sends more than it has credits for");
		return;
	}
	if (peer_carries_data(head->type) && !receive_payload(in)) {
		rte_peer_bad(peer, "it fills a slot that it has not");
		return;
	}
	in->held = true;
	peer->in->held++;
	rte_rx_put(&in->rx);
}

static void receive_parse(struct rte_rx_inside *in, size_t len,
			  void (*then)(struct rte_rx_inside *in))
{
	const enum rte_bad bad = rte_packet_parse(&in->rx.packet, in->buf->data, len);

	in->land = NULL;
	if (bad != RTE_OK)
		rte_peer_bad(in->rx.peer, rte_bad_text(bad));
	else
		then(in);
}

void receive_done(struct rte_rx_inside *in, size_t len)
{
	struct rte_peer *peer = in->rx.peer;

	if (peer->in->closed) {
		receive_last(in, len);
		return;
	}
	if (peer->in->failed)
		return;
	/* The peer sends when it is told that it is connected, which may be before the
	 * event is read here. */
	if (peer->state == RTE_PEER_CONNECTING && !peer->active)
		peer_connected(peer, NULL, 0);
	if (crn_unlikely(peer->port->faults) && fault_arrives(in, len))
		return;
	peer->in->heard = true;
	receive_parse(in, len, receive_message);
}

void receive_late(struct rte_rx_inside *in, size_t len, bool lost)
{
	in->rx.peer->in->heard |= !lost;
	receive_parse(in, len, lost ? receive_lose : receive_message);
}

void receive_failed(struct rte_rx_inside *in, int err)
{
	/* What is cancelled follows from an event that says more. */
	if (err != FI_ECANCELED)
		peer_fail(in->rx.peer, err == FI_ETRUNC ? FI_EIO : err);
}

void rte_rx_put(struct rte_rx *rx)
{
	struct rte_rx_inside *in = rx->in;
	struct rte_peer *peer = rx->peer;
	struct rte_inlet *inlet;

	in->held = false;
	peer->in->held--;
	if (in->land)
		grant_empty(peer, rx->lane, in->land);
	in->land = NULL;
	if (peer->in->ended) {
		if (!peer->in->held)
			port_kick(peer->port);
		return;
	}
	receive_post(in);
	if (rx->lane == RTE_LANES)
		return;
	inlet = &peer->in->inlet[rx->lane].flow;
	rte_inlet_empty(inlet);
	if (rte_inlet_overdue(inlet))
		send_note(peer);
}

void *rte_rx_desc(const struct rte_rx *rx, const struct rte_port *port)
{
	return arena_desc(rx->in->land ? rx->in->land : rx->in->buf, port);
}
