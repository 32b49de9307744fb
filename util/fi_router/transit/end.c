/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a connection ends. Of one that was established, what the end that is over had sent
 * goes on first, then the other one is told; neither waits for longer than its deadline.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "inside.h"
#include "log.h"

static void ending(struct frt_transit *transit)
{
	transit->state = FRT_ENDING;
	frt_transit_deadline(transit, FRT_END_MS);
	frt_transit_go(transit);
}

/* --- What goes on, and closes --- */

static bool forward_both(struct frt_transit *transit)
{
	enum frt_from from;

	for (from = 0; from < FRT_SIDES; from++) {
		if (frt_forward(transit, from) != RTE_OK) {
			frt_log_peer(FRT_WARN,
				     "%s has sent a malformed message, and its "
				     "connection ends: compare versions",
				     transit->side[from].text);
			frt_transit_lost(transit, from, EPROTO);
			return false;
		}
	}
	for (from = 0; from < FRT_SIDES; from++) {
		frt_forward_ack(transit, from);
		frt_lasthop_tell(&transit->side[from], &transit->side[frt_other(from)]);
	}
	return true;
}

/* All is told that will be. */
static bool acked(const struct frt_ack *ack)
{
	return !ack->flying && !frt_ack_due(ack);
}

/*
 * What the end that is over has sent goes to the other one. That one is also told what of
 * its own requests was sent in time, as far as the lower provider has said so.
 */
static bool drained(struct frt_transit *transit)
{
	const enum frt_from over = transit->over, left = frt_other(over);
	const struct frt_side *side = &transit->side[left];

	/* Nobody is there to be told that a message was malformed. */
	if (frt_forward(transit, over) == RTE_OK && !frt_forward_empty(transit, over))
		return false;
	frt_forward_ack(transit, left);
	return acked(&side->ack) && acked(&side->wrote);
}

static void drain(struct frt_transit *transit)
{
	struct frt_side *to = &transit->side[frt_other(transit->over)];

	frt_lasthop_tell(&transit->side[transit->over], to);
	if (!drained(transit))
		return;
	frt_say_then(to, FRT_SAY_SHUTDOWN);
	ending(transit);
}

void frt_transit_go(struct frt_transit *transit)
{
	struct frt_side *in = &transit->side[FRT_IN], *out = &transit->side[FRT_OUT];

	frt_say_words(in);
	frt_say_words(out);
	switch (transit->state) {
	case FRT_REACHING:
	case FRT_ASKING:
	case FRT_ANSWERED:
	case FRT_CLOSED:
	case FRT_TRANSIT_STATES:
		break;
	case FRT_OPEN:
		forward_both(transit);
		break;
	case FRT_DRAINING:
		drain(transit);
		break;
	case FRT_ENDING:
		/* Who is closed may lose what the lower provider still has of it. */
		if (!in->say && !out->say &&
		    (!transit->sends || (!in->peer && !out->peer)))
			frt_transit_close(transit, 0);
		break;
	}
}

/* --- Why it ends --- */

/* What has been sent by that end goes on first; nothing is waited for where a router
 * before this one has done so, or a connection would end once for each of them. */
static void over(struct frt_transit *transit, enum frt_from from)
{
	transit->over = from;
	transit->state = FRT_DRAINING;
	frt_transit_deadline(transit, transit->late ? 0 : FRT_DRAIN_MS);
	frt_transit_go(transit);
}

void frt_transit_give_up(struct frt_transit *transit)
{
	struct frt_side *out = &transit->side[FRT_OUT];
	const bool asked = transit->state != FRT_REACHING && !(out->say & FRT_SAY_REQ);

	transit->side[FRT_IN].say = 0;
	if (asked)
		frt_say_only(out, FRT_SAY_ACK);
	else
		frt_side_close(out, 0);
	ending(transit);
}

/* The other end can be sent nothing more. But while what that one has left goes on, this
 * one may want a key back. */
void frt_transit_late(struct frt_transit *transit, enum frt_from from, struct rte_rx *rx)
{
	if (transit->state == FRT_DRAINING && from != transit->over &&
	    frt_lasthop_hears(&transit->side[from], rx))
		frt_transit_go(transit);
	else
		rte_rx_put(rx);
}

/* The target, or the way to it, is lost before it has answered. */
static void unreached(struct frt_transit *transit, int err)
{
	const struct frt_side *out = &transit->side[FRT_OUT];
	int status = FI_EHOSTUNREACH;

	if (transit->next) {
		frt_reason_set(transit, status, transit->next, "router %s: %s", out->text,
			       fi_strerror(err));
	} else {
		if (err == FI_ECONNREFUSED || err == FI_ETIMEDOUT || err == FI_EACCES ||
		    err == EPROTO)
			status = err;
		frt_reason_set(transit, status, frt_own_id(transit), "target %s: %s",
			       out->text, fi_strerror(err));
	}
	frt_transit_refuse(transit, RTE_FAILED);
}

/* The router where it failed: the one that is lost, or this one, which has no memory or
 * has found a mistake. 0: an end is lost, and no router has failed. */
static uint64_t failed_at(const struct frt_transit *transit, enum frt_from from, int err)
{
	const struct rte_peer *peer = transit->side[from].peer;

	if (!peer || err == EPROTO || err == FI_ENOMEM || err == FI_ENOBUFS)
		return frt_own_id(transit);
	return peer->remote.role == RTE_ROUTER ? peer->remote.node : 0;
}

