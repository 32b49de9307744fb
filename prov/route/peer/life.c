/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signs of life. A router is looked after: who hears nothing of it asks (KEEPALIVE with
 * RTE_ACKREQ), and gives it up when nothing comes. An endpoint is not asked, for a
 * program that computes makes no progress: its host is looked after, where that can be
 * (host.c).
 */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/wait.h>
#include "inside.h"

/* ms. There is a look to ask, and one for each answer that may be missing, in the time of
 * heartbeat_loss heartbeats. */
static uint64_t life_interval(const struct rte_peer *peer)
{
	const struct rte_config_routing *routing = peer->port->attr.routing;
	const uint64_t all = (uint64_t)routing->heartbeat * routing->heartbeat_loss;

	return CRN_MAX(all / (routing->heartbeat_loss + 1), 1u);
}

/* ms: looks are at multiples of it, so that all peers of a port are looked at together,
 * and 1,000 that are idle wake their process a few times each second. */
static uint64_t life_grid(const struct rte_peer *peer)
{
	return CRN_MAX(life_interval(peer) / 4, 1u);
}

static void life_again(struct rte_peer *peer, uint64_t now)
{
	struct rte_peer_inside *in = peer->in;
	const uint64_t grid = life_grid(peer);

	if (in->shut)
		return;
	in->next_look = (now + life_interval(peer)) / grid * grid;
	crn_deadline_add(&peer->port->deadlines, &in->deadline, in->next_look);
}

static void life_ask(struct rte_peer *peer)
{
	const struct rte_keepalive keepalive = {.stamp = crn_now_ms() * 1000000};
	struct rte_packet packet = {
		.head = {.type = RTE_KEEPALIVE, .flags = RTE_ACKREQ},
	};
	struct rte_tx *tx = send_control(peer);
	ssize_t len;

	if (!tx)
		return;
	len = rte_keepalive_pack(&packet, &keepalive, tx->bytes, tx->room);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

/* A look that comes late says nothing: this end had no time to hear the peer. */
static bool life_late(const struct rte_peer *peer, uint64_t now)
{
	return now > peer->in->next_look + life_interval(peer) / 2;
}

static void life_look(struct crn_deadline *deadline)
{
	struct rte_peer_inside *in =
		crn_container_of(deadline, struct rte_peer_inside, deadline);
	struct rte_peer *peer = &in->peer;
	const struct rte_config_routing *routing = peer->port->attr.routing;
	const uint64_t now = crn_now_ms();

	if (in->heard || life_late(peer, now)) {
		in->silent = 0;
	} else if (++in->silent > routing->heartbeat_loss) {
		port_log(peer->port,
			 "%s is silent: its connection is given up; is its host there, "
			 "and not overloaded?",
			 peer->text);
		peer_fail(peer, FI_ETIMEDOUT);
		return;
	}
	if (!in->heard)
		life_ask(peer);
	in->heard = false;
	life_again(peer, now);
}

static void life_look_host(struct crn_deadline *deadline)
{
	struct rte_peer_inside *in =
		crn_container_of(deadline, struct rte_peer_inside, deadline);
	struct rte_peer *peer = &in->peer;
	const uint64_t now = crn_now_ms();

	if (!in->heard && !life_late(peer, now) && host_gone(peer)) {
		port_log(peer->port,
			 "the host of %s acknowledges nothing: its connection is given "
			 "up; is it there, and the way to it?",
			 peer->text);
		peer_fail(peer, FI_ETIMEDOUT);
		return;
	}
	in->heard = false;
	life_again(peer, now);
}

void life_begin(struct rte_peer *peer)
{
	struct crn_deadline *deadline = &peer->in->deadline;

	if (peer->in->shut)
		return;
	crn_deadline_remove(&peer->port->deadlines, deadline);
	if (!peer->port->attr.routing->heartbeat)
		return;
	if (peer->remote.role == RTE_ROUTER)
		deadline->expired = life_look;
	else if (host_begin(peer))
		deadline->expired = life_look_host;
	else
		return;
	/* The first look is not sooner than the interval. */
	life_again(peer, crn_now_ms() + life_grid(peer));
}

static void life_too_late(struct crn_deadline *deadline)
{
	struct rte_peer_inside *in =
		crn_container_of(deadline, struct rte_peer_inside, deadline);

	if (in->peer.state == RTE_PEER_PROVING)
		auth_missed(&in->peer, "says nothing", FI_ETIMEDOUT);
	peer_fail(&in->peer, FI_ETIMEDOUT);
}

void life_wait(struct rte_peer *peer)
{
	peer->in->deadline.expired = life_too_late;
	crn_deadline_add(&peer->port->deadlines, &peer->in->deadline,
			 crn_now_ms() + peer->port->attr.routing->connect_timeout);
}

static void life_event_missed(struct crn_deadline *deadline)
{
	struct rte_peer_inside *in =
		crn_container_of(deadline, struct rte_peer_inside, deadline);

	peer_fail(&in->peer, in->shut);
}

/* Nothing can be asked of it any more: this takes the place of all other looks. */
void life_shut(struct rte_peer *peer)
{
	struct crn_deadline *deadline = &peer->in->deadline;

	deadline->expired = life_event_missed;
	crn_deadline_add(&peer->port->deadlines, deadline,
			 crn_now_ms() + RTE_PEER_LINGER);
}

void life_take(struct rte_peer *peer, const struct rte_packet *packet)
{
	struct rte_keepalive keepalive;
	enum rte_bad bad = rte_keepalive_parse(&keepalive, packet);

	if (bad != RTE_OK) {
		rte_peer_bad(peer, rte_bad_text(bad));
		return;
	}
	if (!(packet->head.flags & RTE_ACKREQ))
		return;
	peer->in->answer = true;
	peer->in->echo = keepalive.stamp;
	send_note(peer);
}
