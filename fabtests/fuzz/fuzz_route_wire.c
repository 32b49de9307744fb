/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What any peer may send to an endpoint or a router: the preamble of a connection,
 * messages, LSAs in pieces. What is understood is what a peer of ours could have meant.
 */
#include <string.h>
#include "fuzz.h"
#include "any.h"

/* Of a message that came in 4096 bytes; and what it becomes has no more. */
#define ROOM 8192

static void check_preamble(const uint8_t *data, size_t size)
{
	struct rte_preamble preamble;
	uint8_t out[RTE_PREAMBLE_LEN];

	if (rte_preamble_parse(&preamble, data, size) != RTE_OK)
		return;
	FUZZ_CHECK(rte_preamble_minor(&preamble, RTE_MINOR) <= RTE_MINOR);
	rte_preamble_pack(&preamble, out);
	FUZZ_CHECK(!memcmp(out, data, 7) && !memcmp(out + 8, data + 8, sizeof(out) - 8));
	FUZZ_CHECK(!(out[7] & ~data[7]));
}

/* Header and body of both, but for the length of TLVs. */
static void check_bytes(uint8_t type, const uint8_t *data, const uint8_t *packed)
{
	uint8_t one[256], other[256];
	size_t len = any_without_reserved(type, data, one);

	FUZZ_CHECK(any_without_reserved(type, packed, other) == len);
	memcpy(one + 4, other + 4, 2);
	FUZZ_CHECK(!memcmp(one, other, len));
}

/* Packed again it is the same, and from then on byte for byte. */
static void check_lsa(const struct rte_packet *packet, const struct rte_lsa_piece *piece)
{
	static struct rte_lsa_room room, again;
	uint8_t one[ROOM], other[ROOM];
	struct rte_lsa_piece parsed;
	struct rte_packet inner;
	ssize_t len;

	if (packet->head.plen != piece->total ||
	    rte_lsa_parse(&room, piece, packet->payload, packet->head.plen) != RTE_OK)
		return;
	len = rte_lsa_pack(packet, &room.lsa, one, sizeof(one));
	FUZZ_CHECK(len > 0 && rte_lsa_len(&room.lsa) == (size_t)len);
	FUZZ_CHECK(rte_packet_parse(&inner, one, (size_t)len) == RTE_OK);
	FUZZ_CHECK(rte_lsa_piece_parse(&parsed, &inner) == RTE_OK);
	FUZZ_CHECK(rte_lsa_parse(&again, &parsed, inner.payload, inner.head.plen) ==
		   RTE_OK);
	FUZZ_CHECK(!rte_lsa_compare(&room.lsa, &again.lsa));
	FUZZ_CHECK(rte_lsa_check(&room.lsa) == rte_lsa_check(&again.lsa));
	FUZZ_CHECK(rte_lsa_pack(&inner, &again.lsa, other, sizeof(other)) == len);
	FUZZ_CHECK(!memcmp(one, other, (size_t)len));
}

static void check_message(const uint8_t *data, size_t size)
{
	static struct any any, again;
	uint8_t out[ROOM];
	ssize_t len;

	if (any_parse(&any, data, size) != RTE_OK)
		return;
	FUZZ_CHECK(rte_message_name(any.packet.head.type));
	len = any_pack_all(&any, out, sizeof(out));
	FUZZ_CHECK(len > 0 && (size_t)len <= size);
	check_bytes(any.packet.head.type, data, out);
	FUZZ_CHECK(any_parse(&again, out, (size_t)len) == RTE_OK);
	any.packet.head.hlen = again.packet.head.hlen;
	FUZZ_CHECK(!any_differ(&any, &again));
	if (any.packet.head.type == RTE_LSA)
		check_lsa(&any.packet, &any.body.lsa_piece);
}

/* Messages one after the other, each behind two bytes that say how long it is. */
static void check_pieces(const uint8_t *data, size_t size)
{
	uint8_t list[1024];
	struct rte_lsa_piece piece;
	struct rte_packet packet;
	struct rte_join join;
	size_t len;

	rte_join_init(&join, list, sizeof(list));
	for (; size >= 2; data += len, size -= len) {
		len = data[0] | (size_t)data[1] << 8;
		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		if (rte_packet_parse(&packet, data, len) != RTE_OK ||
		    rte_lsa_piece_parse(&piece, &packet) != RTE_OK)
			continue;
		if (rte_join_put(&join, &piece, &packet) == RTE_OK) {
			FUZZ_CHECK(join.first.total <= sizeof(list));
			packet.payload = list;
			packet.head.plen = join.first.total;
			packet.head.flags = RTE_FIRST | RTE_LAST;
			check_lsa(&packet, &join.first);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_preamble(data, size);
	check_message(data, size);
	check_pieces(data, size);
	return 0;
}
