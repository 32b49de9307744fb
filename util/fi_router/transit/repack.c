/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages for the next hop: type, seq and contents are the same, what the header says of
 * the hop is not, and what is not known is left out. Of one that is cut, each piece says
 * which part it is; what asks for an acknowledgement goes with the last, but for durable
 * writes, whose every piece says that it is one. A CRC, which is that of the whole
 * payload, goes with none.
 */
#include <rdma/fi_errno.h>

#include "forward.h"

#define ASKS (RTE_ACKREQ | RTE_DELIVER | RTE_COMMIT)

/* clang-format off */
#define FRT_BODIES(F) \
	F(MSG, msg) \
	F(WRITE, write) \
	F(READ_REQ, read_req) \
	F(READ_FRAG, read_frag) \
	F(ACK, ack) \
	F(NACK, nack) \
	F(MR_RESOLVE, mr_resolve) \
	F(MR_INFO, mr_info) \
	F(MR_INVAL, mr_inval)
/* clang-format on */

enum rte_bad frt_body_parse(union frt_body *body, const struct rte_packet *packet)
{
	switch (packet->head.type) {
#define PARSE(type, name) \
	case RTE_##type:  \
		return rte_##name##_parse(&body->name, packet);
		FRT_BODIES(PARSE)
	default:
		return RTE_BAD_TYPE;
	}
}

ssize_t frt_body_pack(const union frt_body *body, const struct rte_packet *packet,
		      void *bytes, size_t size)
{
	switch (packet->head.type) {
#define PACK(type, name) \
	case RTE_##type: \
		return rte_##name##_pack(packet, &body->name, bytes, size);
		FRT_BODIES(PACK)
	default:
		return -FI_EINVAL;
	}
}

bool frt_has_payload(uint8_t type)
{
	return type == RTE_MSG || type == RTE_WRITE || type == RTE_READ_FRAG;
}

/* What messages say beside the header and their body: few say anything. */
static void options_set(struct rte_options *options, const struct frt_piece *piece,
			const struct rte_packet *packet)
{
	options->present = 0;
	if (piece->ack) {
		options->present |= 1u << RTE_TLV_ACK;
		options->ack = piece->ack;
	} else if (!piece->gone && (packet->options.present & 1u << RTE_TLV_ACK)) {
		options->present |= 1u << RTE_TLV_ACK;
		options->ack = packet->options.ack;
	}
	if (packet->options.present & 1u << RTE_TLV_WHY) {
		options->present |= 1u << RTE_TLV_WHY;
		options->text[RTE_TLV_WHY] = packet->options.text[RTE_TLV_WHY];
	}
}

static void part_set(struct rte_packet *out, union frt_body *part,
		     const struct frt_piece *piece, uint32_t plen)
{
	const bool first = !piece->gone, last = piece->gone + piece->len == plen;

	/* rte_tx_post writes the number of the slot. */
	part->msg.slot = piece->slot ? 0 : RTE_SLOT_NONE;
	part->msg.offset += piece->gone;
	out->head.plen = piece->len;
	if (!first)
		out->head.flags &= (uint8_t)~RTE_FIRST;
	if (!last)
		out->head.flags &= (uint8_t)~RTE_LAST;
	if (!last && !(out->head.flags & RTE_COMMIT))
		out->head.flags &= (uint8_t)~ASKS;
	if (!first || !last) {
		out->head.flags &= (uint8_t)~RTE_CRC;
		part->msg.crc = 0;
	}
}

ssize_t frt_piece_pack(const struct frt_piece *piece, const struct rte_packet *packet,
		       const union frt_body *body, void *bytes, size_t size)
{
	struct rte_packet out;
	union frt_body part = *body;

	out.head = packet->head;
	out.head.flags = piece->flags;
	out.payload = packet->payload;
	options_set(&out.options, piece, packet);
	if (frt_has_payload(packet->head.type))
		part_set(&out, &part, piece, packet->head.plen);
	return frt_body_pack(&part, &out, bytes, size);
}
