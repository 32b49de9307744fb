/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations leave in fragments, one after the other. What fits into a Send is copied
 * there; of more, the lower provider reads the program's memory, into a landing slot of
 * the peer's if it has granted one.
 */
#include "ops.h"

/* A header, with an ACK. */
#define DATA_HEAD 128u

/* The next fragment. */
struct piece {
	struct rte_tx *tx;
	const uint8_t *data; /* NULL: to be copied */
	void *desc;
	size_t len;
};

static void sent(struct rte_tx *tx, int err)
{
	struct rte_vc *vc = tx->user;
	struct rte_vc_op *op = rte_vc_op(vc, tx->number);

	vc->lower--;
	op->lower--;
	if (crn_unlikely(err))
		op->lost = true;
	rte_vc_settle(vc);
}

void rte_vc_follow(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
		   struct rte_tx *tx)
{
	tx->done = sent;
	tx->user = vc;
	tx->number = seq;
	op->lower++;
	vc->lower++;
}

static bool piece_copied(struct rte_vc *vc, struct piece *piece, size_t left)
{
	piece->len = CRN_MIN(left, vc->path.eager);
	piece->data = NULL;
	piece->tx = rte_tx_get(vc->peer, RTE_REQUESTS, DATA_HEAD + piece->len);
	return piece->tx;
}

static bool piece_direct(struct rte_vc *vc, struct piece *piece, size_t part)
{
	size_t most = vc->path.eager;

	piece->tx = rte_tx_get(vc->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	if (!piece->tx)
		return false;
	if (part > most && vc->path.frag > most && rte_tx_slot(piece->tx))
		most = CRN_MIN(piece->tx->slot_len, vc->path.frag);
	piece->len = CRN_MIN(part, most);
	return true;
}

/* False: there is no credit or memory for it now. */
static bool piece_take(struct rte_vc *vc, struct rte_vc_op *op, struct piece *piece)
{
	const uint64_t left = op->length - op->offset;
	uint8_t *at;
	size_t part;

	if (left <= vc->path.eager || op->copy)
		return piece_copied(vc, piece, (size_t)left);
	part = rte_vc_part(op, &at, &piece->desc);
	piece->data = at;
	if (vc->peer->port->mr_local && !piece->desc)
		return piece_copied(vc, piece, (size_t)left);
	return piece_direct(vc, piece, part);
}

/* What is to be durable says so in each piece: the target refuses it before it has placed
 * any of it. */
static uint8_t piece_flags(const struct rte_vc_op *op, size_t len)
{
	static const uint8_t asks[] = {
		[RTE_VC_HANDED] = 0,
		[RTE_VC_SENT] = 0,
		[RTE_VC_ROUTED] = RTE_ACKREQ,
		[RTE_VC_REACHED] = RTE_ACKREQ | RTE_DELIVER,
		[RTE_VC_DURABLE] = RTE_ACKREQ | RTE_COMMIT,
	};
	const bool last = op->offset + len == op->length;
	const bool durable = op->level == RTE_VC_DURABLE;

	return (uint8_t)((op->offset ? 0 : RTE_FIRST) | (last ? RTE_LAST : 0) |
			 (op->has_data ? RTE_CQDATA : 0) |
			 (last || durable ? asks[op->level] : 0) |
			 (durable && op->fence ? RTE_DELIVER : 0));
}

/* The slot is filled in by rte_tx_post. */
static ssize_t piece_pack(const struct rte_vc_op *op, const struct rte_packet *packet,
			  const struct piece *piece)
{
	const uint32_t slot = piece->tx->slot_len ? 0 : RTE_SLOT_NONE;
	const struct rte_msg msg = {
		.slot = slot,
		.length = op->length,
		.offset = op->offset,
		.cq_data = op->cq_data,
	};
	const struct rte_write write = {
		.slot = slot,
		.length = op->length,
		.offset = op->offset,
		.cq_data = op->cq_data,
		.addr = op->addr,
		.key = op->key,
	};

	return op->type == RTE_MSG
		       ? rte_msg_pack(packet, &msg, piece->tx->bytes, piece->tx->room)
		       : rte_write_pack(packet, &write, piece->tx->bytes,
					piece->tx->room);
}

static void piece_fill(struct rte_vc_op *op, const struct piece *piece)
{
	struct rte_tx *tx = piece->tx;

	if (piece->data) {
		tx->data = piece->data;
		tx->data_len = piece->len;
		tx->desc = piece->desc;
		rte_vc_skip(op, piece->len);
	} else {
		rte_vc_gather(op, tx->bytes + tx->len, piece->len);
		tx->len += piece->len;
	}
}

/* The whole of it is sent. */
static void op_framed(struct rte_vc *vc, const struct rte_vc_op *op)
{
	vc->framed = vc->next++;
	if (op->type == RTE_MSG || op->has_data)
		vc->received = vc->framed;
}

static bool piece_send(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq)
{
	struct rte_packet packet;
	struct piece piece;
	ssize_t len;
	bool last;

	if (!piece_take(vc, op, &piece))
		return false;
	rte_vc_head(vc, &packet, op->type, seq, vc->path.direct);
	packet.head.flags = piece_flags(op, piece.len);
	packet.head.plen = (uint32_t)piece.len;
	len = piece_pack(op, &packet, &piece);
	assert(len > 0);
	piece.tx->len = (size_t)len;
	piece_fill(op, &piece);
	op->begun = true;
	op->offset += piece.len;
	last = packet.head.flags & RTE_LAST;
	if (piece.data || (last && op->level == RTE_VC_SENT))
		rte_vc_follow(vc, op, seq, piece.tx);
	rte_vc_rode(vc, &packet);
	rte_tx_post(piece.tx);
	if (last)
		op_framed(vc, op);
	return true;
}

bool rte_vc_whole_send(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq,
		       const void *buf)
{
	const size_t len = (size_t)op->length;
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_REQUESTS, DATA_HEAD + len);

	if (!tx)
		return false;
	rte_msg_whole_pack(seq, piece_flags(op, len), (uint32_t)len, tx->bytes);
	if (len)
		memcpy(tx->bytes + RTE_MSG_WHOLE, buf, len);
	tx->len = RTE_MSG_WHOLE + len;
	op->begun = true;
	op->offset = len;
	if (op->level == RTE_VC_SENT)
		rte_vc_follow(vc, op, seq, tx);
	rte_tx_post(tx);
	op_framed(vc, op);
	return true;
}

