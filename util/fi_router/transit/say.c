/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this router says to the peers of a connection: CONN_REQ, CONN_REP, CONN_ACK and
 * SHUTDOWN, those that it hands on and its own. Each waits for memory, not for credits.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* CONN_REQ, CONN_REP: whole paths and texts, and what the application says. */
#define LONG_ROOM (RTE_HEAD_ROOM + RTE_PARAM_MAX)
#define SHORT_ROOM (RTE_SMALL_ROOM + RTE_TEXT_MAX)

static void path_set(struct rte_options *options, const struct frt_transit *transit)
{
	if (!transit->hops)
		return;
	options->present |= 1u << RTE_TLV_PATH;
	options->hops = transit->hops;
	memcpy(options->hop, transit->path, transit->hops * sizeof(*transit->path));
}

static void why_set(struct rte_options *options, const struct frt_reason *reason)
{
	if (!reason->why[0])
		return;
	options->present |= 1u << RTE_TLV_WHY;
	options->text[RTE_TLV_WHY] = reason->why;
}

/* A client's address is what is seen of it; one that is no IPv4 address goes as text. */
static void source_set(struct rte_options *options, const struct frt_side *in,
		       char text[INET6_ADDRSTRLEN])
{
	const union crn_addr *from = &in->peer->address;

	if (!in->transit->client)
		return;
	options->present &= ~(1u << RTE_TLV_SOURCE);
	if (from->sa.sa_family != AF_INET6 ||
	    !inet_ntop(AF_INET6, &from->in6.sin6_addr, text, INET6_ADDRSTRLEN))
		return;
	options->present |= 1u << RTE_TLV_SOURCE;
	options->text[RTE_TLV_SOURCE] = text;
}

static ssize_t req_pack(struct frt_transit *transit, void *bytes, size_t size)
{
	const uint64_t spent = crn_now_ms() - transit->began;
	struct rte_packet packet = transit->rx->packet;
	struct rte_conn_req req = transit->req;
	char source[INET6_ADDRSTRLEN];

	packet.head.flags = 0;
	req.timeout -= (uint32_t)CRN_MIN(spent, (uint64_t)req.timeout);
	if (frt_lasthop_may(&transit->side[FRT_OUT], RTE_FEATURE_LASTHOP))
		req.features |= RTE_FEATURE_LASTHOP;
	source_set(&packet.options, &transit->side[FRT_IN], source);
	path_set(&packet.options, transit);
	return rte_conn_req_pack(&packet, &req, bytes, size);
}

/* What the target has said, but for what cannot be on the way back. */
static ssize_t rep_hand_on(struct frt_transit *transit, void *bytes, size_t size)
{
	const struct rte_conn_req *req = &transit->req;
	struct rte_packet packet = transit->rx->packet;
	struct rte_conn_rep rep;

	if (rte_conn_rep_parse(&rep, &packet) != RTE_OK)
		return -FI_EINVAL;
	rep.features &= req->features;
	/* Each end has its own last router. */
	if (transit->side[FRT_IN].hop.lends)
		rep.features |= RTE_FEATURE_LASTHOP;
	rep.frag = CRN_MIN(rep.frag, req->frag);
	rep.eager = CRN_MIN(rep.eager, req->eager);
	if (!(packet.options.present & 1u << RTE_TLV_PATH))
		path_set(&packet.options, transit);
	return rte_conn_rep_pack(&packet, &rep, bytes, size);
}

static ssize_t rep_own(struct frt_transit *transit, void *bytes, size_t size)
{
	const struct frt_reason *reason = &transit->reason;
	struct rte_packet packet = {.head = {.type = RTE_CONN_REP, .flags = RTE_ERR}};
	struct rte_conn_rep rep = {.status = reason->status,
				   .verdict = transit->verdict,
				   .router = reason->router};

	memcpy(rep.id, transit->req.id, sizeof(rep.id));
	why_set(&packet.options, reason);
	path_set(&packet.options, transit);
	if (transit->verdict == RTE_ACCEPTED) {
		packet.head.flags = 0;
		rep.frag = transit->req.frag;
		rep.eager = transit->req.eager;
	}
	if (frt_is_probe(transit))
		frt_probe_set(&packet.options, transit->worker);
	if (transit->verdict == RTE_REDIRECT) {
		packet.options.present |= 1u << RTE_TLV_URI;
		packet.options.text[RTE_TLV_URI] = transit->uri;
	}
	return rte_conn_rep_pack(&packet, &rep, bytes, size);
}

static ssize_t rep_pack(struct frt_transit *transit, void *bytes, size_t size)
{
	return transit->verdict ? rep_own(transit, bytes, size)
				: rep_hand_on(transit, bytes, size);
}

static ssize_t ack_pack(struct frt_transit *transit, void *bytes, size_t size)
{
	struct rte_packet packet = {.head.type = RTE_CONN_ACK};
	struct rte_conn_ack ack = {.status = transit->reason.status};

	if (ack.status)
		packet.head.flags = RTE_ERR;
	memcpy(ack.id, transit->req.id, sizeof(ack.id));
	return rte_conn_ack_pack(&packet, &ack, bytes, size);
}

static ssize_t shutdown_pack(struct frt_transit *transit, void *bytes, size_t size)
{
	const struct frt_reason *reason = &transit->reason;
	struct rte_packet packet = {.head.type = RTE_SHUTDOWN};
	struct rte_shutdown shutdown = {.status = reason->status,
					.router = reason->router};

	if (shutdown.status)
		packet.head.flags = RTE_ERR;
	if (transit->late)
		packet.head.flags |= RTE_LAST;
	memcpy(shutdown.id, transit->req.id, sizeof(shutdown.id));
	why_set(&packet.options, reason);
	return rte_shutdown_pack(&packet, &shutdown, bytes, size);
}

static const struct {
	enum frt_word word;
	size_t room;
	ssize_t (*pack)(struct frt_transit *transit, void *bytes, size_t size);
	bool hands_on; /* rx, which is needed no more */
} words[] = {
	{FRT_SAY_REQ, LONG_ROOM, req_pack, true},
	{FRT_SAY_REP, LONG_ROOM, rep_pack, true},
	{FRT_SAY_ACK, RTE_SMALL_ROOM, ack_pack, false},
	{FRT_SAY_SHUTDOWN, SHORT_ROOM, shutdown_pack, false},
};

/* False: there is no memory now. */
static bool say(struct frt_side *side, size_t index)
{
	struct frt_transit *transit = side->transit;
	struct rte_tx *tx = rte_tx_get(side->peer, RTE_LANES, words[index].room);
	ssize_t len;

	if (!tx)
		return false;
	side->say &= ~(uint32_t)words[index].word;
	len = words[index].pack(transit, tx->bytes, tx->room);
	if (words[index].hands_on && transit->rx) {
		rte_rx_put(transit->rx);
		transit->rx = NULL;
	}
	if (len < 0) {
		/* The other end's deadline ends it. */
		frt_log_peer(FRT_WARN,
			     "%s: a message to it cannot be put together: what came of "
			     "the other end is too long",
			     side->text);
		rte_tx_drop(tx);
		return true;
	}
	tx->len = (size_t)len;
	tx->data_len = 0;
	tx->done = frt_transit_done;
	frt_transit_post(transit, tx);
	return true;
}

void frt_say_words(struct frt_side *side)
{
	size_t i;

	if (!side->peer || side->peer->state != RTE_PEER_UP)
		return;
	for (i = 0; i < CRN_COUNT(words) && side->say; i++)
		if ((side->say & (uint32_t)words[i].word) && !say(side, i))
			return;
}
