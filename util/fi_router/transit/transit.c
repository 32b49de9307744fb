/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection as an object: its peers' events, what is posted for it, its end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "inside.h"

uint64_t frt_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

const char *frt_transit_state_name(enum frt_transit_state state)
{
	static const char *const names[FRT_TRANSIT_STATES] = {
		[FRT_REACHING] = "reaching", [FRT_ASKING] = "asking",
		[FRT_ANSWERED] = "answered", [FRT_OPEN] = "open",
		[FRT_DRAINING] = "draining", [FRT_ENDING] = "ending",
		[FRT_CLOSED] = "closed",
	};

	return names[state];
}

void frt_reason_set(struct frt_transit *transit, int status, uint64_t router,
		    const char *format, ...)
{
	struct frt_reason *reason = &transit->reason;
	va_list args;

	reason->status = (uint32_t)status;
	reason->router = router;
	va_start(args, format);
	vsnprintf(reason->why, sizeof(reason->why), format, args);
	va_end(args);
}

/* --- Messages that the lower providers have --- */

void frt_transit_post(struct frt_transit *transit, struct rte_tx *tx)
{
	transit->sends++;
	rte_tx_post(tx);
}

void frt_transit_done(struct rte_tx *tx, int err)
{
	const struct frt_side *side = tx->peer->user;
	struct frt_transit *transit = side->transit;

	(void)err; /* The peer's down tells. */
	frt_transit_enter(transit);
	transit->sends--;
	if (transit->state == FRT_DRAINING || transit->state == FRT_ENDING)
		frt_transit_go(transit);
	frt_transit_leave(transit);
}

/* --- The end of it --- */

void frt_side_close(struct frt_side *side, int status)
{
	side->say = 0;
	if (!side->peer)
		return;
	rte_peer_quota(side->peer, NULL);
	side->closing = side->peer;
	side->status = status;
	side->peer = NULL;
}

static bool close_peer(struct frt_side *side)
{
	struct rte_peer *peer = side->closing;

	side->closing = NULL;
	if (peer)
		frt_port_part(&side->device->at[side->transit->worker->index], peer,
			      side->status);
	return peer;
}

void frt_transit_free(struct frt_transit *transit)
{
	crn_list_del(&transit->entry);
	free(transit);
}

void frt_transit_enter(struct frt_transit *transit)
{
	transit->uses++;
}

void frt_transit_leave(struct frt_transit *transit)
{
	while (close_peer(&transit->side[FRT_OUT]) || close_peer(&transit->side[FRT_IN]))
		;
	transit->uses--;
	if (!transit->uses && !transit->sends && transit->state == FRT_CLOSED)
		frt_transit_free(transit);
}

/* How often and how long its lanes have stalled is kept where what they waited for was.
 */
static void side_drop(struct frt_side *side, const struct frt_side *other)
{
	const uint32_t worker = side->transit->worker->index;
	struct frt_past *past = other->device ? &other->device->at[worker].past : NULL;
	enum rte_lane at;

	for (at = 0; at < RTE_LANES; at++) {
		frt_lane_drop(&side->lane[at]);
		if (!past)
			continue;
		past->stalls[at] += side->lane[at].stalls;
		past->stall_ns[at] += side->lane[at].stall_ns;
	}
}

void frt_transit_close(struct frt_transit *transit, int status)
{
	struct frt_transits *transits = frt_transits_of(transit->worker);

	crn_deadline_remove(transit->worker->deadlines, &transit->deadline);
	frt_side_close(&transit->side[FRT_IN], status);
	frt_side_close(&transit->side[FRT_OUT], status);
	side_drop(&transit->side[FRT_IN], &transit->side[FRT_OUT]);
	side_drop(&transit->side[FRT_OUT], &transit->side[FRT_IN]);
	if (transit->rx)
		rte_rx_put(transit->rx);
	transit->rx = NULL;
	rte_keys_drop(&transit->side[FRT_IN].hop.keys);
	rte_keys_drop(&transit->side[FRT_OUT].hop.keys);
	frt_client_put(transit->node, transit->client);
	transit->client = NULL;
	transit->state = FRT_CLOSED;
	crn_list_del(&transit->entry);
	crn_list_add_tail(&transits->closed, &transit->entry);
	transits->count--;
	transit->worker->connections--;
	frt_node_load_sub(transit->node);
}

static void expired(struct crn_deadline *deadline)
{
	struct frt_transit *transit =
		crn_container_of(deadline, struct frt_transit, deadline);

	frt_transit_enter(transit);
	frt_transit_expired(transit);
	frt_transit_leave(transit);
}

void frt_transit_deadline(struct frt_transit *transit, uint64_t ms)
{
	transit->deadline.expired = expired;
	crn_deadline_add(transit->worker->deadlines, &transit->deadline,
			 crn_now_ms() + ms);
}

/* --- What peers tell --- */

static void peer_up(struct rte_peer *peer)
{
	const struct frt_side *side = peer->user;

	frt_transit_enter(side->transit);
	frt_transit_up(side->transit);
	frt_transit_leave(side->transit);
}

static void peer_message(struct rte_peer *peer, struct rte_rx *rx)
{
	const struct frt_side *side = peer->user;
	struct frt_transit *transit = side->transit;
	const enum frt_from from = frt_which(side);
	const uint8_t type = rx->packet.head.type;

	frt_transit_enter(transit);
	if (rx->lane < RTE_LANES && transit->state == FRT_OPEN) {
		frt_forward_message(transit, from, rx);
		frt_transit_go(transit);
	} else if (transit->state >= FRT_DRAINING) {
		frt_transit_late(transit, from, rx);
	} else if (type == RTE_CONN_REP && from == FRT_OUT) {
		frt_transit_rep(transit, rx);
	} else if (type == RTE_CONN_ACK && from == FRT_IN) {
		frt_transit_ack(transit, rx);
	} else if (type == RTE_SHUTDOWN) {
		frt_transit_shutdown(transit, from, rx);
	} else {
		rte_rx_put(rx);
		rte_peer_bad(peer, "a message that does not belong here");
	}
	frt_transit_leave(transit);
}

static void peer_ready(struct rte_peer *peer)
{
	const struct frt_side *side = peer->user;

	frt_transit_enter(side->transit);
	frt_transit_go(side->transit);
	frt_transit_leave(side->transit);
}

static void peer_down(struct rte_peer *peer, int err)
{
	const struct frt_side *side = peer->user;

	frt_transit_enter(side->transit);
	frt_transit_lost(side->transit, frt_which(side), err);
	frt_transit_leave(side->transit);
}

const struct rte_peer_ops frt_transit_peer_ops = {
	.up = peer_up,
	.message = peer_message,
	.ready = peer_ready,
	.down = peer_down,
};
