/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <cairn/bytes.h>
#include "message.h"

#define PVB_WIRE_HEAD 16u
#define PVB_WIRE_RANGE 24u
#define PVB_WIRE_ANSWER_SIZE 8u
#define PVB_WIRE_REPLAY_SIZE 24u
#define PVB_WIRE_MESSAGES_SIZE 16u

static void pvb_put_range(uint8_t *out, const struct pvb_wire_range *range)
{
	crn_put_le64(out, range->addr);
	crn_put_le64(out + 8, range->len);
	crn_put_le32(out + 16, range->rkey);
	crn_put_le32(out + 20, 0);
}

static void pvb_get_range(struct pvb_wire_range *range, const uint8_t *in)
{
	range->addr = crn_get_le64(in);
	range->len = crn_get_le64(in + 8);
	range->rkey = crn_get_le32(in + 16);
}

size_t pvb_wire_pack(uint8_t out[PVB_WIRE_SIZE], const struct pvb_wire_message *message)
{
	size_t at = PVB_WIRE_HEAD;
	uint8_t i;

	out[0] = message->kind;
	out[1] = message->ranges;
	crn_put_le32(out + 4, message->number);
	if (message->kind == PVB_WIRE_REPLAY) {
		crn_put_le16(out + 2, 0);
		crn_put_le64(out + 8, message->to.addr);
		crn_put_le64(out + 16, message->key);
		return PVB_WIRE_REPLAY_SIZE;
	}
	if (message->kind == PVB_WIRE_MESSAGES) {
		crn_put_le16(out + 2, 0);
		crn_put_le32(out + 8, message->seq_word);
		crn_put_le32(out + 12, message->messages);
		return PVB_WIRE_MESSAGES_SIZE;
	}
	if (message->kind != PVB_WIRE_REQUEST) {
		crn_put_le16(out + 2, message->status);
		return PVB_WIRE_ANSWER_SIZE;
	}
	crn_put_le16(out + 2, message->copy);
	crn_put_le32(out + 8, message->seq_word);
	crn_put_le32(out + 12, message->fence);
	for (i = 0; i < message->ranges; i++, at += PVB_WIRE_RANGE)
		pvb_put_range(out + at, &message->range[i]);
	if (!message->copy)
		return at;
	pvb_put_range(out + at, &message->to);
	at += PVB_WIRE_RANGE;
	memcpy(out + at, message->bytes, message->copy);
	return at + message->copy;
}

static bool pvb_wire_parse_request(struct pvb_wire_message *message,
				   struct crn_unpack *rest, const uint8_t *in)
{
	const uint8_t *at;
	uint8_t i;

	message->ranges = in[1];
	message->copy = crn_get_le16(in + 2);
	if (message->ranges > PVB_WIRE_RANGES || message->copy > PVB_WIRE_INLINE)
		return false;
	at = crn_unpack_ref(rest, PVB_WIRE_HEAD - PVB_WIRE_ANSWER_SIZE +
					  message->ranges * PVB_WIRE_RANGE);
	if (!at)
		return false;
	message->seq_word = crn_get_le32(at);
	message->fence = crn_get_le32(at + 4);
	at += 8;
	for (i = 0; i < message->ranges; i++, at += PVB_WIRE_RANGE)
		pvb_get_range(&message->range[i], at);
	if (!message->copy)
		return true;
	at = crn_unpack_ref(rest, PVB_WIRE_RANGE);
	message->bytes = crn_unpack_ref(rest, message->copy);
	if (at)
		pvb_get_range(&message->to, at);
	return message->to.len == message->copy;
}

static bool pvb_wire_parse_replay(struct pvb_wire_message *message,
				  struct crn_unpack *rest)
{
	message->to.addr = crn_unpack_le64(rest);
	message->key = crn_unpack_le64(rest);
	return true;
}

static bool pvb_wire_parse_messages(struct pvb_wire_message *message,
				    struct crn_unpack *rest)
{
	message->seq_word = crn_unpack_le32(rest);
	message->messages = crn_unpack_le32(rest);
	/* Whatever became of those before it. */
	message->fence = message->number;
	return true;
}

/* What is behind the first fields, which are at in. */
static bool pvb_wire_parse_rest(struct pvb_wire_message *message, struct crn_unpack *rest,
				const uint8_t *in)
{
	switch (message->kind) {
	case PVB_WIRE_REQUEST:
		return pvb_wire_parse_request(message, rest, in);
	case PVB_WIRE_ANSWER:
	case PVB_WIRE_RING_ANSWER:
		message->status = crn_get_le16(in + 2);
		return true;
	case PVB_WIRE_REPLAY:
		return pvb_wire_parse_replay(message, rest);
	case PVB_WIRE_MESSAGES:
		return pvb_wire_parse_messages(message, rest);
	default:
		return false;
	}
}

bool pvb_wire_parse(struct pvb_wire_message *message, const uint8_t *in, size_t len)
{
	struct crn_unpack rest;

	memset(message, 0, sizeof(*message));
	crn_unpack_init(&rest, in, len);
	if (!crn_unpack_ref(&rest, PVB_WIRE_ANSWER_SIZE))
		return false;
	message->kind = in[0];
	message->number = crn_get_le32(in + 4);
	return pvb_wire_parse_rest(message, &rest, in) && crn_unpack_done(&rest);
}

void pvb_wire_pack_entry(uint8_t out[PVB_WIRE_ENTRY], const struct pvb_wire_entry *entry)
{
	crn_put_le32(out, entry->message);
	crn_put_le32(out + 4, entry->number);
	pvb_put_range(out + 8, &entry->range);
}

uint32_t pvb_wire_entry_number(const uint8_t in[PVB_WIRE_ENTRY])
{
	return crn_get_le32(in + 4);
}

void pvb_wire_parse_entry(struct pvb_wire_entry *entry, const uint8_t in[PVB_WIRE_ENTRY])
{
	entry->message = crn_get_le32(in);
	entry->number = crn_get_le32(in + 4);
	pvb_get_range(&entry->range, in + 8);
}
