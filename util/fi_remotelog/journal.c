/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include "journal.h"

/* Eight aligned bytes that a device may be writing. */
static uint64_t rlg_word(const uint8_t *at)
{
	return le64toh(
		__atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE));
}

static void rlg_word_store(struct rlg_journal *journal, size_t at, uint64_t value)
{
	__atomic_store_n((uint64_t *)(void *)(journal->medium.at + at), htole64(value),
			 __ATOMIC_RELEASE);
	rlg_medium_persist(&journal->medium, at, sizeof(value));
}

/* Whatever happens meanwhile, there is the old log, none or the new one. */
static void rlg_journal_make(struct rlg_journal *journal, const struct rlg_hello *hello)
{
	struct rlg_medium *medium = &journal->medium;
	struct rlg_layout layout = {hello->kind, hello->payload, 0, 0};
	uint64_t number;

	layout.slots = rlg_slots_in(medium->size, hello->payload);
	if (getrandom(&layout.identity, sizeof(layout.identity), 0) !=
	    sizeof(layout.identity))
		layout.identity = rlg_get64(medium->at + 24) + 1;
	memset(medium->at, 0, 64);
	rlg_medium_persist(medium, 0, 64);
	for (number = 1; number <= layout.slots; number++)
		memset(medium->at + rlg_slot_at(&layout, number), 0, RLG_RECORD);
	rlg_medium_persist(medium, RLG_SLOTS,
			   layout.slots * rlg_slot_size(layout.payload));
	rlg_word_store(journal, RLG_TAIL, 0);
	rlg_word_store(journal, RLG_HEAD, 1);
	rlg_header_pack(medium->at, &layout);
	rlg_medium_persist(medium, 0, 64);
	journal->layout = layout;
	journal->there = true;
}

static void rlg_journal_trim(struct rlg_journal *journal,
			     const struct rlg_recovery *found)
{
	const struct rlg_layout *layout = &journal->layout;
	uint64_t number;
	size_t at;

	for (number = found->next; number - found->first < layout->slots; number++) {
		if (rlg_record_find(journal->medium.at, layout, number) != RLG_VALID)
			continue;
		at = rlg_slot_at(layout, number);
		memset(journal->medium.at + at, 0, RLG_RECORD);
		rlg_medium_persist(&journal->medium, at, RLG_RECORD);
	}
}

enum rlg_refusal rlg_journal_open(struct rlg_journal *journal,
				  const struct rlg_hello *hello, uint64_t *next)
{
	struct rlg_medium *medium = &journal->medium;
	struct rlg_recovery found;

	if (!rlg_slots_in(medium->size, hello->payload))
		return RLG_TOO_SMALL;
	journal->there = !rlg_header_parse(medium->at, medium->size, &journal->layout);
	if (hello->anew || !journal->there)
		rlg_journal_make(journal, hello);
	if (journal->layout.kind != hello->kind)
		return RLG_OTHER_KIND;
	if (journal->layout.payload != hello->payload)
		return RLG_OTHER_PAYLOAD;
	rlg_recover(medium->at, &journal->layout, &found);
	if (found.damage)
		return RLG_DAMAGED;
	rlg_journal_trim(journal, &found);
	journal->head = found.first;
	journal->consumed = found.first;
	*next = found.next;
	return RLG_ACCEPTED;
}

bool rlg_journal_holds(const struct rlg_journal *journal, uint64_t number)
{
	return number >= journal->head && number - journal->head < journal->layout.slots;
}

void rlg_journal_persist(struct rlg_journal *journal, uint64_t number)
{
	rlg_medium_persist(&journal->medium, rlg_slot_at(&journal->layout, number),
			   RLG_RECORD + journal->layout.payload);
}

void rlg_journal_persist_tail(struct rlg_journal *journal)
{
	rlg_medium_persist(&journal->medium, RLG_TAIL, sizeof(uint64_t));
}

void rlg_journal_store(struct rlg_journal *journal, uint64_t number,
		       const uint8_t *record)
{
	memcpy(journal->medium.at + rlg_slot_at(&journal->layout, number), record,
	       RLG_RECORD + journal->layout.payload);
	rlg_journal_persist(journal, number);
}

void rlg_journal_store_tail(struct rlg_journal *journal, uint64_t number)
{
	rlg_word_store(journal, RLG_TAIL, number);
}

void rlg_journal_consume(struct rlg_journal *journal)
{
	const uint8_t *file = journal->medium.at;
	const uint8_t *slot;

	while (journal->consumed - journal->head < journal->layout.slots) {
		slot = file + rlg_slot_at(&journal->layout, journal->consumed);
		if (rlg_word(slot) != journal->consumed ||
		    (journal->layout.kind == RLG_COMPOUND &&
		     rlg_word(file + RLG_TAIL) < journal->consumed) ||
		    rlg_record_find(file, &journal->layout, journal->consumed) !=
			    RLG_VALID)
			return;
		journal->consumed++;
	}
}

bool rlg_journal_collect(struct rlg_journal *journal)
{
	const uint64_t quarter = (journal->layout.slots + 3) / 4;
	uint64_t number;

	if (journal->consumed - journal->head < quarter)
		return false;
	for (number = journal->head; number < journal->consumed; number++)
		rlg_journal_persist(journal, number);
	if (journal->layout.kind == RLG_COMPOUND)
		rlg_journal_persist_tail(journal);
	journal->head = journal->consumed;
	rlg_word_store(journal, RLG_HEAD, journal->head);
	return true;
}
