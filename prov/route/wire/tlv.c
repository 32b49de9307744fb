/* SPDX-License-Identifier: BSD-2-Clause */
#include "layout.h"

#define TLV_HEAD 4u
#define CRITICAL 0x8000u

/* Those that who does not know them must not pass over. */
static const uint32_t critical = 1u << RTE_TLV_ACK | 1u << RTE_TLV_PATH |
				 1u << RTE_TLV_URI | 1u << RTE_TLV_SOURCE |
				 1u << RTE_TLV_TARGET;

RTE_FIELDS(hop, RTE_HOP_FIELDS)

RTE_FIELDS(probe, RTE_PROBE_FIELDS)

#define PROBE_LEN RTE_SUM(RTE_PROBE_FIELDS)
#define HOP_LEN RTE_SUM(RTE_HOP_FIELDS)

/* Bytes of zeros behind a TLV whose value has len bytes. */
static size_t padding(size_t len)
{
	return -(TLV_HEAD + len) & 7;
}

/* Eight characters at a time: not 0 if one of them is below ' ', DEL, or above: what is
 * no ASCII would be no JSON, and terminals take some of it for control characters. */
static uint64_t unseemly(uint64_t text)
{
	const uint64_t each = UINT64_MAX / 255;
	const uint64_t del = text ^ each * 0x7f;

	return (text | (text - each * ' ') | (del - each)) & each * 0x80;
}

bool rte_text_right(const char *text, size_t size)
{
	const size_t len = size - 1;
	uint64_t word = 0, found = 0;
	size_t at;

	if (size < 2 || size > RTE_TEXT_MAX + 1 || text[len])
		return false;
	if (len < sizeof(word)) {
		for (at = 0; at < len; at++)
			found |= (uint8_t)text[at] < ' ' || (uint8_t)text[at] >= 0x7f;
		return !found;
	}
	for (at = 0; at < len - sizeof(word); at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		found |= unseemly(word);
	}
	/* The last eight, some of them again. */
	memcpy(&word, text + len - sizeof(word), sizeof(word));
	return !(found | unseemly(word));
}

/* Bytes of a value, 0: it is wrong. */
static size_t value_len(const struct rte_options *options, uint32_t tlv)
{
	const char *text;
	size_t size;

	switch (tlv) {
	case RTE_TLV_ACK:
		return sizeof(options->ack);
	case RTE_TLV_PATH:
		return options->hops > RTE_TTL_MAX ? 0 : options->hops * HOP_LEN;
	case RTE_TLV_PROBE:
		return PROBE_LEN;
	default:
		text = options->text[tlv];
		size = text ? strnlen(text, RTE_TEXT_MAX + 1) + 1 : 0;
		return size && rte_text_right(text, size) ? size : 0;
	}
}

ssize_t rte_tlv_len(const struct rte_options *options, uint32_t allowed)
{
	size_t len, sum = 0;
	uint32_t tlv;

	if (options->present & ~allowed)
		return -FI_EINVAL;
	for (tlv = 1; tlv < RTE_TLVS; tlv++) {
		if (!(options->present >> tlv & 1))
			continue;
		len = value_len(options, tlv);
		if (!len)
			return -FI_EINVAL;
		sum += TLV_HEAD + len + padding(len);
	}
	return (ssize_t)sum;
}

static void value_pack(const struct rte_options *options, uint32_t tlv, uint8_t *at,
		       size_t len)
{
	uint32_t i;

	switch (tlv) {
	case RTE_TLV_ACK:
		crn_put_le64(at, options->ack);
		return;
	case RTE_TLV_PATH:
		for (i = 0; i < options->hops; i++)
			put_hop(at + i * HOP_LEN, &options->hop[i]);
		return;
	case RTE_TLV_PROBE:
		put_probe(at, &options->probe);
		return;
	default:
		memcpy(at, options->text[tlv], len);
	}
}

void rte_tlv_pack(const struct rte_options *options, uint8_t *at)
{
	uint32_t tlv;
	size_t len;

	for (tlv = 1; tlv < RTE_TLVS; tlv++) {
		if (!(options->present >> tlv & 1))
			continue;
		len = value_len(options, tlv);
		crn_put_le16(at, (uint16_t)(tlv | (critical >> tlv & 1 ? CRITICAL : 0)));
		crn_put_le16(at + 2, (uint16_t)len);
		value_pack(options, tlv, at + TLV_HEAD, len);
		memset(at + TLV_HEAD + len, 0, padding(len));
		at += TLV_HEAD + len + padding(len);
	}
}

static enum rte_bad value_parse(struct rte_options *options, uint32_t tlv,
				const uint8_t *value, size_t len)
{
	uint32_t i;

	switch (tlv) {
	case RTE_TLV_ACK:
		if (len != sizeof(options->ack))
			return RTE_BAD_TLV;
		options->ack = crn_get_le64(value);
		return RTE_OK;
	case RTE_TLV_PATH:
		if (!len || len % HOP_LEN)
			return RTE_BAD_TLV;
		if (len / HOP_LEN > RTE_TTL_MAX)
			return RTE_BAD_LIMIT;
		options->hops = (uint32_t)(len / HOP_LEN);
		for (i = 0; i < options->hops; i++)
			get_hop(value + i * HOP_LEN, &options->hop[i]);
		return RTE_OK;
	case RTE_TLV_PROBE:
		if (len != PROBE_LEN)
			return RTE_BAD_TLV;
		get_probe(value, &options->probe);
		return RTE_OK;
	default:
		options->text[tlv] = (const char *)value;
		return rte_text_right(options->text[tlv], len) ? RTE_OK : RTE_BAD_TEXT;
	}
}

enum rte_bad rte_tlv_parse(struct rte_options *options, uint32_t allowed,
			   struct crn_unpack *in)
{
	enum rte_bad bad = RTE_OK;
	const uint8_t *value;
	uint16_t type, len;
	uint32_t tlv;

	while (in->left && bad == RTE_OK) {
		type = crn_unpack_le16(in);
		len = crn_unpack_le16(in);
		value = crn_unpack_ref(in, len);
		crn_unpack_ref(in, padding(len));
		if (in->failed)
			return RTE_BAD_TLV;
		tlv = type & ~CRITICAL;
		if (tlv >= RTE_TLVS || !(allowed >> tlv & 1)) {
			if (type & CRITICAL)
				return RTE_BAD_CRITICAL;
			continue;
		}
		if (options->present >> tlv & 1)
			return RTE_BAD_TLV;
		options->present |= 1u << tlv;
		bad = value_parse(options, tlv, value, len);
	}
	return bad;
}
