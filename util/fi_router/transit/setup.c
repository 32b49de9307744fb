/* SPDX-License-Identifier: BSD-2-Clause */
/* How a connection comes about: CONN_REQ to the next router or the target, CONN_REP back,
 * CONN_ACK. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"

/* What connections over this router can have. Not CRCs: it cuts what has one. */
#define FEATURES \
	(RTE_FEATURE_RMA | RTE_FEATURE_COMMIT | RTE_FEATURE_DELIVER | RTE_FEATURE_PROBE)
/* Of them, what the first version had. */
#define FEATURES_EARLY (RTE_FEATURE_RMA | RTE_FEATURE_DELIVER | RTE_FEATURE_PROBE)

static bool same_id(const struct frt_transit *transit, const uint8_t *id)
{
	return !memcmp(transit->req.id, id, sizeof(transit->req.id));
}

/* Within a callback of its peer. */
static void bad(struct frt_side *side, struct rte_rx *rx, const char *what)
{
	rte_rx_put(rx);
	rte_peer_bad(side->peer, what);
}

/* What a host is refused, it may ask for again and again. */
static enum frt_level refusal_level(const struct frt_transit *transit)
{
	const struct rte_peer *peer = transit->side[FRT_IN].peer;

	if (frt_is_probe(transit))
		return FRT_DEBUG;
	if (!peer ||
	    (transit->reason.status != FI_EACCES && transit->reason.status != FI_ENOBUFS))
		return FRT_INFO;
	return frt_log_first(FRT_INFO, &peer->address.sa, transit->reason.status);
}

void frt_transit_refuse(struct frt_transit *transit, enum rte_verdict verdict)
{
	struct frt_side *out = &transit->side[FRT_OUT];
	const struct frt_reason *reason = &transit->reason;

	frt_log_peer(refusal_level(transit), "%s to %" PRIu32 ":%" PRIu32 ": %s (%s)",
		     transit->side[FRT_IN].text, transit->req.target.as,
		     transit->req.target.subnet, reason->why,
		     fi_strerror((int)reason->status));
	if (transit->rx)
		rte_rx_put(transit->rx);
	transit->rx = NULL;
	if (transit->state == FRT_ASKING && !(out->say & FRT_SAY_REQ))
		frt_say_only(out, FRT_SAY_ACK);
	else
		frt_side_close(out, 0);
	transit->verdict = (uint8_t)verdict;
	frt_say_only(&transit->side[FRT_IN], FRT_SAY_REP);
	transit->state = FRT_ENDING;
	frt_transit_deadline(transit, FRT_END_MS);
	frt_transit_go(transit);
}

/* --- CONN_REQ --- */

/* This router's, and not the other end's fault. */
static bool has_no_room(int ret)
{
	return ret == -FI_ENOMEM || ret == -FI_EAGAIN || ret == -FI_ENOBUFS ||
	       ret == -FI_EMFILE || ret == -ENFILE;
}

/* A probe goes where adjacencies do: the main thread of the next router can say how all
 * of it is. */
static uint8_t preamble_of(const struct frt_transit *transit)
{
	return frt_is_probe(transit) || transit->node->early ? 0 : RTE_PREAMBLE_CONN;
}

static void reach(struct frt_transit *transit, struct frt_answer *answer)
{
	struct rte_port *port = frt_transit_port(transit, answer->device);
	struct frt_side *out = &transit->side[FRT_OUT];
	char text[CRN_ADDR_STRLEN];
	int ret = -FI_ENODEV;

	out->device = answer->device;
	crn_addr_str(&answer->address.sa, text);
	snprintf(out->text, sizeof(out->text), "%s", text);
	if (answer->what == FRT_FORWARD) {
		transit->next = answer->router;
		transit->req.ttl--;
	}
	if (!frt_node_descriptors(transit->node, false))
		ret = -FI_EMFILE;
	else if (port && answer->device != frt_transits_of(transit->worker)->gone)
		ret = rte_peer_connect(port, &answer->address.sa, preamble_of(transit),
				       &frt_transit_peer_ops, out, &out->peer);
	if (!ret) {
		if (transit->client)
			rte_peer_quota(out->peer, &transit->client->slots);
		return;
	}
	out->peer = NULL;
	if (has_no_room(ret))
		frt_reason_set(transit, FI_ENOBUFS, frt_own_id(transit),
			       "no room for a connection to %s: %s", text,
			       fi_strerror(-ret));
	else
		frt_reason_set(transit, FI_EHOSTUNREACH,
			       transit->next ? transit->next : frt_own_id(transit),
			       "%s: %s", text, fi_strerror(-ret));
	frt_transit_refuse(transit, RTE_FAILED);
}

