/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Landing slots: memory of this end into which the peer writes what is longer than a
 * message, and those of the peer. They are promised to who has something to put in, as
 * many as there are, up to the lane's share; a lane without goes on with messages.
 */
#include <stdlib.h>
#include <string.h>
#include "inside.h"

static bool inlet_grant(struct peer_inlet *inlet);

static void inlet_fed(struct arena_hunger *hunger)
{
	struct peer_inlet *inlet = crn_container_of(hunger, struct peer_inlet, hunger);
	struct rte_arena *arena = inlet->peer->port->arena;

	if (!inlet_grant(inlet))
		arena_pass_on(arena);
}

/* --- Quotas --- */

static uint32_t peer_slots(const struct rte_peer_inside *in)
{
	return in->inlet[RTE_REQUESTS].used + in->inlet[RTE_RESPONSES].used;
}

void rte_peer_quota(struct rte_peer *peer, struct rte_quota *quota)
{
	struct rte_peer_inside *in = peer->in;

	rte_quota_put(in->quota, peer_slots(in));
	in->quota = quota;
	rte_quota_add(in->quota, peer_slots(in));
}

/* --- Slots --- */

void grant_open(struct rte_peer *peer)
{
	struct peer_inlet *inlet;
	int lane;

	for (lane = 0; lane < RTE_LANES; lane++) {
		inlet = &peer->in->inlet[lane];
		inlet->peer = peer;
		inlet->lane = (enum rte_lane)lane;
		inlet->hunger.feed = inlet_fed;
		crn_list_init(&inlet->hunger.entry);
	}
}

static void inlet_warm(struct peer_inlet *inlet, bool warm)
{
	if (warm != inlet->warm)
		arena_warm(inlet->peer->port->arena, warm ? 1 : -1);
	inlet->warm = warm;
}

/* Slots that were filled are the owner's until it puts them. */
void grant_close(struct rte_peer *peer)
{
	struct peer_inlet *inlet;
	uint32_t i;
	int lane;

	for (lane = 0; lane < RTE_LANES; lane++) {
		inlet = &peer->in->inlet[lane];
		inlet_warm(inlet, false);
		crn_list_del(&inlet->hunger.entry);
		for (i = 0; i < PEER_LANDS; i++) {
			if (inlet->land[i].state != LAND_GRANTED)
				continue;
			inlet->land[i].state = LAND_NONE;
			inlet->used--;
			rte_quota_put(peer->in->quota, 1);
			arena_put(peer->port->arena, ARENA_LAND, inlet->land[i].buf);
		}
	}
}

/* How many slots what is still to come would fill; of more, what it may have in advance.
 */
static uint32_t inlet_wish(const struct peer_inlet *inlet)
{
	const struct rte_arena *arena = inlet->peer->port->arena;
	const size_t size = arena_land_size(arena);
	uint64_t wish = 0;

	if (inlet->warm)
		return CRN_MIN(arena_fair(arena), inlet->share);
	if (inlet->want > RTE_EAGER)
		wish = (inlet->want + size - 1) / size;
	return (uint32_t)CRN_MIN(wish, (uint64_t)inlet->share);
}

static bool inlet_add(struct peer_inlet *inlet)
{
	struct rte_arena *arena = inlet->peer->port->arena;
	struct rte_quota *quota = inlet->peer->in->quota;
	struct arena_buf *buf;
	uint32_t i = 0;

	/* Its next message, or one of its slots that is free again, tries once more. */
	if (!rte_quota_take(quota))
		return false;
	buf = arena_get(arena, ARENA_LAND);
	if (!buf) {
		rte_quota_put(quota, 1);
		arena_hungry(arena, &inlet->hunger);
		return false;
	}
	while (inlet->land[i].state != LAND_NONE)
		i++;
	inlet->land[i].state = LAND_GRANTED;
	inlet->land[i].told = false;
	inlet->land[i].buf = buf;
	inlet->untold++;
	inlet->granted++;
	inlet->used++;
	return true;
}

/* False: none. */
static bool inlet_grant(struct peer_inlet *inlet)
{
	const uint32_t wish = inlet_wish(inlet);
	bool some = false;

	if (inlet->peer->state != RTE_PEER_UP)
		return false;
	while (inlet->granted < wish && inlet->used < inlet->share && inlet_add(inlet))
		some = true;
	if (some)
		send_note(inlet->peer);
	return some;
}

void rte_peer_expect(struct rte_peer *peer, enum rte_lane lane, uint64_t bytes)
{
	struct peer_inlet *inlet = &peer->in->inlet[lane];

	inlet->want += bytes;
	inlet_grant(inlet);
}

