/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this folder share: functions made of the lists of fields.h, and what
 * is around a body.
 */
#ifndef RTE_LAYOUT_H
#define RTE_LAYOUT_H

#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include "fields.h"
#include "wire.h"

#define RTE_HEAD_MAGIC 0xc9

/* Kinds: how many bytes, out and in. */
#define RTE_SIZE_U8 1
#define RTE_SIZE_U16 2
#define RTE_SIZE_U32 4
#define RTE_SIZE_U64 8
#define RTE_SIZE_B16 16
#define RTE_SIZE_B32 32
#define RTE_SIZE_Z1 1
#define RTE_SIZE_Z2 2
#define RTE_SIZE_Z4 4

#define RTE_PUT_U8(at, value) (*(at) = (value))
#define RTE_PUT_U16(at, value) crn_put_le16(at, value)
#define RTE_PUT_U32(at, value) crn_put_le32(at, value)
#define RTE_PUT_U64(at, value) crn_put_le64(at, value)
#define RTE_PUT_B16(at, value) memcpy(at, value, 16)
#define RTE_PUT_B32(at, value) memcpy(at, value, 32)
#define RTE_PUT_Z1(at, none) memset(at, 0, 1)
#define RTE_PUT_Z2(at, none) memset(at, 0, 2)
#define RTE_PUT_Z4(at, none) memset(at, 0, 4)

#define RTE_GET_U8(at, value) ((value) = *(at))
#define RTE_GET_U16(at, value) ((value) = crn_get_le16(at))
#define RTE_GET_U32(at, value) ((value) = crn_get_le32(at))
#define RTE_GET_U64(at, value) ((value) = crn_get_le64(at))
#define RTE_GET_B16(at, value) memcpy(value, at, 16)
#define RTE_GET_B32(at, value) memcpy(value, at, 32)
#define RTE_GET_Z1(at, none) ((void)(at))
#define RTE_GET_Z2(at, none) ((void)(at))
#define RTE_GET_Z4(at, none) ((void)(at))

#define RTE_PUT_FIELD(byte, kind, field) RTE_PUT_##kind(at + (byte), m->field);
#define RTE_GET_FIELD(byte, kind, field) RTE_GET_##kind(at + (byte), m->field);
#define RTE_SUM_FIELD(byte, kind, field) +RTE_SIZE_##kind
/* Bytes of all fields. */
#define RTE_SUM(fields) (0u fields(RTE_SUM_FIELD))

/* put_X and get_X, from and to struct rte_X; at is the byte 0 that the list means. */
/* clang-format off */
#define RTE_FIELDS(name, fields)                                           \
	CRN_INLINE void put_##name(uint8_t *at, const struct rte_##name *m) \
	{                                                                  \
		fields(RTE_PUT_FIELD)                                      \
	}                                                                  \
                                                                           \
	CRN_INLINE void get_##name(const uint8_t *at, struct rte_##name *m) \
	{                                                                  \
		fields(RTE_GET_FIELD)                                      \
	}
/* clang-format on */

/* What is true of all messages of a type (packet.c). */
struct rte_form {
	const char *name;
	uint32_t payload_max; /* bytes, unless they are data */
	uint16_t body;	      /* bytes */
	uint16_t tlvs;	      /* 1 << RTE_TLV_*, ... */
	uint8_t flags;	      /* enum rte_flag */
	uint8_t lane;	      /* enum rte_lane */
	bool data;	      /* its payload may be in a slot, and is the caller's */
};

/* NULL: there is no such type. */
const struct rte_form *rte_form(uint8_t type);

/*
 * Packs what is around a body: the header and TLVs. Returns the bytes of the message, or
 * an error as rte_X_pack does. The last plen of them are the payload, which the caller
 * fills in; those of data are not among them. rte_frame_payload: packet's payload.
 */
ssize_t rte_frame(const struct rte_packet *packet, size_t plen, void *buf, size_t size);
ssize_t rte_frame_payload(const struct rte_packet *packet, void *buf, size_t size);

/* TLVs (tlv.c): their bytes, after which pack cannot fail; or -FI_EINVAL. */
ssize_t rte_tlv_len(const struct rte_options *options, uint32_t allowed);
void rte_tlv_pack(const struct rte_options *options, uint8_t *at);
enum rte_bad rte_tlv_parse(struct rte_options *options, uint32_t allowed,
			   struct crn_unpack *in);
