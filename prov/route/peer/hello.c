/* SPDX-License-Identifier: BSD-2-Clause */
/* HELLO and HELLO_ACK: what each end has room for. */
#include <stdio.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "inside.h"

static void hello_fill(struct rte_peer *peer, struct rte_hello *hello)
{
	const struct rte_peer_inside *in = peer->in;
	const struct rte_port *port = peer->port;
	int lane;

	memset(hello, 0, sizeof(*hello));
	hello->features = RTE_FEATURE_DELIVER | (in->elastic ? RTE_FEATURE_ELASTIC : 0);
	hello->epoch = port->attr.self.epoch;
	hello->frag_max = (uint32_t)arena_land_size(port->arena);
	hello->eager_max = RTE_EAGER;
	for (lane = 0; lane < RTE_LANES; lane++) {
		hello->recv_slots[lane] = (uint16_t)in->inlet[lane].most;
		hello->land_slots[lane] = (uint16_t)in->inlet[lane].share;
	}
	hello->hb_ms = port->attr.routing->heartbeat;
}

static void hello_say(struct rte_options *options, uint32_t tlv, const char *text)
{
	if (!text || !*text || strlen(text) > RTE_TEXT_MAX)
		return;
	options->present |= 1u << tlv;
	options->text[tlv] = text;
}

void hello_send(struct rte_peer *peer, uint8_t type, int status)
{
	struct rte_packet packet = {
		.head = {.type = type, .flags = status ? RTE_ERR : 0},
	};
	struct rte_tx *tx = send_control(peer);
	struct rte_hello hello;
	ssize_t len;

	if (!tx) {
		peer_fail(peer, FI_ENOMEM);
		return;
	}
	hello_say(&packet.options, RTE_TLV_NAME, peer->port->attr.self.name);
	hello_say(&packet.options, RTE_TLV_URI, peer->port->attr.self.uri);
	hello_fill(peer, &hello);
	hello.status = (uint32_t)status;
	len = rte_hello_pack(&packet, &hello, tx->bytes, tx->room);
	if (len < 0) {
		rte_tx_drop(tx);
		peer_fail(peer, FI_EINVAL);
		return;
	}
	tx->len = (size_t)len;
	send_fields(tx);
	if (!auth_asked(peer) ||
	    rte_auth_hello(&peer->in->talk, !peer->active, tx->bytes, tx->len)) {
		rte_tx_post(tx);
		return;
	}
	rte_tx_drop(tx);
	peer_fail(peer, FI_ENOMEM);
}

static void hello_name(struct rte_peer *peer, const struct rte_options *options)
{
	char text[CRN_ADDR_STRLEN];

	if (options->present & (1u << RTE_TLV_NAME))
		snprintf(peer->in->name, sizeof(peer->in->name), "%s",
			 options->text[RTE_TLV_NAME]);
	if (peer->in->name[0])
		snprintf(peer->text, sizeof(peer->text), "%.40s (%.52s)", peer->in->name,
			 crn_addr_str(&peer->address.sa, text));
}

void hello_take(struct rte_peer *peer, const struct rte_packet *packet)
{
	struct rte_hello *hello = &peer->hello;
	enum rte_bad bad = rte_hello_parse(hello, packet);
	const uint8_t awaited = peer->active ? RTE_HELLO_ACK : RTE_HELLO;
	bool room;

	if (bad != RTE_OK || packet->head.type != awaited ||
	    peer->state != RTE_PEER_GREETING || !hello->recv_slots[RTE_REQUESTS] ||
	    !hello->recv_slots[RTE_RESPONSES]) {
		rte_peer_bad(peer,
			     bad != RTE_OK ? rte_bad_text(bad) : "HELLO out of turn");
		return;
	}
	if (hello->status) {
		peer_fail(peer, (int)hello->status);
		return;
	}
	hello_name(peer, &packet->options);
	if (packet->options.present & (1u << RTE_TLV_URI))
		snprintf(peer->uri, sizeof(peer->uri), "%s",
			 packet->options.text[RTE_TLV_URI]);
	peer->eager_max = CRN_MIN(hello->eager_max, RTE_EAGER);
	peer->frag_max = hello->frag_max;
	room = elastic_begin(peer, hello);
	if (auth_asked(peer) &&
	    !rte_auth_hello(&peer->in->talk, peer->active, packet->bytes,
			    (size_t)packet->head.hlen + packet->head.plen)) {
		peer_fail(peer, FI_ENOMEM);
		return;
	}
	if (!peer->active)
		hello_send(peer, RTE_HELLO_ACK, room ? 0 : FI_ENOBUFS);
	if (!room)
		peer_fail(peer, FI_ENOBUFS);
	if (peer->state == RTE_PEER_GREETING && !auth_begins(peer))
		peer_up(peer);
}

void greeting_take(struct rte_peer *peer, const struct rte_packet *packet)
{
	const uint8_t type = packet->head.type;

	if (type == RTE_HELLO || type == RTE_HELLO_ACK)
		hello_take(peer, packet);
	else if (type == RTE_AUTH)
		auth_take(peer, packet);
	else if (type == RTE_BYE)
		peer_parted(peer, packet);
	else if (peer->state == RTE_PEER_PROVING)
		auth_missed(peer, "sends something else", FI_EACCES);
	else
		rte_peer_bad(peer, "it begins without HELLO");
}
