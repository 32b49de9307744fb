/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ACK and NACK, of both directions.
 *
 * An ACK says that all requests up to one have reached what they asked for. The last
 * router says so of messages that asked for no more than that they were sent; the target
 * of the others, in the order of the connection. So what the router acknowledges says
 * nothing of a write before it.
 *
 * An ACK rides on a message that nothing may hold up: the data of a read, or, when the
 * peer is the other end, anything. Requests on their way through routers wait for the
 * program's receives, which the program may post only after what the ACK tells it.
 */
#include "ops.h"

void rte_vc_head(const struct rte_vc *vc, struct rte_packet *packet, uint8_t type,
		 uint64_t seq, bool rides)
{
	memset(&packet->head, 0, sizeof(packet->head));
	packet->head.type = type;
	packet->head.seq = seq;
	packet->payload = NULL;
	packet->options.present = 0;
	if (rides && vc->ack_due) {
		packet->options.present = 1u << RTE_TLV_ACK;
		packet->options.ack = vc->ack_due;
	}
}

void rte_vc_rode(struct rte_vc *vc, const struct rte_packet *packet)
{
	if (packet->options.present)
		vc->ack_due = 0;
}

/* The first one ends the connection. */
void rte_vc_refuse(struct rte_vc *vc, uint64_t seq, int status)
{
	vc->deaf = true;
	vc->nack_due = seq;
	vc->nack_status = status;
}

static void nack_post(struct rte_vc *vc, struct rte_tx *tx)
{
	const struct rte_nack nack = {
		.request = vc->nack_due,
		.status = (uint32_t)vc->nack_status,
	};
	struct rte_packet packet;
	ssize_t len;

	rte_vc_head(vc, &packet, RTE_NACK, 0, false);
	packet.head.flags = RTE_ERR;
	len = rte_nack_pack(&packet, &nack, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	vc->nack_due = 0;
	rte_tx_post(tx);
}

static void ack_post(struct rte_vc *vc, struct rte_tx *tx)
{
	const struct rte_ack ack = {.request = vc->ack_due};
	struct rte_packet packet;
	ssize_t len;

	rte_vc_head(vc, &packet, RTE_ACK, 0, false);
	len = rte_ack_pack(&packet, &ack, tx->bytes, tx->room);
	assert(len > 0);
	tx->len = (size_t)len;
	vc->ack_due = 0;
	rte_tx_post(tx);
}

void rte_vc_tell(struct rte_vc *vc)
{
	struct rte_tx *tx;

	while (vc->nack_due || vc->ack_due) {
		tx = rte_tx_get(vc->peer, RTE_RESPONSES, RTE_SMALL_ROOM);
		if (!tx)
			return;
		if (vc->ack_due)
			ack_post(vc, tx);
		else
			nack_post(vc, tx);
	}
}

/* What has ended already is acknowledged once more in vain. */
const char *rte_vc_acked(struct rte_vc *vc, uint64_t seq)
{
	if (!seq || seq >= vc->next)
		return "an ACK of what was not sent";
	if (rte_vc_op(vc, seq)->level == RTE_VC_ROUTED)
		vc->routed = CRN_MAX(vc->routed, seq);
	else
		vc->reached = CRN_MAX(vc->reached, seq);
	return NULL;
}

const char *rte_vc_nacked(struct rte_vc *vc, const struct rte_nack *nack)
{
	struct rte_vc_op *op;

	if (!nack->request || nack->request > vc->next || nack->request >= vc->tail)
		return "a NACK of what was not sent";
	if (nack->request < vc->head)
		return NULL;
	op = rte_vc_op(vc, nack->request);
	if (!op->begun)
		return "a NACK of what was not sent";
	if (!op->err) {
		op->err = (int)nack->status;
		op->router = nack->router;
	}
	vc->refused = true;
	return NULL;
}
