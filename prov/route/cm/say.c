/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "cm.h"

/* Whatever a message is, it fits. */
#define SAY_ROOM (RTE_HEAD_ROOM + RTE_PARAM_MAX)

#define SAY_FEATURES (RTE_FEATURE_RMA | RTE_FEATURE_DELIVER | RTE_FEATURE_COMMIT)
/* Whoever is at the other end of the lower connection. */
#define SAY_LENDS (RTE_FEATURE_BYPASS | RTE_FEATURE_LASTHOP)

static void say_packet(struct rte_packet *packet, uint8_t type, int status,
		       const void *param, size_t len)
{
	packet->head = (struct rte_head){
		.type = type,
		.flags = status ? RTE_ERR : 0,
		.plen = (uint32_t)len,
	};
	packet->payload = param;
	packet->options.present = 0;
}

/* What cannot be packed is a fault of this file, and as good as said. */
static bool say_post(struct rte_tx *tx, ssize_t len)
{
	if (len < 0) {
		RTE_WARN(FI_LOG_EP_CTRL,
			 "a message could not be put together: %zd; please report it\n",
			 len);
		rte_tx_drop(tx);
		return true;
	}
	tx->len = (size_t)len;
	rte_tx_post(tx);
	return true;
}

static uint32_t say_left(const struct rte_ep *ep)
{
	const uint64_t now = crn_now_ms();

	return ep->due > now ? (uint32_t)CRN_MIN(ep->due - now, RTE_TIME_MAX) : 1;
}

bool rte_say_conn_req(struct rte_ep *ep)
{
	struct rte_tx *tx = rte_tx_get(ep->peer, RTE_LANES, SAY_ROOM);
	struct rte_conn_req req = {
		.source = ep->self,
		.target = ep->other,
		.ttl = RTE_TTL_MAX,
		.frag = ep->device->config->frag,
		.eager = RTE_EAGER,
		.timeout = say_left(ep),
		.features = SAY_FEATURES | (rte_vc_lends(&ep->vc) ? SAY_LENDS : 0),
	};
	struct rte_packet packet;

	if (!tx)
		return false;
	memcpy(req.id, ep->id, sizeof(req.id));
	say_packet(&packet, RTE_CONN_REQ, 0, ep->param, ep->param_len);
	return say_post(tx, rte_conn_req_pack(&packet, &req, tx->bytes, tx->room));
}

bool rte_say_conn_rep(struct rte_ep *ep)
{
	struct rte_tx *tx = rte_tx_get(ep->peer, RTE_LANES, SAY_ROOM);
	struct rte_conn_rep rep = {
		.verdict = RTE_ACCEPTED,
		.features = SAY_FEATURES | (ep->path.bypassed ? SAY_LENDS : 0),
		.frag = ep->path.frag,
		.eager = ep->path.eager,
	};
	struct rte_packet packet;

	if (!tx)
		return false;
	memcpy(rep.id, ep->id, sizeof(rep.id));
	say_packet(&packet, RTE_CONN_REP, 0, ep->param, ep->param_len);
	return say_post(tx, rte_conn_rep_pack(&packet, &rep, tx->bytes, tx->room));
}

bool rte_say_conn_ack(struct rte_ep *ep)
{
	struct rte_tx *tx = rte_tx_get(ep->peer, RTE_LANES, SAY_ROOM);
	struct rte_conn_ack ack = {.status = 0};
	struct rte_packet packet;

	if (!tx)
		return false;
	memcpy(ack.id, ep->id, sizeof(ack.id));
	say_packet(&packet, RTE_CONN_ACK, 0, NULL, 0);
	return say_post(tx, rte_conn_ack_pack(&packet, &ack, tx->bytes, tx->room));
}

void rte_say_refusal(struct rte_peer *peer, const uint8_t id[RTE_CONN_ID_LEN],
		     const struct rte_refusal *refusal)
{
	struct rte_tx *tx = rte_tx_get(peer, RTE_LANES, SAY_ROOM);
	struct rte_conn_rep rep = {
		.verdict = (uint8_t)refusal->verdict,
		.status = (uint32_t)refusal->status,
	};
	struct rte_packet packet;

	if (!tx)
		return;
	memcpy(rep.id, id, sizeof(rep.id));
	say_packet(&packet, RTE_CONN_REP, refusal->status, refusal->param,
		   refusal->param_len);
	say_post(tx, rte_conn_rep_pack(&packet, &rep, tx->bytes, tx->room));
}

void rte_say_shutdown(struct rte_ep *ep, int status)
{
	struct rte_tx *tx = rte_tx_get(ep->peer, RTE_LANES, SAY_ROOM);
	struct rte_shutdown shutdown = {.status = (uint32_t)status};
	struct rte_packet packet;

	if (!tx)
		return;
	memcpy(shutdown.id, ep->id, sizeof(shutdown.id));
	say_packet(&packet, RTE_SHUTDOWN, status, NULL, 0);
	say_post(tx, rte_shutdown_pack(&packet, &shutdown, tx->bytes, tx->room));
}
