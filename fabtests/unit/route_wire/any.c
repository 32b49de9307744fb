/* SPDX-License-Identifier: BSD-2-Clause */
#include <rdma/fi_errno.h>
#include "any.h"
#include "wire/layout.h"

/* Two of a field's kind. */
#define DIFFER_NUMBER(field)      \
	if (a->field != b->field) \
		return #field;
#define DIFFER_ARRAY(field)                               \
	if (memcmp(a->field, b->field, sizeof(a->field))) \
		return #field;
#define DIFFER_U8(field) DIFFER_NUMBER(field)
#define DIFFER_U16(field) DIFFER_NUMBER(field)
#define DIFFER_U32(field) DIFFER_NUMBER(field)
#define DIFFER_U64(field) DIFFER_NUMBER(field)
#define DIFFER_B16(field) DIFFER_ARRAY(field)
#define DIFFER_B32(field) DIFFER_ARRAY(field)
#define DIFFER_Z1(field)
#define DIFFER_Z2(field)
#define DIFFER_Z4(field)
#define DIFFER_FIELD(byte, kind, field) DIFFER_##kind(field)

#define ROW(byte, kind, field) {#field, byte, RTE_SIZE_##kind},

#define DIFFER(name, fields)                                         \
	static const char *differ_##name(const struct rte_##name *a, \
					 const struct rte_##name *b) \
	{                                                            \
		fields(DIFFER_FIELD) return NULL;                    \
	}

#define FIELDS(name, fields)                                           \
	static const struct any_field name##_fields[] = {fields(ROW)}; \
                                                                       \
	DIFFER(name, fields)

#define CALLS(name)                                                                 \
	static enum rte_bad parse_##name(struct any *any)                           \
	{                                                                           \
		return rte_##name##_parse(&any->body.name, &any->packet);           \
	}                                                                           \
                                                                                    \
	static ssize_t pack_##name(const struct any *any, void *buf, size_t size)   \
	{                                                                           \
		return rte_##name##_pack(&any->packet, &any->body.name, buf, size); \
	}

#define MESSAGE(name, fields)                                                          \
	FIELDS(name, fields)                                                           \
	CALLS(name)                                                                    \
                                                                                       \
	static const char *any_differ_##name(const struct any *a, const struct any *b) \
	{                                                                              \
		return differ_##name(&a->body.name, &b->body.name);                    \
	}

#define LIST(name, fields, entry_name, entry_fields, array)                            \
	FIELDS(name, fields)                                                           \
	FIELDS(entry_name, entry_fields)                                               \
	CALLS(name)                                                                    \
                                                                                       \
	static const char *any_differ_##name(const struct any *a, const struct any *b) \
	{                                                                              \
		const char *field = differ_##name(&a->body.name, &b->body.name);       \
		uint32_t i;                                                            \
                                                                                       \
		for (i = 0; !field && i < a->body.name.count; i++)                     \
			field = differ_##entry_name(&a->body.name.array[i],            \
						    &b->body.name.array[i]);           \
		return field;                                                          \
	}

DIFFER(head, RTE_HEAD_FIELDS)
DIFFER(hop, RTE_HOP_FIELDS)
MESSAGE(hello, RTE_HELLO_FIELDS)
MESSAGE(auth_proof, RTE_AUTH_FIELDS)
MESSAGE(bye, RTE_BYE_FIELDS)
MESSAGE(heartbeat, RTE_HEARTBEAT_FIELDS)
LIST(lsa_keys, RTE_LSA_KEYS_FIELDS, lsa_key, RTE_LSA_KEY_FIELDS, key)
LIST(reach, RTE_REACH_FIELDS, reach_entry, RTE_REACH_ENTRY_FIELDS, entry)
MESSAGE(lsa_piece, RTE_LSA_PIECE_FIELDS)
MESSAGE(conn_req, RTE_CONN_REQ_FIELDS)
MESSAGE(conn_rep, RTE_CONN_REP_FIELDS)
MESSAGE(conn_ack, RTE_CONN_ACK_FIELDS)
MESSAGE(shutdown, RTE_SHUTDOWN_FIELDS)
MESSAGE(msg, RTE_MSG_FIELDS)
MESSAGE(write, RTE_WRITE_FIELDS)
MESSAGE(read_req, RTE_READ_REQ_FIELDS)
MESSAGE(read_frag, RTE_READ_FRAG_FIELDS)
LIST(grant, RTE_GRANT_FIELDS, grant_slot, RTE_SLOT_FIELDS, slot)
MESSAGE(ack, RTE_ACK_FIELDS)
MESSAGE(nack, RTE_NACK_FIELDS)
MESSAGE(keepalive, RTE_KEEPALIVE_FIELDS)
MESSAGE(receives, RTE_RECEIVES_FIELDS)
MESSAGE(mr_resolve, RTE_MR_RESOLVE_FIELDS)
MESSAGE(mr_info, RTE_MR_INFO_FIELDS)
MESSAGE(mr_inval, RTE_MR_INVAL_FIELDS)

#define KIND(type_, name)                                                          \
	.type = type_, .fields = name##_fields, .count = CRN_COUNT(name##_fields), \
	.parse = parse_##name, .pack = pack_##name, .differ = any_differ_##name
#define ENTRY(name, all)                                                 \
	.entry = name##_fields, .entry_count = CRN_COUNT(name##_fields), \
	.entry_len = RTE_SUM(all)

