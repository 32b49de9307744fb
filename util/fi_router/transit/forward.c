/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/compat.h>

#include "inside.h"

/* Bytes of a header without texts: 24, a body of at most 56, an ACK in a TLV: 16. */
#define HEAD 96u

void frt_lane_open(struct frt_lane *lane)
{
	crn_list_init(&lane->queue);
}

static struct rte_rx *lane_first(const struct frt_lane *lane)
{
	return crn_container_of(lane->queue.next, struct rte_rx, entry);
}

void frt_rx_let_go(struct rte_rx *rx)
{
	if (!--rx->user)
		rte_rx_put(rx);
}

static void lane_pop(struct frt_lane *lane)
{
	struct rte_rx *rx = lane_first(lane);

	crn_list_del(&rx->entry);
	lane->queued--;
	lane->parsed = false;
	lane->gone = 0;
	frt_rx_let_go(rx);
}

void frt_lane_drop(struct frt_lane *lane)
{
	while (!crn_list_empty(&lane->queue))
		lane_pop(lane);
	lane->stall_at = 0;
}

/* --- Who waits for whom --- */

static void stall_begin(struct frt_lane *lane)
{
	if (lane->stall_at)
		return;
	lane->stall_at = frt_now_ns();
	lane->stalls++;
}

static void stall_end(struct frt_lane *lane)
{
	if (!lane->stall_at)
		return;
	lane->stall_ns += frt_now_ns() - lane->stall_at;
	lane->stall_at = 0;
}

uint64_t frt_lane_stalled(const struct frt_lane *lane, uint64_t now)
{
	const bool stalls = lane->stall_at && now > lane->stall_at;

	return lane->stall_ns + (stalls ? now - lane->stall_at : 0);
}

/* --- What the lower provider has no more --- */

/* A request that this router acknowledges was sent to the end, or was not. */
static void landed(struct rte_tx *tx, int err)
{
	const struct frt_side *to = tx->peer->user;
	struct frt_transit *transit = to->transit;
	const enum frt_from from = frt_other(frt_which(to));

	frt_ack_landed(&transit->side[from].ack, tx->number, !err);
	/* One ACK tells of all that were sent meanwhile. */
	if (transit->state != FRT_OPEN || !rte_peer_later(tx->peer))
		frt_forward_ack(transit, from);
}

static void done(struct rte_tx *tx, int err)
{
	const struct frt_side *side = tx->peer->user;
	struct frt_transit *transit = side->transit;

	frt_transit_enter(transit);
	if (tx->user)
		frt_rx_let_go(tx->user);
	if (tx->number)
		landed(tx, err);
	frt_transit_done(tx, err);
	frt_transit_leave(transit);
}