static bool read_send(struct rte_vc *vc, struct rte_vc_op *op, uint64_t seq)
{
	const struct rte_read_req req = {
		.length = op->length,
		.addr = op->addr,
		.key = op->key,
		.window = RTE_VC_WINDOW,
		.frag = CRN_MAX(vc->path.frag, vc->path.eager),
	};
	struct rte_tx *tx = rte_tx_get(vc->peer, RTE_REQUESTS, RTE_SMALL_ROOM);
	struct rte_packet packet;
	ssize_t len;

	if (!tx)
		return false;
	rte_vc_head(vc, &packet, RTE_READ_REQ, seq, vc->path.direct);
	len = rte_read_req_pack(&packet, &req, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	op->begun = true;
	rte_vc_rode(vc, &packet);
	rte_peer_expect(vc->peer, RTE_RESPONSES, op->length);
	op_framed(vc, op);
	rte_tx_post(tx);
	return true;
}

static bool op_send(struct rte_vc *vc)
{
	struct rte_vc_op *op = rte_vc_op(vc, vc->next);
	enum rte_vc_way way;

	if (crn_unlikely(op->fence && !op->begun)) {
		rte_vc_retire(vc);
		/* What was posted before it has not ended. */
		if (vc->head != vc->next)
			return false;
	}
	if (vc->path.bypass && op->type != RTE_MSG) {
		way = rte_vc_direct(vc, op, vc->next);
		if (way != RTE_VC_FRAMED)
			return way == RTE_VC_STRAIGHT;
		if (op->length && !op->begun)
			rte_key_used(&vc->keys, vc->peer, op->key);
	}
	return op->type == RTE_READ_REQ ? read_send(vc, op, vc->next)
					: piece_send(vc, op, vc->next);
}

void rte_vc_pump(struct rte_vc *vc)
{
	if (vc->pumping)
		return;
	vc->pumping = true;
	while (vc->next < vc->tail && vc->state == RTE_VC_UP && !vc->refused &&
	       op_send(vc))
		;
	vc->pumping = false;
}