static void path_keep(struct frt_transit *transit, const struct frt_answer *answer)
{
	transit->hops = CRN_MIN(answer->hops, RTE_TTL_MAX);
	memcpy(transit->path, answer->path, transit->hops * sizeof(*answer->path));
}

/* What was answered stays, as far as it is needed. */
static void follow(struct frt_transit *transit, struct frt_answer *answer)
{
	struct rte_conn_req *req = &transit->req;
	const struct frt_device *in = transit->side[FRT_IN].device;

	path_keep(transit, answer);
	req->source = answer->source;
	/* Clients do not know what their subnet can do. */
	if (transit->client) {
		req->rate = in->rate;
		req->latency = in->config->latency;
	}
	if (answer->rate && (!req->rate || answer->rate < req->rate))
		req->rate = answer->rate;
	req->latency += CRN_MIN(answer->latency, UINT32_MAX - req->latency);
	reach(transit, answer);
}

static void decide(struct frt_transit *transit, struct frt_answer *answer)
{
	if (answer->what == FRT_DELIVER && frt_is_probe(transit)) {
		path_keep(transit, answer);
		frt_reason_set(transit, 0, frt_own_id(transit), "%s", "");
		frt_transit_refuse(transit, RTE_ACCEPTED);
		return;
	}
	switch (answer->what) {
	case FRT_DELIVER:
	case FRT_FORWARD:
		follow(transit, answer);
		return;
	case FRT_REDIRECT:
		snprintf(transit->uri, sizeof(transit->uri), "%s", answer->uri);
		/* For who does not follow it: over this router it is not reached. */
		frt_reason_set(transit, FI_EHOSTUNREACH, frt_own_id(transit),
			       "%s is nearer", answer->uri);
		frt_transit_refuse(transit, RTE_REDIRECT);
		return;
	case FRT_REFUSE:
		/* For people who trace it. */
		if (frt_is_probe(transit))
			path_keep(transit, answer);
		frt_reason_set(transit, answer->status, frt_own_id(transit), "%s",
			       answer->text);
		frt_transit_refuse(transit, RTE_FAILED);
		return;
	}
}

uint32_t frt_transit_reach_ms(const struct frt_transit *transit)
{
	return transit->req.timeout / 2;
}

/* The next hop has been reached: it has the rest of the time for its answer. */
static void wait_for_answer(struct frt_transit *transit)
{
	const uint64_t spent = crn_now_ms() - transit->began;

	frt_transit_deadline(transit,
			     transit->req.timeout - CRN_MIN(spent, transit->req.timeout));
}

void frt_transit_ask(struct frt_transit *transit, struct rte_rx *rx)
{
	struct frt_side *in = &transit->side[FRT_IN];
	struct frt_answer answer;
	const struct frt_question question = {
		.in = in->device,
		.from = in->peer,
		.client = transit->client,
		.req = &transit->req,
		.options = &rx->packet.options,
	};

	if (rx->packet.head.type != RTE_CONN_REQ ||
	    rte_conn_req_parse(&transit->req, &rx->packet) != RTE_OK) {
		bad(in, rx, "a CONN_REQ that is none");
		return;
	}
	transit->rx = rx;
	frt_transit_deadline(transit, frt_transit_reach_ms(transit));
	frt_route(transit->node, &question, &answer);
	decide(transit, &answer);
}

/* --- The other peer is there --- */

static bool right_peer(struct frt_transit *transit, const struct rte_peer *peer)
{
	const uint8_t role = transit->next ? RTE_ROUTER : RTE_TARGET;

	if (peer->remote.role != role ||
	    (transit->next && peer->remote.node != transit->next)) {
		frt_reason_set(transit, FI_EHOSTUNREACH,
			       transit->next ? transit->next : frt_own_id(transit),
			       "at %s is somebody else", transit->side[FRT_OUT].text);
		return false;
	}
	if (peer->eager_max < FRT_EAGER_MIN ||
	    transit->side[FRT_IN].peer->eager_max < FRT_EAGER_MIN) {
		frt_reason_set(transit, EPROTO, frt_own_id(transit),
			       "a neighbour takes less than %u bytes in a message",
			       FRT_EAGER_MIN);
		return false;
	}
	return true;
}

