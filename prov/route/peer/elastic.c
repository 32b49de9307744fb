/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of a peer, which come and go with what it sends. Each lane keeps the first
 * ones; more are posted when its sender has used all credits, as long as there are some
 * to spare, and of those of a peer that is silent, or that has more than its part, the
 * credits are asked back. What is told (RECEIVES) is told by progress.
 */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "inside.h"

/* The first step: with fewer, each message is followed by one that tells of its credit.
 */
#define ELASTIC_STEP 4u
/* ms between two looks at those that have grown. */
#define ELASTIC_LOOK 1000u

/* --- One peer, from its beginning to its end --- */

void elastic_open(struct rte_peer *peer)
{
	const uint16_t *fixed = peer->port->attr.receives;
	struct peer_inlet *inlet;
	int lane;

	peer->in->elastic = !fixed[RTE_REQUESTS] && !fixed[RTE_RESPONSES];
	for (lane = 0; lane < RTE_LANES; lane++) {
		inlet = &peer->in->inlet[lane];
		rte_inlet_open(&inlet->flow,
			       peer->in->elastic ? RTE_RECEIVES_FIRST : inlet->most);
	}
}

static uint32_t receives_of(const struct rte_peer_inside *in)
{
	return in->inlet[RTE_REQUESTS].flow.receives +
	       in->inlet[RTE_RESPONSES].flow.receives + PEER_SPARE;
}

static void lane_begin(struct rte_peer_inside *in, int lane, uint32_t receives)
{
	struct rte_inlet *inlet = &in->inlet[lane].flow;

	if (!in->elastic)
		rte_inlet_more(inlet, in->inlet[lane].most - inlet->receives);
	rte_outlet_open(&in->outlet[lane].flow,
			in->elastic ? RTE_RECEIVES_FIRST : receives);
}

bool elastic_begin(struct rte_peer *peer, const struct rte_hello *hello)
{
	struct rte_peer_inside *in = peer->in;
	int lane;

	in->elastic = in->elastic && (hello->features & RTE_FEATURE_ELASTIC);
	for (lane = 0; lane < RTE_LANES; lane++)
		lane_begin(in, lane, hello->recv_slots[lane]);
	return receive_fill(peer, receives_of(in));
}

static bool lane_grown(const struct rte_peer_inside *in, int lane)
{
	return in->inlet[lane].flow.receives > RTE_RECEIVES_FIRST;
}

/* A lane has grown, or is as it began. */
static void lane_changed(struct rte_peer_inside *in, int grown)
{
	struct rte_port *port = in->peer.port;

	arena_grown(port->arena, grown);
	if (!lane_grown(in, RTE_REQUESTS) && !lane_grown(in, RTE_RESPONSES)) {
		crn_list_del(&in->grown);
		return;
	}
	if (!crn_list_empty(&in->grown))
		return;
	in->seen = in->peer.stats_rx;
	crn_list_add_tail(&port->grown, &in->grown);
	if (!crn_deadline_pending(&port->look))
		crn_deadline_add(&port->deadlines, &port->look,
				 crn_now_ms() + ELASTIC_LOOK);
}

void elastic_close(struct rte_peer *peer)
{
	struct rte_peer_inside *in = peer->in;
	int lane;

	if (crn_list_empty(&in->grown))
		return;
	for (lane = 0; lane < RTE_LANES; lane++)
		if (lane_grown(in, lane))
			arena_grown(peer->port->arena, -1);
	crn_list_del(&in->grown);
}

/* --- More of them --- */

static uint32_t lane_most(const struct peer_inlet *inlet)
{
	return CRN_MIN(inlet->most, arena_receives(inlet->peer->port->arena));
}

static uint32_t post_more(struct rte_peer *peer, uint32_t wish)
{
	struct rte_arena *arena = peer->port->arena;
	uint32_t more = 0;

	while (more < wish && arena_spare(arena) &&
	       receive_fill(peer, peer->in->rx_count + 1))
		more++;
	return more;
}

void elastic_wants(struct peer_inlet *inlet)
{
	const uint32_t have = inlet->flow.receives;
	struct rte_peer *peer = inlet->peer;
	uint32_t wish, more;

	if (have >= inlet->most || !peer->in->elastic || inlet->flow.asked ||
	    peer->state != RTE_PEER_UP)
		return;
	wish = CRN_MIN(CRN_MAX(2 * have, ELASTIC_STEP), lane_most(inlet));
	more = post_more(peer, wish > have ? wish - have : 0);
	if (!more)
		return;
	rte_inlet_more(&inlet->flow, more);
	inlet->more += more;
	if (have == RTE_RECEIVES_FIRST)
		lane_changed(peer->in, 1);
	send_note(peer);
}

