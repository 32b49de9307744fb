/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a connection of two neighbours of route begins: the preamble, HELLO, AUTH, from a
 * peer that does what it likes. It knows no key; where it marks a proof, the target puts
 * in the right one, or all of it is guesswork. Whatever it says, it is let in only with
 * HELLO, and with a proof where one of both asks for it.
 *
 *	0	bits: this end connected, requires proofs, has keys, has no memory
 *	1	the peer's preamble, 32 bytes
 *	33	messages, each behind two bytes that say how long it is
 */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "fuzz.h"
#include "peer/inside.h"

enum { ACTIVE = 1, REQUIRES = 2, HAS_KEYS = 4, FULL = 8 };

#define MARK 0x55 /* first byte of an HMAC that is to be the right one */

static const struct rte_auth_ring ring = {
	.keys = 2,
	.key = {{.id = 1, .len = 16, .secret = "the first secret"},
		{.id = 2, .len = 16, .secret = "a second secret."}}};

static struct {
	struct rte_peer_inside in;
	struct rte_port port;
	struct rte_net net;
	struct rte_config_device device;
	struct rte_config_routing routing;
	struct rte_tx_inside tx;
	uint8_t bytes[RTE_SEND_ROOM];
	bool full, taken, greeted, proven, up, over;
} world;

/* --- The rest of the room --- */

struct rte_tx *send_control(struct rte_peer *peer)
{
	FUZZ_CHECK(!world.taken && !world.over);
	world.taken = true;
	world.tx.tx = (struct rte_tx){.peer = peer,
				      .bytes = world.bytes,
				      .room = sizeof(world.bytes)};
	return &world.tx.tx;
}

void send_fields(struct rte_tx *tx)
{
	FUZZ_CHECK(world.taken && tx->len <= tx->room);
}

void rte_tx_post(struct rte_tx *tx)
{
	struct rte_packet packet;

	FUZZ_CHECK(world.taken);
	FUZZ_CHECK(rte_packet_parse(&packet, tx->bytes, tx->len) == RTE_OK);
	/* It proves itself to nobody who has not. */
	if (packet.head.type == RTE_AUTH)
		FUZZ_CHECK(world.in.peer.active || world.proven);
	world.taken = false;
}

void rte_tx_drop(struct rte_tx *tx)
{
	FUZZ_CHECK(world.taken);
	world.taken = false;
}

size_t arena_land_size(const struct rte_arena *arena)
{
	return 65536;
}

bool elastic_begin(struct rte_peer *peer, const struct rte_hello *hello)
{
	return !world.full;
}

void port_log(struct rte_port *port, const char *format, ...)
{
}

void peer_fail(struct rte_peer *peer, int err)
{
	FUZZ_CHECK(err > 0);
	world.over = true;
	world.in.failed = err;
	peer->state = RTE_PEER_DOWN;
}

void rte_peer_bad(struct rte_peer *peer, const char *what)
{
	FUZZ_CHECK(what && *what);
	peer_fail(peer, FI_EIO);
}

void peer_parted(struct rte_peer *peer, const struct rte_packet *packet)
{
	peer_fail(peer, FI_ECONNABORTED);
}

static bool asked(void)
{
	return (world.in.peer.local.flags | world.in.peer.remote.flags) &
	       RTE_PREAMBLE_AUTH;
}

void peer_up(struct rte_peer *peer)
{
	FUZZ_CHECK(!world.up && !world.over && world.greeted && !world.full);
	FUZZ_CHECK(!asked() || world.proven);
	world.up = true;
	peer->state = RTE_PEER_UP;
}

static void denied(void *context, enum rte_denial why, const union crn_addr *who,
		   const char *text)
{
	FUZZ_CHECK(why < RTE_DENIALS && strlen(text) < 512);
}

/* --- What the peer says --- */

static void begin(uint8_t how)
{
	struct rte_peer *peer = &world.in.peer;

	free(world.port.heard);
	memset(&world, 0, sizeof(world));
	world.device.auth = how & REQUIRES ? RTE_AUTH_REQUIRED : RTE_AUTH_OPEN;
	world.net.device = &world.device;
	world.port.net = &world.net;
	world.port.attr.routing = &world.routing;
	world.port.attr.keys = how & HAS_KEYS ? &ring : NULL;
	world.port.attr.denied = denied;
	world.full = how & FULL;
	world.tx.tx.in = &world.tx;
	peer->in = &world.in;
	peer->port = &world.port;
	peer->active = how & ACTIVE;
	peer->local.flags = auth_flags(&world.port);
	peer->local.nonce = 1;
	peer->address.in.sin_family = AF_INET;
	peer->state = RTE_PEER_GREETING;
}

/* What it says is the other step, by a key that there is. */
static void put_right(uint8_t *bytes, const struct rte_packet *packet)
{
	const struct rte_peer *peer = &world.in.peer;
	const struct rte_auth_key *key =
		rte_auth_ring_find(world.port.attr.keys,
				   crn_get_le32(packet->bytes + 24));
	const uint8_t step = peer->active ? RTE_AUTH_PASSIVE : RTE_AUTH_ACTIVE;

	if (!key || !world.greeted || bytes[28] != step || bytes[32] != MARK ||
	    (peer->active && key->id != world.in.key_id))
		return;
	FUZZ_CHECK(rte_auth_prove(&world.in.talk, key, step, bytes + 32));
	world.proven = true;
}

static void say(uint8_t *bytes, size_t len)
{
	struct rte_packet packet;

	if (rte_packet_parse(&packet, bytes, len) != RTE_OK)
		return;
	if (packet.head.type == RTE_AUTH)
		put_right(bytes, &packet);
	if (packet.head.type == (world.in.peer.active ? RTE_HELLO_ACK : RTE_HELLO))
		world.greeted = true;
	greeting_take(&world.in.peer, &packet);
}

static void converse(const uint8_t *data, size_t size)
{
	uint8_t *bytes;
	size_t len;

	if (world.in.peer.active)
		hello_send(&world.in.peer, RTE_HELLO, 0);
	for (; size >= 2 && !world.over && !world.up; data += len, size -= len) {
		len = data[0] | (size_t)data[1] << 8;
		data += 2;
		size -= 2;
		len = CRN_MIN(len, size);
		bytes = malloc(len);
		memcpy(bytes, data, len);
		say(bytes, len);
		free(bytes);
	}
	FUZZ_CHECK(!world.taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rte_peer *peer = &world.in.peer;

	if (size < 1 + RTE_PREAMBLE_LEN)
		return 0;
	begin(data[0]);
	if (rte_preamble_parse(&peer->remote, data + 1, RTE_PREAMBLE_LEN) != RTE_OK)
		return 0;
	memcpy(world.in.talk.preamble[peer->active], data + 1, RTE_PREAMBLE_LEN);
	if (auth_hopeless(&world.port, peer->local.flags, &peer->remote,
			  &peer->address)) {
		FUZZ_CHECK(asked());
		return 0;
	}
	converse(data + 1 + RTE_PREAMBLE_LEN, size - 1 - RTE_PREAMBLE_LEN);
	return 0;
}
