/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on a control queue pair and entries of a message ring, as any peer may send
 * them. */
#include <string.h>
#include "fuzz.h"
#include "wire/message.h"

/* Within its limits and within these bytes. */
static void check_request(const struct pvb_wire_message *message, const uint8_t *data,
			  size_t size)
{
	FUZZ_CHECK(message->ranges <= PVB_WIRE_RANGES);
	FUZZ_CHECK(message->copy <= PVB_WIRE_INLINE);
	if (!message->copy)
		return;
	FUZZ_CHECK(message->to.len == message->copy);
	FUZZ_CHECK(message->bytes > data);
	FUZZ_CHECK(message->bytes + message->copy == data + size);
}

/* What is understood is what a peer of ours could have meant. */
static void check_message(const uint8_t *data, size_t size)
{
	struct pvb_wire_message message, again;
	uint8_t out[PVB_WIRE_SIZE];
	size_t len;

	if (!pvb_wire_parse(&message, data, size))
		return;
	FUZZ_CHECK(size <= PVB_WIRE_SIZE);
	if (message.kind == PVB_WIRE_REQUEST)
		check_request(&message, data, size);
	len = pvb_wire_pack(out, &message);
	FUZZ_CHECK(len == size);
	FUZZ_CHECK(pvb_wire_parse(&again, out, len));
	FUZZ_CHECK(again.kind == message.kind && again.number == message.number);
	FUZZ_CHECK(again.seq_word == message.seq_word && again.status == message.status);
	FUZZ_CHECK(again.fence == message.fence && again.key == message.key);
	FUZZ_CHECK(again.ranges == message.ranges && again.copy == message.copy);
	FUZZ_CHECK(!memcmp(again.range, message.range, sizeof(again.range)));
	if (message.copy)
		FUZZ_CHECK(!memcmp(again.bytes, message.bytes, message.copy));
}

static void check_entry(const uint8_t data[PVB_WIRE_ENTRY])
{
	struct pvb_wire_entry entry, again;
	uint8_t out[PVB_WIRE_ENTRY];

	pvb_wire_parse_entry(&entry, data);
	pvb_wire_pack_entry(out, &entry);
	pvb_wire_parse_entry(&again, out);
	FUZZ_CHECK(again.message == entry.message && again.number == entry.number);
	FUZZ_CHECK(again.range.addr == entry.range.addr);
	FUZZ_CHECK(again.range.len == entry.range.len);
	FUZZ_CHECK(again.range.rkey == entry.range.rkey);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_message(data, size);
	if (size >= PVB_WIRE_ENTRY)
		check_entry(data);
	return 0;
}