/* --- Fewer --- */

static void lane_look(struct peer_inlet *inlet, bool silent)
{
	const uint32_t most = silent ? RTE_RECEIVES_FIRST : lane_most(inlet);
	const uint32_t have = inlet->flow.receives - inlet->flow.asked;

	if (have <= most)
		return;
	inlet->asked += rte_inlet_ask(&inlet->flow, have - most);
	send_note(inlet->peer);
}

static void peer_look(struct rte_peer_inside *in)
{
	const bool silent = in->seen == in->peer.stats_rx;
	int lane;

	in->seen = in->peer.stats_rx;
	if (in->peer.state != RTE_PEER_UP)
		return;
	for (lane = 0; lane < RTE_LANES; lane++)
		lane_look(&in->inlet[lane], silent);
}

static void port_look(struct crn_deadline *deadline)
{
	struct rte_port *port = crn_container_of(deadline, struct rte_port, look);
	const struct crn_list *entry;

	crn_list_for_each (entry, &port->grown)
		peer_look(crn_container_of(entry, struct rte_peer_inside, grown));
	if (!crn_list_empty(&port->grown))
		crn_deadline_add(&port->deadlines, &port->look,
				 crn_now_ms() + ELASTIC_LOOK);
}

void elastic_port(struct rte_port *port, bool opens)
{
	if (!opens) {
		crn_deadline_remove(&port->deadlines, &port->look);
		return;
	}
	crn_list_init(&port->grown);
	port->look.expired = port_look;
}

/* --- Both ends of it --- */

static void lane_given(struct rte_peer *peer, enum rte_lane lane)
{
	struct rte_peer_inside *in = peer->in;

	/* Of fewer receives, those that are due may be too many to wait. */
	if (rte_inlet_overdue(&in->inlet[lane].flow))
		send_note(peer);
	if (!lane_grown(in, lane))
		lane_changed(in, -1);
}

bool elastic_take(struct rte_peer *peer, const struct rte_packet *packet)
{
	struct rte_peer_inside *in = peer->in;
	struct rte_receives receives;
	enum rte_bad bad = rte_receives_parse(&receives, packet);
	struct rte_outlet *outlet;

	if (bad != RTE_OK || peer->state != RTE_PEER_UP || !in->elastic) {
		rte_peer_bad(peer,
			     bad != RTE_OK ? rte_bad_text(bad) : "RECEIVES out of turn");
		return false;
	}
	outlet = &in->outlet[receives.lane].flow;
	if (!rte_outlet_more(outlet, receives.more) ||
	    !rte_outlet_asked(outlet, receives.asked) ||
	    (receives.given && !rte_inlet_given(&in->inlet[receives.lane].flow))) {
		rte_peer_bad(peer, "it counts receives that there are not");
		return false;
	}
	if (receives.given)
		lane_given(peer, receives.lane);
	if (receives.more)
		send_ready(peer, receives.lane);
	if (outlet->asked)
		send_note(peer);
	return receives.given;
}

static bool lane_due(const struct rte_peer_inside *in, int lane)
{
	const struct rte_outlet *outlet = &in->outlet[lane].flow;

	return in->inlet[lane].more || in->inlet[lane].asked ||
	       (outlet->asked && outlet->credits);
}

bool elastic_due(const struct rte_peer_inside *in)
{
	return lane_due(in, RTE_REQUESTS) || lane_due(in, RTE_RESPONSES);
}

/* One message: a credit that the other end wants, or what this one has to say. */
static bool lane_send(struct rte_peer *peer, enum rte_lane lane)
{
	struct peer_inlet *inlet = &peer->in->inlet[lane];
	struct rte_packet packet = {.head.type = RTE_RECEIVES};
	struct rte_receives receives = {.lane = lane};
	struct rte_tx *tx = send_control(peer);

	if (!tx)
		return false;
	receives.more = (uint16_t)inlet->more;
	receives.asked = (uint16_t)inlet->asked;
	inlet->more = inlet->asked = 0;
	receives.given = rte_outlet_give(&peer->in->outlet[lane].flow);
	tx->len = (size_t)rte_receives_pack(&packet, &receives, tx->bytes, tx->room);
	rte_tx_post(tx);
	return true;
}

bool elastic_send(struct rte_peer *peer)
{
	int lane;

	for (lane = 0; lane < RTE_LANES; lane++)
		while (lane_due(peer->in, lane))
			if (!lane_send(peer, (enum rte_lane)lane))
				return false;
	return true;
}