void grant_announced(struct rte_peer *peer, const struct rte_rx *rx)
{
	struct peer_inlet *inlet = &peer->in->inlet[rx->lane];
	const uint8_t *bytes = rx->packet.bytes;
	/* length and offset: the same bytes of MSG, WRITE and READ_FRAG. */
	const uint64_t length = crn_get_le64(bytes + 32),
		       offset = crn_get_le64(bytes + 40);
	const uint64_t end = offset + rx->packet.head.plen;
	const uint64_t rest = end >= offset && length > end ? length - end : 0;

	if (rx->lane == RTE_REQUESTS)
		inlet->want = rest;
	else
		inlet->want = CRN_MAX(rest, inlet->want > rx->packet.head.plen
						    ? inlet->want - rx->packet.head.plen
						    : 0);
	inlet_warm(inlet, length > 2 * (uint64_t)RTE_EAGER);
	if (inlet->warm || inlet->want > RTE_EAGER)
		inlet_grant(inlet);
}

struct arena_buf *grant_fill(struct rte_peer *peer, enum rte_lane lane, uint32_t id)
{
	struct peer_inlet *inlet = &peer->in->inlet[lane];

	if (id >= PEER_LANDS || inlet->land[id].state != LAND_GRANTED ||
	    !inlet->land[id].told)
		return NULL;
	inlet->land[id].state = LAND_FILLED;
	inlet->granted--;
	return inlet->land[id].buf;
}

void grant_empty(struct rte_peer *peer, enum rte_lane lane, struct arena_buf *land)
{
	struct peer_inlet *inlet = &peer->in->inlet[lane];
	uint32_t i;

	for (i = 0; i < PEER_LANDS; i++) {
		if (inlet->land[i].state == LAND_FILLED && inlet->land[i].buf == land) {
			inlet->land[i].state = LAND_NONE;
			inlet->used--;
			rte_quota_put(peer->in->quota, 1);
		}
	}
	arena_put(peer->port->arena, ARENA_LAND, land);
	inlet_grant(inlet);
}

/* Of one lane: how many were not told yet. */
static uint32_t grant_fill_message(struct peer_inlet *inlet, struct rte_grant *grant)
{
	struct rte_grant_slot *slot;
	uint32_t i;

	grant->count = 0;
	grant->lane = (uint8_t)inlet->lane;
	for (i = 0; i < PEER_LANDS; i++) {
		if (inlet->land[i].state != LAND_GRANTED || inlet->land[i].told)
			continue;
		slot = &grant->slot[grant->count++];
		slot->id = i;
		slot->len = (uint32_t)arena_land_size(inlet->peer->port->arena);
		arena_remote(inlet->land[i].buf, inlet->peer->port, &slot->addr,
			     &slot->key);
	}
	return grant->count;
}

static void grant_told(struct peer_inlet *inlet)
{
	uint32_t i;

	inlet->untold = 0;
	for (i = 0; i < PEER_LANDS; i++)
		inlet->land[i].told = true;
}

static bool grant_send_lane(struct peer_inlet *inlet)
{
	struct rte_packet packet = {.head.type = RTE_GRANT};
	struct rte_grant grant;
	struct rte_tx *tx;
	ssize_t len;

	if (!inlet->untold || !grant_fill_message(inlet, &grant))
		return true;
	tx = send_control(inlet->peer);
	if (!tx)
		return false;
	packet.head.plen = 0;
	len = rte_grant_pack(&packet, &grant, tx->bytes, tx->room);
	if (len < 0) {
		rte_tx_drop(tx);
		return true;
	}
	tx->len = (size_t)len;
	grant_told(inlet);
	rte_tx_post(tx);
	return true;
}

bool grant_send(struct rte_peer *peer)
{
	return grant_send_lane(&peer->in->inlet[RTE_REQUESTS]) &&
	       grant_send_lane(&peer->in->inlet[RTE_RESPONSES]);
}

void grant_take(struct rte_peer *peer, const struct rte_packet *packet)
{
	struct rte_grant grant;
	enum rte_bad bad = rte_grant_parse(&grant, packet);
	struct peer_outlet *outlet;
	uint32_t i;

	if (bad != RTE_OK) {
		rte_peer_bad(peer, rte_bad_text(bad));
		return;
	}
	outlet = &peer->in->outlet[grant.lane];
	for (i = 0; i < grant.count; i++) {
		/* More than this end remembers are never used, which costs the peer. */
		if (outlet->slots == PEER_LANDS)
			break;
		outlet->slot[(outlet->first + outlet->slots++) % PEER_LANDS] =
			grant.slot[i];
	}
	if (grant.count)
		send_ready(peer, (enum rte_lane)grant.lane);
}