void frt_transit_lost(struct frt_transit *transit, enum frt_from from, int err)
{
	struct frt_side *side = &transit->side[from];
	const uint64_t who = failed_at(transit, from, err);

	frt_side_close(side, err == EPROTO ? err : 0);
	switch (transit->state) {
	case FRT_REACHING:
	case FRT_ASKING:
		if (from == FRT_OUT) {
			unreached(transit, err);
			return;
		}
		frt_reason_set(transit, err, frt_own_id(transit), "%s: %s", side->text,
			       fi_strerror(err));
		frt_transit_give_up(transit);
		return;
	case FRT_ANSWERED:
	case FRT_OPEN:
		frt_reason_set(transit, err, who, "%s: %s", side->text, fi_strerror(err));
		if (transit->state == FRT_ANSWERED && from == FRT_IN)
			frt_transit_give_up(transit);
		else
			over(transit, from);
		return;
	case FRT_DRAINING:
		/* The one that is over may go; nobody is left without the other. */
		if (from != transit->over)
			frt_transit_close(transit, 0);
		return;
	case FRT_ENDING:
		frt_transit_go(transit);
		return;
	case FRT_CLOSED:
	case FRT_TRANSIT_STATES:
		return;
	}
}

void frt_transit_shutdown(struct frt_transit *transit, enum frt_from from,
			  struct rte_rx *rx)
{
	const char *why = rx->packet.options.text[RTE_TLV_WHY];
	struct rte_shutdown shutdown;

	if (rte_shutdown_parse(&shutdown, &rx->packet) != RTE_OK ||
	    memcmp(shutdown.id, transit->req.id, sizeof(shutdown.id))) {
		rte_rx_put(rx);
		rte_peer_bad(transit->side[from].peer, "a malformed SHUTDOWN");
		return;
	}
	if (!(rx->packet.options.present & 1u << RTE_TLV_WHY))
		why = "";
	frt_reason_set(transit, (int)shutdown.status, shutdown.router, "%s", why);
	transit->late = rx->packet.head.flags & RTE_LAST;
	rte_rx_put(rx);
	if (transit->state == FRT_OPEN ||
	    (transit->state == FRT_ANSWERED && from == FRT_OUT)) {
		over(transit, from);
		return;
	}
	/* A refusal has a status. */
	if (!transit->reason.status)
		transit->reason.status = FI_ECONNABORTED;
	if (from == FRT_IN) {
		frt_transit_give_up(transit);
		return;
	}
	frt_side_close(&transit->side[FRT_OUT], 0);
	frt_transit_refuse(transit, RTE_FAILED);
}

/* Nobody knows which of the two is at fault: this router is named, so that the client
 * asks another one. */
static void reach_expired(struct frt_transit *transit)
{
	frt_node_count(transit->node, &transit->node->counters.unreached);
	frt_reason_set(transit, transit->next ? FI_EHOSTUNREACH : FI_ETIMEDOUT,
		       frt_own_id(transit),
		       "%s %s has not answered within %" PRIu32 " ms",
		       transit->next ? "router" : "target", transit->side[FRT_OUT].text,
		       frt_transit_reach_ms(transit));
	frt_transit_refuse(transit, RTE_FAILED);
}

void frt_transit_expired(struct frt_transit *transit)
{
	switch (transit->state) {
	case FRT_REACHING:
		reach_expired(transit);
		return;
	case FRT_ASKING:
		frt_reason_set(transit, FI_ETIMEDOUT, frt_own_id(transit),
			       "%s has not answered in time",
			       transit->side[FRT_OUT].text);
		frt_transit_refuse(transit, RTE_FAILED);
		return;
	case FRT_ANSWERED:
		frt_reason_set(transit, FI_ETIMEDOUT, 0,
			       "the client has not answered in time");
		frt_say_only(&transit->side[FRT_OUT], FRT_SAY_ACK);
		frt_say_only(&transit->side[FRT_IN], FRT_SAY_SHUTDOWN);
		ending(transit);
		return;
	case FRT_DRAINING:
		transit->late = true;
		frt_say_only(&transit->side[frt_other(transit->over)], FRT_SAY_SHUTDOWN);
		ending(transit);
		return;
	case FRT_OPEN:
	case FRT_ENDING:
	case FRT_CLOSED:
	case FRT_TRANSIT_STATES:
		frt_transit_close(transit, 0);
		return;
	}
}

static void closes(struct frt_transit *transit, int status)
{
	frt_reason_set(transit, status, frt_own_id(transit), "the router closes %s",
		       transit->side[FRT_IN].text);
}

void frt_transit_abort(struct frt_transit *transit, int status)
{
	struct frt_side *in = &transit->side[FRT_IN], *out = &transit->side[FRT_OUT];

	switch (transit->state) {
	case FRT_REACHING:
	case FRT_ASKING:
		closes(transit, status);
		/* A refusal has a status. */
		if (!status)
			transit->reason.status = FI_ECONNABORTED;
		transit->verdict = RTE_FAILED;
		frt_say_only(in, FRT_SAY_REP);
		if (transit->state == FRT_ASKING && !(out->say & FRT_SAY_REQ))
			frt_say_only(out, FRT_SAY_ACK);
		else
			out->say = 0;
		break;
	case FRT_ANSWERED:
	case FRT_OPEN:
		closes(transit, status);
		frt_say_then(in, FRT_SAY_SHUTDOWN);
		frt_say_then(out, FRT_SAY_SHUTDOWN);
		break;
	case FRT_DRAINING:
		frt_say_then(&transit->side[frt_other(transit->over)], FRT_SAY_SHUTDOWN);
		break;
	case FRT_ENDING:
	case FRT_CLOSED:
	case FRT_TRANSIT_STATES:
		break;
	}
	frt_say_words(in);
	frt_say_words(out);
	frt_transit_close(transit, status);
}
