/* SPDX-License-Identifier: BSD-2-Clause */
/* LSAs as messages: whole, and in pieces. */
#include "layout.h"
#include "links.h"

#define PIECE_LEN (RTE_HEAD_LEN + RTE_SUM(RTE_LSA_PIECE_FIELDS))
#define WHOLE (RTE_FIRST | RTE_LAST)

static enum rte_bad piece_check(const struct rte_packet *packet,
				const struct rte_lsa_piece *piece)
{
	const uint32_t plen = packet->head.plen;
	const uint8_t flags = packet->head.flags;

	if (piece->total > RTE_LSA_LIST_MAX || piece->links > RTE_LINKS_MAX ||
	    piece->lifetime > RTE_LIFETIME_MAX)
		return RTE_BAD_LIMIT;
	if (piece->as == RTE_AS_WAN || !piece->router)
		return RTE_BAD_VALUE;
	if (piece->offset > piece->total || plen > piece->total - piece->offset ||
	    (!plen && piece->total))
		return RTE_BAD_RANGE;
	if (!(flags & RTE_FIRST) != !!piece->offset ||
	    !(flags & RTE_LAST) != (plen < piece->total - piece->offset))
		return RTE_BAD_FLAGS;
	return RTE_OK;
}

RTE_DEFINE_MESSAGE(lsa_piece, type == RTE_LSA, RTE_LSA_PIECE_FIELDS,
		   piece_check(packet, message))

size_t rte_lsa_len(const struct rte_lsa *lsa)
{
	const ssize_t total = rte_links_len(lsa);

	return total < 0 ? 0 : PIECE_LEN + (size_t)total;
}

/* A piece that is all of it. */
static struct rte_lsa_piece piece_of(const struct rte_lsa *lsa, size_t total)
{
	return (struct rte_lsa_piece){.as = lsa->as,
				      .flags = lsa->flags,
				      .router = lsa->router,
				      .epoch = lsa->epoch,
				      .seq = lsa->seq,
				      .lifetime = lsa->lifetime,
				      .load = lsa->load,
				      .total = (uint32_t)total,
				      .links = (uint16_t)lsa->links};
}

ssize_t rte_lsa_pack(const struct rte_packet *packet, const struct rte_lsa *lsa,
		     void *buf, size_t size)
{
	struct rte_lsa_piece piece;
	ssize_t total, len;

	if (packet->head.type != RTE_LSA || packet->head.flags != WHOLE ||
	    lsa->as == RTE_AS_WAN || !lsa->router || lsa->lifetime > RTE_LIFETIME_MAX)
		return -FI_EINVAL;
	if (size < PIECE_LEN)
		return -FI_ETOOSMALL;
	total = rte_links_pack(lsa, (uint8_t *)buf + PIECE_LEN, size - PIECE_LEN);
	if (total < 0)
		return total;
	len = rte_frame(packet, (size_t)total, buf, size);
	if (len < 0)
		return len;
	piece = piece_of(lsa, (size_t)total);
	put_lsa_piece(buf, &piece);
	return len;
}

ssize_t rte_lsa_cut(const void *whole, size_t len, size_t *done, void *buf, size_t size)
{
	struct rte_packet packet;
	struct rte_lsa_piece piece;
	size_t room, left;
	ssize_t packed;

	if (rte_packet_parse(&packet, whole, len) != RTE_OK ||
	    rte_lsa_piece_parse(&piece, &packet) != RTE_OK ||
	    packet.head.flags != WHOLE || packet.head.hlen != PIECE_LEN)
		return -FI_EINVAL;
	if (*done >= len)
		return 0;
	piece.offset = (uint32_t)(*done ? *done - PIECE_LEN : 0);
	left = piece.total - piece.offset;
	room = size < PIECE_LEN ? 0 : (size - PIECE_LEN) & ~(size_t)7;
	if (left > room) {
		packet.head.flags &= (uint8_t)~RTE_LAST;
		left = room;
	}
	if (piece.offset)
		packet.head.flags &= (uint8_t)~RTE_FIRST;
	if (!left && piece.total)
		return -FI_ETOOSMALL;
	packet.head.plen = (uint32_t)left;
	packet.payload += piece.offset;
	packed = rte_lsa_piece_pack(&packet, &piece, buf, size);
	if (packed > 0)
		*done = PIECE_LEN + piece.offset + left;
	return packed;
}
