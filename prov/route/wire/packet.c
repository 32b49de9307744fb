/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of every message, what is true of all messages of a type, and what comes
 * before and after a body. */
#include "layout.h"

#define BIT(tlv) (1u << RTE_TLV_##tlv)
#define SIZE(fields) .body = RTE_SUM(RTE_##fields##_FIELDS)
#define NO_LANE .lane = RTE_LANES
#define DATA .data = true, .tlvs = BIT(ACK)
#define OPERATION (RTE_ACKREQ | RTE_CQDATA | RTE_CRC | RTE_COMMIT | RTE_DELIVER)
#define PARTS (RTE_FIRST | RTE_LAST)
#define ENTRIES(name, max) .payload_max = RTE_SUM(RTE_##name##_FIELDS) * (max)

/* clang-format off */
static const struct rte_form forms[RTE_TYPES] = {
	[RTE_HELLO] = {"HELLO", SIZE(HELLO), NO_LANE, .tlvs = BIT(URI) | BIT(NAME) | BIT(WHY)},
	[RTE_HELLO_ACK] = {"HELLO_ACK", SIZE(HELLO), NO_LANE, .flags = RTE_ERR,
			   .tlvs = BIT(URI) | BIT(NAME) | BIT(WHY)},
	[RTE_AUTH] = {"AUTH", SIZE(AUTH), NO_LANE},
	[RTE_DIGEST] = {"DIGEST", SIZE(LSA_KEYS), NO_LANE, .flags = RTE_LAST,
			ENTRIES(LSA_KEY, RTE_LSA_KEYS_MAX)},
	[RTE_LSREQ] = {"LSREQ", SIZE(LSA_KEYS), NO_LANE, ENTRIES(LSA_KEY, RTE_LSA_KEYS_MAX)},
	[RTE_LSA] = {"LSA", SIZE(LSA_PIECE), NO_LANE, .flags = PARTS,
		     .payload_max = RTE_LSA_LIST_MAX},
	[RTE_AS_REACH] = {"AS_REACH", SIZE(REACH), NO_LANE,
			  ENTRIES(REACH_ENTRY, RTE_REACH_MAX)},
	[RTE_HEARTBEAT] = {"HEARTBEAT", SIZE(HEARTBEAT), NO_LANE},
	[RTE_BYE] = {"BYE", SIZE(BYE), NO_LANE, .flags = RTE_ERR, .tlvs = BIT(WHY)},
	[RTE_CONN_REQ] = {"CONN_REQ", SIZE(CONN_REQ), NO_LANE, .payload_max = RTE_PARAM_MAX,
			  .tlvs = BIT(PATH) | BIT(SOURCE) | BIT(TARGET)},
	[RTE_CONN_REP] = {"CONN_REP", SIZE(CONN_REP), NO_LANE, .payload_max = RTE_PARAM_MAX,
			  .flags = RTE_ERR, .tlvs = BIT(PATH) | BIT(URI) | BIT(WHY) | BIT(PROBE)},
	[RTE_CONN_ACK] = {"CONN_ACK", SIZE(CONN_ACK), NO_LANE, .flags = RTE_ERR},
	[RTE_SHUTDOWN] = {"SHUTDOWN", SIZE(SHUTDOWN), NO_LANE, .flags = RTE_ERR | RTE_LAST,
			  .tlvs = BIT(WHY)},
	[RTE_MSG] = {"MSG", SIZE(MSG), .lane = RTE_REQUESTS, DATA, .flags = PARTS | OPERATION},
	[RTE_WRITE] = {"WRITE", SIZE(WRITE), .lane = RTE_REQUESTS, DATA,
		       .flags = PARTS | OPERATION},
	[RTE_READ_REQ] = {"READ_REQ", SIZE(READ_REQ), .lane = RTE_REQUESTS, .tlvs = BIT(ACK)},
	[RTE_READ_FRAG] = {"READ_FRAG", SIZE(READ_FRAG), .lane = RTE_RESPONSES, DATA,
			   .flags = PARTS | RTE_CRC},
	[RTE_GRANT] = {"GRANT", SIZE(GRANT), .lane = RTE_RESPONSES,
		       ENTRIES(SLOT, RTE_GRANT_MAX)},
	[RTE_ACK] = {"ACK", SIZE(ACK), .lane = RTE_RESPONSES},
	[RTE_NACK] = {"NACK", SIZE(NACK), .lane = RTE_RESPONSES, .flags = RTE_ERR,
		      .tlvs = BIT(WHY)},
	[RTE_MR_RESOLVE] = {"MR_RESOLVE", SIZE(MR_RESOLVE), .lane = RTE_RESPONSES},
	[RTE_MR_INFO] = {"MR_INFO", SIZE(MR_INFO), .lane = RTE_RESPONSES, .flags = RTE_ERR},
	[RTE_MR_INVAL] = {"MR_INVAL", SIZE(MR_INVAL), .lane = RTE_RESPONSES,
			  .flags = RTE_ACKREQ},
	[RTE_KEEPALIVE] = {"KEEPALIVE", SIZE(KEEPALIVE), .lane = RTE_RESPONSES,
			   .flags = RTE_ACKREQ},
	[RTE_RECEIVES] = {"RECEIVES", SIZE(RECEIVES), .lane = RTE_RESPONSES},
};
/* clang-format on */

RTE_FIELDS(head, RTE_HEAD_FIELDS)