void frt_own_post(struct rte_tx *tx, ssize_t len)
{
	if (len < 0) {
		rte_tx_drop(tx);
		return;
	}
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

static void ack_post(struct frt_side *side, struct frt_ack *of)
{
	const struct rte_ack ack = {.request = frt_ack_due(of)};
	struct rte_packet packet;
	struct rte_tx *tx;

	if (!ack.request || !side->peer || side->say)
		return;
	tx = rte_tx_get(side->peer, RTE_RESPONSES, HEAD);
	if (!tx)
		return;
	packet.head = (struct rte_head){.type = RTE_ACK};
	packet.options.present = 0;
	frt_own_post(tx, rte_ack_pack(&packet, &ack, tx->bytes, tx->room));
	of->told = ack.request;
}

void frt_forward_ack(struct frt_transit *transit, enum frt_from from)
{
	ack_post(&transit->side[from], &transit->side[from].ack);
	ack_post(&transit->side[from], &transit->side[from].wrote);
}

/* --- One piece --- */

/*
 * A message for what is left of the payload, or as much of it as goes in one: a Send, or
 * a landing slot if what is left is too long for a Send and the slot holds more than one.
 */
static struct rte_tx *piece_room(struct rte_peer *peer, enum rte_lane lane, size_t room,
				 uint32_t left, struct frt_piece *piece)
{
	struct rte_tx *tx = rte_tx_get(peer, lane, room);

	piece->slot = false;
	piece->len = CRN_MIN(left, peer->eager_max);
	if (!tx || left <= peer->eager_max || !rte_tx_slot(tx))
		return tx;
	if (tx->slot_len > peer->eager_max) {
		piece->slot = true;
		piece->len = (uint32_t)CRN_MIN((size_t)left, tx->slot_len);
		return tx;
	}
	rte_tx_drop(tx);
	return rte_tx_get(peer, lane, room);
}

/* The payload of a piece: behind the header, or where it was received. */
static void piece_payload(struct rte_tx *tx, struct rte_rx *rx,
			  const struct frt_piece *piece, bool copied)
{
	const uint8_t *payload = rx->payload + piece->gone;

	tx->user = NULL;
	tx->data = NULL;
	tx->data_len = 0;
	if (!piece->len)
		return;
	if (copied) {
		memcpy(tx->bytes + tx->len, payload, piece->len);
		tx->len += piece->len;
		return;
	}
	tx->data = payload;
	tx->data_len = piece->len;
	tx->desc = rte_rx_desc(rx, tx->peer->port);
	tx->user = rx;
	rx->user++;
}

/* request: whose acknowledgement waits for it; 0: none. Of one that was copied whole
 * nobody has to know when it has been sent. */
static void piece_post(struct frt_side *from, struct rte_tx *tx, uint64_t request)
{
	tx->number = request;
	if (request)
		frt_ack_flies(&from->ack);
	if (!request && !tx->user) {
		rte_tx_post(tx);
		return;
	}
	tx->done = done;
	frt_transit_post(from->transit, tx);
}

static size_t piece_head(const struct rte_packet *packet)
{
	return packet->options.present & 1u << RTE_TLV_WHY ? HEAD + RTE_TEXT_MAX + 8
							   : HEAD;
}

/* Whom it asks for an acknowledgement, and which one it brings. */
static void piece_words(struct frt_piece *piece, const struct rte_packet *packet,
			const struct frt_side *to, bool mine)
{
	piece->flags = packet->head.flags;
	if (mine)
		piece->flags &= (uint8_t)~RTE_ACKREQ;
	if (!piece->gone && frt_ack_rides(packet, to->end))
		piece->ack = frt_ack_due(&to->ack);
}

/* What follows from a piece that is on its way; last: nothing of the message is left. */
static void piece_left(struct frt_lane *lane, struct frt_side *to,
		       const struct frt_piece *piece, bool last)
{
	const struct rte_rx *rx = lane_first(lane);

	if (piece->ack)
		to->ack.told = piece->ack;
	if (rx->packet.head.type == RTE_READ_REQ)
		rte_peer_expect(to->peer, RTE_RESPONSES, lane->body.read_req.length);
	lane->pieces++;
	lane->bytes += piece->len;
	lane->gone += piece->len;
	if (!last)
		return;
	frt_lasthop_framed(to, &rx->packet, &lane->body);
	lane_pop(lane);
}

/*
 * Sends the next piece of the first message. RTE_MORE: there is no room for it now;
 * RTE_OK; or what is wrong with the message.
 */
static enum rte_bad send_piece(struct frt_side *from, enum rte_lane at,
			       struct frt_side *to)
{
	struct frt_lane *lane = &from->lane[at];
	struct rte_rx *rx = lane_first(lane);
	const struct rte_packet *packet = &rx->packet;
	const bool payload = frt_has_payload(packet->head.type);
	const uint32_t left = payload ? packet->head.plen - lane->gone : 0;
	const bool copied = left <= CRN_MIN(FRT_COPY, to->peer->eager_max);
	const size_t room = piece_head(packet) + (copied ? left : 0);
	struct frt_piece piece = {.gone = lane->gone};
	struct rte_tx *tx = piece_room(to->peer, at, room, left, &piece);
	bool mine;
	ssize_t len;

	if (!tx) {
		stall_begin(lane);
		return RTE_MORE;
	}
	stall_end(lane);
	mine = to->end && piece.len == left && frt_ack_mine(&packet->head);
	piece_words(&piece, packet, to, mine);
	len = frt_piece_pack(&piece, packet, &lane->body, tx->bytes, tx->room);
	if (len < 0) {
		rte_tx_drop(tx);
		return RTE_BAD_VALUE;
	}
	tx->len = (size_t)len;
	piece_payload(tx, rx, &piece, copied);
	piece_post(from, tx, mine ? packet->head.seq : 0);
	piece_left(lane, to, &piece, piece.len == left);
	return RTE_OK;
}

/* The first message, which is gone whole where this router has executed it, or drops
 * it. */
static enum rte_bad execute(struct frt_side *from, struct frt_side *to)
{
	struct frt_lane *lane = &from->lane[RTE_REQUESTS];
	struct rte_rx *rx = lane_first(lane);
	const uint32_t len = rx->packet.head.plen;

	switch (frt_lasthop_send(from, to, rx, &lane->body)) {
	case FRT_WAY_FRAMED:
		return send_piece(from, RTE_REQUESTS, to);
	case FRT_WAY_LATER:
		stall_begin(lane);
		return RTE_MORE;
	case FRT_WAY_STRAIGHT:
		stall_end(lane);
		lane->pieces++;
		lane->placed++;
		lane->bytes += len;
		break;
	case FRT_WAY_NOWHERE:
		break;
	case FRT_WAY_BAD:
		return RTE_BAD_VALUE;
	}
	lane_pop(lane);
	return RTE_OK;
}

/* --- A lane --- */

static enum rte_bad lane_parse(struct frt_lane *lane)
{
	enum rte_bad bad;

	if (lane->parsed)
		return RTE_OK;
	bad = frt_body_parse(&lane->body, &lane_first(lane)->packet);
	lane->parsed = bad == RTE_OK;
	return bad;
}

static enum rte_bad lane_send(struct frt_side *from, enum rte_lane at,
			      struct frt_side *to)
{
	struct frt_lane *lane = &from->lane[at];
	enum rte_bad bad = RTE_OK;

	while (bad == RTE_OK && !crn_list_empty(&lane->queue)) {
		bad = lane_parse(lane);
		if (bad == RTE_OK)
			bad = at == RTE_REQUESTS && to->hop.lends && !lane->gone
				      ? execute(from, to)
				      : send_piece(from, at, to);
	}
	return bad == RTE_MORE ? RTE_OK : bad;
}

enum rte_bad frt_forward(struct frt_transit *transit, enum frt_from from)
{
	struct frt_side *to = &transit->side[frt_other(from)];
	enum rte_bad bad = RTE_OK;
	enum rte_lane at;

	if (!to->peer || to->say)
		return RTE_OK;
	for (at = 0; at < RTE_LANES && bad == RTE_OK; at++)
		bad = lane_send(&transit->side[from], at, to);
	return bad;
}

void frt_forward_message(struct frt_transit *transit, enum frt_from from,
			 struct rte_rx *rx)
{
	struct frt_lane *lane = &transit->side[from].lane[rx->lane];

	if (frt_lasthop_hears(&transit->side[from], rx))
		return;
	lane->messages++;
	lane->queued++;
	rx->user = 1;
	crn_list_add_tail(&lane->queue, &rx->entry);
}

bool frt_forward_empty(const struct frt_transit *transit, enum frt_from from)
{
	const struct frt_lane *lane = transit->side[from].lane;

	return crn_list_empty(&lane[RTE_REQUESTS].queue) &&
	       crn_list_empty(&lane[RTE_RESPONSES].queue);
}
