/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last hop of writes. An end that lends its regions (RTE_FEATURE_LASTHOP) is asked
 * for the key of one that is written again and again, and from then on its writes are the
 * lower provider's own: from the receive or landing slot that the data came in to their
 * place. The end has nothing to copy, and nothing to acknowledge: this router does, when
 * the lower provider says that the last piece is there.
 *
 * They share the lower endpoint with messages, and its order. One is executed here only
 * when no message before it can still wait at the end, and when the end has acknowledged
 * all that is its own to acknowledge: so the ACK of this one says nothing of those, and
 * an ACK of the end for what is behind it says of this one what is true. All else, and
 * whatever the end has to refuse, goes as a message.
 *
 * The end recalls a key when its region closes. The answer comes behind what has been
 * written there; the rest of a write that had begun is refused as the end would.
 */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "inside.h"

/* Writes one by one, of which each has waited for the one before. */
#define ALONE 4u

bool frt_lasthop_may(const struct frt_side *side, uint64_t features)
{
	return side->end && (features & RTE_FEATURE_LASTHOP) &&
	       side->peer->port->lower_rma && !side->transit->node->early;
}

/* --- One write --- */

/* Bytes of a piece of that write at most: the first one is not always the longest. */
static uint64_t piece_most(const struct frt_side *to, const struct rte_head *head,
			   const struct rte_write *write)
{
	const struct rte_conn_req *req = &to->transit->req;
	const uint32_t most = CRN_MAX(req->frag, req->eager);

	return CRN_MIN(write->length, (uint64_t)CRN_MAX(most, head->plen));
}

/* Only what the lower provider does as it is asked for here. */
static bool write_fits(const struct frt_side *to, const struct rte_head *head,
		       const struct rte_write *write)
{
	const struct frt_lasthop *hop = &to->hop;

	return (head->flags & RTE_FIRST) && write->length && !hop->open &&
	       head->seq > hop->seq &&
	       !(head->flags & (RTE_CQDATA | RTE_COMMIT | RTE_CRC)) &&
	       piece_most(to, head, write) <= to->peer->port->lower_rma;
}

/*
 * What was sent before has to have left the end's receives. Writes leave them by
 * themselves, and are worth waiting for. Reads that are answered later than a write
 * behind them are nothing that anybody has promised.
 */
static enum frt_way write_way(const struct frt_side *to)
{
	const struct frt_lasthop *hop = &to->hop;

	if (hop->framed <= hop->reached ||
	    (hop->asked <= hop->reached && rte_peer_idle(to->peer)))
		return FRT_WAY_STRAIGHT;
	/* What its sender has left is to be gone soon. */
	if (to->transit->state != FRT_OPEN)
		return FRT_WAY_FRAMED;
	return hop->received <= hop->reached ? FRT_WAY_LATER : FRT_WAY_FRAMED;
}

/*
 * What is waited for until it is there keeps its place in this router's memory for longer
 * than a message, and is acknowledged for itself. Of a write of several pieces that is
 * the last one alone. One of one piece pays where they come one by one, and does not hold
 * up those of several.
 */
static bool write_pays(const struct frt_side *from, struct frt_lasthop *hop,
		       const struct rte_head *head, enum frt_way way)
{
	if (!(head->flags & RTE_LAST))
		return true;
	if (way == FRT_WAY_STRAIGHT && !from->wrote.flying)
		return ++hop->alone > ALONE;
	hop->alone = 0;
	return way == FRT_WAY_STRAIGHT && hop->several;
}

static void placed(struct rte_tx *tx, int err)
{
	struct frt_side *to = tx->peer->user;
	struct frt_transit *transit = to->transit;
	const enum frt_from from = frt_other(frt_which(to));

	frt_transit_enter(transit);
	to->hop.failed |= err != 0;
	frt_rx_let_go(tx->user);
	if (tx->number) {
		frt_ack_landed(&transit->side[from].wrote, tx->number, !to->hop.failed);
		/* One ACK tells of all that were placed meanwhile. */
		if (transit->state != FRT_OPEN || !rte_peer_later(tx->peer))
			frt_forward_ack(transit, from);
	}
	frt_transit_done(tx, err);
	frt_transit_leave(transit);
}

/* False: there is no room now. */
static bool write_post(struct frt_side *from, struct frt_side *to, struct rte_rx *rx,
		       const struct rte_write *write)
{
	const struct rte_head *head = &rx->packet.head;
	const bool asks = (head->flags & RTE_LAST) && (head->flags & RTE_ACKREQ);
	const struct rte_key *key = rte_key_place(&to->hop.keys, write->key);
	struct rte_tx *tx = rte_tx_placing(to->peer);

	if (!tx)
		return false;
	tx->data = rx->payload;
	tx->data_len = head->plen;
	tx->desc = rte_rx_desc(rx, to->peer->port);
	tx->user = rx;
	tx->number = asks ? head->seq : 0;
	tx->done = placed;
	rx->user++;
	if (asks)
		frt_ack_flies(&from->wrote);
	to->transit->sends++;
	rte_tx_place(tx, key->base + write->addr + write->offset, key->lower, asks);
	return true;
}

/* The first piece of a write: is it executed here? */
static enum frt_way write_begin(struct frt_side *from, struct frt_side *to,
				struct rte_rx *rx, const struct rte_write *write)
{
	struct frt_lasthop *hop = &to->hop;
	const struct rte_head *head = &rx->packet.head;
	const struct rte_key *key = rte_key_known(&hop->keys, write->key);
	enum frt_way way;