_Static_assert(1 + RTE_SUM(RTE_HEAD_FIELDS) == RTE_HEAD_LEN, "the common header");

const struct rte_form *rte_form(uint8_t type)
{
	return type < RTE_TYPES && forms[type].name ? &forms[type] : NULL;
}

const char *rte_message_name(uint8_t type)
{
	const struct rte_form *form = rte_form(type);

	return form ? form->name : NULL;
}

enum rte_lane rte_message_lane(uint8_t type)
{
	const struct rte_form *form = rte_form(type);

	return form ? (enum rte_lane)form->lane : RTE_LANES;
}

/* Whoever is to acknowledge has been asked to. */
static bool flags_agree(uint8_t flags)
{
	return !(flags & (RTE_COMMIT | RTE_DELIVER)) || (flags & RTE_ACKREQ);
}

/* What follows the TLVs. */
CRN_INLINE enum rte_bad payload_parse(struct rte_packet *packet,
				      const struct rte_form *form,
				      const struct crn_unpack *in)
{
	const uint32_t plen = packet->head.plen;

	packet->payload = in->at;
	if (form->data && crn_get_le32(packet->bytes + RTE_SLOT_AT) != RTE_SLOT_NONE) {
		packet->payload = NULL;
		return in->left ? RTE_BAD_PLEN : RTE_OK;
	}
	if (!form->data && plen > form->payload_max)
		return RTE_BAD_LIMIT;
	if (in->left < plen)
		return RTE_BAD_SHORT;
	return in->left > plen ? RTE_BAD_PLEN : RTE_OK;
}

/* Most have none. */
static enum rte_bad tlvs_parse(struct rte_packet *packet, const struct rte_form *form,
			       size_t len, struct crn_unpack *in)
{
	struct crn_unpack tlvs;

	crn_unpack_part(in, len, &tlvs);
	if (in->failed)
		return RTE_BAD_SHORT;
	return rte_tlv_parse(&packet->options, form->tlvs, &tlvs);
}

CRN_INLINE enum rte_bad rest_parse(struct rte_packet *packet, const struct rte_form *form,
				   struct crn_unpack *in)
{
	const size_t body_end = RTE_HEAD_LEN + form->body, hlen = packet->head.hlen;
	enum rte_bad bad;

	if (hlen % 8 || hlen < body_end || hlen > RTE_HLEN_MAX)
		return RTE_BAD_HLEN;
	if (!flags_agree(packet->head.flags))
		return RTE_BAD_FLAGS;
	if (!crn_unpack_ref(in, form->body))
		return RTE_BAD_SHORT;
	packet->options.present = 0;
	if (crn_unlikely(hlen > body_end)) {
		bad = tlvs_parse(packet, form, hlen - body_end, in);
		if (bad != RTE_OK)
			return bad;
	}
	return payload_parse(packet, form, in);
}

enum rte_bad rte_packet_parse(struct rte_packet *packet, const void *bytes, size_t len)
{
	const struct rte_form *form;
	struct crn_unpack in;

	crn_unpack_init(&in, bytes, len);
	packet->bytes = crn_unpack_ref(&in, RTE_HEAD_LEN);
	if (!packet->bytes)
		return RTE_BAD_SHORT;
	if (packet->bytes[0] != RTE_HEAD_MAGIC)
		return RTE_BAD_MAGIC;
	get_head(packet->bytes, &packet->head);
	if (packet->head.minor > RTE_MINOR)
		return RTE_BAD_MINOR;
	form = rte_form(packet->head.type);
	if (!form)
		return RTE_BAD_TYPE;
	packet->head.flags &= form->flags;
	return rest_parse(packet, form, &in);
}

CRN_INLINE ssize_t frame(const struct rte_packet *packet, const struct rte_form *form,
			 size_t plen, uint8_t *buf, size_t size)
{
	struct rte_head head = packet->head;
	ssize_t tlvs = 0;
	size_t len;

	if (head.minor > RTE_MINOR || (head.flags & ~form->flags) ||
	    !flags_agree(head.flags) || (!form->data && plen > form->payload_max))
		return -FI_EINVAL;
	if (packet->options.present)
		tlvs = rte_tlv_len(&packet->options, form->tlvs);
	if (tlvs < 0)
		return tlvs;
	head.hlen = (uint16_t)(RTE_HEAD_LEN + form->body + (size_t)tlvs);
	head.plen = (uint32_t)plen;
	len = head.hlen + (form->data ? 0 : plen);
	if (len > size)
		return -FI_ETOOSMALL;
	*buf = RTE_HEAD_MAGIC;
	put_head(buf, &head);
	if (tlvs)
		rte_tlv_pack(&packet->options, buf + head.hlen - tlvs);
	return (ssize_t)len;
}

ssize_t rte_frame(const struct rte_packet *packet, size_t plen, void *buf, size_t size)
{
	return frame(packet, rte_form(packet->head.type), plen, buf, size);
}

ssize_t rte_frame_payload(const struct rte_packet *packet, void *buf, size_t size)
{
	const struct rte_form *form = rte_form(packet->head.type);
	const size_t plen = packet->head.plen;
	const bool ours = plen && !form->data;
	ssize_t len;

	if (ours && !packet->payload)
		return -FI_EINVAL;
	len = frame(packet, form, plen, buf, size);
	if (len > 0 && ours)
		memcpy((uint8_t *)buf + (size_t)len - plen, packet->payload, plen);
	return len;
}
