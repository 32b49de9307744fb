/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of a log after anything, and messages from anybody. An input is the first 192
 * bytes of a file and then its slots; the page between is zero. Its layout is that of
 * the header, or else one that the rest of the input fits.
 */
#include <string.h>
#include "fuzz.h"
#include "wire.h"

#define HEAD_BYTES 192u
#define SLOTS_BYTES 4096u

static uint8_t file[RLG_SLOTS + SLOTS_BYTES];

static void check_recovery(const struct rlg_layout *layout)
{
	struct rlg_recovery found;

	rlg_recover(file, layout, &found);
	FUZZ_CHECK(found.next >= found.first);
	FUZZ_CHECK(found.next - found.first <= layout->slots);
	FUZZ_CHECK(found.beyond <= layout->slots - (found.next - found.first));
	for (uint64_t number = found.first; number < found.next; number++)
		FUZZ_CHECK(rlg_record_find(file, layout, number) == RLG_VALID);
	if (layout->kind == RLG_COMPOUND && !found.damage)
		FUZZ_CHECK(found.next == found.tail + 1);
	else if (!found.damage && found.next - found.first < layout->slots)
		FUZZ_CHECK(found.stop != RLG_VALID);
}

/* What the server does with the end of a log and the client with the next append. */
static void check_append(const struct rlg_layout *layout)
{
	struct rlg_recovery found;
	uint64_t next;

	rlg_recover(file, layout, &found);
	if (found.damage || layout->kind != RLG_SINGLETON ||
	    found.next - found.first == layout->slots)
		return;
	next = found.next;
	rlg_record_seal(file + rlg_slot_at(layout, next), layout, next);
	rlg_recover(file, layout, &found);
	FUZZ_CHECK(!found.damage && found.next > next);
}

static void check_file(const uint8_t *data, size_t size)
{
	const size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
	size_t slots = size - head;
	struct rlg_layout layout;

	if (slots > SLOTS_BYTES)
		slots = SLOTS_BYTES;
	memset(file, 0, sizeof(file));
	memcpy(file, data, head);
	memcpy(file + RLG_SLOTS, data + head, slots);
	if (rlg_header_parse(file, sizeof(file), &layout))
		layout = (struct rlg_layout){.kind = head && data[0] & 1 ? RLG_COMPOUND
									 : RLG_SINGLETON,
					     .payload = 100,
					     .slots = 1 + slots / 256,
					     .identity = 1};
	FUZZ_CHECK(layout.slots <= rlg_slots_in(sizeof(file), layout.payload));
	check_recovery(&layout);
	check_append(&layout);
}

static void check_messages(const uint8_t *data, size_t size)
{
	uint8_t bytes[RLG_MESSAGE_MAX];
	struct rlg_welcome welcome;
	struct rlg_message message;
	struct rlg_hello hello;

	if (rlg_message_parse(data, size, &message)) {
		rlg_message_pack(bytes, &message);
		FUZZ_CHECK(memcmp(bytes, data, RLG_MESSAGE) == 0);
	}
	if (rlg_hello_parse(data, size, &hello))
		FUZZ_CHECK(rlg_acts(hello.kind, hello.op, hello.method) ||
			   hello.method == RLG_PIPELINE);
	if (rlg_welcome_parse(data, size, &welcome) && !welcome.refusal)
		FUZZ_CHECK(welcome.layout.slots &&
			   welcome.next - welcome.head <= welcome.layout.slots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_file(data, size);
	check_messages(data, size);
	return 0;
}
