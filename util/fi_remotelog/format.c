/* SPDX-License-Identifier: BSD-2-Clause */
#include <isa-l/crc.h>
#include <string.h>
#include "format.h"

#define RLG_LINE 64u

static const uint8_t rlg_magic[8] = {'C', 'R', 'N', 'R', 'L', 'O', 'G', '1'};

void rlg_put32(uint8_t *to, uint32_t value)
{
	int i;

	for (i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

void rlg_put64(uint8_t *to, uint64_t value)
{
	rlg_put32(to, (uint32_t)value);
	rlg_put32(to + 4, (uint32_t)(value >> 32));
}

uint32_t rlg_get32(const uint8_t *from)
{
	return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
	       (uint32_t)from[3] << 24;
}

uint64_t rlg_get64(const uint8_t *from)
{
	return rlg_get32(from) | (uint64_t)rlg_get32(from + 4) << 32;
}

/* ISA-L's function leaves the complements of RFC 3720 appendix B.4 to its caller. */
uint32_t rlg_crc32c(uint32_t before, const void *bytes, size_t len)
{
	return ~crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)len, ~before);
}

const char *rlg_kind_name(enum rlg_kind kind)
{
	return kind == RLG_COMPOUND ? "compound" : "singleton";
}

size_t rlg_slot_size(uint32_t payload)
{
	return (RLG_RECORD + (size_t)payload + RLG_LINE - 1) / RLG_LINE * RLG_LINE;
}

uint64_t rlg_slots_in(size_t file_size, uint32_t payload)
{
	return file_size < RLG_SLOTS ? 0
				     : (file_size - RLG_SLOTS) / rlg_slot_size(payload);
}

size_t rlg_slot_at(const struct rlg_layout *layout, uint64_t number)
{
	return RLG_SLOTS + (number - 1) % layout->slots * rlg_slot_size(layout->payload);
}

void rlg_header_pack(uint8_t *to, const struct rlg_layout *layout)
{
	memset(to, 0, RLG_LINE);
	memcpy(to, rlg_magic, sizeof(rlg_magic));
	rlg_put32(to + 8, (uint32_t)layout->kind);
	rlg_put32(to + 12, layout->payload);
	rlg_put64(to + 16, layout->slots);
	rlg_put64(to + 24, layout->identity);
	rlg_put32(to + 60, rlg_crc32c(0, to, 60));
}

const char *rlg_header_parse(const uint8_t *file, size_t size, struct rlg_layout *layout)
{
	struct rlg_layout got;
	uint32_t kind;

	if (size < RLG_SLOTS)
		return "the file is too small for a log";
	if (memcmp(file, rlg_magic, sizeof(rlg_magic)) != 0)
		return "the file holds no log";
	if (rlg_get32(file + 60) != rlg_crc32c(0, file, 60))
		return "the log's header is damaged";
	kind = rlg_get32(file + 8);
	got.payload = rlg_get32(file + 12);
	got.slots = rlg_get64(file + 16);
	got.identity = rlg_get64(file + 24);
	if (kind != RLG_SINGLETON && kind != RLG_COMPOUND)
		return "the log is of a kind that this program does not know";
	got.kind = (enum rlg_kind)kind;
	if (!got.payload || got.payload > RLG_PAYLOAD_MAX || !got.slots)
		return "the log's header makes no sense";
	if (got.slots > rlg_slots_in(size, got.payload))
		return "the file is shorter than its log";
	*layout = got;
	return NULL;
}

static uint32_t rlg_record_crc(const uint8_t *slot, const struct rlg_layout *layout)
{
	uint8_t identity[8];
	uint32_t crc;

	rlg_put64(identity, layout->identity);
	crc = rlg_crc32c(0, identity, sizeof(identity));
	crc = rlg_crc32c(crc, slot, 12);
	return rlg_crc32c(crc, slot + RLG_RECORD, layout->payload);
}

void rlg_record_seal(uint8_t *slot, const struct rlg_layout *layout, uint64_t number)
{
	rlg_put64(slot, number);
	rlg_put32(slot + 8, layout->payload);
	rlg_put32(slot + 12, rlg_record_crc(slot, layout));
}

/* Is it one that was in this slot before record number? */
static bool rlg_earlier_lap(const struct rlg_layout *layout, uint64_t number,
			    uint64_t got)
{
	return got && got < number && (number - got) % layout->slots == 0;
}

enum rlg_found rlg_record_find(const uint8_t *file, const struct rlg_layout *layout,
			       uint64_t number)
{
	static const uint8_t nothing[RLG_RECORD];
	const uint8_t *slot = file + rlg_slot_at(layout, number);
	const uint64_t got = rlg_get64(slot);

	if (memcmp(slot, nothing, sizeof(nothing)) == 0)
		return RLG_MISSING;
	if (rlg_get32(slot + 8) != layout->payload ||
	    rlg_get32(slot + 12) != rlg_record_crc(slot, layout))
		return RLG_TORN;
	if (got == number)
		return RLG_VALID;
	return rlg_earlier_lap(layout, number, got) ? RLG_MISSING : RLG_TORN;
}

/* A compound log ends where its tail says, and every record up to there is whole. */
static void rlg_recover_tail(const uint8_t *file, const struct rlg_layout *layout,
			     struct rlg_recovery *found)
{
	if (found->tail + 1 < found->first) {
		found->damage = "the tail is before the head";
		return;
	}
	if (found->tail + 1 - found->first > layout->slots) {
		found->damage = "the tail is further from the head than the log is long";
		return;
	}
	while (found->next <= found->tail) {
		if (rlg_record_find(file, layout, found->next) != RLG_VALID) {
			found->damage = "the tail counts a record that is not whole";
			return;
		}
		found->next++;
	}
}

void rlg_recover(const uint8_t *file, const struct rlg_layout *layout,
		 struct rlg_recovery *found)
{
	uint64_t number;

	*found = (struct rlg_recovery){
		.first = rlg_get64(file + RLG_HEAD),
		.tail = rlg_get64(file + RLG_TAIL),
		.stop = RLG_MISSING,
	};
	/* Numbers are never near the end of their range. */
	if (!found->first || found->first >> 62 || found->tail >> 62) {
		found->damage = "head or tail is no record's number";
		found->first = found->next = 1;
		return;
	}
	found->next = found->first;
	if (layout->kind == RLG_COMPOUND) {
		rlg_recover_tail(file, layout, found);
	} else {
		while (found->next - found->first < layout->slots &&
		       rlg_record_find(file, layout, found->next) == RLG_VALID)
			found->next++;
	}
	if (found->next - found->first < layout->slots)
		found->stop = rlg_record_find(file, layout, found->next);
	for (number = found->next; number - found->first < layout->slots; number++)
		found->beyond += rlg_record_find(file, layout, number) == RLG_VALID;
}