	if (!write_fits(to, head, write) || !key ||
	    !rte_key_allows(key, RTE_ACCESS_WRITE, write->addr, write->length))
		return FRT_WAY_FRAMED;
	way = write_way(to);
	if (!write_pays(from, hop, head, way))
		return FRT_WAY_FRAMED;
	if (way != FRT_WAY_STRAIGHT)
		return way;
	if (!write_post(from, to, rx, write))
		return FRT_WAY_LATER;
	hop->seq = head->seq;
	hop->addr = write->addr;
	hop->key = write->key;
	hop->length = write->length;
	hop->offset = head->plen;
	hop->open = hop->straight = hop->several = !(head->flags & RTE_LAST);
	return FRT_WAY_STRAIGHT;
}

static bool write_goes_on(const struct frt_lasthop *hop, const struct rte_head *head,
			  const struct rte_write *write)
{
	return head->type == RTE_WRITE && head->seq == hop->seq &&
	       write->addr == hop->addr && write->key == hop->key &&
	       write->length == hop->length && write->offset == hop->offset;
}

/* One more piece of a write that is executed here. */
static enum frt_way write_more(struct frt_side *from, struct frt_side *to,
			       struct rte_rx *rx, const struct rte_write *write)
{
	struct frt_lasthop *hop = &to->hop;
	const struct rte_head *head = &rx->packet.head;

	if (!write_goes_on(hop, head, write))
		return FRT_WAY_BAD;
	if (!rte_key_known(&hop->keys, write->key)) {
		hop->deaf = true;
		hop->refused = hop->seq;
		return FRT_WAY_NOWHERE;
	}
	if (!write_post(from, to, rx, write))
		return FRT_WAY_LATER;
	hop->offset += head->plen;
	hop->open = hop->straight = !(head->flags & RTE_LAST);
	return FRT_WAY_STRAIGHT;
}

enum frt_way frt_lasthop_send(struct frt_side *from, struct frt_side *to,
			      struct rte_rx *rx, const union frt_body *body)
{
	if (to->hop.deaf)
		return FRT_WAY_NOWHERE;
	if (to->hop.straight)
		return write_more(from, to, rx, &body->write);
	return rx->packet.head.type == RTE_WRITE ? write_begin(from, to, rx, &body->write)
						 : FRT_WAY_FRAMED;
}

void frt_lasthop_framed(struct frt_side *to, const struct rte_packet *packet,
			const union frt_body *body)
{
	struct frt_lasthop *hop = &to->hop;
	const struct rte_head *head = &packet->head;
	const bool asks = head->flags & RTE_ACKREQ && !frt_ack_mine(head);

	if (!to->hop.lends || rte_message_lane(head->type) != RTE_REQUESTS)
		return;
	hop->seq = CRN_MAX(hop->seq, head->seq);
	if (head->type == RTE_READ_REQ)
		return;
	hop->open = !(head->flags & RTE_LAST);
	hop->framed = hop->seq;
	if (head->type == RTE_MSG || (head->flags & RTE_CQDATA) || (!hop->open && !asks))
		hop->received = hop->seq;
	if (asks)
		hop->asked = hop->seq;
	if (head->type == RTE_WRITE && (head->flags & RTE_FIRST) && body->write.length)
		rte_key_used(&hop->keys, to->peer, body->write.key);
}

/* --- What the end says --- */

static bool informed(struct frt_side *to, const struct rte_packet *packet)
{
	struct rte_mr_info info;

	return rte_mr_info_parse(&info, packet) == RTE_OK &&
	       rte_key_informed(&to->hop.keys, &info);
}

static bool recalled(struct frt_side *to, const struct rte_packet *packet)
{
	struct rte_mr_inval inval;

	return rte_mr_inval_parse(&inval, packet) == RTE_OK &&
	       (packet->head.flags & RTE_ACKREQ) &&
	       rte_key_recalled(&to->hop.keys, &inval);
}

static void acked(struct frt_lasthop *hop, const struct rte_packet *packet)
{
	struct rte_ack ack;

	if (packet->options.present & 1u << RTE_TLV_ACK)
		hop->reached = CRN_MAX(hop->reached, packet->options.ack);
	if (packet->head.type == RTE_ACK && rte_ack_parse(&ack, packet) == RTE_OK)
		hop->reached = CRN_MAX(hop->reached, ack.request);
}

bool frt_lasthop_hears(struct frt_side *to, struct rte_rx *rx)
{
	const struct rte_packet *packet = &rx->packet;
	bool good;

	if (!to->hop.lends)
		return false;
	acked(&to->hop, packet);
	if (packet->head.type == RTE_MR_INFO)
		good = informed(to, packet);
	else if (packet->head.type == RTE_MR_INVAL)
		good = recalled(to, packet);
	else
		return false;
	rte_rx_put(rx);
	if (!good)
		rte_peer_bad(to->peer, "it tells of a key that was not asked for");
	return true;
}

/* --- What they are told --- */

/* As the end would: it is its region that has gone. */
static void refuse(struct frt_side *from, struct frt_lasthop *hop)
{
	const struct rte_nack nack = {.request = hop->refused, .status = FI_EKEYREJECTED};
	const struct rte_packet packet = {
		.head = {.type = RTE_NACK, .flags = RTE_ERR},
	};
	struct rte_tx *tx = rte_tx_get(from->peer, RTE_RESPONSES, RTE_SMALL_ROOM);

	if (!tx)
		return;
	hop->refused = 0;
	frt_own_post(tx, rte_nack_pack(&packet, &nack, tx->bytes, tx->room));
}

void frt_lasthop_tell(struct frt_side *from, struct frt_side *to)
{
	struct frt_lasthop *hop = &to->hop;

	if (hop->refused && from->peer && !from->say)
		refuse(from, hop);
	/* What was written before a message is there before it (FI_ORDER_SAW). */
	if (hop->keys.recalled && to->peer && !to->say)
		rte_keys_return(&hop->keys, to->peer);
}
