/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <string.h>
#include "message.h"

#define PVB_WIRE_HEAD 16u
#define PVB_WIRE_RANGE 24u
#define PVB_WIRE_ANSWER_SIZE 8u
#define PVB_WIRE_REPLAY_SIZE 24u
#define PVB_WIRE_MESSAGES_SIZE 16u

static void pvb_put16(uint8_t *out, uint16_t value)
{
	value = htole16(value);
	memcpy(out, &value, sizeof(value));
}

static void pvb_put32(uint8_t *out, uint32_t value)
{
	value = htole32(value);
	memcpy(out, &value, sizeof(value));
}

static void pvb_put64(uint8_t *out, uint64_t value)
{
	value = htole64(value);
	memcpy(out, &value, sizeof(value));
}

static uint16_t pvb_get16(const uint8_t *in)
{
	uint16_t value;

	memcpy(&value, in, sizeof(value));
	return le16toh(value);
}

static uint32_t pvb_get32(const uint8_t *in)
{
	uint32_t value;

	memcpy(&value, in, sizeof(value));
	return le32toh(value);
}

static uint64_t pvb_get64(const uint8_t *in)
{
	uint64_t value;

	memcpy(&value, in, sizeof(value));
	return le64toh(value);
}

static void pvb_put_range(uint8_t *out, const struct pvb_wire_range *range)
{
	pvb_put64(out, range->addr);
	pvb_put64(out + 8, range->len);
	pvb_put32(out + 16, range->rkey);
	pvb_put32(out + 20, 0);
}

static void pvb_get_range(struct pvb_wire_range *range, const uint8_t *in)
{
	range->addr = pvb_get64(in);
	range->len = pvb_get64(in + 8);
	range->rkey = pvb_get32(in + 16);
}

size_t pvb_wire_pack(uint8_t out[PVB_WIRE_SIZE], const struct pvb_wire_message *message)
{
	size_t at = PVB_WIRE_HEAD;
	uint8_t i;

	out[0] = message->kind;
	out[1] = message->ranges;
	pvb_put32(out + 4, message->number);
	if (message->kind == PVB_WIRE_REPLAY) {
		pvb_put16(out + 2, 0);
		pvb_put64(out + 8, message->to.addr);
		pvb_put64(out + 16, message->key);
		return PVB_WIRE_REPLAY_SIZE;
	}
	if (message->kind == PVB_WIRE_MESSAGES) {
		pvb_put16(out + 2, 0);
		pvb_put32(out + 8, message->seq_word);
		pvb_put32(out + 12, message->messages);
		return PVB_WIRE_MESSAGES_SIZE;
	}
	if (message->kind != PVB_WIRE_REQUEST) {
		pvb_put16(out + 2, message->status);
		return PVB_WIRE_ANSWER_SIZE;
	}
	pvb_put16(out + 2, message->copy);
	pvb_put32(out + 8, message->seq_word);
	pvb_put32(out + 12, message->fence);
	for (i = 0; i < message->ranges; i++, at += PVB_WIRE_RANGE)
		pvb_put_range(out + at, &message->range[i]);
	if (!message->copy)
		return at;
	pvb_put_range(out + at, &message->to);
	at += PVB_WIRE_RANGE;
	memcpy(out + at, message->bytes, message->copy);
	return at + message->copy;
}

static bool pvb_wire_parse_request(struct pvb_wire_message *message, const uint8_t *in,
				   size_t len)
{
	size_t at = PVB_WIRE_HEAD, need;
	uint8_t i;

	if (len < PVB_WIRE_HEAD)
		return false;
	message->ranges = in[1];
	message->copy = pvb_get16(in + 2);
	message->seq_word = pvb_get32(in + 8);
	message->fence = pvb_get32(in + 12);
	if (message->ranges > PVB_WIRE_RANGES || message->copy > PVB_WIRE_INLINE)
		return false;
	need = at + (size_t)message->ranges * PVB_WIRE_RANGE +
	       (message->copy ? PVB_WIRE_RANGE + message->copy : 0u);
	if (len != need)
		return false;
	for (i = 0; i < message->ranges; i++, at += PVB_WIRE_RANGE)
		pvb_get_range(&message->range[i], in + at);
	if (!message->copy)
		return true;
	pvb_get_range(&message->to, in + at);
	message->bytes = in + at + PVB_WIRE_RANGE;
	return message->to.len == message->copy;
}

bool pvb_wire_parse(struct pvb_wire_message *message, const uint8_t *in, size_t len)
{
	memset(message, 0, sizeof(*message));
	if (len < PVB_WIRE_ANSWER_SIZE)
		return false;
	message->kind = in[0];
	message->number = pvb_get32(in + 4);
	switch (message->kind) {
	case PVB_WIRE_REQUEST:
		return pvb_wire_parse_request(message, in, len);
	case PVB_WIRE_ANSWER:
	case PVB_WIRE_RING_ANSWER:
		message->status = pvb_get16(in + 2);
		return len == PVB_WIRE_ANSWER_SIZE;
	case PVB_WIRE_REPLAY:
		if (len != PVB_WIRE_REPLAY_SIZE)
			return false;
		message->to.addr = pvb_get64(in + 8);
		message->key = pvb_get64(in + 16);
		return true;
	case PVB_WIRE_MESSAGES:
		if (len != PVB_WIRE_MESSAGES_SIZE)
			return false;
		message->seq_word = pvb_get32(in + 8);
		message->messages = pvb_get32(in + 12);
		/* Not fenced: executed whatever the result of earlier requests. */
		message->fence = message->number;
		return true;
	default:
		return false;
	}
}

void pvb_wire_pack_entry(uint8_t out[PVB_WIRE_ENTRY], const struct pvb_wire_entry *entry)
{
	pvb_put32(out, entry->message);
	pvb_put32(out + 4, entry->number);
	pvb_put_range(out + 8, &entry->range);
}

uint32_t pvb_wire_entry_number(const uint8_t in[PVB_WIRE_ENTRY])
{
	return pvb_get32(in + 4);
}

void pvb_wire_parse_entry(struct pvb_wire_entry *entry, const uint8_t in[PVB_WIRE_ENTRY])
{
	entry->message = pvb_get32(in);
	entry->number = pvb_get32(in + 4);
	pvb_get_range(&entry->range, in + 8);
}