const struct any_kind any_kinds[] = {
	{KIND(RTE_HELLO, hello)},
	{KIND(RTE_HELLO_ACK, hello)},
	{KIND(RTE_AUTH, auth_proof)},
	{KIND(RTE_DIGEST, lsa_keys), ENTRY(lsa_key, RTE_LSA_KEY_FIELDS)},
	{KIND(RTE_LSREQ, lsa_keys), ENTRY(lsa_key, RTE_LSA_KEY_FIELDS)},
	{KIND(RTE_LSA, lsa_piece)},
	{KIND(RTE_AS_REACH, reach), ENTRY(reach_entry, RTE_REACH_ENTRY_FIELDS)},
	{KIND(RTE_HEARTBEAT, heartbeat)},
	{KIND(RTE_BYE, bye)},
	{KIND(RTE_CONN_REQ, conn_req)},
	{KIND(RTE_CONN_REP, conn_rep)},
	{KIND(RTE_CONN_ACK, conn_ack)},
	{KIND(RTE_SHUTDOWN, shutdown)},
	{KIND(RTE_MSG, msg)},
	{KIND(RTE_WRITE, write)},
	{KIND(RTE_READ_REQ, read_req)},
	{KIND(RTE_READ_FRAG, read_frag)},
	{KIND(RTE_GRANT, grant), ENTRY(grant_slot, RTE_SLOT_FIELDS)},
	{KIND(RTE_ACK, ack)},
	{KIND(RTE_NACK, nack)},
	{KIND(RTE_MR_RESOLVE, mr_resolve)},
	{KIND(RTE_MR_INFO, mr_info)},
	{KIND(RTE_MR_INVAL, mr_inval)},
	{KIND(RTE_KEEPALIVE, keepalive)},
	{KIND(RTE_RECEIVES, receives)},
};

const size_t any_kind_count = CRN_COUNT(any_kinds);

const struct any_kind *any_kind(uint8_t type)
{
	for (size_t i = 0; i < any_kind_count; i++)
		if (any_kinds[i].type == type)
			return &any_kinds[i];
	return NULL;
}

enum rte_bad any_parse(struct any *any, const void *bytes, size_t len)
{
	const enum rte_bad bad = rte_packet_parse(&any->packet, bytes, len);

	return bad == RTE_OK ? any_kind(any->packet.head.type)->parse(any) : bad;
}

ssize_t any_pack(const struct any *any, void *buf, size_t size)
{
	const struct any_kind *kind = any_kind(any->packet.head.type);

	return kind ? kind->pack(any, buf, size) : -FI_EINVAL;
}

ssize_t any_pack_all(const struct any *any, void *buf, size_t size)
{
	const size_t plen = any->packet.payload ? any->packet.head.plen : 0;
	const ssize_t len = any_pack(any, buf, size);

	if (len < 0 || !rte_form(any->packet.head.type)->data)
		return len;
	if (plen > size - (size_t)len)
		return -FI_ETOOSMALL;
	if (plen)
		memcpy((uint8_t *)buf + len, any->packet.payload, plen);
	return len + (ssize_t)plen;
}

static const char *differ_options(const struct rte_options *a,
				  const struct rte_options *b)
{
	const char *field = NULL;

	if (a->present != b->present)
		return "present";
	if ((a->present >> RTE_TLV_ACK & 1) && a->ack != b->ack)
		return "ack";
	if ((a->present >> RTE_TLV_PROBE & 1) &&
	    (a->probe.queued != b->probe.queued ||
	     a->probe.connections != b->probe.connections ||
	     a->probe.arena != b->probe.arena))
		return "probe";
	for (uint32_t tlv = RTE_TLV_URI; tlv < RTE_TLV_PROBE; tlv++)
		if ((a->present >> tlv & 1) && strcmp(a->text[tlv], b->text[tlv]))
			return "text";
	if (!(a->present >> RTE_TLV_PATH & 1))
		return NULL;
	if (a->hops != b->hops)
		return "hops";
	for (uint32_t i = 0; !field && i < a->hops; i++)
		field = differ_hop(&a->hop[i], &b->hop[i]);
	return field;
}

const char *any_differ(const struct any *a, const struct any *b)
{
	const struct rte_packet *one = &a->packet, *other = &b->packet;
	const char *field = differ_head(&one->head, &other->head);

	if (!field)
		field = differ_options(&one->options, &other->options);
	if (!field)
		field = any_kind(one->head.type)->differ(a, b);
	if (field || !one->head.plen || any_kind(one->head.type)->entry)
		return field;
	if (!one->payload || !other->payload)
		return one->payload == other->payload ? NULL : "payload";
	return memcmp(one->payload, other->payload, one->head.plen) ? "payload" : NULL;
}

size_t any_without_reserved(uint8_t type, const uint8_t *bytes, uint8_t *out)
{
	const struct any_kind *kind = any_kind(type);
	const struct any_field *field;
	size_t end = RTE_HEAD_LEN, i;

	memcpy(out, bytes, end);
	out[3] &= rte_form(type)->flags;
	for (i = 0; i < kind->count; i++) {
		field = &kind->fields[i];
		if (*field->name)
			memcpy(out + field->at, bytes + field->at, field->size);
		else
			memset(out + field->at, 0, field->size);
		end += field->size;
	}
	return end;
}