/* A text of size bytes with its final 0: not empty, of printable ASCII. */
bool rte_text_right(const char *text, size_t size);

/* RTE_ERR and the status say the same. */
CRN_INLINE enum rte_bad rte_status_check(const struct rte_packet *packet, uint32_t status)
{
	if (status > RTE_STATUS_MAX)
		return RTE_BAD_LIMIT;
	return !(packet->head.flags & RTE_ERR) == !status ? RTE_OK : RTE_BAD_FLAGS;
}

/*
 * rte_X_parse and rte_X_pack of a message without a list. is_type looks at type, and
 * check, an enum rte_bad, at packet and message, in either direction.
 */
#define RTE_DEFINE_MESSAGE(name, is_type, fields, check)                       \
	RTE_FIELDS(name, fields)                                               \
                                                                               \
	enum rte_bad rte_##name##_parse(struct rte_##name *message,            \
					const struct rte_packet *packet)       \
	{                                                                      \
		const uint8_t type = packet->head.type;                        \
                                                                               \
		if (!(is_type))                                                \
			return RTE_BAD_TYPE;                                   \
		get_##name(packet->bytes, message);                            \
		return check;                                                  \
	}                                                                      \
                                                                               \
	ssize_t rte_##name##_pack(const struct rte_packet *packet,             \
				  const struct rte_##name *message, void *buf, \
				  size_t size)                                 \
	{                                                                      \
		const uint8_t type = packet->head.type;                        \
		ssize_t len;                                                   \
                                                                               \
		if (!(is_type) || (check) != RTE_OK)                           \
			return -FI_EINVAL;                                     \
		len = rte_frame_payload(packet, buf, size);                    \
		if (len > 0)                                                   \
			put_##name(buf, message);                              \
		return len;                                                    \
	}

/*
 * The same of a message whose payload is a list: message->count entries, struct rte_entry
 * each, in message->array.
 */
#define RTE_DEFINE_LIST(name, is_type, fields, entry, entry_fields, array, check) \
	RTE_FIELDS(name, fields)                                                  \
	RTE_FIELDS(entry, entry_fields)                                           \
                                                                                  \
	enum rte_bad rte_##name##_parse(struct rte_##name *message,               \
					const struct rte_packet *packet)          \
	{                                                                         \
		const uint8_t type = packet->head.type;                           \
		uint32_t i;                                                       \
                                                                                  \
		if (!(is_type))                                                   \
			return RTE_BAD_TYPE;                                      \
		get_##name(packet->bytes, message);                               \
		if (message->count > CRN_COUNT(message->array))                   \
			return RTE_BAD_LIMIT;                                     \
		if (packet->head.plen != message->count * RTE_SUM(entry_fields))  \
			return RTE_BAD_PLEN;                                      \
		for (i = 0; i < message->count; i++)                              \
			get_##entry(packet->payload + i * RTE_SUM(entry_fields),  \
				    &message->array[i]);                          \
		return check;                                                     \
	}                                                                         \
                                                                                  \
	ssize_t rte_##name##_pack(const struct rte_packet *packet,                \
				  const struct rte_##name *message, void *buf,    \
				  size_t size)                                    \
	{                                                                         \
		const uint8_t type = packet->head.type;                           \
		size_t plen;                                                      \
		ssize_t len;                                                      \
		uint32_t i;                                                       \
                                                                                  \
		if (!(is_type) || message->count > CRN_COUNT(message->array) ||   \
		    (check) != RTE_OK)                                            \
			return -FI_EINVAL;                                        \
		plen = message->count * RTE_SUM(entry_fields);                    \
		len = rte_frame(packet, plen, buf, size);                         \
		if (len < 0)                                                      \
			return len;                                               \
		put_##name(buf, message);                                         \
		for (i = 0; i < message->count; i++)                              \
			put_##entry((uint8_t *)buf + (size_t)len - plen +         \
					    i * RTE_SUM(entry_fields),            \
				    &message->array[i]);                          \
		return len;                                                       \
	}

#endif