static uint32_t frag_narrow(uint32_t frag, const struct frt_side *side)
{
	frag = CRN_MIN(frag, side->device->config->frag);
	if (side->peer->frag_max)
		frag = CRN_MIN(frag, side->peer->frag_max);
	return CRN_MAX(frag, RTE_FRAG_MIN);
}

static void narrow(struct frt_transit *transit)
{
	const struct frt_side *in = &transit->side[FRT_IN],
			      *out = &transit->side[FRT_OUT];
	struct rte_conn_req *req = &transit->req;

	req->features &= transit->node->early ? FEATURES_EARLY : FEATURES;
	req->frag = frag_narrow(frag_narrow(req->frag, in), out);
	req->eager = CRN_MIN(req->eager, RTE_EAGER);
	req->eager = CRN_MIN(req->eager, in->peer->eager_max);
	req->eager = CRN_MIN(req->eager, out->peer->eager_max);
}

void frt_transit_up(struct frt_transit *transit)
{
	struct frt_side *in = &transit->side[FRT_IN], *out = &transit->side[FRT_OUT];

	if (transit->state != FRT_REACHING)
		return;
	snprintf(out->text, sizeof(out->text), "%s", out->peer->text);
	if (!right_peer(transit, out->peer)) {
		frt_transit_refuse(transit, RTE_FAILED);
		return;
	}
	out->end = !transit->next;
	in->hop.lends = frt_lasthop_may(in, transit->req.features);
	narrow(transit);
	frt_say_then(out, FRT_SAY_REQ);
	transit->state = FRT_ASKING;
	wait_for_answer(transit);
	frt_transit_go(transit);
}

/* --- CONN_REP --- */

static void answered(struct frt_transit *transit, const struct rte_conn_rep *rep,
		     struct rte_rx *rx)
{
	struct frt_side *in = &transit->side[FRT_IN], *out = &transit->side[FRT_OUT];

	if (rep->verdict == RTE_REDIRECT) {
		/* It is a client that could go elsewhere, on its own subnet. */
		rte_rx_put(rx);
		frt_reason_set(transit, FI_EHOSTUNREACH,
			       transit->next ? transit->next : frt_own_id(transit),
			       "%s sends elsewhere", transit->side[FRT_OUT].text);
		frt_side_close(&transit->side[FRT_OUT], 0);
		frt_transit_refuse(transit, RTE_FAILED);
		return;
	}
	transit->rx = rx;
	out->hop.lends = frt_lasthop_may(out, rep->features);
	frt_say_then(in, FRT_SAY_REP);
	if (rep->verdict == RTE_ACCEPTED && !frt_is_probe(transit)) {
		transit->state = FRT_ANSWERED;
	} else {
		frt_side_close(&transit->side[FRT_OUT], 0);
		transit->state = FRT_ENDING;
		frt_transit_deadline(transit, FRT_END_MS);
	}
	frt_transit_go(transit);
}

void frt_transit_rep(struct frt_transit *transit, struct rte_rx *rx)
{
	struct frt_side *out = &transit->side[FRT_OUT];
	struct rte_conn_rep rep;

	if (transit->state != FRT_ASKING || (out->say & FRT_SAY_REQ))
		bad(out, rx, "a CONN_REP that was not asked for");
	else if (rte_conn_rep_parse(&rep, &rx->packet) != RTE_OK)
		bad(out, rx, "a malformed CONN_REP");
	else if (!same_id(transit, rep.id))
		bad(out, rx, "the CONN_REP of another connection");
	else
		answered(transit, &rep, rx);
}

/* --- CONN_ACK --- */

void frt_transit_ack(struct frt_transit *transit, struct rte_rx *rx)
{
	struct frt_side *in = &transit->side[FRT_IN];
	struct rte_conn_ack ack;

	if (rte_conn_ack_parse(&ack, &rx->packet) != RTE_OK ||
	    !same_id(transit, ack.id)) {
		bad(in, rx, "a malformed CONN_ACK");
		return;
	}
	if (!ack.status && (transit->state != FRT_ANSWERED || in->say)) {
		bad(in, rx, "a CONN_ACK before the CONN_REP");
		return;
	}
	rte_rx_put(rx);
	if (ack.status) {
		frt_reason_set(transit, (int)ack.status, 0, "%s", "");
		frt_transit_give_up(transit);
		return;
	}
	crn_deadline_remove(transit->worker->deadlines, &transit->deadline);
	transit->opened = crn_now_ms();
	transit->state = FRT_OPEN;
	frt_say_then(&transit->side[FRT_OUT], FRT_SAY_ACK);
	frt_transit_go(transit);
}
